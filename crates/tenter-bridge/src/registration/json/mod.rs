//! Registrations in JSON files that users edit: comments, order, layout, unknown keys and line endings stay as they are (B39).
//!
//! The text is never formatted again. [`document`] finds positions in it, [`layout`] finds where to cut and insert, and
//! [`handlers`] knows the format of the hooks.

mod document;
mod handlers;
mod layout;
mod settings;

pub(super) use handlers::{Shape, find, install, remove};
pub(super) use settings::{ignored, switch};
