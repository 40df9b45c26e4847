//! The processes of an engine's hooks: started at the first event, one for each hook; and when a hook runs in the one-shot form instead
//! (S9, S10, S11).

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenter_proc::Cancel;

use super::caller::SharedCaller;
use super::connection::{Connector, Start};
use super::process::{Blame, Call, CallReport, CallResult, ServingProcess};
use super::question_clock::QuestionClock;
use super::slot::ProcessSlot;
use crate::failure::RunFailure;
use crate::hook::{Hook, RuntimeHook};
use crate::hook_stamp::HookStamp;
use crate::layer::Layer;
use crate::observe::RunRecord;

/// The processes of an engine's hooks.
pub(crate) struct Pool {
    connector: Arc<dyn Connector>,
    clock: Arc<QuestionClock>,
    hooks: Mutex<ServedHooks>,
}

type ServedHooks = BTreeMap<(Layer, String), Arc<Mutex<Served>>>;

/// The process of one hook.
#[derive(Default)]
struct Served {
    slot: ProcessSlot,
    /// The hook that the process was started from.
    hook: Option<Arc<Hook>>,
    /// The metadata of the hook's files when the process was started, if nothing else watches them.
    stamp: Option<HookStamp>,
}

/// The hook as the pool needs it for a call.
pub(crate) struct HookCall<'c> {
    pub(crate) hook: &'c Hook,
    /// Returns how the process is started.
    pub(crate) start: &'c dyn Fn() -> Start,
    /// Returns the caller, given the hook that the process was started from.
    pub(crate) caller: &'c dyn Fn(Arc<Hook>) -> SharedCaller,
    /// Fails if the hook is no longer what was trusted, for a request that had to wait for its turn.
    pub(crate) verify: &'c dyn Fn() -> Result<(), RunFailure>,
}

/// The result of an event.
pub(crate) struct ServedRun {
    pub(crate) end: PoolResult,
    /// Notices for the user.
    pub(crate) notices: Vec<PoolNotice>,
}

/// A notice about the process of a hook, with the end of a sentence that begins with the process.
pub(crate) enum PoolNotice {
    /// It ended while it started, so the hook ran in the one-shot form for this event.
    RanOnce(String),
    /// It ended too often, so it is not started again.
    GivenUp(String),
}

impl PoolNotice {
    /// Adds the notice to the record of a run.
    pub(crate) fn record(self, run: &mut RunRecord) {
        let warning = match self {
            Self::RanOnce(why) => format!("its process {why}: it ran once for this event"),
            Self::GivenUp(why) => {
                run.given_up = true;
                format!("its process {why}: it runs once per event until the session ends")
            }
        };
        run.warnings.push(warning);
    }
}

pub(crate) enum PoolResult {
    /// The hook answered, or failed.
    Called(CallReport),
    /// The hook has to be run in the one-shot form, within this time.
    OneShot(Duration),
}

impl Pool {
    pub(crate) fn new(connector: Arc<dyn Connector>) -> Self {
        let (clock, hooks) = Default::default();
        Self { connector, clock, hooks }
    }

    /// The clock that stops while hooks ask the user.
    pub(crate) fn clock(&self) -> &QuestionClock {
        &self.clock
    }

    /// Calls the hook's process for an event, and starts it if there is none.
    pub(crate) fn run(&self, target: &HookCall<'_>, call: &Call<'_>) -> ServedRun {
        let HookCall { hook, start, caller, verify } = *target;
        let served = self.served(hook);
        let mut notices = Vec::new();
        let (left, why) = loop {
            let (process, started_from) = match self.process(&served, hook, start, &mut notices) {
                Ok(process) => process,
                Err(why) => break (call.timeout, why),
            };
            let result = process.call(call, &caller(started_from), verify);
            lock(&served).remove_ended(&mut notices);
            let (ending, sent) = match &result.end {
                CallResult::Terminated { ending, sent } => (Arc::clone(ending), *sent),
                CallResult::Failed(RunFailure::Changed(_), _) => {
                    lock(&served).slot.take();
                    return ServedRun { end: PoolResult::Called(result), notices };
                }
                CallResult::Failed(..) | CallResult::Answered(_) => {
                    return ServedRun { end: PoolResult::Called(result), notices };
                }
            };
            match sent {
                Some(Blame::This) => {
                    let failure = RunFailure::Process(ending.why.clone());
                    let end = CallResult::Failed(failure, ending.end.clone());
                    let end = PoolResult::Called(CallReport { end, ..result });
                    return ServedRun { end, notices };
                }
                Some(Blame::Unknown) => {
                    break (call.timeout.saturating_sub(result.duration), ending.why.clone());
                }
                None if ending.was_starting => {
                    if notices.is_empty() {
                        notices.push(PoolNotice::RanOnce(ending.why.clone()));
                    }
                    break (call.timeout, ending.why.clone());
                }
                // It died between two events: another one is started.
                None => {}
            }
        };
        if !hook.runtime.as_ref().is_some_and(RuntimeHook::is_serve_only) {
            return ServedRun { end: PoolResult::OneShot(left), notices };
        }
        let result = CallReport::not_sent(RunFailure::Process(why));
        ServedRun { end: PoolResult::Called(result), notices: Vec::new() }
    }

    /// Starts a process of a hook, apart from the one that is called, and waits until it can be.
    ///
    /// # Errors
    /// The reason why it cannot, as the end of a sentence that begins with the process.
    pub(crate) fn check(&self, start: Start, cancel: &Cancel) -> Result<(), String> {
        let process =
            self.start(start).map_err(|error| format!("could not be started: {error}"))?;
        let checked = process.wait_until_ready(cancel);
        process.shut_down();
        process.wait();
        checked
    }

    /// Ends the process of a hook that must not run.
    pub(crate) fn end(&self, hook: &Hook) {
        lock(&self.served(hook)).slot.take();
    }

    /// Ends all processes and waits for that. A hook that is called afterwards is started again.
    pub(crate) fn shut_down(&self) {
        let hooks = std::mem::take(&mut *lock(&self.hooks));
        let processes: Vec<_> =
            hooks.values().filter_map(|served| lock(served).slot.take()).collect();
        for process in &processes {
            process.shut_down();
        }
        for process in &processes {
            process.wait();
        }
    }

    fn served(&self, hook: &Hook) -> Arc<Mutex<Served>> {
        Arc::clone(lock(&self.hooks).entry((hook.layer, hook.name.clone())).or_default())
    }

    /// The process of the hook as it is now, and the hook that it was started from.
    ///
    /// # Errors
    /// The reason why there is none, as the end of a sentence that begins with the process.
    fn process(
        &self,
        served: &Mutex<Served>,
        hook: &Hook,
        start: &dyn Fn() -> Start,
        notices: &mut Vec<PoolNotice>,
    ) -> Result<(Arc<ServingProcess>, Arc<Hook>), String> {
        let mut served = lock(served);
        served.remove_ended(notices);
        let started_from = served.update(hook);
        let process = served.slot.get_or_start(|| self.start(start()))?;
        Ok((process, started_from))
    }

    fn start(&self, start: Start) -> io::Result<ServingProcess> {
        let initialize = start.initialize.clone();
        let connect = |listener| self.connector.connect(start, listener);
        ServingProcess::start(&initialize, Arc::clone(&self.clock), connect)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl Served {
    fn remove_ended(&mut self, notices: &mut Vec<PoolNotice>) {
        notices.extend(self.slot.remove_ended().map(PoolNotice::GivenUp));
    }

    /// Removes a process that was started from another version of the hook, and returns the hook to start it from.
    fn update(&mut self, hook: &Hook) -> Arc<Hook> {
        let stamp = stamp(hook);
        if let Some(started_from) = &self.hook {
            if started_from.version() == hook.version() && self.stamp == stamp {
                return Arc::clone(started_from);
            }
            if started_from.fingerprint != hook.fingerprint {
                self.slot.forget_deaths();
            }
        }
        self.slot.take();
        self.stamp = stamp;
        Arc::clone(self.hook.insert(Arc::new(hook.clone())))
    }
}

/// Returns the metadata of the files of a hook that needs no trust: for other hooks, it is in the version.
fn stamp(hook: &Hook) -> Option<HookStamp> {
    let path = hook.path().filter(|_| hook.pin.is_none())?;
    HookStamp::read(path).ok()
}

/// Ignores poisoning: no panic can leave the guarded data inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
