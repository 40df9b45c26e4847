//! The catalog: which hooks run at which event, and why the others do not.
//!
//! Loading finds, examines and orders hooks. It asks the user nothing, and runs nothing that is untrusted (R11).

mod examine;
mod hook_files;
mod hook_summaries;
mod listing;
mod lost;
mod manifest;
mod outline;
mod ownership;
mod policy;
mod precedence;
mod surroundings;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tenter_base::nearest;
use tenter_proc::Cancel;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::tool_names::ToolNames;
use tenter_protocol::{Diagnostic, EventName, Severity};

pub use hook_files::HookFiles;
pub use hook_summaries::HookSummaries;
pub(crate) use listing::Missing;
pub use listing::{ListedHook, Loss, LostHook, Status, Untrusted};
pub use policy::{PolicyOverride, PolicyTable};

use crate::environment::HookEnvironment;
use crate::hook::Hook;
use crate::layer::Layer;
use crate::layout::{HOOKS, ResourceLayout, Root};
use crate::query::{Cache, Query};
use crate::source::{self, Candidate, HookSettings};
use crate::trust::{Hasher, MAX_LOAD_BYTES, ProjectState, ProjectTrust, TrustMode, TrustStore};
use policy::Policies;
use precedence::Gate;
use surroundings::Surroundings;

/// The input for loading a catalog.
pub(crate) struct LoadRequest<'a> {
    /// The directories to search.
    pub(crate) layout: &'a ResourceLayout,
    /// True if project hooks need to be trusted.
    pub(crate) trust: TrustMode,
    /// The trust store.
    pub(crate) store: &'a TrustStore,
    /// The file that caches replies; without it every hook is queried.
    pub(crate) cache: Option<&'a Path>,
    /// The environment of hooks (R40).
    pub(crate) environment: &'a HookEnvironment,
    /// The policies of hooks.
    pub(crate) policies: &'a PolicyTable,
    /// Timeout of a query for events, usually [`QUERY_TIMEOUT`](crate::query::QUERY_TIMEOUT).
    pub(crate) query_timeout: Duration,
    /// The names of the agent's tools.
    pub(crate) tool_names: &'a ToolNames,
    /// Cancels loading; hooks that were not queried by then are invalid.
    pub(crate) cancel: &'a Cancel,
}

/// All hooks that were found. Immutable.
#[derive(Debug, Default, Clone)]
pub struct Catalog {
    hooks: Vec<Arc<Hook>>,
    /// The hooks of each event, in the order of the table of events.
    by_event: [Arc<[Arc<Hook>]>; TABLE.len()],
    listing: Vec<ListedHook>,
    untrusted: Vec<Untrusted>,
    missing: Vec<Missing>,
    lost_hooks: Vec<LostHook>,
    states: Vec<(PathBuf, ProjectState)>,
    summaries: Arc<HookSummaries<'static>>,
}

impl Catalog {
    /// Creates a catalog of these hooks only, which must be in the order of precedence.
    pub fn new(hooks: Vec<Hook>) -> Self {
        Self::from_shared(hooks.into_iter().map(Arc::new).collect())
    }

    /// Returns the catalog with `renewed` instead of `hook`.
    pub(crate) fn with_renewed(&self, hook: &Arc<Hook>, renewed: &Arc<Hook>) -> Self {
        let replace =
            |one: &Arc<Hook>| Arc::clone(if Arc::ptr_eq(one, hook) { renewed } else { one });
        let indexed = Self::from_shared(self.hooks.iter().map(replace).collect());
        Self { hooks: indexed.hooks, by_event: indexed.by_event, ..self.clone() }
    }

    /// Returns the catalog with these hooks of the embedding program, which come first among the user's hooks.
    pub(crate) fn with_native(self, native: impl IntoIterator<Item = Hook>) -> Self {
        let mut hooks: Vec<Arc<Hook>> = native.into_iter().map(Arc::new).collect();
        if hooks.is_empty() {
            return self;
        }
        hooks.extend(self.hooks.iter().cloned());
        // Hooks of one layer and priority keep their order.
        hooks.sort_by_key(|hook| hook.layer);
        let indexed = Self::from_shared(hooks);
        Self { hooks: indexed.hooks, by_event: indexed.by_event, ..self }
    }

    /// Returns the hooks that decide about tool calls without a process, and the names of those that need one.
    #[doc(hidden)]
    pub fn without_processes(&self) -> (Self, Vec<String>) {
        let hooks = self.hooks_for(EventName::BeforeTool).iter();
        let hooks = hooks.filter(|hook| !hook.policy.asynchronous).cloned();
        let (deciding, others): (Vec<_>, Vec<_>) = hooks.partition(|hook| hook.is_static());
        let concerns_tools = |missing: &&Missing| {
            let events = missing.events.as_ref();
            events.is_none_or(|events| events.contains(&EventName::BeforeTool))
        };
        let missing = self.missing.iter().filter(concerns_tools).map(|missing| &missing.name);
        let names = others.iter().map(|hook| &hook.name).chain(missing).cloned().collect();
        let indexed = Self::from_shared(deciding);
        let states = self.states.clone();
        (
            Self { hooks: indexed.hooks, by_event: indexed.by_event, states, ..Self::default() },
            names,
        )
    }

    /// Returns the catalog without the hooks that a user can disable.
    #[doc(hidden)]
    #[must_use]
    pub fn only_managed(&self) -> Self {
        let is_managed = |hook: &&Arc<Hook>| hook.layer == Layer::Managed;
        let indexed = Self::from_shared(self.hooks.iter().filter(is_managed).cloned().collect());
        let missing = self.missing.iter().filter(|missing| missing.layer == Layer::Managed);
        let (missing, states) = (missing.cloned().collect(), self.states.clone());
        Self {
            hooks: indexed.hooks,
            by_event: indexed.by_event,
            missing,
            states,
            ..Self::default()
        }
    }

    fn from_shared(hooks: Vec<Arc<Hook>>) -> Self {
        let hooks = precedence::dispatch_order(hooks);
        let subscribers = |event| {
            hooks.iter().filter(move |hook| hook.subscription(event).is_some()).cloned().collect()
        };
        Self {
            by_event: TABLE.each_ref().map(|row| subscribers(row.event)),
            hooks,
            ..Self::default()
        }
    }

    /// Returns the active hooks, in the order in which they run (R22).
    pub fn hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// Returns the active hooks that subscribe to `event`, in the order in which they run.
    pub fn hooks_for(&self, event: EventName) -> &[Arc<Hook>] {
        // The enum is declared in the table's order.
        &self.by_event[event as usize]
    }

    /// Returns all entries that were found, highest precedence first.
    pub fn listing(&self) -> &[ListedHook] {
        &self.listing
    }

    /// Returns the project hooks that would run if they were trusted (R46).
    pub fn untrusted(&self) -> &[Untrusted] {
        &self.untrusted
    }

    /// Returns the hooks that were found and cannot run. One that fails closed blocks its events (R61).
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Returns the project hooks that were trusted and no longer run, unless the user accepted this state of the project (R73).
    pub fn lost(&self) -> &[LostHook] {
        &self.lost_hooks
    }

    /// Returns the events and matchers of all hooks, whether they run or not.
    pub fn summaries(&self) -> &HookSummaries<'static> {
        &self.summaries
    }

    /// Returns the state of each project, the outermost first, for the user to accept.
    pub fn states(&self) -> &[(PathBuf, ProjectState)] {
        &self.states
    }
}

/// Finds, examines and orders all hooks. A broken hook is listed as such and shadows no other (R9, R13).
///
/// The hooks of each project are loaded on their own, the outermost first: its trust, its `hooks.toml` and its state concern no
/// other project, and none of its running hooks is shadowed by a hook of an inner project (R89).
pub(crate) fn load(request: &LoadRequest) -> (Catalog, Vec<Diagnostic>) {
    let hasher = Hasher::new(MAX_LOAD_BYTES, request.cancel);
    let own_hasher = Hasher::new(u64::MAX, request.cancel);
    let cache = Cache::open(request.cache);
    let mut loader = Loader {
        request,
        cache,
        hasher: &hasher,
        own_hasher: &own_hasher,
        directories: HashSet::new(),
        hooks: Vec::new(),
        outer: OuterHooks::new(),
        summaries: HookSummaries::default(),
        catalog: Catalog::default(),
        diagnostics: Vec::new(),
    };
    for project in request.layout.projects() {
        loader.load_project(&project);
    }
    loader.finish()
}

/// The running hooks of outer projects by full name: their files or directories.
type OuterHooks = BTreeMap<String, PathBuf>;

/// Loads the hooks of one project after another.
struct Loader<'a> {
    request: &'a LoadRequest<'a>,
    cache: Cache,
    /// Hashes the projects' files.
    hasher: &'a Hasher<'a>,
    /// Hashes the user's files.
    own_hasher: &'a Hasher<'a>,
    /// The real paths of the hooks directories of the projects so far.
    directories: HashSet<PathBuf>,
    hooks: Vec<Hook>,
    outer: OuterHooks,
    summaries: HookSummaries<'static>,
    catalog: Catalog,
    diagnostics: Vec<Diagnostic>,
}

impl Loader<'_> {
    /// Adds the hooks of a project; with the engine's own project, the user's hooks as well.
    fn load_project(&mut self, layout: &ResourceLayout) {
        let request = self.request;
        let is_outer = layout.project != request.layout.project;
        let roots = self.roots(layout);
        let candidates = self.candidates(&roots, layout);
        let (settings, setting_diagnostics) = HookSettings::read(&roots);
        let (surroundings, exposed) =
            Surroundings::read(&roots, &candidates, &mut self.cache, self.hasher);
        self.diagnostics.extend(exposed);
        let project_trust = request.store.project(&layout.project);
        let examiner = examine::Examiner {
            query: Query {
                project: &layout.project,
                environment: request.environment,
                timeout: request.query_timeout,
                cancel: request.cancel,
            },
            mode: request.trust,
            project_trust,
            settings: &settings,
            surroundings: &surroundings,
            hasher: self.hasher,
            own_hasher: self.own_hasher,
        };
        let examined = examiner.examine_all(candidates, &mut self.cache);
        self.diagnostics.extend(setting_diagnostics);
        let policies = Policies { project_table: request.policies, settings: &settings };
        let state = lost::state(&examined, &settings);
        let summaries = HookSummaries::new(&examined);
        let gate = Gate {
            mode: request.trust,
            project_trust,
            store: Some(request.store),
            project: &layout.project,
            is_outer,
            outer: &self.outer,
        };
        let mut resolution = precedence::resolve(examined, policies, gate);
        resolution.set_tool_names(request.tool_names);
        let expected = match request.trust {
            TrustMode::Gate if !project_trust.is_accepted(&state) => project_trust,
            _ => ProjectTrust::default(),
        };
        let lost_hooks = lost::lost(expected, &layout.project, &resolution.listing, policies);
        self.summaries.extend(summaries.with(&resolution.missing));
        if is_outer {
            resolution.keep_of_project();
        }
        self.diagnostics.extend(resolution.diagnostics);
        self.diagnostics.extend(lost_hooks.iter().map(lost::diagnostic));
        self.diagnostics.extend(unmet(&settings, &resolution.listing));
        let running = resolution.hooks.iter();
        let running = running.filter_map(|hook| Some((hook.name.clone(), hook.path.clone()?)));
        self.outer.extend(running);
        self.hooks.extend(resolution.hooks);
        self.catalog.listing.extend(resolution.listing);
        self.catalog.untrusted.extend(resolution.untrusted_hooks);
        self.catalog.missing.extend(resolution.missing);
        self.catalog.lost_hooks.extend(lost_hooks);
        self.catalog.states.push((layout.project.clone(), state));
    }

    /// Returns the candidates in hooks directories.
    fn candidates(&mut self, roots: &[Root], layout: &ResourceLayout) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (directory, root) in roots.iter().enumerate() {
            let (mut in_root, problems) = source::scan(root, directory);
            if root.layer == Layer::Managed {
                for candidate in &mut in_root {
                    ownership::examine(&layout.managed, root.within.as_deref(), candidate);
                }
            }
            candidates.extend(in_root);
            self.diagnostics.extend(problems);
        }
        candidates
    }

    /// Returns the hooks directories of a project and of the user, without those that are an outer project's, too.
    fn roots(&mut self, layout: &ResourceLayout) -> Vec<Root> {
        let (mut roots, problems) = layout.roots(&HOOKS);
        self.diagnostics.extend(problems);
        let mut directories = Vec::new();
        roots.retain(|root| {
            let real = root.layer.needs_trust().then(|| fs::canonicalize(&root.dir).ok());
            let Some(directory) = real.flatten() else { return true };
            let is_new = !self.directories.contains(&directory);
            directories.extend(is_new.then_some(directory));
            is_new
        });
        self.directories.extend(directories);
        roots
    }

    fn finish(mut self) -> (Catalog, Vec<Diagnostic>) {
        if let (Err(error), Some(path)) = (self.cache.save(), self.request.cache) {
            self.diagnostics.push(unsaved(path, &error));
        }
        let mut diagnostics = Vec::new();
        for diagnostic in self.diagnostics {
            // What is wrong with the user's hooks is found with every project.
            if !diagnostics.contains(&diagnostic) {
                diagnostics.push(diagnostic);
            }
        }
        let Catalog { hooks, by_event, .. } = Catalog::new(self.hooks);
        let summaries = Arc::new(self.summaries);
        (Catalog { hooks, by_event, summaries, ..self.catalog }, diagnostics)
    }
}

/// Returns warnings about names in a `hooks.toml` that no hook has.
fn unmet(settings: &HookSettings, listing: &[ListedHook]) -> Vec<Diagnostic> {
    let strangers =
        settings.names().filter_map(|(path, name)| Some((path, no_such(name, listing)?)));
    strangers.map(|(path, finding)| finding.at(path)).collect()
}

/// Returns a warning if no hook has the name of a setting.
pub fn no_such(name: &str, listing: &[ListedHook]) -> Option<Diagnostic> {
    if listing.iter().any(|hook| hook.name == name) {
        return None;
    }
    let near = nearest(name, listing.iter().map(|hook| hook.name.as_str()));
    let severity = if near.is_some() { Severity::Warning } else { Severity::Info };
    let message = format!("no hook is named {name:?}");
    let finding = Diagnostic::new("hook-setting-names-nothing", severity, message);
    Some(match near {
        Some(near) => finding.help(format!("did you mean {near}?")),
        None => finding,
    })
}

fn unsaved(cache: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!("cannot write the cache of hook replies: {error}");
    Diagnostic::new("hook-cache-unwritable", Severity::Info, message)
        .at(cache)
        .help("make the directory writable for you; until then every start queries every hook")
}
