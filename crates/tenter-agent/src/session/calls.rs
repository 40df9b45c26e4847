//! The tool calls of one model response: in parallel, each with its own hooks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tenter_engine::{ApprovedCall, Attributed, Denial, ToolDecision, ToolQuestion};
use tenter_protocol::{ToolCall, ToolResult, tool_fields};

use super::Session;
use crate::model::{MAX_ARGUMENT_DEPTH, check_depth};
use crate::permission::RecordedAnswer;
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
            Requested::Call { call, .. } if self.cancel().is_cancelled() => {
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
            Ok(call) => {
                let result = self.run_tool(&call);
                (call, result)
            }
            // Hooks see a denied call as the model made it (R26).
            Err(result) => (requested.clone(), *result),
        };
        let review = self.hooks.after_tool(call, result);
        self.report_denial(review.feedback.denial.as_ref());
        // What was done is not undone, but the model reads the reason (R29).
        contexts.extend(review.feedback.into_messages());
        let result = review.result;
        if result.metadata.as_ref().is_some_and(|metadata| check_depth(metadata).is_err()) {
            // It could be stored, but not read again.
            let error = format!(
                "the output is withheld: a hook made it nest deeper than {MAX_ARGUMENT_DEPTH} levels"
            );
            return CallReport { contexts, ..self.failure(&requested.name, &error) };
        }
        CallReport { result, contexts }
    }

    /// The call to run, as the hooks left it, and the text that they add.
    ///
    /// # Errors
    /// The result of a call that must not run.
    fn before_tool(
        &self,
        call: &ToolCall,
        contexts: &mut Vec<Attributed<String>>,
    ) -> Result<ToolCall, Box<ToolResult>> {
        let decided = match self.hooks.before_tool(call.clone()) {
            ToolDecision::Run(approved) => Ok(approved),
            ToolDecision::Ask(question) => self.ask(question),
            ToolDecision::Deny(denial) => Err(denial),
        };
        let approved = decided.map_err(|denial| Box::new(self.refuse(call, denial, contexts)))?;
        contexts.extend(approved.contexts);
        match (approved.rewritten_by, self.misfit(&approved.call)) {
            (Some(hook), Some(misfit)) => Err(Box::new(self.refuse_rewrite(&hook, call, &misfit))),
            _ => Ok(approved.call),
        }
    }

    /// The result of a denied call. The model reads what hooks add with the reason (R65).
    fn refuse(
        &self,
        call: &ToolCall,
        denial: Denial,
        contexts: &mut Vec<Attributed<String>>,
    ) -> ToolResult {
        self.report_denial(Some(&denial));
        let is_cancelled = denial.is_cancelled();
        contexts.extend(denial.contexts);
        if is_cancelled {
            return ToolResult::failure(&call.name, denial.reason, self.now());
        }
        ToolResult::blocked(&call.name, &denial.reason, self.now())
    }

    /// Asks the user whether a call may run.
    fn ask(&self, question: ToolQuestion) -> Result<ApprovedCall, Denial> {
        let asker = self.agent.asker.as_ref();
        let RecordedAnswer { answer, remembered } = self.agent.permissions.answer(
            asker,
            &question.hook,
            &question.reason,
            &question.if_allowed.call,
        );
        if remembered {
            return Ok(self.hooks.allow_as_before(question));
        }
        self.hooks.answer(question, answer)
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
            cancel: self.cancel(),
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
        !self.cancel().is_cancelled() && permissions.may_write(asker, place, file)
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
