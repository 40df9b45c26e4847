//! An agent without hooks that works in a scratch project, and everything that it tells.

use std::ffi::OsString;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tempfile::TempDir;
use tenter_agent::model::scripted::ScriptedModel;
use tenter_agent::permission::{Answer, FixedAnswer, Permissions};
use tenter_agent::recipe::{RecipeBook, RecipePlaces, Recipes};
use tenter_agent::store::Store;
use tenter_agent::tools::{Registry, Workspace, WorkspaceSettings};
use tenter_agent::{
    Agent, AgentSettings, Conversation, Finish, Happening, RetrySettings, Session, UserMessage,
    Watcher,
};
use tenter_engine::catalog::Catalog;
use tenter_engine::environment::HookEnvironment;
use tenter_engine::{Engine, EngineSettings};
use tenter_proc::Cancel;
use tenter_protocol::event::Usage;
use tenter_protocol::{Message, Scope};

/// Waits that no test notices.
pub(crate) const QUICK: RetrySettings = RetrySettings {
    attempts: 3,
    first_delay: Duration::from_millis(1),
    max_delay: Duration::from_millis(20),
};

/// What a conversation is called on a stage.
const ID: &str = "01a20060-e872-73af-9a25-ba7a128ce65f";

pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) agent: Agent,
    pub(crate) cancel: Cancel,
    told: Arc<Told>,
}

/// Writes down what is told, a line for each happening.
#[derive(Default)]
struct Told {
    lines: Mutex<Vec<String>>,
    /// Thrown when the model is to be asked again.
    at_retry: Mutex<Option<Cancel>>,
}

impl Watcher for Told {
    fn see(&self, _scope: &Scope, happening: &Happening) {
        let line = match happening {
            Happening::TextDelta(piece) => format!("piece {piece}"),
            Happening::ReasoningDelta(piece) => format!("thinks {piece}"),
            Happening::Text(text) => format!("text {text}"),
            Happening::Reasoning(text) => format!("reasoning {text}"),
            Happening::ToolResult { result, .. } => format!("result {}", result.text().trim()),
            Happening::Retry { attempt, of, after, reason, discarded } => {
                if let Some(cancel) = &*self.at_retry.lock().unwrap() {
                    cancel.cancel();
                }
                let void = if *discarded { ", void" } else { "" };
                let after = if *after > QUICK.max_delay { "long" } else { "short" };
                format!("retry {attempt}/{of} {after}{void}: {reason}")
            }
            Happening::Diagnostic(finding) => format!("{} {}", finding.id, finding.message),
            _ => return,
        };
        self.lines.lock().unwrap().push(line);
    }
}

impl Stage {
    pub(crate) fn new(script: &str, retry: RetrySettings) -> Self {
        let folder = TempDir::new().unwrap();
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        let told = Arc::new(Told::default());
        let clock = || Timestamp::UNIX_EPOCH;
        let engine = EngineSettings {
            project: project.clone(),
            environment: HookEnvironment::new(&Vec::new(), &[]),
            clock,
            observers: Vec::new(),
        };
        let workspace = WorkspaceSettings {
            project: project.clone(),
            add_dirs: Vec::new(),
            env: vec![("PATH".into(), search_path())],
            state_dir: folder.path().join("state"),
            clock,
        };
        let places = RecipePlaces {
            project: project.clone(),
            home: folder.path().join("home"),
            fragment_dirs: Vec::new(),
        };
        let recipes = RecipeBook {
            recipes: Recipes::new(&places),
            project: project.clone(),
            env: vec![("PATH".into(), search_path())],
            trust: Arc::new(|_| false),
        };
        let settings = AgentSettings {
            project,
            clock,
            system_prompt: "Be good.".to_owned(),
            max_turns: Some(20),
            max_continuations: 8,
            retry,
            auto_compact: Some(0.8),
            recipes,
            recipe: None,
            side_run: false,
            ui: "run",
        };
        let agent = Agent {
            model: Arc::new(ScriptedModel::parse("scripted:stage", script).unwrap()),
            engine: Engine::new(Catalog::default(), engine),
            tools: Registry::standard(),
            workspace: Arc::new(Workspace::new(workspace).unwrap()),
            store: Store::in_memory().unwrap(),
            watcher: Arc::clone(&told) as Arc<dyn Watcher>,
            asker: Arc::new(FixedAnswer(Answer::No)),
            permissions: Permissions::default(),
            settings,
        };
        Self { folder, agent, cancel: Cancel::new(), told }
    }

    /// Interrupts the work when the model is to be asked again.
    pub(crate) fn interrupt_at_retry(&self) {
        *self.told.at_retry.lock().unwrap() = Some(self.cancel.clone());
    }

    /// Has the agent answer a message, and says how that ended and which figures it left.
    pub(crate) fn send(&self, message: &UserMessage) -> (Finish, Usage) {
        let settings = &self.agent.settings;
        let conversation = Conversation::new(ID.to_owned(), None, &settings.project, "scripted");
        let mut session =
            Session::start(&self.agent, conversation, self.cancel.clone()).ok().unwrap();
        let finish = session.send(message);
        let usage = *session.usage();
        session.end(finish.status, finish.status.exit_reason());
        (finish, usage)
    }

    /// What was told so far.
    pub(crate) fn told(&self) -> Vec<String> {
        self.told.lines.lock().unwrap().clone()
    }

    /// What was told and begins so.
    pub(crate) fn told_of(&self, beginning: &str) -> Vec<String> {
        self.told().into_iter().filter(|line| line.starts_with(beginning)).collect()
    }

    /// The conversation as it is stored, and how many responses are in it.
    pub(crate) fn stored(&self) -> (Vec<Message>, u64) {
        let stored = self.agent.store.load(ID).unwrap();
        let messages = stored.entries.into_iter().map(|stored| stored.entry.message);
        (messages.collect(), stored.turns)
    }

    /// A file of the project; one that is not there is empty.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("project").join(name)).unwrap_or_default()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests run the shell of the machine that they are on"
)]
fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}
