//! The states of an agent's process that change what its commands can do, such as running as root.

use serde::{Deserialize, Serialize};

use crate::Containment;

/// A state of an agent's process that rules can test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It runs as root, so that `sudo` changes nothing.
    Root,
    /// It runs in a container that keeps in what it does (R90).
    Container,
    /// It can send input to a command that already runs, and hooks do not see it.
    UnseenInput,
}

impl AgentState {
    /// Every state with its word in manifests.
    pub const WORDS: [(&'static str, Self); 3] =
        [("root", Self::Root), ("container", Self::Container), ("unseen_input", Self::UnseenInput)];

    /// Returns the states of this process.
    pub fn read_process(containment: &Containment<'_>) -> Vec<Self> {
        let is_root = rustix::process::geteuid().is_root();
        let is_container = containment.holds();
        let root = is_root.then_some(Self::Root);
        root.into_iter().chain(is_container.then_some(Self::Container)).collect()
    }
}
