//! What an engine works with, beside its catalog: values that come in from outside.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tenter_base::Clock;

use crate::environment::HookEnvironment;
use crate::observe::Observer;

/// Decides whether a callback can start: the name of a recipe, its arguments. An error says why it cannot.
pub type CallbackCheck =
    Arc<dyn Fn(&str, &BTreeMap<String, String>) -> Result<(), String> + Send + Sync>;

/// What an engine works with, beside its catalog.
pub struct EngineSettings {
    /// The project root: where hooks start.
    pub project: PathBuf,
    /// The environment of hooks.
    pub environment: HookEnvironment,
    /// The time.
    pub clock: Clock,
    /// Who sees what happens.
    pub observers: Vec<Arc<dyn Observer>>,
    /// Which callbacks can start; without it, all can.
    pub callbacks: Option<CallbackCheck>,
}
