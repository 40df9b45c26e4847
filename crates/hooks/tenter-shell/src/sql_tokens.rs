//! The tokens of a text in SQL.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// A word, a name with its dots, or a number.
    Word(&'t str),
    /// A text in quotes or between dollar signs.
    Text(&'t str),
    Open,
    Close,
    /// The end of a statement.
    End,
    /// An operator.
    Other,
}

/// Splits a text into tokens, without comments and lines for the client.
pub(crate) struct Tokens<'t, 's> {
    rest: &'t str,
    is_at_line_start: bool,
    /// The lines for the client.
    lines: &'s mut Vec<&'t str>,
}

impl<'t, 's> Tokens<'t, 's> {
    /// Creates the tokens of a text, and adds the lines for the client to `lines`.
    pub(crate) fn new(text: &'t str, lines: &'s mut Vec<&'t str>) -> Self {
        Self { rest: text, is_at_line_start: true, lines }
    }

    /// Takes a number of bytes.
    fn take(&mut self, length: usize) -> &'t str {
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        text
    }

    fn skip_line(&mut self) -> &'t str {
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        self.take(length)
    }

    /// Skips blanks, comments, and lines for the client.
    fn skip_blanks(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.is_at_line_start |= self.take(blank).contains('\n');
            let is_comment = self.rest.starts_with("--") || self.rest.starts_with("# ");
            if is_comment {
                self.skip_line();
            } else if self.rest.starts_with("/*") && !self.rest.starts_with("/*!") {
                let end = self.rest.find("*/").map_or(self.rest.len(), |end| end + 2);
                self.take(end);
            } else if self.is_at_line_start && self.is_line_of_client() {
                let line = self.skip_line();
                self.lines.push(line);
            } else {
                return;
            }
        }
    }

    fn is_line_of_client(&self) -> bool {
        self.rest.starts_with(['\\', '.'])
            || self.rest.starts_with("system ")
            || self.rest.starts_with("pager ")
    }

    /// Returns a text in quotes. Two quotes, or one after a backslash, are part of it.
    fn read_quoted(&mut self, quote: char) -> &'t str {
        let mut letters = self.rest.char_indices().skip(1).peekable();
        let mut end = self.rest.len();
        while let Some((at, letter)) = letters.next() {
            let is_doubled = letters.peek().is_some_and(|(_, next)| *next == quote);
            match letter {
                '\\' if quote == '\'' => {
                    letters.next();
                }
                letter if letter == quote && is_doubled => {
                    letters.next();
                }
                letter if letter == quote => {
                    end = at + 1;
                    break;
                }
                _ => {}
            }
        }
        self.take(end).trim_matches(quote)
    }

    /// Returns a text between `$$` or `$name$`.
    fn dollar_quoted(&mut self) -> Option<&'t str> {
        let name = self.rest[1..].find('$')? + 1;
        let is_name = self.rest[1..name].chars().all(|c| c.is_alphanumeric() || c == '_');
        let delimiter = self.rest.get(..=name).filter(|_| is_name)?;
        let body = delimiter.len();
        let end = self.rest[body..].find(delimiter).map_or(self.rest.len(), |end| body + end);
        let text = &self.rest[body..end];
        self.take((end + body).min(self.rest.len()));
        Some(text)
    }

    /// Returns a word, or a name of which parts can be quoted: `a."b"`.
    fn word(&mut self) -> Token<'t> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#' | '@' | '$');
        let start = self.rest;
        loop {
            let next = self.rest.chars().next();
            if let Some(quote @ ('"' | '`')) = next {
                self.read_quoted(quote);
            } else {
                let length = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
                self.take(length);
            }
            let is_open = start[..start.len() - self.rest.len()].ends_with('.');
            let continues = if is_open {
                self.rest.starts_with(['"', '`'])
            } else {
                self.rest.starts_with('.')
            };
            if !continues {
                break;
            }
        }
        let word = start[..start.len() - self.rest.len()].trim_matches(['"', '`']);
        // The separator of SQL Server.
        let is_alone = self.rest.trim_start_matches(' ').starts_with('\n');
        if is_alone && word.eq_ignore_ascii_case("go") { Token::End } else { Token::Word(word) }
    }
}

impl<'t> Iterator for Tokens<'t, '_> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        self.skip_blanks();
        let next = self.rest.chars().next()?;
        self.is_at_line_start = next == ';';
        Some(match next {
            ';' => {
                self.take(1);
                Token::End
            }
            '(' => {
                self.take(1);
                Token::Open
            }
            ')' => {
                self.take(1);
                Token::Close
            }
            '\'' => Token::Text(self.read_quoted('\'')),
            '$' => {
                if let Some(text) = self.dollar_quoted() {
                    Token::Text(text)
                } else {
                    self.take(1);
                    Token::Other
                }
            }
            // `\G` and `\g` end a statement of MySQL and PostgreSQL.
            '\\' if self.rest[1..].starts_with(['g', 'G']) => {
                self.lines.extend(self.rest.lines().next());
                self.take(2);
                Token::End
            }
            // `/*! … */` is run by MySQL.
            '/' if self.rest.starts_with("/*!") => {
                let version = self.rest[3..].find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
                self.take(3 + version);
                Token::Other
            }
            letter if letter.is_alphanumeric() || "_#@\"`".contains(letter) => self.word(),
            letter => {
                self.take(letter.len_utf8());
                Token::Other
            }
        })
    }
}
