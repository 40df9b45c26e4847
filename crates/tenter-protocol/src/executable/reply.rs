//! Answers: what an executable hook printed when it was asked `run` (R28).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::history::{self, HistoryError, HistoryWish, MessageWire};
use crate::reply::VerdictKind;
use crate::{EventName, Object, Reply, Rewrite, Verdict};

/// Why what a hook printed is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplyError {
    /// Not JSON, not one object, or a field of the wrong type.
    #[error("its stdout is not one JSON object with the fields of this event: {0}")]
    Shape(String),
    /// What it wants done to the history cannot be done.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// Reads what a hook printed at `event`. Nothing or white space is silence; so is an object without known fields.
///
/// # Errors
/// Anything but one JSON object with fields of the right types; see [`ReplyError`].
pub fn parse_reply(event: EventName, stdout: &[u8]) -> Result<Reply, ReplyError> {
    if stdout.trim_ascii().is_empty() {
        return Ok(Reply::default());
    }
    match event {
        EventName::BeforeTool => object::<BeforeToolCall>(stdout).map(BeforeToolCall::reply),
        EventName::BeforeAgent => object::<UserMessageSend>(stdout).map(UserMessageSend::reply),
        EventName::AfterTool | EventName::AfterToolFailure => {
            object::<AfterToolCall>(stdout).map(AfterToolCall::reply)
        }
        EventName::AfterTurn => object::<HistoryResult>(stdout)?.reply(false),
        EventName::BeforeStop => object::<HistoryResult>(stdout)?.reply(true),
        _ => object::<Nothing>(stdout).map(|Nothing {}| Reply::default()),
    }
}

/// Reads exactly one JSON object. An array would deserialise into a struct as well, so the first byte is looked at.
fn object<T: DeserializeOwned>(stdout: &[u8]) -> Result<T, ReplyError> {
    if stdout.trim_ascii_start().first() != Some(&b'{') {
        return Err(ReplyError::Shape("it does not begin with {".to_owned()));
    }
    serde_json::from_slice(stdout).map_err(|error| ReplyError::Shape(error.to_string()))
}

#[derive(Deserialize)]
struct Nothing {}

/// `blocked` as a verdict: leaving it out is silence, `false` is an opinion.
fn verdict(blocked: Option<bool>, reason: Option<String>) -> Option<Verdict> {
    let kind = if blocked? { VerdictKind::Deny } else { VerdictKind::Allow };
    Some(Verdict::new(kind, reason))
}

#[derive(Deserialize)]
struct BeforeToolCall {
    blocked: Option<bool>,
    reason: Option<String>,
    input: Option<Object>,
    additional_context: Option<String>,
}

impl BeforeToolCall {
    fn reply(self) -> Reply {
        Reply {
            verdict: verdict(self.blocked, self.reason),
            rewrite: self.input.map(Rewrite::Input),
            context: self.additional_context,
            ..Reply::default()
        }
    }
}

#[derive(Deserialize)]
struct UserMessageSend {
    blocked: Option<bool>,
    reason: Option<String>,
    message: Option<String>,
    additional_context: Option<String>,
}

impl UserMessageSend {
    fn reply(self) -> Reply {
        Reply {
            verdict: verdict(self.blocked, self.reason),
            rewrite: self.message.map(Rewrite::Message),
            context: self.additional_context,
            ..Reply::default()
        }
    }
}

#[derive(Deserialize)]
struct AfterToolCall {
    output: Option<Object>,
    additional_context: Option<String>,
}

impl AfterToolCall {
    fn reply(self) -> Reply {
        Reply {
            rewrite: self.output.map(Rewrite::Output),
            context: self.additional_context,
            ..Reply::default()
        }
    }
}

#[derive(Deserialize)]
struct HistoryResult {
    #[serde(default)]
    result: Option<String>,
    messages: Option<Vec<MessageWire>>,
    callback: Option<String>,
    callback_args: Option<BTreeMap<String, String>>,
    follow_up_messages: Option<Vec<String>>,
    additional_context: Option<String>,
}

impl HistoryResult {
    fn reply(self, may_continue: bool) -> Result<Reply, ReplyError> {
        let wish = HistoryWish {
            result: self.result,
            messages: self.messages,
            callback: self.callback,
            callback_args: self.callback_args,
        };
        // Only a stop can be continued; at `after_turn` the agent goes on or stops by itself.
        let follow_ups = self.follow_up_messages.filter(|_| may_continue);
        Ok(Reply {
            history: wish.action(may_continue)?,
            follow_ups: history::follow_ups(follow_ups),
            context: self.additional_context,
            ..Reply::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HistoryAction, Message};
    use proptest::prelude::*;

    fn reply(event: EventName, stdout: &str) -> Result<Reply, ReplyError> {
        parse_reply(event, stdout.as_bytes())
    }

    #[test]
    fn silence_in_all_its_forms_is_no_action() {
        for stdout in ["", "  \n", "{}", "{\"success\": true}", "{\"input\": null}"] {
            assert_eq!(
                reply(EventName::BeforeTool, stdout).unwrap(),
                Reply::default(),
                "{stdout:?}"
            );
        }
    }

    #[test]
    fn not_blocked_is_an_opinion_and_blocked_may_lack_its_reason() {
        let allow = reply(EventName::BeforeTool, r#"{"blocked": false}"#).unwrap().verdict.unwrap();
        assert_eq!(allow.kind, VerdictKind::Allow);
        let deny = reply(EventName::BeforeAgent, r#"{"blocked": true}"#).unwrap().verdict.unwrap();
        assert_eq!((deny.kind, deny.reason_text()), (VerdictKind::Deny, "no reason given"));
    }

    #[test]
    fn what_is_not_one_object_of_the_right_types_is_a_failure() {
        for stdout in [
            "[]",
            "null",
            "log line\n{\"blocked\": true}",
            "{} {}",
            "{\"blocked\": \"true\"}",
            "{\"input\": \"rm\"}",
            "{\"blocked\": tr",
        ] {
            assert!(
                matches!(reply(EventName::BeforeTool, stdout), Err(ReplyError::Shape(_))),
                "{stdout:?}"
            );
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        let deep = format!("{{\"input\": {}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(matches!(reply(EventName::BeforeTool, &deep), Err(ReplyError::Shape(_))));
    }

    #[test]
    fn stops_take_follow_ups_and_history_together() {
        let both = reply(
            EventName::BeforeStop,
            r#"{"result": "mutate", "messages": [{"role": "user", "content": "s"}], "follow_up_messages": ["go", " "]}"#,
        )
        .unwrap();
        assert_eq!(both.history, Some(HistoryAction::Mutate(vec![Message::user("s")])));
        assert_eq!(both.follow_ups, ["go"]);
    }

    #[test]
    fn a_bad_history_or_result_is_named() {
        assert!(matches!(
            reply(EventName::AfterTurn, r#"{"result": "mutate"}"#),
            Err(ReplyError::History(HistoryError::Messages(_)))
        ));
        assert_eq!(
            reply(EventName::AfterTurn, r#"{"result": "callback"}"#),
            Err(ReplyError::History(HistoryError::NoRecipe))
        );
        assert!(matches!(
            reply(EventName::AfterTurn, r#"{"result": "continue"}"#),
            Err(ReplyError::History(HistoryError::UnknownResult(..)))
        ));
        assert!(reply(EventName::BeforeStop, r#"{"result": "continue"}"#).is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), index in 0usize..13) {
            let event = crate::lifecycle::TABLE[index].event;
            let _ = parse_reply(event, &bytes);
        }
    }
}
