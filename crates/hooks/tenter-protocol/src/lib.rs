//! The contract between an agent and its lifecycle hooks, as types.
//!
//! An agent fires an [`Event`] at a documented point of its life. A hook that subscribes to the event reads one JSON
//! payload and replies with one JSON object, which becomes a [`Reply`]. This crate has both sides of that exchange for the
//! *executable protocol* (a program that answers `hook` and `run`) and the *manifest protocol* (a directory with a `HOOK.md`), and
//! the one table, [`lifecycle`], from which every list of events in Tenter is derived. Schemas of payloads and manifests are derived
//! from their types.
//!
//! ```
//! use tenter_protocol::{EventName, executable, lifecycle};
//!
//! // The output of a program called with `hook` …
//! let subscriptions = executable::subscriptions("before_tool_call\n").unwrap();
//! assert_eq!(subscriptions[0].event, EventName::BeforeTool);
//!
//! // … and its output when it is called with `run`.
//! let stdout = br#"{"blocked": true, "reason": "no sudo here"}"#;
//! let reply = executable::parse_reply(EventName::BeforeTool, stdout).unwrap();
//! assert!(reply.reply.verdict.unwrap().is_deny());
//! # assert_eq!(lifecycle::TABLE.len(), 13);
//! ```
//!
//! # Where to look
//!
//! | for | read |
//! | --- | --- |
//! | an event and its data | [`Event`], [`Body`], [`event`]; the table of events is [`lifecycle`] |
//! | the payload that a hook reads | [`executable::payload`], [`manifest::payload`]; facts about commands and paths are in [`facts`] |
//! | the reply that a hook prints | [`Reply`], [`executable::parse_reply`], [`manifest::parse_reply`]; the table of fields is [`reply_fields`] |
//! | a `HOOK.md` | [`manifest`] (feature `yaml`); recipes and skills share [`front_matter`] with it |
//! | a hook that stays running | [`runtime`]: the messages, and the services that it may request |
//! | messages, tool calls and results | [`Message`], [`ToolCall`], [`ToolResult`], [`tool_metadata`] |
//! | tools of other agents | [`tool_names`], [`tool_fields`], [`native_tool`], [`tool_effects`], [`claude_code`] |
//! | JSON Schemas | module `schema` (feature `schema`) |
//!
//! It does no I/O, starts nothing and decides nothing: which hooks run, in what order, and how their replies are combined is up
//! to the engine.

mod call_summary;
pub mod claude_code;
pub mod confinement;
#[cfg(feature = "schema")]
mod derived_schema;
mod diagnostic;
mod domain_rule;
pub mod event;
pub mod executable;
pub mod facts;
#[cfg(feature = "yaml")]
pub mod front_matter;
pub mod history;
mod host_payload;
pub mod json;
pub mod lifecycle;
pub mod manifest;
mod message;
pub mod native_tool;
pub mod patch;
pub mod permission_mode;
pub mod reply;
pub mod reply_fields;
#[cfg(feature = "yaml")]
pub mod resource_name;
pub mod runtime;
pub mod sample;
#[cfg(feature = "schema")]
pub mod schema;
mod source_text;
mod tool;
pub mod tool_effects;
pub mod tool_fields;
pub mod tool_metadata;
pub mod tool_names;

pub use call_summary::call_summary;
pub use diagnostic::{Diagnostic, Severity, Span};
pub use event::{AgentFacts, Body, Event, EventRef, HostFacts, Scope};
pub use lifecycle::EventName;
pub use message::{Block, Image, ImageSource, Message, Role};
pub use reply::{HistoryAction, Reply, Rewrite, Verdict};
pub use source_text::SourceText;
pub use tool::{ToolCall, ToolResult};

/// A JSON object with its keys in the order in which they were written.
pub type Object = serde_json::Map<String, serde_json::Value>;
