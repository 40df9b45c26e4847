//! Reads the reply of a hook of Claude Code's, as measured: JSON counts at every exit code but 2, which blocks in any case; text is
//! context where a session or a message begins.

use serde_json::Value;

use super::payload::native_calls;
use crate::claude_code::{results, tools};
use crate::manifest::deny_by_exit;
use crate::manifest::reply::claude_code_reply;
use crate::patch::Patch;
use crate::reply::stdout::{self, ReplyObject};
use crate::reply::{ParsedReply, ReplyError, Verdict, VerdictKind};
use crate::{Body, EventName, EventRef, Object, Reply, Rewrite, ToolCall};

/// The exit code that blocks.
const BLOCKED: i32 = 2;
/// Fields that only have an effect in Claude Code's own terminal and sessions.
const UNSUPPORTED: [&str; 10] = *tenter_base::words!(
    "async asyncTimeout terminalSequence suppressOriginalPrompt initialUserMessage sessionTitle
     watchPaths reloadSkills updatedPermissions interrupt"
);
/// The fields with the result that the model reads instead.
const OUTPUTS: [&str; 2] = ["updatedToolOutput", "updatedMCPToolOutput"];

/// Parses what a script wrote that exited with `code`. `None` if the code means that it failed.
///
/// # Errors
/// Text that begins with `{` and is not one JSON object, or a change that cannot be applied.
pub fn parse_reply(
    event: EventRef<'_>,
    code: i32,
    output_bytes: &[u8],
    stderr: &str,
) -> Option<Result<ParsedReply, ReplyError>> {
    let content = stdout::content(output_bytes);
    let object = content.filter(|content| content.first() == Some(&b'{')).map(stdout::object);
    match (code, object) {
        (BLOCKED, object) => {
            let object = object.and_then(Result::ok).map(|reply| reply.object);
            Some(Ok(blocked(event, object.as_ref(), stderr)))
        }
        (_, Some(Ok(object))) => Some(answer(event, object)),
        (0, Some(Err(error))) => Some(Err(error)),
        (0, None) => Some(Ok(text(event, content))),
        _ => None,
    }
}

/// Returns a denial by exit code 2: the reason is in the JSON, else it is stderr.
fn blocked(event: EventRef<'_>, object: Option<&Object>, stderr: &str) -> ParsedReply {
    let own = object.and_then(reason).map(str::to_owned);
    let mut reply = ParsedReply {
        reply: deny_by_exit(own.as_deref().unwrap_or(stderr)),
        ..ParsedReply::default()
    };
    drop_powerless_verdict(event, &mut reply);
    reply
}

fn reason(object: &Object) -> Option<&str> {
    let specific = object.get("hookSpecificOutput").and_then(Value::as_object);
    let specific = specific.and_then(|specific| specific.get("permissionDecisionReason"));
    let text = [specific, object.get("reason"), object.get("stopReason")];
    text.into_iter().flatten().find_map(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// Returns text without a decision: context where a session or a message begins, else for the journal.
fn text(event: EventRef<'_>, content: Option<&[u8]>) -> ParsedReply {
    let text = content.map(|content| String::from_utf8_lossy(content).into_owned());
    match event.body.name() {
        EventName::SessionStart | EventName::BeforeAgent => {
            let reply = Reply { context: text, ..Reply::default() };
            ParsedReply { reply, ..ParsedReply::default() }
        }
        _ => ParsedReply { text, ..ParsedReply::default() },
    }
}

fn answer(event: EventRef<'_>, mut answer: ReplyObject) -> Result<ParsedReply, ReplyError> {
    let object = &mut answer.object;
    let stops = object.get("continue") == Some(&Value::Bool(false));
    let mut unsupported = remove_unsupported(object);
    let mut output = None;
    if let Some(Value::Object(specific)) = object.get_mut("hookSpecificOutput") {
        unsupported.extend(remove_unsupported(specific));
        output =
            OUTPUTS.iter().filter_map(|field| specific.shift_remove(*field)).find(|v| !v.is_null());
    }
    let mut reply = claude_code_reply(event.body.name(), answer)?;
    reply.warnings.extend(
        unsupported
            .iter()
            .map(|field| format!("\"{field}\" only has an effect in Claude Code itself")),
    );
    if let Some(output) = output {
        rewrite_output(event, &output, &mut reply);
    }
    rewrite_input(event, &mut reply.reply);
    if event.body.name() == EventName::BeforeStop && reply.reply.follow_ups.is_empty() {
        // There, context makes the agent continue.
        reply.reply.follow_ups.extend(reply.reply.context.take().filter(|_| !stops));
    }
    if !stops {
        drop_powerless_verdict(event, &mut reply);
    }
    Ok(reply)
}

/// Removes fields that Tenter has nothing for, and returns their names.
fn remove_unsupported(object: &mut Object) -> Vec<&'static str> {
    UNSUPPORTED.into_iter().filter(|field| object.shift_remove(*field).is_some()).collect()
}

/// Replaces the result by one in Tenter's form.
fn rewrite_output(event: EventRef<'_>, output: &Value, reply: &mut ParsedReply) {
    match event.body {
        Body::AfterTool { result, .. } if !result.is_failure() => {
            reply.reply.rewrite = Some(Rewrite::Output(results::rewrite(result, output)));
        }
        body => {
            let warning = format!("\"updatedToolOutput\" has no effect at {}", body.name());
            reply.warnings.push(warning);
        }
    }
}

/// Translates a changed input into the fields of Tenter's tool.
fn rewrite_input(event: EventRef<'_>, reply: &mut Reply) {
    let Some(Rewrite::Input(input)) = &mut reply.rewrite else { return };
    let Some(call) = event.body.tool_call() else { return };
    if Patch::from_input(&call.input).is_some() {
        let input = std::mem::take(input);
        reply.rewrite = None;
        return demand_patch(event, call, &input, reply);
    }
    let host = event.scope.host.as_deref();
    let tool = host.and_then(|host| host.tool_name.as_deref()).and_then(tools::named);
    let tool =
        tool.filter(|tool| tool.canonical == call.name).or_else(|| tools::counterpart(&call.name));
    if let Some(tool) = tool {
        *input = tool.canonical_input(input);
    }
}

/// Denies a patch of which a hook changed one file: what it wants cannot be put into the patch, and the original must not be written.
fn demand_patch(event: EventRef<'_>, call: &ToolCall, input: &Object, reply: &mut Reply) {
    let is_same = |form: &Object| input.iter().all(|(name, value)| form.get(name) == Some(value));
    let is_unchanged = native_calls(event, call).iter().any(|(_, form)| is_same(form));
    if is_unchanged || reply.verdict.as_ref().is_some_and(Verdict::is_deny) {
        return;
    }
    let mut input = input.clone();
    input.retain(|name, value| call.input.get(name) != Some(value));
    let reason = format!(
        "it changed one file of this patch, which cannot be put into the patch. Make a patch that has this change instead: {}",
        Value::Object(input)
    );
    reply.verdict = Some(Verdict::new(VerdictKind::Deny, Some(reason)));
}

/// Drops the verdict where Claude Code does not let hooks stop the start of a session or of a subagent: what they say is for the
/// user.
fn drop_powerless_verdict(event: EventRef<'_>, reply: &mut ParsedReply) {
    let is_start = matches!(event.body.name(), EventName::SessionStart | EventName::SubagentStart);
    if let Some(verdict) = reply.reply.verdict.take_if(|verdict| is_start && verdict.is_deny()) {
        reply.warnings.push(verdict.reason_text().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::{SessionStart, StopAttempt};
    use crate::reply::{Verdict, VerdictKind};
    use crate::tool_metadata::Bash;
    use crate::{Scope, ToolCall, ToolResult};

    fn parse(body: &Body, code: i32, stdout: &str, stderr: &str) -> Option<ParsedReply> {
        let scope = Scope::new("c1", "/w");
        let event = EventRef { scope: &scope, body };
        parse_reply(event, code, stdout.as_bytes(), stderr).map(Result::unwrap)
    }

    fn reply(body: &Body, code: i32, stdout: &str, stderr: &str) -> Reply {
        parse(body, code, stdout, stderr).unwrap().reply
    }

    fn before(tool: &str) -> Body {
        Body::BeforeTool(ToolCall::new("1", tool, []))
    }

    fn denied(reply: &Reply) -> Option<&str> {
        reply.verdict.as_ref().filter(|verdict| verdict.is_deny()).map(Verdict::reason_text)
    }

    #[test]
    fn exit_code_2_blocks_with_the_reason_of_json_or_stderr() {
        let call = before("bash");
        assert_eq!(denied(&reply(&call, 2, "", "no\n")), Some("no"));
        assert_eq!(denied(&reply(&call, 2, r#"{"decision": "approve"}"#, "no")), Some("no"));
        assert_eq!(denied(&reply(&call, 2, r#"{"reason": "why"}"#, "no")), Some("why"));
        assert_eq!(denied(&reply(&call, 2, "{", "no")), Some("no"));
    }

    #[test]
    fn json_counts_at_other_exit_codes_and_anything_else_is_a_failure() {
        let deny = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}"#;
        for code in [0, 1, 3] {
            assert_eq!(denied(&reply(&before("bash"), code, deny, "")), Some("no"), "{code}");
        }
        assert_eq!(parse(&before("bash"), 1, "", "oops"), None);
        assert_eq!(parse(&before("bash"), 1, "{", "oops"), None);
    }

    #[test]
    fn a_decision_without_specific_output_counts() {
        let call = before("bash");
        assert_eq!(
            denied(&reply(&call, 0, r#"{"decision": "block", "reason": "no"}"#, "")),
            Some("no")
        );
        assert_eq!(
            denied(&reply(&call, 0, r#"{"continue": false, "stopReason": "enough"}"#, "")),
            Some("enough")
        );
        let allow = reply(&call, 0, r#"{"decision": "approve"}"#, "").verdict.unwrap();
        assert_eq!(allow.kind, VerdictKind::Allow);
    }

    #[test]
    fn text_is_context_where_a_session_or_a_message_begins() {
        let start = Body::SessionStart(SessionStart::new("m"));
        let message = Body::BeforeAgent { message: "x".into() };
        for body in [start, message] {
            assert_eq!(
                reply(&body, 0, "It is Friday.\n", "").context.as_deref(),
                Some("It is Friday.")
            );
        }
        let reply = parse(&before("bash"), 0, "ok", "").unwrap();
        assert_eq!((reply.reply, reply.text.as_deref()), (Reply::default(), Some("ok")));
    }

    #[test]
    fn a_changed_input_is_in_tenters_fields() {
        let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"file_path": "/a", "content": "x"}}});
        let expected = json!({"file_path": "/a", "text": "x"}).as_object().cloned();
        let result = reply(&before("file_write"), 0, &output.to_string(), "");
        assert_eq!(result.rewrite, expected.map(Rewrite::Input));
    }

    #[test]
    fn a_changed_output_is_a_result_of_the_tool() {
        let result = ToolResult::success(
            "bash",
            &Bash { output: "key".into(), ..Bash::default() },
            "T".into(),
        );
        let body = Body::AfterTool { call: ToolCall::new("1", "bash", []), result: result.clone() };
        let output = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse",
            "updatedToolOutput": {"stdout": "[gone]", "stderr": "", "interrupted": false, "isImage": false}}});
        let Some(Rewrite::Output(change)) = reply(&body, 0, &output.to_string(), "").rewrite else {
            panic!("no rewrite")
        };
        assert_eq!(result.rewrite(&change).unwrap().text(), "[gone]");
        let reply = parse(&before("bash"), 0, &output.to_string(), "").unwrap();
        assert!(reply.reply.rewrite.is_none() && reply.warnings[0].contains("no effect"));
    }

    #[test]
    fn at_a_stop_context_and_blocks_continue_and_continue_false_stops() {
        let stop = Body::BeforeStop(StopAttempt::new("Done."));
        let context = r#"{"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "Continue."}}"#;
        assert_eq!(reply(&stop, 0, context, "").follow_ups, ["Continue."]);
        assert_eq!(
            denied(&reply(&stop, 0, r#"{"decision": "block", "reason": "Tests!"}"#, "")),
            Some("Tests!")
        );
        assert_eq!(denied(&reply(&stop, 2, "", "Tests!")), Some("Tests!"));
        let end = reply(&stop, 0, r#"{"continue": false, "decision": "block", "reason": "x"}"#, "");
        assert_eq!(end, Reply::default());
    }

    #[test]
    fn the_start_of_a_session_is_not_blocked_but_stopped() {
        let start = Body::SessionStart(SessionStart::new("m"));
        let result = parse(&start, 2, "", "odd").unwrap();
        assert_eq!((result.reply, result.warnings), (Reply::default(), vec!["odd".to_owned()]));
        assert_eq!(
            denied(&reply(&start, 0, r#"{"continue": false, "stopReason": "no"}"#, "")),
            Some("no")
        );
    }

    #[test]
    fn fields_of_claude_codes_own_terminal_are_reported() {
        let stdout = r#"{"terminalSequence": "x", "suppressOutput": true, "hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": [], "additionalContext": "c"}}"#;
        let reply = parse(&Body::SessionStart(SessionStart::new("m")), 0, stdout, "").unwrap();
        assert_eq!(reply.reply.context.as_deref(), Some("c"));
        assert_eq!((reply.warnings.len(), reply.defects), (2, vec![]));
    }
}
