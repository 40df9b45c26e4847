//! One hook, run once for its author, and decided by the same fold as in an agent. No observer is notified.

use std::sync::Arc;

use tenter_proc::{Cancel, CapturedOutput};
use tenter_protocol::executable::Subscription;
use tenter_protocol::{Body, Event, EventRef, Object, Reply, Scope};

use super::candidates::{EventCandidate, Selected};
use super::chain::apply_reply;
use super::report::RunReport;
use super::{Engine, Outcome};
use crate::facts::{CallSurroundings, LazyFacts};
use crate::hook::Hook;
use crate::observe::{HookRun, Transport};
use crate::run_context::RunContext;
use crate::runner::{self, Input, Job};

/// The input of a hook's test.
#[derive(Debug, Clone, Copy)]
pub struct HookTest<'t> {
    /// The event that the hook's reply is applied to.
    pub event: &'t Event,
    /// The event in the hook's own spelling.
    pub subscription: Subscription,
    /// The payload that the hook reads.
    pub payload: &'t Object,
}

/// One run of a hook, and what it would decide in an agent if it were the only hook.
#[derive(Debug)]
pub struct TestRun {
    /// The payload that the hook read: the given one, with the tool's name as the hook's matcher matched it (R20).
    pub payload: Object,
    /// The run, as it would be reported.
    pub run: HookRun,
    /// The hook's reply; none if it failed.
    pub reply: Option<Reply>,
    /// The event as the hook left it, and its decision.
    pub outcome: Outcome,
    /// The stdout of the hook.
    pub stdout: CapturedOutput,
    /// The stderr of the hook.
    pub stderr: CapturedOutput,
}

#[doc(hidden)]
impl Engine {
    /// Runs `hook` as an agent would. Returns `None` if its matcher does not match.
    pub fn test(&self, hook: &Arc<Hook>, test: HookTest<'_>, cancel: &Cancel) -> Option<TestRun> {
        self.test_form(hook, test, None, cancel)
    }

    /// Runs `hook` in one of the forms of runtime hooks, if it has that form. Returns `None` if its matcher does not match.
    pub fn test_form(
        &self,
        hook: &Arc<Hook>,
        test: HookTest<'_>,
        transport: Option<Transport>,
        cancel: &Cancel,
    ) -> Option<TestRun> {
        let HookTest { event, subscription, payload } = test;
        if !hook.applies(event.into()) {
            return None;
        }
        let native = hook.options.claude_code.as_ref();
        let native = native.and_then(|_| hook.payload(subscription, event));
        let is_native = native.is_some();
        let mut payload = native.unwrap_or_else(|| payload.clone());
        let call = event.body.tool_call();
        let candidate = EventCandidate::new(hook, subscription.event, call)?;
        let facts = LazyFacts::new(&self.settings.surroundings);
        let selection = candidate.select_by_rules(event.into(), &facts)?;
        let warning = selection.as_ref().ok().and_then(Selected::warning);
        let (tool_name, rule) = match selection {
            Ok(Selected { tool, rule, .. }) => (Ok(tool), rule),
            Err(error) => (Err(error), None),
        };
        if let Ok(Some(name)) = &tool_name
            && !is_native
        {
            payload.insert("tool_name".to_owned(), (*name).into());
        }
        let scope = Arc::new(event.scope.clone());
        let mut report =
            RunReport::begin(&self.settings, hook, subscription, (&scope, &event.body));
        report.fits(rule.as_ref());
        if let Some(warning) = warning {
            report.warn(warning);
        }
        let input = Input::Payload(&payload);
        let decided = rule.as_ref().and_then(|rule| rule.reply.as_ref());
        let job = tool_name.map(|_| Job {
            hook,
            subscription,
            event: event.into(),
            input,
            facts: &facts,
            decision: decided,
        });
        let reply = report.execute(job, RunContext { transport, ..cancel.into() });
        let replied = reply.as_ref().ok().cloned();
        let mut outcome = Outcome::new(event.body.clone());
        apply_reply(&self.settings, (hook, subscription.event), reply, &mut outcome, &mut report);
        let (stdout, stderr) = report.take_output();
        let run = report.run().clone();
        report.withdraw();
        Some(TestRun { payload, run, reply: replied, outcome, stdout, stderr })
    }
}

#[doc(hidden)]
impl Engine {
    /// Starts the process of a runtime hook, waits until it can be called, and ends it.
    ///
    /// # Errors
    /// The reason why it cannot be called, as the end of a sentence that begins with the process.
    pub fn check_runtime(&self, hook: &Hook, cancel: &Cancel) -> Result<(), String> {
        let Some(subscription) = hook.subscriptions.first().copied() else { return Ok(()) };
        let scope = Scope::new("check", self.project());
        let body = Body::AfterAgent { response: String::new() };
        let event = EventRef { scope: &scope, body: &body };
        let facts = LazyFacts::new(&self.settings.surroundings);
        let input = Input::Event { tool_name: None };
        let job = Job { hook, subscription, event, input, facts: &facts, decision: None };
        runner::check(&job, &self.settings, cancel)
    }
}

impl Hook {
    /// Returns the payload that the hook reads of an event; `None` if its protocol does not have the event.
    pub fn payload(&self, subscription: Subscription, event: &Event) -> Option<Object> {
        let input = Input::Event { tool_name: None };
        let facts = LazyFacts::new(&Arc::new(CallSurroundings::new(&event.scope.cwd)));
        let event = event.into();
        let job = Job { hook: self, subscription, event, input, facts: &facts, decision: None };
        serde_json::from_str(&job.payload_text().ok()?).ok()
    }
}
