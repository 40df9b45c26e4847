//! The processes of an engine's hooks: started at the first event, one for each hook; and when a hook runs in the one-shot form instead
//! (S9, S10, S11).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use tenter_proc::Cancel;

use super::caller::ServiceProvider;
use super::connection::{Connector, Start};
use super::process::{Blame, Call, CallReport, CallResult, ServingProcess};
use super::question_clock::QuestionClock;
use super::requests::Termination;
use crate::failure::RunFailure;
use crate::hook::{Hook, RuntimeHook};
use crate::layer::Layer;
use crate::observe::RunRecord;
use crate::trust::Fingerprint;

/// The number of deaths within [`DEATH_WINDOW`] after which a hook is not started again.
const MAX_DEATHS: usize = 3;
const DEATH_WINDOW: Duration = Duration::from_mins(1);

/// The processes of an engine's hooks.
pub(crate) struct Pool {
    connector: Arc<dyn Connector>,
    /// The program that starts the hooks, as they read it.
    host: String,
    clock: Arc<QuestionClock>,
    provider: OnceLock<Weak<dyn ServiceProvider>>,
    hooks: Mutex<ServedHooks>,
}

type ServedHooks = BTreeMap<(Layer, String), Arc<Mutex<Served>>>;

/// The process of one hook, and what became of earlier ones.
#[derive(Default)]
struct Served {
    process: Option<Arc<ServingProcess>>,
    deaths: VecDeque<Instant>,
    given_up: Option<GivenUp>,
}

/// The reason why no process is started any more.
struct GivenUp {
    /// The version of the hook.
    fingerprint: Fingerprint,
    /// The end of a sentence that begins with the process.
    why: String,
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
    pub(crate) fn new(connector: Arc<dyn Connector>, host: String) -> Self {
        let (clock, provider, hooks) = Default::default();
        Self { connector, host, clock, provider, hooks }
    }

    /// Sets what provides the services of the engine.
    pub(crate) fn attach(&self, provider: Weak<dyn ServiceProvider>) {
        let _ = self.provider.set(provider);
    }

    /// The time that the user has been asked by hooks.
    pub(crate) fn asked(&self) -> Duration {
        self.clock.asked()
    }

    /// Calls the hook's process for an event, and starts it if there is none. `start` says how.
    pub(crate) fn run(&self, hook: &Hook, start: &dyn Fn() -> Start, call: &Call<'_>) -> ServedRun {
        let served = self.served(hook);
        let mut notices = Vec::new();
        let (left, why) = loop {
            let process = match self.process(&served, hook, start, &mut notices) {
                Ok(process) => process,
                Err(why) => break (call.timeout, why),
            };
            let result = process.call(call);
            lock(&served).record_death(&process, &mut notices);
            let (ending, sent) = match &result.end {
                CallResult::Terminated { ending, sent } => (Arc::clone(ending), *sent),
                CallResult::Failed(RunFailure::Changed(_), _) => {
                    lock(&served).process = None;
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

    /// Starts a process of the hook, apart from the one that is called, and waits until it can be.
    ///
    /// # Errors
    /// The reason why it cannot, as the end of a sentence that begins with the process.
    pub(crate) fn check(&self, hook: &Hook, start: Start, cancel: &Cancel) -> Result<(), String> {
        let process = self.start(hook, start)?;
        let checked = process.wait_until_ready(cancel);
        process.shut_down();
        process.wait();
        checked
    }

    /// Ends the process of a hook that must not run.
    pub(crate) fn end(&self, hook: &Hook) {
        lock(&self.served(hook)).process = None;
    }

    /// Ends all processes and waits for that. A hook that is called afterwards is started again.
    pub(crate) fn shut_down(&self) {
        let hooks = std::mem::take(&mut *lock(&self.hooks));
        let processes: Vec<_> =
            hooks.values().filter_map(|served| lock(served).process.take()).collect();
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

    /// The process of the hook as it is now.
    ///
    /// # Errors
    /// The reason why there is none, as the end of a sentence that begins with the process.
    fn process(
        &self,
        served: &Mutex<Served>,
        hook: &Hook,
        start: &dyn Fn() -> Start,
        notices: &mut Vec<PoolNotice>,
    ) -> Result<Arc<ServingProcess>, String> {
        let mut served = lock(served);
        if let Some(process) = served.process.clone() {
            served.record_death(&process, notices);
            if !process.is_of(hook) {
                // It ends when the last of its requests has.
                served.process = None;
            }
        }
        served.forget_other_versions(hook);
        if let Some(given_up) = &served.given_up {
            return Err(given_up.why.clone());
        }
        if let Some(process) = &served.process {
            return Ok(Arc::clone(process));
        }
        let process = self.start(hook, start())?;
        Ok(Arc::clone(served.process.insert(Arc::new(process))))
    }

    fn start(&self, hook: &Hook, start: Start) -> Result<ServingProcess, String> {
        let engine = (self.provider.get().cloned(), Arc::clone(&self.clock));
        ServingProcess::start(hook, start, &*self.connector, &self.host, engine)
            .map_err(|error| format!("could not be started: {error}"))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl Served {
    /// Counts the death of the process, once. After too many, no process is started any more.
    fn record_death(&mut self, process: &Arc<ServingProcess>, notices: &mut Vec<PoolNotice>) {
        let Some(ending) = process.ending() else { return };
        if !self.process.as_ref().is_some_and(|current| Arc::ptr_eq(current, process)) {
            return;
        }
        self.process = None;
        self.deaths.retain(|death| death.elapsed() < DEATH_WINDOW);
        self.deaths.push_back(Instant::now());
        if self.deaths.len() < MAX_DEATHS {
            return;
        }
        let Termination { why, .. } = &*ending;
        let why = format!("ended {MAX_DEATHS} times within a minute; the last time, it {why}");
        notices.push(PoolNotice::GivenUp(why.clone()));
        self.given_up = Some(GivenUp { fingerprint: process.fingerprint().clone(), why });
    }

    /// Forgets the deaths of another version of the hook.
    fn forget_other_versions(&mut self, hook: &Hook) {
        if self.given_up.as_ref().is_some_and(|given_up| given_up.fingerprint != hook.fingerprint) {
            self.given_up = None;
            self.deaths.clear();
        }
    }
}

/// Ignores poisoning: no panic can leave the guarded data inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
