//! The payloads and answers of Claude Code, which other hosts imitate.

use serde_json::Value;
use tenter_protocol::Object;
use tenter_protocol::event::CompactTrigger;

use crate::host::{
    EntryFormat, Host, HostVersion, InputRewrite, Moment, NativeEvent, Registration,
    RegistrationFormat,
};
use crate::occurrence::{Detail, NativeAgent, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::{HostReply, HostVerdict};
use crate::user_rules::RuleCheck;

/// The base of every host: payloads and answers of Claude Code, and the most frequent value of each field.
pub(super) const BASE: Host = Host {
    id: "",
    name: "",
    measured_version: None,
    events: &[],
    tools: &[],
    registration: Registration::new("", &[], RegistrationFormat::Entries(EntryFormat::JSON_GROUPS)),
    settings: &[],
    powers: &[],
    blind_spots: &[],
    notes: &[],
    context_limit: 10_000,
    max_continuations: 8,
    marks_subagents: false,
    has_unseen_input: false,
    input_rewrite: InputRewrite::Native,
    asks_unasked_since: HostVersion::EARLIEST,
    user_rules: RuleCheck::NONE,
    withheld: &[],
    read,
    answer,
    rewrite_output: |_, _| None,
    // Names of MCP tools are as in Tenter.
    mcp_name: |_| None,
    takes_context,
    takes_notice: |_| false,
};

/// Reads a payload of the native event `event`.
///
/// # Errors
/// It is of another event, or has no session, working directory, tool or prompt where its event has one.
pub(super) fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    payload.check_event("hook_event_name", event.name)?;
    let agent = payload.text("agent_id").map(|id| NativeAgent {
        id: id.to_owned(),
        kind: payload.text("agent_type").map(str::to_owned),
        parent: None,
    });
    Ok(Occurrence {
        session: payload.required("session_id")?.to_owned(),
        agent,
        cwd: payload.required("cwd")?.into(),
        detail: detail(event.moment, payload)?,
    })
}

fn detail(moment: Moment, payload: &Payload) -> Result<Detail, PayloadError> {
    let text = |field: &str| payload.text(field).map(str::to_owned);
    let response = text("last_assistant_message");
    Ok(match moment {
        Moment::SessionStart if payload.text("source") == Some("compact") => Detail::ContextLost,
        Moment::SessionStart => {
            Detail::SessionStart { source: text("source"), model: text("model") }
        }
        // Reports of background work come as messages, too. A user could type the same text (B13).
        Moment::Prompt => {
            Detail::Prompt { text: text("prompt").unwrap_or_default(), id: text("prompt_id") }
        }
        Moment::BeforeTool => Detail::BeforeTool(call(payload)?),
        Moment::AfterTool => {
            let result = payload.get("tool_response").cloned().unwrap_or_default();
            let end = ToolEnd::new(ToolOutcome::Success, result);
            Detail::AfterTool { call: call(payload)?, end: with_duration(end, payload) }
        }
        Moment::AfterToolFailure => {
            let error = text("error").unwrap_or_else(|| "the tool failed".to_owned());
            let end = ToolEnd {
                exit_code: exit_code(&error),
                output: error.split_once('\n').map(|(_, output)| output.to_owned()),
                ..ToolEnd::new(ToolOutcome::Failure(error), Value::Null)
            };
            Detail::AfterTool { call: call(payload)?, end: with_duration(end, payload) }
        }
        Moment::AfterBatch => Detail::AfterBatch,
        Moment::PromptSent => Detail::Nothing,
        Moment::Stop => Detail::Stop { response },
        Moment::StopFailure => Detail::StopFailure { response },
        Moment::SubagentStart => Detail::SubagentStart,
        Moment::SubagentStop => Detail::SubagentStop { response },
        Moment::PreCompact => Detail::PreCompact(trigger(payload).into()),
        Moment::PostCompact => Detail::PostCompact(trigger(payload).into()),
        Moment::SessionEnd => Detail::SessionEnd { reason: text("reason") },
    })
}

fn with_duration(end: ToolEnd, payload: &Payload) -> ToolEnd {
    ToolEnd { duration_ms: payload.count("duration_ms"), ..end }
}

/// Reads the exit code in an error whose first line is `Exit code N`.
fn exit_code(error: &str) -> Option<i32> {
    error.lines().next()?.strip_prefix("Exit code ")?.trim().parse().ok()
}

fn call(payload: &Payload) -> Result<NativeCall, PayloadError> {
    let unasked = payload.text("permission_mode") == Some("bypassPermissions");
    // The name of an MCP tool contains the server.
    Ok(NativeCall { unasked, ..NativeCall::read(payload, "tool_use_id")? })
}

/// Returns the cause of a compaction.
pub(super) fn trigger(payload: &Payload) -> CompactTrigger {
    match payload.text("trigger") {
        Some("manual") => CompactTrigger::Manual,
        _ => CompactTrigger::Auto,
    }
}

/// An answer in the form of Claude Code.
#[derive(Default)]
pub(super) struct AnswerFields {
    answer: Object,
    /// The fields of `hookSpecificOutput`.
    specific: Object,
}

impl AnswerFields {
    /// Sets a field of the answer.
    pub(super) fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.answer.insert(field.to_owned(), value.into());
    }

    /// Sets a field of `hookSpecificOutput`.
    pub(super) fn set_specific(&mut self, field: &str, value: impl Into<Value>) {
        self.specific.insert(field.to_owned(), value.into());
    }

    /// Sets a decision such as `block`, if there is a reason for it.
    pub(super) fn decide(&mut self, decision: &str, reason: Option<&str>) {
        if let Some(reason) = reason {
            self.set("decision", decision);
            self.set("reason", reason);
        }
    }

    /// Sets the text that the model reads in addition.
    pub(super) fn add_context(&mut self, text: Option<String>) {
        if let Some(text) = text {
            self.set_specific("additionalContext", text);
        }
    }

    /// Writes the answer with these notices; `None` is no opinion.
    pub(super) fn write(mut self, event: &NativeEvent, notices: &[String]) -> Option<String> {
        if !self.specific.is_empty() {
            self.set_specific("hookEventName", event.name);
            let specific = std::mem::take(&mut self.specific);
            self.set("hookSpecificOutput", specific);
        }
        if !notices.is_empty() {
            self.set("systemMessage", notices.join("\n"));
        }
        (!self.answer.is_empty()).then(|| Value::Object(self.answer).to_string())
    }
}

/// Writes the shortest native answer for the reply (B14); `None` is no opinion.
///
/// After tools and at a stop, `decision: block` would show the model the command line of the hook; additional context does not.
pub(super) fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    if event.moment == Moment::PreCompact && reply.denial().is_none() {
        // The model that summarizes reads stdout as it is.
        return reply.context();
    }
    let mut answer = AnswerFields::default();
    match event.moment {
        Moment::BeforeTool => permission(reply, &mut answer),
        Moment::Prompt | Moment::PreCompact => answer.decide("block", reply.denial()),
        Moment::AfterTool => {
            if let Some(output) = &reply.output {
                answer.set_specific("updatedToolOutput", output.clone());
            }
        }
        _ => {}
    }
    match event.moment {
        Moment::SubagentStop => answer.decide("block", reply.continue_with.as_deref()),
        Moment::Stop => answer.add_context(reply.continue_with.clone()),
        moment if takes_context(moment) => answer.add_context(reply.context()),
        _ => {}
    }
    let notices = if takes_notice(event.moment) { &reply.notices[..] } else { &[] };
    answer.write(event, notices)
}

fn permission(reply: &HostReply, answer: &mut AnswerFields) {
    let (decision, reason) = match &reply.verdict {
        Some(HostVerdict::Deny(reason)) => (Some("deny"), Some(reason)),
        Some(HostVerdict::Ask(reason)) => (Some("ask"), Some(reason)),
        Some(HostVerdict::Allow) => (Some("allow"), None),
        None => (None, None),
    };
    if let Some(decision) = decision {
        answer.set_specific("permissionDecision", decision);
    }
    if let Some(reason) = reason {
        answer.set_specific("permissionDecisionReason", reason.as_str());
    }
    if let Some(input) = reply.input.as_ref().filter(|_| reply.denial().is_none()) {
        answer.set_specific("updatedInput", input.clone());
    }
}

/// Returns whether the model reads text that is added at this moment.
pub(super) fn takes_context(moment: Moment) -> bool {
    matches!(
        moment,
        Moment::SessionStart
            | Moment::Prompt
            | Moment::BeforeTool
            | Moment::AfterTool
            | Moment::AfterToolFailure
            | Moment::AfterBatch
            | Moment::SubagentStart
            | Moment::PreCompact
    )
}

/// Returns whether the user sees a notice, measured without a terminal. At a session's start, only the log of hooks has it.
pub(super) fn takes_notice(moment: Moment) -> bool {
    matches!(
        moment,
        Moment::Prompt
            | Moment::BeforeTool
            | Moment::AfterTool
            | Moment::AfterToolFailure
            | Moment::AfterBatch
            | Moment::Stop
    )
}
