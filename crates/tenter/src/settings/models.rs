//! What the configuration says of models: which one, how it answers, who provides it and what opens it.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use clap::ValueEnum;
use tenter_providers::ResponseLimits;

use super::file::Layer;
use super::model_tables::{Answering, Effort, ModelTable, ProviderTable};
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
