//! The settings of models: which one to use, how it responds, and its provider.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use clap::ValueEnum;
use tenter_http::ResponseLimits;
use tenter_terminal::{Env, Failure};

use super::file::FileSettings;
use super::model_tables::{Effort, ModelTable, ProviderTable, ResponseSettings};
use super::variable;

/// Default limit of silence in the middle of a response.
const IDLE_TIMEOUT_S: u64 = 300;

/// The resolved settings of models.
#[derive(Debug)]
pub struct ModelSettings {
    /// The model named by files and variables.
    pub model: Option<NamedModel>,
    /// The cheaper model for small tasks, named by files and variables.
    pub weak_model: Option<NamedModel>,
    /// All models that the user's file and variables name.
    pub named_by_user: Vec<String>,
    /// Response settings from variables and the project, which take precedence over the settings of a single model.
    pub overriding: ResponseSettings,
    /// The user's response settings for all models, which the settings of a single model override.
    pub default: ResponseSettings,
    /// The base URL from a variable, for whichever provider is used.
    pub base_url: Option<String>,
    /// Maximum silence in the middle of a response.
    pub idle_timeout: Duration,
    /// Limits of one response.
    pub limits: ResponseLimits,
    /// The settings of providers, by name.
    pub providers: BTreeMap<String, ProviderTable>,
    /// The settings of single models, by full name.
    pub models: BTreeMap<String, ModelTable>,
}

/// A model's name and where it comes from.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedModel {
    /// The name.
    pub name: String,
    /// True if only the project chose it.
    pub by_project: bool,
}

impl NamedModel {
    /// Returns the model name from the first of: a variable, the project's file, the user's file.
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
    /// Resolves the layers.
    pub(super) fn new(
        env: &Env,
        user: &mut FileSettings,
        project: &mut FileSettings,
    ) -> Result<Self, Failure> {
        let text = |name: &str| env.text(name).map(str::to_owned);
        let variable_settings = ResponseSettings {
            max_tokens: variable(env, "TENTER_MAX_TOKENS", "a whole number above zero")?,
            effort: effort(env)?,
        };
        let project_settings =
            ResponseSettings { max_tokens: project.max_tokens, effort: project.reasoning_effort };
        let idle_timeout = user.idle_timeout_s.map_or(IDLE_TIMEOUT_S, NonZeroU64::get);
        let variables = [text("TENTER_MODEL"), text("TENTER_WEAK_MODEL")];
        let user_models = [user.model.clone(), user.weak_model.clone()];
        let named_by_user = variables.iter().chain(&user_models).flatten().cloned().collect();
        let [model, weak_model] = variables;
        Ok(Self {
            model: NamedModel::first(model, project.model.take(), user.model.take()),
            weak_model: NamedModel::first(
                weak_model,
                project.weak_model.take(),
                user.weak_model.take(),
            ),
            named_by_user,
            overriding: variable_settings.or(project_settings),
            default: ResponseSettings {
                max_tokens: user.max_tokens,
                effort: user.reasoning_effort,
            },
            base_url: text("TENTER_BASE_URL"),
            idle_timeout: Duration::from_secs(idle_timeout),
            limits: limits(user),
            providers: std::mem::take(&mut user.providers),
            models: std::mem::take(&mut user.models),
        })
    }

    /// Returns the variables that the user named as containing keys: they are withheld from hooks (R40).
    pub fn key_variables(&self) -> impl Iterator<Item = &str> {
        self.providers.values().filter_map(|provider| provider.api_key_env.as_deref())
    }
}

fn limits(user: &FileSettings) -> ResponseLimits {
    let usual = ResponseLimits::default();
    let bytes = user.response_max_mib.map(|mib| mib.get().saturating_mul(1 << 20));
    let time = user.response_timeout_s.map(|seconds| Duration::from_secs(seconds.get()));
    ResponseLimits { bytes: bytes.unwrap_or(usual.bytes), time: time.unwrap_or(usual.time) }
}

fn effort(env: &Env) -> Result<Option<Effort>, Failure> {
    let name = "TENTER_REASONING_EFFORT";
    let Some(text) = env.text(name) else { return Ok(None) };
    Effort::from_str(text, false).map(Some).map_err(|_| {
        let names: Vec<String> = Effort::value_variants()
            .iter()
            .filter_map(|effort| Some(effort.to_possible_value()?.get_name().to_owned()))
            .collect();
        Failure::usage(format!("{name} is {text:?}; use one of {}", names.join(", ")))
    })
}
