//! An agent that works in a scratch project, without hooks or under real ones, and everything that it tells.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use tenter_agent::model::scripted::ScriptedModel;
use tenter_agent::permission::{FixedAnswer, PermissionAnswer, Permissions};
use tenter_agent::recipe::{RecipeBook, Recipes};
use tenter_agent::store::{Epoch, Store};
use tenter_agent::tools::{ProtectedPaths, Registry, Workspace, WorkspaceSettings};
use tenter_agent::{
    Agent, AgentSettings, Conversation, Finish, RetrySettings, Session, SessionUpdate, UserMessage,
    Watcher,
};
use tenter_engine::inspect::{Catalog, KeyMask};
use tenter_engine::layout::{DirectoryNames, ResourceLayout};
use tenter_engine::{
    DecisionKind, Directories, Engine, EngineBuilder, HookRun, Observer, TrustMode,
};
use tenter_proc::Cancel;
use tenter_protocol::event::Usage;
use tenter_protocol::{Message, Scope, Severity};

/// Waits that no test notices.
pub(crate) const QUICK: RetrySettings = RetrySettings {
    attempts: 3,
    first_delay: Duration::from_millis(1),
    max_delay: Duration::from_millis(20),
};

/// The id of the conversation of a stage.
pub(crate) const ID: &str = "01a20060-e872-73af-9a25-ba7a128ce65f";

pub(crate) struct Stage {
    directory: TempDir,
    pub(crate) agent: Agent,
    pub(crate) cancel: Cancel,
    reports: Arc<ReportLog>,
}

/// Records what is reported, one line each.
#[derive(Default)]
struct ReportLog {
    lines: Mutex<Vec<String>>,
    /// Cancelled when a report starts with the text.
    interruption: Mutex<Option<(&'static str, Cancel)>>,
}

impl Watcher for ReportLog {
    fn on_update(&self, _scope: &Scope, update: &SessionUpdate) {
        let line = match update {
            SessionUpdate::TextDelta(piece) => format!("piece {piece}"),
            SessionUpdate::ReasoningDelta(piece) => format!("thinks {piece}"),
            SessionUpdate::Text(text) => format!("text {text}"),
            SessionUpdate::Reasoning(text) => format!("reasoning {text}"),
            SessionUpdate::ToolResult { result, .. } => format!("result {}", result.text().trim()),
            SessionUpdate::Retry { attempt, of, after, reason, discarded } => {
                let void = if *discarded { ", void" } else { "" };
                let after = if *after > QUICK.max_delay { "long" } else { "short" };
                format!("retry {attempt}/{of} {after}{void}: {reason}")
            }
            SessionUpdate::Diagnostic(finding) => format!("{} {}", finding.id, finding.message),
            SessionUpdate::Recipe { recipe, .. } => format!("recipe {recipe}"),
            SessionUpdate::History { kind, by, recipe, before, after } => {
                format!("history {kind} by {}: {before} -> {after}", recipe.unwrap_or(by))
            }
            SessionUpdate::Blocked { event, hook, reason, .. } => {
                format!("blocked {event} {hook}: {reason}")
            }
            _ => return,
        };
        if let Some((beginning, cancel)) = &*self.interruption.lock().unwrap()
            && line.starts_with(beginning)
        {
            cancel.cancel();
        }
        self.lines.lock().unwrap().push(line);
    }
}

impl Observer for ReportLog {
    fn hook_ran(&self, run: &HookRun) {
        if run.decision == DecisionKind::Failed {
            let reason = run.reason.as_deref().unwrap_or_default();
            self.lines.lock().unwrap().push(format!("failed {}: {reason}", run.hook));
        }
    }
}

impl Stage {
    pub(crate) fn new(script: &str, retry: RetrySettings) -> Self {
        let directory = TempDir::new().unwrap();
        let project = directory.path().join("project");
        fs::create_dir(&project).unwrap();
        for owner in ["project", "home"] {
            fs::create_dir_all(directory.path().join(owner).join(".kodelet/recipes")).unwrap();
        }
        let reports = Arc::new(ReportLog::default());
        let clock = || Timestamp::UNIX_EPOCH;
        let workspace = WorkspaceSettings {
            project: project.clone(),
            cwd: project.clone(),
            protected_paths: ProtectedPaths::new(&project, &DirectoryNames::default()),
            add_dirs: Vec::new(),
            read_dirs: Vec::new(),
            env: vec![("PATH".into(), search_path())],
            state_dir: directory.path().join("state"),
            launcher: None,
            clock,
        };
        let home = directory.path().join("home");
        let layout = ResourceLayout::new(&project, &home, home.join(".config"));
        let recipes = RecipeBook {
            recipes: Recipes::new(&layout, &[]),
            project: project.clone(),
            env: vec![("PATH".into(), search_path())],
            launcher: None,
            trust: Arc::new(|_| false),
        };
        let settings = AgentSettings {
            system_prompt: "Be good.".into(),
            max_turns: Some(20),
            max_continuations: 8,
            retry,
            auto_compact: Some(0.8),
            recipes,
            recipe: None,
            is_side_recipe: false,
            keys: KeyMask::default(),
            ui: "run",
        };
        let agent = Agent {
            model: Arc::new(ScriptedModel::parse("scripted:stage", script).unwrap()),
            weak_model: None,
            engine: engine(directory.path(), Catalog::default(), &settings.recipes, &reports),
            tools: Registry::standard(),
            workspace: Arc::new(Workspace::new(workspace).unwrap()),
            store: Store::in_memory().unwrap(),
            watcher: Arc::clone(&reports) as Arc<dyn Watcher>,
            asker: Arc::new(FixedAnswer(PermissionAnswer::No)),
            permissions: Permissions::default(),
            snapshots: None,
            settings,
        };
        Self { directory, agent, cancel: Cancel::new(), reports }
    }

    /// Cancels the turn when a report starts with `text`.
    pub(crate) fn interrupt_at(&self, beginning: &'static str) {
        *self.reports.interruption.lock().unwrap() = Some((beginning, self.cancel.clone()));
    }

    /// Writes a file of the scratch directory, which holds `project` and `home`.
    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Installs a manifest hook with this trigger and these lines of front matter; its script in sh has the payload in
    /// `$payload`. All hooks are loaded anew.
    pub(crate) fn hook(&mut self, name: &str, trigger: &str, more: &str, body: &str) {
        let directory = format!("home/.config/agents/hooks/{name}");
        let front = format!("name: {name}\ndescription: A test.\ntrigger: {trigger}\n{more}");
        self.write(&format!("{directory}/HOOK.md"), &format!("---\n{}\n---\n", front.trim()));
        let run = self.write(
            &format!("{directory}/scripts/run"),
            &format!("#!/bin/sh\npayload=$(cat)\n{body}\n"),
        );
        fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
        let recipes = &self.agent.settings.recipes;
        self.agent.engine = engine(self.directory.path(), self.catalog(), recipes, &self.reports);
    }

    /// Makes an agent without hooks read this clock.
    pub(crate) fn set_clock(&mut self, clock: fn() -> Timestamp) {
        self.agent.engine = builder(self.directory.path()).clock(clock).build(Catalog::default());
    }

    fn catalog(&self) -> Catalog {
        let builder = builder(self.directory.path());
        let (catalog, findings) = builder.load_catalog(&builder.trust_store().0);
        assert!(findings.iter().all(|one| one.severity != Severity::Error), "{findings:?}");
        catalog
    }

    /// Begins work on the conversation, a new one or that which is stored.
    pub(crate) fn session(&self) -> Session<'_> {
        let project = self.agent.engine.project();
        let conversation = match self.agent.store.load(ID) {
            Ok(saved_value) => Conversation::resumed(saved_value),
            Err(_) => Conversation::new(ID.to_owned(), None, project, "scripted"),
        };
        Session::start(&self.agent, conversation, self.cancel.clone()).ok().unwrap()
    }

    /// Returns every history that the conversation has had.
    pub(crate) fn epochs(&self) -> Vec<Epoch> {
        self.agent.store.history(ID).unwrap()
    }

    /// Waits until a file is in the project.
    pub(crate) fn wait_for(&self, name: &str) {
        let path = self.agent.engine.project().join(name);
        tenter_testkit::wait_until(&format!("there is {name}"), || path.exists());
    }

    /// Returns the lines of a file of the project, each as JSON.
    pub(crate) fn logged(&self, name: &str) -> Vec<Value> {
        self.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Lets the agent answer a message, and returns how that ended and which figures it left.
    pub(crate) fn send(&self, message: &UserMessage) -> (Finish, Usage) {
        let mut session = self.session();
        let finish = session.send(message);
        let usage = *session.usage();
        session.end(finish.status, finish.status.exit_reason());
        (finish, usage)
    }

    /// Returns all reports so far.
    pub(crate) fn reports(&self) -> Vec<String> {
        self.reports.lines.lock().unwrap().clone()
    }

    /// Returns the reports that begin so.
    pub(crate) fn reports_of(&self, beginning: &str) -> Vec<String> {
        self.reports().into_iter().filter(|line| line.starts_with(beginning)).collect()
    }

    /// Returns the conversation as it is stored, and how many responses are in it.
    pub(crate) fn stored(&self) -> (Vec<Message>, u64) {
        let conversation = self.agent.store.load(ID).unwrap();
        let messages = conversation.entries.into_iter().map(|entry| entry.entry.message);
        (messages.collect(), conversation.turns)
    }

    /// Returns a file of the project; one that is not there is empty.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join("project").join(name)).unwrap_or_default()
    }
}

fn builder(directory: &Path) -> EngineBuilder {
    Engine::builder(directory.join("project"))
        .vars([("PATH".into(), search_path())])
        .directories(Directories::in_home(directory.join("home")))
        .clock(|| Timestamp::UNIX_EPOCH)
        .trust(TrustMode::All)
}

fn engine(
    directory: &Path,
    catalog: Catalog,
    recipes: &RecipeBook,
    reports: &Arc<ReportLog>,
) -> Engine {
    let recipes = recipes.clone();
    builder(directory)
        .observer(Arc::clone(reports) as Arc<dyn Observer>)
        .callbacks(Arc::new(move |name, args| recipes.startable(name, args).map(drop)))
        .build(catalog)
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests run the shell of the machine that they are on"
)]
fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}
