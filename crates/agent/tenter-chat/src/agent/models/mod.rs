//! Selects a model by its name and sets it up.
//!
//! `provider` resolves the provider, `key` its key, `proxy` the proxy, `authorities` the trusted certificates, and
//! `facts` what is known about the model. Commands that need no model use none of this, nor do scripted models. Nothing
//! is sent to the server, except if the context window is unknown: the server may report it. Whether the server has the
//! model at all turns out with the first request.

pub(crate) mod consent;
mod facts;
mod key;
mod provider;
mod unknown_model;

use std::borrow::Cow;
use std::sync::Arc;

use tenter_agent::Model;
use tenter_agent::model::scripted::ScriptedModel;
use tenter_base::sanitize;
use tenter_commands::authorities::{self, ProviderFile, TrustedAuthorities};
use tenter_commands::project::Project;
use tenter_commands::proxy;
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;
use tenter_providers::{Endpoint, ModelChoice, ModelFacts};
use tenter_settings::model_tables::{self, ModelTable};
use tenter_settings::{ModelName, NamedModel};
use tenter_terminal::{Failure, ui};

use self::unknown_model::UnknownModel;
use super::AgentArgs;
use facts::known_window;

pub(crate) use facts::{facts, strays};
pub(crate) use key::variable_that_is_set;
pub(crate) use provider::Provider;

/// A model, with diagnostics about the choice.
pub(crate) struct ConnectedModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Diagnostics found on the way.
    pub findings: Vec<Diagnostic>,
}

/// Returns the model named by the first of: flags, the stored conversation, variables, files; otherwise the default model of the
/// first provider provider_of key is set. `cancel` terminates a command that prints a key.
pub(crate) fn choose(
    project: &Project,
    args: &AgentArgs,
    conversation_model: Option<&str>,
    cancel: &Cancel,
) -> Result<ConnectedModel, Failure> {
    let ChosenName { name, by_project } = named(project, args, conversation_model)?;
    let connect = |provider: &Provider, model: &str| {
        let switch = by_project.then(|| consent::check(project, args, (provider, model)));
        let switch = switch.transpose()?;
        let mut connection = connect(project, args, provider, model, cancel)?;
        connection.findings.extend(switch);
        Ok(connection)
    };
    match ModelName::parse(&name) {
        Some(ModelName::Scripted(file)) => {
            let model =
                ScriptedModel::load(&project.env.cwd.join(file)).map_err(Failure::caused_by)?;
            Ok(ConnectedModel { model: Arc::new(model), findings: Vec::new() })
        }
        Some(ModelName::Of { provider, model }) => {
            connect(&Provider::find(project, provider)?, model)
        }
        Some(ModelName::Bare(model)) => connect(&provider_of(project, model)?, model),
        None => Err(Failure::usage(format!("{name:?} is not a valid model name"))
            .help("a name is PROVIDER/NAME, as `tenter models` lists them, or scripted:FILE")),
    }
}

/// A model's name, and whether the project chose it.
struct ChosenName<'n> {
    name: Cow<'n, str>,
    by_project: bool,
}

impl<'n> ChosenName<'n> {
    fn by_user(name: &'n str) -> Self {
        Self { name: Cow::Borrowed(name), by_project: false }
    }

    fn from_settings(model: &'n NamedModel) -> Self {
        Self { name: Cow::Borrowed(&model.name), by_project: model.by_project }
    }
}

fn named<'n>(
    project: &'n Project,
    args: &'n AgentArgs,
    conversation_model: Option<&'n str>,
) -> Result<ChosenName<'n>, Failure> {
    let settings = &project.settings.models;
    if args.use_weak_model {
        let flag = args.weak_model.as_deref().map(ChosenName::by_user);
        let weak = flag.or(settings.weak_model.as_ref().map(ChosenName::from_settings));
        return weak.ok_or_else(|| {
            Failure::usage("no model for small tasks is configured").help(
                "use --weak-model PROVIDER/NAME, set TENTER_WEAK_MODEL, or write `weak_model = …` into config.toml",
            )
        });
    }
    let by_user = args.model.as_deref().or(conversation_model).map(ChosenName::by_user);
    match by_user.or(settings.model.as_ref().map(ChosenName::from_settings)) {
        Some(choice) => Ok(choice),
        None => Ok(ChosenName { name: Cow::Owned(default_model(project)?), by_project: false }),
    }
}

/// Returns the default model of the first provider whose key is set. It costs money, so it is reported.
fn default_model(project: &Project) -> Result<String, Failure> {
    let providers = Provider::all(project)?;
    let provider = providers.iter().find_map(|provider| {
        let model = provider.default_model?;
        let key = variable_that_is_set(provider, project.env)
            .or(provider.key_command.map(|_| "api_key_command"))?;
        Some((format!("{}/{model}", provider.name), key))
    });
    let Some((name, key)) = provider else {
        let keys: Vec<&str> = providers
            .iter()
            .filter(|provider| provider.default_model.is_some())
            .filter_map(|provider| provider.key_variables.first().copied())
            .collect();
        return Err(Failure::usage("no model was chosen, and no key is set").help(format!(
            "set {}; or choose a model with --model, TENTER_MODEL, or `model = …` in config.toml: PROVIDER/NAME, or scripted:FILE",
            tenter_base::or_list(&keys)
        )));
    };
    ui::note(format!(
        "The model is {name}, because {key} is set; --model, TENTER_MODEL or config.toml names another.",
        key = sanitize(key)
    ));
    Ok(name)
}

/// Returns the only provider that has a model of this name.
fn provider_of<'p>(project: &'p Project, model: &str) -> Result<Provider<'p>, Failure> {
    let providers = Provider::all(project)?;
    if let Some(provider) = providers.iter().find(|provider| provider.name == model) {
        let example = provider.default_model.unwrap_or("NAME");
        return Err(Failure::usage(format!("{model} is a provider, not a model")).help(format!(
            "name one of its models: {model}/{example}; `tenter models {model}` lists them"
        )));
    }
    let (mut knowing, others): (Vec<_>, Vec<_>) =
        providers.into_iter().partition(|provider| has_model(project, provider, model));
    match (knowing.pop(), knowing.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            let all = knowing.iter().chain([&last]);
            let names: Vec<String> =
                all.map(|provider| format!("{}/{model}", provider.name)).collect();
            Err(Failure::usage(format!("more than one provider has a model {model:?}"))
                .help(format!("write one of: {}", names.join(", "))))
        }
        (None, _) => Err(no_provider(project, &others, model)),
    }
}

fn has_model(project: &Project, provider: &Provider, model: &str) -> bool {
    tenter_providers::facts(provider.name, model).is_some()
        || provider.models(project).contains(&model)
}

fn no_provider(project: &Project, providers: &[Provider], model: &str) -> Failure {
    let models: Vec<(&str, &str)> = providers
        .iter()
        .flat_map(|provider| provider.models(project).into_iter().map(|name| (provider.name, name)))
        .collect();
    let names: Vec<&str> = models.iter().map(|(_, name)| *name).collect();
    let near: Vec<String> = facts::near(model, &names)
        .into_iter()
        .filter_map(|near| models.iter().find(|(_, name)| *name == near))
        .map(|(provider, name)| format!("{provider}/{name}"))
        .collect();
    let suggestion =
        facts::suggestion(&near).map(|suggestion| format!("{suggestion} ")).unwrap_or_default();
    Failure::usage(format!("no known provider has a model {model:?}")).help(format!(
        "{suggestion}a name is PROVIDER/NAME, as `tenter models` lists them; for a server of your own, write local/{model}"
    ))
}

/// Returns the model of `provider`, with the settings of flags and configuration.
fn connect(
    project: &Project,
    args: &AgentArgs,
    provider: &Provider,
    model: &str,
    cancel: &Cancel,
) -> Result<ConnectedModel, Failure> {
    let name = format!("{}/{model}", provider.name);
    let settings = &project.settings.models;
    let table = settings.models.get(&name);
    let model_settings = table.map(ModelTable::answering).unwrap_or_default();
    let answering =
        args.answering().or(settings.overriding).or(model_settings).or(settings.default);
    let endpoint = endpoint(project, args, provider, cancel)?;
    let address = endpoint.base_url.as_deref().unwrap_or_default();
    let facts = facts(provider, address, model, table)?;
    let window = known_window(provider, model, table)
        .or_else(|| tenter_providers::context_window(&endpoint, model, cancel));
    let choice = ModelChoice {
        name: name.clone(),
        model: model.to_owned(),
        max_tokens: answering.max_tokens.map(u64::from),
        effort: answering.effort.map(effort),
        facts: ModelFacts { context_window: window.unwrap_or(facts.context_window), ..facts },
    };
    let connected =
        tenter_providers::connect(endpoint.clone(), choice).map_err(Failure::caused_by)?;
    let mut findings = facts::strays(project);
    if window.is_some() {
        return Ok(ConnectedModel { model: Arc::from(connected), findings });
    }
    let near = facts::near(model, &provider.models(project));
    let near: Vec<String> =
        near.into_iter().map(|near| format!("{}/{near}", provider.name)).collect();
    findings.push(facts::unknown(project, &name, &near));
    Ok(ConnectedModel { model: Arc::new(UnknownModel::new(connected, endpoint, near)), findings })
}

fn endpoint(
    project: &Project,
    args: &AgentArgs,
    provider: &Provider,
    cancel: &Cancel,
) -> Result<Endpoint, Failure> {
    let settings = &project.settings.models;
    let demanded = args.base_url.as_deref().or(settings.base_url.as_deref());
    let address = demanded.unwrap_or(&provider.address).trim_end_matches('/');
    provider::check_address(address)
        .map_err(|problem| Failure::usage(format!("--base-url or TENTER_BASE_URL: {problem}")))?;
    let proxy = proxy::find(address, provider.proxy, project.env);
    let file = ProviderFile { name: provider.name, ca_file: provider.ca_file };
    let TrustedAuthorities { authorities, help: trust_help } =
        authorities::trust(file, address, proxy.as_deref(), project.env)?;
    Ok(Endpoint {
        provider: provider.name.to_owned(),
        api: provider.api,
        base_url: Some(address.to_owned()),
        key: key::key(&project.keys, provider, project.env, cancel)?,
        key_help: key::help(provider, project.env),
        proxy,
        authorities,
        trust_help,
        idle_timeout: settings.idle_timeout,
        limits: settings.limits,
    })
}

/// Returns the effort that the configuration means.
fn effort(effort: model_tables::Effort) -> tenter_providers::Effort {
    match effort {
        model_tables::Effort::Off => tenter_providers::Effort::Off,
        model_tables::Effort::Minimal => tenter_providers::Effort::Minimal,
        model_tables::Effort::Low => tenter_providers::Effort::Low,
        model_tables::Effort::Medium => tenter_providers::Effort::Medium,
        model_tables::Effort::High => tenter_providers::Effort::High,
        model_tables::Effort::XHigh => tenter_providers::Effort::ExtraHigh,
        model_tables::Effort::Max => tenter_providers::Effort::Max,
    }
}
