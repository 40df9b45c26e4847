//! Runs one hook for one event: a payload in, a reply or a failure out. Knows no order and decides nothing.
//!
//! `process` says how a hook of either protocol is started, `output` reads what it left behind, `static_action` answers for a hook
//! without code, and `bounded` keeps what is told of that readable.

mod bounded;
mod output;
mod process;
mod static_action;
mod test_run;

use std::borrow::Cow;
use std::time::Duration;

use tenter_base::excerpt;
use tenter_proc::{Cancel, Captured};
use tenter_protocol::executable::{self, Subscription};
use tenter_protocol::{Event, Reply, manifest};
use thiserror::Error;

use crate::facts::facts;
use crate::hook::{Hook, Implementation, Protocol};
use crate::hook_state::Owner;
use crate::matcher::MatcherError;
use crate::settings::EngineSettings;
use crate::trust::{self, Changed};

use process::Program;

pub use test_run::{TestRun, test_run};

/// Lines of stderr that a record keeps.
const STDERR_LINES: usize = 20;
/// Bytes of a failed run's stdout that a record keeps.
const STDOUT_BYTES: usize = 4_000;

/// What one hook is to be told, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The event, in the hook's words.
    pub subscription: Subscription,
    /// The conversation that it is of: the run's `TENTER_SESSION_ID`.
    pub session_id: String,
    /// What the hook reads.
    pub payload: String,
}

/// What came of one run.
pub(crate) struct Report {
    /// The reply, or why there is none.
    pub(crate) answer: Result<Reply, Failure>,
    /// What of the answer was not understood.
    pub(crate) warnings: Vec<String>,
    /// What the hook wanted recorded.
    pub(crate) notes: Vec<String>,
    /// How the process ended, in words, or that there was none.
    pub(crate) exit: String,
    /// How long it took.
    pub(crate) duration: Duration,
    /// What it wrote to stdout.
    pub(crate) stdout: Captured,
    /// What it wrote to stderr.
    pub(crate) stderr: Captured,
}

impl Failure {
    /// Whether it denies whatever the hook's fail mode: the hook is not the one that was trusted (R75), or what happened cannot
    /// happen.
    pub(crate) fn denies_always(&self) -> bool {
        match self {
            Self::Changed(Changed::Content | Changed::Unreadable(_)) | Self::NoPayload(_) => true,
            Self::Changed(Changed::Shared(_))
            | Self::Missing(_)
            | Self::NotStarted(_)
            | Self::TimedOut(_)
            | Self::Cancelled
            | Self::Drained
            | Self::Exit(_)
            | Self::Signal(_)
            | Self::TooLong(_)
            | Self::Reply(_)
            | Self::Rewrite(_)
            | Self::Callback(_)
            | Self::Matcher(_) => false,
        }
    }
}

impl Report {
    fn not_started(failure: Failure) -> Self {
        Self {
            answer: Err(failure),
            warnings: Vec::new(),
            notes: Vec::new(),
            exit: "not started".to_owned(),
            duration: Duration::ZERO,
            stdout: Captured::default(),
            stderr: Captured::default(),
        }
    }

    /// The last lines of stderr: what a record keeps of it.
    pub(crate) fn stderr_tail(&self) -> String {
        bounded::bounded(self.stderr.tail_lines(STDERR_LINES))
    }
}

/// What a failed run wrote to stdout, as text of a length fit for a record.
pub(crate) fn quoted(stdout: &Captured) -> String {
    excerpt::ends(&stdout.text(), STDOUT_BYTES).into_owned()
}

/// Why a run gave no reply (R42).
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Changed(#[from] Changed),
    #[error("it does not run: it {0}")]
    Missing(String),
    #[error("it could not be started: {0}")]
    NotStarted(String),
    #[error("timed out after {}", seconds(*.0))]
    TimedOut(Duration),
    #[error("it was ended because the agent was interrupted")]
    Cancelled,
    #[error("it is asynchronous, still ran when the session was over, and was ended")]
    Drained,
    #[error("it exited with code {0}")]
    Exit(i32),
    #[error("it was ended by signal {0}")]
    Signal(i32),
    #[error("it wrote {0} bytes to stdout; an answer may have 1 MiB")]
    TooLong(u64),
    #[error("{0}")]
    Reply(String),
    #[error("its rewrite cannot be used: {0}")]
    Rewrite(String),
    #[error("its callback cannot start: {0}")]
    Callback(String),
    #[error("the event {0} has no payload for executables")]
    NoPayload(&'static str),
    #[error("{0}")]
    Matcher(#[from] MatcherError),
}

fn seconds(duration: Duration) -> String {
    if duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}

/// What a hook's matcher found: the spelling of the tool's name that it matched, if it has one and there is one (R20).
pub(crate) type Found = Result<Option<String>, MatcherError>;

/// That a hook is about an event.
pub(crate) struct Aimed {
    /// The event that was dispatched, in the hook's words. A rewrite of `success` does not make another event of it.
    pub(crate) subscription: Subscription,
    /// What the hook's matcher found.
    pub(crate) found: Found,
}

/// What a hook is run for.
pub(crate) struct Occasion<'e> {
    /// What happened, as the hooks before this one left it.
    pub(crate) event: &'e Event,
    /// Why it is about that.
    pub(crate) aimed: Aimed,
}

/// Runs `hook`.
pub(crate) fn run(
    hook: &Hook,
    occasion: Occasion<'_>,
    settings: &EngineSettings,
    cancel: &Cancel,
) -> Report {
    match request(hook, occasion) {
        Ok(request) => ask(hook, request, settings, cancel),
        Err(failure) => Report::not_started(failure),
    }
}

/// What `hook` is to be told.
fn request(hook: &Hook, occasion: Occasion<'_>) -> Result<Request, Failure> {
    let Occasion { event, aimed: Aimed { subscription, found } } = occasion;
    let tool_name = found?;
    let no_payload = || Failure::NoPayload(subscription.event.as_str());
    let facts = facts(&event.body, &event.scope.cwd);
    let event = &in_own_words(hook, event);
    let payload = match &hook.protocol {
        Protocol::Executable => {
            executable::payload(event, subscription.spelling, &facts).ok_or_else(no_payload)?
        }
        Protocol::Manifest(held) => {
            let (tool_name, light) = (tool_name.as_deref(), held.light_payload);
            manifest::payload(event, subscription.spelling, tool_name, &facts, light)
        }
    };
    Ok(Request { subscription, session_id: event.scope.conversation_id.clone(), payload })
}

/// The event with a recipe of the hook's own plugin under the name by which that plugin calls it (R68).
fn in_own_words<'e>(hook: &Hook, event: &'e Event) -> Cow<'e, Event> {
    match hook.plugin().and_then(|plugin| event.scope.for_plugin(plugin)) {
        Some(scope) => Cow::Owned(Event { scope, body: event.body.clone() }),
        None => Cow::Borrowed(event),
    }
}

/// Runs `hook` on a payload, unless it is not any more what was trusted.
fn ask(hook: &Hook, request: Request, settings: &EngineSettings, cancel: &Cancel) -> Report {
    if let Err(changed) = trust::verify_unchanged(hook, cancel) {
        if cancel.is_cancelled() {
            return Report::not_started(Failure::Cancelled);
        }
        return Report::not_started(changed.into());
    }
    let program = match &hook.protocol {
        Protocol::Executable => Program::Executable,
        Protocol::Manifest(manifest) => match &manifest.implementation {
            Implementation::Script(entry) => Program::Script(manifest, entry),
            Implementation::Static(action) => return static_action::run(action, &request),
        },
    };
    let event = request.subscription.event;
    let owner = Owner { project: &settings.project, layer: hook.layer, name: &hook.name };
    let (state, no_state) = settings.environment.of_state(owner);
    let invocation = process::invocation(hook, program, request, settings, state);
    let completion = tenter_proc::run(&invocation, cancel);
    let output::Read { answer, mut warnings, notes } = output::read(hook, event, &completion);
    warnings.extend(no_state);
    Report {
        answer,
        warnings,
        notes,
        exit: process::exit_words(&completion.end),
        duration: completion.duration,
        stdout: completion.stdout,
        stderr: completion.stderr,
    }
}
