//! Ready-made hooks in Rust: `metadata.ready_made` of a manifest names one, and its settings are those of the manifest.
//!
//! Each is one function from an event to a reply. They need no interpreter, start no process of their own, and read no payload as text.
//! The manifests are part of the commands; nothing here is known to the fold.

mod budget;
mod call;
mod checkpoint;
mod conventions;
mod format;
mod lint;
mod notify;
mod project_tools;
mod prompt_injection;
mod repeated_failure;
mod session_context;
mod tests_before_stop;

use std::fmt;

use tenter_base::{did_you_mean, or_list};
use tenter_protocol::Reply;

pub(crate) use call::ReadyMadeCall;

/// The function of a ready-made hook. An error is the reason why the run failed, as a sentence.
type ReplyFunction = fn(&ReadyMadeCall<'_>) -> Result<Reply, String>;

/// A ready-made hook.
#[derive(Clone, Copy)]
pub struct ReadyMade {
    name: &'static str,
    reply: ReplyFunction,
}

const fn row(name: &'static str, reply: ReplyFunction) -> ReadyMade {
    ReadyMade { name, reply }
}

/// Every ready-made hook, by the name in manifests.
static TABLE: [ReadyMade; 10] = [
    row("format", format::reply),
    row("lint", lint::reply),
    row("tests-before-stop", tests_before_stop::reply),
    row("session-context", session_context::reply),
    row("notify", notify::reply),
    row("checkpoint", checkpoint::reply),
    row("conventions", conventions::reply),
    row("budget", budget::reply),
    row("repeated-failure", repeated_failure::reply),
    row("prompt-injection", prompt_injection::reply),
];

impl ReadyMade {
    /// Returns the ready-made hook with this name.
    ///
    /// # Errors
    /// There is none; the text says which there are.
    pub fn named(name: &str) -> Result<Self, String> {
        TABLE.iter().find(|row| row.name == name).copied().ok_or_else(|| {
            let names = TABLE.each_ref().map(|row| row.name);
            did_you_mean(name, &names, || format!("ready-made hooks are {}", or_list(&names)))
        })
    }

    /// Returns the name in manifests.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Replies to an event.
    ///
    /// # Errors
    /// The reason why the run failed.
    pub(crate) fn reply(self, call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
        (self.reply)(call)
    }
}

impl fmt::Debug for ReadyMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadyMade").field(&self.name).finish()
    }
}

/// Returns a reply that adds context for the model.
fn context(text: impl Into<String>) -> Reply {
    Reply { context: Some(text.into()), ..Reply::default() }
}

/// Returns a reply that denies.
fn deny(reason: impl Into<String>) -> Reply {
    use tenter_protocol::Verdict;
    use tenter_protocol::reply::VerdictKind;
    let verdict = Verdict::new(VerdictKind::Deny, Some(reason.into()));
    Reply { verdict: Some(verdict), ..Reply::default() }
}
