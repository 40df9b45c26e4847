//! The settings of an engine, from its builder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use tenter_base::Clock;
use tenter_proc::Cancel;
use tenter_protocol::tool_names::ToolNames;

use crate::environment::HookEnvironment;
use crate::facts::CallSurroundings;
use crate::hook_values::HookValues;
use crate::journal::Redactor;
use crate::keys::KeyMask;
use crate::observe::Observer;
use crate::serving::Pool;

/// Decides whether a callback can start, given the name of a recipe and its arguments. An error says why it cannot.
pub type CallbackCheck =
    Arc<dyn Fn(&str, &BTreeMap<String, String>) -> Result<(), String> + Send + Sync>;

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
    /// The inputs of the facts about a call, besides the call.
    pub(crate) surroundings: Arc<CallSurroundings>,
    /// The program `tenter`, which posts payloads to hooks behind HTTP; without it they fail.
    pub(crate) http_client: Option<PathBuf>,
    /// Masks the values of model keys in replies.
    pub(crate) keys: KeyMask,
    /// Removes secrets from what hooks read of a conversation.
    pub(crate) redactor: Redactor,
    /// The values that hooks keep; `None` without a state directory.
    pub(crate) values: Option<HookValues>,
    /// True if runtime hooks run in the one-shot form if they have one.
    pub(crate) prefers_one_shot: bool,
    /// The processes of runtime hooks.
    pub(crate) serving: Pool,
    /// A switch that is never cancelled.
    pub(crate) never: Cancel,
}
