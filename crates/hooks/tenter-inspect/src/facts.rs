//! Facts on the pages that are not in the journal. The embedding program knows them.

use std::collections::BTreeMap;

use crate::figures::KnownHook;

/// The hooks and agents that the embedding program knows. The methods are called for each page, on any thread; cache
/// results that take long.
pub trait Facts: Send + Sync {
    /// The hooks of the project that can run.
    fn hooks(&self) -> Vec<KnownHook>;

    /// The agents in which hooks can run.
    fn hosts(&self) -> Vec<HostStatus>;

    /// The titles of sessions by id: the first words of their first message.
    fn titles(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// The files of a hook as they were trusted with this hash.
    fn source(&self, hook: &str, hash: &str) -> Option<HookSource>;
}

/// The files of a hook.
#[derive(Debug, Clone, Default)]
pub struct HookSource {
    /// Their origin, as a sentence.
    pub origin: String,
    /// Each file: its path within the parent of the hook's directory, and its text; `None` if it is not text, or too long.
    pub files: Vec<(String, Option<String>)>,
}

/// An agent.
#[derive(Debug, Clone, Default)]
pub struct HostStatus {
    /// The id, such as `claude-code`.
    pub id: String,
    /// The name.
    pub name: String,
    /// True if there is a sign of it on this machine.
    pub is_installed: bool,
    /// The places where hooks are registered with it.
    pub registrations: Vec<HostRegistration>,
    /// When it last had an event, in RFC 3339.
    pub last_event: Option<String>,
    /// The last proof.
    pub proof: Option<HostProof>,
    /// The last denied call that it ran all the same: what happened, and when.
    pub breach: Option<(String, String)>,
}

/// A registration with an agent.
#[derive(Debug, Clone, Default)]
pub struct HostRegistration {
    /// For whom: the user or a project.
    pub scope: String,
    /// The settings file.
    pub file: String,
    /// The problem with it, if there is one.
    pub flaw: Option<String>,
}

/// The result of proving an agent.
#[derive(Debug, Clone, Default)]
pub struct HostProof {
    /// The version of the agent.
    pub version: String,
    /// When, in RFC 3339.
    pub at: String,
    /// Number of checks that hold.
    pub proved: usize,
    /// The broken checks, each with the observation.
    pub broken: Vec<(String, String)>,
}
