//! What an expression can come to.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;
use tenter_protocol::Object;

/// A value. All of them are cheap to copy: what comes in is not copied, but looked at where it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'v> {
    /// Something that is not there: an error wherever more is asked of it than whether it is.
    Missing(Arc<Missing<'v>>),
    Text(Arc<str>),
    Number(i64),
    Boolean(bool),
    List(Arc<[Value<'v>]>),
    /// Something that came in.
    Given(&'v Json),
    /// All arguments together: `.` at the beginning of a recipe, and `$`.
    Arguments(&'v Object),
}

/// Something that is not there, and where it was asked for.
#[derive(Debug, PartialEq)]
pub(super) struct Missing<'v> {
    /// The whole of its path: `usage.input_tokens`.
    pub(super) path: String,
    /// Its own name, the last of the path.
    pub(super) name: String,
    pub(super) at: Range<usize>,
    /// What it is not in; nothing where that is not there itself.
    pub(super) inside: Option<&'v Object>,
}

impl<'v> Value<'v> {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// What it is made of, where that has names.
    pub(super) fn fields(&self) -> Option<&'v Object> {
        match self {
            Self::Arguments(fields) => Some(fields),
            Self::Given(json) => (*json).as_object(),
            _ => None,
        }
    }

    /// Whether a condition holds: what is missing, empty, zero or `false` does not. The text "false" is text.
    pub(super) fn holds(&self) -> bool {
        match self {
            Self::Missing(_) | Self::Given(Json::Null) => false,
            Self::Text(text) => !text.is_empty(),
            Self::Number(number) => *number != 0,
            Self::Boolean(boolean) | Self::Given(Json::Bool(boolean)) => *boolean,
            Self::List(items) => !items.is_empty(),
            Self::Given(Json::String(text)) => !text.is_empty(),
            Self::Given(Json::Number(number)) => number.as_f64() != Some(0.0),
            Self::Given(Json::Array(items)) => !items.is_empty(),
            Self::Given(Json::Object(fields)) => !fields.is_empty(),
            Self::Arguments(_) => true,
        }
    }

    /// The text of a single value.
    pub(super) fn as_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Number(number) => Some(number.to_string().into()),
            Self::Boolean(boolean) | Self::Given(Json::Bool(boolean)) => {
                Some(boolean.to_string().into())
            }
            Self::Given(Json::String(text)) => Some(Cow::Borrowed(text)),
            Self::Given(Json::Number(number)) => Some(number.to_string().into()),
            Self::Missing(_) | Self::List(_) | Self::Given(_) | Self::Arguments(_) => None,
        }
    }

    /// The text that stands for it where it is shown: of what came in with parts, JSON.
    pub(super) fn shown(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Given(json @ (Json::Array(_) | Json::Object(_))) => {
                Some(tenter_protocol::json::to_string(json).into())
            }
            value => value.as_text(),
        }
    }

    /// What it is, as messages say it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Missing(_) => "missing",
            Self::Text(_) | Self::Given(Json::String(_)) => "text",
            Self::Number(_) | Self::Given(Json::Number(_)) => "a number",
            Self::Boolean(_) | Self::Given(Json::Bool(_)) => "`true` or `false`",
            Self::List(_) | Self::Given(Json::Array(_)) => "a list",
            Self::Given(Json::Object(_)) => "an object",
            Self::Given(Json::Null) => "null",
            Self::Arguments(_) => "all arguments together",
        }
    }

    /// How much work it may be to look at it.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(items) => items.len(),
            Self::Given(Json::String(text)) => text.len(),
            Self::Given(Json::Array(items)) => items.len(),
            _ => 0,
        }
    }
}
