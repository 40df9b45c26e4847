//! Many events in one process: `tenter-hook HOST --serve`.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use tenter_bridge::Visitor;
use tenter_bridge::payload::Payload;

use crate::host_session::{HostSession, fixtures};

const HOST: &str = "claude-code";

fn request(session: &HostSession, id: impl Into<Value>, fixture: &str) -> Value {
    let event = session.event(fixture);
    let payload = session.payload(fixture);
    json!({"id": id.into(), "event": event, "cwd": payload["cwd"].clone(), "payload": payload})
}

fn judge(session: &HostSession) {
    for (name, event, reply) in [
        ("start", "session_start", r#"{"additional_context": "Hello."}"#),
        ("prompt", "before_agent", r#"{"additional_context": "Mind the gap."}"#),
        ("shell", "before_tool", r#"{"decision": "deny", "reason": "not now"}"#),
        ("result", "after_tool", r#"{"additional_context": "Well done."}"#),
        ("stop", "before_stop", r#"{"follow_up_messages": ["Run the tests."]}"#),
    ] {
        session.reply(name, event, reply);
    }
}

#[test]
fn every_recorded_event_gets_the_answer_that_a_process_of_its_own_gives() {
    for host in [HOST, "opencode", "pi"] {
        for entry in fs::read_dir(fixtures(host)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let fixture = name.strip_suffix(".json").unwrap();
            let (alone, served) = (HostSession::new(host), HostSession::new(host));
            judge(&alone);
            judge(&served);
            let output = alone.fire(fixture);
            let expected = HostSession::read_answer(output.clone()).to_string();
            let responses = served.serve(&[request(&served, 1, fixture)]);
            assert_eq!(responses.len(), 1, "{host} {fixture}");
            let answer = responses[0]["answer"].to_string();
            let normal = |text: &str, root: &str| output.normal(&text.replace(root, "[ROOT]"));
            let roots =
                [&served, &alone].map(|session| session.sandbox.root().display().to_string());
            assert_eq!(
                normal(&answer, &roots[0]),
                normal(&expected, &roots[1]),
                "{host} {fixture}"
            );
        }
    }
}

#[test]
fn sessions_end_when_stdin_closes_unless_they_ended_before() {
    let session = HostSession::new("pi");
    session.hook("end", "session_end", "", r#"echo "$payload" >> "$HOME/ends""#);
    let requests = ["one", "two", "three"].map(|id| {
        let mut request = request(&session, id, "input");
        request["payload"]["session"] = id.into();
        request
    });
    let mut end =
        json!({"id": 4, "event": "session_shutdown", "cwd": "/", "payload": {"session": "two"}});
    end["payload"]["input"] = json!({"reason": "new"});
    let mut process = session.start_serving();
    for request in requests.iter().chain([&end]) {
        process.send(request);
        process.receive();
    }
    drop(process);
    let ends = fs::read_to_string(session.sandbox.home().join("ends")).unwrap();
    let ids: Vec<String> = ends
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["session_id"].to_string())
        .collect();
    assert_eq!(ids, ["\"two\"", "\"one\"", "\"three\""]);
}

#[test]
fn many_requests_are_open_at_once_and_the_first_answer_is_the_first_that_is_ready() {
    let session = HostSession::new(HOST);
    // All slow calls run at once, and none ends before the first answer is there.
    let script = r#"case "$payload" in *slow*)
        : > "$HOME/begun.$$"
        until [ -e "$HOME/go" ] && set -- "$HOME"/begun.* && [ $# = 8 ]; do sleep 0.01; done
        echo no >&2; exit 2;; esac"#;
    session.hook("guard", "before_tool", "", script);
    session.pass("SessionStart");
    let requests = (0..16).map(|id| {
        let mut request = request(&session, id, "PreToolUse.Bash");
        let command = if id < 8 { "slow" } else { "fine" };
        request["payload"]["tool_input"]["command"] = format!("{command} {id}").into();
        request["payload"]["tool_use_id"] = format!("call-{id}").into();
        request
    });
    let mut process = session.start_serving();
    requests.for_each(|request| process.send(&request));
    let mut ids = BTreeSet::new();
    for number in 0..16 {
        let response = process.receive();
        let id = response["id"].as_u64().unwrap();
        assert_eq!(!response["answer"].is_null(), id < 8, "{response}");
        assert!(number > 0 || id >= 8, "{response}");
        ids.insert(id);
        fs::write(session.sandbox.home().join("go"), "").unwrap();
    }
    assert_eq!(ids, (0..16).collect());
}

#[test]
fn lines_that_cannot_be_read_are_answered_and_the_next_is_not_lost() {
    let session = HostSession::new(HOST);
    session.hook("guard", "before_tool", "metadata: {fail: closed}", "exit 0");
    let mut long = request(&session, "long", "PreToolUse.Write");
    long["payload"]["tool_input"]["content"] = "x".repeat(17 << 20).into();
    let good = request(&session, "good", "PreToolUse.Bash").to_string();
    let line = &good.replace("\"good\"", "\"broken\"")[..200];
    let lines = [long.to_string(), "not JSON".to_owned(), String::new(), line.to_owned(), good];
    let responses = session.serve_lines(&lines.join("\n"));
    let answer = |id: &str| {
        let response = responses.iter().find(|response| response["id"] == id);
        response.unwrap_or_else(|| panic!("{id}: {responses:?}")).clone()
    };
    for (id, why) in [("long", "longer than 16 MiB"), ("broken", "not JSON")] {
        let reason = &answer(id)["answer"]["hookSpecificOutput"]["permissionDecisionReason"];
        assert!(reason.as_str().unwrap().contains(why), "{reason}");
        assert!(answer(id)["warnings"][0].as_str().unwrap().contains(why), "{id}");
    }
    assert!(answer("good")["answer"].is_null());
    let unnamed = responses.iter().filter(|response| response["id"].is_null());
    assert_eq!(unnamed.count(), 2, "{responses:?}");
}

#[test]
fn unknown_events_are_reported_with_their_id() {
    let session = HostSession::new(HOST);
    let responses = session.serve(&[json!({"id": 4, "event": "PreToolUs", "payload": {}})]);
    assert_eq!(responses[0]["id"], 4);
    let warning = responses[0]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("did you mean \"PreToolUse\"?"), "{warning}");
}

#[test]
fn hooks_that_change_between_two_requests_count_for_the_second() {
    let session = HostSession::new(HOST);
    let before = session.serve(&[request(&session, 1, "PreToolUse.Bash")]);
    assert!(before[0]["answer"].is_null());
    let mut child = session.start_serving();
    child.send(&request(&session, 1, "PreToolUse.Bash"));
    assert!(child.receive()["answer"].is_null());
    session.hook("guard", "before_tool", "", "echo no >&2; exit 2");
    child.send(&request(&session, 2, "PreToolUse.Bash"));
    let denial = child.receive();
    assert_eq!(denial["answer"]["hookSpecificOutput"]["permissionDecision"], "deny", "{denial}");
}

/// A change, by name, and whether the call is denied afterwards.
type FileEdit = (&'static str, fn(&HostSession), bool);

#[test]
fn hooks_that_are_kept_in_memory_are_loaded_again_when_a_file_changes() {
    const SHELL: &str = "matcher:\n  tool: ^Bash$";
    const DENY: &str = "echo no >&2; exit 2";
    let changes: [FileEdit; 5] = [
        ("nothing", |_| {}, true),
        (
            "a manifest",
            |session| drop(session.hook("guard", "before_tool", "matcher:\n  tool: ^Write$", DENY)),
            false,
        ),
        ("a script", |session| drop(session.hook("guard", "before_tool", SHELL, "exit 0")), false),
        (
            "a hook that is removed",
            |session| {
                let hooks = session.sandbox.home().join(".config/agents/hooks");
                fs::rename(hooks.join("guard"), hooks.join(".guard")).unwrap();
            },
            false,
        ),
        ("settings", |session| session.configure("[hooks]\nenabled = false\n"), false),
    ];
    for (what, change, is_denied) in changes {
        let session = HostSession::new(HOST);
        session.hook("guard", "before_tool", SHELL, DENY);
        session.pass("SessionStart");
        let fixture = "PreToolUse.Bash";
        let visitor = Visitor { memory: Some(Arc::default()), ..session.later_visitor(fixture) };
        let decision = || {
            let payload = session.payload(fixture).to_string();
            let visit = visitor.run(Payload::parse(payload.as_bytes()));
            visit.answer.is_some_and(|answer| answer.contains("\"deny\""))
        };
        assert!(decision() && decision(), "{what}");
        change(&session);
        assert_eq!(decision(), is_denied, "{what}");
    }
}
