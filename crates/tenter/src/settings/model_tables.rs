//! The tables of the configuration about models: `[providers.NAME]` and `[models."PROVIDER/NAME"]`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Deserialize;

/// Response settings of a model.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ResponseSettings {
    /// Maximum number of output tokens.
    pub(crate) max_tokens: Option<NonZeroU64>,
    /// Reasoning effort.
    pub(crate) effort: Option<Effort>,
}

impl ResponseSettings {
    /// These settings, with unset ones taken from `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            max_tokens: self.max_tokens.or(other.max_tokens),
            effort: self.effort.or(other.effort),
        }
    }
}

/// How much a model reasons before it responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub(crate) enum Effort {
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
    /// The API of its server.
    pub(crate) api: Option<Api>,
    /// The base URL of the server.
    pub(crate) base_url: Option<String>,
    /// The environment variable that contains the key.
    pub(crate) api_key_env: Option<String>,
    /// The command that prints the key.
    pub(crate) api_key_command: Option<KeyCommand>,
    /// The proxy for it; empty for none.
    pub(crate) proxy: Option<String>,
    /// The certificate authorities to trust: a PEM file, relative to the directory of `config.toml`.
    pub(crate) ca_file: Option<PathBuf>,
}

/// An API, by its name in the configuration.
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

/// A command that prints a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a shell command or a list of a program and its arguments")]
pub(crate) enum KeyCommand {
    /// A shell command.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

/// `[models."PROVIDER/NAME"]`: overrides what is known about a model.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ModelTable {
    /// Context window in tokens.
    pub(crate) context_window: Option<NonZeroU64>,
    /// Maximum number of output tokens.
    pub(crate) max_tokens: Option<NonZeroU64>,
    /// Reasoning effort.
    pub(crate) reasoning_effort: Option<Effort>,
    /// Price of a million input tokens, in US dollars.
    pub(crate) input_price: Option<Price>,
    /// Price of a million output tokens, in US dollars.
    pub(crate) output_price: Option<Price>,
    /// Price of a million input tokens read from the provider's cache, in US dollars.
    pub(crate) cache_read_price: Option<Price>,
    /// Price of a million input tokens written to the provider's cache, in US dollars.
    pub(crate) cache_write_price: Option<Price>,
    /// Whether it accepts images.
    pub(crate) images: Option<bool>,
}

impl ModelTable {
    /// Its response settings.
    pub(crate) fn answering(&self) -> ResponseSettings {
        ResponseSettings { max_tokens: self.max_tokens, effort: self.reasoning_effort }
    }

    /// Whether any price is set.
    pub(crate) fn has_prices(&self) -> bool {
        let prices =
            [self.input_price, self.output_price, self.cache_read_price, self.cache_write_price];
        prices.iter().any(Option::is_some)
    }
}

/// US dollars per million tokens: a number that is not negative.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct Price(f64);

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
