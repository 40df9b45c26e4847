//! Splits a template into text and actions, and actions into tokens. After an error it continues behind the action.

use std::ops::Range;

use super::TemplateFile;
use super::findings::{Findings, SYNTAX};

const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// A piece of a template.
#[derive(Debug)]
pub(super) enum Piece {
    Text(Range<usize>),
    Action(Action),
}

/// The content between `{{` and `}}`.
#[derive(Debug)]
pub(super) struct Action {
    /// The span, braces included.
    pub(super) at: Range<usize>,
    pub(super) tokens: Vec<Token>,
    /// True if it has an error, which is already reported.
    pub(super) broken: bool,
}

/// A token and its span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) at: Range<usize>,
    pub(super) kind: TokenKind,
}

/// The kind of a token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Word(String),
    /// `.name`
    Field(String),
    /// `.`
    Dot,
    /// `$name`; the name is empty for `$`.
    Variable(String),
    Text(String),
    Number(i64),
    /// `:=`
    Declare,
    /// `=`
    Assign,
    Pipe,
    Comma,
    Open,
    Close,
}

/// Returns the pieces of a template, in order.
pub(super) fn pieces(file: &TemplateFile, findings: &mut Findings<'_>) -> Vec<Piece> {
    let lexer = Lexer::new(file, false);
    lexer.read(findings)
}

/// Returns the tokens of a condition, which has no braces.
pub(super) fn condition(file: &TemplateFile, findings: &mut Findings<'_>) -> Action {
    let mut lexer = Lexer::new(file, true);
    let mut action = Action { at: file.body..file.text.len(), tokens: Vec::new(), broken: false };
    lexer.skip_space();
    while !lexer.rest().is_empty() {
        match lexer.token(action.tokens.last()) {
            Ok(token) => action.tokens.push(token),
            Err((at, message, help)) => {
                findings.error(SYNTAX, &at, message, help);
                action.broken = true;
                break;
            }
        }
        lexer.skip_space();
    }
    action
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// True if the last action removes the whitespace after it.
    trims: bool,
    /// True if the text is a condition, without braces.
    is_condition: bool,
    pieces: Vec<Piece>,
}

/// The span, message and help text of an invalid token.
type TokenError = (Range<usize>, String, String);

fn token_error(
    at: Range<usize>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> TokenError {
    (at, message.into(), help.into())
}

impl<'a> Lexer<'a> {
    fn new(file: &'a TemplateFile, is_condition: bool) -> Self {
        Self { text: &file.text, at: file.body, trims: false, is_condition, pieces: Vec::new() }
    }

    fn read(mut self, findings: &mut Findings<'_>) -> Vec<Piece> {
        while self.at < self.text.len() && !findings.is_full() {
            let open = self.rest().find("{{").map_or(self.text.len(), |place| self.at + place);
            let trims =
                self.text[open..].strip_prefix("{{-").is_some_and(|rest| rest.starts_with(SPACE));
            self.text_until(open, trims);
            self.at = open;
            if open < self.text.len() {
                self.at += if trims { 3 } else { 2 };
                self.action(open, findings);
            }
        }
        self.pieces
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn text_until(&mut self, end: usize, trims_end: bool) {
        let text = &self.text[self.at..end];
        let from = if self.trims { text.len() - text.trim_start_matches(SPACE).len() } else { 0 };
        let rest = &text[from..];
        let rest = if trims_end { rest.trim_end_matches(SPACE) } else { rest };
        if !rest.is_empty() {
            let start = self.at + from;
            self.pieces.push(Piece::Text(start..start + rest.len()));
        }
        self.trims = false;
    }

    /// Reads the action that begins at `open`.
    fn action(&mut self, open: usize, findings: &mut Findings<'_>) {
        self.skip_space();
        if self.rest().starts_with("/*") {
            return self.comment(open, findings);
        }
        let mut action = Action { at: open..open + 2, tokens: Vec::new(), broken: false };
        while !self.close() {
            let result = if self.is_unclosed() {
                Err(token_error(
                    open..open + 2,
                    "the action that begins here has no end",
                    "close it with `}}`",
                ))
            } else {
                self.token(action.tokens.last())
            };
            match result {
                Ok(token) => action.tokens.push(token),
                Err((at, message, help)) => {
                    findings.error(SYNTAX, &at, message, help);
                    action.broken = true;
                    self.skip_action();
                    break;
                }
            }
            self.skip_space();
        }
        action.at.end = self.at;
        self.pieces.push(Piece::Action(action));
    }

    /// Skips a comment.
    fn comment(&mut self, open: usize, findings: &mut Findings<'_>) {
        let at = open..self.at + 2;
        let Some(end) = self.rest().find("*/") else {
            findings.error(
                SYNTAX,
                &at,
                "the comment that begins here has no end",
                "close it with `*/}}`",
            );
            self.at = self.text.len();
            return;
        };
        self.at += end + 2;
        self.skip_space();
        if !self.close() {
            let help = "close the action with `}}` right after the comment";
            findings.error(SYNTAX, &at, "a comment must be alone in its action", help);
            self.skip_action();
        }
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches(SPACE).len();
    }

    /// Consumes the end of the action, if it is next.
    fn close(&mut self) -> bool {
        let trims = self.rest().starts_with("-}}") && self.text[..self.at].ends_with(SPACE);
        let length = if trims { 3 } else { 2 };
        let closes = trims || self.rest().starts_with("}}");
        if closes {
            self.at += length;
            self.trims = trims;
        }
        closes
    }

    fn is_unclosed(&self) -> bool {
        self.rest().is_empty() || self.rest().starts_with("{{")
    }

    /// Skips to the end of an invalid action, or to the start of the next one.
    fn skip_action(&mut self) {
        let close = self.rest().find("}}").map(|place| self.at + place + 2);
        let next = self.rest().find("{{").map(|place| self.at + place);
        let end = self.text.len();
        self.at = close.unwrap_or(end).min(next.unwrap_or(end));
    }

    fn token(&mut self, before: Option<&Token>) -> Result<Token, TokenError> {
        let start = self.at;
        let mut letters = self.rest().chars();
        let first = letters.next().unwrap_or_default();
        let second = letters.next().unwrap_or_default();
        let kind = match first {
            '"' => self.read_quoted()?,
            '`' => self.raw()?,
            '$' => TokenKind::Variable(self.name_after(1)),
            '.' if is_letter(second) => TokenKind::Field(self.name_after(1)),
            '.' if !second.is_ascii_digit() => self.mark(1, TokenKind::Dot),
            ':' if second == '=' => self.mark(2, TokenKind::Declare),
            '=' if second != '=' => self.mark(1, TokenKind::Assign),
            '|' if second != '|' => self.mark(1, TokenKind::Pipe),
            ',' => self.mark(1, TokenKind::Comma),
            '(' => self.mark(1, TokenKind::Open),
            ')' => self.mark(1, TokenKind::Close),
            '-' | '+' if second.is_ascii_digit() && !follows(before, start) => self.number()?,
            first if first.is_ascii_digit() => self.number()?,
            first if is_letter(first) => TokenKind::Word(self.name_after(0)),
            _ => return Err(self.unexpected(before)),
        };
        Ok(Token { at: start..self.at, kind })
    }

    fn mark(&mut self, length: usize, kind: TokenKind) -> TokenKind {
        self.at += length;
        kind
    }

    /// Returns the name that begins `skipped` bytes further.
    fn name_after(&mut self, count: usize) -> String {
        let rest = &self.rest()[count..];
        let end = rest.find(|letter: char| !is_letter(letter) && !letter.is_numeric());
        let name = &rest[..end.unwrap_or(rest.len())];
        self.at += count + name.len();
        name.to_owned()
    }

    fn number(&mut self) -> Result<TokenKind, TokenError> {
        let rest = self.rest();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
        let end = rest[1..].find(|letter: char| !is_part(letter)).map_or(rest.len(), |end| end + 1);
        let text = &rest[..end];
        let at = self.at..self.at + end;
        let number = text.parse().map_err(|_| {
            token_error(
                at,
                format!("`{text}` is not a number"),
                "only integers such as `12` are supported; put text in quotes",
            )
        })?;
        self.at += end;
        Ok(TokenKind::Number(number))
    }

    fn raw(&mut self) -> Result<TokenKind, TokenError> {
        let inside = &self.rest()[1..];
        let Some(end) = inside.find('`') else { return Err(self.unclosed_text("`")) };
        self.at += end + 2;
        Ok(TokenKind::Text(inside[..end].replace('\r', "")))
    }

    fn read_quoted(&mut self) -> Result<TokenKind, TokenError> {
        let inside = &self.rest()[1..];
        let mut text = String::new();
        let mut next = 0;
        while let Some(letter) = inside[next..].chars().next() {
            match letter {
                '"' => {
                    self.at += next + 2;
                    return Ok(TokenKind::Text(text));
                }
                '\n' => break,
                '\\' => {
                    let (character, length) =
                        escape(&inside[next + 1..]).ok_or_else(|| self.no_escape(next + 1))?;
                    text.push(character);
                    next += length;
                }
                letter => {
                    text.push(letter);
                    next += letter.len_utf8();
                }
            }
        }
        Err(self.unclosed_text("\""))
    }

    /// Returns the error of an unknown escape sequence `offset` bytes further.
    fn no_escape(&self, offset: usize) -> TokenError {
        let text: String = self.rest()[offset..].chars().take(2).collect();
        let start = self.at + offset;
        let message = format!("`{}` is not an escape sequence", text.escape_debug());
        let help = "use \\n, \\t, \\r, \\\\, \\\", \\xHH or \\uHHHH; in `…` a backslash is literal";
        token_error(start..start + text.len(), message, help)
    }

    fn unclosed_text(&self, quote: &str) -> TokenError {
        let help =
            format!("close it with {quote} on the same line; put text of several lines in `…`");
        token_error(self.at..self.at + 1, "the text that begins here has no end", help)
    }

    /// Returns the error of a character that begins no token.
    fn unexpected(&self, before: Option<&Token>) -> TokenError {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or_default();
        let (text, help) = match first {
            _ if rest.starts_with("==") => ("==".to_owned(), "write `eq .name \"text\"`"),
            _ if rest.starts_with("!=") => ("!=".to_owned(), "write `ne .name \"text\"`"),
            _ if rest.starts_with("&&") => ("&&".to_owned(), "write `and .one .other`"),
            _ if rest.starts_with("||") => ("||".to_owned(), "write `or .one .other`"),
            '!' => ("!".to_owned(), "write `not .name`"),
            '\'' => ("'".to_owned(), "put text in \"…\" or `…`"),
            '{' | '}' if self.is_condition => {
                (first.to_string(), "write a condition without braces")
            }
            '{' | '}' => (first.to_string(), "an action is written between `{{` and `}}`"),
            '-' if follows(before, self.at) => (
                "-".to_owned(),
                "write `index . \"its-name\"` for a name with other characters than a-z, 0-9 and _",
            ),
            first => (first.escape_debug().to_string(), "put text in \"…\" or `…`"),
        };
        let at = self.at..self.at + first.len_utf8();
        token_error(at, format!("`{text}` is not valid here"), help)
    }
}

fn is_letter(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

/// Returns true if the previous token is a name that ends at `start`.
fn follows(before: Option<&Token>, start: usize) -> bool {
    before.is_some_and(|token| {
        token.at.end == start
            && matches!(
                token.kind,
                TokenKind::Field(_) | TokenKind::Variable(_) | TokenKind::Word(_)
            )
    })
}

/// Returns the character of an escape sequence, and the length of the sequence in bytes with the backslash.
fn escape(after: &str) -> Option<(char, usize)> {
    let first = after.chars().next()?;
    let code = |digits: usize| {
        let text = after
            .get(1..=digits)
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        let character = char::from_u32(u32::from_str_radix(text, 16).ok()?)?;
        Some((character, digits + 2))
    };
    match first {
        'n' => Some(('\n', 2)),
        't' => Some(('\t', 2)),
        'r' => Some(('\r', 2)),
        '\\' | '"' | '\'' => Some((first, 2)),
        'x' => code(2).filter(|(character, _)| character.is_ascii()),
        'u' => code(4),
        'U' => code(8),
        _ => None,
    }
}
