//! Lists, pipelines and simple commands.

use crate::limits;

use super::parser::{Parser, is_name};
use super::tree::{AssignedValue, Assignment, List, Node, Separator, Simple, Statement, Word};

impl Parser<'_> {
    /// Parses commands up to the end or to a token that ends a list: `)`, `}`, `fi`, `done`, `;;`, …
    pub(super) fn list(&mut self) -> List {
        // Most lists have one command, and most pipelines one stage.
        let mut statements = Vec::with_capacity(1);
        loop {
            self.skip_lines();
            self.skip_stray_separators();
            if self.ends_list() {
                return statements;
            }
            let start = self.at;
            let node = self.pipeline();
            if self.at == start {
                return statements;
            }
            let Some(node) = node else { continue };
            statements.push(Statement { node, then: self.separator() });
        }
    }

    /// Separators without a command before them: bash would reject them.
    fn skip_stray_separators(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b'&' | b'|' | b';'))
            && !self.starts_with(";;")
            && !self.starts_with(";&")
            && !self.starts_with("&>")
        {
            self.is_broken = true;
            self.at += 1;
            self.skip_lines();
        }
    }

    fn separator(&mut self) -> Separator {
        self.skip_blanks();
        self.skip_comment();
        match (self.peek(), self.peek_at(1)) {
            (Some(b'&'), Some(b'&')) => self.separated(2, Separator::And),
            (Some(b'|'), Some(b'|')) => self.separated(2, Separator::Or),
            (Some(b'&'), next) if next != Some(b'>') => self.separated(1, Separator::Background),
            (Some(b';'), next) if !matches!(next, Some(b';' | b'&')) => {
                self.separated(1, Separator::Next)
            }
            (Some(b'\n'), _) => {
                self.new_line();
                Separator::Next
            }
            _ => Separator::Next,
        }
    }

    fn separated(&mut self, length: usize, separator: Separator) -> Separator {
        self.at += length;
        if separator != Separator::Next {
            // The next command may be on the next line.
            self.skip_lines_after_operator(separator);
        }
        separator
    }

    fn skip_lines_after_operator(&mut self, separator: Separator) {
        if separator != Separator::Background {
            self.skip_lines();
        }
    }

    /// Checks whether the next token ends a list.
    pub(super) fn ends_list(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            Some(b'}') => self.keyword().is_some(),
            Some(b'f' | b'd' | b't' | b'e') => {
                matches!(
                    self.keyword(),
                    Some("fi" | "done" | "do" | "then" | "else" | "elif" | "esac")
                )
            }
            _ => false,
        }
    }

    /// Returns the next word, if it is one of the shell's keywords.
    pub(super) fn keyword(&self) -> Option<&'static str> {
        const KEYWORDS: [&str; 21] = [
            "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "for", "select",
            "case", "esac", "function", "coproc", "time", "{", "}", "!", "[[", "in",
        ];
        let rest = &self.bytes[self.at..];
        let length =
            rest.iter().take(9).take_while(|byte| !super::parser::ends_word(**byte)).count();
        KEYWORDS.into_iter().find(|keyword| keyword.as_bytes() == &rest[..length])
    }

    /// Parses commands joined by `|`. `None` if there is no command.
    pub(super) fn pipeline(&mut self) -> Option<Node> {
        let is_negated = self.negations() % 2 == 1;
        let mut stages = Vec::with_capacity(1);
        loop {
            let start = self.at;
            stages.extend(self.command());
            self.skip_blanks();
            let is_pipe = self.peek() == Some(b'|') && self.peek_at(1) != Some(b'|');
            if !is_pipe || self.at == start {
                break;
            }
            self.at += 1;
            self.eat("&");
            self.skip_lines();
            if self.ends_list() {
                self.is_broken = true;
                break;
            }
        }
        let node = match stages.len() {
            0 | 1 => stages.pop()?,
            _ => Node::Pipeline(stages),
        };
        Some(if is_negated { Node::Not(Box::new(node)) } else { node })
    }

    /// Skips `!` and returns how many there were.
    fn negations(&mut self) -> usize {
        let mut count = 0;
        self.skip_blanks();
        while self.keyword() == Some("!") {
            self.at += 1;
            self.skip_blanks();
            count += 1;
        }
        count
    }

    /// Parses a command, simple or compound, with its redirections.
    fn command(&mut self) -> Option<Node> {
        self.negations();
        self.count_node();
        if let Some(compound) = self.compound() {
            let redirections = self.redirections();
            if redirections.is_empty() {
                return Some(compound);
            }
            return Some(Node::Redirected(Box::new(compound), redirections));
        }
        self.simple()
    }

    fn simple(&mut self) -> Option<Node> {
        let start = self.at;
        let mut simple = Simple::default();
        loop {
            let end = self.at;
            self.skip_blanks();
            if self.peek() == Some(b'#') {
                self.text[start..end].trim().clone_into(&mut simple.text);
                break;
            }
            if let Some(redirection) = self.redirection() {
                if self.count_redirection() {
                    simple.redirections.push(redirection);
                }
                continue;
            }
            let can_be_assignment = simple.words.is_empty();
            if can_be_assignment && let Some(assignment) = self.assignment() {
                simple.assignments.push(assignment);
                continue;
            }
            if self.is_function(&simple) {
                return self.function_body(&simple);
            }
            let Some(word) = self.word() else {
                let end = if self.at > end { end } else { self.at };
                self.text[start..end].trim().clone_into(&mut simple.text);
                break;
            };
            // One more shows that there are too many.
            if simple.words.len() <= limits::MAX_WORDS {
                simple.words.push(word);
            }
        }
        if !simple.words.is_empty() {
            self.count_command();
        }
        let is_empty = simple.words.is_empty()
            && simple.assignments.is_empty()
            && simple.redirections.is_empty();
        (!is_empty).then_some(Node::Simple(simple))
    }

    /// Checks whether `()` follows a single word, which is then a function's name.
    fn is_function(&self, simple: &Simple) -> bool {
        let [name] = simple.words.as_slice() else { return false };
        name.plain().is_some() && are_parentheses(&self.bytes[self.at..])
    }

    /// Checks whether a function's name and `()` are next.
    pub(super) fn starts_function(&self) -> bool {
        let rest = &self.bytes[self.at..];
        let name = rest.iter().take_while(|byte| !super::parser::ends_word(**byte)).count();
        name > 0 && are_parentheses(&rest[name + blanks(&rest[name..])..])
    }

    fn function_body(&mut self, simple: &Simple) -> Option<Node> {
        let name = simple.words.first().and_then(Word::plain).unwrap_or_default().to_owned();
        while self.bump().is_some_and(|next| next != ')') {}
        self.function(name)
    }

    /// Parses the body of a function whose name was read.
    pub(super) fn function(&mut self, name: String) -> Option<Node> {
        self.skip_lines();
        let body = self.nested(Self::command).flatten();
        if body.is_none() {
            self.is_broken = true;
        }
        body.map(|body| Node::Function { name, body: std::rc::Rc::new(body) })
    }

    /// Parses `name=value`, `name+=value`, `name[index]=value`, `name=(…)`.
    fn assignment(&mut self) -> Option<Assignment> {
        let (name, equals) = self.assignment_start()?;
        let appends = self.bytes.get(equals - 1) == Some(&b'+');
        let start = self.at;
        let end = equals - usize::from(appends);
        let name = if end > start + name.len() {
            self.text[start..end].replace(['"', '\''], "")
        } else {
            name.to_owned()
        };
        self.at = equals + 1;
        Some(Assignment { name, appends, value: self.assigned_value() })
    }

    /// Returns the name of the variable that is assigned here, and the position of `=`. `None` if this is no assignment.
    pub(super) fn assignment_start(&self) -> Option<(&str, usize)> {
        let rest = &self.bytes[self.at..];
        let length =
            rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let name = &self.text[self.at..self.at + length];
        if length == 0 || !is_name(name) {
            return None;
        }
        let mut end = length;
        if rest.get(length) == Some(&b'[') {
            let mut index =
                rest[length..].iter().take(256).take_while(|byte| !byte.is_ascii_whitespace());
            end = length + index.position(|byte| *byte == b']')? + 1;
        }
        end += usize::from(rest.get(end) == Some(&b'+'));
        (rest.get(end) == Some(&b'=')).then_some((name, self.at + end))
    }

    fn assigned_value(&mut self) -> AssignedValue {
        if self.peek() == Some(b'(') {
            return AssignedValue::Array(self.array());
        }
        AssignedValue::Word(self.word().unwrap_or_default())
    }

    /// Parses `(a b c)` after `=`.
    pub(super) fn array(&mut self) -> Vec<Word> {
        self.at += 1;
        self.nested(Self::array_words).unwrap_or_default()
    }

    fn array_words(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            match self.word() {
                Some(word) => words.push(word),
                None if self.eat(")") => return words,
                None if self.peek().is_none() => {
                    self.is_broken = true;
                    return words;
                }
                None => {
                    self.is_broken = true;
                    self.at += 1;
                }
            }
        }
    }

    /// Parses words up to an end that `ends` finds, for `[[ … ]]` and the words of `for`.
    pub(super) fn words_until(&mut self, ends: impl Fn(&mut Self) -> bool) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            if self.peek().is_none() || ends(self) {
                return words;
            }
            match self.word() {
                Some(word) => words.push(word),
                None if self.peek() == Some(b'\n') => self.new_line(),
                None => self.at += 1,
            }
        }
    }
}

/// Checks whether `()` is at the start of a text.
fn are_parentheses(text: &[u8]) -> bool {
    let [b'(', inner @ ..] = text else { return false };
    inner.get(blanks(inner)) == Some(&b')')
}

/// Returns the number of blanks at the start of a text.
fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
