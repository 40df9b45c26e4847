//! The promises of a confinement, and the report of which ones hold.

use std::fmt;

use tenter_protocol::confinement::ConfinedFact;

/// A promise and how it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromiseReport {
    /// The name, such as `write`.
    pub name: &'static str,
    /// The state.
    pub state: PromiseState,
    /// The layer that keeps it, or the reason why it is not kept.
    pub why: String,
}

/// The state of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromiseState {
    /// It holds.
    Kept,
    /// It holds with exceptions.
    Partly,
    /// It does not hold.
    NotKept,
}

impl PromiseReport {
    pub(crate) fn kept(name: &'static str, why: impl Into<String>) -> Self {
        Self { name, state: PromiseState::Kept, why: why.into() }
    }

    pub(crate) fn partly(name: &'static str, why: impl Into<String>) -> Self {
        Self { name, state: PromiseState::Partly, why: why.into() }
    }

    pub(crate) fn not_kept(name: &'static str, why: impl Into<String>) -> Self {
        Self { name, state: PromiseState::NotKept, why: why.into() }
    }

    /// Returns true if a confinement demands it: `otherwise` applies if it is not kept. The others are additions.
    pub fn is_demanded(&self) -> bool {
        matches!(self.name, "write" | "read_not") || self.name.starts_with("network ")
    }

    /// Returns true if it is demanded and does not hold at all.
    pub fn is_broken(&self) -> bool {
        self.is_demanded() && self.state == PromiseState::NotKept
    }
}

impl fmt::Display for PromiseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            PromiseState::Kept => "kept",
            PromiseState::Partly => "partly",
            PromiseState::NotKept => "not kept",
        };
        write!(f, "{:<14} {state:<9} {}", self.name, self.why)
    }
}

/// Returns the fact about a call that ran with these promises.
pub(crate) fn fact(profile: String, promises: &[PromiseReport]) -> ConfinedFact {
    let (kept, not_kept): (Vec<_>, Vec<_>) =
        promises.iter().partition(|promise| promise.state != PromiseState::NotKept);
    ConfinedFact {
        profile,
        kept: kept.iter().map(|promise| promise.name.to_owned()).collect(),
        not_kept: not_kept.iter().map(|one| format!("{}: {}", one.name, one.why)).collect(),
    }
}
