//! Which commands `bash` may run where a recipe or the person names them (R53), decided before anything is started.
//!
//! A pattern allows one *simple* command: a program and its arguments. What a shell would make more of is taken apart, or
//! refused:
//!
//! - `;`, `&`, `&&`, `||`, `|`, `|&` and line ends part a line into commands, and each of them has to match a pattern.
//! - Quotes are respected: what stands in them parts nothing. The text is compared as it stands, quotes included, except that
//!   spaces between words count as one: `"git" status` does not match `git status`.
//! - Refused whatever the patterns are, because the text would not be what runs: `$` and backquotes outside of single quotes,
//!   parentheses, redirections (but `2>&1` and the like, and those to `/dev/null`), comments, a backslash at a line's end,
//!   control characters, quotes without end, an assignment before a command, a shell's own words such as `if` and `!`, and a
//!   program's name that holds anything but letters, digits and `_ . / + - @ % : ,`.
//! - The pattern `*` alone allows everything, all of this included.
//!
//! In a pattern `*` is any text, also none, also with spaces and slashes; `?` is one letter, `[ab]` one of some, `{one,other}`
//! one of two. A pattern that ends in ` *` also matches without any argument: `git diff *` allows `git diff`.
//!
//! It compares texts and knows no programs: whoever allows `find *` allows `find -exec rm`.

mod split;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;
use tenter_protocol::{Object, ToolResult};

use self::split::commands;
use super::tool::{Tool, ToolContext};

/// A shell's own words, which begin no simple command.
const RESERVED: [&str; 22] = [
    "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

/// The commands that may be run.
#[derive(Debug, Clone)]
pub struct AllowedCommands {
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    written: String,
    matcher: GlobMatcher,
}

/// A pattern that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {pattern:?} cannot be used: {problem}")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub problem: String,
}

impl AllowedCommands {
    /// The commands that match any of these patterns; none for an empty list.
    ///
    /// # Errors
    /// The first pattern that is none.
    pub fn new(patterns: &[String]) -> Result<Self, PatternError> {
        let patterns = patterns.iter().map(|written| Pattern::new(written.trim()));
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// Whether there is no command that may be run.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a command line may be run.
    ///
    /// # Errors
    /// Why not, in words for the model.
    pub fn check(&self, line: &str) -> Result<(), String> {
        if self.patterns.iter().any(|pattern| pattern.written == "*") {
            return Ok(());
        }
        let refused = |why: String| format!("this command is not allowed: {why}. {self}");
        let commands = commands(line).map_err(|why| refused(why.to_owned()))?;
        for command in &commands {
            simple(command).map_err(|why| refused(format!("`{command}` {why}")))?;
            if !self.patterns.iter().any(|pattern| pattern.allows(command)) {
                return Err(refused(format!("`{command}` matches no pattern")));
            }
        }
        if commands.is_empty() { Err(refused("there is no command".to_owned())) } else { Ok(()) }
    }
}

impl fmt::Display for AllowedCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.patterns.is_empty() {
            return f.write_str("No command is allowed");
        }
        let patterns: Vec<String> =
            self.patterns.iter().map(|pattern| format!("`{}`", pattern.written)).collect();
        write!(f, "Allowed is what matches {}", patterns.join(" or "))
    }
}

impl Pattern {
    fn new(written: &str) -> Result<Self, PatternError> {
        let error = |problem: String| PatternError { pattern: written.to_owned(), problem };
        if written.is_empty() {
            return Err(error("it is empty".to_owned()));
        }
        let glob =
            GlobBuilder::new(written).literal_separator(false).backslash_escape(true).build();
        let matcher = glob.map_err(|problem| error(problem.kind().to_string()))?.compile_matcher();
        Ok(Self { written: written.to_owned(), matcher })
    }

    fn allows(&self, command: &str) -> bool {
        self.matcher.is_match(command)
            || self.written.ends_with(" *") && self.matcher.is_match(format!("{command} "))
    }
}

/// Whether the text is a program and its arguments; why not, as the end of a sentence that begins with it.
fn simple(command: &str) -> Result<(), &'static str> {
    let program = command.split(' ').next().unwrap_or_default();
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./+-@%:,".contains(letter);
    Err(if RESERVED.contains(&program) {
        "begins with a word of the shell's own"
    } else if is_assignment(program) {
        "sets a variable before the command"
    } else if !program.chars().all(is_plain) {
        "does not begin with the plain name of a program"
    } else {
        return Ok(());
    })
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        let end = name.find('[').unwrap_or(name.len());
        !name.is_empty()
            && name[..end].chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

/// A tool that takes a command line, and runs only what is allowed. Restrictions add up: one around another holds too.
pub(super) struct Restricted {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) allowed: AllowedCommands,
}

impl Tool for Restricted {
    fn name(&self) -> &'static str {
        self.tool.name()
    }

    fn description(&self) -> &'static str {
        self.tool.description()
    }

    fn guidance(&self) -> Option<String> {
        self.tool.guidance()
    }

    fn input_schema(&self) -> Value {
        self.tool.input_schema()
    }

    fn check(&self, input: &Object) -> Result<(), String> {
        self.tool.check(input)
    }

    fn run(&self, input: &Object, context: &ToolContext<'_>) -> ToolResult {
        // Without a command there is nothing to run, and the tool itself says what it misses.
        let allowed = match input.get("command") {
            Some(Value::String(line)) => self.allowed.check(line),
            _ => self.tool.check(input),
        };
        match allowed {
            Ok(()) => self.tool.run(input, context),
            Err(why) => ToolResult::failure(self.name(), why, context.workspace.timestamp()),
        }
    }
}
