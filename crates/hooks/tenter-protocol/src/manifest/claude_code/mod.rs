//! Manifest hooks whose scripts are written for Claude Code (`metadata.dialect: claude-code`, B36): the payloads that they read,
//! and their replies.
//!
//! An event that Claude Code does not fire has no payload, and the hook does not run.

mod payload;
mod reply;

pub use payload::{ClaudeCodeEvent, payloads};
pub use reply::parse_reply;

use serde::{Deserialize, Serialize};

/// The keys of a manifest for a script that is written for Claude Code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaudeCodeScript {
    /// `event`: the event of Claude Code's that it is for, where its triggers fire for several; `None` for all of them.
    pub event: Option<String>,
    /// `matcher`, as Claude Code reads it.
    pub matcher: Option<String>,
    /// `plugin_root`: the directory of the plugin that it belongs to.
    pub plugin_root: Option<String>,
    /// `origin`: the settings file from which it was imported.
    pub origin: Option<String>,
    /// `imported`: what it is known by in that file, and the digest of what was written.
    pub imported: Option<String>,
}
