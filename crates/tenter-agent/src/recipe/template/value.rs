//! What an expression can come to.

use std::ops::Range;
use std::sync::Arc;

/// A value. All of them are cheap to copy.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// An argument that was not given: an error wherever more is asked of it than whether it is there.
    Missing(Arc<Missing>),
    Text(Arc<str>),
    Number(i64),
    Boolean(bool),
    List(Arc<[Value]>),
    /// All arguments together: `.` at the beginning, and `$`.
    Arguments,
}

/// An argument that was not given, and where it was asked for.
#[derive(Debug, PartialEq)]
pub(super) struct Missing {
    pub(super) name: String,
    pub(super) at: Range<usize>,
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// Whether a condition holds: what is missing, empty, zero or `false` does not. The text "false" is text.
    pub(super) fn holds(&self) -> bool {
        match self {
            Self::Missing(_) => false,
            Self::Text(text) => !text.is_empty(),
            Self::Number(number) => *number != 0,
            Self::Boolean(boolean) => *boolean,
            Self::List(items) => !items.is_empty(),
            Self::Arguments => true,
        }
    }

    /// The text of a single value.
    pub(super) fn as_text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::Boolean(boolean) => Some(boolean.to_string()),
            Self::Missing(_) | Self::List(_) | Self::Arguments => None,
        }
    }

    /// What it is, as messages say it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Missing(_) => "missing",
            Self::Text(_) => "text",
            Self::Number(_) => "a number",
            Self::Boolean(_) => "`true` or `false`",
            Self::List(_) => "a list",
            Self::Arguments => "all arguments together",
        }
    }

    /// How much work it may be to look at it.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(items) => items.len(),
            _ => 0,
        }
    }
}
