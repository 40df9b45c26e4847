//! Reports of the agent's work, as one ordered stream, for display and output. Watchers cannot change anything.

use std::path::Path;
use std::time::Duration;

use crate::tools::OutputTail;
use tenter_protocol::event::Usage;
use tenter_protocol::{Diagnostic, EventName, Scope, ToolCall, ToolResult};

/// Receives updates of an agent's work, on the thread that does the work.
pub trait Watcher: Send + Sync {
    /// Receives an update about the conversation of `scope`.
    fn on_update(&self, scope: &Scope, update: &SessionUpdate);
}

/// Something that happened.
#[derive(Debug)]
pub enum SessionUpdate<'h> {
    /// A session starts.
    SessionStarted {
        /// The model's name.
        model: &'h str,
        /// The project root.
        project: &'h Path,
        /// The number of loaded hooks.
        hooks: usize,
    },
    /// A response is requested from the model. Always followed by [`ModelEnded`](Self::ModelEnded).
    ModelStarted {
        /// The model's name.
        model: &'h str,
    },
    /// The model responded, or the request failed or was cancelled.
    ModelEnded,
    /// A piece of the model's text.
    TextDelta(&'h str),
    /// A piece of the model's reasoning.
    ReasoningDelta(&'h str),
    /// There was no complete response, and the request is retried.
    Retry {
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// Maximum number of attempts.
        of: u32,
        /// The wait before the attempt.
        after: Duration,
        /// The cause.
        reason: &'h str,
        /// The pieces reported since the last complete response are to be discarded.
        discarded: bool,
    },
    /// The model's complete text.
    Text(&'h str),
    /// The model's complete reasoning.
    Reasoning(&'h str),
    /// The model calls a tool, with the input that the model gave.
    ToolUse(&'h ToolCall),
    /// A tool runs: hooks and the user allowed the call. Always followed by [`ToolEnded`](Self::ToolEnded).
    ToolStarted {
        /// The call, as hooks left it.
        call: &'h ToolCall,
        /// The end of its output, which grows while it runs.
        output: &'h OutputTail,
    },
    /// A tool has run. Hooks have not seen the result yet.
    ToolEnded {
        /// The call's id.
        call_id: &'h str,
    },
    /// The result of a call, after hooks rewrote it (R25).
    ToolResult {
        /// The call's id.
        call_id: &'h str,
        /// The result.
        result: &'h ToolResult,
    },
    /// A hook blocked something.
    Blocked {
        /// The event.
        event: EventName,
        /// The hook.
        hook: &'h str,
        /// The reason.
        reason: &'h str,
        /// The id of the call that does not run because of it, if it is one of this conversation.
        call_id: Option<&'h str>,
    },
    /// A hook's follow-up message makes the agent continue.
    FollowUp {
        /// The hook.
        hook: &'h str,
        /// The message.
        text: &'h str,
    },
    /// A side recipe runs.
    Recipe {
        /// The recipe's name.
        recipe: &'h str,
        /// The hook that requested it; otherwise `user` or `the model's limit`.
        by: &'h str,
    },
    /// A side recipe has run.
    RecipeEnded {
        /// The recipe's name.
        recipe: &'h str,
    },
    /// The history was replaced.
    History {
        /// The kind of change: `mutate` or `compact`.
        kind: &'h str,
        /// The hook that requested it; otherwise `user` or `the model's limit`.
        by: &'h str,
        /// The recipe that wrote the new history, if any.
        recipe: Option<&'h str>,
        /// Number of messages before.
        before: usize,
        /// Number of messages after.
        after: usize,
    },
    /// Token usage after a model response.
    Usage(&'h Usage),
    /// A diagnostic for the user.
    Diagnostic(&'h Diagnostic),
    /// The agent finished a user message, or failed.
    SessionEnded {
        /// `done`, `blocked`, `failed`, `max_turns` or `interrupted`.
        status: &'h str,
        /// The corresponding exit code (R56).
        exit_code: u8,
        /// Token usage.
        usage: &'h Usage,
    },
}
