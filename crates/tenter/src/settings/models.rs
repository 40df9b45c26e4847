//! What the configuration says of models: which one, how it answers, who provides it and what opens it.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use serde::Deserialize;
use tenter_providers::ResponseLimits;

use super::file::Layer;
use super::variable;
use crate::env::Env;
use crate::failure::Failure;

/// How long a server may be silent in the middle of a response by default.
const IDLE_TIMEOUT_S: u64 = 300;

/// What the configuration comes to, of models.
#[derive(Debug)]
pub(crate) struct ModelSettings {
    /// The model that files and variables name.
    pub(crate) model: Option<NamedModel>,
    /// The cheaper model for small tasks that they name.
    pub(crate) weak_model: Option<NamedModel>,
    /// Every model that the user's file and variables name.
    pub(crate) named_by_user: Vec<String>,
    /// How models answer: what a variable or the project says, which outranks what is said of one model.
    pub(crate) demanded: Answering,
    /// How models answer: what the person says of all, which what is said of one model outranks.
    pub(crate) usual: Answering,
    /// The address that a variable gives to whichever provider is chosen.
    pub(crate) base_url: Option<String>,
    /// How long a server may be silent in the middle of a response.
    pub(crate) idle_timeout: Duration,
    /// What one response may take.
    pub(crate) limits: ResponseLimits,
    /// What is said of providers, by name.
    pub(crate) providers: BTreeMap<String, ProviderTable>,
    /// What is said of single models, by whole name.
    pub(crate) models: BTreeMap<String, ModelTable>,
}

/// A model's name and who gave it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedModel {
    /// The name.
    pub(crate) name: String,
    /// Whether it is the project's choice, and not the user's as well.
    pub(crate) by_project: bool,
}

impl NamedModel {
    /// The first of a variable, the project's file and the user's file that names a model.
    fn first(
        variable: Option<String>,
        project: Option<String>,
        user: Option<String>,
    ) -> Option<Self> {
        let by_project = variable.is_none() && project.is_some() && project != user;
        variable.or(project).or(user).map(|name| Self { name, by_project })
    }
}

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

impl ModelSettings {
    /// What the layers come to.
    pub(super) fn new(env: &Env, user: &mut Layer, project: &mut Layer) -> Result<Self, Failure> {
        let text = |name: &str| env.text(name).map(str::to_owned);
        let of_variables = Answering {
            max_tokens: variable(env, "TENTER_MAX_TOKENS", "a whole number above zero")?,
            effort: effort(env)?,
        };
        let of_project =
            Answering { max_tokens: project.max_tokens, effort: project.reasoning_effort };
        let idle_timeout = user.idle_timeout_s.map_or(IDLE_TIMEOUT_S, NonZeroU64::get);
        let variables = [text("TENTER_MODEL"), text("TENTER_WEAK_MODEL")];
        let of_user = [user.model.clone(), user.weak_model.clone()];
        let named_by_user = variables.iter().chain(&of_user).flatten().cloned().collect();
        let [model, weak_model] = variables;
        Ok(Self {
            model: NamedModel::first(model, project.model.take(), user.model.take()),
            weak_model: NamedModel::first(
                weak_model,
                project.weak_model.take(),
                user.weak_model.take(),
            ),
            named_by_user,
            demanded: of_variables.or(of_project),
            usual: Answering { max_tokens: user.max_tokens, effort: user.reasoning_effort },
            base_url: text("TENTER_BASE_URL"),
            idle_timeout: Duration::from_secs(idle_timeout),
            limits: limits(user),
            providers: std::mem::take(&mut user.providers),
            models: std::mem::take(&mut user.models),
        })
    }

    /// The variables that the person named as holding keys: no hook may find them (R40).
    pub(crate) fn key_variables(&self) -> impl Iterator<Item = &str> {
        self.providers.values().filter_map(|provider| provider.api_key_env.as_deref())
    }
}

fn limits(user: &Layer) -> ResponseLimits {
    let usual = ResponseLimits::default();
    let bytes = user.response_max_mib.map(|mib| mib.get().saturating_mul(1 << 20));
    let time = user.response_timeout_s.map(|seconds| Duration::from_secs(seconds.get()));
    ResponseLimits { bytes: bytes.unwrap_or(usual.bytes), time: time.unwrap_or(usual.time) }
}

fn effort(env: &Env) -> Result<Option<Effort>, Failure> {
    let name = "TENTER_REASONING_EFFORT";
    let Some(text) = env.text(name) else { return Ok(None) };
    Effort::from_str(text, false).map(Some).map_err(|_| {
        let known: Vec<String> = Effort::value_variants()
            .iter()
            .filter_map(|effort| Some(effort.to_possible_value()?.get_name().to_owned()))
            .collect();
        Failure::usage(format!("{name} is {text:?}; known are {}", known.join(", ")))
    })
}
