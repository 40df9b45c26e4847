//! What hooks read and answer: the documented payloads are compared with real ones, the documented answers are read as
//! answers, and no field of either is left out.

use std::collections::BTreeSet;

use serde_json::Value;
use tenter_engine::DecisionKind;
use tenter_protocol::event::{Stop, StopReason, Turn, TurnUsage, Usage};
use tenter_protocol::facts::{Facts, PathFact, PathOp};
use tenter_protocol::{Body, Event, EventName, Message, Object, Scope, ToolCall, ToolResult};
use tenter_protocol::{executable, json, lifecycle};

use super::as_documented;
use super::markdown::{Block, page, pages, table};
use crate::sandbox;

/// What a hook does that writes every payload into a file.
const RECORD: &str = r#"printf '%s\n' "$payload" >> payloads.jsonl"#;

#[test]
fn every_payload_is_what_a_hook_reads() {
    for block in super::examples(&pages(), "payload") {
        let documented: Value = serde_json::from_str(&block.text).unwrap();
        assert_eq!(documented["event"], block.note.rest.as_str(), "{}", block.place);
        let (documented, real) = compared(block, &documented);
        assert!(real.contains(&documented), "{}\n{documented}\nis none of\n{real:#?}", block.place);
    }
}

/// The documented payload and those that a hook read in the conversation that the example's note describes, what varies
/// replaced in all of them.
fn compared(block: &Block, documented: &Value) -> (String, Vec<String>) {
    let sandbox = sandbox();
    sandbox.sh_hook("record", &block.note.rest, RECORD);
    if let Some(answer) = block.note.get("guard") {
        sandbox.sh_hook("guard", "before_tool_call", &format!("echo '{answer}'"));
    }
    sandbox.write("README.md", "# The shop\n");
    let model = sandbox.script(block.note.get("script").unwrap());
    let output = sandbox.run(&["run", "--model", &model, block.note.get("message").unwrap()]);
    let real =
        sandbox.read("payloads.jsonl").lines().map(|line| as_documented(&output, line)).collect();
    (as_documented(&output, &json::to_string(documented)), real)
}

#[test]
fn every_reply_is_read_completely() {
    for block in super::examples(&pages(), "answer") {
        let (spelling, decision) = block.note.rest.split_once(" => ").unwrap();
        let event = lifecycle::by_any_spelling(spelling)[0];
        let answer: Object = serde_json::from_str(&block.text).unwrap();
        let reply = executable::parse_reply(event, block.text.as_bytes()).unwrap();
        assert_eq!(DecisionKind::of(&reply.reply).as_str(), decision, "{}", block.place);
        for key in answer.keys() {
            assert!(counts(event, &answer, key), "{}: {key} changes nothing", block.place);
        }
    }
}

/// Whether an answer means something else without this field. `continue` may be left out: it is what follow-ups mean.
fn counts(event: EventName, answer: &Object, key: &str) -> bool {
    let mut without = answer.clone();
    without.shift_remove(key);
    let read = |answer: &Object| executable::parse_reply(event, json::to_string(answer).as_bytes());
    read(answer) != read(&without) || answer[key] == "continue"
}

/// The fields of replies and their events are in the table "Reply"; each is shown in an example of each event.
#[test]
fn every_field_of_a_reply_is_shown() {
    let table = table("executable-hooks.md", "Reply");
    let pages = pages();
    for event in
        ["user_message_send", "before_tool_call", "after_tool_call", "after_turn", "agent_stop"]
    {
        let shown: BTreeSet<String> = super::examples(&pages, "answer")
            .filter(|block| block.note.rest.starts_with(event))
            .flat_map(|block| serde_json::from_str::<Object>(&block.text).unwrap())
            .map(|(key, _)| key)
            .collect();
        let is_of_event = |events: &str| {
            events == "every event" || events == event || events.contains(&format!("`{event}`"))
        };
        let listed = table.rows.iter().filter(|row| is_of_event(&row[2]));
        let listed: BTreeSet<String> = listed.map(|row| row[0].clone()).collect();
        assert_eq!(shown, listed, "at {event}");
    }
}

/// The fields of payloads are in the column "Executable" of events.md: under "Payloads" and under the event.
#[test]
fn every_field_of_a_payload_is_listed() {
    let page = page("events.md");
    let path = PathFact { path: "/a".into(), given: "a".into(), op: PathOp::Read, certain: true };
    let facts = Facts { paths: vec![path] };
    for (event, spelling) in full_events() {
        let payload = executable::payload(&event, spelling, &facts).unwrap();
        let payload: Object = serde_json::from_str(&payload).unwrap();
        let of_event = page.column(&format!("Payload of {}", event.body.name()), "Executable");
        let mut listed = &page.column("Payloads", "Executable") | &of_event;
        listed.insert("event");
        assert_eq!(keys(&payload), listed, "the fields of {spelling}");
        if let Some(Value::Object(usage)) = payload.get("usage") {
            assert_eq!(keys(usage), page.column("Token counts", "Name"), "the fields of usage");
        }
    }
}

fn keys(object: &Object) -> BTreeSet<&str> {
    object.keys().map(String::as_str).collect()
}

/// An event of each kind that executables have, with every optional field, and its spelling.
fn full_events() -> Vec<(Event, &'static str)> {
    let call = ToolCall { id: "1".into(), name: "bash".into(), input: Object::new() };
    let result = ToolResult::blocked("bash", "no", "T".into());
    let usage = Usage {
        estimated: true,
        cost_usd: Some(1.0),
        turn: TurnUsage::default(),
        ..Usage::default()
    };
    let turn = Turn {
        turn_number: 1,
        session_turn: 1,
        tools_used: true,
        usage,
        auto_compact: Some(0.8),
        response: String::new(),
        messages: vec![Message::user("x")].into(),
    };
    let stop = Stop {
        reason: StopReason::NoToolCalls,
        step_count: 1,
        usage,
        auto_compact: Some(0.8),
        response: String::new(),
        messages: vec![Message::user("x")].into(),
        continuation_count: 0,
    };
    let bodies = [
        (Body::BeforeAgent { message: String::new() }, "user_message_send"),
        (Body::BeforeTool(call.clone()), "before_tool_call"),
        (Body::AfterTool { call, result }, "after_tool_call"),
        (Body::AfterTurn(turn), "turn_end"),
        (Body::BeforeStop(stop), "agent_stop"),
    ];
    bodies.map(|(body, spelling)| (Event { scope: scope(), body }, spelling)).into()
}

fn scope() -> Scope {
    Scope {
        conversation_id: "c".into(),
        parent_conversation_id: Some("p".into()),
        cwd: "/".into(),
        recipe: Some("r".into()),
        recipe_full_name: Some("a/b/r".into()),
        time: "T".into(),
    }
}
