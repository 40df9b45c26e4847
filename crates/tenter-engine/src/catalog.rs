//! The catalog: which hooks run at which event, and why the others do not.
//!
//! Loading finds, examines and orders hooks. It asks the user nothing, and runs nothing that is untrusted (R11).

mod concerns;
mod examine;
mod hook_files;
mod listing;
mod lost;
mod manifest;
mod outline;
mod policy;
mod precedence;
mod surroundings;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tenter_base::nearest;
use tenter_proc::Cancel;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::tool_names::ToolNames;
use tenter_protocol::{Diagnostic, EventName, Severity};

pub use concerns::Concerns;
pub use hook_files::HookFiles;
pub use listing::{ListedHook, Loss, LostHook, Missing, Status, Untrusted};
pub use policy::{PolicyOverride, PolicyTable};

use crate::environment::HookEnvironment;
use crate::hook::Hook;
use crate::layout::{HOOKS, Layout};
use crate::query::{Cache, Query};
use crate::source::{self, HookSettings};
use crate::trust::{Hasher, MAX_LOAD_BYTES, ProjectState, ProjectTrust, TrustMode, TrustStore};
use policy::Policies;
use precedence::Gate;
use surroundings::Surroundings;

/// The input for loading a catalog.
pub(crate) struct LoadRequest<'a> {
    /// The directories to search.
    pub(crate) layout: &'a Layout,
    /// Whether project hooks need to be trusted.
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
    lost: Vec<LostHook>,
    state: ProjectState,
    concerns: Concerns,
}

impl Catalog {
    /// Creates a catalog of these hooks only, which must be in the order of precedence.
    pub fn of(hooks: Vec<Hook>) -> Self {
        Self::of_shared(hooks.into_iter().map(Arc::new).collect())
    }

    /// Returns the catalog with `renewed` instead of `hook`.
    pub(crate) fn with_renewed(&self, hook: &Arc<Hook>, renewed: &Arc<Hook>) -> Self {
        let replace =
            |one: &Arc<Hook>| Arc::clone(if Arc::ptr_eq(one, hook) { renewed } else { one });
        let of_hooks = Self::of_shared(self.hooks.iter().map(replace).collect());
        Self { hooks: of_hooks.hooks, by_event: of_hooks.by_event, ..self.clone() }
    }

    /// Returns the catalog with these hooks of the embedding program, which come first among those of the user's.
    pub(crate) fn with_native(self, native: impl IntoIterator<Item = Hook>) -> Self {
        let mut hooks: Vec<Arc<Hook>> = native.into_iter().map(Arc::new).collect();
        if hooks.is_empty() {
            return self;
        }
        hooks.extend(self.hooks.iter().cloned());
        // Hooks of one layer and priority keep their order.
        hooks.sort_by_key(|hook| hook.layer);
        let of_hooks = Self::of_shared(hooks);
        Self { hooks: of_hooks.hooks, by_event: of_hooks.by_event, ..self }
    }

    fn of_shared(hooks: Vec<Arc<Hook>>) -> Self {
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

    /// The active hooks, in the order in which they run (R22).
    pub fn hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// The active hooks that subscribe to `event`, in the order in which they run.
    pub fn hooks_for(&self, event: EventName) -> &[Arc<Hook>] {
        // The enum is declared in the table's order.
        &self.by_event[event as usize]
    }

    /// All entries that were found, highest precedence first.
    pub fn listing(&self) -> &[ListedHook] {
        &self.listing
    }

    /// The project hooks that would run if they were trusted (R46).
    pub fn untrusted(&self) -> &[Untrusted] {
        &self.untrusted
    }

    /// The hooks that were found and cannot run. One that fails closed blocks its events (R61).
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// The project hooks that were trusted and no longer run, unless the user accepted this state of the project (R73).
    pub fn lost(&self) -> &[LostHook] {
        &self.lost
    }

    /// What the hooks that were found are about, whether they run or not.
    pub fn concerns(&self) -> &Concerns {
        &self.concerns
    }

    /// The state of the project, for the user to accept.
    pub fn state(&self) -> &ProjectState {
        &self.state
    }
}

/// Finds, examines and orders all hooks. A broken hook is listed as such and shadows no other (R9, R13).
pub(crate) fn load(request: &LoadRequest) -> (Catalog, Vec<Diagnostic>) {
    let (roots, mut diagnostics) = request.layout.roots(&HOOKS);
    let mut candidates = Vec::new();
    for (directory, root) in roots.iter().enumerate() {
        let (found, problems) = source::scan(root, directory);
        candidates.extend(found);
        diagnostics.extend(problems);
    }
    let (settings, of_settings) = HookSettings::read(&roots);
    let mut cache = Cache::open(request.cache);
    let hasher = Hasher::new(MAX_LOAD_BYTES, request.cancel);
    let own_hasher = Hasher::new(u64::MAX, request.cancel);
    let (surroundings, exposed) = Surroundings::read(&roots, &candidates, &mut cache, &hasher);
    diagnostics.extend(exposed);
    let trusted = request.store.of(&request.layout.project);
    let examiner = examine::Examiner {
        query: Query {
            project: &request.layout.project,
            environment: request.environment,
            timeout: request.query_timeout,
            cancel: request.cancel,
        },
        mode: request.trust,
        trusted,
        settings: &settings,
        surroundings: &surroundings,
        hasher: &hasher,
        own_hasher: &own_hasher,
    };
    let examined = examiner.examine_all(candidates, &mut cache);
    diagnostics.extend(cache.save().err().and_then(|error| Some(unsaved(request.cache?, &error))));
    diagnostics.extend(of_settings);
    let policies = Policies { configured: request.policies, settings: &settings };
    let state = lost::state(&examined, &settings);
    let concerns = Concerns::of(&examined);
    let mut resolved =
        precedence::resolve(examined, policies, Gate { mode: request.trust, trusted });
    let matchers = resolved.hooks.iter_mut().filter_map(Hook::matcher_mut);
    let of_missing = resolved.missing.iter_mut().filter_map(|missing| missing.matcher.as_mut());
    matchers.chain(of_missing).for_each(|matcher| matcher.set_names(request.tool_names));
    let expected = match request.trust {
        TrustMode::Gate if !trusted.is_accepted(&state) => trusted,
        _ => ProjectTrust::default(),
    };
    let lost = lost::lost(expected, &resolved.listing, policies);
    diagnostics.extend(resolved.diagnostics);
    diagnostics.extend(lost.iter().map(lost::diagnostic));
    diagnostics.extend(unmet(&settings, &resolved.listing));
    let catalog = Catalog {
        listing: resolved.listing,
        untrusted: resolved.untrusted,
        concerns: concerns.with(&resolved.missing),
        missing: resolved.missing,
        lost,
        state,
        ..Catalog::of(resolved.hooks)
    };
    (catalog, diagnostics)
}

/// Returns warnings about names in a `hooks.toml` that no hook has.
fn unmet(settings: &HookSettings, listing: &[ListedHook]) -> Vec<Diagnostic> {
    let strangers =
        settings.names().filter_map(|(path, name)| Some((path, no_such(name, listing)?)));
    strangers.map(|(path, finding)| finding.at(path)).collect()
}

/// Returns a warning if no hook has the name of a setting.
pub fn no_such(name: &str, listing: &[ListedHook]) -> Option<Diagnostic> {
    if listing.iter().any(|listed| listed.name == name) {
        return None;
    }
    let near = nearest(name, listing.iter().map(|listed| listed.name.as_str()));
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
