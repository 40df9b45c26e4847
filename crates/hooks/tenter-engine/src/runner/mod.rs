//! Runs one hook for one event: a payload in, a reply or a failure out. It decides nothing and knows no other hook.
//!
//! `job` says what to run on what, `process` how a hook of either protocol is started, `output` reads what its process wrote,
//! `served` calls the process of a runtime hook instead, and `bounded` shortens what is reported. Static hooks run without a
//! process.

mod bounded;
mod job;
mod output;
mod process;
mod ready_made;
mod served;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use tenter_base::excerpt;
use tenter_proc::{Cancel, CapturedOutput, ProcessEnd};
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{Reply, Verdict};

use crate::failure::RunFailure;
use crate::hook::{HookKind, RuntimeHook};
use crate::hook_state::HookOwner;
use crate::native::{NativeEvent, NativeHandle};
use crate::observe::{HookRun, Transport};
use crate::ready_made::ReadyMade;
use crate::run_context::RunContext;
use crate::run_end::RunEnd;
use crate::settings::EngineSettings;
use crate::static_action::StaticAction;
use crate::trust::Verified;
use output::ParsedOutput;
use process::Program;
use ready_made::ReadyMadeCall;
use served::Served;

pub(crate) use job::{Input, Job};

/// Number of lines of stderr that a run reports.
const STDERR_LINES: usize = 20;
/// Maximum length of the stdout that a failed run reports, in bytes.
const STDOUT_BYTES: usize = 4_000;

/// The result of a hook run.
pub(crate) struct Output {
    /// The reply, or why there is none.
    pub(crate) reply: Result<Reply, RunFailure>,
    /// The stdout of its process.
    pub(crate) stdout: CapturedOutput,
    /// The stderr of its process.
    pub(crate) stderr: CapturedOutput,
}

impl Output {
    /// Returns whether the hook denied, so that no further run of it can change the decision.
    fn denies(&self) -> bool {
        self.reply.as_ref().is_ok_and(denies)
    }

    /// Adds the output of a second run of the hook for the same event. A denial counts, even if the other run failed.
    fn and(self, next: Self) -> Self {
        let reply = match (self.reply, next.reply) {
            (Ok(before), Ok(after)) => Ok(before.and(after)),
            (Err(_), Ok(reply)) | (Ok(reply), Err(_)) if denies(&reply) => Ok(reply),
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
        };
        Self { reply, ..next }
    }
}

/// Returns the reply of a hook that runs although only its rules can decide, and none did. That cannot happen, so it denies.
fn undecided() -> Reply {
    let reason = "the hook's rules did not decide".to_owned();
    let verdict = Some(Verdict::new(VerdictKind::Deny, Some(reason)));
    Reply { verdict, ..Reply::default() }
}

fn denies(reply: &Reply) -> bool {
    reply.verdict.as_ref().is_some_and(Verdict::is_deny)
}

impl From<Result<Reply, RunFailure>> for Output {
    fn from(reply: Result<Reply, RunFailure>) -> Self {
        Self { reply, stdout: CapturedOutput::default(), stderr: CapturedOutput::default() }
    }
}

/// Returns the part of stdout that a failed run reports: the beginning and the end.
pub(crate) fn stdout_excerpt(stdout: &CapturedOutput) -> String {
    excerpt::ends(&stdout.text(), STDOUT_BYTES).into_owned()
}

/// Runs a hook and waits for its end. Records in `run` its end, its duration and what it logged.
///
/// # Errors
/// The hook was not started.
pub(crate) fn run(
    job: &Job<'_>,
    settings: &EngineSettings,
    context: RunContext<'_>,
    run: &mut HookRun,
) -> Result<Output, RunFailure> {
    let cancel = context.cancel;
    if let Some(reply) = job.decision {
        verify(job, settings, cancel)?;
        run.end = RunEnd::NoProcess;
        return Ok(Ok(reply.clone()).into());
    }
    match &job.hook.kind {
        HookKind::Executable | HookKind::Program(_) | HookKind::Http(_) => {}
        HookKind::Static(None) => return Ok(Ok(undecided()).into()),
        HookKind::Static(Some(action)) => {
            verify(job, settings, cancel)?;
            return Ok(run_static(action, job, run));
        }
        HookKind::ReadyMade(hook) => {
            verify(job, settings, cancel)?;
            let timeout =
                context.timeout(job.hook.policy.timeout, settings.serving.clock().asked())?;
            let call = ReadyMadeCall::new(job, settings, cancel, timeout);
            return Ok(run_ready_made(*hook, &call, run));
        }
        HookKind::Native(native) => return Ok(run_native(native, job, cancel, run)),
    }
    let program = Program::new(job.hook, settings)?;
    let payloads = job.payload_texts()?;
    let verification = Verified::default();
    let mut process = HookProcess { job, program, settings, context, verification };
    process.verify()?;
    let output = match process.serve(&payloads, run)? {
        Served::Output(output) => *output,
        Served::OneShot(left) => process.run_each(payloads, left, run)?,
    };
    // The reply of another program than the one that was trusted does not count.
    Ok(match process.verification.still_holds() {
        Ok(()) => output,
        Err(change) => Output { reply: Err(change.into()), ..output },
    })
}

/// Starts the process of a runtime hook and waits until it can be called.
///
/// # Errors
/// The reason why it cannot, as the end of a sentence that begins with the process.
pub(crate) fn check(
    job: &Job<'_>,
    settings: &EngineSettings,
    cancel: &Cancel,
) -> Result<(), String> {
    if !matches!(job.hook.kind, HookKind::Executable | HookKind::Program(_)) {
        return Ok(());
    }
    let not_started = |failure: RunFailure| format!("was not started: {failure}");
    let program = Program::new(job.hook, settings).map_err(not_started)?;
    let verification = verify(job, settings, cancel).map_err(not_started)?;
    let process = HookProcess { job, program, settings, context: cancel.into(), verification };
    settings.serving.check(process.serving_start(), cancel)
}

/// The process of a hook.
struct HookProcess<'r> {
    job: &'r Job<'r>,
    program: Program<'r>,
    settings: &'r EngineSettings,
    context: RunContext<'r>,
    verification: Verified,
}

impl HookProcess<'_> {
    /// Returns the variables for the hook's private directory, or a warning.
    fn state_variables(&self) -> (Vec<(&'static str, OsString)>, Option<String>) {
        let (hook, settings) = (self.job.hook, self.settings);
        let project = hook.project_in(&settings.project);
        let owner = HookOwner { project, layer: hook.layer, name: &hook.name };
        settings.environment.state_variables(owner)
    }

    /// Fails if the hook is no longer what was trusted. Its process is ended then (S11).
    fn verify(&mut self) -> Result<(), RunFailure> {
        let verification = verify(self.job, self.settings, self.context.cancel);
        if verification.is_err() && self.has_process() {
            self.settings.serving.end(self.job.hook);
        }
        self.verification = verification?;
        Ok(())
    }

    /// Returns true if the hook can have a process that is called for many events.
    fn has_process(&self) -> bool {
        let posts = matches!(self.program, Program::HttpClient(..));
        self.job.hook.runtime.is_some() || (posts && self.settings.keeps_http_client)
    }

    /// Calls the hook's process, unless it runs in the one-shot form.
    fn serve(&mut self, payloads: &[String], run: &mut HookRun) -> Result<Served, RunFailure> {
        let one_shot = Ok(Served::OneShot(self.job.hook.policy.timeout));
        let [payload] = payloads else { return one_shot };
        let prefers_one_shot = match self.context.transport {
            Some(transport) => transport == Transport::OneShot,
            None => self.settings.prefers_one_shot,
        };
        let is_serve_only = self.job.hook.runtime.as_ref().is_some_and(RuntimeHook::is_serve_only);
        if !self.has_process() || (prefers_one_shot && !is_serve_only) {
            return one_shot;
        }
        let served = self.call(payload, run);
        if matches!(served, Served::OneShot(_)) {
            // Time has passed.
            self.verify()?;
        }
        Ok(served)
    }

    /// Runs it with each of the payloads, until it denies.
    fn run_each(
        &self,
        payloads: Vec<String>,
        timeout: Duration,
        run: &mut HookRun,
    ) -> Result<Output, RunFailure> {
        let mut output: Option<Output> = None;
        for payload in payloads {
            let next = self.run(payload, timeout, run)?;
            let sum = match output.take() {
                None => next,
                Some(before) => before.and(next),
            };
            let denies = sum.denies();
            output = Some(sum);
            if denies {
                break;
            }
        }
        Ok(output.unwrap_or_else(|| {
            run.end = RunEnd::NoProcess;
            Ok(Reply::default()).into()
        }))
    }

    /// Runs it with this payload.
    ///
    /// # Errors
    /// It was not started.
    fn run(
        &self,
        payload: String,
        timeout: Duration,
        run: &mut HookRun,
    ) -> Result<Output, RunFailure> {
        let Self { job, program, settings, context, .. } = *self;
        let (state, no_state) = self.state_variables();
        let mut invocation = process::invocation(job, program, payload, settings, state);
        self.verification.relocate(&mut invocation);
        let own_timeout = invocation.limits.timeout;
        invocation.limits.timeout = context.timeout(timeout, settings.serving.clock().asked())?;
        run.transport = Some(Transport::OneShot);
        let completion = tenter_proc::run(&invocation, context.cancel);
        let ParsedOutput { mut reply, warnings, notes } = output::parse(job, &completion);
        if matches!(completion.end, ProcessEnd::TimedOut) && invocation.limits.timeout < timeout {
            reply = Err(RunFailure::Deadline(own_timeout));
        }
        run.end = process::run_end(&completion.end);
        run.duration += completion.duration;
        if !matches!(reply, Err(RunFailure::Http(_))) {
            run.stderr_tail = bounded::bound(completion.stderr.tail_lines(STDERR_LINES));
        }
        run.warnings.extend(warnings.into_iter().chain(no_state));
        run.notes.extend(notes);
        Ok(Output { reply, stdout: completion.stdout, stderr: completion.stderr })
    }
}

/// Runs a hook of the embedding program, on this thread. A timeout is only reported.
fn run_native(native: &NativeHandle, job: &Job<'_>, cancel: &Cancel, run: &mut HookRun) -> Output {
    let (reply, duration) = native.run(&NativeEvent::new(job.event, job.facts, cancel));
    (run.duration, run.end) = (duration, RunEnd::NoProcess);
    let timeout = job.hook.policy.timeout;
    if duration > timeout {
        let (took, limit) = (duration.as_millis(), timeout.as_millis());
        run.warnings.push(format!("it took {took} ms; its timeout is {limit} ms"));
    }
    run.notes.extend(reply.iter().filter_map(|reply| reply.log.clone()));
    reply.map_err(|why| RunFailure::Reply(bounded::bound(why))).into()
}

/// Runs a ready-made hook on this thread. The programs that it starts end at its timeout.
fn run_ready_made(hook: ReadyMade, call: &ReadyMadeCall<'_>, run: &mut HookRun) -> Output {
    let start = Instant::now();
    let reply = ready_made::reply(hook, call);
    (run.duration, run.end) = (start.elapsed(), RunEnd::NoProcess);
    run.notes.extend(reply.iter().filter_map(|reply| reply.log.clone()));
    reply.map_err(|why| RunFailure::Reply(bounded::bound(why))).into()
}

/// Replies for a static hook. The number of steps that its templates may take limits the time.
fn run_static(action: &StaticAction, job: &Job<'_>, run: &mut HookRun) -> Output {
    let start = Instant::now();
    let reply = action.reply(&job.payload_value());
    run.duration = start.elapsed();
    run.end = RunEnd::NoProcess;
    reply.map_err(|why| RunFailure::Reply(bounded::bound(why))).into()
}

/// Fails if the hook is no longer what was trusted.
fn verify(
    job: &Job<'_>,
    settings: &EngineSettings,
    cancel: &Cancel,
) -> Result<Verified, RunFailure> {
    job.hook
        .verify(settings.environment.copies().as_deref(), cancel)
        .map_err(|change| if cancel.is_cancelled() { RunFailure::Cancelled } else { change.into() })
}
