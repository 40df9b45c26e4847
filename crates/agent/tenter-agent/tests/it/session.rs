//! A session on a model that does not always answer, and not always well.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use tenter_agent::session::Status;
use tenter_agent::{RetrySettings, UserMessage};
use tenter_protocol::{Block, Image, ImageSource, Role};

use crate::session_stage::{QUICK, Stage};

fn played(script: &str) -> Stage {
    let stage = Stage::new(script, QUICK);
    stage.send(&"hi".into());
    stage
}

/// Returns a clock that jumps with every look at it, as far as it can.
fn jumping() -> Timestamp {
    static LOOKS: AtomicUsize = AtomicUsize::new(0);
    let times = [Timestamp::UNIX_EPOCH, Timestamp::MAX, Timestamp::MIN];
    times[LOOKS.fetch_add(1, Ordering::Relaxed) % times.len()]
}

#[test]
fn a_clock_that_jumps_harms_neither_a_session_nor_the_order_of_what_is_stored() {
    let turn = "{text: Step., tool_calls: [{name: todo, input: {todos: []}}]}";
    for looks in 0..3 {
        let script = format!("turns: [{turn}, {turn}, {{text: Done.}}]");
        let mut stage = Stage::new(&script, QUICK);
        stage.set_clock(jumping);
        // The session begins at another of the three times in each round.
        for _ in 0..looks {
            jumping();
        }
        let (finish, _) = stage.send(&"hi".into());
        assert_eq!(finish.status, Status::Done);
        let (messages, turns) = stage.stored();
        let texts: Vec<&str> = messages
            .iter()
            .map(|message| match &message.blocks[..] {
                [Block::Text { text }, ..] => text.as_str(),
                _ => "result",
            })
            .collect();
        assert_eq!((texts, turns), (vec!["hi", "Step.", "result", "Step.", "result", "Done."], 3));
    }
}

#[test]
fn transient_failures_are_retried_and_reported() {
    let stage = played(
        "turns:\n  - {text: Hello., fault: {kind: overloaded, times: 2, message: come back}}\n",
    );
    assert_eq!(
        stage.reports(),
        [
            "retry 2/3 short: the model is overloaded: come back",
            "retry 3/3 short: the model is overloaded: come back",
            "piece Hello.",
            "text Hello."
        ]
    );
    let (messages, turns) = stage.stored();
    assert_eq!((messages.len(), turns), (2, 1));
}

#[test]
fn a_cut_response_is_discarded_without_duplicate_text_or_tool_runs() {
    let stage = played(
        "turns:\n  - {text: I will count., tool_calls: [{name: bash, input: {command: echo one >> count}}], fault: {kind: cut}}\n  - {text: Counted., fault: {kind: cut}}\n",
    );
    assert_eq!(
        stage.reports(),
        [
            "piece I ",
            "piece will",
            "retry 2/3 short, void: the model's response was cut off",
            "piece I ",
            "piece will ",
            "piece count.",
            "text I will count.",
            "result (no output)",
            "piece Coun",
            "retry 2/3 short, void: the model's response was cut off",
            "piece Counted.",
            "text Counted."
        ]
    );
    assert_eq!(stage.read("count"), "one\n");
    let (messages, _) = stage.stored();
    let texts: Vec<String> = messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .map(tenter_protocol::Message::plain_text)
        .collect();
    assert_eq!(texts, ["I will count.", "Counted."]);
}

#[test]
fn after_the_last_attempt_the_turn_fails_and_earlier_work_is_kept() {
    let stage = Stage::new(
        "turns:\n  - tool_calls: [{name: todo}]\n  - fault: {kind: server, times: 3}\n  - text: never\n",
        QUICK,
    );
    let (finish, _) = stage.send(&"hi".into());
    assert_eq!(finish.status, Status::Failed);
    let finding = finish.error.unwrap().diagnostic();
    assert_eq!(finding.id, "model-failed");
    assert_eq!(finding.message, "the model's server failed; gave up after 3 attempts");
    assert!(finding.help.unwrap().contains("--follow"));
    assert_eq!(stage.reports_of("retry").len(), 2);
    assert_eq!(stage.stored().0.len(), 3, "the message, the call and its result");
}

#[test]
fn with_one_attempt_nothing_is_retried() {
    for attempts in [0, 1] {
        let script = "turns: [{text: never, fault: {kind: connection}}]";
        let stage = Stage::new(script, RetrySettings { attempts, ..QUICK });
        let (finish, _) = stage.send(&"hi".into());
        assert_eq!(finish.error.unwrap().to_string(), "the model cannot be reached");
        assert_eq!(stage.reports(), [] as [&str; 0]);
    }
}

#[test]
fn a_providers_requested_pause_is_limited() {
    let patient = |pause: u64| {
        let script = format!(
            "turns: [{{text: Hello., fault: {{kind: rate_limited, retry_after_ms: {pause}}}}}]"
        );
        let stage = Stage::new(&script, QUICK);
        let (finish, _) = stage.send(&"hi".into());
        (stage.reports_of("retry"), finish)
    };
    let (reports, finish) = patient(40);
    assert_eq!(reports, ["retry 2/3 long: the model's rate limit was exceeded"]);
    assert_eq!(finish.status, Status::Done);
    let (reports, finish) = patient(3_600_000);
    assert_eq!(reports, [] as [&str; 0]);
    let error = finish.error.unwrap().to_string();
    assert!(error.contains("the provider asked for a 3600 s pause"), "{error}");
}

#[test]
fn cancelling_ends_a_wait_at_once() {
    let hour = Duration::from_hours(1);
    let retry = RetrySettings { attempts: 5, first_delay: hour, max_delay: hour };
    let stage = Stage::new("turns: [{text: never, fault: {kind: overloaded}}]", retry);
    stage.interrupt_at("retry");
    let (finish, _) = stage.send(&"hi".into());
    assert_eq!(finish.status, Status::Interrupted);
    assert!(finish.error.is_none());
}

#[test]
fn permanent_failures_are_not_retried() {
    let failure = |fault: &str| {
        let stage = Stage::new(&format!("turns: [{{text: never, fault: {fault}}}]"), QUICK);
        let (finish, _) = stage.send(&"hi".into());
        assert_eq!((finish.status, stage.reports().len()), (Status::Failed, 0));
        finish.error.unwrap().diagnostic()
    };
    let error = failure("{kind: refused, message: no such model}");
    assert_eq!((error.id, error.message.as_str()), ("model-failed", "no such model"));
    let too_long = failure("{kind: too_long, message: 9 tokens of 8}");
    assert_eq!(too_long.id, "conversation-too-long");
    assert_eq!(
        too_long.message,
        "the conversation is longer than the model can hold: 9 tokens of 8"
    );
    assert!(too_long.help.unwrap().contains("tenter conversation fork"));
}

#[test]
fn a_response_cut_off_by_the_limit_is_kept_and_reported() {
    let stage = Stage::new("turns: [{text: It is the, stop: length}]", QUICK);
    let (finish, _) = stage.send(&"hi".into());
    assert_eq!((finish.status, finish.response.as_str()), (Status::Done, "It is the"));
    let reports = stage.reports_of("response-cut");
    assert!(matches!(&reports[..], [line] if line.contains("cut off")), "{reports:?}");
}

#[test]
fn a_call_cut_off_by_the_limit_is_reported_to_the_model() {
    let stage = played(
        "turns:\n  - {tool_calls: [{name: file_write, input: '{\"path\": \"a\", \"te'}], stop: length}\n  - {text: In pieces then., expect: {contains: [reached the output limit, not valid JSON]}}\n",
    );
    assert_eq!(stage.reports_of("text"), ["text In pieces then."]);
    assert_eq!(stage.reports_of("response-cut"), [] as [&str; 0]);
}

#[test]
fn filtered_and_empty_responses_are_reported_and_the_end_of_a_script_is_not() {
    let stage = played("turns: [{text: I, stop: filtered}]");
    assert_eq!(stage.reports_of("response-filtered").len(), 1);
    let stage = played("turns: [{reasoning: Hm.}]");
    assert_eq!(
        stage.reports(),
        ["thinks Hm.", "reasoning Hm.", "empty-response the model's response is empty"]
    );
    assert_eq!(played("turns: []").reports(), [] as [&str; 0]);
}

#[test]
fn images_precede_the_text_of_a_message() {
    let image = Block::Image(Image {
        media_type: "image/png".into(),
        source: ImageSource::Data("aGk=".into()),
    });
    let stage =
        Stage::new("turns: [{text: A cat., expect: {contains: ['[image: image/png']}}]", QUICK);
    let message = UserMessage {
        text: "What is it?".into(),
        images: vec![image.clone()],
        ..UserMessage::default()
    };
    let (finish, _) = stage.send(&message);
    assert_eq!(finish.response, "A cat.");
    assert_eq!(stage.stored().0[0].blocks, [image, Block::text("What is it?")]);
}

/// Returns the kind and the number of failures of each of three turns.
fn faults() -> impl Strategy<Value = Vec<Option<(&'static str, u32)>>> {
    let kind = prop_oneof![
        Just("overloaded"),
        Just("rate_limited"),
        Just("cut"),
        Just("connection"),
        Just("server")
    ];
    prop::collection::vec(prop::option::of((kind, 1_u32..=2)), 3)
}

fn script(faults: &[Option<(&str, u32)>]) -> String {
    let fault = |turn: usize| match faults[turn] {
        Some((kind, times)) => format!("fault: {{kind: {kind}, times: {times}}}"),
        None => String::new(),
    };
    format!(
        "turns:\n  - {{text: One., reasoning: Hm., tool_calls: [{{name: bash, input: {{command: echo x >> count}}}}], {}}}\n  - {{tool_calls: [{{name: todo}}, {{name: bash, input: {{command: cat count}}}}], {}}}\n  - {{text: Three., {}}}\n",
        fault(0),
        fault(1),
        fault(2)
    )
}

/// Returns the result of a session: its messages without the times of commands, its turns, its figures.
fn session_result(faults: &[Option<(&str, u32)>]) -> (Vec<String>, u64, u64, String) {
    let stage = Stage::new(&script(faults), QUICK);
    let (_, usage) = stage.send(&"hi".into());
    let (messages, turns) = stage.stored();
    let messages = messages.iter().map(tenter_protocol::Message::content).collect();
    (messages, turns, usage.input_tokens, stage.read("count"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn retries_leave_no_trace_in_the_conversation(faults in faults()) {
        prop_assert_eq!(session_result(&faults), session_result(&[None, None, None]));
    }
}
