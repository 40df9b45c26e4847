//! Payloads and replies of executables: documented payloads are compared with real ones, and documented replies are read
//! completely. `hooks::schema` checks payloads against their schemas.

use std::collections::BTreeSet;

use serde_json::Value;
use tenter_engine::DecisionKind;
use tenter_protocol::{EventName, Object, executable, json, lifecycle};

use super::as_documented;
use super::markdown::{Block, pages, table};
use crate::sandbox;

/// The script of a hook that writes every payload to a file.
const RECORD: &str = r#"printf '%s\n' "$payload" >> payloads.jsonl"#;

#[test]
fn every_payload_is_what_a_hook_reads() {
    for block in super::examples(&pages(), "payload") {
        let documented: Value = serde_json::from_str(&block.text).unwrap();
        assert_eq!(documented["event"], block.note.rest.as_str(), "{}", block.place);
        let (documented, real) = compare(block, &documented);
        assert!(real.contains(&documented), "{}\n{documented}\nis none of\n{real:#?}", block.place);
    }
}

/// Returns the documented payload, and the payloads that a hook reads in the conversation of the example's note, with variable
/// values replaced in all of them.
fn compare(block: &Block, documented: &Value) -> (String, Vec<String>) {
    let sandbox = sandbox();
    sandbox.configure(super::WITHOUT_CHANGED);
    sandbox.sh_hook("record", &block.note.rest, RECORD);
    if let Some(reply) = block.note.get("guard") {
        sandbox.sh_hook("guard", "before_tool_call", &format!("echo '{reply}'"));
    }
    sandbox.write("README.md", "# The shop\n");
    let output =
        sandbox.play(block.note.get("script").unwrap(), &[block.note.get("message").unwrap()]);
    let real =
        sandbox.read("payloads.jsonl").lines().map(|line| as_documented(&output, line)).collect();
    (as_documented(&output, &json::to_string(documented)), real)
}

#[test]
fn every_reply_is_read_completely() {
    for block in super::examples(&pages(), "answer") {
        let (spelling, decision) = block.note.rest.split_once(" => ").unwrap();
        let event = lifecycle::by_any_spelling(spelling)[0];
        let object: Object = serde_json::from_str(&block.text).unwrap();
        let reply = executable::parse_reply(event, block.text.as_bytes()).unwrap();
        assert_eq!(
            DecisionKind::most_important(&reply.reply).as_str(),
            decision,
            "{}",
            block.place
        );
        for key in object.keys() {
            assert!(has_effect(event, &object, key), "{}: {key} has no effect", block.place);
        }
    }
}

/// Returns true if the reply has another meaning without this field. `continue` is optional: follow-ups imply it.
fn has_effect(event: EventName, object: &Object, key: &str) -> bool {
    let mut without = object.clone();
    without.shift_remove(key);
    let read = |object: &Object| executable::parse_reply(event, json::to_string(object).as_bytes());
    read(object) != read(&without) || object[key] == "continue"
}

/// The fields of replies and their events are in the table "Reply"; each is shown in an example of each event.
#[test]
fn every_field_of_a_reply_is_shown() {
    let table = table("executable-hooks.md", "Reply");
    let pages = pages();
    for event in
        ["user_message_send", "before_tool_call", "after_tool_call", "after_turn", "agent_stop"]
    {
        let output: BTreeSet<String> = super::examples(&pages, "answer")
            .filter(|block| block.note.rest.starts_with(event))
            .flat_map(|block| serde_json::from_str::<Object>(&block.text).unwrap())
            .map(|(key, _)| key)
            .collect();
        let is_of_event = |events: &str| {
            events == "every event" || events == event || events.contains(&format!("`{event}`"))
        };
        let rows = table.rows.iter().filter(|row| is_of_event(&row[2]));
        let names: BTreeSet<String> = rows.map(|row| row[0].clone()).collect();
        assert_eq!(output, names, "at {event}");
    }
}
