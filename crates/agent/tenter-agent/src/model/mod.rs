//! The interface to a model: one streamed response per request. No other module of this crate knows how a model is
//! reached.

pub mod completion;
pub mod scripted;

use std::time::Duration;

use serde_json::Value;
use tenter_proc::Cancel;
use tenter_protocol::event::TurnUsage;
use tenter_protocol::{Block, Message, Object};
use thiserror::Error;

/// A language model.
pub trait Model: Send + Sync {
    /// Returns the name, as passed to `--model`.
    fn name(&self) -> &str;

    /// Returns the size of the context window, in tokens.
    fn context_window(&self) -> u64;

    /// Requests one response. Text and reasoning are passed to `deltas` as they arrive; the response contains all of
    /// them.
    ///
    /// # Errors
    /// When there is no complete response; see [`ModelError`].
    fn respond(
        &self,
        request: &Request,
        deltas: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> Result<Response, ModelError>;
}

/// A request to a model.
#[derive(Debug, Default)]
pub struct Request<'r> {
    /// The system prompt.
    pub system: &'r str,
    /// The conversation, ending with a user message.
    pub messages: &'r [Message],
    /// The tools that it may call.
    pub tools: &'r [ToolSpec],
    /// The purpose of the response. Providers do not see it; a script has other responses for each purpose.
    pub purpose: Purpose<'r>,
    /// Maximum number of tokens of the response, if the caller limits it.
    pub max_tokens: Option<u64>,
}

/// The purpose of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose<'r> {
    /// The next turn of the conversation.
    #[default]
    Conversation,
    /// A turn of the side recipe with this name.
    Recipe(&'r str),
    /// The completion that a hook requested (S7).
    Completion,
}

impl Request<'_> {
    /// Returns the whole request as text, for expectations of scripts.
    pub fn text(&self) -> String {
        let mut text = self.system.to_owned();
        for message in self.messages {
            text.push_str(MESSAGE_BREAK);
            text.push_str(&message.content());
        }
        text
    }
}

/// The text between the messages of a request.
const MESSAGE_BREAK: &str = "\n\n";

/// Returns the size that messages add to the [text](Request::text) of a request, in bytes.
pub(crate) fn request_bytes(messages: &[Message]) -> u64 {
    let bytes = |message: &Message| MESSAGE_BREAK.len() + message.content().len();
    messages.iter().map(bytes).sum::<usize>() as u64
}

/// A tool as described to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The JSON Schema of its input.
    pub schema: Value,
}

/// A piece of a response, as it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'d> {
    /// Text.
    Text(&'d str),
    /// Reasoning.
    Reasoning(&'d str),
}

/// A complete response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Response {
    /// The text, reasoning and tool calls.
    pub blocks: Vec<ResponseBlock>,
    /// Token counts, if the provider gave any.
    pub usage: Option<TurnUsage>,
    /// Cost in US dollars, if the model's prices are known.
    pub cost_usd: Option<f64>,
    /// The reason why the model stopped.
    pub stop: StopCause,
    /// The response in the provider's own form; see [`Message::native`].
    pub native: Option<Value>,
}

/// The reason why a model stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StopCause {
    /// It finished, or calls tools.
    #[default]
    Done,
    /// It reached the limit of output tokens.
    Length,
    /// The provider filtered the response.
    Filtered,
    /// The end of a script.
    ScriptEnd,
}

impl Response {
    /// Returns its text.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            ResponseBlock::Content(Block::Text { text }) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the provider's counts, or an estimate for a request with a text of `request_bytes`, and whether they are estimated.
    pub fn usage_or_estimate(&self, request_bytes: u64) -> (TurnUsage, bool) {
        let estimate = || TurnUsage {
            input_tokens: tokens_of(request_bytes),
            output_tokens: self.blocks.iter().map(ResponseBlock::estimate).sum(),
            ..TurnUsage::default()
        };
        self.usage.map_or_else(|| (estimate(), true), |usage| (usage, false))
    }
}

/// A block of a response.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseBlock {
    /// A block that is added to the conversation unchanged.
    Content(Block),
    /// A tool call whose arguments are not a JSON object: neither hooks nor tools see it (R59).
    Malformed {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The problem with the arguments.
        error: String,
    },
}

impl ResponseBlock {
    fn estimate(&self) -> u64 {
        match self {
            Self::Content(block) => estimate_tokens(&block.content()),
            Self::Malformed { name, error, .. } => estimate_tokens(name) + estimate_tokens(error),
        }
    }
}

/// Maximum nesting of a tool call's arguments. They are stored, sent back and shown to hooks inside other JSON, and JSON
/// parsers limit the depth.
pub const MAX_ARGUMENT_DEPTH: usize = 64;

/// Checks that arguments are not nested too deeply.
///
/// # Errors
/// A message for the model.
pub fn check_depth(arguments: &Object) -> Result<(), String> {
    fn fits(value: &Value, room: usize) -> bool {
        match value {
            Value::Array(items) => room > 0 && items.iter().all(|item| fits(item, room - 1)),
            Value::Object(fields) => room > 0 && fields.values().all(|field| fits(field, room - 1)),
            _ => true,
        }
    }
    if arguments.values().all(|value| fits(value, MAX_ARGUMENT_DEPTH - 1)) {
        Ok(())
    } else {
        Err(format!("the arguments are nested deeper than {MAX_ARGUMENT_DEPTH} levels"))
    }
}

/// Parses a tool call's arguments.
///
/// # Errors
/// The problem, as a message for the model.
pub fn read_arguments(arguments: &str) -> Result<Object, String> {
    if arguments.trim().is_empty() {
        return Ok(Object::new());
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => check_depth(&object).map(|()| object),
        Ok(other) => Err(format!("the arguments must be a JSON object, not {other}")),
        Err(error) => Err(format!("the arguments are not valid JSON: {error}")),
    }
}

/// Estimates the tokens of a text, for providers that give no counts.
pub fn estimate_tokens(text: &str) -> u64 {
    tokens_of(text.len() as u64)
}

/// Estimates the tokens of a text of `bytes` bytes: about four bytes per token.
fn tokens_of(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

/// The cause of a transient failure: the same request may succeed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TransientCause {
    /// The provider is overloaded.
    #[error("the model is overloaded")]
    Overloaded,
    /// Too many requests.
    #[error("the model's rate limit was exceeded")]
    RateLimited,
    /// The stream ended before the response was complete.
    #[error("the model's response was cut off")]
    Cut,
    /// The provider could not be reached, or the connection broke.
    #[error("the model cannot be reached")]
    Connection,
    /// The provider failed.
    #[error("the model's server failed")]
    Server,
}

/// The reason why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// A transient failure.
    #[error("{cause}{}", with_colon(message))]
    Transient {
        /// The cause.
        cause: TransientCause,
        /// The provider's message; may be empty.
        message: String,
        /// The pause before a retry that the provider asked for.
        retry_after: Option<Duration>,
    },
    /// The conversation exceeds the model's context window.
    #[error("the conversation is longer than the model can hold{}", with_colon(message))]
    TooLong {
        /// The provider's message.
        message: String,
    },
    /// The provider rejected the request, and would reject it again.
    #[error("{message}")]
    Rejected {
        /// The reason.
        message: String,
        /// The help for the user.
        help: Option<String>,
    },
    /// The server has no model of this name.
    #[error("{message}")]
    UnknownModel {
        /// The reason.
        message: String,
        /// The help for the user.
        help: Option<String>,
    },
    /// A script's expectation about the request was not met.
    #[error("turn {turn} of the script {problem}\n--- the request ---\n{sent}")]
    Expectation {
        /// The turn's number, from 1.
        turn: usize,
        /// The expectation.
        problem: String,
        /// The request as text.
        sent: String,
    },
    /// The request was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// The model could not be set up.
    #[error("{0}")]
    Setup(String),
}

impl ModelError {
    /// Creates a transient error without a message.
    pub fn transient(cause: TransientCause) -> Self {
        Self::Transient { cause, message: String::new(), retry_after: None }
    }
}

fn with_colon(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
