//! Programs in other languages: the calls with literal arguments that run commands or touch files (C1).
//!
//! This is no parser. A call counts wherever its name is, so that the facts contain at least what a plain program does. Strings
//! and comments can contain calls that never happen, which is why the facts that come of this are not certain.

mod literals;
mod tables;

use crate::facts::{Language, PathOp};

use literals::{Argument, arguments};
use tables::{CALLS, Call, Effect, OBJECT};

/// What a program does, as far as it can be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeFacts {
    pub(crate) calls: Vec<CodeCall>,
    /// It runs something that is not literal.
    pub(crate) dynamic: bool,
}

/// A call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CodeCall {
    Script(String),
    Words(Vec<String>),
    Path { path: String, op: PathOp, recursive: bool },
    Network,
}

/// Maximum number of calls that are read.
const MOST: usize = 256;

/// Reads a program.
pub(crate) fn read(language: Language, text: &str) -> CodeFacts {
    let mut facts = CodeFacts::default();
    let mut tried = 0;
    for (start, name) in names(text) {
        let before = &text[..start];
        let after = &text[start + name.len()..];
        if !after.trim_start().starts_with(['(', '"', '\'']) {
            continue;
        }
        if tried >= MOST {
            facts.dynamic = true;
            break;
        }
        for call in CALLS.iter().filter(|call| call.language == language && call.name == name) {
            if is_call(call, before, after) {
                tried += 1;
                facts.add(call, before, after);
                break;
            }
        }
    }
    facts.backticks(language, text);
    facts
}

/// The identifiers of a text, with their positions.
fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(|c: char| c.is_ascii_alphabetic() || c == '_')?;
        let length = text[start..].find(|c| !is_part(c)).unwrap_or(text.len() - start);
        rest = start + length;
        Some((start, &text[start..rest]))
    })
}

/// Whether a name is that of a call: its object fits, and arguments follow.
fn is_call(call: &Call, before: &str, after: &str) -> bool {
    let object =
        before.trim_end().strip_suffix(['.', ':']).map(|before| before.trim_end_matches(':'));
    let has_object =
        call.object.is_empty() || object.is_some_and(|object| object.ends_with(call.object));
    let next = after.trim_start().chars().next();
    let is_command = matches!(call.language, Language::Perl | Language::Ruby);
    has_object && (next == Some('(') || (is_command && matches!(next, Some('"' | '\''))))
}

impl CodeFacts {
    fn add(&mut self, call: &Call, before: &str, after: &str) {
        let arguments = arguments(after);
        match call.effect {
            Effect::Shell => match arguments.first() {
                Some(Argument::Text(script)) => self.calls.push(CodeCall::Script(script.clone())),
                Some(Argument::List(words)) => self.words(words.clone(), &arguments),
                _ => self.dynamic = true,
            },
            Effect::Words => self.argv(&arguments),
            Effect::Network => self.calls.push(CodeCall::Network),
            Effect::Open => self.open(&arguments),
            Effect::OpenLast => self.open_last(&arguments),
            Effect::Path { op, recursive, index } => {
                let path = match index {
                    OBJECT => literals::last_text(before),
                    index => arguments.get(index).and_then(Argument::text),
                };
                if let Some(path) = path {
                    self.calls.push(CodeCall::Path { path, op, recursive });
                }
            }
        }
    }

    /// `execFile("rm", ["-rf", "/"])`, `system("rm", "-rf", "/")`.
    fn argv(&mut self, arguments: &[Argument]) {
        match arguments {
            [Argument::Text(script)] => self.calls.push(CodeCall::Script(script.clone())),
            [Argument::Text(program), Argument::List(rest), ..] => {
                self.words([std::slice::from_ref(program), rest].concat(), arguments);
            }
            [Argument::List(words), ..] => self.words(words.clone(), arguments),
            [Argument::Text(program), rest @ ..] => {
                let rest: Vec<String> = rest.iter().filter_map(Argument::text).collect();
                self.words([std::slice::from_ref(program), &rest].concat(), arguments);
            }
            _ => self.dynamic = true,
        }
    }

    fn words(&mut self, words: Vec<String>, arguments: &[Argument]) {
        self.dynamic |= arguments.iter().any(|argument| matches!(argument, Argument::PartialList));
        self.calls.push(CodeCall::Words(words));
    }

    /// `open("file", "w")`: what the mode says.
    fn open(&mut self, arguments: &[Argument]) {
        let Some(path) = arguments.first().and_then(Argument::text) else { return };
        let mode = arguments.get(1).and_then(Argument::text).unwrap_or_default();
        let is_write = mode.contains(['w', 'a', 'x', '+']);
        let op = if is_write { PathOp::Write } else { PathOp::Read };
        self.calls.push(CodeCall::Path { path, op, recursive: false });
    }

    /// `open(F, ">file")` and `open(F, ">", "file")` of Perl.
    fn open_last(&mut self, arguments: &[Argument]) {
        let texts: Vec<String> = arguments.iter().filter_map(Argument::text).collect();
        let Some(last) = texts.last() else { return };
        let is_write = texts[0].contains('>');
        let path = last.trim_start_matches(['<', '>', '+', ' ']).to_owned();
        let op = if is_write { PathOp::Write } else { PathOp::Read };
        self.calls.push(CodeCall::Path { path, op, recursive: false });
    }

    /// `` `…` `` runs a command in Perl, Ruby and PHP.
    fn backticks(&mut self, language: Language, text: &str) {
        if !matches!(language, Language::Perl | Language::Ruby | Language::Php) {
            return;
        }
        for script in text.split('`').skip(1).step_by(2).take(MOST) {
            self.dynamic |= script.contains(['$', '#']);
            self.calls.push(CodeCall::Script(script.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests;
