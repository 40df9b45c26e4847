//! The settings of an engine, from its builder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tenter_base::Clock;
use tenter_proc::Cancel;
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::tool_names::ToolNames;
use tenter_protocol::{Reply, Verdict};

use crate::configuration::ConfineProfiles;
use crate::environment::HookEnvironment;
use crate::facts::CallSurroundings;
use crate::hook_values::HookValues;
use crate::journal::Redactor;
use crate::keys::KeyMask;
use crate::observe::Observer;
use crate::serving::HookPool;

/// Decides whether a callback can start, given the name of a recipe and its arguments. An error says why it cannot.
pub type CallbackCheck =
    Arc<dyn Fn(&str, &BTreeMap<String, String>) -> Result<(), String> + Send + Sync>;

/// The answers of the launcher about confinements, by their JSON: why they cannot be kept.
#[derive(Debug, Default)]
pub(crate) struct KnownConfinements(pub(crate) Mutex<BTreeMap<String, Option<String>>>);

/// When the calls started that have not ended, in milliseconds since 1970.
#[derive(Debug, Default)]
pub(crate) struct StartedCalls(Mutex<BTreeMap<String, i64>>);

impl StartedCalls {
    pub(crate) fn add(&self, id: &str, start: i64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), start);
    }

    pub(crate) fn take(&self, id: &str) -> Option<i64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

impl ConfineProfiles {
    /// Replaces the confinements of a reply that name a profile by what they mean. If there is no such profile, the user is asked.
    pub(crate) fn resolve(&self, reply: &mut Reply) -> Option<String> {
        let mut all = Vec::new();
        let mut unknown = None;
        for confinement in std::mem::take(&mut reply.confinements) {
            match self.expand(confinement) {
                Ok(confinements) => all.extend(confinements),
                Err(why) => unknown = Some(why),
            }
        }
        reply.confinements = all;
        let why = unknown?;
        let is_stricter =
            reply.verdict.as_ref().is_some_and(|verdict| verdict.kind >= VerdictKind::Ask);
        if !is_stricter {
            reply.verdict = Some(Verdict::new(VerdictKind::Ask, Some(why.clone())));
        }
        Some(why)
    }
}

/// The use of asynchronous hooks by an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AsynchronousHooks {
    /// They start after the other hooks and are not awaited (R22).
    #[default]
    Run,
    /// They do not run. [`has_asynchronous`](crate::HookSession::has_asynchronous) says whether any would.
    Skip,
    /// Only they run, and each event waits until all of its asynchronous hooks have ended. For a process that does what an
    /// engine with [`Skip`](Self::Skip) left out.
    Only,
}

/// The settings of an engine.
pub(crate) struct EngineSettings {
    /// These settings, for what outlives a call.
    pub(crate) this: Weak<Self>,
    /// The program that starts the hooks, as they read it.
    pub(crate) host: String,
    /// The project root, which is the working directory of hooks.
    pub(crate) project: PathBuf,
    pub(crate) environment: HookEnvironment,
    pub(crate) clock: Clock,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    /// Checks callbacks; without it every callback can start.
    pub(crate) callbacks: Option<CallbackCheck>,
    pub(crate) asynchronous: AsynchronousHooks,
    pub(crate) tool_names: ToolNames,
    /// The profiles of confinements.
    pub(crate) confine: ConfineProfiles,
    /// The inputs of the facts about a call, besides the call.
    pub(crate) surroundings: Arc<CallSurroundings>,
    /// The program `tenter`, which posts payloads to hooks behind HTTP; without it they fail.
    pub(crate) http_client: Option<PathBuf>,
    /// The program that runs a command with fewer rights; without it no call can be confined.
    pub(crate) launcher: Option<PathBuf>,
    pub(crate) known_confinements: KnownConfinements,
    /// True if results of shell commands say which files changed.
    pub(crate) reports_changes: bool,
    pub(crate) started_calls: StartedCalls,
    /// Masks the values of model keys in replies.
    pub(crate) keys: KeyMask,
    /// Removes secrets from what hooks read of a conversation.
    pub(crate) redactor: Redactor,
    /// The values that hooks keep; `None` without a state directory.
    pub(crate) values: Option<HookValues>,
    /// True if runtime hooks run in the one-shot form if they have one.
    pub(crate) prefers_one_shot: bool,
    /// True if one process posts all payloads for a hook behind HTTP.
    pub(crate) keeps_http_client: bool,
    /// The processes of runtime hooks.
    pub(crate) serving: HookPool,
    /// A switch that is never cancelled.
    pub(crate) never: Cancel,
}

impl EngineSettings {
    /// Notifies the observers, each with one of its methods.
    pub(crate) fn notify(&self, report: impl Fn(&dyn Observer)) {
        self.observers.iter().for_each(|observer| report(observer.as_ref()));
    }
}
