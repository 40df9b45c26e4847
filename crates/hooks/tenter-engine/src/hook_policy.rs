//! The limits and the priority of a hook, and what its failure means.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model_budget::ModelBudget;

/// Minimum and maximum timeout of a hook in milliseconds (R16).
pub const TIMEOUTS_MS: (u64, u64) = (100, 600_000);
/// Minimum and maximum priority (R16).
pub(crate) const PRIORITIES: (u64, u64) = (0, 1000);

/// The limits and the priority of a hook.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HookPolicy {
    /// Time from start to SIGTERM (R38).
    pub timeout: Duration,
    /// The consequence of a failure (R42); open in monitor mode.
    pub fail: FailMode,
    /// The use of its decisions.
    pub mode: HookMode,
    /// Hooks with a higher priority run earlier; an executable has 100 (R22).
    pub priority: u16,
    /// True if it runs in the background (R22).
    pub asynchronous: bool,
    /// The duration above which a run is reported as too slow. It does not affect the run.
    pub budget: Option<Duration>,
    /// The limits of its model calls in one session, if it uses models (S7).
    pub model: ModelBudget,
}

impl Default for HookPolicy {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            fail: FailMode::Open,
            mode: HookMode::Enforce,
            priority: 100,
            asynchronous: false,
            budget: None,
            model: ModelBudget::default(),
        }
    }
}

/// The use of a hook's decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookMode {
    /// They are applied.
    #[default]
    Enforce,
    /// They are recorded and not applied: the hook changes nothing.
    Monitor,
}

/// The consequence of a hook's failure at an event that it could have blocked (R42).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailMode {
    /// The agent continues, with a warning.
    #[default]
    Open,
    /// The event is denied, with a reason that says that the hook failed.
    Closed,
}
