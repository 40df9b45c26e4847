//! Entries in the hook settings of agents that cannot work, each with the form that works.
//!
//! `entries` reads the entries of every format, `facts` is what each agent has, `text` looks at commands and scripts, `shape` finds fields
//! in the wrong place, `same_work` tools that do the same, `policies` rules for which Gemini CLI drops a file.

mod entries;
mod facts;
mod policies;
mod same_work;
mod shape;
mod text;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use tenter_base::nearest;
use tenter_engine::inspect::check_tool;
use tenter_protocol::{Diagnostic, Severity};

use crate::host::{Host, HostVersion, Moment, TimeoutUnit};
use crate::registration::{RegisteredCommand, check_events, ignored, json_problem};
use facts::HookFacts;
use text::CommandText;

pub(crate) use entries::{COMMAND_REGEX, settings};
pub use entries::{HookEntry, entries};
pub use policies::is_policy;
pub(crate) use text::{has_windows_path, resolve};

/// Returns the variables in a command that the host sets for hooks, and Tenter does not.
pub(crate) fn variables_of_host(host: &Host, command: &str) -> Vec<String> {
    let facts = HookFacts::for_host(host);
    text::variables(command).into_iter().filter(|name| facts.alone_sets(name)).collect()
}

/// Returns the reason why Tenter does not have an event in the settings of a host, as a clause.
pub(crate) fn why_no_event(host: &Host, event: &str) -> String {
    if has_event(host, event) {
        return "Tenter has no such event".to_owned();
    }
    let others = crate::hosts::ALL.iter().filter(|other| has_event(other, event));
    let names: Vec<&str> = others.map(|other| other.name).collect();
    if names.is_empty() {
        format!("{} has no such event", host.name)
    } else {
        format!("{} has no such event; it is one of {}", host.name, names.join(", "))
    }
}

/// Returns whether a host has an event.
pub(crate) fn has_event(host: &Host, event: &str) -> bool {
    host.event(event).is_some() || HookFacts::for_host(host).events.contains(&event)
}

/// The id of the diagnostics.
const DEAD_HOOK: &str = "hook-without-effect";

/// A settings file with hooks.
#[derive(Debug, Clone)]
pub struct LintedFile {
    /// The path.
    pub path: PathBuf,
    /// The text.
    pub text: String,
    /// The project in which its commands run.
    pub project: PathBuf,
    /// The home directory.
    pub home: PathBuf,
    /// The installed version of the agent, if it is known.
    pub version: Option<HostVersion>,
}

impl LintedFile {
    fn is_json(&self) -> bool {
        let ending = self.path.extension().and_then(|ending| ending.to_str());
        !matches!(ending, Some("toml" | "md"))
    }
}

/// A problem of an entry: what cannot work, and the form that works.
struct Problem {
    message: String,
    help: String,
}

impl Problem {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// Returns the problems of a settings file of a host, each with its position.
///
/// # Errors
/// The file cannot be read as settings of this host.
pub fn lint(host: &'static Host, file: &LintedFile) -> Result<Vec<Diagnostic>, Diagnostic> {
    if is_policy(host, &file.path) {
        return lint_policy(file);
    }
    let facts = HookFacts::for_host(host);
    let all = entries(host, &file.path, &file.text)?;
    let content = settings(&file.path, &file.text)?;
    let mut diagnostics: Vec<Diagnostic> = file_problem(host, file, &all).into_iter().collect();
    let mut commands = BTreeSet::new();
    for (number, entry) in all.iter().enumerate() {
        if RegisteredCommand::read(host.id, &entry.handler).is_some() {
            continue;
        }
        let linter = Linter { host, facts: &facts, file, entry };
        let mut problems = linter.problems();
        problems.extend(shape::problem(host, entry, &content));
        let condition =
            [COMMAND_REGEX, "if"].map(|key| entry.handler.get(key).map(Value::to_string));
        if let Some(command) = entry.command_line()
            && !commands.insert((&entry.event, &entry.matcher, command, condition))
        {
            problems
                .push(Problem::new("the same command is registered twice", "remove one of them"));
        }
        problems.extend(same_work::find(entry, all.get(..number).unwrap_or_default()));
        diagnostics.extend(problems.into_iter().map(|problem| linter.diagnostic(problem)));
    }
    Ok(diagnostics)
}

/// Returns the problem for which the host reads nothing of a file with these entries, or not all of them.
fn file_problem(host: &Host, file: &LintedFile, all: &[HookEntry]) -> Option<Diagnostic> {
    let is_own = |entry: &HookEntry| RegisteredCommand::read(host.id, &entry.handler).is_some();
    if !file.is_json() || !all.is_empty() && all.iter().all(is_own) {
        return None;
    }
    let Some(ignored) = ignored(host, &file.path, &file.text) else {
        let twice = check_events(&file.text).err()?;
        return Some(
            Diagnostic { id: DEAD_HOOK, severity: Severity::Warning, ..twice }.at(&file.path),
        );
    };
    let message = format!("{} ignores this file: {ignored}", host.name);
    let diagnostic = Diagnostic::new(DEAD_HOOK, Severity::Warning, message).at(&file.path);
    Some(diagnostic.help(ignored.help))
}

fn lint_policy(file: &LintedFile) -> Result<Vec<Diagnostic>, Diagnostic> {
    let problems = policies::problems(&settings(&file.path, &file.text)?).into_iter();
    let diagnostics = problems.map(|(place, problem)| {
        let message = format!("{place}: {}", problem.message);
        Diagnostic::new(DEAD_HOOK, Severity::Warning, message).at(&file.path).help(problem.help)
    });
    Ok(diagnostics.collect())
}

struct Linter<'l> {
    host: &'static Host,
    facts: &'l HookFacts,
    file: &'l LintedFile,
    entry: &'l HookEntry,
}

impl Linter<'_> {
    fn diagnostic(&self, problem: Problem) -> Diagnostic {
        let message = format!("{}: {}", self.entry.place(), problem.message);
        let diagnostic = Diagnostic::new(DEAD_HOOK, Severity::Warning, message)
            .at(&self.file.path)
            .help(problem.help);
        let span = || json_problem(&self.file.text, &self.entry.path, String::new()).span;
        match self.file.is_json().then(span).flatten() {
            Some(span) => diagnostic.with_span(*span),
            None => diagnostic,
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(self.event());
        problems.extend(self.matcher());
        problems.extend(self.timeout());
        if let Some(command) = &self.entry.command_line() {
            let text = CommandText::new(command, self.file);
            problems.extend(self.variables(&text));
            problems.extend(text.script_problem(self.file));
            if self.moment() == Some(Moment::BeforeTool) {
                problems.extend(self.answers(&text));
                problems.extend(self.cost(command));
            }
        }
        problems
    }

    fn moment(&self) -> Option<Moment> {
        self.host.event(&self.entry.event).map(|event| event.moment)
    }

    fn event(&self) -> Option<Problem> {
        let (event, host) = (self.entry.event.as_str(), self.host);
        if let Some(native) = host.event(event) {
            let version = self.file.version.filter(|version| *version < native.since)?;
            return Some(Problem::new(
                format!("{} {version} does not have the event {event}", host.name),
                format!("update {} to {} or later, or remove the entry", host.name, native.since),
            ));
        }
        if self.facts.events.contains(&event) {
            return None;
        }
        let names: Vec<&str> = host
            .events
            .iter()
            .map(|event| event.name)
            .chain(self.facts.events.iter().copied())
            .collect();
        let same = names.iter().copied().find(|name| name.eq_ignore_ascii_case(event));
        let help = match same.or_else(|| nearest(event, names.iter().copied())) {
            Some(name) => format!("write {name}"),
            None => format!("its events are {}", names.join(", ")),
        };
        Some(Problem::new(format!("{} has no event {event}", host.name), help))
    }

    fn matcher(&self) -> Option<Problem> {
        let matcher = self.entry.matcher.as_deref()?.trim();
        let moment = self.moment()?;
        if matcher.is_empty() || matcher == "*" {
            return None;
        }
        let has_tool =
            matches!(moment, Moment::BeforeTool | Moment::AfterTool | Moment::AfterToolFailure);
        if !has_tool {
            let is_read = self.facts.matched_events.contains(&self.entry.event.as_str());
            let is_word = matcher.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            return if !is_read {
                Some(Problem::new(
                    format!("the matcher {matcher:?} has no effect: {} has none", self.entry.event),
                    "remove it",
                ))
            } else if self.host.id == "gemini" && !is_word {
                Some(Problem::new(
                    format!(
                        "the matcher {matcher:?} never matches: at {}, it is one word and no expression",
                        self.entry.event
                    ),
                    "write one word, such as \"startup\", or remove it",
                ))
            } else {
                None
            };
        }
        if let Some((tool, condition)) = permission_syntax(matcher) {
            let help = if self.host.id == "claude-code" {
                format!("write \"matcher\": {tool:?}, and \"if\": {condition:?} in the hook")
            } else {
                format!("write \"matcher\": {tool:?}, and look at the input in the script")
            };
            return Some(Problem::new(
                format!(
                    "the matcher {matcher:?} never matches: it is a permission rule, and a matcher is the name of a tool"
                ),
                help,
            ));
        }
        let invented =
            [" AND ", " OR ", "&&", "tool:", "tools:", "file_paths:", "tool_name ", "=="];
        if invented.iter().any(|word| matcher.contains(word)) {
            return Some(Problem::new(
                format!(
                    "the matcher {matcher:?} never matches: matchers are names of tools, or a regular expression for them"
                ),
                "write the tools, such as \"Edit|Write\", and look at paths in the script",
            ));
        }
        if let Err(advice) = check_tool(matcher) {
            return Some(Problem::new(
                format!("the matcher {matcher:?} never matches: {}", advice.message),
                advice.help,
            ));
        }
        self.tool_names(matcher)
    }

    /// Checks the names in a matcher that is a list of names.
    fn tool_names(&self, matcher: &str) -> Option<Problem> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let names: Vec<&str> = matcher.split('|').map(str::trim).collect();
        if !names.iter().all(|name| !name.is_empty() && name.chars().all(is_name)) {
            return None;
        }
        let own: Vec<&str> = self
            .host
            .tools
            .iter()
            .map(|tool| tool.name)
            .chain(self.facts.tools.iter().copied())
            .collect();
        let is_server = |name: &&str| name.starts_with("mcp__") && name.matches("__").count() == 1;
        if self.host.id == "claude-code"
            && let Some(server) = names.iter().find(|name| is_server(name))
        {
            return Some(Problem::new(
                format!("the matcher {matcher:?} does not match: {server} is the name of no tool"),
                format!("write {server}__.*, for all tools of the server"),
            ));
        }
        for name in names.iter().filter(|name| !own.contains(*name) && !name.starts_with("mcp__")) {
            let bare = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
            let same = own.iter().find(|tool| bare(tool) == bare(name));
            // Other agents may know several names of a tool, which was not measured.
            let counterpart = || {
                if self.host.id != "claude-code" {
                    return None;
                }
                let others = crate::hosts::ALL.iter().filter(|other| other.id != self.host.id);
                let mut tools = others.flat_map(|other| other.tools);
                let foreign = tools.find(|tool| tool.name == *name)?;
                let mut own = self.host.tools.iter();
                own.find(|tool| tool.canonical == foreign.canonical).map(|tool| tool.name)
            };
            // A list for several agents has the right name, too.
            let tool = same.copied().or_else(counterpart).filter(|tool| !names.contains(tool));
            if let Some(tool) = tool {
                return Some(Problem::new(
                    format!(
                        "the matcher {matcher:?} does not match: {} has no tool {name}",
                        self.host.name
                    ),
                    format!("write {tool}"),
                ));
            }
        }
        None
    }

    fn timeout(&self) -> Option<Problem> {
        let format = self.host.registration.entries()?;
        let timeout = self.entry.handler.get(format.timeout).and_then(Value::as_f64)?;
        let seconds = format.unit.seconds(timeout);
        if format.unit == TimeoutUnit::Milliseconds && timeout < 100.0 {
            return Some(Problem::new(
                format!("the timeout of {timeout} is in milliseconds: no script ends in time"),
                format!("write {}", timeout * 1000.0),
            ));
        }
        let longest = self.facts.longest_timeout?;
        (seconds > longest).then(|| {
            let help = if timeout >= 1000.0 && format.unit == TimeoutUnit::Seconds {
                format!("timeouts are in seconds: write {}", (timeout / 1000.0).ceil())
            } else {
                format!("write at most {longest} seconds")
            };
            Problem::new(
                format!(
                    "the timeout is longer than {}'s limit of {longest} seconds",
                    self.host.name
                ),
                help,
            )
        })
    }

    fn variables(&self, text: &CommandText) -> Option<Problem> {
        let name = text::variables(text.command()).into_iter().find(|name| {
            let is_assigned = text.assigns(name) || self.entry.sets(name);
            !is_assigned && self.facts.lacks_variable(name)
        })?;
        let help = facts::replacement(&name).map_or_else(
            || match self.facts.variables {
                [] => "read the event on stdin, as JSON".to_owned(),
                names => format!("it sets {}; everything else is on stdin, as JSON", names.join(", ")),
            },
            |field| format!("read stdin, once: `input=$(cat)`, then `printf '%s' \"$input\" | jq -r '{field}'`"),
        );
        Some(Problem::new(
            format!("{} does not set the variable ${name}, so it is empty", self.host.name),
            help,
        ))
    }

    /// Checks what a command says to block a call.
    fn answers(&self, text: &CommandText) -> Option<Problem> {
        if let Some(answer) = text.ignored_answer(self.facts.answers) {
            let deny = self.facts.deny;
            return Some(Problem::new(
                format!("{} ignores the answer {answer}, so the call runs", self.host.name),
                format!("print {deny}, or write the reason to stderr and exit with 2"),
            ));
        }
        (self.facts.blocks_with_2 && text.blocks_with_1()).then(|| {
            Problem::new(
                format!("exit code 1 does not block in {}: the call runs", self.host.name),
                "write the reason to stderr and exit with 2",
            )
        })
    }

    fn cost(&self, command: &str) -> Option<Problem> {
        let matcher = self.entry.matcher.as_deref().map(str::trim).unwrap_or_default();
        if !(matcher.is_empty() || matcher == "*") || self.entry.handler.get("if").is_some() {
            return None;
        }
        let program = text::slow_program(command)?;
        Some(Problem::new(
            format!(
                "it delays every tool call by more than 100 ms: `{program}` starts slowly, and there is no matcher"
            ),
            "add a matcher, such as \"Bash\", or run the script without it",
        ))
    }
}

/// Splits a matcher that is a permission rule, such as `Bash(git commit:*)`.
fn permission_syntax(matcher: &str) -> Option<(&str, &str)> {
    let (tool, rest) = matcher.split_once('(')?;
    let inside = rest.strip_suffix(')')?;
    let is_name = !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_rule = inside.contains([':', ' ', '/']) || inside.contains('*');
    (is_name && is_rule && !inside.contains('|')).then_some((tool, matcher))
}

#[cfg(test)]
mod tests;
