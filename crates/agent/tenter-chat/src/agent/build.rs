//! Builds an agent from configuration and flags.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tenter_agent::permission::FixedAnswer;
use tenter_agent::recipe::{Recipe, RecipeBook};
use tenter_agent::skill::SkillTool;
use tenter_agent::store::{ListQuery, Store, StoredConversation, new_conversation_id};
use tenter_agent::tools::{ProtectedPaths, Registry, ToolSource, Workspace, WorkspaceSettings};
use tenter_agent::{Agent, AgentSettings, Conversation, Model, RetrySettings, Watcher};
use tenter_base::lock;
use tenter_bridge::host::UserDirectories;
use tenter_commands::project::Project;
use tenter_commands::trust::Reloader;
use tenter_commands::user_only;
use tenter_engine::inspect::{Catalog, Environment, Hook, is_git_directory, with_git_setting};
use tenter_engine::journal::{JournalWriter, MaskingObserver, Redactor};
use tenter_engine::{Engine, EngineBuilder, Observer};
use tenter_proc::Cancel;
use tenter_protocol::runtime::Service;
use tenter_protocol::{Diagnostic, Severity, tool_names};
use tenter_settings::RetryTable;
use tenter_terminal::{Env, Exit, Failure, now};

use super::lost_reasoning::lost_reasoning;
use super::permissions::permissions;
use super::{AgentArgs, Recap, mcp, models, prompt, recipes, skills};
use crate::conversation;
use crate::render::{Show, TerminalAsker};

/// Maximum number of conversations that the user can choose from.
const MAX_CHOICES: usize = 200;

/// An agent with its journal and its conversation.
pub(crate) struct BuiltAgent {
    /// The agent.
    pub agent: Agent,
    /// The journal of its hooks.
    pub journal: Arc<JournalWriter>,
    /// The diagnostics of building it.
    pub findings: Vec<Diagnostic>,
    /// The end of the conversation that it continues.
    pub recap: Option<Recap>,
    conversation: Mutex<Option<Conversation>>,
    pub(super) added_directories: Vec<PathBuf>,
}

impl BuiltAgent {
    /// Takes the conversation to work on; returns a new one if it was taken already.
    pub(crate) fn conversation(&self) -> Conversation {
        let conversation = lock(&self.conversation).take();
        conversation.unwrap_or_else(|| {
            new_conversation(self.agent.engine.project(), self.agent.model.as_ref())
        })
    }

    /// Sets the recipe of the agent and of its conversation, for hooks and listings.
    pub(crate) fn name_recipe(&mut self, recipe: &Recipe) {
        self.agent.settings.recipe = Some(recipe.name.clone());
        let conversation = self.conversation.get_mut().unwrap_or_else(PoisonError::into_inner);
        *conversation = conversation.take().map(|current| current.begun_for(&recipe.name));
    }
}

/// Builds an agent that works in `project` under the catalog's hooks, watched by `show`. `cancel` ends the program that prints
/// a key, and requests to the model's server.
pub(crate) fn build(
    project: &Project,
    args: &AgentArgs,
    catalog: Catalog,
    show: Arc<dyn Show>,
    cancel: &Cancel,
) -> Result<BuiltAgent, Failure> {
    let mut findings = Vec::new();
    let (store, stored_conversation) = open_store(project, args, &mut findings)?;
    let model_name = stored_conversation.as_ref().map(|summary| summary.summary.model.as_str());
    let models::ConnectedModel { model, findings: model_diagnostics } =
        models::choose(project, args, model_name, cancel)
            .inspect_err(|failure| report_refused_model(project, show.as_ref(), failure))?;
    findings.extend(model_diagnostics);
    let weak_model = weak_model(project, args, &catalog, cancel, &mut findings);
    findings.extend(
        stored_conversation
            .as_ref()
            .and_then(|stored_conversation| lost_reasoning(stored_conversation, model.name())),
    );
    let recap = stored_conversation
        .as_ref()
        .and_then(|stored_conversation| Recap::new(&store, stored_conversation));
    let conversation = match stored_conversation {
        Some(conversation) if args.no_save => Conversation::detached(conversation),
        Some(conversation) => Conversation::resumed(conversation),
        None => new_conversation(project.root(), model.as_ref()),
    };
    let (skills, skill_diagnostics) = skills::offered(project, args);
    findings.extend(skill_diagnostics);
    let directories = skills.as_ref().map(SkillTool::directories).unwrap_or_default();
    let servers = servers(project, args, &mut findings);
    let tools = tools(args, skills, servers)?;
    let read_dirs = if tools.get("skill").is_some() { directories } else { Vec::new() };
    let journal = journal(project);
    let settings = agent_settings(project, args, &mut findings);
    let (permissions, rule_diagnostics) =
        permissions(project, args, project.settings.permissions.run)?;
    findings.extend(rule_diagnostics);
    let added_directories = added_directories(project, args);
    let builder = project.engine_builder().added_directories(added_directories.clone());
    let engine =
        engine((project, builder), catalog, &journal, Arc::clone(&show), &settings.recipes);
    let agent = Agent {
        model,
        weak_model,
        engine,
        tools,
        workspace: Arc::new(workspace(project, args, read_dirs)?),
        store,
        watcher: show as Arc<dyn Watcher>,
        asker: asker(project),
        permissions,
        snapshots: None,
        settings,
    };
    let conversation = Mutex::new(Some(conversation));
    Ok(BuiltAgent { agent, journal, findings, recap, conversation, added_directories })
}

/// Returns the model for hooks that request a weak one; `None` if no hook can, or none is configured.
fn weak_model(
    project: &Project,
    args: &AgentArgs,
    catalog: &Catalog,
    cancel: &Cancel,
    findings: &mut Vec<Diagnostic>,
) -> Option<Arc<dyn Model>> {
    let uses_models = |hook: &Arc<Hook>| {
        let runtime = hook.runtime.as_ref();
        runtime.is_some_and(|runtime| runtime.services.contains(&Service::Model))
    };
    if args.use_weak_model
        || !catalog.hooks().iter().any(uses_models)
        || (args.weak_model.is_none() && project.settings.models.weak_model.is_none())
    {
        return None;
    }
    let weak = AgentArgs { use_weak_model: true, ..args.clone() };
    match models::choose(project, &weak, None, cancel) {
        Ok(connected) => Some(connected.model),
        Err(failure) => {
            let message = format!("the weak model cannot be used by hooks: {failure}");
            let finding = Diagnostic::new("weak-model", Severity::Warning, message);
            findings.push(finding.help("hooks that request it use the model of the conversation"));
            None
        }
    }
}

/// Reports the models of the project's choice that the user has not agreed to: they are untrusted, like hooks.
fn report_refused_model(project: &Project, show: &dyn Show, failure: &Failure) {
    if failure.exit == Exit::Untrusted {
        let pending = models::consent::pending(project);
        show.untrusted(
            &pending
                .iter()
                .map(|model| model.record(project).name().to_owned())
                .collect::<Vec<_>>(),
        );
    }
}

/// Returns an engine over `catalog`, observed by `journal` and `show`. Hooks may call the `recipes`.
pub(super) fn engine(
    (project, builder): (&Project, EngineBuilder),
    catalog: Catalog,
    journal: &Arc<JournalWriter>,
    show: Arc<dyn Show>,
    recipes: &RecipeBook,
) -> Engine {
    let redactor = Redactor::from_values(project.secrets());
    builder
        .observer(Arc::clone(journal) as Arc<dyn Observer>)
        .observer(Arc::new(MaskingObserver::new(redactor, show as Arc<dyn Observer>)))
        .callbacks(recipes::callback_check(recipes.clone()))
        .reload(Arc::new(Reloader::new(project)))
        .build(catalog)
}

fn agent_settings(
    project: &Project,
    args: &AgentArgs,
    findings: &mut Vec<Diagnostic>,
) -> AgentSettings {
    let max_turns = args
        .max_turns
        .map_or(project.settings.max_turns, |limit| Some(limit).filter(|limit| *limit > 0));
    let (system_prompt, prompt_findings) = prompt::build(project, args);
    findings.extend(prompt_findings);
    AgentSettings {
        system_prompt,
        retry: retry(project.settings.retry),
        max_turns,
        max_continuations: project.settings.hooks.max_continuations,
        auto_compact: args.auto_compact(&project.settings),
        recipes: recipes::book(project, &args.fragment_dirs),
        recipe: None,
        is_side_recipe: false,
        keys: project.key_mask(),
        ui: "run",
    }
}

fn retry(table: RetryTable) -> RetrySettings {
    let default = RetrySettings::default();
    let pause = |millis: Option<u64>, default| millis.map_or(default, Duration::from_millis);
    RetrySettings {
        attempts: table.attempts.unwrap_or(default.attempts),
        first_delay: pause(table.first_delay_ms, default.first_delay),
        max_delay: pause(table.max_delay_ms, default.max_delay),
    }
}

fn new_conversation(project: &Path, model: &dyn Model) -> Conversation {
    Conversation::new(new_conversation_id(now()), None, project, model.name())
}

/// Opens the store and, for `--resume` and `--follow`, the conversation. With `--no-save` the store is in memory.
fn open_store(
    project: &Project,
    args: &AgentArgs,
    findings: &mut Vec<Diagnostic>,
) -> Result<(Store, Option<StoredConversation>), Failure> {
    let continues = args.follow || args.resume.is_some();
    if args.no_save && !continues {
        return Ok((Store::in_memory().map_err(Failure::caused_by)?, None));
    }
    let store = Store::open(&project.env.store_file()).map_err(Failure::caused_by)?;
    let id = match &args.resume {
        Some(name) if name.is_empty() => Some(chosen_conversation(project, &store)?),
        Some(name) => Some(store.find(name).map_err(Failure::caused_by)?),
        None if args.follow => store.newest(Some(project.root())).map_err(Failure::caused_by)?,
        None => None,
    };
    if args.follow && id.is_none() {
        findings.push(Diagnostic::new(
            "nothing-to-follow",
            Severity::Warning,
            "this project has no conversation yet; starting a new one",
        ));
    }
    let conversation = id.map(|id| store.load(&id)).transpose().map_err(Failure::caused_by)?;
    let store = if args.no_save { Store::in_memory().map_err(Failure::caused_by)? } else { store };
    Ok((store, conversation))
}

/// Returns the conversation of this project that the user chooses.
///
/// # Errors
/// The user cannot be asked, or chooses none.
fn chosen_conversation(project: &Project, store: &Store) -> Result<String, Failure> {
    if !Env::can_ask() {
        return Err(Failure::usage(
            "--resume needs an ID, because there is no terminal to choose at",
        )
        .help("`tenter conversation list` lists the conversations of this project"));
    }
    let query =
        ListQuery { project: Some(project.root()), limit: MAX_CHOICES, include_subagents: false };
    let mut conversations = store.list(&query).map_err(Failure::caused_by)?;
    if conversations.is_empty() {
        return Err(Failure::usage("this project has no conversation yet"));
    }
    let index = conversation::pick(&conversations);
    let id = index.map(|index| conversations.swap_remove(index).id);
    id.ok_or_else(|| Failure {
        exit: Exit::Interrupted,
        ..Failure::new("no conversation was chosen")
    })
}

/// Returns the journal. Call it after the model was chosen: only then every secret is known, since a program may have printed its
/// key.
pub(super) fn journal(project: &Project) -> Arc<JournalWriter> {
    let redactor = Redactor::new(project.secrets());
    let writer = JournalWriter::new(project.env.journal_dir(), redactor);
    Arc::new(writer.for_project(project.root()))
}

/// Returns the tools of MCP servers, if there are any. No server is started.
pub(super) fn servers(
    project: &Project,
    args: &AgentArgs,
    findings: &mut Vec<Diagnostic>,
) -> Option<Arc<dyn ToolSource>> {
    if args.no_mcp {
        return None;
    }
    let (servers, server_findings) = mcp::source(project);
    findings.extend(server_findings);
    servers
}

pub(super) fn tools(
    args: &AgentArgs,
    skills: Option<SkillTool>,
    servers: Option<Arc<dyn ToolSource>>,
) -> Result<Registry, Failure> {
    let mut registry = Registry::standard();
    if let Some(servers) = servers {
        registry = registry.with_source(servers);
    }
    if let Some(skills) = skills {
        registry.push(Arc::new(skills));
    }
    let Some(names) = &args.allowed_tools else { return Ok(registry) };
    // A flag may name the skill tool in a project without skills.
    let is_missing = |name: &&String| {
        tool_names::canonical(name) == Some("skill") && registry.get("skill").is_none()
    };
    let none = names.iter().any(|name| name == "none");
    let usable = names.iter().filter(|name| !none && !is_missing(name));
    let usable: Vec<String> = usable.cloned().collect();
    registry.restrict(&usable).map_err(|unknown| Failure::usage(unknown.to_string()))
}

fn workspace(
    project: &Project,
    args: &AgentArgs,
    read_dirs: Vec<PathBuf>,
) -> Result<Workspace, Failure> {
    let settings = WorkspaceSettings {
        project: project.root().to_owned(),
        cwd: project.env.cwd.clone(),
        protected_paths: protected(project, args),
        add_dirs: added_directories(project, args),
        env: command_environment(project),
        read_dirs,
        state_dir: project.env.state_dir(),
        launcher: Some(Env::launcher()),
        clock: now,
    };
    Workspace::new(settings).map_err(|error| Failure::usage(error.to_string()))
}

/// Returns the directories that the agent may use besides the project.
fn added_directories(project: &Project, args: &AgentArgs) -> Vec<PathBuf> {
    args.add_dir.iter().map(|directory| project.env.cwd.join(directory)).collect()
}

/// Returns the environment of commands that the model runs: without keys, which the model could print, and with the marker by
/// which commands for the user alone recognise an agent.
fn command_environment(project: &Project) -> Environment {
    let mut environment = project.hook_environment().base().clone();
    environment.retain(|(name, _)| name != user_only::TENTER_MARKER);
    environment.push((user_only::TENTER_MARKER.into(), "1".into()));
    if is_git_directory(project.root()) {
        return environment;
    }
    // A repository without the name `.git` below the project could name programs, which git would run (R84).
    with_git_setting(environment, "safe.bareRepository", "explicit")
}

/// Returns the paths that file tools change only with the user's consent (R76).
fn protected(project: &Project, args: &AgentArgs) -> ProtectedPaths {
    let (env, layout) = (project.env, &project.layout);
    let protected = ProtectedPaths::new(project.root(), &layout.names);
    let protected = protected.with_own(layout, &env.directories(), &project.settings.hooks.protect);
    let own = Env::program();
    let protected = [own.with_file_name("tenter-hook"), own]
        .iter()
        .fold(protected, |protected, program| protected.and(program, project.root()));
    let user = UserDirectories { home: &env.directories().home, vars: &env.vars };
    let agent_files = tenter_bridge::hosts::settings_paths(user);
    let protected = agent_files.fold(protected, |all, path| all.and(&path, project.root()));
    let paths = args.allow_write.iter().map(|path| env.cwd.join(path));
    paths.fold(protected, |protected, path| protected.allowing(&path))
}

fn asker(project: &Project) -> Arc<dyn tenter_agent::permission::Asker> {
    if Env::can_ask() {
        Arc::new(TerminalAsker)
    } else {
        Arc::new(FixedAnswer(project.settings.hooks.ask))
    }
}
