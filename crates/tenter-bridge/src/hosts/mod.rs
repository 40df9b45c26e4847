//! The hosts, one file each.

mod claude_code;
mod claude_form;
mod claude_result;
mod codex;
mod crush;
mod droid;
mod gemini;
mod gemini_result;
mod goose;
mod kilo;
mod opencode;
mod pi;
mod plugin_form;
mod qwen;
mod vibe;

use crate::Host;

/// Every host, in the order in which they are listed.
pub const ALL: &[&Host] = &[
    &claude_code::HOST,
    &codex::HOST,
    &gemini::HOST,
    &opencode::HOST,
    &qwen::HOST,
    &pi::HOST,
    &kilo::HOST,
    &droid::HOST,
    &goose::HOST,
    &crush::HOST,
    &vibe::HOST,
];

/// The host with this id.
pub fn find(id: &str) -> Option<&'static Host> {
    ALL.iter().find(|host| host.id == id).copied()
}
