//! What the agent asks of a model: one response to a conversation, streamed. Nothing else in this crate knows how a model
//! is reached.

pub mod scripted;

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use tenter_proc::Cancel;
use tenter_protocol::event::TurnUsage;
use tenter_protocol::{Block, Message, Object};
use thiserror::Error;

/// A model.
pub trait Model: Send + Sync {
    /// The name that `--model` gives it.
    fn name(&self) -> &str;

    /// How many tokens it can hold.
    fn context_window(&self) -> u64;

    /// One response to `request`. Text and reasoning go to `deltas` as they come; the response holds them whole.
    ///
    /// # Errors
    /// When there is no whole response; see [`ModelError`].
    fn respond(
        &self,
        request: &Request,
        deltas: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> Result<Response, ModelError>;
}

/// What a model is sent.
#[derive(Debug)]
pub struct Request<'r> {
    /// The system prompt.
    pub system: &'r str,
    /// The conversation, ending with a user message.
    pub messages: &'r [Message],
    /// The tools that it may call.
    pub tools: &'r [ToolSpec],
    /// The recipe beside a conversation that asks. No provider learns of it; a script has answers by it.
    pub recipe: Option<&'r str>,
}

impl Request<'_> {
    /// The whole request as text: what expectations look at, and what an estimate of its size is made from.
    pub fn text(&self) -> String {
        let mut text = self.system.to_owned();
        for message in self.messages {
            text.push_str("\n\n");
            text.push_str(&message.content());
        }
        text
    }
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its input.
    pub schema: Value,
}

/// A piece of a response, as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'d> {
    /// Text.
    Text(&'d str),
    /// Reasoning.
    Reasoning(&'d str),
}

/// One whole response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Response {
    /// What the model said and which tools it calls.
    pub blocks: Vec<ResponseBlock>,
    /// Token figures, where the provider gave any.
    pub usage: Option<TurnUsage>,
    /// What the response cost, in US dollars, where the model's prices are known.
    pub cost_usd: Option<f64>,
    /// Why the model stopped.
    pub stop: StopCause,
    /// The response as the provider wants it back; see [`Message::native`].
    pub native: Option<Value>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StopCause {
    /// It was done, or calls tools.
    #[default]
    Done,
    /// It came to the limit of what it may write at once.
    Length,
    /// The provider filtered what it said.
    Filtered,
    /// It has nothing more to say, and that is meant: its script is over.
    Over,
}

impl Response {
    /// The provider's figures, or an estimate of them; and whether it is one.
    pub fn usage_or_estimate(&self, request: &Request) -> (TurnUsage, bool) {
        let estimate = || TurnUsage {
            input_tokens: estimate_tokens(&request.text()),
            output_tokens: self.blocks.iter().map(ResponseBlock::estimate).sum(),
            ..TurnUsage::default()
        };
        self.usage.map_or_else(|| (estimate(), true), |usage| (usage, false))
    }
}

/// A piece of a whole response.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseBlock {
    /// Something that goes into the conversation as it is.
    Said(Block),
    /// A tool call whose arguments are no JSON object: neither hooks nor tools see it (R59).
    Malformed {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// What is wrong with the arguments.
        error: String,
    },
}

impl ResponseBlock {
    fn estimate(&self) -> u64 {
        match self {
            Self::Said(block) => estimate_tokens(&block.content()),
            Self::Malformed { name, error, .. } => estimate_tokens(name) + estimate_tokens(error),
        }
    }
}

/// Maximum nesting of a tool call's arguments: they are stored, sent back and shown to hooks inside of other JSON, which no
/// reader follows without end.
pub const MAX_ARGUMENT_DEPTH: usize = 64;

/// Checks that arguments do not nest too deeply.
///
/// # Errors
/// That they do, in words for the model.
pub fn check_depth(arguments: &Object) -> Result<(), String> {
    fn fits(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(items) => left > 0 && items.iter().all(|item| fits(item, left - 1)),
            Value::Object(fields) => left > 0 && fields.values().all(|field| fits(field, left - 1)),
            _ => true,
        }
    }
    if arguments.values().all(|value| fits(value, MAX_ARGUMENT_DEPTH - 1)) {
        Ok(())
    } else {
        Err(format!("the arguments nest deeper than {MAX_ARGUMENT_DEPTH} levels"))
    }
}

/// Reads a tool call's arguments as the model wrote them.
///
/// # Errors
/// What is wrong with them, in words for the model.
pub fn read_arguments(arguments: &str) -> Result<Object, String> {
    if arguments.trim().is_empty() {
        return Ok(Object::new());
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => check_depth(&object).map(|()| object),
        Ok(other) => Err(format!("the arguments must be a JSON object, but they are {other}")),
        Err(error) => Err(format!("the arguments are not valid JSON: {error}")),
    }
}

/// About four bytes to a token: what is assumed where a provider gives no figures.
pub fn estimate_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// What passes: the same request may get a response later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The provider has too much to do.
    Overloaded,
    /// Too many requests.
    RateLimited,
    /// The stream ended before the response was whole.
    Cut,
    /// The provider could not be reached, or the connection broke.
    Connection,
    /// The provider failed.
    Server,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overloaded => "the model is overloaded",
            Self::RateLimited => "the model's rate limit is hit",
            Self::Cut => "the model's response was cut off in the middle",
            Self::Connection => "the model cannot be reached",
            Self::Server => "the model's server failed",
        })
    }
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// Something that passes.
    #[error("{trouble}{}", said(message))]
    Passing {
        /// What.
        trouble: Trouble,
        /// What the provider says of it; empty where it says nothing.
        message: String,
        /// How long the provider wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The conversation is longer than the model can hold.
    #[error("the conversation is longer than the model can hold{}", said(message))]
    TooLong {
        /// What the provider says of it.
        message: String,
    },
    /// The provider refuses the request; the same request would be refused again.
    #[error("{message}")]
    Refused {
        /// Why.
        message: String,
        /// What the person can do about it.
        help: Option<String>,
    },
    /// A script expected something else of the request.
    #[error("turn {turn} of the script {problem}\n--- what the model was sent ---\n{sent}")]
    Expectation {
        /// The turn's number, from 1.
        turn: usize,
        /// What was expected.
        problem: String,
        /// The request as text.
        sent: String,
    },
    /// The work was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// The model could not be set up.
    #[error("{0}")]
    Setup(String),
}

impl ModelError {
    /// An error of which nothing but its kind is known.
    pub fn passing(trouble: Trouble) -> Self {
        Self::Passing { trouble, message: String::new(), retry_after: None }
    }
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
