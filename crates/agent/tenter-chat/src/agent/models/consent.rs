//! Consent to a model that the project's file names (R77). A model decides which tools run, so a project may choose only
//! among the providers that the user has set up. One that needs no key, or whose key comes from a command, needs the
//! user's consent, which is remembered with the project in the trust store.

use tenter_base::{sanitize, visible};
use tenter_commands::project::Project;
use tenter_commands::trust::{TrustRecord, record_in};
use tenter_commands::user_only;
use tenter_engine::trust::TrustedKind;
use tenter_engine::{Fingerprint, TrustMode};
use tenter_protocol::{Diagnostic, Severity};
use tenter_settings::ModelName;
use tenter_terminal::question::{confirm, read_at_terminal};
use tenter_terminal::{Env, Exit, Failure, NAME, NOTICE, styled, ui};

use super::provider::Provider;
use super::{has_model, provider_of, variable_that_is_set};
use crate::agent::AgentArgs;

/// A model chosen by the project that needs the user's consent.
pub(crate) struct ProjectModel {
    /// Its full name.
    name: String,
    /// The URL that the conversation is sent to.
    address: String,
    /// The reason why consent is needed, as a sentence.
    why: String,
}

/// Checks that the project may use this model, and reports that it was chosen by the project.
///
/// # Errors
/// When the user must consent first and does not, or cannot be asked.
pub(super) fn check(
    project: &Project,
    args: &AgentArgs,
    (provider, model): (&Provider, &str),
) -> Result<Diagnostic, Failure> {
    let address = args.base_url.as_deref().or(project.settings.models.base_url.as_deref());
    let choice = ProjectModel::new(provider, model, address);
    if choice.needs_consent(project, provider) {
        if args.trust_project {
            user_only::check(project.env, project.root(), "run --trust-project")?;
        } else if !choice.ask(project) {
            return Err(choice.refusal());
        }
        choice.trust(project)?;
    }
    let message =
        format!("the model is {}, because this project's tenter.toml names it", choice.name);
    ui::note(format!(
        "The model is {}, because this project's tenter.toml names it; --model or TENTER_MODEL names another.",
        visible(&choice.name)
    ));
    Ok(Diagnostic::new("model-of-project", Severity::Info, message)
        .at(project.root().join("tenter.toml"))
        .help("--model or TENTER_MODEL names another"))
}

/// Returns the models chosen by the project that need the user's consent.
pub(crate) fn pending(project: &Project) -> Vec<ProjectModel> {
    let settings = &project.settings.models;
    let names_of_settings = [&settings.model, &settings.weak_model].into_iter().flatten();
    let names = names_of_settings
        .filter(|names_of_settings| names_of_settings.by_project)
        .filter_map(|names_of_settings| ModelName::parse(&names_of_settings.name));
    let choices = names.filter_map(|name| {
        let (provider, model) = match name {
            ModelName::Of { provider, model } => (Provider::find(project, provider).ok()?, model),
            ModelName::Bare(model) => (provider_of(project, model).ok()?, model),
            ModelName::Scripted(_) => return None,
        };
        let choice = ProjectModel::new(&provider, model, settings.base_url.as_deref());
        choice.needs_consent(project, &provider).then_some(choice)
    });
    let mut choices: Vec<ProjectModel> = choices.collect();
    choices.dedup_by(|one, other| one.name == other.name);
    choices
}

impl ProjectModel {
    fn new(provider: &Provider, model: &str, address: Option<&str>) -> Self {
        let name = format!("{}/{model}", provider.name);
        let address = address.unwrap_or(&provider.address).trim_end_matches('/').to_owned();
        let why = if provider.key_command.is_some() {
            format!("its key comes from your `api_key_command` of {}", provider.name)
        } else {
            format!(
                "it needs no key, so any program that listens at {address} can answer for it and run tools"
            )
        };
        Self { name, address, why }
    }

    /// Checks whether the user must consent first.
    fn needs_consent(&self, project: &Project, provider: &Provider) -> bool {
        let has_key = variable_that_is_set(provider, project.env).is_some();
        let lacks_key = provider.needs_key() && provider.key_command.is_none();
        // Without its key a provider is not called at all.
        if has_key || lacks_key || project.settings.hooks.trust == TrustMode::All {
            return false;
        }
        !is_users(project, provider) && !self.record(project).is_in(&project.trust, project.root())
    }

    /// Returns the record of the consent: for this model at this URL.
    pub(crate) fn record(&self, project: &Project) -> TrustRecord {
        let fingerprint = Fingerprint(format!("{} at {}", self.name, self.address));
        let file = project.root().join("tenter.toml");
        TrustRecord::new(TrustedKind::Model, &self.name, fingerprint, &file)
    }

    /// Asks the user; without a user the answer is no.
    pub(crate) fn ask(&self, project: &Project) -> bool {
        // An agent can allocate a terminal.
        if !Env::can_ask() || user_only::is_below_agent(project.env, project.root()) {
            return false;
        }
        ui::note(format!(
            "{} tenter.toml of {} chooses the model {}",
            styled(NOTICE, "?"),
            visible(&project.root().to_string_lossy()),
            styled(NAME, visible(&self.name)),
        ));
        ui::note(format!("    {}", sanitize(&self.why)));
        confirm("Use it in this project?", &mut read_at_terminal)
    }

    /// Records the user's consent, outside the project.
    pub(crate) fn trust(&self, project: &Project) -> Result<(), Failure> {
        // The store reads its file again before every change, so a copy of it is sufficient.
        let mut store = project.trust.clone();
        record_in(&mut store, project.root(), &[self.record(project).entry()])
    }

    /// Returns the error for missing consent, with the ways to continue.
    pub(crate) fn refusal(&self) -> Failure {
        let message = format!(
            "this project's tenter.toml chooses the model {}, and you have not agreed to that: {}",
            self.name, self.why
        );
        Failure { exit: Exit::Untrusted, ..Failure::new(message) }.help(
            "name a model yourself, with --model or TENTER_MODEL; or agree for this project, at a terminal, with `tenter trust --yes`, or with --trust-project",
        )
    }
}

/// Checks whether the user's own configuration names a model of this provider: then its server is used anyway.
fn is_users(project: &Project, provider: &Provider) -> bool {
    project.settings.models.named_by_user.iter().any(|name| match ModelName::parse(name) {
        Some(ModelName::Of { provider: named, .. }) => named == provider.name,
        Some(ModelName::Bare(model)) => has_model(project, provider, model),
        Some(ModelName::Scripted(_)) | None => false,
    })
}
