//! One conversation with one process of a hook (S5, S6, S10).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tenter_base::excerpt;
use tenter_proc::{Cancel, CancelHandler, DialogueListener, NotSent};
use tenter_protocol::runtime::{
    CANCEL, Cancelled, INITIALIZE, Initialize, SHUTDOWN, event_request, notification, request,
};

use super::caller::SharedCaller;
use super::connection::{Connection, GrantedTurn};
use super::listener::Listener;
use super::question_clock::{CHECK_INTERVAL, QuestionClock};
use super::requests::{HookAnswer, INITIALIZE_ID, Termination, Ticket, Turn};
use super::service_calls;
use super::shared::{LockedRequests, Shared, wait};
use crate::failure::RunFailure;
use crate::run_context::RunContext;
use crate::run_end::RunEnd;

/// The limit for the answer to `initialize`.
const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(5);
/// The limit for the answer to a cancelled request, and for the end after `shutdown`.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// The time to wait for the end of a process that no longer reads.
const END_TIMEOUT: Duration = Duration::from_millis(200);
/// Number of lines of stderr that a run reports.
const STDERR_LINES: usize = 20;

/// A process of a hook.
pub struct ServingProcess {
    shared: Arc<Shared>,
    start: Instant,
    /// True until the first turn, if the connection waited for that.
    has_waited: AtomicBool,
}

/// One event for a hook.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    /// The event in the hook's own spelling.
    pub method: &'c str,
    /// The payload.
    pub payload: &'c str,
    /// The hook's own timeout.
    pub timeout: Duration,
    /// Ends the call early.
    pub context: RunContext<'c>,
}

/// The report of a call.
pub struct CallReport {
    pub(crate) end: CallResult,
    /// From the request to its end; zero if it was not sent.
    pub(crate) duration: Duration,
    /// The end of what the hook wrote to stderr: meanwhile, or all of it if the call failed.
    pub(crate) stderr: String,
    /// Number of answers that came meanwhile to requests that had ended.
    pub(crate) late: u64,
}

impl CallReport {
    /// Returns the hook's answer, or `None` if the call was cancelled.
    ///
    /// # Errors
    /// The process has ended. The error is the end of a sentence that begins with the process.
    pub fn into_answer(self) -> Result<Option<HookAnswer>, String> {
        match self.end {
            CallResult::Answered(answer) => Ok(Some(answer)),
            CallResult::Failed(..) => Ok(None),
            CallResult::Terminated { ending, .. } => Err(ending.why.clone()),
        }
    }

    /// Returns the end of what the hook wrote to stderr: meanwhile, or all of it if the call failed.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Returns a call that was not sent.
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
        blame: Option<Blame>,
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
    /// Starts a process of a hook with `connect` and sends `initialize`.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(
        initialize: &Initialize,
        clock: Arc<QuestionClock>,
        connect: impl FnOnce(Box<dyn DialogueListener>) -> io::Result<Box<dyn Connection>>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(clock));
        let connection = connect(Box::new(Listener::new(Arc::clone(&shared))))?;
        let turn = connection.turn();
        let _ = shared.connection.set(connection);
        match turn {
            Some(turn) => shared.requests().initialized(turn.initialized),
            // A process that does not read it has ended, or does not answer in time.
            None => drop(shared.send(&request(INITIALIZE_ID, INITIALIZE, initialize))),
        }
        let has_waited = AtomicBool::new(turn.is_some_and(|turn| turn.has_waited));
        Ok(Self { shared, start: Instant::now(), has_waited })
    }

    /// Returns the end of the process, if it has ended.
    pub(super) fn ending(&self) -> Option<Arc<Termination>> {
        self.shared.requests().ending().cloned()
    }

    /// Returns the number of requests that the hook answered in time.
    pub fn answered(&self) -> u64 {
        self.shared.requests().answer_count
    }

    /// Sends the request for an event in its turn and waits for the answer. `verify` fails if the hook is no longer what was trusted;
    /// it is called if the request had to wait.
    pub(super) fn call(
        &self,
        call: &Call<'_>,
        caller: &SharedCaller,
        verify: &dyn Fn() -> Result<(), RunFailure>,
    ) -> CallReport {
        let turn = match self.take_turn(caller, call.context) {
            Ok(turn) => turn,
            Err(report) => return report,
        };
        if turn.has_waited
            && let Err(failure) = verify()
        {
            return self.report(CallResult::failed(failure), None, 0);
        }
        turn.call(call)
    }

    /// Waits until a request may be sent. The time does not count against the hook's own timeout.
    ///
    /// # Errors
    /// The context or the process ended before that.
    pub fn take_turn(
        &self,
        caller: &SharedCaller,
        context: RunContext<'_>,
    ) -> Result<RequestTurn<'_>, CallReport> {
        let ticket = self.shared.requests().join();
        let (waking, waiting) = (Arc::downgrade(&self.shared), ticket.clone());
        let handler = context.cancel.on_cancel(move || {
            if let Some(shared) = waking.upgrade() {
                shared.wake(&waiting);
            }
        });
        match self.wait_for_turn(&ticket, caller, context) {
            Ok((id, has_waited)) => {
                let has_waited = self.has_waited.swap(false, Ordering::Relaxed) || has_waited;
                Ok(RequestTurn { process: self, id, has_waited, ticket, _handler: handler })
            }
            Err(end) => {
                self.shared.requests().leave(&ticket);
                Err(self.report(end, None, 0))
            }
        }
    }

    fn report(&self, end: CallResult, request: Option<Sent>, position: u64) -> CallReport {
        let duration = request.map_or(Duration::ZERO, |request| request.at.elapsed());
        let position = if matches!(end, CallResult::Answered(Ok(_))) { position } else { 0 };
        let stderr = match request.and(self.shared.connection()) {
            Some(connection) => connection.stderr_since(position),
            None => String::new(),
        };
        let late = std::mem::take(&mut self.shared.requests().late);
        let stderr = excerpt::last_lines(&stderr, STDERR_LINES).to_owned();
        CallReport { end, duration, stderr, late }
    }

    /// Waits for the turn. Returns the id of the request, and whether it had to wait.
    fn wait_for_turn(
        &self,
        ticket: &Ticket,
        caller: &SharedCaller,
        context: RunContext<'_>,
    ) -> Result<(u64, bool), CallResult> {
        let shared = &self.shared;
        let mut requests = shared.requests();
        let mut has_waited = false;
        loop {
            match requests.take_turn(ticket, caller) {
                Turn::Now(id) => return Ok((id, has_waited)),
                Turn::Terminated(ending) => {
                    return Err(CallResult::Terminated { ending, blame: None });
                }
                Turn::Wait => has_waited = true,
            }
            let starting = requests.is_starting().then(|| self.time_to_initialize());
            let remaining = context.left(shared.clock.asked());
            if context.cancel.is_cancelled() {
                return Err(CallResult::failed(RunFailure::Cancelled));
            }
            if remaining.is_some_and(|remaining| remaining.is_zero()) {
                return Err(CallResult::failed(RunFailure::TooLate));
            }
            if starting.is_some_and(|remaining| remaining.is_zero()) {
                requests.end(RunEnd::TimedOut, not_initialized());
                shared.kill();
                continue;
            }
            requests = wait(requests, ticket, starting.into_iter().chain(remaining).min());
        }
    }

    fn time_to_initialize(&self) -> Duration {
        INITIALIZE_TIMEOUT.saturating_sub(self.start.elapsed())
    }

    /// Waits until `initialize` is answered.
    ///
    /// # Errors
    /// The reason why it is not, as the end of a sentence that begins with the process.
    pub(super) fn wait_until_ready(&self, cancel: &Cancel) -> Result<(), String> {
        let mut requests = self.shared.requests();
        let ticket = requests.join();
        loop {
            let remaining = self.time_to_initialize();
            let result = if let Some(ending) = requests.ending() {
                Err(ending.why.clone())
            } else if requests.readiness().is_some() {
                Ok(())
            } else if cancel.is_cancelled() {
                Err("was interrupted".to_owned())
            } else if remaining.is_zero() {
                Err(not_initialized())
            } else {
                requests = wait(requests, &ticket, Some(remaining.min(CHECK_INTERVAL)));
                continue;
            };
            requests.leave(&ticket);
            return result;
        }
    }

    /// Ends the process: `shutdown`, the end of its stdin, and half a second. Does not wait for that.
    pub(super) fn shut_down(&self) {
        self.shared.requests().end(RunEnd::Cancelled, "was shut down".to_owned());
        if let Some(connection) = self.shared.connection() {
            if !connection.is_shared() {
                let _ = connection.send(notification::<()>(SHUTDOWN, None).as_bytes());
            }
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
        if self.ending().is_none() {
            self.shut_down();
        }
    }
}

fn not_initialized() -> String {
    format!("did not answer `initialize` within {} s", INITIALIZE_TIMEOUT.as_secs())
}

/// When a request was sent, and how long the user had been asked by then.
#[derive(Clone, Copy)]
struct Sent {
    at: Instant,
    pause: Duration,
}

/// The turn of a request to be sent, until it is dropped.
pub struct RequestTurn<'p> {
    process: &'p ServingProcess,
    id: u64,
    /// True if the request had to wait.
    has_waited: bool,
    ticket: Ticket,
    _handler: CancelHandler,
}

impl Drop for RequestTurn<'_> {
    /// Closes the request: the next one may be sent, and its services are cancelled.
    fn drop(&mut self) {
        self.process.shared.requests().close(self.id);
        service_calls::cancel(&self.process.shared, self.id);
    }
}

impl RequestTurn<'_> {
    /// Returns the turn for the connection of another program; `None` if the hook has ended.
    pub fn granted(&self) -> Option<GrantedTurn> {
        let initialized = self.shared().requests().readiness()?;
        Some(GrantedTurn { initialized, has_waited: self.has_waited })
    }

    /// Sends the request and waits for the answer.
    pub fn call(self, call: &Call<'_>) -> CallReport {
        let (process, shared) = (self.process, self.shared());
        let position = shared.connection().map_or(0, Connection::stderr_position);
        let request = Sent { at: Instant::now(), pause: shared.clock.asked() };
        let end = match shared.send(&event_request(self.id, call.method, call.payload)) {
            Ok(()) => self.wait_for_answer(request, call),
            Err(why) => self.not_sent(why),
        };
        drop(self);
        process.report(end, Some(request), position)
    }

    fn shared(&self) -> &Shared {
        &self.process.shared
    }

    fn wait<'s>(
        &self,
        requests: LockedRequests<'s>,
        timeout: Option<Duration>,
    ) -> LockedRequests<'s> {
        wait(requests, &self.ticket, timeout)
    }

    fn wait_for_answer(&self, request: Sent, call: &Call<'_>) -> CallResult {
        let shared = self.shared();
        let mut requests = shared.requests();
        loop {
            if let Some(answer) = requests.take_answer(self.id) {
                return CallResult::Answered(answer);
            }
            if let Some(ending) = requests.ending() {
                let is_shared = shared.connection().is_some_and(Connection::is_shared);
                let is_alone = ending.blamed_request == Some(self.id) && !is_shared;
                let blame = Some(if is_alone { Blame::This } else { Blame::Unknown });
                return CallResult::Terminated { ending: Arc::clone(ending), blame };
            }
            let question_time = shared.clock.asked();
            let own_time =
                request.at.elapsed().saturating_sub(question_time.saturating_sub(request.pause));
            let own = call.timeout.saturating_sub(own_time);
            let deadline = call.context.left(question_time);
            let failure = if call.context.cancel.is_cancelled() {
                RunFailure::Cancelled
            } else if own.is_zero() {
                RunFailure::TimedOut(call.timeout)
            } else if deadline.is_some_and(|rest| rest.is_zero()) {
                RunFailure::Deadline(call.timeout)
            } else {
                let look = shared.clock.is_stopped().then_some(CHECK_INTERVAL);
                let time = look.or([Some(own), deadline].into_iter().flatten().min());
                requests = self.wait(requests, time);
                continue;
            };
            drop(requests);
            self.cancel();
            return CallResult::failed(failure);
        }
    }

    /// Cancels the request. A process that does not answer it soon is killed.
    fn cancel(&self) {
        let (id, shared) = (self.id, self.shared());
        service_calls::cancel(shared, id);
        let _ = shared.send(&notification(CANCEL, Some(&Cancelled { id })));
        let until = Instant::now() + GRACE;
        let mut requests = shared.requests();
        while requests.is_open(id) && requests.ending().is_none() {
            let remaining = until.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                requests
                    .end(RunEnd::TimedOut, "did not end a request that was cancelled".to_owned());
                drop(requests);
                shared.kill();
                return;
            }
            requests = self.wait(requests, Some(remaining));
        }
    }

    /// Returns the result of a request that could not be sent: the process has ended or does not read. Its end may not be known yet.
    fn not_sent(&self, why: NotSent) -> CallResult {
        let shared = self.shared();
        let until = Instant::now() + END_TIMEOUT;
        let mut requests = shared.requests();
        loop {
            if let Some(ending) = requests.ending() {
                return CallResult::Terminated { ending: Arc::clone(ending), blame: None };
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
        shared.kill();
        CallResult::Terminated { ending, blame: None }
    }
}
