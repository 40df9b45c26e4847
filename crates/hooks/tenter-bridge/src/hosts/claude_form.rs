//! The payloads and answers of Claude Code, which other hosts imitate.

use serde_json::{Value, json};
use tenter_protocol::Object;
use tenter_protocol::event::CompactTrigger;

use crate::host::{Moment, NativeEvent};
use crate::occurrence::{Detail, NativeAgent, NativeCall, Occurrence, Outcome, ToolEnd};
use crate::payload::{Payload, PayloadError};
use crate::reply::{Reply, Verdict};

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
        // Reports of background work come as messages, too. Nothing in them is what a user could not type (B13).
        Moment::Prompt => {
            Detail::Prompt { text: text("prompt").unwrap_or_default(), id: text("prompt_id") }
        }
        Moment::BeforeTool => Detail::BeforeTool(call(payload)?),
        Moment::AfterTool => {
            let result = payload.get("tool_response").cloned().unwrap_or_default();
            let end = ToolEnd::new(Outcome::Success, result);
            Detail::AfterTool { call: call(payload)?, end: with_duration(end, payload) }
        }
        Moment::AfterToolFailure => {
            let error = text("error").unwrap_or_else(|| "the tool failed".to_owned());
            let end = ToolEnd {
                exit_code: exit_code(&error),
                output: error.split_once('\n').map(|(_, output)| output.to_owned()),
                ..ToolEnd::new(Outcome::Failure(error), Value::Null)
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

/// The exit code in an error whose first line is `Exit code N`.
fn exit_code(error: &str) -> Option<i32> {
    error.lines().next()?.strip_prefix("Exit code ")?.trim().parse().ok()
}

fn call(payload: &Payload) -> Result<NativeCall, PayloadError> {
    Ok(NativeCall {
        id: payload.text("tool_use_id").map(str::to_owned),
        tool: payload.required("tool_name")?.to_owned(),
        // Its name contains the server as it is.
        server: None,
        input: payload.object("tool_input").cloned().unwrap_or_default(),
        unasked: payload.text("permission_mode") == Some("bypassPermissions"),
    })
}

/// What caused a compaction.
pub(super) fn trigger(payload: &Payload) -> CompactTrigger {
    match payload.text("trigger") {
        Some("manual") => CompactTrigger::Manual,
        _ => CompactTrigger::Auto,
    }
}

/// The native answer: the smallest that says what the reply says (B14); `None` is no opinion.
///
/// After tools and at a stop, `decision: block` would show the model the command line of the hook; additional context does not.
pub(super) fn answer(event: &NativeEvent, reply: &Reply) -> Option<String> {
    if event.moment == Moment::PreCompact && reply.denial().is_none() {
        // The model that summarizes reads stdout as it is, whatever it is.
        return reply.context();
    }
    let mut answer = Object::new();
    let mut specific = Object::new();
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
        specific.insert("updatedInput".to_owned(), json!(input));
    }
    if event.moment == Moment::AfterTool
        && let Some(output) = &reply.output
    {
        specific.insert("updatedToolOutput".to_owned(), output.clone());
    }
    let follow_up = reply.continue_with.as_deref();
    match (event.moment, follow_up) {
        (Moment::SubagentStop, Some(message)) => block(message, &mut answer),
        (Moment::Stop, Some(message)) => add_context(message.to_owned(), &mut specific),
        _ if takes_context(event.moment) => {
            reply.context().into_iter().for_each(|text| add_context(text, &mut specific));
        }
        _ => {}
    }
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), json!(event.name));
        answer.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    if takes_notice(event.moment) && !reply.notices.is_empty() {
        answer.insert("systemMessage".to_owned(), json!(reply.notices.join("\n")));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}

fn add_context(text: String, specific: &mut Object) {
    specific.insert("additionalContext".to_owned(), Value::String(text));
}

fn permission(verdict: &Verdict, specific: &mut Object) {
    let (decision, reason) = match verdict {
        Verdict::Deny(reason) => ("deny", Some(reason)),
        Verdict::Ask(reason) => ("ask", Some(reason)),
        Verdict::Allow => ("allow", None),
    };
    specific.insert("permissionDecision".to_owned(), json!(decision));
    if let Some(reason) = reason {
        specific.insert("permissionDecisionReason".to_owned(), json!(reason));
    }
}

fn block(reason: &str, answer: &mut Object) {
    answer.insert("decision".to_owned(), json!("block"));
    answer.insert("reason".to_owned(), json!(reason));
}

/// Names of MCP tools are as in Tenter.
pub(super) fn mcp_name(_call: &NativeCall) -> Option<String> {
    None
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
            | Moment::PreCompact
    )
}

/// Whether the user sees a notice: measured without a terminal; at a session's start, it is in the log of hooks alone.
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
