//! What the pages show that is not in the journal. The embedding program knows it.

use crate::figures::KnownHook;

/// What the embedding program knows about hooks and agents. The methods are called for each page, on any thread; an answer that takes
/// long should be kept.
pub trait Facts: Send + Sync {
    /// The hooks of the project that can run.
    fn hooks(&self) -> Vec<KnownHook>;

    /// The agents in which hooks can run.
    fn hosts(&self) -> Vec<HostStatus>;

    /// The files of a hook as they were trusted with this hash.
    fn source(&self, hook: &str, hash: &str) -> Option<HookSource>;
}

/// The files of a hook.
#[derive(Debug, Clone, Default)]
pub struct HookSource {
    /// Where they come from, as a sentence.
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
    /// Whether there is a sign of it on this machine.
    pub is_installed: bool,
    /// Where hooks are registered with it.
    pub registrations: Vec<HostRegistration>,
    /// When it last had an event, in RFC 3339.
    pub last_event: Option<String>,
    /// What was proved last.
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
    /// What is wrong with it.
    pub flaw: Option<String>,
}

/// What was proved of an agent.
#[derive(Debug, Clone, Default)]
pub struct HostProof {
    /// The version of the agent.
    pub version: String,
    /// When, in RFC 3339.
    pub at: String,
    /// Number of checks that hold.
    pub proved: usize,
    /// What is broken: each check, and what was seen.
    pub broken: Vec<(String, String)>,
}
