//! Registrations in JSON files that users edit: comments, order, layout, unknown keys and line endings stay as they are (B39).
//!
//! The text is never formatted again. [`document`] finds positions in it, [`layout`] finds where to cut and insert, and
//! [`handlers`] knows the format of the hooks.

mod document;
mod handlers;
mod layout;
mod settings;

use serde_json::Value;
use tenter_protocol::Diagnostic;

pub(super) use handlers::{Shape, find, install, remove};
pub(super) use settings::{ignored, switch};

/// The value of a text.
///
/// # Errors
/// It is not JSON; the diagnostic has the position.
pub(crate) fn value(text: &str) -> Result<Value, Diagnostic> {
    Ok(document::Document::parse(settings::without_mark(text).1)?.value())
}

/// The problem with the value to which `path` leads, by keys and indices, or with the nearest one around it.
pub(crate) fn problem(text: &str, path: &[String], message: String) -> Diagnostic {
    let document = match document::Document::parse(settings::without_mark(text).1) {
        Ok(document) => document,
        Err(error) => return error,
    };
    document.problem_at(path, message)
}
