//! What the agent tells of its work, as one ordered stream. Whatever shows or streams it watches; none can change it.

use std::path::Path;
use std::time::Duration;

use tenter_protocol::event::Usage;
use tenter_protocol::{Diagnostic, EventName, Scope, ToolCall, ToolResult};

/// Sees what happens in an agent. Called from whichever thread it happens in.
pub trait Watcher: Send + Sync {
    /// Something happened in the conversation of `scope`.
    fn see(&self, scope: &Scope, happening: &Happening);
}

/// Something that happened.
#[derive(Debug)]
pub enum Happening<'h> {
    /// A process begins work on a conversation.
    SessionStarted {
        /// The model's name.
        model: &'h str,
        /// The project root.
        project: &'h Path,
        /// How many hooks are loaded.
        hooks: usize,
    },
    /// A piece of the model's text.
    TextDelta(&'h str),
    /// A piece of the model's reasoning.
    ReasoningDelta(&'h str),
    /// There was no whole response, and the model is asked again.
    Retry {
        /// The number of the attempt that comes, from 2.
        attempt: u32,
        /// Attempts at most.
        of: u32,
        /// The wait before it.
        after: Duration,
        /// What went wrong.
        reason: &'h str,
        /// Whether the pieces that were told since the last whole response are void.
        discarded: bool,
    },
    /// The model's text, whole.
    Text(&'h str),
    /// The model's reasoning, whole.
    Reasoning(&'h str),
    /// The model calls a tool, with the input that it gave.
    ToolUse(&'h ToolCall),
    /// What came of a call, as everybody gets to see it (R25).
    ToolResult {
        /// The call's id.
        call_id: &'h str,
        /// The result.
        result: &'h ToolResult,
    },
    /// A hook forbade something.
    Blocked {
        /// At which event.
        event: EventName,
        /// Which hook.
        hook: &'h str,
        /// Why.
        reason: &'h str,
    },
    /// A hook's follow-up message makes the agent go on.
    FollowUp {
        /// Which hook.
        hook: &'h str,
        /// The message.
        text: &'h str,
    },
    /// A recipe works beside the conversation.
    Recipe {
        /// Its name.
        recipe: &'h str,
        /// The hook that asked for it; `user` or `the model's limit` where none did.
        by: &'h str,
    },
    /// The history was replaced.
    History {
        /// How: `mutate` or `compact`.
        kind: &'h str,
        /// The hook that asked for it; `user` or `the model's limit` where none did.
        by: &'h str,
        /// The recipe that wrote the new history, if one did.
        recipe: Option<&'h str>,
        /// Messages before.
        before: usize,
        /// Messages now.
        after: usize,
    },
    /// Token figures after a model response.
    Usage(&'h Usage),
    /// Something that the person should know.
    Diagnostic(&'h Diagnostic),
    /// The agent is done with a user message, or failed at it.
    Ended {
        /// `done`, `blocked`, `failed`, `max_turns` or `interrupted`.
        status: &'h str,
        /// The exit code that goes with it (R56).
        exit_code: u8,
        /// Token figures.
        usage: &'h Usage,
    },
}
