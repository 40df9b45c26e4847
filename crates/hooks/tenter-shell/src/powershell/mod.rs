//! Texts for PowerShell, rewritten as texts for bash that run the same commands: script blocks, expressions in parentheses, arrays, strings
//! and escapes (C15).
//!
//! This is no parser of PowerShell. A block counts as run wherever it is, and what is no command is printed with `echo`.

mod statement;

use std::fmt::Write as _;

use crate::escapes::quoted;
use statement::{Statement, is_keyword};

/// Maximum nesting of blocks and parentheses.
const MAX_DEPTH: usize = 32;

/// The start of a variable of the environment.
const ENVIRONMENT: &str = "$env:";

/// Returns a text for bash that runs the commands of a text for PowerShell.
pub(crate) fn as_shell(text: &str) -> String {
    let mut reader = ScriptReader { rest: text, depth: 0 };
    let mut script = String::with_capacity(text.len() + text.len() / 4);
    while !reader.rest.is_empty() {
        script.push_str(&reader.block());
        // A closing sign that nothing opened.
        reader.skip(1);
        script.push('\n');
    }
    script
}

/// Reads a text from its start.
struct ScriptReader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> ScriptReader<'t> {
    fn skip(&mut self, count: usize) {
        let mut chars = self.rest.chars();
        chars.by_ref().take(count).for_each(drop);
        self.rest = chars.as_str();
    }

    /// Takes the text up to a sign and this sign; all of the rest without it.
    fn take_until(&mut self, end: &str) -> &'t str {
        let (text, rest) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        text
    }

    /// Reads statements up to the sign that closes the block.
    fn block(&mut self) -> String {
        let mut script = String::new();
        loop {
            let (statement, separator) = self.statement();
            script.push_str(&statement.finish());
            match separator {
                Some(separator) => script.push_str(separator),
                None => return script,
            }
        }
    }

    /// Reads what is in a block or in parentheses, and the sign that closes it.
    fn inner(&mut self) -> String {
        if self.depth >= MAX_DEPTH {
            // Deeper text follows as it is.
            return String::new();
        }
        self.depth += 1;
        let text = self.block();
        self.depth -= 1;
        self.skip(1);
        text
    }

    /// Reads a statement up to the sign after it. Returns `None` for that at the end of the block.
    fn statement(&mut self) -> (Statement, Option<&'static str>) {
        let mut statement = Statement::default();
        loop {
            let mut chars = self.rest.chars();
            let Some(sign) = chars.next() else { return (statement, None) };
            let next = chars.next();
            let is_first = statement.is_empty();
            match (sign, next) {
                ('}' | ')', _) => return (statement, None),
                ('\n' | ';', _) => {
                    self.skip(1);
                    return (statement, Some("\n"));
                }
                ('|', Some('|')) => return self.end_with(statement, " || "),
                ('&', Some('&')) => return self.end_with(statement, " && "),
                ('|', _) => {
                    self.skip(1);
                    return (statement, Some(" | "));
                }
                // The operators that call what follows.
                ('&', _) if is_first => {
                    self.skip(1);
                    statement.is_called = true;
                }
                ('.', Some(c)) if is_first && matches!(c, ' ' | '\t' | '{') => {
                    self.skip(1);
                    statement.is_called = true;
                }
                ('&', _) if statement.word.ends_with('>') => {
                    self.skip(1);
                    statement.word.push('&');
                }
                ('&', _) => {
                    self.skip(1);
                    return (statement, Some(" &\n"));
                }
                ('<', Some('#')) => {
                    self.take_until("#>");
                }
                ('#', _) if statement.word.is_empty() => {
                    let line = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[line..];
                }
                ('`', Some('\n')) => {
                    self.skip(2);
                    statement.end_word();
                }
                ('`', Some(c)) => {
                    self.skip(2);
                    statement.word.push_str(&quoted(&c.to_string()));
                }
                ('@', Some(quote @ ('\'' | '"'))) if self.is_here_string() => {
                    self.skip(2);
                    let end = if quote == '"' { "\n\"@" } else { "\n'@" };
                    let text = self.take_until(end).trim_start_matches(['\r', '\n']);
                    statement.word.push_str(&quoted(text));
                }
                ('\'' | '‘' | '’', _) => {
                    self.skip(1);
                    let text = self.single_quoted();
                    statement.word.push_str(&quoted(&slashed(&text)));
                }
                ('"' | '“' | '”', _) => {
                    self.skip(1);
                    let text = self.double_quoted();
                    statement.word.push_str(&text);
                }
                ('$', next) if next != Some('(') => self.variable(&mut statement),
                ('$' | '@', Some('(')) => {
                    self.skip(2);
                    self.parentheses(&mut statement);
                }
                ('(', _) => {
                    self.skip(1);
                    self.parentheses(&mut statement);
                }
                ('@', Some('{')) => {
                    self.skip(2);
                    statement.block(self.inner());
                }
                ('{', _) => {
                    self.skip(1);
                    statement.block(self.inner());
                }
                (',', _) => {
                    self.skip(1);
                    statement.end_word();
                }
                ('\\', _) => {
                    self.skip(1);
                    statement.word.push('/');
                }
                (c, _) if c.is_whitespace() => {
                    self.skip(1);
                    statement.end_word();
                }
                (c, _) => {
                    self.skip(1);
                    statement.word.push(c);
                }
            }
        }
    }

    fn end_with(
        &mut self,
        statement: Statement,
        separator: &'static str,
    ) -> (Statement, Option<&'static str>) {
        self.skip(2);
        (statement, Some(separator))
    }

    /// Reads a variable. Its text is one word, unless it is the first one: `$x = 1`.
    fn variable(&mut self, statement: &mut Statement) {
        let is_first = statement.words.is_empty()
            && (statement.word.is_empty() || statement.word.ends_with(']'));
        self.skip(1);
        if self.rest.starts_with('{') {
            self.skip(1);
            let name = variable(self.take_until("}"));
            let _ = write!(statement.word, "\"${{{name}}}\"");
            return;
        }
        if self.rest.get(..4).is_some_and(is_environment) {
            self.skip(4);
            statement.word.push_str(if is_first { ENVIRONMENT } else { "$" });
            self.home(&mut statement.word);
            return;
        }
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = &self.rest[name.len()..];
        let quote = if is_first || name.is_empty() { "" } else { "\"" };
        let _ = write!(statement.word, "{quote}${name}{quote}");
    }

    /// Reads the variable of Windows with the home directory.
    fn home(&mut self, word: &mut String) {
        const HOME: &str = "userprofile";
        if self.rest.get(..HOME.len()).is_some_and(|it| it.eq_ignore_ascii_case(HOME)) {
            self.rest = &self.rest[HOME.len()..];
            word.push_str("HOME");
        }
    }

    /// Checks whether nothing follows the first two signs in their line.
    fn is_here_string(&self) -> bool {
        let line = self.rest.lines().next().unwrap_or_default();
        line.get(2..).is_some_and(|rest| rest.trim().is_empty())
    }

    /// Reads an expression in parentheses: a list of texts as words, anything else as a command whose output is used.
    fn parentheses(&mut self, statement: &mut Statement) {
        if let Some(words) = self.listed_texts() {
            statement.end_word();
            statement.words.extend(words);
            return;
        }
        let inner = self.inner();
        if statement.words.is_empty() && is_keyword(&statement.word) {
            statement.end_word();
        }
        if statement.is_empty() {
            // `if (git status) {…}`, `(cat a) | b`.
            statement.words.push(format!("(\n{inner}\n)"));
        } else {
            let _ = write!(statement.word, "\"$(\n{inner}\n)\"");
        }
    }

    /// Reads a list of quoted texts up to `)`: `('push', '--force')`. `None` if there is anything else in it, such as commands.
    fn listed_texts(&mut self) -> Option<Vec<String>> {
        // It reads no commands: they would be read twice at each level.
        let mut ahead = ScriptReader { rest: self.rest, depth: MAX_DEPTH };
        let mut words = Vec::new();
        loop {
            ahead.rest = ahead.rest.trim_start_matches([' ', ',', '\t', '\n', '\r']);
            let quote = ahead.rest.chars().next()?;
            ahead.skip(1);
            match quote {
                '\'' => words.push(quoted(&slashed(&ahead.single_quoted()))),
                '"' => words.push(Some(ahead.double_quoted()).filter(|text| !text.contains("$("))?),
                ')' => {
                    self.rest = ahead.rest;
                    return (!words.is_empty()).then_some(words);
                }
                _ => return None,
            }
        }
    }

    /// Reads a text up to the quote that ends it; two of them are one in the text.
    fn single_quoted(&mut self) -> String {
        let mut text = String::new();
        loop {
            let end = self.rest.find(['\'', '’', '‘']).unwrap_or(self.rest.len());
            text.push_str(&self.rest[..end]);
            self.rest = &self.rest[end..];
            self.skip(1);
            if !self.rest.starts_with(['\'', '’', '‘']) {
                return text;
            }
            text.push('\'');
            self.skip(1);
        }
    }

    /// Reads a text with variables and commands up to the quote that ends it, as one in double quotes for bash.
    fn double_quoted(&mut self) -> String {
        let mut text = String::from("\"");
        let is_path = self.rest.starts_with(['~', '.', '$']) || has_drive(self.rest);
        loop {
            let mut chars = self.rest.chars();
            let (Some(sign), next) = (chars.next(), chars.next()) else { break };
            match (sign, next) {
                ('"' | '“' | '”', Some('"' | '“' | '”')) => {
                    self.skip(2);
                    text.push_str("\\\"");
                }
                ('"' | '“' | '”', _) => {
                    self.skip(1);
                    break;
                }
                ('`', Some(c)) => {
                    self.skip(2);
                    text.push_str(match c {
                        'n' | 'r' => "\n",
                        't' => "\t",
                        '$' => "\\$",
                        '"' => "\\\"",
                        '`' => "\\`",
                        _ => "",
                    });
                    if c.is_alphanumeric() && !matches!(c, 'n' | 'r' | 't' | '0') {
                        text.push(c);
                    }
                }
                ('$', Some('(')) => {
                    self.skip(2);
                    let inner = self.inner();
                    let _ = write!(text, "$(\n{inner}\n)");
                }
                ('$', Some('{')) => {
                    self.skip(2);
                    let name = self.take_until("}");
                    let _ = write!(text, "${{{}}}", variable(name));
                }
                ('$', _) if self.rest[1..].get(..4).is_some_and(is_environment) => {
                    self.skip(5);
                    text.push('$');
                    self.home(&mut text);
                }
                ('\\', _) => {
                    self.skip(1);
                    text.push_str(if is_path { "/" } else { "\\\\" });
                }
                ('`', None) => self.skip(1),
                (c, _) => {
                    self.skip(1);
                    text.push(c);
                }
            }
        }
        text.push('"');
        text
    }
}

fn is_environment(text: &str) -> bool {
    text.eq_ignore_ascii_case("env:")
}

/// Returns the name of a variable in braces.
fn variable(name: &str) -> &str {
    name.get(..4).filter(|start| is_environment(start)).map_or(name, |_| &name[4..])
}

/// Checks whether a text begins with the letter of a drive.
fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Returns a path with slashes; any other text as it is.
fn slashed(text: &str) -> String {
    let is_path = text.starts_with(['~', '.', '$']) || has_drive(text);
    if is_path { text.replace('\\', "/") } else { text.to_owned() }
}

#[cfg(test)]
mod tests;
