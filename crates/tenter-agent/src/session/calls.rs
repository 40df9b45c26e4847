//! The tool calls of one model response: in parallel, each with its own hooks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tenter_engine::{AskAnswer, Attributed};
use tenter_protocol::{Body, EventName, ToolCall, ToolResult, tool_fields};

use super::{Refused, Session};
use crate::model::{MAX_ARGUMENT_DEPTH, check_depth};
use crate::permission::{RecordedAnswer, refusal};
use crate::tools::{MAX_CALLS_AT_ONCE, SUBAGENT, ToolContext, WriteConsent};
use crate::watch::Happening;

/// A call as it came from the model.
pub(super) enum Requested {
    /// With arguments that are an object.
    Call {
        /// In the model's own spelling.
        given: ToolCall,
        /// Under the advertised field names, as hooks and tools see it (R63).
        call: ToolCall,
    },
    /// With arguments that cannot be used: neither hooks nor tools see it (R59).
    Malformed {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// What is wrong, in words for the model.
        error: String,
    },
}

impl Requested {
    pub(super) fn new(given: &ToolCall) -> Self {
        let (id, name) = (given.id.clone(), given.name.clone());
        match tool_fields::renamed(&name, &given.input) {
            Ok(input) => Self::Call { given: given.clone(), call: ToolCall { id, name, input } },
            Err(error) => Self::Malformed { id, name, error },
        }
    }

    pub(super) fn id(&self) -> &str {
        match self {
            Self::Call { call, .. } => &call.id,
            Self::Malformed { id, .. } => id,
        }
    }

    fn tool(&self) -> &str {
        match self {
            Self::Call { call, .. } => &call.name,
            Self::Malformed { name, .. } => name,
        }
    }
}

/// What came of one call.
pub(super) struct CallReport {
    /// The result, as hooks left it.
    pub(super) result: ToolResult,
    /// What hooks want the model to read besides.
    pub(super) contexts: Vec<Attributed<String>>,
}

/// What `before_tool` made of a call.
enum Verdict {
    /// It runs, with this input.
    Run(ToolCall),
    /// It does not, and this is its result.
    Refused(ToolResult),
}

impl Session<'_> {
    /// Runs the calls of one response, several at once, and returns their reports in the calls' order.
    pub(super) fn run_calls(&self, calls: &[Requested]) -> Vec<CallReport> {
        for call in calls {
            if let Requested::Call { given, .. } = call {
                self.tell(&Happening::ToolUse(given));
            }
        }
        let reports: Vec<OnceLock<CallReport>> = calls.iter().map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((call, report)) = take(&next, calls, &reports) {
                let _ = report.set(self.run_call(call));
            }
        };
        thread::scope(|scope| {
            for _ in 1..calls.len().min(MAX_CALLS_AT_ONCE) {
                // A thread that cannot be started makes this slower, not wrong.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let reports = reports.into_iter().zip(calls);
        reports
            .map(|(report, call)| report.into_inner().unwrap_or_else(|| self.defect(call.tool())))
            .collect()
    }

    fn run_call(&self, requested: &Requested) -> CallReport {
        // A subagent's own calls take slots; one that kept its own could wait for itself.
        let _slot = (requested.tool() != SUBAGENT).then(|| self.workspace.slot());
        let run = || match requested {
            Requested::Malformed { name, error, .. } => self.failure(name, error),
            Requested::Call { call, .. } if self.cancel.is_cancelled() => {
                self.failure(&call.name, "interrupted")
            }
            Requested::Call { call, .. } => self.run_under_hooks(call),
        };
        let report =
            catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| self.defect(requested.tool()));
        self.tell(&Happening::ToolResult { call_id: requested.id(), result: &report.result });
        report
    }

    fn run_under_hooks(&self, requested: &ToolCall) -> CallReport {
        let mut contexts = Vec::new();
        let (call, result) = match self.before_tool(requested, &mut contexts) {
            Verdict::Run(call) => {
                let result = self.agent.settings.keys.result(self.run_tool(&call));
                (call, result)
            }
            // Hooks are told of a blocked call as the model made it (R26).
            Verdict::Refused(result) => (requested.clone(), result),
        };
        let outcome = self.dispatch(Body::AfterTool { call, result });
        if self.cancel.is_cancelled() && self.is_looked_at(&outcome.body) {
            // The hooks that would have looked at the output were not run, or not to their end: what they would have taken
            // out of it must not be kept (R25).
            let error = "interrupted; its output is not kept, because hooks could not look at it";
            return CallReport { contexts, ..self.failure(&requested.name, error) };
        }
        // What was done is not undone, but the model reads what the hook has against it (R29).
        contexts.extend(self.blocked(&outcome).map(Refused::into_message));
        contexts.extend(outcome.contexts);
        match outcome.body {
            // It could be stored, but not read again.
            Body::AfterTool { result, .. }
                if result.metadata.as_ref().is_some_and(|it| check_depth(it).is_err()) =>
            {
                let error = format!(
                    "the output is withheld: a hook made it nest deeper than {MAX_ARGUMENT_DEPTH} levels"
                );
                CallReport { contexts, ..self.failure(&requested.name, &error) }
            }
            Body::AfterTool { result, .. } => {
                // What a hook put in its place may hold a key as well.
                CallReport { result: self.agent.settings.keys.result(result), contexts }
            }
            // A dispatch never changes which event it is. What hooks did not look at is not kept.
            _ => CallReport { contexts, ..self.defect(&requested.name) },
        }
    }

    /// Whether any hook is told of this event.
    fn is_looked_at(&self, body: &Body) -> bool {
        !self.agent.engine.catalog().hooks_for(body.name()).is_empty()
    }

    fn before_tool(&self, call: &ToolCall, contexts: &mut Vec<Attributed<String>>) -> Verdict {
        let mut outcome = self.dispatch(Body::BeforeTool(call.clone()));
        // Also of a call that is denied: the model reads them with the reason (R65).
        contexts.append(&mut outcome.contexts);
        if let Some(refused) = self.blocked(&outcome) {
            return Verdict::Refused(ToolResult::blocked(&call.name, &refused.reason, self.now()));
        }
        if self.cancel.is_cancelled() {
            return Verdict::Refused(ToolResult::failure(&call.name, "interrupted", self.now()));
        }
        let asked = outcome.asked().map(|(hook, reason)| (hook.to_owned(), reason.to_owned()));
        let rewritten_by = outcome.rewritten_by;
        let Body::BeforeTool(rewritten) = outcome.body else {
            // A dispatch never changes which event it is. What hooks did not look at does not run.
            return Verdict::Refused(self.defect(&call.name).result);
        };
        if let Some((hook, reason)) = asked
            && let Err(reason) = self.ask(&hook, &reason, &rewritten)
        {
            self.tell(&Happening::Blocked {
                event: EventName::BeforeTool,
                hook: &hook,
                reason: &reason,
            });
            return Verdict::Refused(ToolResult::blocked(&call.name, &reason, self.now()));
        }
        match (rewritten_by.last(), self.misfit(&rewritten)) {
            (Some(hook), Some(misfit)) => {
                Verdict::Refused(self.refuse_rewrite(hook, call, &misfit))
            }
            _ => Verdict::Run(rewritten),
        }
    }

    /// Asks the user whether a call may run, and records the answer.
    ///
    /// # Errors
    /// Why it may not.
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> Result<(), String> {
        let asker = self.agent.asker.as_ref();
        let RecordedAnswer { answer, remembered } =
            self.agent.permissions.answer(asker, hook, reason, call);
        self.agent.engine.ask_answered(&AskAnswer {
            scope: self.scope(),
            event: EventName::BeforeTool,
            tool_call: call.clone(),
            time: (self.agent.settings.clock)(),
            hook: hook.to_owned(),
            reason: reason.to_owned(),
            answer,
            remembered,
        });
        if answer.allows() { Ok(()) } else { Err(refusal(hook, reason, answer)) }
    }

    /// Why the tool cannot take the input, if it cannot.
    fn misfit(&self, call: &ToolCall) -> Option<String> {
        // Two spellings of a field with different values are left in a hook's input.
        let tool = self.agent.tools.get(&call.name)?;
        if let Err(too_deep) = check_depth(&call.input) {
            return Some(too_deep);
        }
        tool_fields::renamed(&call.name, &call.input).and_then(|input| tool.check(&input)).err()
    }

    /// A hook's input that does not fit is refused; the tool does not run on the old one either (R24).
    fn refuse_rewrite(&self, hook: &str, call: &ToolCall, misfit: &str) -> ToolResult {
        let message = format!(
            "the hook {hook} changed the input of {} to something that it does not take: {misfit}",
            call.name
        );
        let diagnostic = tenter_protocol::Diagnostic::new(
            "rewrite-refused",
            tenter_protocol::Severity::Error,
            message.as_str(),
        )
        .help("the call was not run; `tenter log` shows the input before and after");
        self.diagnose(&diagnostic);
        ToolResult::failure(&call.name, message, self.now())
    }

    fn run_tool(&self, call: &ToolCall) -> ToolResult {
        let Some(tool) = self.agent.tools.get(&call.name) else {
            let known: Vec<&str> = self.agent.tools.iter().map(crate::tools::Tool::name).collect();
            let others = match known.as_slice() {
                [] => "there are none here".to_owned(),
                known => format!("the tools are {}", known.join(", ")),
            };
            let error = format!("there is no tool {:?}; {others}", call.name);
            return ToolResult::failure(&call.name, error, self.now());
        };
        let subagents: Option<&dyn crate::tools::Subagents> =
            if self.conversation.parent().is_none() { Some(self) } else { None };
        let context = ToolContext {
            call_id: &call.id,
            workspace: &self.workspace,
            cancel: &self.cancel,
            consent: self,
            subagents,
        };
        tool.run(&call.input, &context)
    }

    fn failure(&self, tool: &str, error: &str) -> CallReport {
        let result = ToolResult::failure(tool, error, self.now());
        CallReport { result, contexts: Vec::new() }
    }

    fn defect(&self, tool: &str) -> CallReport {
        self.failure(tool, "the call failed because of a defect in Tenter")
    }
}

impl WriteConsent for Session<'_> {
    fn agrees(&self, place: &Path, file: &Path) -> bool {
        let (asker, permissions) = (self.agent.asker.as_ref(), &self.agent.permissions);
        !self.cancel.is_cancelled() && permissions.may_write(asker, place, file)
    }
}

/// The next call that has not been taken yet, with the place for its report.
fn take<'c>(
    next: &AtomicUsize,
    calls: &'c [Requested],
    reports: &'c [OnceLock<CallReport>],
) -> Option<(&'c Requested, &'c OnceLock<CallReport>)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((calls.get(index)?, reports.get(index)?))
}
