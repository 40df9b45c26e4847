//! Answers: what a manifest hook said by its exit code and its streams (R27).
//!
//! Reading is tolerant: a field that is wrong costs that field and a warning, never the others. What a verdict means at an
//! event is not this module's business (R29): a deny is a deny, also where nothing can be blocked.

mod fields;

use self::fields::Fields;
use crate::history::{self, HistoryWish};
use crate::lifecycle::Power;
use crate::reply::VerdictKind;
use crate::{EventName, HistoryAction, Object, Reply, Rewrite, Verdict};

/// What a hook that exited with 0 said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What is to be acted on.
    pub reply: Reply,
    /// What could not be used, a sentence each, without its full stop.
    pub warnings: Vec<String>,
    /// Text that was no JSON object, to be recorded.
    pub log: Option<String>,
}

/// Reads what a hook that exited with 0 wrote to stdout at `event`. Nothing or white space is silence.
///
/// The fields, each with the spellings that are read: `decision` (`allow` or `approve`, `deny` or `block`, `ask`),
/// `reason` (`message`), `modified_input` (`updated_input`), `modified_output` (`updated_output`), `modified_prompt`
/// (`updated_prompt`; rewrites the user's message), `additional_context` (`context`), `log`, and for the history
/// `result`, `messages`, `callback`, `callback_args`, `follow_up_messages`. Camel case is read as well.
pub fn parse_reply(event: EventName, stdout: &[u8]) -> Answer {
    if stdout.trim_ascii().is_empty() {
        return Answer::default();
    }
    match serde_json::from_slice::<Object>(stdout) {
        Ok(object) => object_answer(event, object),
        Err(error) => text_answer(&String::from_utf8_lossy(stdout), &error),
    }
}

/// The reply of a hook that exited with 2: a deny, with what it wrote to stderr as the reason.
pub fn deny_by_exit(stderr: &str) -> Reply {
    let reason = match stderr.trim() {
        "" => "blocked by the hook (exit code 2)",
        said => said,
    };
    let verdict = Verdict::new(VerdictKind::Deny, Some(reason.to_owned()));
    Reply { verdict: Some(verdict), ..Reply::default() }
}

fn object_answer(event: EventName, object: Object) -> Answer {
    let mut fields = Fields::new(event, object);
    let reply = Reply {
        verdict: verdict(event, &mut fields),
        rewrite: rewrite(&mut fields),
        context: fields.read(&fields::CONTEXT),
        follow_ups: history::follow_ups(fields.read(&fields::FOLLOW_UPS)),
        history: history_action(event, &mut fields),
        log: fields.read(&fields::LOG),
    };
    Answer { reply, warnings: fields.into_warnings(), log: None }
}

/// Text is recorded and decides nothing. Where it looks as if it was meant to decide, that is worth a warning: a guard
/// whose deny has a stray quotation mark in it guards nothing.
fn text_answer(text: &str, error: &serde_json::Error) -> Answer {
    let text = text.trim();
    let last_line = text.lines().next_back().unwrap_or_default();
    let looks_like_json = text.starts_with('{') || last_line.trim_start().starts_with('{');
    let warning = format!("its stdout is not one JSON object, so no decision was read: {error}");
    Answer {
        reply: Reply::default(),
        warnings: if looks_like_json { vec![warning] } else { Vec::new() },
        log: Some(text.to_owned()),
    }
}

fn verdict(event: EventName, fields: &mut Fields) -> Option<Verdict> {
    let reason = fields.read(&fields::REASON);
    let decision: String = fields.read(&fields::DECISION)?;
    let kind = match decision.as_str() {
        "allow" | "approve" => VerdictKind::Allow,
        "deny" | "block" => VerdictKind::Deny,
        "ask" if event.may(Power::Ask) => VerdictKind::Ask,
        "ask" => {
            fields.warn(format!("\"decision\": \"ask\" means nothing at {event}; it is ignored"));
            return None;
        }
        _ => {
            let known = "\"allow\", \"deny\" and \"ask\"";
            fields.warn(format!("\"decision\": {decision:?} is not known; known are {known}"));
            return None;
        }
    };
    Some(Verdict::new(kind, reason))
}

/// The rewrite that the event has room for: no event has two.
fn rewrite(fields: &mut Fields) -> Option<Rewrite> {
    let input = fields.read(&fields::INPUT).map(Rewrite::Input);
    let output = fields.read(&fields::OUTPUT).map(Rewrite::Output);
    let prompt = fields.read(&fields::PROMPT).map(Rewrite::Message);
    input.or(output).or(prompt)
}

fn history_action(event: EventName, fields: &mut Fields) -> Option<HistoryAction> {
    let wish = HistoryWish {
        result: fields.read(&fields::RESULT),
        messages: fields.read(&fields::MESSAGES),
        callback: fields.read(&fields::CALLBACK),
        callback_args: fields.read(&fields::CALLBACK_ARGS),
    };
    wish.action(event.may(Power::Continue)).unwrap_or_else(|error| {
        fields.warn(error.to_string());
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::lifecycle::TABLE;
    use proptest::prelude::*;
    use serde_json::json;

    fn answer(event: EventName, stdout: &str) -> Answer {
        parse_reply(event, stdout.as_bytes())
    }

    /// The reply of an answer that has nothing wrong with it.
    fn reply(event: EventName, stdout: &str) -> Reply {
        let answer = answer(event, stdout);
        assert_eq!((answer.warnings, answer.log), (vec![], None), "{stdout}");
        answer.reply
    }

    fn object(value: &serde_json::Value) -> Object {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn silence_in_all_its_forms_says_nothing_and_warns_of_nothing() {
        for stdout in ["", " \n", "{}", "{\"decision\": null, \"modified_input\": null}"] {
            assert_eq!(answer(EventName::BeforeTool, stdout), Answer::default(), "{stdout:?}");
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
    fn every_decision_has_its_word_and_its_older_word() {
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
    fn one_wrong_field_costs_that_field_alone() {
        let stdout = r#"{"decision": "deny", "reason": 7, "modified_input": "rm", "log": [], "callback": "x"}"#;
        let answer = answer(EventName::BeforeTool, stdout);
        assert_eq!(answer.reply.verdict, Some(Verdict::new(VerdictKind::Deny, None)));
        assert_eq!(answer.reply.rewrite, None);
        assert_eq!(
            answer.warnings,
            [
                r#""reason" must be a string; it is ignored"#,
                r#""modified_input" must be an object; it is ignored"#,
                r#""callback" means nothing at before_tool; it is ignored"#,
                r#""log" must be a string; it is ignored"#,
            ]
        );
    }

    #[test]
    fn an_unknown_decision_is_no_opinion_and_is_shown() {
        let answer = answer(EventName::BeforeTool, r#"{"decision": "Deny", "log": "kept"}"#);
        assert_eq!(answer.reply, Reply { log: Some("kept".to_owned()), ..Reply::default() });
        assert_eq!(
            answer.warnings,
            [r#""decision": "Deny" is not known; known are "allow", "deny" and "ask""#]
        );
    }

    #[test]
    fn what_an_event_may_not_do_is_ignored_with_a_warning() {
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
            assert_eq!(answer.warnings.len(), 1, "{event} {stdout}");
            assert!(answer.warnings[0].contains(event.as_str()), "{:?}", answer.warnings);
        }
    }

    #[test]
    fn a_deny_stays_a_deny_wherever_it_is_said() {
        for row in &TABLE {
            let by_json = reply(row.event, r#"{"decision": "deny", "reason": "no"}"#);
            assert_eq!(by_json, deny_by_exit("  no\n"), "{}", row.name);
        }
    }

    #[test]
    fn exit_2_without_stderr_still_has_a_reason() {
        let verdict = deny_by_exit(" \n").verdict.unwrap();
        assert!(verdict.is_deny());
        assert_eq!(verdict.reason_text(), "blocked by the hook (exit code 2)");
    }

    #[test]
    fn text_is_recorded_and_decides_nothing() {
        for stdout in ["All tests passed\n", "[1, 2]", "\"deny\"", "17"] {
            let answer = answer(EventName::BeforeStop, stdout);
            assert_eq!(answer.reply, Reply::default());
            assert_eq!(answer.log.as_deref(), Some(stdout.trim()));
            assert_eq!(answer.warnings, Vec::<String>::new());
        }
    }

    #[test]
    fn text_that_was_meant_as_an_object_is_worth_a_warning() {
        for stdout in [
            r#"{"decision": "deny", "reason": "don't say "rm""}"#,
            "checking\n{\"decision\": \"deny\"}\n",
            "{} {}",
        ] {
            let answer = answer(EventName::BeforeTool, stdout);
            assert_eq!(answer.reply, Reply::default());
            assert!(answer.log.is_some());
            assert!(answer.warnings[0].contains("no decision was read"), "{:?}", answer.warnings);
        }
    }

    #[test]
    fn a_misspelt_field_is_warned_of_when_nothing_else_was_said() {
        let answer = answer(EventName::SubagentStart, r#"{"decison": "deny"}"#);
        assert_eq!(
            answer.warnings,
            ["no field of its answer is known; known are decision, reason, log"]
        );
        let extra = r#"{"decision": "allow", "checked": 3}"#;
        assert!(reply(EventName::BeforeTool, extra).verdict.is_some());
    }

    #[test]
    fn stops_and_turns_take_what_the_executable_protocol_takes() {
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
    fn a_bad_history_costs_the_history_alone() {
        let stdout =
            r#"{"result": "mutate", "messages": [], "follow_up_messages": ["go"], "log": "l"}"#;
        let answer = answer(EventName::BeforeStop, stdout);
        assert_eq!(answer.reply.history, None);
        assert_eq!(answer.reply.follow_ups, ["go"]);
        assert_eq!(answer.warnings, ["the history it gave cannot be used: messages is empty"]);
    }

    #[test]
    fn deep_nesting_is_text_and_not_a_crash() {
        let deep = format!("{{\"modified_input\": {}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(answer(EventName::BeforeTool, &deep).log.is_some());
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
            let reply = parse_reply(event, crate::json::to_string(&object).as_bytes()).reply;
            let allowed = match &reply.rewrite {
                None => true,
                Some(Rewrite::Input(_)) => event.may(Power::RewriteInput),
                Some(Rewrite::Output(_)) => event.may(Power::RewriteOutput),
                Some(Rewrite::Message(_)) => event.may(Power::RewriteMessage),
            };
            prop_assert!(allowed);
            prop_assert!(reply.follow_ups.is_empty() || event.may(Power::Continue));
            prop_assert!(reply.history.is_none() || event.may(Power::Mutate));
            prop_assert!(reply.context.is_none() || event.may(Power::AddContext));
        }
    }

    const KEYS: [&str; 11] = [
        "decision",
        "reason",
        "modified_input",
        "modified_output",
        "modified_prompt",
        "context",
        "result",
        "messages",
        "callback",
        "follow_up_messages",
        "log",
    ];

    fn values() -> [serde_json::Value; 8] {
        [
            json!(null),
            json!("deny"),
            json!("mutate"),
            json!("callback"),
            json!(["go on"]),
            json!([{"role": "user", "content": "x"}]),
            json!({"a": 1}),
            json!(7.5),
        ]
    }
}
