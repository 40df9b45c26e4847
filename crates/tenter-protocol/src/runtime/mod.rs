//! The runtime protocol: a hook that is started once with the argument `serve`, and called many times (S4 to S8).
//!
//! Agent and hook exchange JSON-RPC 2.0 messages, one per line. `message` reads and writes the lines, `initialize` and `service` are the typed
//! parameters and results, and `error` has the codes. Event requests have no types of their own: their parameters are the payload of the
//! one-shot form and their results its reply, so both stay JSON text ([`RawJson`]).
//!
//! ```
//! use tenter_protocol::runtime::{Message, RawJson, event_request, read_line};
//!
//! let request = event_request(1, "before_tool_call", r#"{"event": "before_tool_call"}"#);
//! assert!(matches!(read_line(request.as_bytes()), Ok(Some(Message::Request(_)))));
//!
//! let line = br#"{"jsonrpc": "2.0", "id": 1, "result": {"blocked": true}}"#;
//! let Ok(Some(Message::Response(response))) = read_line(line) else { panic!() };
//! assert_eq!(response.result, Ok(RawJson::of(&serde_json::json!({"blocked": true}))));
//! ```

mod error;
mod initialize;
mod message;
mod raw;
mod service;

pub use error::{ErrorObject, ServiceError, codes};
pub use initialize::{Initialize, Initialized, MAX_CONCURRENCY};
pub use message::{
    Id, LineError, MAX_LINE, Message, Notification, Request, Response, event_request, notification,
    read_line, read_message, request,
};
pub use raw::RawJson;
pub use service::{
    Answer, Completion, CompletionRequest, HistoryQuery, HistoryResult, ModelChoice, Question,
    Service, ServiceCall, ServiceRequest, StateChange, StateKey, StateScope, StateValue, Usage,
    UserNotice,
};

use serde::{Deserialize, Serialize};

/// The version of the runtime protocol.
pub const PROTOCOL: u32 = 1;

/// The argument with which a runtime hook is started, and the line with which an executable says that it is one.
pub const SERVE: &str = "serve";

/// The environment variable that is `1` when an executable is asked for its events by a program that can serve it (S1).
pub const SERVE_VARIABLE: &str = "TENTER_SERVE";

/// The request with which a conversation begins (S5).
pub const INITIALIZE: &str = "initialize";
/// The notification that cancels an event request (S5).
pub const CANCEL: &str = "cancel";
/// The notification after which stdin is closed (S5).
pub const SHUTDOWN: &str = "shutdown";

/// How a runtime hook can be run: `metadata.runtime` (S1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Started once and called many times; also in the one-shot form.
    Serve,
    /// There is no one-shot form.
    ServeOnly,
}

impl Runtime {
    /// The words in a manifest.
    pub const WORDS: [&str; 2] = ["serve", "serve-only"];

    /// The word for it in manifests and listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Serve => Self::WORDS[0],
            Self::ServeOnly => Self::WORDS[1],
        }
    }
}

/// The parameters of `cancel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// The event request that is cancelled.
    pub id: u64,
}
