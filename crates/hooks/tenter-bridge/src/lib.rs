//! Tenter's hooks in other coding agents.
//!
//! A *host* is an agent that is not Tenter's own, such as Claude Code. *Native* means in the host's format and names. The bridge
//! registers one command per native event. Each time the host runs it, one native event becomes one native answer:
//!
//! ```text
//! host ── native payload ──► read ──► engine session ──► reply ──► answer ── native answer ──► host
//!                              │            │              ▲
//!                              └── state of the session ───┘   one file per session, shared by all processes
//! ```
//!
//! ```
//! let claude = tenter_bridge::hosts::find("claude-code").unwrap();
//! assert!(claude.event("PreToolUse").is_some());
//! ```

pub mod breach;
mod digest;
pub mod guide;
pub mod heartbeat;
pub mod hook_lint;
pub mod host;
pub mod hosts;
pub mod import;
pub mod keeper;
pub mod occurrence;
mod packaged_version;
pub mod payload;
pub mod registration;
pub mod reply;
mod rule_matcher;
pub mod shell_prefix;
mod state;
mod tool_call;
mod tool_result;
pub mod transcript;
pub mod unknown_tools;
pub mod user_rules;
mod visit;

pub use host::{Host, Moment, NativeEvent, Support};
pub use packaged_version::packaged_version;
pub use visit::{
    EventProgress, KeeperConnector, KeptHooks, Remainder, RemainingHooks, Visited, Visitor,
};
