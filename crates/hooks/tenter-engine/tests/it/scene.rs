//! A project and a home directory of their own, with hooks in them.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use tenter_engine::inspect::{Catalog, Outcome, PolicyTable, Status};
use tenter_engine::layout::ResourceLayout;
use tenter_engine::trust::{TrustEntry, TrustStore};
use tenter_engine::{Decision, Directories, Engine, EngineBuilder, HookRun, Observer, TrustMode};
use tenter_proc::Cancel;
use tenter_protocol::{Body, Diagnostic, Event, Scope, ToolCall};

pub(crate) const PROJECT: &str = "project/.kodelet/hooks";
pub(crate) const PROJECT_AGENTS: &str = "project/.agents/hooks";
pub(crate) const USER: &str = "home/.kodelet/hooks";
pub(crate) const USER_AGENTS: &str = "home/.config/agents/hooks";

/// A script that wants `before_tool_call`.
pub(crate) const GUARD: &str = "#!/bin/sh\necho before_tool_call\n";
/// The same, counting in the project how often it is run.
pub(crate) const COUNTING: &str =
    "#!/bin/sh\necho \"$1\" >> \"$TENTER_PROJECT_DIR/calls\"\necho before_tool_call\n";

pub(crate) struct Scene {
    pub(crate) scratch: TempDir,
    pub(crate) layout: ResourceLayout,
    pub(crate) mode: TrustMode,
    pub(crate) cache: Option<PathBuf>,
    pub(crate) query_timeout: Duration,
    pub(crate) policies: PolicyTable,
    pub(crate) cancel: Cancel,
}

impl Scene {
    /// Creates a scene whose trust gate is switched off, without a cache.
    pub(crate) fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        let layout =
            ResourceLayout::new(base.join("project"), base.join("home"), base.join("home/.config"));
        let (cache, policies, cancel) = (None, PolicyTable::default(), Cancel::new());
        let scene = Self {
            scratch,
            layout,
            mode: TrustMode::All,
            cache,
            // Longer than any correct hook takes, on any machine.
            query_timeout: Duration::from_mins(2),
            policies,
            cancel,
        };
        scene.directory("project");
        scene.directory("home");
        scene
    }

    /// Returns a scene whose trust gate is closed.
    pub(crate) fn gated() -> Self {
        Self { mode: TrustMode::Gate, ..Self::new() }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn directory(&self, path: &str) -> PathBuf {
        let path = self.at(path);
        DirBuilder::new().recursive(true).mode(0o755).create(&path).unwrap();
        path
    }

    pub(crate) fn file(&self, path: &str, content: &str, mode: u32) -> PathBuf {
        let path = self.at(path);
        DirBuilder::new().recursive(true).mode(0o755).create(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    pub(crate) fn hook(&self, directory: &str, name: &str, script: &str) -> PathBuf {
        self.file(&format!("{directory}/{name}"), script, 0o755)
    }

    pub(crate) fn store(&self) -> TrustStore {
        TrustStore::open(self.at("state/trust.json")).0
    }

    /// Trusts every project hook as it is now.
    pub(crate) fn trust_all(&self) {
        let catalog = self.load().0;
        for hook in catalog.untrusted() {
            let entries = [TrustEntry::from(hook)];
            self.store().trust(&hook.project, &entries, "2024-01-15T10:30:00Z").unwrap();
        }
    }

    /// Trusts every project hook as it is now, and accepts the state of the project.
    pub(crate) fn trust_and_accept(&self) {
        self.trust_all();
        for (project, state) in self.load().0.states() {
            self.store().accept(project, state, (&[], &[])).unwrap();
        }
    }

    /// Builds engines over the hooks of this scene.
    pub(crate) fn builder(&self) -> EngineBuilder {
        let path = OsString::from("/usr/local/bin:/usr/bin:/bin");
        let mut directories = Directories::in_home(&self.layout.home).with_state(self.at("state"));
        directories.cache.clone_from(&self.cache);
        Engine::builder(&self.layout.project)
            .vars([("PATH".into(), path), ("TENTER_HOOK_NAME".into(), "inherited".into())])
            .directories(directories)
            .clock(|| jiff::Timestamp::UNIX_EPOCH)
            .trust(self.mode)
            .policies(self.policies.clone())
            .query_timeout(self.query_timeout)
            .cancel(self.cancel.clone())
    }

    pub(crate) fn load(&self) -> (Catalog, Vec<Diagnostic>) {
        self.builder().load_catalog(&self.store())
    }

    /// Returns an engine over these hooks, and what its observer sees.
    pub(crate) fn engine(&self, catalog: Catalog) -> (Engine, Arc<ObservedRuns>) {
        let observed = Arc::new(ObservedRuns::default());
        let observer = Arc::clone(&observed) as Arc<dyn Observer>;
        (self.builder().observer(observer).build(catalog), observed)
    }

    /// Returns everything that is found, as path and status in words.
    pub(crate) fn listing(&self) -> Vec<(String, String)> {
        let catalog = self.load().0;
        let messages =
            |path: &Path| path.strip_prefix(self.at("")).unwrap().to_string_lossy().into_owned();
        let in_words = |status: &Status| match status {
            Status::Shadowed { by } => format!("shadowed by {}", messages(by)),
            other => word(other).to_owned(),
        };
        catalog
            .listing()
            .iter()
            .map(|hook| (messages(&hook.path), in_words(&hook.status)))
            .collect()
    }

    /// Returns the number of runs of [`COUNTING`] hooks of this project.
    pub(crate) fn calls(&self) -> usize {
        fs::read_to_string(self.at("project/calls")).map_or(0, |calls| calls.lines().count())
    }
}

/// The reports that observers received.
#[derive(Default)]
pub(crate) struct ObservedRuns {
    pub(crate) runs: Mutex<Vec<HookRun>>,
    pub(crate) decisions: Mutex<Vec<Decision>>,
}

impl Observer for ObservedRuns {
    fn hook_ran(&self, run: &HookRun) {
        self.runs.lock().unwrap().push(run.clone());
    }

    fn decided(&self, decision: &Decision) {
        self.decisions.lock().unwrap().push(decision.clone());
    }
}

/// Returns a call of a tool with this command.
pub(crate) fn tool_call(name: &str, command: &str) -> ToolCall {
    ToolCall::new("call-1", name, [("command".to_owned(), command.into())])
}

/// Dispatches a call of `bash {"command": "ls"}`.
pub(crate) fn call(engine: &Engine) -> Outcome {
    let body = Body::BeforeTool(tool_call("bash", "ls"));
    engine.dispatch(Event { scope: scope("c"), body }, &Cancel::new())
}

/// Returns the reason of a denial, or an empty text.
pub(crate) fn reason(outcome: &Outcome) -> &str {
    outcome.denied().map_or("", |(_, reason)| reason)
}

/// Returns the scope of an event of this conversation.
pub(crate) fn scope(conversation: &str) -> Scope {
    Scope {
        conversation_id: conversation.to_owned(),
        cwd: "/".into(),
        time: "T".into(),
        ..Scope::default()
    }
}

pub(crate) fn word(status: &Status) -> &'static str {
    match status {
        Status::Active => "active",
        Status::Shadowed { .. } => "shadowed",
        Status::NoScript => "no script",
        Status::SwitchedOff { .. } => "switched off",
        Status::Disabled => "disabled",
        Status::NotTrusted { has_changed: false } => "not trusted",
        Status::NotTrusted { has_changed: true } => "changed",
        Status::WouldDisplace { .. } => "would displace",
        Status::NotExecutable => "not executable",
        Status::Invalid { .. } => "invalid",
    }
}

/// Returns the names of the hooks that run, in their order.
pub(crate) fn running(catalog: &Catalog) -> Vec<&str> {
    catalog.hooks().iter().map(|hook| hook.name.as_str()).collect()
}

pub(crate) fn ids(diagnostics: &[Diagnostic]) -> Vec<&'static str> {
    diagnostics.iter().map(|diagnostic| diagnostic.id).collect()
}

/// Returns the reason why the only thing in the listing is invalid.
pub(crate) fn why(catalog: &Catalog) -> &str {
    match catalog.listing() {
        [listed] => match &listed.status {
            Status::Invalid { why } => why,
            other => panic!("{} is {other:?}", listed.name),
        },
        other => panic!("{other:?}"),
    }
}
