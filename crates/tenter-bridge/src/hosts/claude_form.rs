//! The payloads and answers of Claude Code, which other hosts imitate.

use serde_json::{Value, json};
use tenter_protocol::event::CompactTrigger;

use crate::host::{Moment, NativeEvent};
use crate::occurrence::{Detail, NativeAgent, NativeCall, Occurrence, ToolEnd};
use crate::payload::{Payload, PayloadError};
use crate::reply::{Reply, Verdict};

/// Prompts that begin with it are written by the host, not by the user (B13).
const TASK_NOTIFICATION: &str = "<task-notification>";

/// Reads a payload of the native event `event`.
///
/// # Errors
/// It is of another event, or has no session, working directory, tool or prompt where its event has one.
pub(super) fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    let named = payload.required("hook_event_name")?;
    if named != event.name {
        return Err(PayloadError::other_event(event.name, named));
    }
    let agent = payload.text("agent_id").map(|id| NativeAgent {
        id: id.to_owned(),
        kind: payload.text("agent_type").map(str::to_owned),
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
        Moment::Prompt => match payload.text("prompt").unwrap_or_default() {
            prompt if prompt.starts_with(TASK_NOTIFICATION) => Detail::Nothing,
            prompt => Detail::Prompt { text: prompt.to_owned() },
        },
        Moment::BeforeTool => Detail::BeforeTool(call(payload)?),
        Moment::AfterTool => {
            let result = payload.get("tool_response").cloned().unwrap_or_default();
            let end = ToolEnd::Success { result, duration_ms: payload.count("duration_ms") };
            Detail::AfterTool { call: call(payload)?, end }
        }
        Moment::AfterToolFailure => {
            let error = text("error").unwrap_or_else(|| "the tool failed".to_owned());
            let end = ToolEnd::Failure { error, duration_ms: payload.count("duration_ms") };
            Detail::AfterTool { call: call(payload)?, end }
        }
        Moment::AfterBatch => Detail::AfterBatch,
        Moment::Stop => Detail::Stop { response },
        Moment::StopFailure => Detail::StopFailure { response },
        Moment::SubagentStart => Detail::SubagentStart,
        Moment::SubagentStop => Detail::SubagentStop { response },
        Moment::PreCompact => Detail::PreCompact(trigger(payload)),
        Moment::PostCompact => Detail::PostCompact(trigger(payload)),
        Moment::SessionEnd => Detail::SessionEnd { reason: text("reason") },
    })
}

fn call(payload: &Payload) -> Result<NativeCall, PayloadError> {
    Ok(NativeCall {
        id: payload.text("tool_use_id").map(str::to_owned),
        tool: payload.required("tool_name")?.to_owned(),
        input: payload.object("tool_input").cloned().unwrap_or_default(),
    })
}

fn trigger(payload: &Payload) -> CompactTrigger {
    match payload.text("trigger") {
        Some("manual") => CompactTrigger::Manual,
        _ => CompactTrigger::Auto,
    }
}

/// The native answer: the smallest that says what the reply says (B14); `None` is no opinion.
pub(super) fn answer(event: &NativeEvent, reply: &Reply) -> Option<Value> {
    let mut specific = json!({});
    let mut answer = json!({});
    match (event.moment, &reply.verdict) {
        (Moment::BeforeTool, Some(verdict)) => permission(verdict, &mut specific),
        (Moment::Prompt | Moment::PreCompact, Some(Verdict::Deny(reason))) => {
            block(reason, &mut answer);
        }
        _ => {}
    }
    if event.moment == Moment::BeforeTool
        && reply.denial().is_none()
        && let Some(input) = &reply.input
    {
        specific["updatedInput"] = json!(input);
    }
    if event.moment == Moment::AfterTool
        && let Some(output) = &reply.output
    {
        specific["updatedToolOutput"] = output.clone();
    }
    if let Some(message) = &reply.continue_with {
        block(message, &mut answer);
    }
    if takes_context(event.moment)
        && let Some(context) = reply.context()
    {
        specific["additionalContext"] = json!(context);
    }
    if let Value::Object(fields) = &mut specific
        && !fields.is_empty()
    {
        fields.insert("hookEventName".to_owned(), json!(event.name));
        answer["hookSpecificOutput"] = specific;
    }
    if !reply.notices.is_empty() {
        answer["systemMessage"] = json!(reply.notices.join("\n"));
    }
    answer.as_object().is_some_and(|fields| !fields.is_empty()).then_some(answer)
}

fn permission(verdict: &Verdict, specific: &mut Value) {
    let (decision, reason) = match verdict {
        Verdict::Deny(reason) => ("deny", Some(reason)),
        Verdict::Ask(reason) => ("ask", Some(reason)),
        Verdict::Allow => ("allow", None),
    };
    specific["permissionDecision"] = json!(decision);
    if let Some(reason) = reason {
        specific["permissionDecisionReason"] = json!(reason);
    }
}

fn block(reason: &str, answer: &mut Value) {
    answer["decision"] = json!("block");
    answer["reason"] = json!(reason);
}

/// Whether the model reads text that is added at this moment.
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
    )
}
