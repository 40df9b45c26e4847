//! Builds an engine. This is where the project, the environment, the directories and the clock come in, each once.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use tenter_base::{AgentState, Clock};
use tenter_proc::{Cancel, Trampoline};
use tenter_protocol::tool_names::ToolNames;
use tenter_protocol::{Diagnostic, Severity};

use crate::catalog::{self, Catalog, HookFiles, LoadRequest, PolicyTable};
use crate::configuration::{ConfineProfiles, ConfineTable};
use crate::directories::Directories;
use crate::dispatch::{Engine, Reload};
use crate::environment::{Environment, HookEnvironment};
use crate::facts::CallSurroundings;
use crate::journal::{JournalWriter, Redactor};
use crate::keys::KeyMask;
use crate::layout::{DirectoryNames, ResourceLayout};
use crate::native_registration::NativeRegistration;
use crate::observe::Observer;
use crate::outer_projects::OuterProjects;
use crate::query::QUERY_TIMEOUT;
use crate::serving::{ChildProcesses, Connector, HookPool};
use crate::settings::{
    AsynchronousHooks, CallbackCheck, EngineSettings, KnownConfinements, StartedCalls,
};
use crate::trust::{TrustMode, TrustStore};

/// Builds an [`Engine`]. [`Engine::builder`] makes one.
#[derive(Clone)]
#[must_use]
pub struct EngineBuilder {
    project: PathBuf,
    directories: Option<Directories>,
    directory_names: DirectoryNames,
    environment: HookEnvironment,
    clock: Option<Clock>,
    trust: TrustMode,
    policies: PolicyTable,
    confine: ConfineTable,
    query_timeout: Duration,
    tool_names: ToolNames,
    added_directories: Vec<PathBuf>,
    agent_states: Vec<AgentState>,
    observers: Vec<Arc<dyn Observer>>,
    journal: Option<PathBuf>,
    callbacks: Option<CallbackCheck>,
    asynchronous: AsynchronousHooks,
    reload: Option<Arc<dyn Reload>>,
    cancel: Option<Cancel>,
    http_client: Option<PathBuf>,
    launcher: Option<PathBuf>,
    reports_changes: bool,
    native: Vec<NativeRegistration>,
    connector: Option<Arc<dyn Connector>>,
    trampoline: Option<Trampoline>,
    prefers_one_shot: bool,
    host: Option<String>,
    missing_cwd: Option<PathBuf>,
    outer: Option<OuterProjects>,
}

impl Engine {
    /// Begins to build an engine for the project with this root: an absolute path, for which
    /// [`project_root`](crate::layout::project_root) looks.
    pub fn builder(project: impl Into<PathBuf>) -> EngineBuilder {
        EngineBuilder {
            project: project.into(),
            directories: None,
            directory_names: DirectoryNames::default(),
            environment: HookEnvironment::default(),
            clock: None,
            trust: TrustMode::Gate,
            policies: PolicyTable::default(),
            confine: ConfineTable::default(),
            query_timeout: QUERY_TIMEOUT,
            tool_names: ToolNames::default(),
            added_directories: Vec::new(),
            agent_states: Vec::new(),
            observers: Vec::new(),
            journal: None,
            callbacks: None,
            asynchronous: AsynchronousHooks::default(),
            reload: None,
            cancel: None,
            http_client: None,
            launcher: None,
            reports_changes: true,
            native: Vec::new(),
            connector: None,
            trampoline: None,
            prefers_one_shot: false,
            host: None,
            missing_cwd: None,
            outer: None,
        }
    }
}

impl EngineBuilder {
    /// Sets the environment of hooks to these variables without model keys (R40), and finds the user's directories in them
    /// ([`Directories::from_vars`]), unless [`directories`](Self::directories) sets others. A program passes
    /// `std::env::vars_os()`.
    pub fn vars(self, vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let vars: Environment = vars.into_iter().collect();
        let environment = HookEnvironment::new(&vars, &[]);
        let directories = self.directories.or_else(|| Some(Directories::from_vars(&vars)));
        Self { directories, environment, ..self }
    }

    /// Sets the user's directories.
    pub fn directories(self, directories: Directories) -> Self {
        Self { directories: Some(directories), ..self }
    }

    /// Sets the names of the directories that hold hooks; by default `.kodelet/hooks` and `.agents/hooks` of the project,
    /// and `agents/hooks` of the user's configuration.
    pub fn directory_names(self, directory_names: DirectoryNames) -> Self {
        Self { directory_names, ..self }
    }

    /// Sets the clock. A program passes `Timestamp::now`.
    pub fn clock(self, clock: fn() -> Timestamp) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Sets whether the project's hooks run only if they are trusted; they do by default (R45).
    pub fn trust(self, trust: TrustMode) -> Self {
        Self { trust, ..self }
    }

    /// Sets the limits of hooks, such as their timeout, and whether they fail open or closed.
    pub fn policies(self, policies: PolicyTable) -> Self {
        Self { policies, ..self }
    }

    /// Sets the program that runs a command with fewer rights, as `tenter confine` does. An agent that sets it runs a confined call with
    /// it. Without it, what happens to such calls is up to their `otherwise`: by default the user is asked.
    pub fn launcher(self, program: impl Into<PathBuf>) -> Self {
        Self { launcher: Some(program.into()), ..self }
    }

    /// Declares that the agent's tool `name` is what hooks know as `standard`, a tool of Tenter's such as `bash` or `file_write`:
    /// matchers and payloads then use all names of both. The tool must have the fields of the standard tool, such as
    /// `command` or `file_path`.
    pub fn tool_alias(self, name: impl Into<String>, standard: impl Into<String>) -> Self {
        Self { tool_names: self.tool_names.with_alias(name, standard), ..self }
    }

    /// Adds directories that the user lets the agent work in besides the project: what is in them is inside the project for
    /// rules and payloads. Relative ones are in the project.
    pub fn added_directories(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        let directories = directories.into_iter().map(|directory| self.project.join(directory));
        let directories: Vec<PathBuf> = directories.collect();
        self.added_directories.extend(directories);
        self
    }

    /// Adds an observer, which sees every hook run and every decision.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Keeps a journal in `directory`: one file per conversation, with model keys masked.
    pub fn journal(self, directory: impl Into<PathBuf>) -> Self {
        Self { journal: Some(directory.into()), ..self }
    }

    /// Sets the check whether a callback of a hook can start. Without one, every callback is accepted.
    pub fn callbacks(self, check: CallbackCheck) -> Self {
        Self { callbacks: Some(check), ..self }
    }

    /// Registers a hook in Rust.
    pub fn native_hook(mut self, hook: NativeRegistration) -> Self {
        self.native.push(hook);
        self
    }

    /// Sets the program `tenter`, which posts payloads to hooks behind HTTP. Without it, those hooks fail. The engine itself has no
    /// network.
    pub fn http_client(self, program: impl Into<PathBuf>) -> Self {
        Self { http_client: Some(program.into()), ..self }
    }

    /// Finds the hooks and makes the engine. Project hooks that are not trusted are not part of it:
    /// [`Engine::untrusted`] lists them. A broken hook never disables another; the diagnostics say what is wrong.
    pub fn load(self) -> (Engine, Vec<Diagnostic>) {
        let mut diagnostics = self.missing();
        let (store, store_diagnostics) = self.trust_store();
        let (catalog, catalog_diagnostics) = self.load_catalog(&store);
        diagnostics.extend(store_diagnostics);
        diagnostics.extend(catalog_diagnostics);
        (self.build(catalog), diagnostics)
    }

    fn find_outer_projects(&self, open_store: impl FnOnce() -> TrustStore) -> OuterProjects {
        let home = self.user_directories().home;
        let find =
            || OuterProjects::find(&self.directory_names, (&self.project, &home), open_store);
        self.outer.clone().unwrap_or_else(find)
    }

    fn surroundings_in(&self, project: &Path) -> CallSurroundings {
        let own = CallSurroundings::new(project)
            .with_added_directories(&self.added_directories)
            .with_agent_states(&self.agent_states)
            .with_gone(self.missing_cwd.as_deref())
            .with_variables(self.environment.base())
            .with_tool_names(&self.tool_names);
        match &self.directories {
            Some(directories) => own.with_directories(directories),
            None => own,
        }
    }

    fn reloader(&self) -> FromDisk {
        FromDisk(Self {
            observers: Vec::new(),
            callbacks: None,
            journal: None,
            connector: None,
            outer: None,
            ..self.clone()
        })
    }

    fn user_directories(&self) -> Directories {
        // Nothing can be below a device.
        self.directories.clone().unwrap_or_else(|| Directories::in_home("/dev/null"))
    }

    fn layout(&self, outer: Vec<PathBuf>) -> ResourceLayout {
        let Directories { home, config_home, managed, .. } = self.user_directories();
        let own = ResourceLayout::new(&self.project, home, config_home);
        own.with_names(self.directory_names.clone()).with_outer(outer).with_managed(managed)
    }

    fn hook_environment(&self) -> HookEnvironment {
        match &self.directories {
            Some(directories) => {
                self.environment.clone().with_state(directories.state.join("hooks"))
            }
            None => self.environment.clone(),
        }
    }

    /// Warns of values that an engine cannot do without.
    fn missing(&self) -> Vec<Diagnostic> {
        let warning = |id, message: &str, help: &str| {
            Diagnostic::new(id, Severity::Warning, message).help(help)
        };
        let directories = self.directories.is_none().then(|| {
            let message = "the user's directories are not set, so their own hooks do not run";
            warning("engine-without-directories", message, "call `EngineBuilder::vars`")
        });
        let clock = self.clock.is_none().then(|| {
            let message = "no clock is set, so every time is 1970-01-01T00:00:00Z";
            warning("engine-without-clock", message, "call `EngineBuilder::clock`")
        });
        directories.into_iter().chain(clock).collect()
    }
}

// For the programs that use `inspect`.
#[doc(hidden)]
impl EngineBuilder {
    /// Adds what is special about the agent's process, for rules that depend on it. A program passes
    /// [`AgentState::read_process`].
    pub fn agent_states(mut self, agent_states: Vec<AgentState>) -> Self {
        self.agent_states.extend(agent_states);
        self
    }

    /// Sets the user's profiles of confinements. Every user has the profiles of [`Confinement::built_in`].
    ///
    /// [`Confinement::built_in`]: tenter_protocol::confinement::Confinement::built_in
    pub fn confine(self, confine: ConfineTable) -> Self {
        Self { confine, ..self }
    }

    /// Sets whether hooks of `after_tool` see which files of the project a shell command changed; they do by default.
    pub fn report_changes(self, reports_changes: bool) -> Self {
        Self { reports_changes, ..self }
    }

    /// Sets which of the hooks run: all, only those that are awaited, or only the asynchronous ones.
    pub fn asynchronous_hooks(self, asynchronous: AsynchronousHooks) -> Self {
        Self { asynchronous, ..self }
    }

    /// Sets a directory that existed when the calls were made and is gone. Paths in it are uncertain.
    pub fn gone(self, directory: Option<PathBuf>) -> Self {
        Self { missing_cwd: directory, ..self }
    }

    /// Finds the hooks, with what `store` trusts, and starts none of them: an executable whose events are not cached is missing.
    pub fn load_without_queries(&self, store: &TrustStore) -> (Catalog, Vec<Diagnostic>) {
        self.clone().query_timeout(Duration::ZERO).load_catalog(store)
    }

    /// Makes an engine of these hooks.
    pub fn build(self, catalog: Catalog) -> Engine {
        let environment = self.hook_environment();
        let reload = self.reload.clone().unwrap_or_else(|| Arc::new(self.reloader()));
        let surroundings = Arc::new(self.surroundings(&catalog));
        let values = self.directories.as_ref().map(Directories::hook_values);
        let mut observers = self.observers;
        observers.extend(self.journal.map(|directory| {
            let redactor = Redactor::new(environment.secrets());
            let journal = JournalWriter::new(directory, redactor).for_project(&self.project);
            Arc::new(journal) as Arc<dyn Observer>
        }));
        let native = self.native.into_iter().map(|hook| hook.into_hook(&self.tool_names));
        let catalog = catalog.with_native(native);
        let home = self.directories.as_ref().map(|directories| directories.home.clone());
        let confine = ConfineProfiles { table: self.confine, home: home.unwrap_or_default() };
        let settings = EngineSettings {
            this: Weak::new(),
            host: self.host.unwrap_or_else(|| "tenter".to_owned()),
            surroundings,
            project: self.project,
            keys: KeyMask::for_results(environment.secrets()),
            redactor: Redactor::new(environment.secrets()),
            values,
            environment,
            clock: self.clock.unwrap_or(|| Timestamp::UNIX_EPOCH),
            observers,
            callbacks: self.callbacks,
            asynchronous: self.asynchronous,
            tool_names: self.tool_names,
            confine,
            http_client: self.http_client,
            launcher: self.launcher,
            known_confinements: KnownConfinements::default(),
            reports_changes: self.reports_changes,
            started_calls: StartedCalls::default(),
            prefers_one_shot: self.prefers_one_shot && self.connector.is_none(),
            // Another process that keeps processes keeps only the hooks' own programs.
            keeps_http_client: self.connector.is_none(),
            serving: HookPool::new(
                self.connector
                    .unwrap_or_else(|| Arc::new(ChildProcesses { trampoline: self.trampoline })),
                usize::MAX,
            ),
            never: Cancel::new(),
        };
        Engine::new(catalog, settings).reloading(reload)
    }

    /// Sets a switch that ends the loading early. Hooks that have not replied by then are invalid.
    pub fn cancel(self, cancel: Cancel) -> Self {
        Self { cancel: Some(cancel), ..self }
    }

    /// Sets what starts the processes of runtime hooks. By default they are children of this process.
    pub fn connector(self, connector: Arc<dyn Connector>) -> Self {
        Self { connector: Some(connector), ..self }
    }

    /// Sets the environment of hooks, if it differs from [`vars`](Self::vars).
    pub fn environment(self, environment: HookEnvironment) -> Self {
        Self { environment, ..self }
    }

    /// Reads the state of the files that decide when hooks run: as long as it is the same, so are the [`Catalog::summaries`]. `settings`
    /// are files of settings that the policies come from.
    ///
    /// # Errors
    /// A directory or file cannot be read, so that nothing can be said about changes.
    pub fn hook_files(&self, settings: &[PathBuf]) -> io::Result<HookFiles> {
        let directories = self.user_directories();
        let trust = directories.trust_file();
        let managed = directories.managed.config_file();
        let outer = self.find_outer_projects(|| self.trust_store().0).roots;
        HookFiles::read(&self.layout(outer), &[settings, &[trust, managed]].concat())
    }

    /// Sets the program that fires the events, as runtime hooks read it when they are started; by default `tenter`.
    pub fn host(self, host: impl Into<String>) -> Self {
        Self { host: Some(host.into()), ..self }
    }

    /// Finds the hooks, with what `store` trusts.
    pub fn load_catalog(&self, store: &TrustStore) -> (Catalog, Vec<Diagnostic>) {
        let cache = self.user_directories().cache.map(|cache| cache.join("hooks.bin"));
        let outer = self.find_outer_projects(|| store.clone());
        let outer_diagnostics: Vec<Diagnostic> = outer.diagnostics().collect();
        let (catalog, hook_diagnostics) = catalog::load(&LoadRequest {
            layout: &self.layout(outer.roots),
            trust: self.trust,
            store,
            cache: cache.as_deref(),
            environment: &self.hook_environment(),
            policies: &self.policies,
            query_timeout: self.query_timeout,
            tool_names: &self.tool_names,
            cancel: &self.cancel.clone().unwrap_or_default(),
        });
        (catalog, [outer_diagnostics, hook_diagnostics].concat())
    }

    /// Prepares for a program that fires a single event: a process that would be called only once is not started if the hook has
    /// a one-shot form. Without effect if there is a [`connector`](Self::connector).
    pub fn one_event(self) -> Self {
        Self { prefers_one_shot: true, ..self }
    }

    /// Sets the projects around the project whose hooks run in it, too (R89), if they are known already. Otherwise, and when hooks are
    /// loaded again, the engine looks for them.
    pub fn outer_projects(self, outer: OuterProjects) -> Self {
        Self { outer: Some(outer), ..self }
    }

    /// Sets how long an executable hook may take to name its events; 5 seconds by default.
    pub fn query_timeout(self, query_timeout: Duration) -> Self {
        Self { query_timeout, ..self }
    }

    /// Sets how hooks that change while the engine runs are loaded again. By default they run if the trust store has
    /// their new content; the user is not asked (R75).
    pub fn reload(self, reload: Arc<dyn Reload>) -> Self {
        Self { reload: Some(reload), ..self }
    }

    /// Returns the inputs of the facts about a call, besides the call, for the hooks of `catalog`.
    pub fn surroundings(&self, catalog: &Catalog) -> CallSurroundings {
        let outer = catalog.states().iter().map(|(project, _)| project);
        let outer = outer.filter(|project| **project != self.project);
        let outer = outer.map(|project| self.surroundings_in(project)).collect();
        self.surroundings_in(&self.project).with_outer(outer)
    }

    /// Sets a program that lets the processes of runtime hooks die with this one even if it is killed (S9). Without one, they
    /// have to end at the end of their stdin then.
    pub fn trampoline(self, trampoline: Trampoline) -> Self {
        Self { trampoline: Some(trampoline), ..self }
    }

    /// Opens the trust store of the user.
    pub fn trust_store(&self) -> (TrustStore, Vec<Diagnostic>) {
        TrustStore::open(self.user_directories().trust_file())
    }
}

/// Loads hooks again as the engine's builder did, under what is trusted by then.
struct FromDisk(EngineBuilder);

impl Reload for FromDisk {
    fn load(&self, cancel: &Cancel) -> Catalog {
        let builder = self.0.clone().cancel(cancel.clone());
        builder.load_catalog(&builder.trust_store().0).0
    }
}
