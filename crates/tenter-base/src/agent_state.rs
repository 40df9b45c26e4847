//! What is special about the process of an agent: what its commands may do depends on it.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// What is special about the process of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It runs as root, so that `sudo` changes nothing.
    Root,
    /// It runs in a container.
    Container,
}

impl AgentState {
    /// Every state with its word in manifests.
    pub const WORDS: [(&'static str, Self); 2] =
        [("root", Self::Root), ("container", Self::Container)];

    /// The states of this process.
    pub fn of_process() -> Vec<Self> {
        /// Files that the common container engines put into every container.
        const MARKS: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];
        let is_root = rustix::process::geteuid().is_root();
        let is_container = MARKS.iter().any(|mark| Path::new(mark).exists());
        let root = is_root.then_some(Self::Root);
        root.into_iter().chain(is_container.then_some(Self::Container)).collect()
    }
}
