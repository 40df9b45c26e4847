//! The payloads of a manifest hook: at every event that an agent has, and at every kind of end of a run.

use std::fs;

use serde_json::{Value, json};
use tenter_protocol::lifecycle::TABLE;
use tenter_testkit::{Sandbox, assert_fields, wait_until};

use super::hook;
use crate::{filter_kind, headless, sandbox, send_signal};

/// Events that nothing in this version causes: there is no compaction yet.
const SILENT: [&str; 2] = ["pre_compact", "post_compact"];

/// Adds a hook on every event, and one on every other spelling, that keeps its payloads.
fn record_everything(sandbox: &Sandbox) {
    for spelling in TABLE.iter().flat_map(|row| row.manifest) {
        let name = format!("on-{}", spelling.replace('_', "-"));
        hook(
            sandbox,
            &name,
            spelling,
            "",
            &format!("printf '%s\\n' \"$payload\" >> {spelling}.jsonl"),
        );
    }
}

fn payloads(sandbox: &Sandbox, event: &str) -> Vec<Value> {
    let text =
        fs::read_to_string(sandbox.project().join(format!("{event}.jsonl"))).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the one payload of an event, without what every payload has.
fn own(sandbox: &Sandbox, event: &str) -> Value {
    let [payload] = &payloads(sandbox, event)[..] else {
        panic!("{event}: {:#?}", payloads(sandbox, event));
    };
    without_base(payload)
}

fn without_base(payload: &Value) -> Value {
    let mut own = payload.as_object().unwrap().clone();
    for field in ["event_type", "timestamp", "session_id", "work_dir", "context", "host"] {
        own.remove(field).unwrap_or_else(|| panic!("{payload} lacks {field}"));
    }
    own.into()
}

#[test]
fn every_event_is_delivered_under_every_name_with_its_fields() {
    let sandbox = sandbox();
    record_everything(&sandbox);
    let usage = "usage: {input_tokens: 100, output_tokens: 10}";
    let (lines, code) = headless(
        &sandbox,
        &format!(
            "turns: [{{text: First., tool_calls: [{{id: t1, name: bash, input: {{command: echo hi}}}}], {usage}}}, \
                  {{tool_calls: [{{id: t2, name: bash, input: {{command: exit 3}}}}], {usage}}}, {{text: Done., {usage}}}]"
        ),
    );
    assert_eq!(code, 0, "{lines:#?}");
    for row in
        TABLE.iter().filter(|row| !row.name.starts_with("subagent") && !SILENT.contains(&row.name))
    {
        let rows: Vec<Vec<Value>> =
            row.manifest.iter().map(|name| payloads(&sandbox, name)).collect();
        assert!(!rows[0].is_empty(), "{} was not told", row.name);
        for (name, rows) in row.manifest.iter().zip(&rows) {
            for payload in rows {
                let base: Vec<&String> = payload.as_object().unwrap().keys().take(6).collect();
                let expected =
                    ["event_type", "timestamp", "session_id", "work_dir", "context", "host"];
                assert_eq!(base, expected);
                assert_eq!(payload["host"], json!({"name": "tenter"}));
                assert_eq!(payload["event_type"], *name);
                assert_eq!(payload["session_id"], lines[0]["id"]);
                assert_eq!(payload["work_dir"], sandbox.project().to_str().unwrap());
                assert_eq!(
                    payload["context"],
                    json!({"invoked_by": "main", "protocol_version": 1})
                );
                assert!(payload["timestamp"].as_str().unwrap().ends_with('Z'));
            }
            assert_eq!(rows.len(), payloads(&sandbox, row.name).len(), "{name}");
        }
    }
    told_of_the_session(&sandbox);
    told_of_tools(&sandbox);
    told_of_turns(&sandbox);
}

fn told_of_the_session(sandbox: &Sandbox) {
    let start = own(sandbox, "session_start");
    assert!(start["model"].as_str().unwrap().starts_with("scripted:"), "{start}");
    assert_eq!(start["args"], json!({"ui": "run", "agent": "tenter"}));
    assert_eq!(own(sandbox, "before_agent"), json!({"prompt": "do it"}));
    assert_eq!(own(sandbox, "after_agent"), json!({"response": "Done."}));
    let end = own(sandbox, "session_end");
    assert_eq!((&end["total_steps"], &end["exit_reason"]), (&json!(3), &json!("done")));
    assert!(end["duration_seconds"].is_u64(), "{end}");
}

fn told_of_tools(sandbox: &Sandbox) {
    let before = payloads(sandbox, "before_tool");
    let names: Vec<&str> = tenter_protocol::tool_names::spellings("bash").skip(1).collect();
    let mut first = without_base(&before[0]);
    let commands = first.as_object_mut().unwrap().remove("commands").unwrap();
    assert_eq!(commands[0]["program"], "echo");
    assert_eq!(
        first,
        json!({"tool_name": "bash", "tool_input": {"command": "echo hi"}, "tool_use_id": "t1", "tool_aliases": names})
    );
    let after = own(sandbox, "after_tool");
    assert_eq!((&after["tool_use_id"], &after["tool_error"]), (&json!("t1"), &Value::Null));
    assert_eq!(after["tool_output"]["metadata"]["output"], "hi\n");
    let event = own(sandbox, "after_tool_failure");
    assert_eq!(event["tool_input"], json!({"command": "exit 3"}));
    assert_eq!(event["tool_output"]["success"], false);
    assert_eq!(event["tool_error"], event["tool_output"]["error"]);
    assert!(event["tool_error"].as_str().is_some_and(|error| !error.is_empty()));
}

fn told_of_turns(sandbox: &Sandbox) {
    let turns = payloads(sandbox, "after_turn");
    let figures: Vec<Value> = turns
        .iter()
        .map(|turn| {
            json!([turn["turn_number"], turn["session_turn"], turn["tools_used"], turn["response"]])
        })
        .collect();
    assert_eq!(
        json!(figures),
        json!([[1, 1, true, "First."], [2, 2, true, ""], [3, 3, false, "Done."]])
    );
    let stop = own(sandbox, "before_stop");
    assert_eq!((&stop["stop_reason"], &stop["step_count"]), (&json!("no_tool_calls"), &json!(3)));
    assert_eq!(stop["final_message"], json!({"role": "assistant", "content": "Done."}));
    assert_fields(&stop, &json!({"stop_hook_active": false, "continuation_count": 0}));
    assert_eq!(stop["usage"]["input_tokens"], 300);
    assert_eq!(stop["messages"].as_array().unwrap().len(), 6);
    assert_fields(&stop, &json!({"auto_compact_enabled": true, "auto_compact_threshold": 0.8}));
}

const TASK: &str =
    "{id: s, name: subagent, input: {question: find the bug, name: finder, type: reviewer}}";

#[test]
fn subagent_events_are_delivered_and_name_the_parent() {
    let sandbox = sandbox();
    record_everything(&sandbox);
    let (lines, code) = headless(
        &sandbox,
        &format!("turns: [{{tool_calls: [{TASK}]}}, {{text: In line 3.}}, {{text: ok}}]"),
    );
    assert_eq!(code, 0, "{lines:#?}");
    let subagent = json!({"subagent_name": "finder", "subagent_type": "reviewer", "task_description": "find the bug"});
    for name in ["subagent_start", "pre-subagent"] {
        assert_eq!(own(&sandbox, name), subagent);
    }
    let stop = own(&sandbox, "post-subagent");
    assert_fields(&stop, &json!({"response": "In line 3.", "subagent_name": "finder"}));
    let [main, inner] = &payloads(&sandbox, "before_agent")[..] else { panic!("{lines:#?}") };
    assert_eq!(inner["prompt"], "find the bug");
    assert_eq!(inner["context"]["invoked_by"], "subagent");
    assert_eq!(inner["context"]["parent_session_id"], main["session_id"]);
    assert_eq!(payloads(&sandbox, "session_end").len(), 1, "a subagent is no session of its own");
}

#[test]
fn a_denied_subagent_does_not_start_and_the_reason_is_its_result() {
    let sandbox = sandbox();
    hook(&sandbox, "limit", "subagent_start", "", "echo 'no helpers today' >&2; exit 2");
    let (lines, code) = headless(
        &sandbox,
        &format!(
            "turns: [{{tool_calls: [{TASK}]}}, {{text: alone then, expect: {{contains: [no helpers today], lacks: [In line]}}}}]"
        ),
    );
    assert_eq!(code, 0, "{lines:#?}");
    let result = &filter_kind(&lines, "tool-result")[0]["result"];
    assert_eq!(
        (&result["metadataType"], &result["metadata"]["reason"]),
        (&json!("blocked"), &json!("no helpers today"))
    );
    assert_eq!(filter_kind(&lines, "usage").len(), 2, "no model was asked for it");
}

#[test]
fn feedback_on_a_subagents_answer_follows_it() {
    let sandbox = sandbox();
    hook(&sandbox, "checker", "subagent_stop", "", "echo 'it names no file' >&2; exit 2");
    let (lines, code) = headless(
        &sandbox,
        &format!(
            "turns: [{{tool_calls: [{TASK}]}}, {{text: In line 3.}}, {{text: ok, expect: {{contains: [In line 3., \" name=\\\"checker\\\">\\nit names no file\"]}}}}]"
        ),
    );
    assert_eq!(code, 0, "{lines:#?}");
}

/// Returns the end of a run, and the payload of the hook at its end.
fn ending(
    prepare: impl FnOnce(&Sandbox),
    args: &[&str],
    script: &str,
) -> (Option<i32>, Value, Sandbox) {
    let sandbox = sandbox();
    hook(&sandbox, "end", "session_end", "", "printf '%s' \"$payload\" > session_end.jsonl");
    prepare(&sandbox);
    let model = sandbox.script(script);
    let output = sandbox.run([&["run", "--headless", "--model", &model, "x"], args].concat());
    let reason = own(&sandbox, "session_end")["exit_reason"].clone();
    (output.code, reason, sandbox)
}

#[test]
fn session_end_states_the_reason() {
    let no = "echo 'not today' >&2; exit 2";
    let (code, reason, _) = ending(|_| {}, &[], "turns: [{text: ok}]");
    assert_eq!((code, reason), (Some(0), json!("done")));
    let (code, reason, sandbox) =
        ending(|sandbox| hook(sandbox, "no", "before_agent", "", no), &[], "turns: []");
    assert_eq!((code, reason), (Some(3), json!("blocked")));
    assert_eq!(sandbox.run("conversation list --json").json(), json!([]), "nothing is stored");
    let (code, reason, sandbox) =
        ending(|sandbox| hook(sandbox, "no", "session_start", "", no), &[], "turns: []");
    assert_eq!((code, reason), (Some(3), json!("blocked")));
    assert_eq!(sandbox.run("conversation list --json").json(), json!([]), "nothing is stored");
    let call = "turns: [{tool_calls: [{name: todo}]}]";
    let (code, reason, _) = ending(|_| {}, &["--max-turns", "1"], call);
    assert_eq!((code, reason), (Some(5), json!("max_turns")));
    let (code, reason, _) = ending(|_| {}, &[], "turns: [{fault: {kind: refused}}]");
    assert_eq!((code, reason), (Some(1), json!("error")));
}

#[test]
fn an_interrupted_session_still_fires_session_end() {
    let sandbox = sandbox();
    record_everything(&sandbox);
    let model = sandbox
        .script("turns: [{tool_calls: [{name: bash, input: {command: touch begun; sleep 600}}]}]");
    let child = sandbox.start(["run", "--headless", "--model", &model, "x"]);
    wait_until("the tool runs", || sandbox.project().join("begun").exists());
    assert!(send_signal("INT", child.id()));
    let _ = sandbox.finish(child).expect_code(130);
    assert_eq!(own(&sandbox, "session_end")["exit_reason"], "interrupted");
    assert_eq!(payloads(&sandbox, "after_agent").len(), 1);
    assert!(payloads(&sandbox, "before_stop").is_empty());
}

#[test]
fn the_stop_reason_names_the_turn_limit_and_rejected_calls() {
    let sandbox = sandbox();
    record_everything(&sandbox);
    let _ = sandbox
        .play("turns: [{tool_calls: [{name: todo}]}]", &["--max-turns", "1", "x"])
        .expect_code(5);
    let stop = own(&sandbox, "before_stop");
    assert_eq!((&stop["stop_reason"], &stop["final_message"]), (&json!("max_steps"), &Value::Null));
    let sandbox = crate::sandbox();
    record_everything(&sandbox);
    hook(&sandbox, "no", "before_tool", "", "exit 2");
    headless(&sandbox, "turns: [{tool_calls: [{name: todo}]}, {text: I give up.}]");
    assert_eq!(own(&sandbox, "before_stop")["stop_reason"], "tool_rejected");
    let event = own(&sandbox, "after_tool_failure");
    assert_eq!(event["tool_error"], "blocked by hook: blocked by the hook (exit code 2)");
    assert_eq!(event["tool_output"]["metadataType"], "blocked");
}
