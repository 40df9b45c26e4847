//! A JSON text with comments and trailing commas, and the positions of its parts.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use tenter_protocol::SourceText;
use tenter_protocol::{Diagnostic, Severity};

/// The JSON that is read: comments and trailing commas, and otherwise as the standard says.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A parsed text. Positions are byte offsets in it; it has no byte order mark.
pub(super) struct Document<'t> {
    /// The text.
    pub(super) text: &'t str,
    /// The value; `None` if the text has only whitespace and comments.
    pub(super) root: Option<Value<'t>>,
    tokens: Vec<TokenPosition>,
}

/// The position of a token or comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenPosition {
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends, without the line ending of a comment.
    pub(super) end: usize,
    /// What it is.
    pub(super) kind: TokenKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Comma,
    LineComment,
    BlockComment,
    Other,
}

impl TokenKind {
    fn is_comment(self) -> bool {
        matches!(self, Self::LineComment | Self::BlockComment)
    }
}

/// An object or array: the positions between its brackets and those of its members or elements.
pub(super) struct Container {
    /// Everything between the brackets.
    pub(super) inner: Range<usize>,
    /// Its members (name and value) or elements.
    pub(super) children: Vec<Range<usize>>,
}

impl From<&Object<'_>> for Container {
    fn from(object: &Object) -> Self {
        let children = object.properties.iter().map(position).collect();
        Self { inner: object.range.start + 1..object.range.end - 1, children }
    }
}

impl From<&Array<'_>> for Container {
    fn from(array: &Array) -> Self {
        let children = array.elements.iter().map(position).collect();
        Self { inner: array.range.start + 1..array.range.end - 1, children }
    }
}

fn position(part: &impl Ranged) -> Range<usize> {
    part.start()..part.end()
}

impl<'t> Document<'t> {
    /// Parses `text`.
    ///
    /// # Errors
    /// It is not JSON; the diagnostic has the position.
    pub(super) fn parse(text: &'t str) -> Result<Self, Diagnostic> {
        let collect =
            CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &OPTIONS).map_err(|error| {
            let range = error.range().start..error.range().end;
            let message = format!("it is not valid JSON: {}", error.kind());
            invalid(text, &range, message)
                .help("fix the file at this position, and run the command again")
        })?;
        let tokens = parsed.tokens.unwrap_or_default();
        let tokens = tokens.iter().map(|token| TokenPosition {
            start: token.range.start,
            end: token.range.end,
            kind: match token.token {
                Token::Comma => TokenKind::Comma,
                Token::CommentLine(_) => TokenKind::LineComment,
                Token::CommentBlock(_) => TokenKind::BlockComment,
                _ => TokenKind::Other,
            },
        });
        Ok(Self { text, root: parsed.value, tokens: tokens.collect() })
    }

    /// The whole value; null if there is none.
    pub(super) fn value(&self) -> serde_json::Value {
        self.root.as_ref().map(|root| self.json(root)).unwrap_or_default()
    }

    /// The error that the value at `part` is of another kind than expected.
    pub(super) fn unexpected(&self, part: &impl Ranged, message: String) -> Diagnostic {
        let help = "correct the value, and run the command again";
        invalid(self.text, &position(part), message).help(help)
    }

    /// The problem with the value to which `path` leads, by keys and indices, or with the nearest one around it.
    pub(super) fn problem_at(&self, path: &[String], message: String) -> Diagnostic {
        let mut at = self.root.as_ref();
        let mut range = at.map(position).unwrap_or_default();
        for step in path {
            at = match at {
                Some(Value::Object(object)) => object.get(step).map(|member| &member.value),
                Some(Value::Array(array)) => {
                    step.parse().ok().and_then(|index: usize| array.elements.get(index))
                }
                _ => None,
            };
            let Some(value) = at else { break };
            range = position(value);
        }
        invalid(self.text, &range, message)
    }

    /// The member of `object` with this name, which must not be there twice.
    pub(super) fn member<'d>(
        &self,
        object: &'d Object<'t>,
        name: &str,
    ) -> Result<Option<(usize, &'d ObjectProp<'t>)>, Diagnostic> {
        let is_it = |(_, member): &(usize, &ObjectProp)| member.name.as_str() == name;
        let mut members = object.properties.iter().enumerate().filter(is_it);
        let first = members.next();
        match members.next() {
            None => Ok(first),
            Some((_, second)) => {
                Err(self.unexpected(second, format!("the key {name:?} is there twice")))
            }
        }
    }

    /// The value at `part`.
    pub(super) fn json(&self, part: &impl Ranged) -> serde_json::Value {
        let text = &self.text[position(part)];
        jsonc_parser::parse_to_serde_value(text, &OPTIONS).unwrap_or_default()
    }

    /// The position of the comma after a value that ends at `end`.
    pub(super) fn comma_after(&self, end: usize) -> Option<usize> {
        let next = self.tokens_after(end).iter().find(|token| !token.kind.is_comment())?;
        (next.kind == TokenKind::Comma).then_some(next.start)
    }

    /// The token or comment before `position`.
    pub(super) fn token_before(&self, position: usize) -> Option<TokenPosition> {
        let index = self.tokens.partition_point(|token| token.end <= position);
        self.tokens.get(index.checked_sub(1)?).copied()
    }

    /// The end of the last comment that begins on the line of `position` and before any other token; else `position`.
    pub(super) fn end_of_comments_on_line(&self, position: usize) -> usize {
        let mut end = position;
        for comment in
            self.tokens_after(position).iter().take_while(|token| token.kind.is_comment())
        {
            if self.has_line_end(&(end..comment.start)) {
                break;
            }
            end = comment.end;
        }
        end
    }

    /// The end of the last comment in `range`.
    pub(super) fn last_comment(&self, range: &Range<usize>) -> Option<usize> {
        let before = self.token_before(range.end)?;
        (before.kind.is_comment() && before.start >= range.start).then_some(before.end)
    }

    /// Whether a line ends in `range`.
    pub(super) fn has_line_end(&self, range: &Range<usize>) -> bool {
        self.text[range.clone()].contains('\n')
    }

    /// The whitespace at the start of the line that contains `position`.
    pub(super) fn indent(&self, position: usize) -> &'t str {
        let line = self.line_start(position);
        let rest = &self.text[line..];
        &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
    }

    /// Whether only whitespace precedes `position` on its line.
    pub(super) fn begins_line(&self, position: usize) -> bool {
        let before = &self.text[self.line_start(position)..position];
        before.trim_matches([' ', '\t']).is_empty()
    }

    fn line_start(&self, position: usize) -> usize {
        self.text[..position].rfind('\n').map_or(0, |end| end + 1)
    }

    fn tokens_after(&self, position: usize) -> &[TokenPosition] {
        &self.tokens[self.tokens.partition_point(|token| token.start < position)..]
    }
}

/// The error that the text cannot be used, with its position.
fn invalid(text: &str, range: &Range<usize>, message: String) -> Diagnostic {
    let span = SourceText::new(text.as_bytes()).span(range);
    Diagnostic::new("registration-invalid-file", Severity::Error, message).with_span(span)
}
