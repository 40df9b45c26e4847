//! The hooks of one conversation: a method for each event of an agent, and the decision that it returns.

mod decision;
mod read;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use tenter_proc::Cancel;
use tenter_protocol::event::{Compaction, SessionEnd, SessionStart, StopAttempt, Subagent, Turn};
use tenter_protocol::{Body, Event, EventName, Scope, ToolCall, ToolResult};

pub use decision::{
    ApprovedCall, Denial, DenialCause, Feedback, MessageDecision, StartDecision, StopReview,
    ToolDecision, ToolQuestion, ToolReview, TurnReview,
};

use crate::changed_files;
use crate::dispatch::{Engine, LateReply, Outcome};
use crate::facts::CallFacts;
use crate::keys::KeyMask;
use crate::observe::{
    AnswerRecord, DecisionKind, DecisionRecord, NoticeRecord, Observation, PermissionAnswer,
    PermissionRecord, PermissionSource,
};
use crate::run_context::RunContext;
use crate::services::Services;
use tenter_base::rfc3339;

/// The hooks of one conversation. [`Engine::session`] makes one.
///
/// Each method fires one event: it runs the hooks that subscribe, in order, and returns what they decided together. Text that
/// comes back has the values of model keys masked (R80).
#[derive(Clone)]
pub struct HookSession<'e> {
    engine: &'e Engine,
    scope: Scope,
    cancel: Cancel,
    deadline: Option<Instant>,
    services: Option<Arc<dyn Services>>,
    keys: KeyMask,
}

impl Engine {
    /// Returns the hooks of one conversation. The time in `scope` is set anew for each event.
    pub fn session(&self, scope: Scope) -> HookSession<'_> {
        let settings = self.settings();
        let (cancel, keys) = (settings.never.clone(), settings.keys.clone());
        HookSession { engine: self, scope, cancel, deadline: None, services: None, keys }
    }
}

impl HookSession<'_> {
    /// Returns the same session, whose hooks end when `cancel` is thrown (R39). What they had to decide is denied then.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Self {
        Self { cancel, ..self }
    }

    /// Returns the same session, whose events have to be decided by `deadline`. A hook that still runs then has timed out, and
    /// one that would start later has failed: in both cases its fail mode applies (R42). A run that is stopped takes up to a
    /// second longer, for its grace period. Static hooks run in any case; asynchronous ones are only limited where they are
    /// awaited ([`AsynchronousHooks::Only`](crate::inspect::AsynchronousHooks::Only)).
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Returns the same session, whose hooks may request these services.
    #[must_use]
    pub fn with_services(self, services: Arc<dyn Services>) -> Self {
        Self { services: Some(services), ..self }
    }

    /// Returns the same session with another mask for the values of model keys.
    #[must_use]
    pub fn with_key_mask(self, keys: KeyMask) -> Self {
        Self { keys, ..self }
    }

    /// Returns the switch that ends the hooks.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Returns the conversation, at the present time.
    pub fn scope(&self) -> Scope {
        Scope { time: self.timestamp(), ..self.scope.clone() }
    }

    /// Fires when a process begins work on the conversation: once, before the first user message.
    pub fn session_start(&self, start: SessionStart) -> StartDecision {
        self.dispatch(Body::SessionStart(start)).into_start(self.cancel.is_cancelled())
    }

    /// Fires before a user message is added.
    pub fn before_agent(&self, message: impl Into<String>) -> MessageDecision {
        let body = Body::BeforeAgent { message: message.into() };
        self.dispatch(body).into_message(self.cancel.is_cancelled())
    }

    /// Fires before a tool runs.
    pub fn before_tool(&self, call: ToolCall) -> ToolDecision {
        self.call_started(&call.id, changed_files::now(self.engine.settings().clock));
        let mut outcome = self.dispatch(Body::BeforeTool(call));
        self.engine.check_confinements(&mut outcome, &self.scope.cwd);
        outcome.into_tool(self.cancel.is_cancelled())
    }

    /// Records the user's answer to a hook's question, and returns the call if it may run.
    ///
    /// # Errors
    /// The answer was no.
    pub fn answer(
        &self,
        question: ToolQuestion,
        answer: PermissionAnswer,
    ) -> Result<ApprovedCall, Denial> {
        self.record(&question, answer, false);
        if !answer.allows() {
            return Err(question.refused(answer));
        }
        let mut approved = question.if_allowed;
        if answer == PermissionAnswer::Unconfined {
            approved.confinements.clear();
        }
        Ok(approved)
    }

    /// Records that the user always allows this call, as answered earlier in the session, and returns the call.
    pub fn allow_as_before(&self, question: ToolQuestion) -> ApprovedCall {
        self.record(&question, PermissionAnswer::Always, true);
        question.if_allowed
    }

    /// Returns the facts about a tool call in the session's working directory: the commands that it would run, the paths that it
    /// would touch. They may become outdated: a symlink can change at any time.
    pub fn facts(&self, call: &ToolCall) -> CallFacts {
        let body = Body::BeforeTool(call.clone());
        self.engine.settings().surroundings.facts(&body, None, &self.scope.cwd)
    }

    /// Records whether a call that hooks let pass has the user's permission in this mode, and who decided that.
    pub fn permission_decided(&self, call: ToolCall, mode: &str, source: &PermissionSource) {
        let record = PermissionRecord::new(mode, source);
        let mut permission = self.observation(EventName::BeforeTool, record);
        permission.tool_call = Some(call);
        self.engine.settings().notify(|observer| observer.permission_decided(&permission));
    }

    /// Records something about hooks that the user must know, and that no hook said.
    pub fn notice(&self, event: EventName, text: &str) {
        let notice = self.observation(event, NoticeRecord { hook: None, text: text.to_owned() });
        self.engine.settings().notify(|observer| observer.noticed(&notice));
    }

    /// Records that a call, as it is after a rewrite by `hook`, does not run, and why. The agent found that the tool does not accept it.
    pub fn rewrite_refused(&self, hook: &str, call: &ToolCall, why: &str) {
        let mut decision = self.observation(EventName::BeforeTool, DecisionRecord::default());
        decision.tool_call = Some(call.clone());
        decision.decision = DecisionKind::Deny;
        decision.by = Some(hook.to_owned());
        decision.reason = Some(why.to_owned());
        decision.by_failure = true;
        self.engine.settings().notify(|observer| observer.decided(&decision));
    }

    /// Fires after a tool ran, or was denied. `call` is the call as it ran, or as the model made it where it was denied (R26).
    ///
    /// If the session is cancelled before every hook has seen the result, the result is withheld.
    pub fn after_tool(&self, call: ToolCall, result: ToolResult) -> ToolReview {
        let tool = call.name.clone();
        let original = self.keys.result(result);
        let result = self.with_changed_files(&call, original.clone());
        let for_hooks = result.clone();
        let body = Body::AfterTool { call, result };
        // A rewrite of `success` would change it.
        let event = body.name();
        let outcome = self.dispatch(body);
        let unseen = self.cancel.is_cancelled() && self.has_hooks(event);
        let withheld = |error| ToolResult::failure(&tool, error, self.timestamp());
        if unseen {
            // What hooks would have taken out of it must not be kept (R25).
            let error = "interrupted; its output is not kept, because hooks could not look at it";
            return ToolReview { result: withheld(error), feedback: Feedback::default() };
        }
        let (result, feedback) = outcome.into_tool_result();
        let result = result.unwrap_or_else(|| withheld("the output is withheld: hooks lost it"));
        // Only hooks see which files changed.
        let result = if result == for_hooks { original } else { result };
        // What a hook wrote instead may hold a key as well.
        ToolReview { result: self.keys.result(result), feedback }
    }

    /// Records when a call started, in milliseconds since 1970: what changes from then on is a fact of its result (F16). A session that saw
    /// the call start knows it.
    #[doc(hidden)]
    pub fn call_started(&self, id: &str, start: i64) {
        self.engine.settings().started_calls.add(id, start);
    }

    /// Adds the files that changed while a shell command ran, if it did and hooks see its result.
    fn with_changed_files(&self, call: &ToolCall, mut result: ToolResult) -> ToolResult {
        let settings = self.engine.settings();
        let start = settings.started_calls.take(&call.id);
        let is_shell = settings.tool_names.standard(&call.name) == "bash";
        let has_hooks = || {
            let catalog = self.engine.catalog();
            [EventName::AfterTool, EventName::AfterToolFailure]
                .iter()
                .any(|event| !catalog.hooks_for(*event).is_empty())
        };
        if !settings.reports_changes || !is_shell || result.is_blocked() || !has_hooks() {
            return result;
        }
        if let (Some(start), Some(metadata)) = (start, &mut result.metadata) {
            let env = settings.environment.base();
            let files = changed_files::since(start, &settings.project, env);
            let files = files.and_then(|files| serde_json::to_value(files).ok());
            metadata.extend(files.map(|files| ("changed".to_owned(), files)));
        }
        result
    }

    /// Fires after the model responded, and the results of its tool calls are recorded.
    pub fn after_turn(&self, turn: Turn) -> TurnReview {
        self.dispatch(Body::AfterTurn(turn)).into_turn()
    }

    /// Fires before the agent stops.
    pub fn before_stop(&self, stop: StopAttempt) -> StopReview {
        self.dispatch(Body::BeforeStop(stop)).into_stop()
    }

    /// Fires when the agent is done with a user message. Its hooks also run after the session was cancelled (R35).
    pub fn after_agent(&self, response: impl Into<String>) -> Feedback {
        self.dispatch(Body::AfterAgent { response: response.into() }).into_feedback()
    }

    /// Fires before a subagent starts.
    pub fn subagent_start(&self, subagent: Subagent) -> StartDecision {
        self.dispatch(Body::SubagentStart(subagent)).into_start(self.cancel.is_cancelled())
    }

    /// Fires after a subagent ended.
    pub fn subagent_stop(&self, subagent: Subagent, response: impl Into<String>) -> Feedback {
        let body = Body::SubagentStop { subagent, response: response.into() };
        self.dispatch(body).into_feedback()
    }

    /// Fires before the history is replaced by a summary.
    pub fn pre_compact(&self, compaction: Compaction) -> StartDecision {
        self.dispatch(Body::PreCompact(compaction)).into_start(self.cancel.is_cancelled())
    }

    /// Fires after the history was replaced by a summary.
    pub fn post_compact(&self, compaction: Compaction) -> Feedback {
        self.dispatch(Body::PostCompact(compaction)).into_feedback()
    }

    /// Fires when the process ends its work on the conversation. Its hooks also run after the session was cancelled (R35).
    pub fn session_end(&self, end: SessionEnd) -> Feedback {
        self.dispatch(Body::SessionEnd(end)).into_feedback()
    }

    /// Takes what asynchronous hooks of this conversation asked for since the last time, in the order of their replies.
    pub fn take_late_replies(&self) -> Vec<LateReply> {
        self.engine.take_late_replies(&self.scope.conversation_id)
    }

    /// Returns whether asynchronous hooks subscribe to the event and match `call`, its tool call if it has one.
    #[doc(hidden)]
    pub fn has_asynchronous(&self, event: EventName, call: Option<&ToolCall>) -> bool {
        self.engine.has_asynchronous(event, call)
    }

    /// Fires an event. The hooks of the last events of a turn and of a session also run after the session was cancelled.
    fn dispatch(&self, body: Body) -> Outcome {
        let is_last = matches!(body, Body::AfterAgent { .. } | Body::SessionEnd(_));
        let cancel = if is_last { &self.engine.settings().never } else { &self.cancel };
        let context = RunContext {
            deadline: self.deadline,
            services: self.services.as_ref(),
            pause: self.engine.settings().serving.clock().asked(),
            ..RunContext::from(cancel)
        };
        let event = Event { scope: self.scope(), body };
        let mut outcome = self.engine.dispatch(event, context);
        let texts = outcome.contexts.iter_mut().chain(&mut outcome.follow_ups);
        texts.for_each(|text| self.mask(&mut text.value));
        let verdict = outcome.verdict.as_mut();
        if let Some(reason) = verdict.and_then(|verdict| verdict.value.reason.as_mut()) {
            self.mask(reason);
        }
        outcome
    }

    fn mask(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.keys.text(text) {
            *text = masked;
        }
    }

    fn has_hooks(&self, event: EventName) -> bool {
        !self.engine.catalog().hooks_for(event).is_empty()
    }

    /// Returns the present time, as payloads and tool results have it: RFC 3339 in UTC.
    pub fn timestamp(&self) -> String {
        rfc3339(self.engine.now())
    }

    fn record(&self, question: &ToolQuestion, answer: PermissionAnswer, is_remembered: bool) {
        let record = AnswerRecord {
            hook: question.hook.clone(),
            reason: question.reason.clone(),
            answer: answer.as_str().to_owned(),
            allowed: answer.allows(),
            remembered: is_remembered,
        };
        let mut observation = self.observation(EventName::BeforeTool, record);
        observation.tool_call = Some(question.if_allowed.call.clone());
        self.engine.settings().notify(|observer| observer.ask_answered(&observation));
    }

    fn observation<R>(&self, event: EventName, record: R) -> Observation<R> {
        Observation::new(Arc::new(self.scope()), event, self.engine.now(), record)
    }
}
