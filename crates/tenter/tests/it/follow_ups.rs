//! `after_turn` and `agent_stop`: follow-ups, the cap on stop loops, mutation, callbacks.

use serde_json::Value;
use tenter_testkit::Sandbox;

use crate::{headless, sandbox};

/// Returns a field of each payload that a hook has written to the file `stops`.
fn read_stops(sandbox: &Sandbox, field: &str) -> Vec<Value> {
    sandbox.read_lines("stops").iter().map(|payload| payload[field].clone()).collect()
}

#[test]
fn a_tool_call_resets_the_continuation_count() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "endless",
        "agent_stop",
        r#"printf '%s\n' "$payload" >> stops; echo '{"follow_up_messages": ["again"]}'"#,
    );
    let turns =
        "{text: a}, {text: b}, {tool_calls: [{name: todo, input: {}}]}, {text: c}, {text: d}";
    let (_, code) = headless(&sandbox, &format!("turns: [{turns}]"));
    assert_eq!(code, 0);
    let counts = read_stops(&sandbox, "continuation_count");
    assert_eq!(counts[..4], [0, 1, 0, 1]);
}

#[test]
fn at_the_turn_limit_stop_hooks_run_and_their_follow_ups_are_ignored() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "stop",
        "agent_stop",
        r#"printf '%s\n' "$payload" > stop.json; echo '{"follow_up_messages": ["more"]}'"#,
    );
    let output = sandbox
        .play(
            "turns: [{tool_calls: [{name: todo, input: {}}]}, {text: never}]",
            &["--max-turns", "1", "x"],
        )
        .expect_code(5);
    assert!(output.stderr.contains("turn limit · "), "a user reads words: {output}");
    let list = sandbox.run("conversation list").stdout;
    assert!(list.contains("turn limit") && !list.contains("max_turns"), "{list}");
    let payload: Value = serde_json::from_str(&sandbox.read("stop.json")).unwrap();
    assert_eq!(payload["stop_reason"], "max_turns", "{output}");
    let message =
        "the hook stop requested a continuation, which is ignored: the turn limit is reached";
    assert_eq!(output.stderr.matches(message).count(), 1, "{output}");
    let log = sandbox.run("log").expect_code(0).stdout;
    assert!(log.contains("its follow-ups have no effect: the turn limit is reached"), "{log}");
}
#[test]
fn context_from_the_last_stop_is_read_when_the_conversation_continues() {
    let sandbox = sandbox();
    sandbox.sh_hook("note", "agent_stop", r#"echo '{"additional_context": "the build is red"}'"#);
    let model = sandbox.script("turns: [{text: Done.}]");
    assert_eq!(sandbox.run(["run", "--model", &model, "x"]).code, Some(0));
    let model = sandbox.script("turns: [{text: ok, expect: {contains: [the build is red]}}]");
    assert_eq!(sandbox.run(["run", "--follow", "--model", &model, "and now?"]).code, Some(0));
}

#[test]
fn a_stop_after_blocked_calls_is_reported_once() {
    let sandbox = sandbox();
    sandbox.sh_hook("guard", "before_tool_call", r#"echo '{"blocked": true, "reason": "no"}'"#);
    let once = r#"printf '%s\n' "$payload" >> stops; case "$payload" in *'"stop_hook_active": false'*) echo '{"follow_up_messages": ["again"]}';; esac"#;
    sandbox.sh_hook("stop", "agent_stop", once);
    let (_, code) = headless(
        &sandbox,
        "turns: [{tool_calls: [{name: todo, input: {}}]}, {text: I give up.}, {text: Still.}]",
    );
    assert_eq!(code, 0);
    assert_eq!(read_stops(&sandbox, "stop_reason"), ["tool_rejected", "no_tool_calls"]);
}
