//! Literal arguments of a call, and expressions of paths that can be read: variables with a literal value, `Path("a") / "b"`,
//! `os.path.expanduser("~/a")`.

use std::cell::Cell;
use std::collections::HashMap;

use super::delimiters::{MAX_BYTES, object_start, quoted_by_letters};

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Argument {
    Text(String),
    /// The words of a list; `None` for those that are not literal.
    List(Vec<Option<String>>),
    /// `shell=False`.
    NoShell,
    Other,
}

impl Argument {
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

/// Maximum number of arguments of one call.
pub(super) const MAX_ARGUMENTS: usize = 16;
/// Maximum number of words of a list.
const MAX_WORDS: usize = 64;
/// Maximum number of bytes in which variables are looked up, and of variables in the values of variables.
const LOOKUPS: usize = 32 * crate::limits::MAX_BYTES;
const DEPTH: usize = 8;
/// Maximum number of bytes that are read, some of them several times.
const FUEL: usize = 4 * crate::limits::MAX_BYTES;

/// A program, in which the values of variables are looked up.
pub(super) struct Source<'a> {
    text: &'a str,
    /// New names of what is imported, and the old ones.
    pub(super) renamed: HashMap<&'a str, &'a str>,
    /// The name of the module for paths, or nothing if only functions of it are imported.
    pub(super) path_module: Option<&'a str>,
    /// Number of bytes in which variables were looked up.
    lookups: Cell<usize>,
    /// Number of bytes that may still be read, so that brackets in brackets do not take long.
    fuel: Cell<usize>,
    limit: Cell<Option<Limit>>,
    /// The limit that the first argument reached.
    first_limit: Cell<Option<Limit>>,
}

/// The limit that the arguments of a call reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// It is too long or too deeply nested.
    Length,
    /// A list has more words.
    Words,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            renamed: super::callbacks::assigned(text).chain(super::calls::renamed(text)).collect(),
            path_module: super::calls::path_module(text),
            lookups: Cell::new(0),
            fuel: Cell::new(FUEL),
            limit: Cell::new(None),
            first_limit: Cell::new(None),
        }
    }

    /// Returns the arguments after the name of a call, which ends at `at`.
    pub(super) fn arguments(&self, at: usize) -> Vec<Argument> {
        self.limit.set(None);
        let text = self.text[at..].trim_start();
        let rest = text.strip_prefix('(').unwrap_or(text);
        Literals { source: self, rest, budget: MAX_BYTES, at, depth: 0 }.arguments()
    }

    /// Returns the limits that the first of the last arguments reached, and all.
    pub(super) fn limits(&self) -> (Option<Limit>, Option<Limit>) {
        (self.first_limit.get(), self.limit.get())
    }

    /// Checks whether a limit for the whole program was reached.
    pub(super) fn is_exhausted(&self) -> bool {
        self.fuel.get() == 0 || self.lookups.get() >= LOOKUPS
    }

    /// Returns the text of the arguments after the name of a call, which ends at `at`.
    pub(super) fn raw_arguments(&self, at: usize) -> &'a str {
        let text = &self.text[at..];
        let mut reader = Literals { source: self, rest: text, budget: MAX_BYTES, at, depth: 0 };
        reader.blanks();
        if reader.peek() == Some('(') {
            reader.list();
        } else {
            reader.expression();
        }
        &text[..text.len() - reader.rest.len()]
    }

    /// Returns the value of the object before `.name`, which starts at `at`: `Path("x")`, or a variable.
    pub(super) fn object(&self, at: usize) -> Option<String> {
        let before = self.text[..at].trim_end().strip_suffix('.')?;
        let start = object_start(before);
        let rest = &before[start..];
        let mut reader = Literals { source: self, rest, budget: MAX_BYTES, at: start, depth: 0 };
        let value = reader.value()?;
        reader.rest.trim().is_empty().then_some(value)
    }

    /// Returns the text between two positions.
    pub(super) fn between(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the text after the last `name =` before a position.
    pub(super) fn assigned(&self, name: &str, before: usize) -> Option<(usize, &'a str)> {
        if self.lookups.get() >= LOOKUPS || name.is_empty() {
            return None;
        }
        let text = &self.text[..before];
        self.lookups.set(self.lookups.get() + text.len());
        text.rmatch_indices(name).find_map(|(at, _)| {
            let is_start =
                !text[..at].ends_with(|c: char| c.is_alphanumeric() || "_.$@".contains(c));
            let rest = text[at + name.len()..].trim_start();
            // `name: Type = value`.
            let is_type = |c: char| c.is_alphanumeric() || ":. _[]|".contains(c);
            let rest = if rest.starts_with(':') { rest.trim_start_matches(is_type) } else { rest };
            let value = rest.strip_prefix('=')?;
            let is_assigned = is_start && !value.starts_with(['=', '~', '>']);
            is_assigned.then(|| (text.len() - value.len(), value))
        })
    }
}

pub(super) struct Literals<'a, 's> {
    pub(super) source: &'s Source<'a>,
    pub(super) rest: &'a str,
    pub(super) budget: usize,
    /// The position of the expression in the program: only variables that were assigned before it have values.
    pub(super) at: usize,
    pub(super) depth: usize,
}

impl Literals<'_, '_> {
    pub(super) fn peek(&self) -> Option<char> {
        let next = self.rest.chars().next()?;
        let is_within = self.budget > 0 && self.source.fuel.get() > 0;
        if !is_within {
            self.source.limit.set(self.source.limit.get().or(Some(Limit::Length)));
        }
        is_within.then_some(next)
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        self.budget = self.budget.saturating_sub(next.len_utf8());
        self.source.fuel.set(self.source.fuel.get().saturating_sub(1));
        Some(next)
    }

    pub(super) fn skip(&mut self, text: &str) -> bool {
        let is_next = self.budget > 0 && self.rest.starts_with(text);
        if is_next {
            self.rest = &self.rest[text.len()..];
            self.budget = self.budget.saturating_sub(text.len());
        }
        is_next
    }

    /// Checks whether the nesting reaches the limit, and keeps that.
    pub(super) fn is_too_deep(&self) -> bool {
        let is_too_deep = self.depth > DEPTH;
        if is_too_deep {
            self.source.limit.set(self.source.limit.get().or(Some(Limit::Length)));
        }
        is_too_deep
    }

    pub(super) fn blanks(&mut self) {
        while self.peek().is_some_and(|next| next.is_whitespace() && next != '\n') {
            self.bump();
        }
    }

    pub(super) fn all_blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.bump();
        }
    }

    pub(super) fn arguments(&mut self) -> Vec<Argument> {
        let mut all = Vec::new();
        while all.len() < MAX_ARGUMENTS {
            self.all_blanks();
            let Some(next) = self.peek() else { break };
            if matches!(next, ')' | ';') {
                break;
            }
            let keyword = self.keyword();
            let argument = self.argument();
            if all.is_empty() {
                self.source.first_limit.set(self.source.limit.get());
            }
            // `copy(dst="b", src="a")`.
            let is_first = matches!(keyword, "src" | "source");
            all.insert(if is_first { 0 } else { all.len() }, argument);
            if !self.comma() {
                return all;
            }
        }
        if all.is_empty() {
            self.source.first_limit.set(self.source.limit.get());
        } else if all.len() == MAX_ARGUMENTS {
            self.source.limit.set(Some(Limit::Words));
        }
        all
    }

    fn argument(&mut self) -> Argument {
        let (rest, budget) = (self.rest, self.budget);
        // `{args: ["a"]}`.
        let to_list = self.rest.find('[').filter(|at| *at < 12).unwrap_or_default();
        let before = self.rest.get(..to_list).unwrap_or_default();
        if before.trim_matches(['{', ' ']).trim_end() == "args:" {
            self.skip(before);
        }
        if self.skip("shlex.split(") {
            let words = self.value().map(|text| split_words(&text));
            self.blanks();
            self.skip(")");
            return words.unwrap_or(Argument::Other);
        }
        if self.rest.starts_with(['*', '%', 'q'])
            && let Some(words) = self.words_by_letters()
        {
            return words;
        }
        let argument = if self.is_too_deep() {
            Argument::Other
        } else if self.peek() == Some('[') {
            self.list()
        } else {
            let is_parenthesized = self.peek() == Some('(');
            match self.value() {
                Some(text) => Argument::Text(text),
                None if is_parenthesized => {
                    (self.rest, self.budget) = (rest, budget);
                    self.list()
                }
                None => {
                    (self.rest, self.budget) = (rest, budget);
                    self.list_variable().unwrap_or(Argument::Other)
                }
            }
        };
        let argument = match argument {
            Argument::Text(text) if self.skip(".split()") => split_words(&text),
            Argument::List(words) if self.skip(".join(") => self.joined_words(&words),
            argument => argument,
        };
        self.blanks();
        match self.peek() {
            None | Some(',' | ')' | ']' | '}' | ';' | '\n') if argument != Argument::Other => {
                argument
            }
            // `open F, "<a" or die`.
            _ if argument != Argument::Other && self.rest.starts_with("or ") => argument,
            // What is read is only a part of an expression.
            _ => {
                (self.rest, self.budget) = (rest, budget);
                self.expression();
                let whole: String =
                    rest[..rest.len() - self.rest.len()].split_whitespace().collect();
                if whole == "shell=False" { Argument::NoShell } else { Argument::Other }
            }
        }
    }

    /// Moves to the end of an expression.
    fn expression(&mut self) {
        let mut open = 0_usize;
        while let Some(next) = self.peek() {
            match next {
                '"' | '\'' => {
                    self.text(None);
                    continue;
                }
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' if open > 0 => open -= 1,
                ',' | ')' | ']' | '}' | ';' if open == 0 => return,
                _ => {}
            }
            self.bump();
        }
    }

    pub(super) fn list(&mut self) -> Argument {
        self.bump();
        self.depth += 1;
        let mut words = Vec::new();
        loop {
            self.all_blanks();
            match self.peek() {
                None => {
                    words.push(None);
                    break;
                }
                Some(']' | ')') => {
                    self.bump();
                    break;
                }
                Some(_) if words.len() >= MAX_WORDS => {
                    self.source.limit.set(Some(Limit::Words));
                    self.expression();
                }
                Some(_) => {
                    let argument = self.argument();
                    words.push(argument.text());
                }
            }
            if !self.comma() && !matches!(self.peek(), Some(']' | ')')) {
                words.push(None);
                break;
            }
        }
        self.depth -= 1;
        Argument::List(words)
    }

    fn comma(&mut self) -> bool {
        self.all_blanks();
        self.skip(",")
    }

    /// Returns the text that an expression stands for: literals, variables with literal values, and paths that are put together.
    pub(super) fn value(&mut self) -> Option<String> {
        let mut value = self.term()?;
        loop {
            let (rest, budget) = (self.rest, self.budget);
            self.blanks();
            let is_path = self.skip("/");
            // `"a" . "b"` and `$a."b"`.
            let is_dot = [".\"", ".'", ".getenv("].iter().any(|start| self.rest.starts_with(start));
            if self.rest.starts_with("% ") || self.rest.starts_with("%(") {
                self.skip("%");
                value = self.read_format(&value)?;
                continue;
            }
            // `"a" "b"`
            let is_next = self.rest.starts_with(['"', '\'']);
            let is_joined = !is_path
                && (self.skip("+")
                    || self.skip("..")
                    || self.skip(". ")
                    || (is_dot && self.skip(".")));
            if !is_path && !is_joined && !is_next {
                (self.rest, self.budget) = (rest, budget);
                return Some(value);
            }
            self.blanks();
            let next = self.term()?;
            value = if is_path { join(&value, &next) } else { format!("{value}{next}") };
            if value.len() > MAX_BYTES {
                return None;
            }
        }
    }

    pub(super) fn term(&mut self) -> Option<String> {
        self.depth += 1;
        let value = if self.is_too_deep() { None } else { self.whole_term() };
        self.depth -= 1;
        value
    }

    fn whole_term(&mut self) -> Option<String> {
        let mut value = match self.peek()? {
            '\'' => self.text(None),
            '"' | '`' => self.text(Some("{")),
            '(' => {
                self.bump();
                self.blanks();
                let value = self.value()?;
                self.blanks();
                self.skip(")").then_some(value)
            }
            'q' | '%' if quoted_by_letters(self.rest).is_some() => {
                let (text, length) = quoted_by_letters(self.rest)?;
                let (text, words) = (text.to_owned(), &self.rest[..length]);
                self.skip(words);
                Some(text)
            }
            _ => {
                let is_letter = |c: &char| "rbufRBUF".contains(*c);
                let length = self.rest.chars().take(2).take_while(is_letter).count();
                let prefix = &self.rest[..length];
                if length > 0 && self.rest[length..].starts_with(['"', '\'']) {
                    self.skip(prefix);
                    self.text(prefix.contains(['f', 'F']).then_some(""))
                } else {
                    self.named()
                }
            }
        }?;
        while self.rest.starts_with('.') {
            let Some(path) = self.method_of_text(&value) else { break };
            value = path;
        }
        Some(value)
    }

    /// Returns a text in quotes, with the values of its expressions, each in braces after `$`, `#` or, with the template `""`, nothing. `None`
    /// if one has no value, or the text no end.
    fn text(&mut self, template: Option<&str>) -> Option<String> {
        let quote = self.bump()?;
        if self.rest.starts_with([quote, quote]) && self.rest[1..].starts_with(quote) {
            return self.triple_quoted(quote, template);
        }
        let mut text = Some(String::new());
        loop {
            let next = self.bump()?;
            if next == quote {
                break;
            }
            let is_expression = match next {
                '{' => template == Some("") && !self.skip("{"),
                '$' | '#' => template == Some("{") && self.skip("{"),
                _ => false,
            };
            // `"$ENV{HOME}/a"` of Perl.
            if next == '$' && template == Some("{") && self.skip("ENV{HOME}") {
                text = text.map(|text| text + "~");
                continue;
            }
            if is_expression {
                let value = self.expression_in_text();
                text = text.zip(value).map(|(text, value)| text + &value);
                continue;
            }
            let letter = match next {
                '\\' => match self.bump()? {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                },
                other => other,
            };
            if let Some(text) = &mut text {
                text.push(letter);
            }
        }
        text
    }

    /// Returns the rest of a text in three quotes, after the first. `None` if it has expressions.
    fn triple_quoted(&mut self, quote: char, template: Option<&str>) -> Option<String> {
        let marks: String = [quote; 3].iter().collect();
        self.skip(&marks[1..]);
        let text = &self.rest[..self.rest.find(&marks)?];
        self.skip(text);
        self.rest = &self.rest[marks.len()..];
        let has_expressions = template == Some("") && text.contains('{');
        (!has_expressions).then(|| text.to_owned())
    }

    /// Returns the value of an expression in braces, after the first one.
    fn expression_in_text(&mut self) -> Option<String> {
        let (rest, budget) = (self.rest, self.budget);
        self.blanks();
        let value = self.value();
        self.blanks();
        if value.is_none() || !self.skip("}") {
            (self.rest, self.budget) = (rest, budget);
            return None;
        }
        value
    }
}

fn split_words(text: &str) -> Argument {
    Argument::List(text.split_whitespace().map(|word| Some(word.to_owned())).collect())
}

/// Returns a path below another; an absolute path replaces it.
pub(super) fn join(path: &str, next: &str) -> String {
    if next.starts_with('/') {
        return next.to_owned();
    }
    format!("{}/{next}", path.trim_end_matches('/'))
}
