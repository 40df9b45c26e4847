//! The payloads and answers of Copilot CLI. Payloads have its own names or, for hooks in Claude Code's settings, names with
//! underscores; some mix them. The answers are the same.

use std::path::Path;

use serde_json::{Value, json};
use tenter_protocol::{Object, ToolResult};

use super::claude_form;
use crate::host::{Moment, NativeEvent};
use crate::occurrence::{Detail, NativeAgent, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::{HostReply, HostVerdict};

/// The field that stands for the input of a tool whose input is a text.
pub(super) const FREEFORM: &str = "freeform";

/// The text before the exit code at the end of a command's result.
const COMPLETED: &str = " completed with exit code ";

/// The file in the directory of a session that is its transcript.
const TRANSCRIPT: &str = "events.jsonl";

/// Returns whether Copilot wrote a payload for a hook that is registered in Claude Code's settings. Claude Code's payloads have no time,
/// and name another transcript.
pub(super) fn wrote_for_claude(payload: &Payload) -> bool {
    let is_own = |path: &str| Path::new(path).file_name().is_some_and(|name| name == TRANSCRIPT);
    payload.get("timestamp").is_some() && transcript(payload).is_none_or(is_own)
}

/// Returns the text of a field that has one of these names.
fn either<'p>(payload: &'p Payload, names: [&str; 2]) -> Option<&'p str> {
    names.iter().find_map(|name| payload.text(name))
}

fn transcript(payload: &Payload) -> Option<&str> {
    either(payload, ["transcriptPath", "transcript_path"])
}

/// Reads a payload of the native event `event`.
///
/// # Errors
/// It is of another event, or has no session, working directory, tool or prompt where its event has one.
pub(super) fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    if let Some(other) = payload.text("hook_event_name").filter(|other| *other != event.name) {
        return Err(PayloadError::other_event(event.name, other));
    }
    let agent = either(payload, ["agentId", "agent_id"]).map(|id| NativeAgent {
        id: id.to_owned(),
        kind: either(payload, ["agentType", "agent_type"]).map(str::to_owned),
        parent: either(payload, ["parentAgentId", "parent_agent_id"]).map(str::to_owned),
    });
    let own = match payload.text("sessionId") {
        Some(session) => session,
        None => payload.required("session_id").map_err(|_| PayloadError::missing("`sessionId`"))?,
    };
    let parent = agent.as_ref().and_then(|agent| agent.parent.as_deref());
    let root = agent.as_ref().and_then(|_| transcript(payload)).and_then(session_of_transcript);
    Ok(Occurrence {
        session: root.or(parent).unwrap_or(own).to_owned(),
        detail: detail(event.moment, payload, agent.is_some())?,
        agent,
        cwd: payload.required("cwd")?.into(),
    })
}

/// Returns the session of the main agent, which has the only transcript: `…/SESSION/events.jsonl`.
fn session_of_transcript(path: &str) -> Option<&str> {
    let (directory, file) = path.rsplit_once(['/', '\\'])?;
    let (_, session) = directory.rsplit_once(['/', '\\'])?;
    (file == TRANSCRIPT && !session.is_empty()).then_some(session)
}

fn detail(moment: Moment, payload: &Payload, is_subagent: bool) -> Result<Detail, PayloadError> {
    let text = |field: &str| payload.text(field).map(str::to_owned);
    let prompt = || payload.text("prompt").unwrap_or_default().to_owned();
    let response = either(payload, ["response", "last_assistant_message"]).map(str::to_owned);
    Ok(match moment {
        Moment::SessionStart => Detail::SessionStart { source: text("source"), model: None },
        // Reports of background work come as messages, too. A user could type the same text (B13).
        Moment::Prompt => Detail::Prompt { text: prompt(), id: None },
        Moment::PromptSent => Detail::PromptSent {
            text: prompt(),
            sent: text("transformedPrompt").unwrap_or_default(),
        },
        Moment::BeforeTool => Detail::BeforeTool(call(payload)?),
        Moment::AfterTool => Detail::AfterTool { call: call(payload)?, end: end(payload) },
        Moment::AfterToolFailure => {
            let error = text("error").unwrap_or_else(|| "the tool failed".to_owned());
            let end = ToolEnd::new(ToolOutcome::Failure(error), Value::Null);
            Detail::AfterTool { call: call(payload)?, end }
        }
        // A subagent cannot be continued here; its own event follows.
        Moment::Stop if is_subagent => Detail::Nothing,
        Moment::Stop => Detail::Stop { response },
        Moment::SubagentStart => Detail::SubagentStart,
        Moment::SubagentStop => Detail::SubagentStop { response },
        Moment::PreCompact => Detail::PreCompact(claude_form::trigger(payload).into()),
        Moment::PostCompact => Detail::PostCompact(claude_form::trigger(payload).into()),
        Moment::SessionEnd => Detail::SessionEnd { reason: text("reason") },
        Moment::AfterBatch | Moment::StopFailure => Detail::Nothing,
    })
}

fn call(payload: &Payload) -> Result<NativeCall, PayloadError> {
    let tool = either(payload, ["toolName", "tool_name"]);
    let input = payload.get("toolArgs").or_else(|| payload.get("tool_input"));
    Ok(NativeCall {
        tool: tool.ok_or_else(|| PayloadError::missing("`toolName`"))?.to_owned(),
        ..NativeCall::with_input_or_text(input.unwrap_or(&Value::Null), FREEFORM)
    })
}

fn end(payload: &Payload) -> ToolEnd {
    let result = payload.get("toolResult").or_else(|| payload.get("tool_result"));
    let result = result.cloned().unwrap_or_default();
    let field = |names: [&str; 2]| names.iter().find_map(|name| result.get(*name)?.as_str());
    let text = field(["textResultForLlm", "text_result_for_llm"]).unwrap_or_default();
    let (output, exit_code) = match completion(text) {
        Some((output, _, exit_code)) => (output.to_owned(), Some(exit_code)),
        None => (text.to_owned(), None),
    };
    let is_success = field(["resultType", "result_type"]).is_none_or(|kind| kind == "success");
    let outcome = match exit_code {
        Some(0) | None if is_success => ToolOutcome::Success,
        _ => ToolOutcome::Failure(text.to_owned()),
    };
    ToolEnd { output: Some(output), exit_code, ..ToolEnd::new(outcome, result) }
}

/// Splits the result of a command into its output, the line that Copilot adds, and the exit code in it; `None` without such a line.
fn completion(text: &str) -> Option<(&str, &str, i32)> {
    let (output, line) = text.rsplit_once('\n').unwrap_or(("", text));
    let (shell, code) = line.strip_suffix('>')?.split_once(COMPLETED)?;
    Some((output, line, code.parse().ok().filter(|_| shell.starts_with("<shellId: "))?))
}

/// Returns the native result with the text as hooks changed it; `None` after a failure that Copilot reports.
pub(super) fn rewrite_output(end: &ToolEnd, replacement: &ToolResult) -> Option<Value> {
    let result = end.result.as_object()?;
    let text = result.get("textResultForLlm").or_else(|| result.get("text_result_for_llm"))?;
    let new = match completion(text.as_str()?) {
        Some((_, line, _)) => format!("{}\n{line}", output_text(replacement)),
        None => output_text(replacement),
    };
    let kind = result.get("resultType").or_else(|| result.get("result_type"));
    let kind = kind.cloned().unwrap_or_else(|| json!("success"));
    Some(json!({"resultType": kind, "textResultForLlm": new}))
}

/// Returns the text of a changed result for the model. For a command, it is the output without our remarks.
fn output_text(result: &ToolResult) -> String {
    let field = |name: &str| result.metadata.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let output = || field("output").or_else(|| field("textResultForLlm"));
    output().unwrap_or_else(|| result.text())
}

/// Writes the native answer. Copilot has no form for a notice, and a line before the answer would make it invalid if Copilot starts the
/// program without a shell.
pub(super) fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let decision = decision(event.moment, reply);
    (!decision.is_empty()).then(|| Value::Object(decision).to_string())
}

fn decision(moment: Moment, reply: &HostReply) -> Object {
    let mut answer = Object::new();
    let mut set = |field: &str, value: Value| answer.insert(field.to_owned(), value);
    match (moment, &reply.verdict) {
        (Moment::BeforeTool, Some(verdict)) => {
            let (decision, reason) = match verdict {
                HostVerdict::Deny(reason) => ("deny", Some(reason)),
                HostVerdict::Ask(reason) => ("ask", Some(reason)),
                HostVerdict::Allow => ("allow", None),
            };
            set("permissionDecision", json!(decision));
            reason.map(|reason| set("permissionDecisionReason", json!(reason)));
        }
        (Moment::Prompt, Some(HostVerdict::Deny(reason))) => {
            set("decision", json!("block"));
            set("reason", json!(reason));
        }
        _ => {}
    }
    match moment {
        Moment::BeforeTool if reply.denial().is_none() => {
            reply.input.as_ref().map(|input| set("modifiedArgs", native_input(input)));
        }
        Moment::PromptSent => {
            reply.message.as_ref().map(|text| set("modifiedTransformedPrompt", json!(text)));
        }
        Moment::AfterTool => {
            reply.output.as_ref().map(|output| set("modifiedResult", output.clone()));
        }
        Moment::Stop | Moment::SubagentStop => {
            if let Some(message) = &reply.continue_with {
                set("decision", json!("block"));
                set("reason", json!(message));
            }
        }
        _ => {}
    }
    if takes_context(moment) {
        reply.context().map(|text| set("additionalContext", json!(text)));
    }
    answer
}

fn native_input(input: &Object) -> Value {
    match input.get(FREEFORM) {
        Some(text) if input.len() == 1 => text.clone(),
        _ => json!(input),
    }
}

/// Returns the name of an MCP tool. Copilot's own tools have no hyphen.
pub(super) fn mcp_name(call: &NativeCall) -> Option<String> {
    let (server, tool) = call.tool.rsplit_once('-')?;
    Some(format!("mcp__{server}__{tool}"))
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
            | Moment::SubagentStart
    )
}
