//! One conversation with one process of a hook (S5, S6, S10).

use std::io;
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use tenter_base::excerpt;
use tenter_proc::{Cancel, NotSent};
use tenter_protocol::runtime::{
    CANCEL, Cancelled, INITIALIZE, Initialize, PROTOCOL, SHUTDOWN, event_request, notification,
    request,
};

use super::caller::{EventCaller, ServiceProvider};
use super::connection::{Connection, Connector, Start};
use super::listener::Listener;
use super::question_clock::{CHECK_INTERVAL, QuestionClock};
use super::requests::{HookAnswer, INITIALIZE_ID, Phase, Requests, Termination, Turn};
use super::service_calls;
use super::shared::Shared;
use crate::failure::RunFailure;
use crate::hook::Hook;
use crate::hook_stamp::HookStamp;
use crate::run_context::RunContext;
use crate::run_end::RunEnd;
use crate::trust::Fingerprint;

/// The limit for the answer to `initialize`.
const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(5);
/// The limit for the answer to a cancelled request, and for the end after `shutdown`.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// The time to wait for the end of a process that no longer reads.
const END_TIMEOUT: Duration = Duration::from_millis(200);
/// Number of lines of stderr that a run reports.
const STDERR_LINES: usize = 20;

/// A process of a hook.
pub(crate) struct ServingProcess {
    shared: Arc<Shared>,
    started: Instant,
    /// The metadata of the hook's files when it was started, if nothing else watches them.
    stamp: Option<HookStamp>,
    /// The version of the hook that it was started from.
    version: Fingerprint,
}

/// One event for a hook.
pub(crate) struct Call<'c> {
    /// The event in the hook's own spelling.
    pub(crate) method: &'c str,
    pub(crate) payload: &'c str,
    /// The hook's own timeout.
    pub(crate) timeout: Duration,
    pub(crate) context: RunContext<'c>,
    pub(crate) caller: Arc<EventCaller>,
    /// True if the hook is still what was trusted, for a request that had to wait for its turn.
    pub(crate) verify: &'c dyn Fn() -> Result<(), RunFailure>,
}

/// The report of a call.
pub(crate) struct CallReport {
    pub(crate) end: CallResult,
    /// From the request to its end; zero if it was not sent.
    pub(crate) duration: Duration,
    /// The end of what the hook wrote to stderr: meanwhile, or all of it if the call failed.
    pub(crate) stderr: String,
    /// Number of answers that came meanwhile to requests that had ended.
    pub(crate) late: u64,
}

impl CallReport {
    /// A call that was not sent.
    pub(super) fn not_sent(failure: RunFailure) -> Self {
        let end = CallResult::Failed(failure, RunEnd::NotStarted);
        Self { end, duration: Duration::ZERO, stderr: String::new(), late: 0 }
    }
}

pub(crate) enum CallResult {
    Answered(HookAnswer),
    Failed(RunFailure, RunEnd),
    /// The process has ended. If the request had been sent, says whether it is to blame.
    Terminated {
        ending: Arc<Termination>,
        sent: Option<Blame>,
    },
}

/// The request that made a process end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// This one: no other was open.
    This,
    /// One of several.
    Unknown,
}

impl CallResult {
    fn failed(failure: RunFailure) -> Self {
        let end = match &failure {
            RunFailure::Cancelled => RunEnd::Cancelled,
            RunFailure::TimedOut(_) | RunFailure::Deadline(_) => RunEnd::TimedOut,
            _ => RunEnd::NotStarted,
        };
        Self::Failed(failure, end)
    }
}

impl ServingProcess {
    /// Starts the process of `hook` and sends `initialize`.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(
        hook: &Hook,
        start: Start,
        connector: &dyn Connector,
        host: &str,
        (provider, clock): (Option<Weak<dyn ServiceProvider>>, Arc<QuestionClock>),
    ) -> io::Result<Self> {
        let project = provider.as_ref().and_then(Weak::upgrade);
        let project =
            project.map(|provider| hook.project_in(provider.project()).display().to_string());
        let stamp = stamp(hook);
        let version = start.fingerprint.clone();
        let hook = Arc::new(hook.clone());
        let initialize = Initialize {
            protocol: PROTOCOL,
            hook: hook.name.clone(),
            project: project.unwrap_or_default(),
            host: host.to_owned(),
            events: hook.subscriptions.iter().map(|one| one.spelling.to_owned()).collect(),
            services: hook.runtime.as_ref().map(|one| one.services.clone()).unwrap_or_default(),
        };
        let shared = Arc::new(Shared {
            requests: Mutex::new(Requests::new()),
            changed: Condvar::new(),
            connection: OnceLock::new(),
            hook,
            provider,
            clock,
        });
        let listener = Listener::new(Arc::clone(&shared));
        let connection = connector.connect(start, Box::new(listener))?;
        let _ = shared.connection.set(connection);
        let process = Self { shared, started: Instant::now(), stamp, version };
        // A process that does not read it has ended, or does not answer in time.
        let _ = process.shared.send(&request(INITIALIZE_ID, INITIALIZE, &initialize));
        Ok(process)
    }

    /// Returns whether the process was started from what `hook` is now.
    pub(super) fn is_of(&self, hook: &Hook) -> bool {
        self.version == hook.version() && self.stamp == stamp(hook)
    }

    pub(super) fn fingerprint(&self) -> &Fingerprint {
        &self.shared.hook.fingerprint
    }

    /// Returns the end of the process, if it has ended.
    pub(super) fn ending(&self) -> Option<Arc<Termination>> {
        self.shared.requests().ending().cloned()
    }

    /// Sends the request for an event and waits for the answer.
    pub(super) fn call(&self, call: &Call<'_>) -> CallReport {
        let shared = &self.shared;
        let waking = Arc::downgrade(shared);
        let _handler = call.context.cancel.on_cancel(move || {
            if let Some(shared) = waking.upgrade() {
                drop(shared.requests());
                shared.changed.notify_all();
            }
        });
        let (id, has_waited) = match self.wait_for_turn(call) {
            Ok(turn) => turn,
            Err(end) => return self.result(end, None, 0),
        };
        if let Some(Err(failure)) = has_waited.then(call.verify) {
            shared.close(id);
            return self.result(CallResult::failed(failure), None, 0);
        }
        let position = shared.connection().map_or(0, Connection::stderr_position);
        let sent = Sent { at: Instant::now(), asked: shared.clock.asked() };
        let end = match shared.send(&event_request(id, call.method, call.payload)) {
            Ok(()) => shared.wait_for_answer(id, sent, call),
            Err(why) => shared.not_sent(why),
        };
        shared.close(id);
        self.result(end, Some(sent), position)
    }

    fn result(&self, end: CallResult, sent: Option<Sent>, position: u64) -> CallReport {
        let duration = sent.map_or(Duration::ZERO, |sent| sent.at.elapsed());
        let position = if matches!(end, CallResult::Answered(Ok(_))) { position } else { 0 };
        let stderr = match sent.and(self.shared.connection()) {
            Some(connection) => connection.stderr_since(position),
            None => String::new(),
        };
        let late = std::mem::take(&mut self.shared.requests().late);
        let stderr = excerpt::last_lines(&stderr, STDERR_LINES).to_owned();
        CallReport { end, duration, stderr, late }
    }

    /// Waits until the request may be sent. Returns its id, and whether it had to wait. The time does not count against the hook's
    /// own timeout.
    fn wait_for_turn(&self, call: &Call<'_>) -> Result<(u64, bool), CallResult> {
        let shared = &self.shared;
        let mut requests = shared.requests();
        let ticket = requests.join();
        let mut has_waited = false;
        loop {
            match requests.take_turn(ticket, &call.caller) {
                Turn::Now(id) => {
                    // It may be the turn of the next one, too.
                    shared.changed.notify_all();
                    return Ok((id, has_waited));
                }
                Turn::Terminated(ending) => {
                    requests.leave(ticket);
                    return Err(CallResult::Terminated { ending, sent: None });
                }
                Turn::Wait => has_waited = true,
            }
            let starting = matches!(requests.phase, Phase::Starting)
                .then(|| INITIALIZE_TIMEOUT.saturating_sub(self.started.elapsed()));
            let remaining = call.context.left(shared.clock.asked());
            let failure = if call.context.cancel.is_cancelled() {
                Some(RunFailure::Cancelled)
            } else {
                remaining.filter(Duration::is_zero).map(|_| RunFailure::TooLate)
            };
            if let Some(failure) = failure {
                requests.leave(ticket);
                return Err(CallResult::failed(failure));
            }
            if starting.is_some_and(|remaining| remaining.is_zero()) {
                requests.end(RunEnd::TimedOut, not_initialized());
                shared.kill();
                continue;
            }
            requests = shared.wait(requests, starting.into_iter().chain(remaining).min());
        }
    }

    /// Waits until `initialize` is answered.
    ///
    /// # Errors
    /// The reason why it is not, as the end of a sentence that begins with the process.
    pub(super) fn wait_until_ready(&self, cancel: &Cancel) -> Result<(), String> {
        let mut requests = self.shared.requests();
        loop {
            match &requests.phase {
                Phase::Ready { .. } => return Ok(()),
                Phase::Terminated(ending) => return Err(ending.why.clone()),
                Phase::Starting if cancel.is_cancelled() => {
                    return Err("was interrupted".to_owned());
                }
                Phase::Starting => {}
            }
            let remaining = INITIALIZE_TIMEOUT.saturating_sub(self.started.elapsed());
            if remaining.is_zero() {
                return Err(not_initialized());
            }
            requests = self.shared.wait(requests, Some(remaining.min(CHECK_INTERVAL)));
        }
    }

    /// Ends the process: `shutdown`, the end of its stdin, and half a second. Does not wait for that.
    pub(super) fn shut_down(&self) {
        self.shared.requests().end(RunEnd::Cancelled, "was shut down".to_owned());
        if let Some(connection) = self.shared.connection() {
            let _ = connection.send(notification::<()>(SHUTDOWN, None).as_bytes());
            connection.close(GRACE);
        }
    }

    /// Waits until the process has ended, after [`shut_down`](Self::shut_down).
    pub(super) fn wait(&self) {
        if let Some(connection) = self.shared.connection() {
            connection.wait(GRACE + END_TIMEOUT);
        }
    }
}

impl Drop for ServingProcess {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// The metadata of the files of a hook that needs no trust: for other hooks, it is in the version.
fn stamp(hook: &Hook) -> Option<HookStamp> {
    hook.pin.is_none().then(|| HookStamp::read(&hook.path).ok()).flatten()
}

fn not_initialized() -> String {
    format!("did not answer `initialize` within {} s", INITIALIZE_TIMEOUT.as_secs())
}

/// When a request was sent, and how long the user had been asked by then.
#[derive(Clone, Copy)]
struct Sent {
    at: Instant,
    asked: Duration,
}

impl Shared {
    /// Closes a request: the next one may be sent, and its services are cancelled.
    fn close(self: &Arc<Self>, id: u64) {
        self.requests().close(id);
        self.changed.notify_all();
        service_calls::cancel(self, id);
    }

    fn wait_for_answer(self: &Arc<Self>, id: u64, sent: Sent, call: &Call<'_>) -> CallResult {
        let mut requests = self.requests();
        loop {
            if let Some(answer) = requests.take_answer(id) {
                return CallResult::Answered(answer);
            }
            if let Some(ending) = requests.ending() {
                let is_shared = self.connection().is_some_and(Connection::is_shared);
                let is_alone = ending.blamed == Some(id) && !is_shared;
                let sent = Some(if is_alone { Blame::This } else { Blame::Unknown });
                return CallResult::Terminated { ending: Arc::clone(ending), sent };
            }
            let question_time = self.clock.asked();
            let used = sent.at.elapsed().saturating_sub(question_time.saturating_sub(sent.asked));
            let own = call.timeout.saturating_sub(used);
            let deadline = call.context.left(question_time);
            let failure = if call.context.cancel.is_cancelled() {
                RunFailure::Cancelled
            } else if own.is_zero() {
                RunFailure::TimedOut(call.timeout)
            } else if deadline.is_some_and(|left| left.is_zero()) {
                RunFailure::Deadline(call.timeout)
            } else {
                let look = self.clock.is_stopped().then_some(CHECK_INTERVAL);
                let wait = look.or([Some(own), deadline].into_iter().flatten().min());
                requests = self.wait(requests, wait);
                continue;
            };
            drop(requests);
            self.cancel(id);
            return CallResult::failed(failure);
        }
    }

    /// Cancels a request. A process that does not answer it soon is killed.
    fn cancel(self: &Arc<Self>, id: u64) {
        service_calls::cancel(self, id);
        let _ = self.send(&notification(CANCEL, Some(&Cancelled { id })));
        let until = Instant::now() + GRACE;
        let mut requests = self.requests();
        while requests.is_open(id) && requests.ending().is_none() {
            let remaining = until.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                requests
                    .end(RunEnd::TimedOut, "did not end a request that was cancelled".to_owned());
                drop(requests);
                self.changed.notify_all();
                self.kill();
                return;
            }
            requests = self.wait(requests, Some(remaining));
        }
    }

    /// The request could not be sent: the process has ended or does not read. Its end may not be known yet.
    fn not_sent(&self, why: NotSent) -> CallResult {
        let until = Instant::now() + END_TIMEOUT;
        let mut requests = self.requests();
        loop {
            if let Some(ending) = requests.ending() {
                return CallResult::Terminated { ending: Arc::clone(ending), sent: None };
            }
            let remaining = until.saturating_duration_since(Instant::now());
            if remaining.is_zero() || why == NotSent::Full {
                break;
            }
            requests = self.wait(requests, Some(remaining));
        }
        let why = match why {
            NotSent::Closed => "closed its stdin",
            NotSent::Full => "does not read its stdin",
        };
        let ending = Arc::clone(requests.end(RunEnd::Unknown, why.to_owned()));
        drop(requests);
        self.changed.notify_all();
        self.kill();
        CallResult::Terminated { ending, sent: None }
    }
}
