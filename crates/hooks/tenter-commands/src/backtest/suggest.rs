//! `tenter backtest --suggest`: exceptions to rules, permissions, and hooks without an effect, from past calls.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

use serde::Serialize;
use tenter_backtest::{
    CallAnswer, CallEnd, HostCounts, Judgement, OWN_AGENT, RecordedCall, Replay, RuleStop,
};
use tenter_base::{replace_file, untrusted_file, visible};
use tenter_engine::inspect::Hook;
use tenter_engine::journal::{RecordKind, Redactor};
use tenter_engine::{DecisionKind, Layer};
use tenter_shell::{KnownUse, Surroundings, UseKind};
use tenter_terminal::text::diff;
use tenter_terminal::{Env, FAINT, Failure, HEADING, NAME, styled, ui};

use super::exception::RuleException;
use super::print::{format_count, print_notes};
use super::rules::RuleSource;
use super::{GuardTexts, Selection, for_each};
use crate::config::ListAddition;
use crate::project::Project;
use crate::shipped_guards::GUARDS;

/// Minimum number of times that the user allowed a command before it is suggested.
const MIN_ALLOWED: u64 = 3;
/// Minimum number of runs of a command that a rule would have asked about, if no answer of the user is recorded.
const MIN_RUNS: u64 = 5;
/// Maximum number of commands and of known uses that are counted.
const MAX_COUNTED: usize = 20_000;
/// Maximum number of lines of a diff.
const MAX_LINES: usize = 100;
/// The name of a hook's manifest.
const MANIFEST: &str = "HOOK.md";
/// The setting with the user's permission rules.
const ALLOW: &str = "permissions.allow";

/// The suggestions, as they are printed and as JSON.
#[derive(Debug, Default, Serialize)]
pub(super) struct Suggestions {
    /// The number of past calls.
    calls: u64,
    exceptions: Vec<SuggestedException>,
    permissions: Vec<SuggestedPermission>,
    /// The hooks that decided nothing about these calls.
    idle: Vec<String>,
    #[serde(skip)]
    hosts: HostCounts,
}

/// An exception to a rule.
#[derive(Debug, Serialize)]
struct SuggestedException {
    hook: String,
    rule: String,
    /// The command, masked.
    command: String,
    runs: u64,
    allowed: u64,
    /// The lines to add to the rule.
    lines: String,
    #[serde(skip)]
    exception: RuleException,
    #[serde(skip)]
    file: PathBuf,
}

/// A permission for the uses of a command that do not change its effect.
#[derive(Debug, Serialize)]
struct SuggestedPermission {
    command: &'static str,
    /// The agent that asked the user.
    agent: &'static str,
    /// The number of calls that the user allowed.
    allowed: u64,
    /// The rule of Tenter.
    rule: String,
    /// The same for the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_rule: Option<AgentRule>,
}

/// A permission in the form of another agent.
#[derive(Debug, PartialEq, Serialize)]
struct AgentRule {
    /// The place of the rule.
    place: &'static str,
    text: String,
}

/// A file that a suggestion changes.
struct SuggestedEdit {
    path: PathBuf,
    before: String,
    after: String,
}

/// The counts of a command that a rule would have stopped.
#[derive(Debug)]
struct StopCounts {
    decision: DecisionKind,
    is_command: bool,
    runs: u64,
    allowed_calls: u64,
    denied_calls: u64,
}

/// The counts of a known use of a command in one agent.
#[derive(Debug, Default)]
struct UseCounts {
    allowed_calls: u64,
    /// True if the user denied such a call, or a guard stops one.
    is_doubtful: bool,
}

/// The counts of past calls.
#[derive(Default)]
struct CallHistory {
    calls: u64,
    /// By hook, rule and part of the call.
    stops: BTreeMap<(String, String, String), StopCounts>,
    /// By agent and name of the use.
    uses: BTreeMap<(&'static str, &'static str), UseCounts>,
    /// The hooks that would have stopped a call.
    deciding: BTreeSet<String>,
}

impl CallHistory {
    fn add(&mut self, call: &RecordedCall, judgement: &Judgement, guards: &mut Replay<'_>) {
        self.calls += 1;
        let is_command = call.tool_call().name == "bash";
        if judgement.answer == CallAnswer::Stopped {
            judgement.stops.iter().for_each(|stop| self.add_stop(call, stop, is_command));
        }
        if let Some(usage) = is_command.then(|| known_use(call)).flatten() {
            let is_safe = guards.judge(call).answer == CallAnswer::Passed;
            if self.uses.len() < MAX_COUNTED {
                let counts = self.uses.entry((call.host, usage.name())).or_default();
                counts.allowed_calls += u64::from(call.end == CallEnd::Approved);
                counts.is_doubtful |= !is_safe || call.was_denied();
            }
        }
    }

    fn add_stop(&mut self, call: &RecordedCall, stop: &RuleStop, is_command: bool) {
        self.deciding.insert(stop.hook.clone());
        let Some(rule) = &stop.rule else { return };
        if self.stops.len() >= MAX_COUNTED {
            return;
        }
        let key = (stop.hook.clone(), rule.clone(), stop.part.clone());
        let counts = self.stops.entry(key).or_insert(StopCounts {
            decision: stop.decision,
            is_command,
            runs: 0,
            allowed_calls: 0,
            denied_calls: 0,
        });
        counts.decision = counts.decision.max(stop.decision);
        counts.runs += u64::from(matches!(call.end, CallEnd::Succeeded | CallEnd::Approved));
        counts.allowed_calls += u64::from(call.end == CallEnd::Approved);
        counts.denied_calls += u64::from(call.was_denied());
    }
}

impl StopCounts {
    /// Returns whether the history shows that the stop was wrong: the user allowed it again and again, or it ran again and again
    /// although a rule asks about it. That a call ran which a rule denies does not show that it was harmless.
    fn is_false(&self) -> bool {
        let is_question = self.decision == DecisionKind::Ask;
        let is_stop = is_question || self.decision == DecisionKind::Deny;
        let is_usual = is_question && self.runs >= MIN_RUNS;
        is_stop && self.denied_calls == 0 && (is_usual || self.allowed_calls >= MIN_ALLOWED)
    }
}

/// Returns the known use that a call consists of; `None` if it is another command, several, or not known before it runs.
fn known_use(call: &RecordedCall) -> Option<KnownUse> {
    let call = call.tool_call();
    let command = call.input.get("command")?.as_str()?;
    tenter_shell::plain(command)?;
    let surroundings = Surroundings { cwd: Some("/".to_owned()), ..Surroundings::default() };
    let facts = tenter_shell::read(command, &surroundings);
    let [command] = facts.commands.as_slice() else { return None };
    let is_alone = command.redirects.is_empty() && command.via.is_empty();
    KnownUse::find_for_command(command).filter(|_| is_alone).map(|(usage, _)| usage)
}

impl Suggestions {
    /// Finds the suggestions that the selected calls show.
    pub(super) fn find(
        project: &Project,
        selection: &Selection<'_>,
        guards: &GuardTexts,
    ) -> Result<Self, Failure> {
        let names: Vec<String> = GUARDS.iter().map(|guard| guard.name.to_owned()).collect();
        let all = RuleSource::from_guards(project, &guards(&names)?)?;
        let rules = RuleSource::installed(project);
        let (load, load_all) =
            (|root: &std::path::Path| rules.hooks(root), |root: &std::path::Path| all.hooks(root));
        let home = &project.env.home;
        let (mut replay, mut safe) = (Replay::new(home, &load), Replay::new(home, &load_all));
        let mut history = CallHistory::default();
        let calls = allowed_calls(project.env)?;
        let hosts = for_each(project, selection, &mut |mut call| {
            let id = call.native.id.clone().unwrap_or_default();
            if !call.was_denied() && calls.contains(&(call.session.clone(), id)) {
                call.end = CallEnd::Approved;
            }
            let judgement = replay.judge(&call);
            history.add(&call, &judgement, &mut safe);
        })?;
        let undecided = replay.undecided().clone();
        let hooks = rules.hooks(project.root()).catalog;
        let hooks: Vec<&Hook> = hooks.hooks().iter().map(|hook| &**hook).collect();
        let idle = hooks.iter().filter(|hook| hook.layer != Layer::BuiltIn);
        let idle = idle.map(|hook| hook.name.clone());
        let is_idle = |name: &String| !undecided.contains(name) && !history.deciding.contains(name);
        Ok(Self {
            calls: history.calls,
            idle: if history.calls == 0 { Vec::new() } else { idle.filter(is_idle).collect() },
            exceptions: exceptions(&history, &hooks, &Redactor::new(project.secrets())),
            permissions: permissions(&history, project),
            hosts,
        })
    }

    /// Prints the suggestions, with the changes of files that they lead to.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub(super) fn print(&self, project: &Project) -> Result<(), Failure> {
        ui::out(styled(HEADING, format!("{}.", format_count(self.calls, "call"))));
        for one in &self.exceptions {
            let rule = styled(NAME, format!("{}: {}", visible(&one.hook), visible(&one.rule)));
            let command = visible(&one.command);
            let count = format_count(one.runs, "time");
            ui::out(format!("\n{rule}  stops `{command}`, which ran {count}"));
            ui::out(indent(&one.lines));
        }
        for one in &self.permissions {
            let count = format_count(one.allowed, "time");
            ui::out(format!(
                "\n{}  you allowed it {count} in {}",
                styled(NAME, one.command),
                one.agent
            ));
            ui::out(format!("  Tenter: {}", one.rule));
            if let Some(rule) = &one.agent_rule {
                ui::out(format!("  {}, {}:\n{}", one.agent, rule.place, indent(&rule.text)));
            }
        }
        if !self.idle.is_empty() {
            let names: Vec<_> = self.idle.iter().map(|name| visible(name)).collect();
            ui::out(format!(
                "\nHooks that decided nothing about these calls: {}",
                names.join(", ")
            ));
        }
        if self.exceptions.is_empty() && self.permissions.is_empty() {
            ui::note("These calls show no exception and no permission to suggest.");
        }
        for edit in self.edits(project)? {
            ui::out(format!("\n{}", styled(FAINT, visible(&edit.path.to_string_lossy()))));
            diff::render_trusted(&edit.before, &edit.after, MAX_LINES).iter().for_each(ui::out);
        }
        print_notes(&self.hosts);
        Ok(())
    }

    /// Returns the changes of Tenter's files. Those of other agents are the user's to change.
    fn edits(&self, project: &Project) -> Result<Vec<SuggestedEdit>, Failure> {
        let mut edits: Vec<SuggestedEdit> = Vec::new();
        for one in &self.exceptions {
            let position = edits.iter().position(|edit| edit.path == one.file);
            let text = match position {
                Some(position) => edits[position].after.clone(),
                None => untrusted_file::read_to_string(&one.file).unwrap_or_default(),
            };
            let Some(after) = one.exception.add_to(&one.file, &text, &one.rule) else { continue };
            match position {
                Some(position) => edits[position].after = after,
                None => edits.push(SuggestedEdit { path: one.file.clone(), before: text, after }),
            }
        }
        if let Some(addition) = self.addition(project)? {
            let path = addition.path().to_owned();
            edits.push(SuggestedEdit { path, before: addition.before, after: addition.after });
        }
        Ok(edits)
    }

    fn addition(&self, project: &Project) -> Result<Option<ListAddition>, Failure> {
        let rules: BTreeSet<String> = self.permissions.iter().map(|one| one.rule.clone()).collect();
        let rules: Vec<String> = rules.into_iter().collect();
        if rules.is_empty() {
            return Ok(None);
        }
        ListAddition::new(project.env, project.root(), ALLOW, &rules).map(Some)
    }

    /// Changes Tenter's files as suggested.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn apply(&self, project: &Project) -> Result<(), Failure> {
        let addition = self.addition(project)?;
        let config = addition.as_ref().map(|addition| addition.path().to_owned());
        for edit in self.edits(project)? {
            let path = visible(&edit.path.to_string_lossy()).into_owned();
            match &addition {
                Some(addition) if config.as_ref() == Some(&edit.path) => {
                    addition.write(project.env)?;
                }
                _ => {
                    let bytes = edit.after.as_bytes();
                    replace_file::replace_with_mode(&edit.path, bytes, Some(0o644))
                        .map_err(|error| Failure::new(format!("cannot write {path}: {error}")))?;
                }
            }
            ui::note(format!("Changed {path}."));
        }
        Ok(())
    }
}

fn indent(lines: &str) -> String {
    lines.lines().map(|line| format!("    {}", visible(line))).collect::<Vec<_>>().join("\n")
}

/// Returns the sessions and ids of the calls that the user allowed in answer to a question of Tenter.
fn allowed_calls(env: &Env) -> Result<HashSet<(String, String)>, Failure> {
    let journals = env.journals();
    let mut calls = HashSet::new();
    for conversation in journals.conversations().map_err(Failure::caused_by)? {
        let lines = journals.read(&conversation).map_err(Failure::caused_by)?.lines;
        for record in lines.into_iter().map(|line| line.record) {
            let is_allowed = match &record.kind {
                RecordKind::Permission(permission) => permission.allowed && permission.by == "user",
                RecordKind::Answer(answer) => answer.allowed,
                _ => false,
            };
            if let Some(id) = record.tool_call_id.filter(|_| is_allowed) {
                let session = record.parent_conversation_id.unwrap_or(record.conversation_id);
                calls.insert((session, id));
            }
        }
    }
    Ok(calls)
}

/// Returns the exceptions for what rules of the user's and the project's hooks stopped wrongly.
fn exceptions(
    history: &CallHistory,
    hooks: &[&Hook],
    redactor: &Redactor,
) -> Vec<SuggestedException> {
    let stops = history.stops.iter().filter(|(_, counts)| counts.is_false());
    let mut exceptions: Vec<SuggestedException> = stops
        .filter_map(|((name, rule, part), counts)| {
            let hook = hooks.iter().find(|hook| hook.name == *name)?;
            let is_editable = matches!(hook.layer, Layer::User | Layer::Project);
            // What is masked does not belong into a file.
            let command = redactor.text(part);
            let exception = RuleException::new(part, counts.is_command)
                .filter(|_| is_editable && command == *part)?;
            let file = hook.path()?.join(MANIFEST);
            let text = untrusted_file::read_to_string(&file).ok()?;
            exception.add_to(&file, &text, rule)?;
            Some(SuggestedException {
                hook: name.clone(),
                rule: rule.clone(),
                command,
                runs: counts.runs,
                allowed: counts.allowed_calls,
                lines: exception.lines(),
                exception,
                file,
            })
        })
        .collect();
    exceptions.sort_by_key(|one| std::cmp::Reverse(one.runs));
    exceptions
}

/// Returns the permissions for commands with a known effect that the user allowed each time.
fn permissions(history: &CallHistory, project: &Project) -> Vec<SuggestedPermission> {
    let present = &project.settings.permissions.allow;
    let mut permissions: Vec<SuggestedPermission> = Vec::new();
    for ((agent, name), counts) in &history.uses {
        let Some(usage) = KnownUse::named(name) else { continue };
        let word = match usage.kind() {
            UseKind::Reads => "reads",
            UseKind::Builds => "builds",
        };
        let rule = format!("{word}({name})");
        let is_new = *agent != OWN_AGENT || !present.contains(&rule);
        if counts.allowed_calls >= MIN_ALLOWED && !counts.is_doubtful && is_new {
            permissions.push(SuggestedPermission {
                command: usage.name(),
                agent,
                allowed: counts.allowed_calls,
                rule,
                agent_rule: AgentRule::new(agent, usage.name()),
            });
        }
    }
    permissions.sort_by_key(|one| std::cmp::Reverse(one.allowed));
    permissions
}

impl AgentRule {
    /// Returns the permission for a command with any arguments in the form of an agent; `None` if the agent has no such form.
    fn new(agent: &str, command: &str) -> Option<Self> {
        let words: Vec<&str> = command.split(' ').collect();
        let (place, text) = match agent {
            "claude-code" => {
                ("permissions.allow in ~/.claude/settings.json", format!("\"Bash({command}:*)\""))
            }
            "qwen" => (
                "permissions.allow in ~/.qwen/settings.json",
                format!("\"run_shell_command({command})\""),
            ),
            "codex" => (
                "~/.codex/rules/default.rules",
                format!("prefix_rule(pattern = {words:?}, decision = \"allow\")"),
            ),
            "gemini" => (
                "~/.gemini/policies/allowed.toml",
                format!(
                    "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"{command}\"\ndecision = \"allow\"\npriority = 100"
                ),
            ),
            "opencode" | "kilo" => {
                ("permission.bash in its settings", format!("\"{command} *\": \"allow\""))
            }
            "copilot" => ("as an option", format!("--allow-tool 'shell({command}:*)'")),
            _ => return None,
        };
        Some(Self { place, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_although_a_rule_denies_it_is_no_false_stop() {
        let counts = |decision, runs, allowed_calls, denied_calls| StopCounts {
            decision,
            runs,
            allowed_calls,
            denied_calls,
            is_command: true,
        };
        for (counts, is_false) in [
            (counts(DecisionKind::Deny, 90, 0, 0), false),
            (counts(DecisionKind::Deny, 3, 3, 0), true),
            (counts(DecisionKind::Ask, 5, 0, 0), true),
            (counts(DecisionKind::Ask, 4, 0, 0), false),
            (counts(DecisionKind::Ask, 90, 9, 1), false),
            (counts(DecisionKind::Confine, 90, 9, 0), false),
        ] {
            assert_eq!(counts.is_false(), is_false, "{counts:?}");
        }
    }

    #[test]
    fn a_permission_has_the_form_of_the_agent() {
        for (agent, text) in [
            ("claude-code", "\"Bash(cargo test:*)\""),
            ("codex", "prefix_rule(pattern = [\"cargo\", \"test\"], decision = \"allow\")"),
            ("opencode", "\"cargo test *\": \"allow\""),
        ] {
            assert_eq!(AgentRule::new(agent, "cargo test").unwrap().text, text);
        }
        assert_eq!(AgentRule::new("pi", "cargo test"), None);
    }
}
