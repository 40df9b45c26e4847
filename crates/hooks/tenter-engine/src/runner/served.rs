//! Runs a hook for an event by calling its process (S5, S13): the payload is the same as in the one-shot form, and the answer goes through the
//! reader of its stdout.

use std::sync::Arc;
use std::time::Duration;

use tenter_base::excerpt;
use tenter_proc::{CapturedOutput, Completion, ProcessEnd};
use tenter_protocol::runtime::{ErrorObject, Initialize, PROTOCOL, RawJson};

use super::output::{self, ParsedOutput};
use super::{HookProcess, Output, Program, RunFailure, bounded, process, verify};
use crate::hook::{Hook, RuntimeHook};
use crate::observe::{HookRun, Transport};
use crate::provided_services::EventCaller;
use crate::run_end::RunEnd;
use crate::serving::{Call, CallReport, CallResult, HookCall, RequestCaller, Start};

/// Maximum number of characters of an error that a hook answers.
const ERROR_CHARACTERS: usize = 400;

/// The result of calling a runtime hook for an event.
pub(super) enum Served {
    /// The hook answered, or failed.
    Output(Box<Output>),
    /// The hook has to be run in the one-shot form, within this time.
    OneShot(Duration),
}

impl HookProcess<'_> {
    /// Calls the hook's process.
    pub(super) fn call(&self, payload: &str, run: &mut HookRun) -> Served {
        let Self { job, settings, context, .. } = *self;
        let caller = |hook: Arc<Hook>| -> Arc<dyn RequestCaller> {
            let (event, scope) = (job.subscription.event, job.event.scope.clone());
            let (settings, services) = (settings.this.clone(), context.services.cloned());
            Arc::new(EventCaller { settings, hook, event, scope, services })
        };
        let target = HookCall {
            hook: job.hook,
            start: &|| self.serving_start(),
            caller: &caller,
            verify: &|| verify(job, settings, context.cancel).map(drop),
        };
        let method = job.subscription.spelling;
        let call = Call { method, payload, timeout: job.hook.policy.timeout, context };
        let report = match settings.serving.run(&target, &call, run) {
            Err(failure) => return Served::OneShot(failure),
            Ok(report) => report,
        };
        run.transport = Some(Transport::Runtime);
        Served::Output(Box::new(self.called(report, run)))
    }

    /// Returns how to start the hook's process.
    pub(super) fn serving_start(&self) -> Start {
        let Self { job, program, settings, .. } = *self;
        // A private directory that cannot be used is reported by the one-shot form.
        let (state, _) = self.state_variables();
        let mut invocation = process::serving_invocation(job, program, settings, state);
        self.verification.relocate(&mut invocation);
        Start {
            invocation,
            initialize: self.initialize(),
            layer: job.hook.layer,
            fingerprint: job.hook.version(),
            requested_env: job.hook.requested_env(),
            is_serve_only: job.hook.runtime.as_ref().is_some_and(RuntimeHook::is_serve_only),
        }
    }

    fn initialize(&self) -> Initialize {
        let (hook, settings) = (self.job.hook, self.settings);
        let events = hook.subscriptions.iter().map(|subscription| subscription.spelling.to_owned());
        Initialize {
            protocol: PROTOCOL,
            hook: hook.name.clone(),
            project: hook.project_in(&settings.project).display().to_string(),
            host: settings.host.clone(),
            events: events.collect(),
            services: hook.runtime.as_ref().map(|one| one.services.clone()).unwrap_or_default(),
        }
    }

    fn called(
        &self,
        CallReport { end, duration, stderr, late }: CallReport,
        run: &mut HookRun,
    ) -> Output {
        run.duration += duration;
        if late > 0 {
            run.notes.push(format!("{late} of its answers came too late and were dropped"));
        }
        run.stderr_tail = bounded::bound(stderr);
        let (reply, end) = match end {
            CallResult::Answered(Ok(result)) if result.is_object() || result.is_null() => {
                run.end = RunEnd::Answered;
                return self.reply(&result, duration, run);
            }
            CallResult::Answered(Ok(result)) => {
                (RunFailure::Reply(no_object(&result)), RunEnd::Answered)
            }
            CallResult::Answered(Err(error)) => (self.answered_error(&error), RunEnd::Answered),
            CallResult::Failed(failure, end) => (failure, end),
            CallResult::Terminated { ending, .. } => {
                (RunFailure::Process(ending.why.clone()), ending.end.clone())
            }
        };
        run.end = end;
        Err(reply).into()
    }

    /// Returns the failure that an error means. The client of hooks behind HTTP explains what failed.
    fn answered_error(&self, ErrorObject { code, message, .. }: &ErrorObject) -> RunFailure {
        let message = excerpt::one_line(message, ERROR_CHARACTERS);
        match self.program {
            Program::HttpClient(..) => RunFailure::Http(message),
            _ => RunFailure::Reply(format!("it answered with an error: {message} ({code})")),
        }
    }

    /// Reads the result as the stdout of a process that exited with 0; `null` is no output.
    fn reply(&self, result: &RawJson, duration: Duration, run: &mut HookRun) -> Output {
        let text = if result.is_null() { "" } else { result.text() };
        let stdout = text.as_bytes().to_vec();
        let completion = Completion {
            end: ProcessEnd::Exited(0),
            stdout: CapturedOutput { total: stdout.len() as u64, head: stdout, tail: Vec::new() },
            stderr: CapturedOutput::default(),
            duration,
            pipes_held: false,
        };
        let ParsedOutput { reply, warnings, notes } = output::parse(self.job, &completion);
        run.warnings.extend(warnings);
        run.notes.extend(notes);
        Output { reply, stdout: completion.stdout, stderr: completion.stderr }
    }
}

fn no_object(result: &RawJson) -> String {
    let excerpt = excerpt::one_line(result.text(), 60);
    format!("its result is neither an object nor null: {excerpt}")
}
