//! Redirections.

use std::rc::Rc;

use super::parser::{Parser, is_name};
use super::tree::{Redirection, RedirectionOp as Op, Target};

/// The operators, longest first.
const OPERATORS: [(&str, Op); 13] = [
    ("<<<", Op::HereString),
    ("<<-", Op::HereDoc),
    ("<<", Op::HereDoc),
    ("<>", Op::ReadWrite),
    ("<&", Op::DuplicateIn),
    ("<", Op::Read),
    (">>", Op::Append),
    (">|", Op::Clobber),
    (">&", Op::DuplicateOut),
    (">", Op::Write),
    ("&>>", Op::AppendBoth),
    ("&>", Op::WriteBoth),
    // zsh
    (">!", Op::Clobber),
];

impl Parser<'_> {
    /// Parses the redirections after a compound command.
    pub(super) fn redirections(&mut self) -> Vec<Redirection> {
        let mut all = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirection() {
                Some(redirection) if self.count_redirection() => all.push(redirection),
                Some(_) => {}
                None => return all,
            }
        }
    }

    /// Parses a redirection, if one is next.
    pub(super) fn redirection(&mut self) -> Option<Redirection> {
        let fd = self.descriptor();
        let start = self.at + fd.len();
        let rest = &self.bytes[start..];
        let is_process = rest.starts_with(b"<(") || rest.starts_with(b">(");
        let operator = OPERATORS.iter().find(|(text, _)| rest.starts_with(text.as_bytes()));
        let (text, op) = *operator.filter(|_| !is_process || !fd.is_empty())?;
        if text.starts_with('&') && !fd.is_empty() {
            return None;
        }
        let fd = fd.to_owned();
        self.at = start + text.len();
        if op == Op::HereDoc {
            let target = Target::HereDoc(self.heredoc(text == "<<-"));
            return Some(Redirection { fd, op, target });
        }
        self.skip_blanks();
        let word = self.word();
        if word.is_none() {
            self.is_broken = true;
        }
        Some(Redirection { fd, op, target: Target::Word(Rc::new(word?)) })
    }

    /// Returns the file descriptor before an operator: `2` or `{name}`, empty if there is none.
    fn descriptor(&self) -> &str {
        let rest = &self.text[self.at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length = match digits {
            0 if rest.starts_with('{') => {
                let window = &rest.as_bytes()[..rest.len().min(64)];
                let Some(end) = window.iter().position(|byte| *byte == b'}') else { return "" };
                if !is_name(rest.get(1..end).unwrap_or_default()) {
                    return "";
                }
                end + 1
            }
            // No system has descriptors of more digits.
            0..=9 => digits,
            _ => return "",
        };
        match rest.as_bytes().get(length) {
            Some(b'<' | b'>') => &rest[..length],
            _ => "",
        }
    }
}
