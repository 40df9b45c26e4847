//! Words: text, quotes, parameters, substitutions.

use std::rc::Rc;

use super::parser::{Parser, ends_word, is_name};
use super::tree::{List, Parameter, ParameterChange, Part, Substitution, SubstitutionBody, Word};

impl Parser<'_> {
    /// Parses a word, if one is next.
    pub(super) fn word(&mut self) -> Option<Word> {
        let start = self.at;
        // Most words have one part.
        let mut word = Word { parts: Vec::with_capacity(1) };
        while let Some(byte) = self.peek() {
            if matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(') {
                self.process(&mut word.parts);
                continue;
            }
            if byte == b'(' && self.opens_pattern(start) {
                self.pattern_group(&mut word.parts);
                continue;
            }
            if byte == b'(' && self.opens_array(&word, start) {
                let words = self.array();
                word.parts.push(Part::Array(words));
                continue;
            }
            if ends_word(byte) {
                break;
            }
            self.part(&mut word.parts, None);
        }
        (self.at > start).then_some(word)
    }

    /// Parses the word of `${x:-word}`, which ends at `}`.
    fn braced_word(&mut self, is_quoted: bool) -> Word {
        let mut word = Word::default();
        while self.peek().is_some_and(|byte| byte != b'}') {
            if is_quoted {
                self.quoted_part(&mut word.parts, b'}');
            } else {
                self.part(&mut word.parts, Some(b'}'));
            }
        }
        word
    }

    /// Parses one part of a word without quotes around it. In braces, blanks and operators are text.
    pub(super) fn part(&mut self, parts: &mut Vec<Part>, end: Option<u8>) {
        match self.peek() {
            Some(b'\\') => self.escape(parts),
            Some(b'\'') => self.single_quotes(parts),
            Some(b'"') => self.double_quotes(parts),
            Some(b'`') => self.backticks(parts, false),
            Some(b'$') => self.dollar(parts, false),
            _ => self.plain(parts, end),
        }
    }

    fn plain(&mut self, parts: &mut Vec<Part>, end: Option<u8>) {
        let start = self.at;
        while let Some(byte) = self.peek() {
            let is_special = matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$');
            let is_end = end.map_or_else(|| ends_word(byte), |end| byte == end);
            if is_special || is_end {
                break;
            }
            self.at += 1;
        }
        self.work += self.at - start + 1;
        push_text(parts, &self.text[start..self.at], false);
    }

    fn escape(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        match self.bump() {
            Some('\n') => {}
            Some(character) => push_text(parts, character.encode_utf8(&mut [0; 4]), true),
            None => push_text(parts, "\\", true),
        }
    }

    /// Parses `<(…)` and `>(…)`.
    fn process(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        let is_output = self.peek() == Some(b'>');
        self.at += 2;
        let Some(list) = self.parse_substitution() else {
            push_text(parts, &self.text[start..self.at], false);
            return;
        };
        let raw = self.text[start..self.at].to_owned();
        parts.push(Part::Process { list: Rc::new(list), raw, is_output });
    }

    /// Parses a list up to `)`. `None` at the limit of nesting.
    fn parse_substitution(&mut self) -> Option<List> {
        let pending = std::mem::take(&mut self.pending);
        let list = self.nested(|parser| {
            let mut list = parser.list();
            while !matches!(parser.peek(), None | Some(b')')) {
                parser.is_broken = true;
                parser.skip_in_substitution();
                list.append(&mut parser.list());
            }
            list
        });
        if list.is_some() && !self.eat(")") {
            self.is_broken = true;
        }
        // Here-documents of the substitution that had no line of their own start after it.
        self.pending.splice(0..0, pending);
        list
    }

    fn skip_in_substitution(&mut self) {
        match self.keyword() {
            Some(keyword) => self.at += keyword.len(),
            None => {
                self.bump();
            }
        }
    }

    /// Checks for `?(…)`, `*(…)`, `+(…)`, `@(…)`, `!(…)` in a word.
    fn opens_pattern(&self, start: usize) -> bool {
        self.at > start && matches!(self.bytes[self.at - 1], b'?' | b'*' | b'+' | b'@' | b'!')
    }

    fn pattern_group(&mut self, parts: &mut Vec<Part>) {
        push_text(parts, "(", false);
        self.at += 1;
        let has_end = self.nested(|parser| {
            while parser.peek().is_some_and(|byte| !matches!(byte, b')' | b'\n')) {
                match parser.peek() {
                    Some(b'(') => parser.pattern_group(parts),
                    Some(b' ' | b'\t' | b'|' | b'&' | b';' | b'<' | b'>') => {
                        push_text(parts, &parser.text[parser.at..=parser.at], false);
                        parser.at += 1;
                    }
                    _ => parser.part(parts, None),
                }
                if parser.peek() == Some(b'\r') {
                    parser.at += 1;
                }
            }
        });
        if has_end.is_some() && self.eat(")") {
            push_text(parts, ")", false);
        } else {
            self.is_broken = true;
        }
    }

    /// Checks for `(` after `name=` or `name+=` as an argument.
    fn opens_array(&self, word: &Word, start: usize) -> bool {
        let [Part::Plain(text)] = word.parts.as_slice() else { return false };
        self.at == start + text.len()
            && text.strip_suffix('=').is_some_and(|name| is_name(name.trim_end_matches('+')))
    }

    /// Parses `$` and what follows it.
    pub(super) fn dollar(&mut self, parts: &mut Vec<Part>, is_quoted: bool) {
        match self.peek_at(1) {
            Some(b'(') => self.command_substitution(parts, is_quoted),
            Some(b'{') => self.braced(parts, is_quoted),
            Some(b'[') => self.bracket_arithmetic(parts),
            Some(b'\'') if !is_quoted => self.ansi_quotes(parts),
            Some(b'"') if !is_quoted => {
                self.at += 1;
                self.double_quotes(parts);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let length = self.bytes[self.at + 1..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                    .count();
                self.named(parts, length, is_quoted);
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.named(parts, 1, is_quoted);
            }
            _ => {
                self.at += 1;
                push_text(parts, "$", is_quoted);
            }
        }
    }

    fn named(&mut self, parts: &mut Vec<Part>, length: usize, is_quoted: bool) {
        let raw = self.text[self.at..=self.at + length].to_owned();
        self.at += 1 + length;
        let name = raw[1..].to_owned();
        let change = ParameterChange::None;
        parts.push(Part::Parameter(Box::new(Parameter { name, change, raw, is_quoted })));
    }

    fn command_substitution(&mut self, parts: &mut Vec<Part>, is_quoted: bool) {
        let start = self.at;
        if self.peek_at(2) == Some(b'(') && self.is_arithmetic(self.at + 3) {
            self.at += 3;
            return self.arithmetic(parts, start);
        }
        self.at += 2;
        let Some(list) = self.parse_substitution() else {
            push_text(parts, &self.text[start..self.at], is_quoted);
            return;
        };
        let raw = self.text[start..self.at].to_owned();
        let script = Rc::new(SubstitutionBody::Inline(list));
        parts.push(Part::Command(Box::new(Substitution { script, raw, is_quoted })));
    }

    fn arithmetic(&mut self, parts: &mut Vec<Part>, start: usize) {
        let inner = self.nested(Self::arithmetic_parts).unwrap_or_default();
        let raw = self.text[start..self.at].to_owned();
        parts.push(Part::Arithmetic { raw, parts: inner });
    }

    /// Parses the parts up to `))`.
    pub(super) fn arithmetic_parts(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None => {
                    self.is_broken = true;
                    return parts;
                }
                Some(b'(') => open += 1,
                Some(b')') if open > 0 => open -= 1,
                Some(b')') => {
                    if !self.eat("))") {
                        self.is_broken = true;
                        self.at += 1;
                    }
                    return parts;
                }
                Some(b'\\' | b'\'' | b'"' | b'`' | b'$') => {
                    self.part(&mut parts, None);
                    continue;
                }
                _ => {}
            }
            let start = self.at;
            self.bump();
            push_text(&mut parts, &self.text[start..self.at], true);
        }
    }

    /// Parses `$[…]`, the old form of `$((…))`.
    fn bracket_arithmetic(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 2;
        let mut inner = Vec::new();
        self.nested(|parser| {
            while parser.peek().is_some_and(|byte| byte != b']') {
                parser.part(&mut inner, Some(b']'));
            }
        });
        self.eat("]");
        let raw = self.text[start..self.at].to_owned();
        parts.push(Part::Arithmetic { raw, parts: inner });
    }

    /// Parses `${…}`.
    fn braced(&mut self, parts: &mut Vec<Part>, is_quoted: bool) {
        let start = self.at;
        self.at += 2;
        let result = self.nested(|parser| {
            let is_indirect = parser.peek() == Some(b'!') && parser.peek_at(1) != Some(b'}');
            let is_length = parser.peek() == Some(b'#') && parser.peek_at(1) != Some(b'}');
            parser.at += usize::from(is_indirect || is_length);
            let name = parser.braced_name();
            let change = parser.change(is_quoted);
            match (is_indirect, is_length) {
                (true, _) => (name, ParameterChange::Indirect),
                (_, true) => (name, ParameterChange::Other(Vec::new())),
                _ => (name, change),
            }
        });
        let Some((name, change)) = result else {
            push_text(parts, &self.text[start..self.at], is_quoted);
            return;
        };
        if !self.eat("}") {
            self.is_broken = true;
        }
        let raw = self.text[start..self.at].to_owned();
        parts.push(Part::Parameter(Box::new(Parameter { name, change, raw, is_quoted })));
    }

    fn braced_name(&mut self) -> String {
        let start = self.at;
        if self.peek().is_some_and(|byte| b"@*#?-$!".contains(&byte)) {
            self.at += 1;
        } else {
            while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                self.at += 1;
            }
        }
        self.text[start..self.at].to_owned()
    }

    fn change(&mut self, is_quoted: bool) -> ParameterChange {
        let colon = self.peek() == Some(b':');
        match self.peek_at(usize::from(colon)) {
            Some(kind @ (b'-' | b'=' | b'+' | b'?')) => {
                self.at += usize::from(colon) + 1;
                let word = self.braced_word(is_quoted);
                ParameterChange::Default { kind: char::from(kind), colon, word }
            }
            Some(kind @ (b'#' | b'%')) if !colon => {
                self.at += 1;
                let is_longest = self.peek() == Some(kind);
                self.at += usize::from(is_longest);
                let pattern = self.braced_word(false);
                ParameterChange::Strip { kind: char::from(kind), is_longest, pattern }
            }
            Some(b'}') | None => ParameterChange::None,
            _ => ParameterChange::Other(self.braced_word(is_quoted).parts),
        }
    }
}

/// Adds text to the last part, if that is of the same kind.
pub(super) fn push_text(parts: &mut Vec<Part>, text: &str, is_quoted: bool) {
    match (parts.last_mut(), is_quoted) {
        (Some(Part::Plain(last)), false) | (Some(Part::Quoted(last)), true) => last.push_str(text),
        (_, true) => parts.push(Part::Quoted(text.to_owned())),
        (_, false) if text.is_empty() => {}
        (_, false) => parts.push(Part::Plain(text.to_owned())),
    }
}
