//! Models behind a network: Anthropic, OpenAI, Google, and every server that speaks one of their formats.
//!
//! A [`Model`](tenter_agent::Model) comes out of [`connect`]; nobody else learns how it is reached. `library` is the only
//! file that names the model library, `http` is the transport under it: blocking, cancellable, with a limit on silence.
//! This crate reads no environment and no file: keys, addresses, proxies and certificates come in as values. It retries nothing: what
//! passes is an error that says so, and the session decides.

mod arguments;
mod authorities;
mod events;
mod http;
mod library;
mod refusal;
mod window;

use std::fmt;
use std::time::Duration;

pub use authorities::Authorities;
pub use library::{connect, facts, known_models};
pub use window::{context_window, served_models};

/// The format that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions: what nearly every other server speaks.
    Chat,
    /// Google's Gemini.
    Gemini,
}

/// A secret that opens a server. It never shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key. White space around it is nobody's intention.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The secret itself: for the request and for redaction, for nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Where a model is, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The provider's name, as it stands before the slash of a model's name: `anthropic`, `openai`, `google`, `local`, or
    /// one from the configuration.
    pub provider: String,
    /// The format.
    pub api: Api,
    /// The server's address; `None` is the format's own.
    pub base_url: Option<String>,
    /// What opens it; a server on the own machine often needs none.
    pub key: Option<Key>,
    /// How a person can give the key, for the error that says that it is missing or wrong.
    pub key_help: String,
    /// The proxy, where one is to be used.
    pub proxy: Option<String>,
    /// Who may sign the server's certificate; `None` are those that Mozilla trusts.
    pub authorities: Option<Authorities>,
    /// How a person can have another authority trusted, for the error that says that none of them signed.
    pub trust_help: String,
    /// How long a server may be silent in the middle of a response.
    pub idle_timeout: Duration,
    /// What one response may take.
    pub limits: ResponseLimits,
}

/// What one response may take, comments and pauses included. More is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseLimits {
    /// Maximum number of bytes.
    pub bytes: u64,
    /// Maximum time from the request to the last byte.
    pub time: Duration,
}

impl Default for ResponseLimits {
    fn default() -> Self {
        Self { bytes: 64 << 20, time: Duration::from_hours(1) }
    }
}

/// Which model, and how it is to answer.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The whole name, as `--model` gives it: `anthropic/claude-sonnet-5`.
    pub name: String,
    /// The name that the server knows it by.
    pub model: String,
    /// Tokens of a response at most; `None` leaves it to the provider.
    pub max_tokens: Option<u64>,
    /// How hard it thinks; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// What is known of it.
    pub facts: Facts,
}

/// How hard a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Not at all.
    Off,
    /// The least that it can.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// More.
    ExtraHigh,
    /// The most that it can.
    Max,
}

/// What is known of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// Tokens that it holds.
    pub context_window: u64,
    /// What it costs, where that is known.
    pub prices: Option<Prices>,
    /// Whether it reads pictures; unknown is no reason to keep one from it.
    pub images: Option<bool>,
}

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// Input that is in no cache.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input from the provider's cache; unknown counts as input.
    pub cache_read: Option<f64>,
    /// Input into the provider's cache; unknown counts as input.
    pub cache_write: Option<f64>,
}
