//! Registrations in JSON files that users edit: comments, order, layout, unknown keys and line endings stay as they are (B39).
//!
//! The text is never formatted again. [`document`] finds positions in it, [`edit`] cuts and inserts at these positions, and
//! [`groups`] knows the format of the hooks.

mod document;
mod edit;
mod groups;

pub(super) use edit::undo;
pub(super) use groups::{Created, Handler, find, install, not_plain, remove, silencers};
