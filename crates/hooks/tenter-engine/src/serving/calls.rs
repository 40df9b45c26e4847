//! Calls the processes of an engine's hooks, one for each hook, and decides when a hook runs in the one-shot form instead (S9, S10, S11).

use std::sync::Arc;
use std::time::Duration;

use tenter_proc::Cancel;

use super::caller::SharedCaller;
use super::connection::Start;
use super::pool::{PoolKey, ProcessPool};
use super::process::{Blame, Call, CallReport, CallResult, ServingProcess};
use crate::failure::RunFailure;
use crate::hook::{Hook, RuntimeHook};
use crate::hook_stamp::HookStamp;
use crate::observe::RunRecord;

/// The processes of an engine's hooks.
pub(crate) type HookPool = ProcessPool<HookSource>;

/// The hook that a process was started from, and the metadata of its files then, if nothing else watches them.
type HookSource = (Arc<Hook>, Arc<Option<HookStamp>>);

/// The hook as it is needed for a call.
pub(crate) struct HookCall<'c> {
    pub(crate) hook: &'c Hook,
    /// Returns how the process is started.
    pub(crate) start: &'c dyn Fn() -> Start,
    /// Returns the caller, given the hook that the process was started from.
    pub(crate) caller: &'c dyn Fn(Arc<Hook>) -> SharedCaller,
    /// Fails if the hook is no longer what was trusted, for a request that had to wait for its turn.
    pub(crate) verify: &'c dyn Fn() -> Result<(), RunFailure>,
}

/// The reason why a hook runs in the one-shot form.
struct OneShot {
    /// The time that it has.
    time: Duration,
    /// The end of a sentence that begins with the process.
    why: String,
    /// True if the process ended while it started.
    was_starting: bool,
}

impl HookPool {
    /// Calls the hook's process for an event, and starts it if there is none. Adds warnings about the process to the record of the run.
    ///
    /// # Errors
    /// The hook has to be run in the one-shot form, within this time.
    pub(crate) fn run(
        &self,
        target: &HookCall<'_>,
        call: &Call<'_>,
        run: &mut RunRecord,
    ) -> Result<CallReport, Duration> {
        let mut given_up = None;
        let result = self.call(target, call, &mut given_up);
        let is_serve_only = target.hook.runtime.as_ref().is_some_and(RuntimeHook::is_serve_only);
        let warning = match (&result, given_up) {
            (Err(OneShot { why, .. }), _) if is_serve_only => {
                return Ok(CallReport::not_sent(RunFailure::Process(why.clone())));
            }
            (_, Some(why)) => {
                run.given_up = true;
                format!("its process {why}: it runs once per event until the session ends")
            }
            (Err(OneShot { why, was_starting: true, .. }), None) => {
                format!("its process {why}: it ran once for this event")
            }
            (_, None) => return result.map_err(|one_shot| one_shot.time),
        };
        run.warnings.push(warning);
        result.map_err(|one_shot| one_shot.time)
    }

    /// Calls the process. Sets `given_up` to the reason why it is not started any more, if this call made that known.
    fn call(
        &self,
        target: &HookCall<'_>,
        call: &Call<'_>,
        given_up: &mut Option<String>,
    ) -> Result<CallReport, OneShot> {
        let HookCall { hook, start, caller, verify } = *target;
        let (key, time) = (key(hook), call.timeout);
        let mut remove_ended = || *given_up = self.remove_ended(&key).or_else(|| given_up.take());
        remove_ended();
        loop {
            let one_shot = |why| OneShot { time, why, was_starting: false };
            let (process, source) = self.process(&key, hook, start).map_err(one_shot)?;
            let result = process.call(call, &caller(source.0), verify);
            remove_ended();
            let (ending, blame) = match &result.end {
                CallResult::Terminated { ending, blame: sent } => (Arc::clone(ending), *sent),
                CallResult::Failed(RunFailure::Changed(_), _) => {
                    self.end(hook);
                    return Ok(result);
                }
                CallResult::Failed(..) | CallResult::Answered(_) => return Ok(result),
            };
            let why = ending.why.clone();
            match blame {
                Some(Blame::This) => {
                    let end = CallResult::Failed(RunFailure::Process(why), ending.end.clone());
                    return Ok(CallReport { end, ..result });
                }
                Some(Blame::Unknown) => {
                    let time = time.saturating_sub(result.duration);
                    return Err(OneShot { time, ..one_shot(why) });
                }
                None if ending.was_starting => {
                    return Err(OneShot { was_starting: true, ..one_shot(why) });
                }
                // It died between two events: another one is started.
                None => {}
            }
        }
    }

    /// Returns the process of the hook as it is now, and what it was started from.
    ///
    /// # Errors
    /// The reason why there is none, as the end of a sentence that begins with the process.
    fn process(
        &self,
        key: &PoolKey,
        hook: &Hook,
        start: &dyn Fn() -> Start,
    ) -> Result<(Arc<ServingProcess>, HookSource), String> {
        // For a hook that must be trusted, it is in the version.
        let path = hook.path().filter(|_| hook.pin.is_none());
        let stamp = Arc::new(path.and_then(|path| HookStamp::read(path).ok()));
        let is_current = |(started_from, then): &HookSource| {
            started_from.version() == hook.version() && *then == stamp
        };
        let source = || (Arc::new(hook.clone()), Arc::clone(&stamp));
        self.get_or_start(key, is_current, || (source(), start()))
    }

    /// Starts a process of a hook, apart from the one that is called, and waits until it can be.
    ///
    /// # Errors
    /// The reason why it cannot, as the end of a sentence that begins with the process.
    pub(crate) fn check(&self, start: Start, cancel: &Cancel) -> Result<(), String> {
        let process = self.start(start)?;
        let readiness = process.wait_until_ready(cancel);
        process.shut_down();
        process.wait();
        readiness
    }

    /// Ends the process of a hook that must not run.
    pub(crate) fn end(&self, hook: &Hook) {
        self.remove(&key(hook));
    }
}

fn key(hook: &Hook) -> PoolKey {
    let (layer, hook, fingerprint) = (hook.layer, hook.name.clone(), hook.fingerprint.clone());
    PoolKey { layer, hook, fingerprint, variant: Vec::new() }
}
