//! Quotes and backticks.

use std::rc::Rc;

use crate::limits::MAX_DEPTH;

use super::parser::Parser;
use super::tree::{Part, Script, Substitution, SubstitutionBody};
use super::words::push_text;

impl Parser<'_> {
    /// Parses `'…'`. Without an end, the rest of the text is quoted.
    pub(super) fn single_quotes(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        let rest = &self.text[self.at..];
        let end = rest.find('\'').unwrap_or(rest.len());
        push_text(parts, &rest[..end], true);
        self.work += end;
        self.at += end;
        if !self.eat("'") {
            self.is_broken = true;
        }
    }

    /// Parses `"…"`.
    pub(super) fn double_quotes(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        // An empty pair of quotes is a word.
        push_text(parts, "", true);
        while self.peek().is_some_and(|byte| byte != b'"') {
            self.quoted_part(parts, b'"');
        }
        if !self.eat("\"") {
            self.is_broken = true;
        }
    }

    /// Parses the body of a here-document, whose text is the whole text.
    pub(super) fn heredoc_parts(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        while self.peek().is_some() {
            self.quoted_part(&mut parts, 0);
        }
        parts
    }

    /// Parses one part of a text in double quotes, which end at `end`.
    pub(super) fn quoted_part(&mut self, parts: &mut Vec<Part>, end: u8) {
        match self.peek() {
            Some(b'\\') => self.quoted_escape(parts, end),
            Some(b'`') => self.backticks(parts, true),
            Some(b'$') => self.dollar(parts, true),
            // In `"${x:-"a b"}"` the inner quotes are removed.
            Some(b'"') if end == b'}' => self.at += 1,
            _ => {
                let start = self.at;
                self.bump();
                while self.peek().is_some_and(|byte| {
                    byte != end
                        && !matches!(byte, b'\\' | b'`' | b'$')
                        && (end != b'}' || byte != b'"')
                }) {
                    self.at += 1;
                }
                self.work += self.at - start;
                push_text(parts, &self.text[start..self.at], true);
            }
        }
    }

    fn quoted_escape(&mut self, parts: &mut Vec<Part>, end: u8) {
        self.at += 1;
        match self.bump() {
            Some('\n') => {}
            Some(escaped @ ('$' | '`' | '\\')) => {
                push_text(parts, escaped.encode_utf8(&mut [0; 4]), true);
            }
            Some(character)
                if u32::from(character) == u32::from(end) || (character == '"' && end != 0) =>
            {
                push_text(parts, character.encode_utf8(&mut [0; 4]), true);
            }
            Some(other) => {
                push_text(parts, "\\", true);
                push_text(parts, other.encode_utf8(&mut [0; 4]), true);
            }
            None => push_text(parts, "\\", true),
        }
    }

    /// Parses `` `…` ``: the inner text without its escapes is parsed as a text of its own.
    pub(super) fn backticks(&mut self, parts: &mut Vec<Part>, is_quoted: bool) {
        let start = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.bump() {
                None => {
                    self.is_broken = true;
                    break;
                }
                Some('`') => break,
                Some('\\') => match self.bump() {
                    Some(escaped @ ('`' | '\\' | '$')) => inner.push(escaped),
                    Some('"') if is_quoted => inner.push('"'),
                    Some(other) => inner.extend(['\\', other]),
                    None => inner.push('\\'),
                },
                Some(other) => inner.push(other),
            }
        }
        let raw = self.text[start..self.at].to_owned();
        if self.depth >= MAX_DEPTH {
            self.reach_limit();
            return push_text(parts, &raw, is_quoted);
        }
        let mut parser = Parser::new(&inner, self.depth + 1);
        parser.counts = self.counts;
        let commands = parser.whole();
        self.counts = parser.counts;
        self.stop_if_full();
        self.is_broken |= parser.is_broken;
        self.is_limited |= parser.is_limited;
        self.work += parser.work;
        let script = Script { commands, heredocs: parser.heredocs, ..Script::default() };
        let script = Rc::new(SubstitutionBody::Own(script));
        parts.push(Part::Command(Box::new(Substitution { script, raw, is_quoted })));
    }

    /// Parses `$'…'`, with the escapes of C.
    pub(super) fn ansi_quotes(&mut self, parts: &mut Vec<Part>) {
        self.at += 2;
        push_text(parts, "", true);
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => break,
                b'\\' => {
                    self.at += 1;
                    self.bump();
                }
                _ => {
                    self.bump();
                }
            }
        }
        let (text, _) = crate::escapes::ansi(&self.text[start..self.at]);
        push_text(parts, &text, true);
        if !self.eat("'") {
            self.is_broken = true;
        }
    }
}
