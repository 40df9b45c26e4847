//! Each recorded payload, what hooks read at it, and the answers to what they decide, compared with a file in `tests/golden`.
//! `TENTER_UPDATE=1` writes these files.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, thread};

use serde_json::Value;
use tenter_bridge::hosts;

use crate::host_session::{HostSession, fixtures};

/// Every event of manifest hooks, and what a hook can want there that hosts treat differently.
const EVENTS: &[(&str, &[&str])] = &[
    ("session_start", &["deny", "context"]),
    ("before_agent", &["deny", "context", "message"]),
    ("before_tool", &["deny", "ask", "context", "input"]),
    ("after_tool", &["deny", "context", "output"]),
    ("after_tool_failure", &["deny", "context"]),
    ("after_turn", &["context"]),
    ("before_stop", &["deny", "continue", "context"]),
    ("after_agent", &["deny"]),
    ("subagent_start", &["deny"]),
    ("subagent_stop", &["deny"]),
    ("pre_compact", &["deny", "context"]),
    ("post_compact", &["deny"]),
    ("session_end", &["deny"]),
];

fn reply(wish: &str) -> &'static str {
    match wish {
        "deny" => r#"{"decision": "deny", "reason": "not now"}"#,
        "ask" => r#"{"decision": "ask", "reason": "really?"}"#,
        "context" => r#"{"additional_context": "Mind the gap."}"#,
        "message" => r#"{"modified_prompt": "Other text"}"#,
        "input" => {
            r#"{"modified_input": {"command": "true", "file_path": "/other", "question": "Other task"}}"#
        }
        "output" => r#"{"modified_output": {"metadata": {"output": "[masked]"}}}"#,
        "continue" => r#"{"follow_up_messages": ["Run the tests."]}"#,
        other => panic!("{other}"),
    }
}

/// Returns the payloads that hooks read at the event of a fixture: one line for each event of Tenter's.
fn payloads(host: &'static str, fixture: &str) -> String {
    let session = HostSession::registered(host);
    prepare(&session, fixture);
    for (event, _) in EVENTS {
        session.hook(
            event.replace('_', "-").as_str(),
            event,
            "",
            r#"printf '%s\n' "$payload" >> "$HOME/log""#,
        );
    }
    let output = session.fire(fixture).expect_code(0);
    let log = session.sandbox.home().join("log");
    let log = output.normal(&fs::read_to_string(log).unwrap_or_default());
    let log = without_made_up_ids(&log);
    match log.split_once("\"duration_seconds\": ") {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
            format!("{before}\"duration_seconds\": [SECONDS]{rest}")
        }
        None => log,
    }
}

/// Removes the ids that the bridge creates, which depend on the sandbox's directories.
fn without_made_up_ids(text: &str) -> String {
    let mut parts = text.split("\"tenter-");
    let mut normal = parts.next().unwrap().to_owned();
    for part in parts {
        normal.push_str("\"tenter-[ID]");
        normal.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    normal
}

/// Returns the answer if a hook of `event` replies with `wish`; `None` if the event does not fire.
fn answer(host: &'static str, fixture: &str, event: &str, wish: &str) -> String {
    let session = HostSession::registered(host);
    prepare(&session, fixture);
    session.hook("judge", event, "", &format!("echo '{}'", reply(wish)));
    let output = session.fire(fixture);
    let normal = |answer: String| output.normal(&answer);
    let answer = HostSession::read_answer(output.clone());
    normal(answer.to_string())
}

/// Fires what comes before the event in a session, before there are hooks.
fn prepare(session: &HostSession, fixture: &str) {
    let (start, field) = session.start();
    let payload = session.payload(fixture);
    let is_of_subagent = [&payload["agent_id"], &payload["agentId"], &payload["agent"]["id"]]
        .iter()
        .any(|id| id.is_string())
        // Cline's main agent has an id, too.
        && payload.get("parent_agent_id").is_none_or(Value::is_string);
    let (call, begin) = session.subagent();
    if !fixture.starts_with(start) || is_of_subagent {
        let caller = if is_of_subagent { session.payload(call) } else { payload };
        let id = caller[field].clone();
        let _ = session.fire_with(start, |start| start[field] = id).expect_code(0);
    }
    if is_of_subagent {
        session.pass(call);
        if fixture != begin {
            session.pass(begin);
        }
    }
    if fixture == "preToolUse.bash.nested" {
        session.pass("subagentStart.nested");
    }
}

fn golden(host: &'static str, fixture: &str) -> String {
    let payloads = payloads(host, fixture);
    let fires = |event: &str| payloads.contains(&format!("\"{event}\""));
    let mut text = format!("# What hooks read\n\n{payloads}\n# Answers\n\n");
    for (event, wishes) in EVENTS.iter().filter(|(event, _)| fires(event)) {
        for wish in *wishes {
            let answer = answer(host, fixture, event, wish);
            writeln!(text, "{event} {wish}: {answer}").unwrap();
        }
    }
    text
}

#[test]
fn every_event_of_every_host_has_the_expected_payloads_and_answers() {
    let hosts = hosts::ALL.iter().map(|host| host.id).chain(["copilot-in-claude"]);
    thread::scope(|scope| {
        for host in hosts {
            scope.spawn(move || compare(host));
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "the author's wish to update the files")]
fn update() -> bool {
    std::env::var_os("TENTER_UPDATE").is_some()
}

fn compare(host: &'static str) {
    let mut names: Vec<String> = fs::read_dir(fixtures(host))
        .unwrap()
        .map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".json").unwrap().to_owned()
        })
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for name in names {
        let actual = golden(host, &name);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(host);
        let path = path.join(format!("{name}.txt"));
        if update() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &actual).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            actual == expected,
            "{}\n--- expected\n{expected}\n--- actual\n{actual}",
            path.display()
        );
    }
}
