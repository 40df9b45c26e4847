//! The runtime protocol: a hook that is started once with the argument `serve`, and called many times (S4 to S8).
//!
//! Agent and hook exchange JSON-RPC 2.0 messages, one per line. `message` reads and writes the lines, `initialize` and `service` are the typed
//! parameters and results, `error` has the codes, and `vocabulary` the words. Event requests have no types of their own: their parameters are the payload of the
//! one-shot form and their results its reply, so both stay JSON text ([`RawJson`]).
//!
//! ```
//! use tenter_protocol::runtime::{RuntimeMessage, RawJson, event_request, read_line};
//!
//! let request = event_request(1, "before_tool_call", r#"{"event": "before_tool_call"}"#);
//! assert!(matches!(read_line(request.as_bytes()), Ok(Some(RuntimeMessage::Request(_)))));
//!
//! let line = br#"{"jsonrpc": "2.0", "id": 1, "result": {"blocked": true}}"#;
//! let Ok(Some(RuntimeMessage::Response(response))) = read_line(line) else { panic!() };
//! assert_eq!(response.result, Ok(RawJson::new(&serde_json::json!({"blocked": true}))));
//! ```

mod error;
mod initialize;
mod message;
mod raw;
mod service;
mod vocabulary;

pub use error::{ErrorObject, ServiceError, codes};
pub use initialize::{Initialize, Initialized, MAX_CONCURRENCY};
pub use message::{
    Id, LineError, MAX_LINE, Notification, Request, Response, RuntimeMessage, event_request,
    notification, read_line, read_message, request,
};
pub use raw::RawJson;
pub use service::{
    Completion, CompletionRequest, CompletionUsage, HistoryQuery, HistoryResult, ModelChoice,
    Question, Service, ServiceCall, ServiceRequest, StateChange, StateKey, StateScope, StateValue,
    UserAnswer, UserNotice,
};
pub use vocabulary::{
    CANCEL, Cancelled, INITIALIZE, PROTOCOL, Runtime, SERVE, SERVE_VARIABLE, SHUTDOWN,
};
