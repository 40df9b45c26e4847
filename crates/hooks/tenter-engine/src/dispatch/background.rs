//! Asynchronous hooks (R22): each runs on a thread of its own and is reported when it is done. It can no longer decide
//! anything, but what a later turn can use of its reply is kept. At the end of a session the engine waits for them, up to a
//! limit.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tenter_proc::Cancel;
use tenter_protocol::executable::Subscription;
use tenter_protocol::{Body, EventRef, Reply, Scope};

use super::late::{LateReplies, LateReply};
use super::report::RunReport;
use crate::facts::LazyFacts;
use crate::failure::RunFailure;
use crate::hook::Hook;
use crate::hook_policy::HookMode;
use crate::matcher::{MatcherError, RuleMatch};
use crate::observe::DecisionKind;
use crate::run_context::RunContext;
use crate::runner::{Input, Job};
use crate::services::Services;
use crate::settings::EngineSettings;

/// The time to wait for hooks that were killed. None takes longer than its grace period, or than a process that cannot be
/// killed is waited for; the rest is for a busy machine, on which their failures would otherwise not be reported.
const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// The asynchronous hooks that run now.
#[derive(Default)]
pub(super) struct BackgroundHooks {
    running: Arc<Running>,
    late: Arc<LateReplies>,
    cancel: Cancel,
}

#[derive(Default)]
struct Running {
    count: Mutex<usize>,
    changes: Condvar,
}

impl Running {
    fn add(&self, change: isize) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add_signed(change);
        self.changes.notify_all();
    }

    /// Waits until none runs, up to `patience`. Returns whether none runs.
    fn wait_for_none(&self, patience: Duration) -> bool {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changes.wait_timeout_while(count, patience, |count| *count > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }
}

/// Counts a run until it ends, even if its thread panics.
struct Counted(Arc<Running>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.add(-1);
    }
}

/// A run in the background, and what it needs.
pub(super) struct BackgroundRun {
    pub(super) hook: Arc<Hook>,
    pub(super) subscription: Subscription,
    /// The name of the tool that the hook reads, or why its matcher could not be searched.
    pub(super) tool_name: Result<Option<String>, MatcherError>,
    /// The rule that the call fits, if the hook has rules.
    pub(super) rule: Option<RuleMatch>,
    /// The facts about the tool call.
    pub(super) facts: Arc<LazyFacts>,
    pub(super) scope: Arc<Scope>,
    pub(super) body: Arc<Body>,
    /// The services that it may request.
    pub(super) services: Option<Arc<dyn Services>>,
    /// When the run ends even if its own timeout is longer.
    pub(super) deadline: Option<Instant>,
}

impl BackgroundRun {
    fn report<'e>(&self, settings: &'e EngineSettings) -> RunReport<'e> {
        RunReport::begin(settings, &self.hook, self.subscription, (&self.scope, &self.body))
    }

    /// Runs the hook, and keeps what a later turn can use of its reply.
    fn run(&self, settings: &EngineSettings, late: &LateReplies, cancel: &Cancel) {
        let mut report = self.report(settings);
        report.fits(self.rule.as_ref());
        let job = self.tool_name.as_ref().map(|tool_name| Job {
            hook: &self.hook,
            subscription: self.subscription,
            event: EventRef { scope: &self.scope, body: &self.body },
            input: Input::Event { tool_name: tool_name.as_deref() },
            facts: &self.facts,
            decision: self.rule.as_ref().and_then(|rule| rule.reply.as_ref()),
        });
        let context = RunContext {
            deadline: self.deadline,
            services: self.services.as_ref(),
            pause: settings.serving.clock().asked(),
            ..RunContext::from(cancel)
        };
        match report.execute(job.map_err(Clone::clone), context) {
            reply if self.hook.policy.mode == HookMode::Monitor => report.monitored(reply),
            Ok(reply) => keep(late, reply, report),
            Err(RunFailure::Cancelled) => report.failed(&RunFailure::Drained),
            Err(failure) => report.failed(&failure),
        }
    }
}

impl BackgroundHooks {
    /// Starts a run and returns at once.
    pub(super) fn start(&self, settings: &Arc<EngineSettings>, run: BackgroundRun) {
        let run = Arc::new(run);
        let not_started = Arc::clone(&run);
        self.running.add(1);
        let guard = Counted(Arc::clone(&self.running));
        let (late, cancel) = (Arc::clone(&self.late), self.cancel.clone());
        let in_thread = Arc::clone(settings);
        let name = format!("hook {}", run.hook.name);
        let thread = thread::Builder::new().name(name).spawn(move || {
            let _guard = guard;
            run.run(&in_thread, &late, &cancel);
        });
        if let Err(error) = thread {
            // Dropping the closure took it off the count.
            let mut report = not_started.report(settings);
            report.not_started();
            report.failed(&RunFailure::NotStarted(format!("cannot start a thread: {error}")));
        }
    }

    /// Returns the replies that can still be used.
    pub(super) fn late(&self) -> &LateReplies {
        &self.late
    }

    /// Waits for all runs. Each ends at its own timeout.
    pub(super) fn wait(&self) {
        self.running.wait_for_none(Duration::MAX);
    }

    /// Waits for all runs, up to `patience`, then kills those that remain.
    pub(super) fn drain(&self, patience: Duration) {
        if !self.running.wait_for_none(patience) {
            self.cancel.cancel();
            self.running.wait_for_none(KILL_PATIENCE);
        }
    }
}

/// Keeps what a later turn can use of a reply. The observers are notified first: a reply must not take effect before its run
/// is recorded.
fn keep(late: &LateReplies, mut reply: Reply, mut report: RunReport) {
    let run = report.run();
    let late_reply = LateReply::take_from(&mut reply, &run.hook, run.event, &run.scope);
    report.replied_late(late_reply.as_ref(), DecisionKind::most_important(&reply));
    let Some(late_reply) = late_reply else { return };
    let room = late.room();
    if let Some(dropped_reply) = &room.dropped_reply {
        report.dropped(dropped_reply);
    }
    drop(report);
    room.fill(late_reply);
}
