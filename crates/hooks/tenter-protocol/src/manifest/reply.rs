//! Replies of manifest hooks: their exit code and their output (R27, R61, R62).
//!
//! An unusable field has no effect; an unusable change fails the run. What a verdict means at an event is decided elsewhere
//! (R29): a deny is a deny, even where nothing can be blocked.

mod claude_code;

use tenter_base::excerpt;

use crate::history::{self, HistoryFields};
use crate::lifecycle::Power;
use crate::reply::stdout::{self, ReplyObject};
use crate::reply::{FieldReader, ParsedReply, ReplyError, VerdictKind};
use crate::{EventName, Reply, Rewrite, Verdict, reply_fields as fields};

/// Maximum number of characters of an unknown decision in a message.
const MAX_WORD_LENGTH: usize = 60;

/// Parses the stdout of a hook that exited with 0. Nothing, white space and `null` are no action.
///
/// The fields, each with the spellings that are read: `decision` (`allow` or `approve`, `deny` or `block`, `ask`, `confine`), `confine`,
/// `reason` (`message`), `modified_input` (`updated_input`), `modified_output` (`updated_output`), `modified_prompt`
/// (`updated_prompt`; rewrites the user's message), `additional_context` (`context`), `log`, and for the history
/// `result`, `messages`, `callback`, `callback_args`, `follow_up_messages`. Camel case is accepted. A reply with
/// `hookSpecificOutput` is in Claude Code's form, whose fields are then read as well.
///
/// # Errors
/// Text that begins with `{` and is not one JSON object, or a change that cannot be applied; see [`ReplyError`].
pub fn parse_reply(event: EventName, output_bytes: &[u8]) -> Result<ParsedReply, ReplyError> {
    let Some(content) = stdout::content(output_bytes) else { return Ok(ParsedReply::default()) };
    if content.first() == Some(&b'{') {
        return object_reply(event, stdout::object(content)?);
    }
    Ok(text_reply(&String::from_utf8_lossy(content)))
}

/// Returns the reply of a hook that exited with 2: a deny, with its stderr as the reason.
pub fn deny_by_exit(stderr: &str) -> Reply {
    let reason = match stderr.trim() {
        "" => "blocked by the hook (exit code 2)",
        said => said,
    };
    let verdict = Verdict::new(VerdictKind::Deny, Some(reason.to_owned()));
    Reply { verdict: Some(verdict), ..Reply::default() }
}

fn object_reply(event: EventName, reply: ReplyObject) -> Result<ParsedReply, ReplyError> {
    let is_claude_code = claude_code::is_claude_code_form(&reply.object);
    read_object(event, reply, is_claude_code)
}

/// Reads the answer of a hook that is written for Claude Code.
pub(super) fn claude_code_reply(
    event: EventName,
    reply: ReplyObject,
) -> Result<ParsedReply, ReplyError> {
    read_object(event, reply, true)
}

fn read_object(
    event: EventName,
    reply: ReplyObject,
    is_claude_code: bool,
) -> Result<ParsedReply, ReplyError> {
    let table: &[&fields::ReplyField] =
        if is_claude_code { &fields::CLAUDE_CODE } else { &fields::MANIFEST };
    let mut fields = FieldReader::for_reply(event, reply, table);
    let mut reply = Reply {
        verdict: verdict(event, &mut fields),
        confinements: fields.read(&fields::CONFINE).into_iter().collect(),
        rewrite: rewrite(&mut fields),
        context: fields.read(&fields::CONTEXT),
        follow_ups: history::follow_ups(fields.read(&fields::FOLLOW_UPS)),
        history: HistoryFields::read(&mut fields, event.may(Power::Continue)),
        log: fields.read(&fields::LOG),
    };
    if is_claude_code {
        claude_code::read(event, &mut fields, &mut reply);
    }
    reply.complete_confinement();
    fields.finish(reply)
}

/// Reads text, which is journalled and decides nothing. If its last line looks like a JSON object, that is a defect: a guard that
/// prints a log line before its deny does not guard.
fn text_reply(text: &str) -> ParsedReply {
    let text = text.trim();
    let last_line = text.lines().next_back().unwrap_or_default();
    let looks_like_json = last_line.trim_start().starts_with('{');
    let defect = "its stdout is not one JSON object, so no decision was read".to_owned();
    ParsedReply {
        defects: if looks_like_json { vec![defect] } else { Vec::new() },
        text: Some(text.to_owned()),
        ..ParsedReply::default()
    }
}

fn verdict(event: EventName, fields: &mut FieldReader) -> Option<Verdict> {
    let reason = fields.read(&fields::REASON);
    let decision: String = fields.read(&fields::DECISION)?;
    Some(Verdict::new(verdict_kind(event, "decision", &decision, fields)?, reason))
}

/// Returns the verdict for the word in `field`.
fn verdict_kind(
    event: EventName,
    field: &str,
    word: &str,
    fields: &mut FieldReader,
) -> Option<VerdictKind> {
    match word {
        "allow" | "approve" => Some(VerdictKind::Allow),
        "deny" | "block" => Some(VerdictKind::Deny),
        "ask" if event.may(Power::Ask) => Some(VerdictKind::Ask),
        "confine" if event.may(Power::Ask) => Some(VerdictKind::Confine),
        "ask" | "confine" => {
            fields.defect(format!("\"{field}\": {word:?} has no effect at {event}"));
            None
        }
        _ => {
            let words = "\"allow\", \"confine\", \"ask\" or \"deny\"";
            let word = excerpt::chars(word, MAX_WORD_LENGTH);
            fields.defect(format!("\"{field}\": unknown value {word:?}; use {words}"));
            None
        }
    }
}

/// Returns the rewrite that the event allows: no event allows two.
fn rewrite(fields: &mut FieldReader) -> Option<Rewrite> {
    let input = fields.read(&fields::MODIFIED_INPUT).map(Rewrite::Input);
    let output = fields.read(&fields::MODIFIED_OUTPUT).map(Rewrite::Output);
    let prompt = fields.read(&fields::MODIFIED_PROMPT).map(Rewrite::Message);
    input.or(output).or(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::TABLE;
    use crate::{HistoryAction, Message, Object};
    use proptest::prelude::*;
    use serde_json::json;

    fn answer(event: EventName, stdout: &str) -> ParsedReply {
        parse_reply(event, stdout.as_bytes()).unwrap()
    }

    /// Returns the reply, which must have no warnings or defects.
    fn reply(event: EventName, stdout: &str) -> Reply {
        let ParsedReply { reply, warnings, defects, text } = answer(event, stdout);
        assert_eq!((warnings, defects, text), (vec![], vec![], None), "{stdout}");
        reply
    }

    fn object(value: &serde_json::Value) -> Object {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn every_form_of_silence_is_an_empty_reply() {
        for stdout in [
            "",
            " \n",
            "null\n",
            "\u{feff}{}",
            "{}",
            "{\"decision\": null, \"modified_input\": null}",
        ] {
            assert_eq!(answer(EventName::BeforeTool, stdout), ParsedReply::default(), "{stdout:?}");
        }
    }

    #[test]
    fn the_specifications_example_allows_and_logs() {
        let stdout = r#"{"decision": "allow", "log": "Command validated"}"#;
        let reply = reply(EventName::BeforeTool, stdout);
        assert_eq!(reply.verdict, Some(Verdict::new(VerdictKind::Allow, None)));
        assert_eq!(reply.log.as_deref(), Some("Command validated"));
    }

    #[test]
    fn decisions_are_read_in_both_spellings() {
        for (word, kind) in [
            ("allow", VerdictKind::Allow),
            ("approve", VerdictKind::Allow),
            ("deny", VerdictKind::Deny),
            ("block", VerdictKind::Deny),
            ("ask", VerdictKind::Ask),
        ] {
            for reason in ["reason", "message"] {
                let stdout = json!({"decision": word, reason: "because"}).to_string();
                let verdict = reply(EventName::BeforeTool, &stdout).verdict.unwrap();
                assert_eq!((verdict.kind, verdict.reason_text()), (kind, "because"));
            }
        }
    }

    #[test]
    fn all_spellings_of_a_rewrite_and_of_context_are_read() {
        let new = object(&json!({"command": "ls"}));
        for suffix in ["_input", "Input"] {
            for verb in ["modified", "updated"] {
                let stdout = json!({format!("{verb}{suffix}"): new}).to_string();
                let reply = reply(EventName::BeforeTool, &stdout);
                assert_eq!(reply.rewrite, Some(Rewrite::Input(new.clone())));
            }
        }
        for name in ["additional_context", "additionalContext", "context"] {
            let stdout = json!({name: "it is Friday"}).to_string();
            let reply = reply(EventName::SessionStart, &stdout);
            assert_eq!(reply.context.as_deref(), Some("it is Friday"));
        }
        let output = reply(EventName::AfterToolFailure, r#"{"modifiedOutput": {"error": "x"}}"#);
        assert_eq!(output.rewrite, Some(Rewrite::Output(object(&json!({"error": "x"})))));
        let prompt = reply(EventName::BeforeAgent, r#"{"modified_prompt": "say it in French"}"#);
        assert_eq!(prompt.rewrite, Some(Rewrite::Message("say it in French".to_owned())));
    }

    #[test]
    fn an_unusable_field_has_no_effect_and_never_costs_a_deny() {
        let stdout = r#"{"decision": "deny", "reason": 7, "modified_input": "rm", "log": [], "callback": "x"}"#;
        let answer = answer(EventName::BeforeTool, stdout);
        assert_eq!(answer.reply.verdict, Some(Verdict::new(VerdictKind::Deny, None)));
        assert_eq!(answer.reply.rewrite, None);
        assert_eq!(
            answer.defects,
            [
                r#""reason" must be a string"#,
                r#""log" must be a string"#,
                r#""modified_input" must be an object"#,
            ]
        );
        assert_eq!(answer.warnings, [r#""callback" has no effect at before_tool; it is ignored"#]);
    }

    #[test]
    fn a_change_of_the_wrong_type_is_a_failure() {
        for (event, stdout) in [
            (EventName::BeforeTool, r#"{"modified_input": "rm", "log": "x"}"#),
            (EventName::AfterTool, r#"{"modified_output": "[redacted]"}"#),
            (EventName::BeforeAgent, r#"{"modified_prompt": {}}"#),
        ] {
            let error = parse_reply(event, stdout.as_bytes()).unwrap_err();
            assert!(matches!(error, ReplyError::Change(_)), "{stdout}");
        }
    }

    #[test]
    fn an_unknown_decision_is_a_defect() {
        let answer = answer(EventName::BeforeTool, r#"{"decision": "Deny", "log": "kept"}"#);
        assert_eq!(answer.reply, Reply { log: Some("kept".to_owned()), ..Reply::default() });
        assert_eq!(
            answer.defects,
            [r#""decision": unknown value "Deny"; use "allow", "confine", "ask" or "deny""#]
        );
    }

    #[test]
    fn fields_that_the_event_does_not_have_are_reported_without_effect() {
        for (event, stdout) in [
            (EventName::AfterTool, r#"{"modified_input": {}}"#),
            (EventName::BeforeTool, r#"{"modified_output": {}}"#),
            (EventName::SessionStart, r#"{"modified_prompt": "x"}"#),
            (EventName::AfterTool, r#"{"decision": "ask"}"#),
            (EventName::SessionEnd, r#"{"additional_context": "x"}"#),
            (EventName::AfterTurn, r#"{"follow_up_messages": ["x"]}"#),
            (EventName::BeforeTool, r#"{"result": "mutate"}"#),
        ] {
            let answer = answer(event, stdout);
            assert_eq!(answer.reply, Reply::default(), "{event} {stdout}");
            let reports = [answer.warnings, answer.defects].concat();
            assert_eq!(reports.len(), 1, "{event} {stdout}");
            assert!(reports[0].contains(event.as_str()), "{reports:?}");
        }
    }

    #[test]
    fn a_deny_is_read_at_every_event() {
        for row in &TABLE {
            let by_json = reply(row.event, r#"{"decision": "deny", "reason": "no"}"#);
            assert_eq!(by_json, deny_by_exit("  no\n"), "{}", row.name);
        }
    }

    #[test]
    fn exit_2_without_stderr_has_a_default_reason() {
        let verdict = deny_by_exit(" \n").verdict.unwrap();
        assert!(verdict.is_deny());
        assert_eq!(verdict.reason_text(), "blocked by the hook (exit code 2)");
    }

    #[test]
    fn text_is_recorded_and_decides_nothing() {
        for stdout in ["All tests passed\n", "[1, 2]", "\"deny\"", "17"] {
            let answer = answer(EventName::BeforeStop, stdout);
            assert_eq!(answer.reply, Reply::default());
            assert_eq!(answer.text.as_deref(), Some(stdout.trim()));
            assert_eq!((answer.warnings, answer.defects), (vec![], vec![]));
        }
    }

    #[test]
    fn text_that_looks_like_an_object_is_a_failure_or_a_defect() {
        for stdout in [
            r#"{"decision": "deny", "reason": "don't say "rm""}"#,
            r#"{"decision": "de"#,
            "{} {}",
            "\u{feff}{",
        ] {
            let error = parse_reply(EventName::BeforeTool, stdout.as_bytes()).unwrap_err();
            assert!(matches!(error, ReplyError::NotAnObject(_)), "{stdout}");
        }
        let logged = answer(EventName::BeforeTool, "checking\n{\"decision\": \"deny\"}\n");
        assert_eq!(logged.reply, Reply::default());
        assert!(logged.text.is_some());
        assert!(logged.defects[0].contains("no decision was read"), "{:?}", logged.defects);
    }

    #[test]
    fn a_deny_among_repeated_values_stands_and_any_other_repetition_is_a_failure() {
        for stdout in [
            r#"{"decision": "allow", "decision": "deny", "reason": "no"}"#,
            r#"{"decision": "deny", "decision": "allow", "reason": "no"}"#,
            r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecision": "allow", "permissionDecisionReason": "no"}}"#,
            r#"{"continue": false, "continue": true, "stopReason": "no", "hookSpecificOutput": {}}"#,
            r#"{"decision": "deny", "reason": "no", "log": "a", "log": "b"}"#,
        ] {
            let answer = answer(EventName::BeforeTool, stdout);
            assert_eq!(answer.reply.verdict.unwrap().reason_text(), "no", "{stdout}");
            assert!(answer.defects[0].contains("more than once"), "{:?}", answer.defects);
        }
        for stdout in [
            r#"{"decision": "allow", "decision": "allow"}"#,
            r#"{"log": "a", "log": "b"}"#,
            r#"{"modified_input": {"a": [{"b": 1, "b": 2}]}}"#,
        ] {
            let error = parse_reply(EventName::BeforeTool, stdout.as_bytes()).unwrap_err();
            assert!(matches!(error, ReplyError::Change(_)), "{stdout}");
        }
    }

    #[test]
    fn unknown_fields_are_reported_with_the_nearest_field() {
        let alone = answer(EventName::SubagentStart, r#"{"checked": 3}"#);
        let nothing_known = "its reply has no known field; it may have decision, reason, log";
        assert_eq!(alone.defects, [nothing_known]);
        let beside = answer(EventName::BeforeTool, r#"{"decision": "allow", "checked": 3}"#);
        assert!(beside.reply.verdict.is_some());
        assert_eq!(beside.warnings, ["its reply has no field \"checked\"; it is ignored"]);
        for (stdout, name, expected) in [
            (r#"{"descision": "deny", "reason": "no"}"#, "descision", "decision"),
            (r#"{"decison": "deny"}"#, "decison", "decision"),
            (r#"{"blocked": true, "reason": "no"}"#, "blocked", "decision"),
            (r#"{"modifed_input": {}}"#, "modifed_input", "modified_input"),
        ] {
            let answer = answer(EventName::BeforeTool, stdout);
            assert_eq!(answer.reply, Reply::default(), "{stdout}");
            let expected = format!("its reply has no field {name:?}; did you mean {expected:?}?");
            assert_eq!(answer.defects, [expected]);
        }
        let many: Object = (0..1000).map(|index| (format!("x{index}"), json!(1))).collect();
        let decision = [("decision".to_owned(), json!("allow"))];
        let many: Object = many.into_iter().chain(decision).collect();
        let result = parse_reply(EventName::BeforeTool, crate::json::to_string(&many).as_bytes());
        assert_eq!(result.unwrap().warnings.len(), 5);
    }

    #[test]
    fn stop_and_turn_replies_have_the_fields_of_the_executable_protocol() {
        let stop = reply(
            EventName::BeforeStop,
            r#"{"result": "mutate", "messages": [{"role": "user", "content": "s"}], "follow_up_messages": ["go", " "]}"#,
        );
        assert_eq!(stop.history, Some(HistoryAction::Mutate(vec![Message::user("s")])));
        assert_eq!(stop.follow_ups, ["go"]);
        let turn = reply(
            EventName::AfterTurn,
            r#"{"result": "callback", "callback": "compact", "callback_args": {"focus": "api"}}"#,
        );
        let args = [("focus".to_owned(), "api".to_owned())].into();
        assert_eq!(
            turn.history,
            Some(HistoryAction::Callback { recipe: "compact".to_owned(), args })
        );
    }

    #[test]
    fn a_history_that_cannot_be_used_is_a_failure() {
        let stdout =
            r#"{"result": "mutate", "messages": [], "follow_up_messages": ["go"], "log": "l"}"#;
        let error = parse_reply(EventName::BeforeStop, stdout.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "its history cannot be used: messages is empty");
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        let deep = format!("{{\"modified_input\": {}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(parse_reply(EventName::BeforeTool, deep.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200), index in 0..TABLE.len()) {
            let _ = parse_reply(TABLE[index].event, &bytes);
        }

        #[test]
        fn any_values_in_known_fields_are_an_answer_that_stays_within_the_events_powers(
            picks in proptest::collection::vec((0..KEYS.len(), 0usize..8), 0..6),
            index in 0..TABLE.len(),
        ) {
            let event = TABLE[index].event;
            let object: Object = picks
                .iter()
                .map(|&(key, value)| (KEYS[key].to_owned(), values()[value].clone()))
                .collect();
            let result = parse_reply(event, crate::json::to_string(&object).as_bytes());
            let Ok(ParsedReply { reply, .. }) = result else { return Ok(()) };
            let kinds = match &reply.rewrite {
                None => true,
                Some(Rewrite::Input(_)) => event.may(Power::RewriteInput),
                Some(Rewrite::Output(_)) => event.may(Power::RewriteOutput),
                Some(Rewrite::Message(_)) => event.may(Power::RewriteMessage),
            };
            prop_assert!(kinds);
            prop_assert!(reply.follow_ups.is_empty() || event.may(Power::Continue));
            prop_assert!(reply.history.is_none() || event.may(Power::Mutate));
            prop_assert!(reply.context.is_none() || event.may(Power::AddContext));
        }
    }

    const KEYS: [&str; 11] = *tenter_base::words!(
        "decision reason modified_input modified_output modified_prompt context result messages
         callback follow_up_messages log"
    );

    fn values() -> [serde_json::Value; 8] {
        [
            json!(null),
            json!("deny"),
            json!("mutate"),
            json!("callback"),
            json!(["continue"]),
            json!([{"role": "user", "content": "x"}]),
            json!({"a": 1}),
            json!(7.5),
        ]
    }
}
