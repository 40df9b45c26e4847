//! Replies in the form of Claude Code's hooks, recognised by `hookSpecificOutput` (R62). They mean what they mean there; what
//! Tenter's agent cannot do is reported.

use serde_json::{Value, json};

use super::verdict_kind;
use crate::lifecycle::Power;
use crate::reply::{FieldReader, VerdictKind};
use crate::{EventName, Object, Reply, Rewrite, Verdict, reply_fields as fields, tool};

/// Returns true if a reply is in Claude Code's form.
pub(super) fn is_claude_code_form(object: &Object) -> bool {
    object.get("hookSpecificOutput").is_some_and(|specific| !specific.is_null())
}

/// Adds the fields of Claude Code's form to `reply`. `decision` and `reason` are the same in both forms and are already read.
pub(super) fn read(event: EventName, fields: &mut FieldReader, reply: &mut Reply) {
    if let Some(specific) = fields.read::<Object>(&fields::HOOK_SPECIFIC) {
        let mut inner = FieldReader::new(event, specific, &fields::HOOK_SPECIFIC_FIELDS);
        specific_output(event, &mut inner, reply);
        fields.absorb(inner);
    }
    // Warnings are shown to the user.
    if let Some(message) = fields.read::<String>(&fields::SYSTEM_MESSAGE) {
        fields.warn(message);
    }
    // Tenter has no such transcript; the field is read so that it is not reported as unknown.
    let _: Option<bool> = fields.read(&fields::SUPPRESS_OUTPUT);
    let stop_reason: Option<String> = fields.read(&fields::STOP_REASON);
    if fields.read(&fields::CONTINUE) == Some(false) {
        stop(event, stop_reason, fields, reply);
    }
}

fn specific_output(event: EventName, fields: &mut FieldReader, reply: &mut Reply) {
    let _: Option<String> = fields.read(&fields::HOOK_EVENT_NAME);
    let permission = permission(event, fields);
    let decision = decision(event, fields);
    for verdict in [permission, decision].into_iter().flatten() {
        let is_weaker = reply.verdict.as_ref().is_none_or(|earlier| earlier.kind < verdict.kind);
        if is_weaker {
            reply.verdict = Some(verdict);
        }
    }
    let input = fields.read(&fields::UPDATED_INPUT).map(Rewrite::Input);
    let output = updated_output(event, fields).map(Rewrite::Output);
    if let Some(rewrite) = input.or(output) {
        reply.rewrite = Some(rewrite);
    }
    if let Some(context) = fields.read::<String>(&fields::CONTEXT) {
        let both = reply.context.take().into_iter().chain([context]).collect::<Vec<_>>();
        reply.context = Some(both.join("\n\n"));
    }
}

fn permission(event: EventName, fields: &mut FieldReader) -> Option<Verdict> {
    let reason = fields.read(&fields::PERMISSION_REASON);
    let word: String = fields.read(&fields::PERMISSION_DECISION)?;
    // Deferring a decision means asking the user.
    let word = if word == "defer" { "ask" } else { word.as_str() };
    Some(Verdict::new(verdict_kind(event, "permissionDecision", word, fields)?, reason))
}

/// Reads `decision` inside `hookSpecificOutput`, as some agents write it.
fn decision(event: EventName, fields: &mut FieldReader) -> Option<Verdict> {
    let reason: Option<String> = fields.read(&fields::REASON);
    let decision: String = fields.read(&fields::DECISION)?;
    Some(Verdict::new(verdict_kind(event, "decision", &decision, fields)?, reason))
}

/// Returns the output as a rewrite. Output that is not a tool's result is shown to the model unchanged.
fn updated_output(event: EventName, fields: &mut FieldReader) -> Option<Object> {
    let output: Value = fields.read(&fields::UPDATED_OUTPUT)?;
    if event == EventName::AfterToolFailure {
        fields.fail("\"updatedToolOutput\" cannot replace the error of a failed call".to_owned());
        return None;
    }
    match output {
        Value::Object(object) if object.keys().all(|key| tool::FIELDS.contains(&key.as_str())) => {
            Some(object)
        }
        other => {
            let whole = json!({"metadataType": "host", "metadata": {"output": other}});
            whole.as_object().cloned()
        }
    }
}

/// Applies `continue: false`, which stops Claude Code whatever else the reply contains.
fn stop(event: EventName, reason: Option<String>, fields: &mut FieldReader, reply: &mut Reply) {
    if event == EventName::BeforeStop {
        reply.verdict = None;
        reply.follow_ups.clear();
        return;
    }
    if !event.may(Power::Block) {
        fields.warn(format!("\"continue\": false cannot stop the agent at {event}"));
    }
    let reason = reason.or_else(|| Some("the hook stopped the agent".to_owned()));
    reply.verdict = Some(Verdict::new(VerdictKind::Deny, reason));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::parse_reply;
    use super::*;
    use crate::reply::ParsedReply;

    fn parse(event: EventName, answer: &Value) -> ParsedReply {
        parse_reply(event, answer.to_string().as_bytes()).unwrap()
    }

    fn reply(event: EventName, answer: &Value) -> Reply {
        let ParsedReply { reply, warnings, defects, text } = parse(event, answer);
        assert_eq!((warnings, defects, text), (vec![], vec![], None), "{answer}");
        reply
    }

    fn specific(output: &Value) -> Value {
        json!({"hookSpecificOutput": output})
    }

    #[test]
    fn a_permission_decision_is_a_verdict_with_its_reason() {
        for (word, kind) in [
            ("allow", VerdictKind::Allow),
            ("ask", VerdictKind::Ask),
            ("defer", VerdictKind::Ask),
            ("deny", VerdictKind::Deny),
        ] {
            let answer = specific(
                &json!({"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "because"}),
            );
            let verdict = reply(EventName::BeforeTool, &answer).verdict.unwrap();
            assert_eq!((verdict.kind, verdict.reason_text()), (kind, "because"));
        }
        let unknown = specific(&json!({"permissionDecision": "Deny"}));
        let result = parse(EventName::BeforeTool, &unknown);
        assert_eq!(result.reply.verdict, None);
        assert!(result.defects[0].contains("\"permissionDecision\": unknown value \"Deny\""));
    }

    #[test]
    fn an_updated_input_is_the_whole_input_and_must_be_an_object() {
        let answer =
            specific(&json!({"permissionDecision": "allow", "updatedInput": {"command": "ls"}}));
        let expected = json!({"command": "ls"}).as_object().unwrap().clone();
        let result = reply(EventName::BeforeTool, &answer);
        assert_eq!(result.rewrite, Some(Rewrite::Input(expected)));
        let wrong = specific(&json!({"updatedInput": "ls"})).to_string();
        assert!(parse_reply(EventName::BeforeTool, wrong.as_bytes()).is_err());
    }

    #[test]
    fn contexts_and_system_messages_are_read() {
        let answer = json!({"systemMessage": "look out", "suppressOutput": true,
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "it is Friday"}});
        let result = parse(EventName::BeforeAgent, &answer);
        assert_eq!(result.reply.context.as_deref(), Some("it is Friday"));
        assert_eq!(result.warnings, ["look out"]);
    }

    #[test]
    fn continue_false_denies_or_stops() {
        let answer = json!({"continue": false, "stopReason": "enough", "decision": "block", "hookSpecificOutput": {}});
        for event in [EventName::BeforeTool, EventName::BeforeAgent, EventName::SessionStart] {
            let verdict = reply(event, &answer).verdict.unwrap();
            assert_eq!((verdict.is_deny(), verdict.reason_text()), (true, "enough"));
        }
        assert_eq!(reply(EventName::BeforeStop, &answer).verdict, None);
        let after = parse(EventName::AfterTool, &answer);
        assert!(after.reply.verdict.unwrap().is_deny());
        assert!(after.warnings[0].contains("cannot stop the agent at after_tool"));
        let on = json!({"continue": true, "hookSpecificOutput": {}});
        assert_eq!(reply(EventName::BeforeTool, &on), Reply::default());
    }

    #[test]
    fn the_strongest_decision_wins_and_contexts_are_joined() {
        let answer = json!({"decision": "approve", "reason": "fine", "additional_context": "a",
            "hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no", "additionalContext": "b"}});
        let result = reply(EventName::BeforeTool, &answer);
        assert_eq!(result.verdict.unwrap().reason_text(), "no");
        assert_eq!(result.context.as_deref(), Some("a\n\nb"));
        let block = json!({"decision": "block", "reason": "not yet", "hookSpecificOutput": {"hookEventName": "Stop"}});
        assert!(reply(EventName::BeforeStop, &block).verdict.unwrap().is_deny());
    }

    #[test]
    fn an_updated_tool_output_replaces_what_the_model_reads() {
        let output = |value: Value| {
            let answer =
                specific(&json!({"hookEventName": "PostToolUse", "updatedToolOutput": value}));
            reply(EventName::AfterTool, &answer).rewrite
        };
        let text = json!({"metadataType": "host", "metadata": {"output": "[redacted]"}});
        assert_eq!(output(json!("[redacted]")), text.as_object().cloned().map(Rewrite::Output));
        let own = json!({"metadata": {"output": "[redacted]"}});
        assert_eq!(output(own.clone()), own.as_object().cloned().map(Rewrite::Output));
        let output = specific(&json!({"updatedToolOutput": "x"})).to_string();
        assert!(parse_reply(EventName::AfterToolFailure, output.as_bytes()).is_err());
        assert!(parse_reply(EventName::AfterTool, br#"{"hookSpecificOutput": "deny"}"#).is_err());
    }

    #[test]
    fn a_misspelled_inner_field_is_reported_with_the_nearest() {
        let result = parse(EventName::BeforeTool, &specific(&json!({"permisionDecision": "deny"})));
        assert_eq!(
            result.defects,
            ["its reply has no field \"permisionDecision\"; did you mean \"permissionDecision\"?"]
        );
    }
}
