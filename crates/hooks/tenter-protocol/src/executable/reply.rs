//! Reads the replies of executable hooks (R28, R61).

use crate::history::{self, HistoryFields};
use crate::lifecycle::Power;
use crate::reply::{FieldReader, ParsedReply, ReplyError, VerdictKind, stdout};
use crate::{EventName, Reply, Rewrite, Verdict, reply_fields as fields};

/// Reads the reply that a hook printed at `event`. No output, white space, `null` and an object without fields mean no action.
///
/// # Errors
/// The output is not a JSON object, or asks for a change that cannot be made; see [`ReplyError`].
pub fn parse_reply(event: EventName, output_bytes: &[u8]) -> Result<ParsedReply, ReplyError> {
    let Some(content) = stdout::content(output_bytes) else { return Ok(ParsedReply::default()) };
    let mut fields = FieldReader::for_reply(event, stdout::object(content)?, &fields::EXECUTABLE);
    let mut reply = Reply {
        verdict: verdict(&mut fields),
        confinements: fields.read(&fields::CONFINE).into_iter().collect(),
        rewrite: rewrite(&mut fields),
        context: fields.read(&fields::CONTEXT),
        follow_ups: history::follow_ups(fields.read(&fields::FOLLOW_UPS)),
        history: HistoryFields::read(&mut fields, event.may(Power::Continue)),
        log: None,
    };
    reply.complete_confinement();
    fields.finish(reply)
}

/// Returns `blocked` as a verdict: `false` allows, and a missing field is no opinion.
fn verdict(fields: &mut FieldReader) -> Option<Verdict> {
    let reason = fields.read(&fields::BLOCK_REASON);
    let is_blocked: bool = fields.read(&fields::BLOCKED)?;
    let kind = if is_blocked { VerdictKind::Deny } else { VerdictKind::Allow };
    Some(Verdict::new(kind, reason))
}

/// Returns the rewrite. No event allows more than one kind.
fn rewrite(fields: &mut FieldReader) -> Option<Rewrite> {
    let input = fields.read(&fields::TOOL_INPUT).map(Rewrite::Input);
    let output = fields.read(&fields::TOOL_OUTPUT).map(Rewrite::Output);
    let message = fields.read(&fields::USER_MESSAGE).map(Rewrite::Message);
    input.or(output).or(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HistoryAction, Message};
    use proptest::prelude::*;

    fn reply(event: EventName, stdout: &str) -> Result<Reply, ReplyError> {
        parse_reply(event, stdout.as_bytes()).map(|reply| reply.reply)
    }

    #[test]
    fn no_output_and_empty_objects_mean_no_action() {
        for stdout in ["", "  \n", "{}", "null", "\u{feff}{}", "{\"input\": null}"] {
            assert_eq!(
                reply(EventName::BeforeTool, stdout).unwrap(),
                Reply::default(),
                "{stdout:?}"
            );
        }
    }

    #[test]
    fn blocked_false_allows_and_a_reason_is_optional() {
        let allow = reply(EventName::BeforeTool, r#"{"blocked": false}"#).unwrap().verdict.unwrap();
        assert_eq!(allow.kind, VerdictKind::Allow);
        let deny = reply(EventName::BeforeAgent, r#"{"blocked": true}"#).unwrap().verdict.unwrap();
        assert_eq!((deny.kind, deny.reason_text()), (VerdictKind::Deny, "no reason given"));
    }

    #[test]
    fn output_that_is_not_one_object_is_a_failure() {
        for stdout in ["[]", "true", "log line\n{\"blocked\": true}", "{} {}", "{\"blocked\": tr"] {
            assert!(
                matches!(reply(EventName::BeforeTool, stdout), Err(ReplyError::NotAnObject(_))),
                "{stdout:?}"
            );
        }
    }

    #[test]
    fn a_repeated_field_is_a_failure_unless_one_of_its_values_denies() {
        let output_bytes = br#"{"blocked": true, "reason": "no", "blocked": false}"#;
        let result = parse_reply(EventName::BeforeTool, output_bytes).unwrap();
        assert_eq!(result.reply.verdict.unwrap().reason_text(), "no");
        assert_eq!(result.defects, [r#"its reply has the field "blocked" more than once"#]);
        for stdout in [
            r#"{"blocked": false, "blocked": false}"#,
            r#"{"reason": "a", "reason": "b"}"#,
            r#"{"input": {"command": "ls", "command": "rm"}}"#,
        ] {
            let error = reply(EventName::BeforeTool, stdout).unwrap_err();
            assert!(matches!(error, ReplyError::Change(_)), "{stdout}");
        }
    }

    #[test]
    fn a_change_of_the_wrong_type_is_a_failure_and_other_fields_are_ignored() {
        for (event, stdout) in [
            (EventName::BeforeTool, "{\"input\": \"rm\"}"),
            (EventName::AfterTool, "{\"output\": \"[redacted]\"}"),
            (EventName::BeforeAgent, "{\"message\": 7}"),
            (EventName::AfterTurn, "{\"result\": \"mutate\", \"messages\": \"none\"}"),
        ] {
            assert!(matches!(reply(event, stdout), Err(ReplyError::Change(_))), "{stdout}");
        }
        let stdout = br#"{"blocked": true, "reason": 7, "input": "rm"}"#;
        let reply = parse_reply(EventName::BeforeTool, stdout).unwrap();
        assert!(reply.reply.verdict.unwrap().is_deny());
        assert_eq!(reply.defects, [r#""reason" must be a string"#, r#""input" must be an object"#]);
        let reply = parse_reply(EventName::BeforeTool, br#"{"blocked": "true"}"#).unwrap();
        assert_eq!(reply.reply, Reply::default());
        assert_eq!(reply.defects, [r#""blocked" must be true or false"#]);
    }

    #[test]
    fn unknown_fields_are_reported_with_a_suggestion() {
        let reply = |stdout: &str| parse_reply(EventName::BeforeTool, stdout.as_bytes()).unwrap();
        let beside = reply(r#"{"blocked": false, "success": true}"#);
        assert_eq!(beside.warnings, ["its reply has no field \"success\"; it is ignored"]);
        for (stdout, expected) in [
            (r#"{"blokced": true, "reason": "no"}"#, "blocked"),
            (r#"{"decision": "deny", "reason": "no"}"#, "blocked"),
        ] {
            let defects = reply(stdout).defects;
            assert!(defects[0].ends_with(&format!("did you mean {expected:?}?")), "{defects:?}");
        }
        let foreign = parse_reply(EventName::AfterTool, br#"{"modified_output": {}}"#).unwrap();
        let message = "its reply has no field \"modified_output\"; did you mean \"output\"?";
        assert_eq!(foreign.defects, [message]);
        let alone = reply(r#"{"success": true}"#).defects;
        assert_eq!(
            alone,
            [
                "its reply has no known field; it may have blocked, reason, confine, input, additional_context"
            ]
        );
    }

    #[test]
    fn fields_without_their_result_are_reported() {
        for (stdout, warning) in [
            (
                r#"{"callback": "compact"}"#,
                r#""callback" has no effect without "result": "callback""#,
            ),
            (
                r#"{"messages": [{"role": "user", "content": "x"}]}"#,
                r#""messages" has no effect without "result": "mutate""#,
            ),
        ] {
            for event in [EventName::AfterTurn, EventName::BeforeStop] {
                let reply = parse_reply(event, stdout.as_bytes()).unwrap();
                assert_eq!(
                    (reply.reply, reply.warnings),
                    (Reply::default(), vec![warning.to_owned()])
                );
            }
        }
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let deep = format!("{{\"input\": {}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(matches!(reply(EventName::BeforeTool, &deep), Err(ReplyError::NotAnObject(_))));
    }

    #[test]
    fn a_stop_accepts_follow_ups_and_a_history_together() {
        let both = reply(
            EventName::BeforeStop,
            r#"{"result": "mutate", "messages": [{"role": "user", "content": "s"}], "follow_up_messages": ["go", " "]}"#,
        )
        .unwrap();
        assert_eq!(both.history, Some(HistoryAction::Mutate(vec![Message::user("s")])));
        assert_eq!(both.follow_ups, ["go"]);
    }

    #[test]
    fn an_invalid_history_or_result_is_named_in_the_error() {
        for (event, stdout, named) in [
            (EventName::AfterTurn, r#"{"result": "mutate"}"#, "its history cannot be used"),
            (EventName::AfterTurn, r#"{"result": "callback"}"#, "needs \"callback\""),
            (EventName::AfterTurn, r#"{"result": "continue"}"#, "unknown \"result\": \"continue\""),
        ] {
            let error = reply(event, stdout).unwrap_err();
            assert!(matches!(&error, ReplyError::Change(why) if why.contains(named)), "{error}");
        }
        assert!(reply(EventName::BeforeStop, r#"{"result": "continue"}"#).is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_reply_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), index in 0usize..13) {
            let event = crate::lifecycle::TABLE[index].event;
            let _ = parse_reply(event, &bytes);
        }
    }
}
