//! Parses the tokens of one action: operands, calls and pipelines.

use std::ops::Range;

use super::super::ast::{Operand, OperandKind, Part, Pipeline, Stage};
use super::super::findings::{LIMIT, SYNTAX};
use super::super::functions::{self, Function};
use super::super::lexer::{Token, TokenKind};
use super::super::value::Value;
use super::super::{Dialect, MAX_DEPTH, Uses};

/// An error in an action, with its help text.
pub(super) struct SyntaxError {
    pub(super) id: &'static str,
    pub(super) at: Range<usize>,
    pub(super) message: String,
    pub(super) help: String,
}

fn syntax_error(
    at: &Range<usize>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> SyntaxError {
    SyntaxError { id: SYNTAX, at: at.clone(), message: message.into(), help: help.into() }
}

/// Parses the tokens of one action.
pub(super) struct Reader<'t, 'u> {
    pub(super) tokens: &'t [Token],
    pub(super) next: usize,
    /// The end of the action, for errors about missing values.
    pub(super) end: Range<usize>,
    /// Number of open parentheses.
    pub(super) depth: usize,
    pub(super) dialect: Dialect,
    pub(super) uses: &'u mut Uses,
}

impl<'t> Reader<'t, '_> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self, kind: &TokenKind) -> bool {
        let is_next = self.peek().is_some_and(|token| token.kind == *kind);
        self.next += usize::from(is_next);
        is_next
    }

    fn here(&self) -> Range<usize> {
        self.peek().map_or_else(|| self.end.clone(), |token| token.at.clone())
    }

    pub(super) fn finished(&self) -> Result<(), SyntaxError> {
        let Some(token) = self.peek() else { return Ok(()) };
        Err(match token.kind {
            TokenKind::Close => {
                syntax_error(&token.at, "there is no open parenthesis here", "remove it")
            }
            TokenKind::Declare | TokenKind::Assign => {
                syntax_error(&token.at, "only a variable can be set", "write `{{$name := …}}`")
            }
            _ => syntax_error(
                &token.at,
                "unexpected value",
                "pass several values to a function, or write two actions",
            ),
        })
    }

    pub(super) fn pipeline(&mut self) -> Result<Pipeline, SyntaxError> {
        let start = self.here().start;
        let first = self.stage(0)?;
        let mut rest = Vec::new();
        while self.take(&TokenKind::Pipe) {
            rest.push(self.stage(1)?);
        }
        let end = self.next.checked_sub(1).and_then(|last| self.tokens.get(last));
        Ok(Pipeline { at: start..end.map_or(start, |last| last.at.end), first, rest })
    }

    /// Parses a value, or a call that receives `piped` values from the previous stage.
    fn stage(&mut self, piped: usize) -> Result<Stage, SyntaxError> {
        let Some(Token { at, kind: TokenKind::Word(name) }) =
            self.peek().filter(|token| !is_boolean(token))
        else {
            let at = self.here();
            let operand = self.operand()?;
            if piped > 0 {
                return Err(syntax_error(
                    &at,
                    "a value cannot receive the value before it",
                    "write a function after `|`",
                ));
            }
            return Ok(Stage::Value(operand));
        };
        self.next += 1;
        let function = self.function(name, at)?;
        let mut arguments = Vec::new();
        while self.begins_operand() {
            arguments.push(self.operand()?);
        }
        match function.arity_error(arguments.len() + piped) {
            None => Ok(Stage::Call { at: at.clone(), function, arguments }),
            Some((message, help)) => Err(syntax_error(at, message, help)),
        }
    }

    fn begins_operand(&self) -> bool {
        use TokenKind::{Assign, Close, Comma, Declare, Pipe};
        self.peek()
            .is_some_and(|token| !matches!(token.kind, Assign | Close | Comma | Declare | Pipe))
    }

    fn operand(&mut self) -> Result<Operand, SyntaxError> {
        let at = self.here();
        let Some(token) = self.peek() else { return Err(self.no_value(&at, "here")) };
        self.next += 1;
        let mut parts = Vec::new();
        let kind = match &token.kind {
            TokenKind::Word(word) if is_boolean(token) => {
                OperandKind::Literal(Value::Boolean(word == "true"))
            }
            // A function is not an operand without parentheses.
            TokenKind::Word(word) => {
                self.function(word, &at)?;
                return Err(syntax_error(
                    &at,
                    format!("`{word}` needs parentheses here"),
                    format!("write `({word} …)`"),
                ));
            }
            TokenKind::Text(text) => OperandKind::Literal(Value::text(text)),
            TokenKind::Number(number) => OperandKind::Literal(Value::Number(*number)),
            TokenKind::Dot => {
                self.uses.all = true;
                OperandKind::Dot
            }
            TokenKind::Field(name) => {
                parts.push(self.part(name, &at));
                OperandKind::Dot
            }
            TokenKind::Variable(name) => {
                parts.extend(self.part_after(at.end));
                self.uses.all |= name.is_empty() && parts.is_empty();
                OperandKind::Variable(name.clone())
            }
            TokenKind::Open => self.group(&at)?,
            _ => return Err(self.no_value(&at, "before this")),
        };
        self.more_parts(&mut parts)?;
        let at = at.start..self.tokens[self.next - 1].at.end;
        Ok(Operand { at, kind, parts })
    }

    fn no_value(&self, at: &Range<usize>, place: &str) -> SyntaxError {
        let help = format!("write {}, `{{{{.name}}}}`, or a function", self.dialect.value());
        syntax_error(at, format!("a value is missing {place}"), help)
    }

    /// Returns a field, which is recorded as used.
    fn part(&mut self, name: &str, at: &Range<usize>) -> Part {
        if !self.uses.names.iter().any(|name_in_use| name_in_use == name) {
            self.uses.names.push(name.to_owned());
        }
        Part { at: at.clone(), name: name.to_owned() }
    }

    /// Returns the field that follows without a space.
    fn part_after(&mut self, end: usize) -> Option<Part> {
        let Token { at, kind: TokenKind::Field(name) } = self.peek()? else { return None };
        if at.start != end {
            return None;
        }
        self.next += 1;
        Some(self.part(name, at))
    }

    /// Parses nested fields, as in `.a.b`. Recipes do not have them.
    fn more_parts(&mut self, parts: &mut Vec<Part>) -> Result<(), SyntaxError> {
        let before = parts.len();
        while let Some(part) = self.part_after(self.tokens[self.next - 1].at.end) {
            parts.push(part);
        }
        match parts.get(before) {
            Some(part) if !self.dialect.has_parts() => Err(syntax_error(
                &part.at,
                "an argument is text and has no parts",
                "put a space before it if it is a separate value",
            )),
            _ => Ok(()),
        }
    }

    fn function(&self, name: &str, at: &Range<usize>) -> Result<Function, SyntaxError> {
        let function = Function::named(name).ok_or_else(|| {
            let help = functions::help(name, self.dialect);
            syntax_error(at, format!("there is no function `{name}`"), help)
        })?;
        if function == Function::Bash && !self.dialect.starts_programs() {
            let help = "use a hook with a script to run programs";
            return Err(syntax_error(
                at,
                "a static hook cannot run programs, so `bash` cannot be used",
                help,
            ));
        }
        Ok(function)
    }

    fn group(&mut self, open: &Range<usize>) -> Result<OperandKind, SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("parentheses are nested more than {MAX_DEPTH} deep");
            let help = "use fewer nested parentheses";
            return Err(SyntaxError { id: LIMIT, ..syntax_error(open, message, help) });
        }
        let pipeline = self.pipeline()?;
        if !self.take(&TokenKind::Close) {
            return Err(syntax_error(open, "this parenthesis is not closed", "close it with `)`"));
        }
        self.depth -= 1;
        Ok(OperandKind::Group(Box::new(pipeline)))
    }
}

fn is_boolean(token: &Token) -> bool {
    matches!(&token.kind, TokenKind::Word(word) if word == "true" || word == "false")
}
