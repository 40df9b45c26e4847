//! The values of expressions.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;
use tenter_protocol::Object;

/// A value. Cloning is cheap: input values are borrowed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'v> {
    /// A missing value. Any use except in a condition or as the value of `default` is an error.
    Missing(Arc<Missing<'v>>),
    Text(Arc<str>),
    Number(i64),
    Boolean(bool),
    List(Arc<[Value<'v>]>),
    /// An input value.
    Json(&'v Json),
    /// All arguments: `.` at the top level of a recipe, and `$`.
    Arguments(&'v Object),
}

/// A missing value, and where it is used.
#[derive(Debug, PartialEq)]
pub(super) struct Missing<'v> {
    /// The full path: `usage.input_tokens`.
    pub(super) path: String,
    /// The last name of the path.
    pub(super) name: String,
    pub(super) at: Range<usize>,
    /// The object that does not have it; `None` if that object is missing too.
    pub(super) inside: Option<&'v Object>,
}

impl<'v> Value<'v> {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// Returns the fields, if it is an object.
    pub(super) fn fields(&self) -> Option<&'v Object> {
        match self {
            Self::Arguments(fields) => Some(fields),
            Self::Json(json) => (*json).as_object(),
            _ => None,
        }
    }

    /// Returns true if the value is true in a condition. Missing and empty values, zero, null and `false` are false; the
    /// text "false" is true.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Missing(_) | Self::Json(Json::Null) => false,
            Self::Text(text) => !text.is_empty(),
            Self::Number(number) => *number != 0,
            Self::Boolean(boolean) | Self::Json(Json::Bool(boolean)) => *boolean,
            Self::List(items) => !items.is_empty(),
            Self::Json(Json::String(text)) => !text.is_empty(),
            Self::Json(Json::Number(number)) => number.as_f64() != Some(0.0),
            Self::Json(Json::Array(items)) => !items.is_empty(),
            Self::Json(Json::Object(fields)) => !fields.is_empty(),
            Self::Arguments(_) => true,
        }
    }

    /// Returns the text of a scalar value.
    pub(super) fn as_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Number(number) => Some(number.to_string().into()),
            Self::Boolean(boolean) | Self::Json(Json::Bool(boolean)) => {
                Some(boolean.to_string().into())
            }
            Self::Json(Json::String(text)) => Some(Cow::Borrowed(text)),
            Self::Json(Json::Number(number)) => Some(number.to_string().into()),
            Self::Missing(_) | Self::List(_) | Self::Json(_) | Self::Arguments(_) => None,
        }
    }

    /// Returns the text that is written for the value: JSON for input lists and objects.
    pub(super) fn to_output(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Json(json @ (Json::Array(_) | Json::Object(_))) => {
                Some(tenter_protocol::json::to_string(json).into())
            }
            value => value.as_text(),
        }
    }

    /// Returns the type, as messages name it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Missing(_) => "missing",
            Self::Text(_) | Self::Json(Json::String(_)) => "text",
            Self::Number(_) | Self::Json(Json::Number(_)) => "a number",
            Self::Boolean(_) | Self::Json(Json::Bool(_)) => "`true` or `false`",
            Self::List(_) | Self::Json(Json::Array(_)) => "a list",
            Self::Json(Json::Object(_)) => "an object",
            Self::Json(Json::Null) => "null",
            Self::Arguments(_) => "all arguments together",
        }
    }

    /// Returns a measure of the work of processing the value.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(items) => items.len(),
            Self::Json(Json::String(text)) => text.len(),
            Self::Json(Json::Array(items)) => items.len(),
            _ => 0,
        }
    }
}
