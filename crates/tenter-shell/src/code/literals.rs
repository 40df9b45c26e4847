//! Literal arguments of a call.

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Argument {
    Text(String),
    List(Vec<String>),
    /// A list with elements that are not literal.
    PartialList,
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

/// Maximum number of bytes of the arguments of one call, and of arguments.
const LONGEST: usize = 4096;
const MOST: usize = 16;

/// The arguments after the name of a call.
pub(super) fn arguments(after: &str) -> Vec<Argument> {
    let text = after.trim_start();
    let mut reader = Literals { rest: text.strip_prefix('(').unwrap_or(text), left: LONGEST };
    let mut all = Vec::new();
    while all.len() < MOST {
        reader.blanks();
        let Some(next) = reader.peek() else { break };
        if matches!(next, ')' | ';' | '\n') {
            break;
        }
        let argument = reader.argument();
        all.push(argument);
        if !reader.comma() {
            break;
        }
    }
    all
}

/// The last literal text before a position: `Path("x").`.
pub(super) fn last_text(before: &str) -> Option<String> {
    let end = before.trim_end().strip_suffix('.')?.trim_end().strip_suffix(')')?.trim_end();
    let quote = end.chars().next_back().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = &end[..end.len() - 1];
    let window = inner.len().saturating_sub(LONGEST);
    let window = (window..inner.len()).find(|at| inner.is_char_boundary(*at))?;
    let start = inner[window..].rfind(quote)? + window;
    Some(inner[start + 1..].to_owned())
}

struct Literals<'a> {
    rest: &'a str,
    left: usize,
}

impl Literals<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next().filter(|_| self.left > 0)
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        self.left = self.left.saturating_sub(next.len_utf8());
        Some(next)
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|next| next.is_whitespace() && next != '\n') {
            self.bump();
        }
    }

    fn argument(&mut self) -> Argument {
        let argument = match self.peek() {
            Some('[' | '(') => self.list(),
            Some('"' | '\'' | '`') => self.text().map_or(Argument::Other, Argument::Text),
            // Raw and byte strings of Python, `qw` and `q` of Perl are not read.
            Some('r' | 'b' | 'u') if self.rest[1..].starts_with(['"', '\'']) => {
                self.bump();
                self.text().map_or(Argument::Other, Argument::Text)
            }
            _ => Argument::Other,
        };
        self.blanks();
        match self.peek() {
            None | Some(',' | ')' | ']' | '}' | ';' | '\n') => argument,
            // A literal that is only a part of an expression.
            Some(_) => {
                self.expression();
                Argument::Other
            }
        }
    }

    /// Moves to the end of an expression.
    fn expression(&mut self) {
        let mut open = 0_usize;
        while let Some(next) = self.peek() {
            match next {
                '"' | '\'' => {
                    self.text();
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

    fn list(&mut self) -> Argument {
        self.bump();
        let mut words = Vec::new();
        let mut is_whole = true;
        loop {
            while self.peek().is_some_and(char::is_whitespace) {
                self.bump();
            }
            match self.peek() {
                None => return Argument::PartialList,
                Some(']' | ')') => {
                    self.bump();
                    break;
                }
                Some('"' | '\'') => match self.text() {
                    Some(word) => words.push(word),
                    None => is_whole = false,
                },
                Some(_) => {
                    is_whole = false;
                    self.expression();
                }
            }
            if !self.comma() && !matches!(self.peek(), Some(']' | ')')) {
                return Argument::PartialList;
            }
        }
        if is_whole { Argument::List(words) } else { Argument::PartialList }
    }

    fn comma(&mut self) -> bool {
        while self.peek().is_some_and(char::is_whitespace) {
            self.bump();
        }
        let is_next = self.peek() == Some(',');
        if is_next {
            self.bump();
        }
        is_next
    }

    /// A text in quotes. `None` if it contains expressions or has no end.
    fn text(&mut self) -> Option<String> {
        let quote = self.bump()?;
        let is_triple = self.rest.starts_with([quote, quote]) && self.rest[1..].starts_with(quote);
        let mut text = String::new();
        loop {
            let next = self.bump()?;
            if next == quote {
                break;
            }
            match next {
                '\\' => match self.bump()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    other => text.push(other),
                },
                '$' | '#' if quote != '\'' && self.peek() == Some('{') => return None,
                other => text.push(other),
            }
        }
        (!is_triple).then_some(text)
    }
}
