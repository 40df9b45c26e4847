//! The tables of the configuration about models: `[providers.NAME]` and `[models."PROVIDER/NAME"]`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Deserialize;

/// How a model is to answer.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Answering {
    /// Tokens of a response at most.
    pub(crate) max_tokens: Option<NonZeroU64>,
    /// How hard it thinks.
    pub(crate) effort: Option<Effort>,
}

impl Answering {
    /// This, and where it says nothing, `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            max_tokens: self.max_tokens.or(other.max_tokens),
            effort: self.effort.or(other.effort),
        }
    }
}

/// How hard a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub(crate) enum Effort {
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
    XHigh,
    /// The most that it can.
    Max,
}

impl From<Effort> for tenter_providers::Effort {
    fn from(effort: Effort) -> Self {
        match effort {
            Effort::Off => Self::Off,
            Effort::Minimal => Self::Minimal,
            Effort::Low => Self::Low,
            Effort::Medium => Self::Medium,
            Effort::High => Self::High,
            Effort::XHigh => Self::ExtraHigh,
            Effort::Max => Self::Max,
        }
    }
}

/// `[providers.NAME]`.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProviderTable {
    /// The format that its server speaks.
    pub(crate) api: Option<Api>,
    /// The server's address.
    pub(crate) base_url: Option<String>,
    /// The variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    /// What prints the key.
    pub(crate) api_key_command: Option<KeyCommand>,
    /// The proxy before it; an empty one is none.
    pub(crate) proxy: Option<String>,
    /// The authorities that may sign its certificate: a PEM file, from the folder of `config.toml`.
    pub(crate) ca_file: Option<PathBuf>,
}

/// A format by the name that it has in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Api {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    Chat,
    /// Google's Gemini.
    Gemini,
}

impl From<Api> for tenter_providers::Api {
    fn from(api: Api) -> Self {
        match api {
            Api::Messages => Self::Messages,
            Api::Responses => Self::Responses,
            Api::Chat => Self::Chat,
            Api::Gemini => Self::Gemini,
        }
    }
}

/// A program that prints a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a line for the shell or a list of a program and its arguments"
)]
pub(crate) enum KeyCommand {
    /// A line for the shell.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

/// `[models."PROVIDER/NAME"]`: what is said here counts instead of what is known.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ModelTable {
    /// Tokens that it holds.
    pub(crate) context_window: Option<NonZeroU64>,
    /// Tokens of a response at most.
    pub(crate) max_tokens: Option<NonZeroU64>,
    /// How hard it thinks.
    pub(crate) reasoning_effort: Option<Effort>,
    /// US dollars for a million tokens of input.
    pub(crate) input_price: Option<Price>,
    /// The same of output.
    pub(crate) output_price: Option<Price>,
    /// The same of input from the provider's cache.
    pub(crate) cache_read_price: Option<Price>,
    /// The same of input into the provider's cache.
    pub(crate) cache_write_price: Option<Price>,
    /// Whether it reads pictures.
    pub(crate) images: Option<bool>,
}

impl ModelTable {
    /// How it is to answer.
    pub(crate) fn answering(&self) -> Answering {
        Answering { max_tokens: self.max_tokens, effort: self.reasoning_effort }
    }

    /// Whether it says of anything what it costs.
    pub(crate) fn tells_prices(&self) -> bool {
        let prices =
            [self.input_price, self.output_price, self.cache_read_price, self.cache_write_price];
        prices.iter().any(Option::is_some)
    }
}

/// US dollars for a million tokens: a number that is not below zero.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct Price(f64);

impl TryFrom<f64> for Price {
    type Error = &'static str;

    fn try_from(dollars: f64) -> Result<Self, Self::Error> {
        if dollars.is_finite() && dollars >= 0.0 {
            Ok(Self(dollars))
        } else {
            Err("a price must be a number that is not below zero")
        }
    }
}

impl From<Price> for f64 {
    fn from(price: Price) -> Self {
        price.0
    }
}
