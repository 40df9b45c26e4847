//! Dispatches past calls to the hooks that decide without a process.

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tenter_base::{AgentState, rfc3339};
use tenter_bridge::hosts;
use tenter_engine::inspect::{Catalog, Reload};
use tenter_engine::layout::project_root;
use tenter_engine::{Cancel, DecisionKind, Engine, EngineBuilder, HookRun, Observer};
use tenter_protocol::event::HostFacts;
use tenter_protocol::{Body, Event, EventName, Scope};

use crate::recorded::RecordedCall;

/// The project of a call without a recorded directory.
pub const UNKNOWN_PROJECT: &str = "/unknown";

/// Maximum number of engines that are kept: one for each project.
const MAX_ENGINES: usize = 256;
/// Maximum number of working directories whose project is remembered.
const MAX_DIRECTORIES: usize = 10_000;

/// The hooks of a project.
pub struct HookSet {
    /// Builds engines for the project.
    pub builder: EngineBuilder,
    /// The hooks.
    pub catalog: Catalog,
}

/// The judgement of hooks about a past call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The answer.
    pub answer: CallAnswer,
    /// The hooks that would have stopped it, in the order in which they run. If the answer is that nothing is known, those that would
    /// have stopped it if its paths led where they seem to.
    pub stops: Vec<RuleStop>,
    /// The root of the project in which the call was made.
    pub project: PathBuf,
}

/// The answer to whether a past call would have been stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallAnswer {
    /// A hook would have denied it, asked about it, or run it with fewer rights.
    Stopped,
    /// No hook would have stopped it.
    Passed,
    /// It depends on files that are gone, or the record of the call is incomplete.
    Unknown,
}

/// A hook that would have stopped a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RuleStop {
    /// The hook.
    pub hook: String,
    /// The rule, if it has rules.
    pub rule: Option<String>,
    /// The decision.
    pub decision: DecisionKind,
    /// The reason for the model.
    pub reason: String,
    /// The part of the call that the rule applies to: a command, or the path of a tool. Empty without rules.
    pub part: String,
}

/// Replays calls, each in its project.
pub struct Replay<'l> {
    load: &'l dyn Fn(&Path) -> HookSet,
    home: PathBuf,
    /// The places of working directories.
    directories: HashMap<PathBuf, CallPlace>,
    /// The engine of each place.
    engines: HashMap<CallPlace, Engine>,
    stops: Arc<StopObserver>,
    /// The names of hooks that need a process.
    undecided_hooks: BTreeSet<String>,
    /// The only hooks that judge; empty for all.
    only: BTreeSet<String>,
}

/// The place of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CallPlace {
    /// The root of the project.
    root: PathBuf,
    /// The working directory, if it no longer exists.
    missing_directory: Option<PathBuf>,
    /// True if the agent can send input to its commands that hooks do not see.
    has_unseen_input: bool,
}

impl<'l> Replay<'l> {
    /// Creates a replay with the hooks that `load` returns for the root of a project, which may no longer exist.
    pub fn new(home: &Path, load: &'l dyn Fn(&Path) -> HookSet) -> Self {
        Self {
            load,
            home: home.to_owned(),
            directories: HashMap::new(),
            engines: HashMap::new(),
            stops: Arc::default(),
            undecided_hooks: BTreeSet::new(),
            only: BTreeSet::new(),
        }
    }

    /// Judges with these hooks only; with all, if there are none.
    #[must_use]
    pub fn with_only(self, hooks: BTreeSet<String>) -> Self {
        Self { only: hooks, ..self }
    }

    /// Returns the names of hooks that need a process, so that they judged no call.
    pub fn undecided(&self) -> &BTreeSet<String> {
        &self.undecided_hooks
    }

    /// Judges a past call.
    pub fn judge(&mut self, call: &RecordedCall) -> Judgement {
        let host = hosts::find(call.host);
        let has_unseen_input = host.is_some_and(|host| host.has_unseen_input);
        let place = CallPlace { has_unseen_input, ..self.place(call.cwd.as_deref()) };
        let event = event(call, &place);
        let present = CallPlace { missing_directory: None, ..place.clone() };
        let stops = self.dispatch(&present, event.clone());
        let is_stopped = !stops.is_empty();
        let is_known = !call.is_cut
            && (place.missing_directory.is_none()
                || is_stopped != self.dispatch(&place, event).is_empty());
        let answer = match (is_known, is_stopped) {
            (false, _) => CallAnswer::Unknown,
            (true, true) => CallAnswer::Stopped,
            (true, false) => CallAnswer::Passed,
        };
        Judgement { answer, stops, project: place.root }
    }

    /// Returns the place of a call. In an unknown directory, nothing is known about any path.
    fn place(&mut self, cwd: Option<&Path>) -> CallPlace {
        let Some(cwd) = cwd else {
            return CallPlace {
                root: PathBuf::from(UNKNOWN_PROJECT),
                missing_directory: Some(PathBuf::from("/")),
                has_unseen_input: false,
            };
        };
        if let Some(place) = self.directories.get(cwd) {
            return place.clone();
        }
        let missing = (!cwd.is_dir()).then(|| cwd.to_owned());
        let place = CallPlace {
            root: project_root(cwd, &self.home),
            missing_directory: missing,
            has_unseen_input: false,
        };
        if self.directories.len() >= MAX_DIRECTORIES {
            self.directories.clear();
        }
        self.directories.insert(cwd.to_owned(), place.clone());
        place
    }

    fn dispatch(&mut self, place: &CallPlace, event: Event) -> Vec<RuleStop> {
        let outcome = self.engine(place).dispatch(event, &Cancel::new());
        let stops = self.stops.take();
        let verdict = outcome.denied().map(|denial| (DecisionKind::Deny, denial));
        let verdict = verdict.or_else(|| outcome.asked().map(|ask| (DecisionKind::Ask, ask)));
        // A hook that failed stops a call without a decision of its own.
        let by_failure = verdict.filter(|_| stops.is_empty());
        let by_failure = by_failure.map(|(decision, (hook, reason))| RuleStop {
            hook: hook.to_owned(),
            rule: None,
            decision,
            reason: reason.to_owned(),
            part: String::new(),
        });
        stops.into_iter().chain(by_failure).collect()
    }

    fn engine(&mut self, place: &CallPlace) -> &Engine {
        if self.engines.len() >= MAX_ENGINES && !self.engines.contains_key(place) {
            self.engines.clear();
        }
        let Self { load, engines, stops, undecided_hooks: undecided, only, .. } = self;
        let is_left_out = |name: &String| !only.is_empty() && !only.contains(name);
        engines.entry(place.clone()).or_insert_with(|| {
            let HookSet { builder, catalog } = load(&place.root);
            let (deciding, others) = catalog.without_processes();
            undecided.extend(others.into_iter().filter(|name| !is_left_out(name)));
            let names = deciding.hooks().iter().map(|hook| hook.name.clone());
            let left_out = names.filter(is_left_out).collect();
            let unseen_input = place.has_unseen_input.then_some(AgentState::UnseenInput);
            let builder = builder.agent_states(unseen_input.into_iter().collect());
            let builder = builder.gone(place.missing_directory.clone()).reload(Arc::new(NoReload));
            builder.observer(Arc::clone(stops) as _).build(deciding).leaving_out(left_out)
        })
    }
}

/// Returns the event of a call, as the bridge dispatches it.
fn event(call: &RecordedCall, place: &CallPlace) -> Event {
    let facts = HostFacts {
        name: call.host.to_owned(),
        tool_name: Some(call.native.tool.clone()),
        ..HostFacts::default()
    };
    let cwd = call.cwd.as_deref().unwrap_or(&place.root);
    let scope = Scope {
        host: Some(Arc::new(facts)),
        time: call.time.map(rfc3339).unwrap_or_default(),
        ..Scope::new(&call.session, cwd)
    };
    Event { scope, body: Body::BeforeTool(call.tool_call()) }
}

/// A hook that changes while calls are replayed is not loaded again.
struct NoReload;

impl Reload for NoReload {
    fn load(&self, _cancel: &Cancel) -> Catalog {
        Catalog::default()
    }
}

/// Collects the hooks that stop a call.
#[derive(Default)]
struct StopObserver(Mutex<Vec<RuleStop>>);

impl StopObserver {
    fn take(&self) -> Vec<RuleStop> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for StopObserver {
    fn hook_ran(&self, run: &HookRun) {
        // A hook in monitor mode decides nothing in an agent; here it shows what it would do.
        let decision = run.would.unwrap_or(run.decision);
        let is_stop =
            matches!(decision, DecisionKind::Deny | DecisionKind::Ask | DecisionKind::Confine);
        if run.event != EventName::BeforeTool || !is_stop {
            return;
        }
        let stop = RuleStop {
            hook: run.hook.clone(),
            rule: run.rule.as_ref().map(|fit| fit.rule.clone()),
            decision,
            reason: run.reason.clone().unwrap_or_default(),
            part: run.rule.as_ref().map(|fit| fit.text.clone()).unwrap_or_default(),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(stop);
    }
}
