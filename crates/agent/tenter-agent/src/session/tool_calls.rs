//! The tool calls of one model response: in parallel, each with its own hooks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;
use tenter_engine::{ApprovedCall, Attributed, Denial, ToolDecision, ToolQuestion};
use tenter_protocol::confinement::Confinement;
use tenter_protocol::tool_names::canonical;
use tenter_protocol::{ToolCall, ToolResult, tool_fields};

use super::Session;
use crate::model::{MAX_ARGUMENT_DEPTH, check_depth};
use crate::permission::RecordedAnswer;
use crate::tools::{
    MAX_CALLS_AT_ONCE, OutputTail, SUBAGENT, ToolContext, ToolEffect, ToolError, WriteConsent,
};
use crate::watch::SessionUpdate;

/// A tool call in a model's response.
pub(super) enum RequestedCall {
    /// A call whose arguments are an object.
    Call {
        /// The call with the model's field names.
        original: ToolCall,
        /// The call with the advertised field names, as hooks and tools see it (R63).
        call: ToolCall,
    },
    /// A call whose arguments cannot be used: neither hooks nor tools see it (R59).
    Malformed {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The problem with the arguments, as a message for the model.
        error: String,
    },
}

impl RequestedCall {
    pub(super) fn new(original: &ToolCall) -> Self {
        let (id, name) = (original.id.clone(), original.name.clone());
        match tool_fields::renamed(&name, &original.input) {
            Ok(input) => {
                Self::Call { original: original.clone(), call: ToolCall { id, name, input } }
            }
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

/// The result of one call.
pub(super) struct CallResult {
    /// The tool's result, after hooks changed it.
    pub(super) result: ToolResult,
    /// Text that hooks add for the model.
    pub(super) contexts: Vec<Attributed<String>>,
}

impl Session<'_> {
    /// Runs the calls of one response in parallel, and returns their results in the order of the calls.
    pub(super) fn run_calls(&self, calls: &[RequestedCall]) -> Vec<CallResult> {
        for call in calls {
            if let RequestedCall::Call { original, .. } = call {
                self.notify(&SessionUpdate::ToolUse(original));
            }
        }
        let results: Vec<OnceLock<CallResult>> = calls.iter().map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((call, result)) = take(&next, calls, &results) {
                let _ = result.set(self.run_call(call));
            }
        };
        thread::scope(|scope| {
            for _ in 1..calls.len().min(MAX_CALLS_AT_ONCE) {
                // With fewer threads the calls only take longer.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let results = results.into_iter().zip(calls);
        results
            .map(|(result, call)| result.into_inner().unwrap_or_else(|| self.bug(call.tool())))
            .collect()
    }

    fn run_call(&self, request: &RequestedCall) -> CallResult {
        // The calls of a subagent take slots. If the subagent also held one, it could wait for itself forever.
        let _slot = (request.tool() != SUBAGENT).then(|| self.workspace.slot());
        let run = || match request {
            RequestedCall::Malformed { name, error, .. } => self.failure(name, error),
            RequestedCall::Call { call, .. } if self.cancel().is_cancelled() => {
                self.failure(&call.name, "interrupted")
            }
            RequestedCall::Call { call, .. } => self.run_under_hooks(call),
        };
        let result =
            catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| self.bug(request.tool()));
        self.notify(&SessionUpdate::ToolResult { call_id: request.id(), result: &result.result });
        result
    }

    fn run_under_hooks(&self, request: &ToolCall) -> CallResult {
        let mut contexts = Vec::new();
        let (call, result) = match self.before_tool(request, &mut contexts) {
            Ok(approved) => {
                let result = self.run_tool(&approved.call, &approved.confinements);
                (approved.call, result)
            }
            // Hooks see a denied call as the model made it (R26).
            Err(result) => (request.clone(), *result),
        };
        let review = self.hooks().after_tool(call, result);
        self.report_denial(review.feedback.denial.as_ref());
        // A denial cannot undo the call, but the model reads the reason (R29).
        contexts.extend(review.feedback.into_messages());
        let result = review.result;
        if result.metadata.as_ref().is_some_and(|metadata| check_depth(metadata).is_err()) {
            // It could be stored, but not read back.
            let error = format!(
                "the output is withheld: a hook made it nest deeper than {MAX_ARGUMENT_DEPTH} levels"
            );
            return CallResult { contexts, ..self.failure(&request.name, &error) };
        }
        CallResult { result, contexts }
    }

    /// Returns the call to run, after hooks changed it, and appends the text that they add to `contexts`.
    ///
    /// # Errors
    /// The result of a call that is not run.
    fn before_tool(
        &self,
        call: &ToolCall,
        contexts: &mut Vec<Attributed<String>>,
    ) -> Result<ApprovedCall, Box<ToolResult>> {
        let (decided, was_asked) = match self.hooks().before_tool(call.clone()) {
            ToolDecision::Run(approved) => (Ok(approved), false),
            ToolDecision::Ask(question) => (self.ask(question), true),
            ToolDecision::Deny(denial) => (Err(denial), false),
        };
        let mut approved =
            decided.map_err(|denial| Box::new(self.denied_result(call, denial, contexts)))?;
        contexts.append(&mut approved.contexts);
        if let (Some(hook), Some(why)) =
            (&approved.rewritten_by, self.invalid_input(&approved.call))
        {
            return Err(Box::new(self.reject_rewrite(hook, call, &why)));
        }
        let is_confined = !approved.confinements.is_empty();
        let is_settled = was_asked || approved.allowed_by.is_some();
        self.permit(
            &approved.call,
            is_settled || is_confined && self.agent.permissions.lets_confined_run(),
        )?;
        Ok(approved)
    }

    /// Returns the result of a denied call. The model reads the reason and the text that hooks add (R65).
    fn denied_result(
        &self,
        call: &ToolCall,
        denial: Denial,
        contexts: &mut Vec<Attributed<String>>,
    ) -> ToolResult {
        self.report_call_denial(Some(&call.id), Some(&denial));
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
        let labels: Vec<&str> =
            question.if_allowed.confinements.iter().map(Confinement::label).collect();
        let reason = match labels.as_slice() {
            [] => question.reason.clone(),
            labels => format!(
                "{} (yes runs it confined: {}; u runs it unconfined)",
                question.reason,
                labels.join(", ")
            ),
        };
        let RecordedAnswer { answer, remembered } = self.agent.permissions.answer(
            asker,
            &question.hook,
            &reason,
            &question.if_allowed.call,
        );
        if remembered {
            return Ok(self.hooks.allow_as_before(question));
        }
        self.hooks.answer(question, answer)
    }

    /// Returns why the input is invalid for the tool, if it is.
    pub(super) fn invalid_input(&self, call: &ToolCall) -> Option<String> {
        // A hook's input may contain a field in two spellings with different values.
        let tool = self.tools.registry.get(&call.name)?;
        if let Err(too_deep) = check_depth(&call.input) {
            return Some(too_deep);
        }
        tool_fields::renamed(&call.name, &call.input).and_then(|input| tool.check(&input)).err()
    }

    /// Returns the result for an invalid input from a hook. The tool does not run with the original input either (R24).
    fn reject_rewrite(&self, hook: &str, call: &ToolCall, why: &str) -> ToolResult {
        let message =
            format!("the hook {hook} rewrote the input of {} to an invalid one: {why}", call.name);
        let diagnostic = tenter_protocol::Diagnostic::new(
            "rewrite-refused",
            tenter_protocol::Severity::Error,
            message.as_str(),
        )
        .help("the call did not run; `tenter log` shows the input before and after");
        self.diagnose(&diagnostic);
        self.hooks().rewrite_refused(hook, call, &message);
        ToolResult::failure(&call.name, message, self.now())
    }

    fn run_tool(&self, call: &ToolCall, confinements: &[Confinement]) -> ToolResult {
        let Some(tool) = self.tools.registry.get(&call.name) else {
            let names: Vec<&str> =
                self.tools.registry.iter().map(crate::tools::Tool::name).collect();
            let others = match names.as_slice() {
                [] => "there are no tools".to_owned(),
                names => format!("the tools are {}", names.join(", ")),
            };
            let error = format!("there is no tool {:?}; {others}", call.name);
            return ToolResult::failure(&call.name, error, self.now());
        };
        if let Some(error) = self.refused_change(call) {
            return ToolResult::failure(&call.name, error.to_string(), self.now());
        }
        self.record_before(call, tool.effect());
        let subagents: Option<&dyn crate::tools::Subagents> =
            if self.conversation.parent().is_none() { Some(self) } else { None };
        let output = OutputTail::new(self.agent.settings.keys.clone());
        let context = ToolContext {
            call_id: &call.id,
            workspace: &self.workspace,
            output: &output,
            confinements,
            cancel: self.cancel(),
            consent: self,
            subagents,
        };
        self.notify(&SessionUpdate::ToolStarted { call, output: &output });
        let run = AssertUnwindSafe(|| tool.run(&call.input, &context));
        let result = catch_unwind(run).unwrap_or_else(|_| self.bug(&call.name).result);
        self.notify(&SessionUpdate::ToolEnded { call_id: &call.id });
        result
    }

    /// Returns the error if a server's tool seems to change a protected file and the user does not agree (R76). Our own tools ask
    /// themselves.
    fn refused_change(&self, call: &ToolCall) -> Option<ToolError> {
        if canonical(&call.name) == Some(&call.name) {
            return None;
        }
        let facts = self.hooks().facts(call).facts.call;
        self.workspace.refused_change(&facts.paths, self)
    }

    /// Records the states of files before a call changes them.
    fn record_before(&self, call: &ToolCall, effect: ToolEffect) {
        let Some(recorder) = &self.agent.snapshots else { return };
        match effect {
            // The calls of a subagent are recorded themselves.
            ToolEffect::Reads => {}
            // Hooks may change other files, such as formatters.
            ToolEffect::Edits if self.agent.engine.catalog().hooks().is_empty() => {
                let path = call.input.get("file_path").and_then(Value::as_str);
                if let Some(path) = path.and_then(|path| self.workspace.writable(path)) {
                    recorder.before_file(&path);
                }
            }
            ToolEffect::Edits | ToolEffect::Runs => recorder.before_anything(self.cancel()),
        }
    }

    fn failure(&self, tool: &str, error: &str) -> CallResult {
        let result = ToolResult::failure(tool, error, self.now());
        CallResult { result, contexts: Vec::new() }
    }

    fn bug(&self, tool: &str) -> CallResult {
        self.failure(tool, "the call failed because of a bug in Tenter")
    }
}

impl WriteConsent for Session<'_> {
    fn agrees(&self, place: &Path, file: &Path) -> bool {
        let (asker, permissions) = (self.agent.asker.as_ref(), &self.agent.permissions);
        !self.cancel().is_cancelled() && permissions.may_write(asker, place, file)
    }
}

/// Returns the next call that no thread has taken, and the cell for its result.
fn take<'c>(
    next: &AtomicUsize,
    calls: &'c [RequestedCall],
    results: &'c [OnceLock<CallResult>],
) -> Option<(&'c RequestedCall, &'c OnceLock<CallResult>)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((calls.get(index)?, results.get(index)?))
}
