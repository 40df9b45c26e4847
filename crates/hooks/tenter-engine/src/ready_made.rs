//! Names of ready-made hooks in Rust: `metadata.ready_made` of a manifest names one, and its settings are those in the manifest.

use tenter_base::{did_you_mean, or_list};

/// A ready-made hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadyMade {
    /// Formats the files that a tool wrote.
    Format,
    /// Checks the files that a tool wrote.
    Lint,
    /// Runs the tests before the agent stops.
    TestsBeforeStop,
    /// Adds the state of the project to a session.
    SessionContext,
    /// Notifies the user.
    Notify,
    /// Saves the files of the project at each turn.
    Checkpoint,
    /// Adds texts to prompts and calls that match.
    Conventions,
    /// Limits calls, time, tokens and cost.
    Budget,
    /// Points out a call that fails again and again.
    RepeatedFailure,
    /// Points out texts that give the model orders.
    PromptInjection,
}

impl ReadyMade {
    const ALL: [Self; 10] = [
        Self::Format,
        Self::Lint,
        Self::TestsBeforeStop,
        Self::SessionContext,
        Self::Notify,
        Self::Checkpoint,
        Self::Conventions,
        Self::Budget,
        Self::RepeatedFailure,
        Self::PromptInjection,
    ];

    /// Returns the ready-made hook with this name.
    ///
    /// # Errors
    /// There is none; the text lists the names.
    pub fn named(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|hook| hook.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            did_you_mean(name, &names, || format!("ready-made hooks are {}", or_list(&names)))
        })
    }

    /// Returns the name in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Lint => "lint",
            Self::TestsBeforeStop => "tests-before-stop",
            Self::SessionContext => "session-context",
            Self::Notify => "notify",
            Self::Checkpoint => "checkpoint",
            Self::Conventions => "conventions",
            Self::Budget => "budget",
            Self::RepeatedFailure => "repeated-failure",
            Self::PromptInjection => "prompt-injection",
        }
    }
}
