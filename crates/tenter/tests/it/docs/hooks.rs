//! Runs the documented hooks: each is installed and used by `tenter run`.
//!
//! | line | meaning |
//! | --- | --- |
//! | `needs: PROGRAM` | the example is skipped with a message if the program is missing |
//! | `given: SHELL` | a command that runs first |
//! | `call: TOOL INPUT => DECISION` | the model calls the tool once |
//! | `message: TEXT => DECISION` | the user sends this message, the model responds with `ok` |
//! | `turns: YAML => DECISION` | the model plays these turns |
//! | `script: YAML => DECISION` | the model plays this script |
//! | `then: SHELL` | a command that must succeed afterwards |
//!
//! The decisions are as in the JSON stream except `none`; `none` alone means that there are no others. A part of the reason may
//! follow after a colon.

use serde_json::{Value, json};
use tenter_protocol::lifecycle::TABLE;
use tenter_testkit::{Sandbox, needs};

use super::markdown::{Block, pages};
use crate::{filter_kind, sandbox};

#[test]
fn every_hook_example_decides_as_stated() {
    for block in super::examples(&pages(), "hook") {
        let sandbox = sandbox();
        if has_what_it_needs(block) {
            sandbox.user_hook(&block.note.rest, &block.text);
            for (key, value) in &block.note.lines {
                carry_out(&sandbox, block, key, value);
            }
        }
    }
}

/// Every event of executables has an example in bash and one in Python.
#[test]
fn every_event_has_a_hook_in_bash_and_in_python() {
    let pages = pages();
    for event in TABLE.iter().filter_map(|row| row.executable.first()) {
        for program in ["bash", "python3"] {
            let line = format!("#!/usr/bin/env {program}\n");
            let has_example = super::examples(&pages, "hook")
                .any(|block| block.text.starts_with(&line) && block.text.contains(*event));
            assert!(has_example, "no example in {program} for {event}");
        }
    }
}

pub(super) fn has_what_it_needs(block: &Block) -> bool {
    let first_line =
        block.text.lines().next().and_then(|line| line.strip_prefix("#!/usr/bin/env "));
    let mut needs = first_line.into_iter().chain(block.note.get("needs"));
    needs.all(needs::has)
}

pub(super) fn carry_out(sandbox: &Sandbox, block: &Block, key: &str, value: &str) {
    let place = &block.place;
    match key {
        "needs" => {}
        "given" | "then" => {
            let output = sandbox.shell(value);
            assert_eq!(output.code, Some(0), "{place}: {value}\n{output}");
        }
        "call" => {
            let (call, expected) = arrow(place, value);
            let (name, input) = call.split_once(' ').unwrap();
            let input: Value = serde_json::from_str(input).unwrap();
            let call = json!({"id": "call-1", "name": name, "input": input});
            let script = json!({"turns": [{"tool_calls": [call]}, {"text": "ok"}]});
            check(sandbox, block, &script.to_string(), "Do it.", expected);
        }
        "message" => {
            let (message, expected) = arrow(place, value);
            check(sandbox, block, "turns: [{text: ok}]", message, expected);
        }
        "turns" => {
            let (turns, expected) = arrow(place, value);
            check(sandbox, block, &format!("turns: {turns}"), "Do it.", expected);
        }
        "script" => {
            let (script, expected) = arrow(place, value);
            check(sandbox, block, script, "Do it.", expected);
        }
        _ => panic!("{place}: {key}"),
    }
}

fn arrow<'v>(place: &str, value: &'v str) -> (&'v str, &'v str) {
    value.rsplit_once(" => ").unwrap_or_else(|| panic!("{place}: what shall come of it? {value}"))
}

/// Runs the script and compares the hook's decisions.
fn check(sandbox: &Sandbox, block: &Block, script: &str, message: &str, expected: &str) {
    let (decisions, reason) = expected.split_once(": ").unwrap_or((expected, ""));
    let output = sandbox.play(script, &["--headless", message]);
    let lines = output.json_lines();
    let runs = filter_kind(&lines, "hook")
        .into_iter()
        .filter(|run| run["hook"] == block.note.rest.as_str());
    let decided: Vec<&Value> = runs.filter(|run| run["decision"] != "none").collect();
    let words: Vec<&str> = decided.iter().map(|run| run["decision"].as_str().unwrap()).collect();
    let words = if words.is_empty() { "none".to_owned() } else { words.join(", ") };
    assert_eq!(words, decisions, "{}\n{output}", block.place);
    let is_said = |run: &&Value| run["reason"].as_str().is_some_and(|text| text.contains(reason));
    assert!(
        reason.is_empty() || decided.iter().any(is_said),
        "{}: {reason}\n{output}",
        block.place
    );
    let is_denied = lines.last().unwrap()["status"] == "blocked" && decisions == "deny";
    assert_eq!(output.code, Some(if is_denied { 3 } else { 0 }), "{}\n{output}", block.place);
}
