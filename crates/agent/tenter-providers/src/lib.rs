//! Models over a network: Anthropic, OpenAI, Google, and every server that speaks one of their formats.
//!
//! [`connect`] returns a [`Model`](tenter_agent::Model). `library` is the only file that uses the model library; `tenter-http` is
//! the transport under it: blocking, cancellable, with an idle timeout.
//!
//! The crate reads no environment and no files: keys, addresses, proxies and certificates are passed in. It does not retry:
//! temporary errors are marked as such, and the session decides.
//!
//! ```
//! use std::time::Duration;
//!
//! use tenter_http::ResponseLimits;
//! use tenter_providers::{Api, Endpoint, ModelChoice, ModelFacts, connect};
//!
//! let endpoint = Endpoint {
//!     provider: "local".to_owned(),
//!     api: Api::Chat,
//!     base_url: Some("http://localhost:8080/v1".to_owned()),
//!     key: None,
//!     key_help: String::new(),
//!     proxy: None,
//!     authorities: None,
//!     trust_help: String::new(),
//!     idle_timeout: Duration::from_secs(300),
//!     limits: ResponseLimits::default(),
//! };
//! let choice = ModelChoice {
//!     name: "local/qwen3".to_owned(),
//!     model: "qwen3".to_owned(),
//!     max_tokens: Some(4000),
//!     effort: None,
//!     facts: ModelFacts { context_window: 32_000, prices: None, images: None },
//! };
//! let model = connect(endpoint, choice)?;
//! assert_eq!(model.name(), "local/qwen3");
//! # Ok::<(), tenter_agent::ModelError>(())
//! ```

mod arguments;
mod error_response;
mod events;
mod library;
mod window;

use std::time::Duration;

use tenter_http::{Authorities, Http, Key, ResponseLimits, TransportError};

pub use library::{connect, facts, known_models};
pub use window::{context_window, served_models};

/// The API of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions, which most other servers implement.
    Chat,
    /// Google's Gemini.
    Gemini,
}

/// The connection to a model.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The name of the provider, as before the slash of a model name: `anthropic`, `openai`, `google`, `local`, or one from the
    /// configuration.
    pub provider: String,
    /// The API of the server.
    pub api: Api,
    /// The address of the server; `None` is the provider's default.
    pub base_url: Option<String>,
    /// The key. Local servers often need none.
    pub key: Option<Key>,
    /// The help for the error that the key is missing or wrong.
    pub key_help: String,
    /// The address of the proxy, if any.
    pub proxy: Option<String>,
    /// The trusted certificate authorities; `None` means Mozilla's list.
    pub authorities: Option<Authorities>,
    /// The help for the error that the certificate is not trusted.
    pub trust_help: String,
    /// Maximum time without a byte from the server.
    pub idle_timeout: Duration,
    /// Limits of one response.
    pub limits: ResponseLimits,
}

impl Endpoint {
    /// Returns the transport for the server.
    ///
    /// # Errors
    /// The address of the proxy is invalid.
    fn transport(&self) -> Result<Http, TransportError> {
        let Self { proxy, authorities, idle_timeout, limits, .. } = self;
        Http::new(proxy.as_deref(), authorities.clone(), *idle_timeout, *limits)
    }
}

/// The model and its settings.
#[derive(Debug, Clone)]
pub struct ModelChoice {
    /// The full name, as passed to `--model`: `anthropic/claude-sonnet-5`.
    pub name: String,
    /// The name on the server.
    pub model: String,
    /// Maximum number of tokens of a response; `None` is the provider's default.
    pub max_tokens: Option<u64>,
    /// The reasoning effort; `None` is the provider's default.
    pub effort: Option<Effort>,
    /// The properties of the model.
    pub facts: ModelFacts,
}

/// The reasoning effort of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// No reasoning.
    Off,
    /// The least effort the model supports.
    Minimal,
    /// Low effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
    /// Very high effort.
    ExtraHigh,
    /// The most effort the model supports.
    Max,
}

/// The properties of a model, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelFacts {
    /// Size of the context window in tokens.
    pub context_window: u64,
    /// The prices, if known.
    pub prices: Option<Prices>,
    /// The model accepts images. If unknown, images are sent.
    pub images: Option<bool>,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// Uncached input.
    pub input: f64,
    /// Output, including reasoning.
    pub output: f64,
    /// Input read from the provider's cache; if unknown, the price of uncached input applies.
    pub cache_read: Option<f64>,
    /// Input written to the provider's cache; if unknown, the price of uncached input applies.
    pub cache_write: Option<f64>,
}
