//! The tables of the configuration about models: `[providers.NAME]` and `[models."PROVIDER/NAME"]`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Deserialize;

/// Response settings of a model.
#[derive(Debug, Default, Clone, Copy)]
pub struct ResponseSettings {
    /// Maximum number of output tokens.
    pub max_tokens: Option<NonZeroU64>,
    /// Reasoning effort.
    pub effort: Option<Effort>,
}

impl ResponseSettings {
    /// Returns these settings, with unset ones taken from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            max_tokens: self.max_tokens.or(other.max_tokens),
            effort: self.effort.or(other.effort),
        }
    }
}

/// The effort of a model's reasoning before it responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub enum Effort {
    /// No reasoning.
    Off,
    /// The minimum.
    Minimal,
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
    /// Very high.
    XHigh,
    /// The maximum.
    Max,
}

/// `[providers.NAME]`.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderTable {
    /// The API of its server.
    pub api: Option<Api>,
    /// The base URL of the server.
    pub base_url: Option<String>,
    /// The environment variable that contains the key.
    pub api_key_env: Option<String>,
    /// The command that prints the key.
    pub api_key_command: Option<KeyCommand>,
    /// The proxy for it; empty for none.
    pub proxy: Option<String>,
    /// The certificate authorities to trust: a PEM file, relative to the directory of `config.toml`.
    pub ca_file: Option<PathBuf>,
}

/// An API, by its name in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    Chat,
    /// Google's Gemini.
    Gemini,
}

/// A command that prints a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a shell command or a list of a program and its arguments")]
pub enum KeyCommand {
    /// A shell command.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

/// `[models."PROVIDER/NAME"]`: overrides what is known about a model.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelTable {
    /// Context window in tokens.
    pub context_window: Option<NonZeroU64>,
    /// Maximum number of output tokens.
    pub max_tokens: Option<NonZeroU64>,
    /// Reasoning effort.
    pub reasoning_effort: Option<Effort>,
    /// Price of a million input tokens, in US dollars.
    pub input_price: Option<Price>,
    /// Price of a million output tokens, in US dollars.
    pub output_price: Option<Price>,
    /// Price of a million input tokens read from the provider's cache, in US dollars.
    pub cache_read_price: Option<Price>,
    /// Price of a million input tokens written to the provider's cache, in US dollars.
    pub cache_write_price: Option<Price>,
    /// True if it accepts images.
    pub images: Option<bool>,
}

impl ModelTable {
    /// Returns its response settings.
    pub fn answering(&self) -> ResponseSettings {
        ResponseSettings { max_tokens: self.max_tokens, effort: self.reasoning_effort }
    }

    /// Checks whether any price is set.
    pub fn has_prices(&self) -> bool {
        let prices =
            [self.input_price, self.output_price, self.cache_read_price, self.cache_write_price];
        prices.iter().any(Option::is_some)
    }
}

/// US dollars per million tokens: a number that is not negative.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Price(f64);

impl TryFrom<f64> for Price {
    type Error = &'static str;

    fn try_from(dollars: f64) -> Result<Self, Self::Error> {
        if dollars.is_finite() && dollars >= 0.0 {
            Ok(Self(dollars))
        } else {
            Err("a price must be a number that is not negative")
        }
    }
}

impl From<Price> for f64 {
    fn from(price: Price) -> Self {
        price.0
    }
}
