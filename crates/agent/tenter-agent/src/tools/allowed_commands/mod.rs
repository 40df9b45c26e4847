//! The commands that `bash` may run if a recipe or the user restricts them (R53). They are checked before anything is started.
//!
//! A pattern allows one *simple* command: a program and its arguments. Anything else in a command line is split or
//! rejected:
//!
//! - `;`, `&`, `&&`, `||`, `|`, `|&` and newlines separate commands, and each command must match a pattern.
//! - Quotes are respected: separators within them do not count. The text is compared as written, including quotes, except
//!   that spaces between words count as one: `"git" status` does not match `git status`.
//! - Always rejected, because something else than the text would run: `$` and backquotes outside single quotes,
//!   parentheses, redirections (except `2>&1` and the like, and those to `/dev/null`), comments, a backslash at the end of
//!   a line, control characters, unclosed quotes, assignments before a command, shell keywords such as `if` and `!`, and
//!   program names with characters other than letters, digits and `_ . / + - @ % : ,`.
//! - The pattern `*` alone allows everything, including all of the above.
//!
//! In a pattern, `*` matches any text, including spaces and slashes; `?` matches one character, `[ab]` one of several,
//! `{one,other}` one of two texts. A pattern that ends in ` *` also matches without arguments: `git diff *` allows `git
//! diff`.
//!
//! - A command that evaluates its words, quoted or not, must be written out in a pattern (R84): `printf *` does not allow
//!   `printf -v 'a[$(rm x)]'`.
//!
//! Otherwise only the text is compared: `find *` allows `find -exec rm`.

mod split;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;
use tenter_protocol::{Object, ToolResult};
use tenter_shell::{plain, plain_words};

use self::split::commands;
use super::tool::{Tool, ToolContext, ToolEffect};

/// Shell keywords, which do not start a simple command.
const RESERVED: [&str; 22] = [
    "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

/// The commands that are allowed.
#[derive(Debug, Clone)]
pub struct AllowedCommands {
    patterns: Vec<AllowedPattern>,
}

#[derive(Debug, Clone)]
struct AllowedPattern {
    text: String,
    matcher: GlobMatcher,
}

/// An invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {pattern:?} is invalid: {problem}")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// The problem with it.
    pub problem: String,
}

impl AllowedCommands {
    /// Allows the commands that match any of these patterns; none for an empty list.
    ///
    /// # Errors
    /// The first invalid pattern.
    pub fn new(patterns: &[String]) -> Result<Self, PatternError> {
        let patterns = patterns.iter().map(|pattern| AllowedPattern::new(pattern.trim()));
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// Returns whether no command is allowed.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Checks a command line.
    ///
    /// # Errors
    /// It is not allowed; the error is a message for the model.
    pub fn check(&self, line: &str) -> Result<(), String> {
        if self.patterns.iter().any(|pattern| pattern.text == "*") {
            return Ok(());
        }
        let refusal = |why: String| format!("this command is not allowed: {why}. {self}");
        let commands = commands(line).map_err(|why| refusal(why.to_owned()))?;
        for command in &commands {
            simple(command).map_err(|why| refusal(format!("`{command}` {why}")))?;
            if !self.patterns.iter().any(|pattern| pattern.allows(command)) {
                return Err(refusal(format!("`{command}` matches no pattern")));
            }
            let is_written_out = self.patterns.iter().any(|pattern| pattern.text == *command);
            if !is_written_out && evaluates_words(command) {
                return Err(refusal(format!("the shell evaluates the words of `{command}`")));
            }
        }
        if commands.is_empty() { Err(refusal("there is no command".to_owned())) } else { Ok(()) }
    }
}

impl fmt::Display for AllowedCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.patterns.is_empty() {
            return f.write_str("No command is allowed");
        }
        let patterns: Vec<String> =
            self.patterns.iter().map(|pattern| format!("`{}`", pattern.text)).collect();
        write!(f, "Allowed patterns: {}", patterns.join(", "))
    }
}

impl AllowedPattern {
    fn new(pattern: &str) -> Result<Self, PatternError> {
        let error = |problem: String| PatternError { pattern: pattern.to_owned(), problem };
        if pattern.is_empty() {
            return Err(error("it is empty".to_owned()));
        }
        let glob =
            GlobBuilder::new(pattern).literal_separator(false).backslash_escape(true).build();
        let matcher = glob.map_err(|problem| error(problem.kind().to_string()))?.compile_matcher();
        Ok(Self { text: pattern.to_owned(), matcher })
    }

    fn allows(&self, command: &str) -> bool {
        self.matcher.is_match(command)
            || self.text.ends_with(" *") && self.matcher.is_match(format!("{command} "))
    }
}

/// Returns whether the shell evaluates the words of a command instead of only reading them.
fn evaluates_words(command: &str) -> bool {
    plain_words(command).is_some() && plain(command).is_none()
}

/// Checks that the text is a program and its arguments; the error completes a sentence that starts with the command.
fn simple(command: &str) -> Result<(), &'static str> {
    let program = command.split(' ').next().unwrap_or_default();
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./+-@%:,".contains(letter);
    Err(if RESERVED.contains(&program) {
        "begins with a shell keyword"
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

/// A tool that runs only allowed command lines. Nested restrictions all apply.
pub(super) struct Restricted {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) allowed: AllowedCommands,
}

impl Tool for Restricted {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn guidance(&self) -> Option<String> {
        self.tool.guidance()
    }

    fn input_schema(&self) -> Value {
        self.tool.input_schema()
    }

    fn effect(&self) -> ToolEffect {
        self.tool.effect()
    }

    fn check(&self, input: &Object) -> Result<(), String> {
        self.tool.check(input)
    }

    fn run(&self, input: &Object, context: &ToolContext<'_>) -> ToolResult {
        // Without a command nothing runs, and the tool itself reports the missing field.
        let command = match input.get("command") {
            Some(Value::String(line)) => self.allowed.check(line),
            _ => self.tool.check(input),
        };
        match command {
            Ok(()) => self.tool.run(input, context),
            Err(why) => ToolResult::failure(self.name(), why, context.workspace.timestamp()),
        }
    }
}
