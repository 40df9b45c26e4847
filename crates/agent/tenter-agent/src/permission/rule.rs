//! One permission rule: `TOOL` or `TOOL(PATTERN)`. Flags, configuration and stored rules have the same grammar.
//!
//! - `bash(git status *)`: a program and its arguments, as bash would read them. An unquoted `*` stands for any text in a word; as
//!   the last word, it stands for any number of words.
//! - `bash(cd sub && make)`: only in this directory of the project.
//! - `reads(git log)`, `builds(cargo test)`: a command with arguments with which it is known to only read, or to only build the project
//!   (R84).
//! - `file_edit(src/**)`: a path relative to the project's root, or an absolute one. `*` does not match `/`, `**` does.
//! - `mcp__server__tool`, `mcp__server__*`: a tool of an MCP server, or all of them.
//!
//! Names of tools in other agents are accepted (R20).

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use globset::{Glob, GlobBuilder, GlobMatcher};
use tenter_base::{destination, did_you_mean};
use tenter_protocol::tool_names;
use tenter_shell::{KnownUse, PlainCommand, UseKind, plain_words};

use super::command_line::RunCommand;

/// The tools of Tenter that rules can apply to, because they ask.
const TOOLS: [&str; 3] = ["bash", "file_edit", "file_write"];
/// The words of rules for commands with a known effect.
const USES: [(&str, UseKind); 2] = [("reads", UseKind::Reads), ("builds", UseKind::Builds)];
/// The prefix of the names of MCP servers' tools.
const MCP: &str = "mcp__";

/// A permission rule.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: String,
    pattern: RulePattern,
}

#[derive(Debug, Clone)]
pub(super) enum RulePattern {
    /// Every call of the tool.
    Any,
    /// Every tool whose name begins with the name in the rule.
    Server,
    Command(ProgramPattern),
    Known(KnownUse),
    Path {
        glob: GlobMatcher,
        is_absolute: bool,
    },
}

#[derive(Debug, Clone)]
pub(super) struct ProgramPattern {
    pub(super) program: String,
    pub(super) args: Vec<ArgPattern>,
    /// Any further arguments may follow.
    is_open: bool,
    /// The only directory, relative to the project; any if there is none.
    pub(super) directory: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum ArgPattern {
    Literal(String),
    Glob(GlobMatcher),
}

impl ArgPattern {
    /// Returns the text of a literal.
    pub(super) fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Glob(_) => None,
        }
    }

    /// Returns whether it matches an argument.
    pub(super) fn is_match(&self, arg: &str) -> bool {
        match self {
            Self::Literal(text) => text == arg,
            Self::Glob(glob) => glob.is_match(arg),
        }
    }
}

/// The reason why a text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule:?} is not a permission rule: {why}")]
pub struct RuleError {
    /// The text.
    pub rule: String,
    /// The problem with it.
    pub why: String,
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        parse(text).map_err(|why| RuleError { rule: text.to_owned(), why })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Rule {
    /// Returns whether it allows every call of this tool.
    pub(super) fn allows_every(&self, tool: &str) -> bool {
        match self.pattern {
            RulePattern::Any => self.tool == tool,
            RulePattern::Server => tool.starts_with(&self.tool),
            RulePattern::Command(_) | RulePattern::Known(_) | RulePattern::Path { .. } => false,
        }
    }

    /// Returns whether it allows this command of a command line. Programs with a slash are relative to `project`.
    pub(super) fn allows_command(&self, command: &RunCommand, project: &Path) -> bool {
        let pattern = match &self.pattern {
            RulePattern::Command(pattern) => pattern,
            RulePattern::Known(known) => return command.effect == Some(*known),
            _ => return self.allows_every("bash"),
        };
        let is_there = |directory: &String| {
            destination(&project.join(directory)).is_ok_and(|real| real == command.cwd)
        };
        command.is_program(&pattern.program, project)
            && pattern.directory.as_ref().is_none_or(is_there)
            && command.is_named_by(|index| {
                matches!(pattern.args.get(index), Some(ArgPattern::Literal(_)))
            })
            && (pattern.is_open || command.args.len() == pattern.args.len())
            && command.args.len() >= pattern.args.len()
            && pattern.args.iter().zip(&command.args).all(|(pattern, arg)| match pattern {
                // A pattern of the shell stands for any files.
                _ if arg.is_pattern => false,
                pattern => pattern.is_match(&arg.text),
            })
    }

    /// Returns whether it allows this tool to change the file with this real path.
    pub(super) fn allows_file(&self, tool: &str, file: &Path, project: &Path) -> bool {
        let RulePattern::Path { glob, is_absolute } = &self.pattern else {
            return self.allows_every(tool);
        };
        let path = if *is_absolute { Some(file) } else { file.strip_prefix(project).ok() };
        self.tool == tool && path.and_then(Path::to_str).is_some_and(|path| glob.is_match(path))
    }
}

impl Rule {
    /// Returns its pattern.
    pub(super) fn pattern(&self) -> &RulePattern {
        &self.pattern
    }

    /// Returns whether it has a pattern of paths.
    pub(super) fn has_path(&self) -> bool {
        matches!(self.pattern, RulePattern::Path { .. })
    }

    /// Returns whether its pattern matches a path, or, if `is_recursive`, something below the path.
    pub(super) fn names_path(&self, path: &Path, is_recursive: bool, project: &Path) -> bool {
        let RulePattern::Path { glob, is_absolute } = &self.pattern else { return false };
        if is_recursive && !is_absolute && project.starts_with(path) {
            return true;
        }
        let path = if *is_absolute { Some(path) } else { path.strip_prefix(project).ok() };
        let text = glob.glob().glob();
        let literal = text.find(['*', '?', '[', '{']).map_or(text, |end| &text[..end]);
        path.and_then(Path::to_str).is_some_and(|path| {
            glob.is_match(path) || (is_recursive && Path::new(literal).starts_with(path))
        })
    }
}

fn parse(text: &str) -> Result<Rule, String> {
    let (name, pattern) = match text.split_once('(') {
        Some((name, rest)) => {
            (name, Some(rest.strip_suffix(')').ok_or("its parenthesis is not closed")?))
        }
        None => (text, None),
    };
    let name = name.trim_end();
    if name.starts_with(MCP) {
        return parse_server(name, pattern);
    }
    if let Some(kind) = USES.iter().find(|(word, _)| *word == name).map(|(_, kind)| *kind) {
        return parse_known_use(name, kind, pattern.unwrap_or_default().trim());
    }
    let tool = tool_names::canonical(name).ok_or_else(|| unknown(name))?;
    if !TOOLS.contains(&tool) {
        return Err(format!("{tool} never asks"));
    }
    let Some(pattern) = pattern.map(str::trim) else {
        return Ok(Rule {
            text: tool.to_owned(),
            tool: tool.to_owned(),
            pattern: RulePattern::Any,
        });
    };
    let pattern_rule = if tool == "bash" { parse_command(pattern)? } else { parse_path(pattern)? };
    Ok(Rule { text: format!("{tool}({pattern})"), tool: tool.to_owned(), pattern: pattern_rule })
}

fn parse_known_use(word: &str, kind: UseKind, name: &str) -> Result<Rule, String> {
    let known_use = KnownUse::named(name).filter(|known_use| known_use.kind() == kind);
    let known_use = known_use
        .ok_or_else(|| format!("{name:?} is not a command that is known to be one that {word}"))?;
    let text = format!("{word}({name})");
    Ok(Rule { text, tool: "bash".to_owned(), pattern: RulePattern::Known(known_use) })
}

fn unknown(name: &str) -> String {
    let tools = || format!("rules apply to {} and mcp__SERVER__TOOL", TOOLS.join(", "));
    format!("there is no tool {name:?}; {}", did_you_mean(name, &TOOLS, tools))
}

fn parse_server(name: &str, pattern: Option<&str>) -> Result<Rule, String> {
    if pattern.is_some() {
        return Err("rules for MCP tools have no pattern".to_owned());
    }
    let (server, tool) = match name[MCP.len()..].split_once("__") {
        Some((server, tool)) => (server, tool),
        None => (&name[MCP.len()..], "*"),
    };
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
    };
    if !is_name(server) || !(tool == "*" || is_name(tool)) {
        return Err("an MCP tool is called mcp__SERVER__TOOL, or mcp__SERVER__* for all".to_owned());
    }
    let text = format!("{MCP}{server}__{tool}");
    let (tool, pattern) = match tool {
        "*" => (format!("{MCP}{server}__"), RulePattern::Server),
        _ => (text.clone(), RulePattern::Any),
    };
    Ok(Rule { text, tool, pattern })
}

fn parse_command(text: &str) -> Result<RulePattern, String> {
    // As Claude Code writes it.
    let text = text.strip_suffix(":*").map_or_else(|| text.to_owned(), |text| format!("{text} *"));
    let (directory, text) = match text.split_once(" && ") {
        Some((start, rest)) => (Some(parse_directory(start)?), rest),
        None => (None, text.as_str()),
    };
    let commands = plain_words(text).unwrap_or_default();
    let [PlainCommand { words, writes }] = commands.as_slice() else {
        return Err("its pattern is not one command with literal words".to_owned());
    };
    let [program, args @ ..] = words.as_slice() else {
        return Err("it names no program".to_owned());
    };
    if program.is_pattern || !writes.is_empty() {
        let why =
            "its pattern begins with the name of a program; `bash` alone allows every command";
        return Err(why.to_owned());
    }
    let is_open = args.last().is_some_and(|last| last.text == "*" && last.is_pattern);
    let args = &args[..args.len() - usize::from(is_open)];
    let arg = |word: &tenter_shell::PlainWord| match word {
        word if !word.is_pattern => Ok(ArgPattern::Literal(word.text.clone())),
        word if word.is_quoted || word.text.contains('~') => {
            Err(format!("{:?} mixes quotes or `~` with a pattern", word.text))
        }
        word => Glob::new(&word.text)
            .map(|glob| ArgPattern::Glob(glob.compile_matcher()))
            .map_err(|error| error.kind().to_string()),
    };
    let args = args.iter().map(arg).collect::<Result<_, _>>()?;
    let program = program.text.clone();
    Ok(RulePattern::Command(ProgramPattern { program, args, is_open, directory }))
}

/// Returns the directory of `cd DIRECTORY`.
fn parse_directory(text: &str) -> Result<String, String> {
    let commands = plain_words(text).unwrap_or_default();
    let words = match commands.as_slice() {
        [PlainCommand { words, writes }] if writes.is_empty() => words.as_slice(),
        _ => &[],
    };
    match words {
        [cd, directory] if cd.text == "cd" && !directory.is_pattern => Ok(directory.text.clone()),
        _ => Err("its pattern is not one command, after `cd DIRECTORY &&` if at all".to_owned()),
    }
}

fn parse_path(text: &str) -> Result<RulePattern, String> {
    let path = text.strip_prefix("./").unwrap_or(text);
    if path.is_empty() || path.starts_with('~') || path.split('/').any(|part| part == "..") {
        return Err(
            "its pattern is a path relative to the project, or an absolute one, without `..`"
                .to_owned(),
        );
    }
    let path = if path.ends_with('/') { format!("{path}**") } else { path.to_owned() };
    let glob = GlobBuilder::new(&path).literal_separator(true).backslash_escape(false).build();
    let glob = glob.map_err(|error| error.kind().to_string())?.compile_matcher();
    Ok(RulePattern::Path { glob, is_absolute: path.starts_with('/') })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_one_spelling() {
        for (text, rule) in [
            ("Bash", "bash"),
            (" Shell( git status * ) ", "bash(git status *)"),
            ("Bash(npm run test:*)", "bash(npm run test:*)"),
            ("Edit(src/**)", "file_edit(src/**)"),
            ("Write(docs/)", "file_write(docs/)"),
            ("mcp__github", "mcp__github__*"),
            ("mcp__github__push", "mcp__github__push"),
            ("reads( git log )", "reads(git log)"),
            ("builds(cargo test)", "builds(cargo test)"),
            ("bash(cd sub && make -j4)", "bash(cd sub && make -j4)"),
        ] {
            let pattern_rule: Rule = text.parse().unwrap();
            assert_eq!(pattern_rule.to_string(), rule);
            assert_eq!(rule.parse(), Ok(pattern_rule), "{rule}");
        }
    }

    #[test]
    fn a_text_that_is_no_rule_says_why() {
        for (text, why) in [
            ("", "there is no tool"),
            ("bsh", "bash"),
            ("bash(ls", "its parenthesis is not closed"),
            ("bash()", "not one command"),
            ("bash(*)", "begins with the name of a program"),
            ("bash(git*)", "begins with the name of a program"),
            ("bash(a; b)", "not one command"),
            ("bash(a && b)", "after `cd DIRECTORY &&`"),
            ("bash(cd * && b)", "after `cd DIRECTORY &&`"),
            ("bash(cd a && b; c)", "not one command"),
            ("reads", "not a command that is known"),
            ("reads(git push)", "not a command that is known"),
            ("reads(cargo test)", "not a command that is known"),
            ("bash(a > x)", "begins with the name of a program"),
            ("bash(A=b c)", "not one command"),
            ("bash(echo $x)", "not one command"),
            ("bash(ls \"a\"*)", "mixes quotes"),
            ("bash(dd of=~/x)", "mixes quotes or `~`"),
            ("file_read(x)", "file_read never asks"),
            ("file_edit(../x)", "without `..`"),
            ("file_edit(~/x)", "without `..`"),
            ("file_edit([)", "character class"),
            ("mcp__*", "mcp__SERVER__TOOL"),
            ("mcp__a__b(c)", "have no pattern"),
            ("mcp__a__b*", "mcp__SERVER__TOOL"),
        ] {
            let error = text.parse::<Rule>().unwrap_err();
            assert!(error.why.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_path_pattern_matches_real_paths_in_the_project() {
        let allows = |rule: &str, tool: &str, file: &str| {
            rule.parse::<Rule>().unwrap().allows_file(tool, Path::new(file), Path::new("/p"))
        };
        for (rule, file, expected) in [
            ("file_edit(src/**)", "/p/src/a/b.rs", true),
            ("file_edit(src/*)", "/p/src/a/b.rs", false),
            ("file_edit(src/)", "/p/src/a", true),
            ("file_edit(./a)", "/p/a", true),
            ("file_edit(**)", "/outside/a", false),
            ("file_edit(/outside/**)", "/outside/a", true),
            ("file_edit", "/outside/a", true),
            ("file_write(src/**)", "/p/src/a", false),
            ("bash", "/p/src/a", false),
        ] {
            assert_eq!(allows(rule, "file_edit", file), expected, "{rule} {file}");
        }
    }
}
