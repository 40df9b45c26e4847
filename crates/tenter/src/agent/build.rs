//! Puts an agent together from configuration and flags.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tenter_agent::model::scripted::ScriptedModel;
use tenter_agent::permission::{FixedAnswer, Permissions};
use tenter_agent::store::{Store, StoredConversation, new_conversation_id};
use tenter_agent::tools::{Registry, Workspace, WorkspaceSettings};
use tenter_agent::{Agent, AgentSettings, Conversation, Model, Watcher, prompt};
use tenter_engine::catalog::Catalog;
use tenter_engine::environment::HookEnvironment;
use tenter_engine::journal::{JournalWriter, Redactor};
use tenter_engine::{Engine, EngineSettings, Observer};
use tenter_protocol::{Diagnostic, Severity};

use super::AgentArgs;
use crate::env::{self, Env};
use crate::failure::Failure;
use crate::hooks::Project;
use crate::render::{Show, TerminalAsker};

/// An agent, ready to work.
pub(crate) struct Built {
    /// The agent.
    pub(crate) agent: Agent,
    /// What its hooks do is recorded here.
    pub(crate) journal: Arc<JournalWriter>,
    /// What was found on the way.
    pub(crate) findings: Vec<Diagnostic>,
    conversation: Mutex<Option<Conversation>>,
}

impl Built {
    /// The conversation to work on; a new one when it was taken already.
    pub(crate) fn conversation(&self) -> Conversation {
        let taken = self.conversation.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.unwrap_or_else(|| {
            new_conversation(&self.agent.settings.project, self.agent.model.as_ref())
        })
    }
}

/// Puts an agent together that works in `project` under the catalog's hooks, watched by `show`.
pub(crate) fn build(
    project: &Project,
    args: &AgentArgs,
    catalog: Catalog,
    show: Arc<dyn Show>,
) -> Result<Built, Failure> {
    let mut findings = Vec::new();
    let (store, stored) = open_store(project, args, &mut findings)?;
    let model = model(project, args, stored.as_ref())?;
    let conversation = match stored {
        Some(stored) if args.no_save => Conversation::detached(stored),
        Some(stored) => Conversation::resumed(stored),
        None => new_conversation(project.root(), model.as_ref()),
    };
    let journal = journal(project);
    let observers: Vec<Arc<dyn Observer>> =
        vec![Arc::clone(&journal) as Arc<dyn Observer>, Arc::clone(&show) as Arc<dyn Observer>];
    let engine = Engine::new(
        catalog,
        EngineSettings {
            project: project.root().to_owned(),
            environment: project.hook_environment(),
            clock: env::now,
            observers,
        },
    );
    let agent = Agent {
        model,
        engine,
        tools: tools(args)?,
        workspace: workspace(project, args)?,
        store,
        watcher: show as Arc<dyn Watcher>,
        asker: asker(project),
        permissions: Permissions::default(),
        settings: agent_settings(project, args),
    };
    Ok(Built { agent, journal, findings, conversation: Mutex::new(Some(conversation)) })
}

fn agent_settings(project: &Project, args: &AgentArgs) -> AgentSettings {
    let max_turns = args
        .max_turns
        .map_or(project.settings.max_turns, |limit| Some(limit).filter(|limit| *limit > 0));
    AgentSettings {
        project: project.root().to_owned(),
        clock: env::now,
        system_prompt: prompt::system_prompt(project.root()),
        max_turns,
        max_continuations: project.settings.max_continuations,
        ui: "run",
    }
}

fn new_conversation(project: &Path, model: &dyn Model) -> Conversation {
    Conversation::new(new_conversation_id(env::now()), None, project, model.name())
}

/// Opens the store and, for `--resume` and `--follow`, the conversation. `--no-save` works on a store in memory.
fn open_store(
    project: &Project,
    args: &AgentArgs,
    findings: &mut Vec<Diagnostic>,
) -> Result<(Store, Option<StoredConversation>), Failure> {
    let goes_on = args.follow || args.resume.is_some();
    if args.no_save && !goes_on {
        return Ok((Store::in_memory()?, None));
    }
    let store = Store::open(&project.env.store_file())?;
    let id = match &args.resume {
        Some(wanted) => Some(store.find(wanted)?),
        None if args.follow => store.newest(Some(project.root()))?,
        None => None,
    };
    if args.follow && id.is_none() {
        findings.push(Diagnostic::new(
            "nothing-to-follow",
            Severity::Warning,
            "there is no conversation in this project yet; a new one begins",
        ));
    }
    let stored = id.map(|id| store.load(&id)).transpose()?;
    let store = if args.no_save { Store::in_memory()? } else { store };
    Ok((store, stored))
}

fn model(
    project: &Project,
    args: &AgentArgs,
    stored: Option<&StoredConversation>,
) -> Result<Arc<dyn Model>, Failure> {
    let named = args
        .model
        .as_deref()
        .or(stored.map(|stored| stored.summary.model.as_str()))
        .or(project.settings.model.as_deref());
    let Some(name) = named else {
        return Err(Failure::usage("no model is named").help(
            "use --model scripted:FILE, set TENTER_MODEL, or write `model = …` into config.toml",
        ));
    };
    match name.split_once(':') {
        Some(("scripted", file)) => Ok(Arc::new(ScriptedModel::load(&project.env.cwd.join(file))?)),
        _ => Err(Failure::usage(format!("the model {name:?} is not known"))
            .help("this version knows scripted:FILE")),
    }
}

fn journal(project: &Project) -> Arc<JournalWriter> {
    let secrets = HookEnvironment::new(&project.env.vars, &[]).secrets().collect::<Vec<_>>();
    Arc::new(JournalWriter::new(project.env.journal_dir(), Redactor::new(secrets)))
}

fn tools(args: &AgentArgs) -> Result<Registry, Failure> {
    let registry = Registry::standard();
    let Some(allowed) = &args.allowed_tools else { return Ok(registry) };
    let allowed: Vec<String> =
        if allowed.iter().any(|name| name == "none") { Vec::new() } else { allowed.clone() };
    registry.restricted(&allowed).map_err(|unknown| Failure::usage(unknown.to_string()))
}

fn workspace(project: &Project, args: &AgentArgs) -> Result<Workspace, Failure> {
    let settings = WorkspaceSettings {
        project: project.root().to_owned(),
        add_dirs: args.add_dir.iter().map(|folder| project.env.cwd.join(folder)).collect(),
        env: project.env.vars.clone(),
        state_dir: project.env.state_dir(),
        clock: env::now,
    };
    Workspace::new(settings).map_err(|error| Failure::usage(error.to_string()))
}

fn asker(project: &Project) -> Arc<dyn tenter_agent::permission::Asker> {
    if Env::can_ask() {
        Arc::new(TerminalAsker)
    } else {
        Arc::new(FixedAnswer(project.settings.ask))
    }
}
