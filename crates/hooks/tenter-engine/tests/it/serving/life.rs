//! When processes are started, how they end, and what a death means for the event.

use std::time::{Duration, Instant};

use tenter_engine::{DecisionKind, RunEnd, Transport};
use tenter_proc::Cancel;

use tenter_testkit::with_growing_limits;

use super::stage::{
    DENY, FOREVER, Script, Stage, exists, failed, is_served, is_timed_out, until, until_gone,
};
use crate::scene::{PROJECT_AGENTS, Scene, USER, USER_AGENTS};

#[test]
fn one_process_answers_several_events_and_ends_with_the_session() {
    let script = Script {
        start: r#"echo "$#:$1:${TENTER_EVENT-none}:${TENTER_SESSION_ID-none}:$PYTHONDONTWRITEBYTECODE:$TENTER_HOOK_NAME" > "$TENTER_PROJECT_DIR/started""#,
        initialize: r#"printf '%s\n' "$line" > "$TENTER_PROJECT_DIR/initialize"; respond '{"protocol": 1}'"#,
        event: r#"printf '%s\n' "$line" > "$TENTER_PROJECT_DIR/line"; respond '{"decision": "deny", "reason": "served"}'"#,
        ..Script::default()
    };
    let stage = Stage::new(&script);
    assert!(stage.pids().is_empty(), "it is not started before an event");
    for _ in 0..3 {
        assert_eq!(stage.reason(), "served");
    }
    let run = stage.last();
    assert!(is_served(&run) && run.end == RunEnd::Answered && run.decision == DecisionKind::Deny);
    assert_eq!(stage.lines("started"), ["1:serve:none:none:1:hook"]);
    let initialize: serde_json::Value =
        serde_json::from_str(&stage.lines("initialize")[0]).unwrap();
    let project = stage.scene.layout.project.display().to_string();
    assert_eq!(
        initialize["params"],
        serde_json::json!({"protocol": 1, "hook": "hook", "project": project, "host": "tenter", "events": ["before_tool"], "services": []})
    );
    let request: serde_json::Value = serde_json::from_str(&stage.lines("line")[0]).unwrap();
    assert_eq!(request["params"]["event_type"], "before_tool");
    let pids = stage.pids();
    assert_eq!(pids.len(), 1);
    stage.engine.drain(FOREVER);
    assert!(!exists(pids[0]), "it has ended when drain returns");
    assert_eq!(stage.heard().last().unwrap(), "shutdown");
    assert_eq!(stage.reason(), "served");
    assert_eq!(stage.pids().len(), 2, "it is started again");
    let second = stage.pids()[1];
    drop(stage.engine);
    assert!(!exists(second), "dropping the engine ends it");
}

#[test]
fn an_executable_that_says_serve_is_served() {
    let scene = Scene::new();
    scene.hook(
        USER,
        "exec",
        r#"#!/bin/sh
case $1 in
hook) echo before_tool_call; [ "$TENTER_SERVE" = 1 ] && echo serve; exit 0;;
run) [ -z "$TENTER_SERVE" ] && echo '{"blocked": true, "reason": "one-shot"}'; exit;;
esac
while read -r line; do
    id=${line#*'"id": '}; id=${id%%,*}
    case $line in
    *'"method": "initialize"'*) result='{}';;
    *'"method": "before_tool_call"'*) result='{"blocked": true, "reason": "served"}';;
    esac
    printf '{"jsonrpc": "2.0", "id": %s, "result": %s}\n' "$id" "$result"
done
"#,
    );
    let stage = Stage::in_scene(scene);
    assert_eq!(stage.reason(), "served");
    assert!(is_served(&stage.last()));
    let again = Stage::in_scene(stage.scene);
    assert_eq!(again.reason(), "served", "from the cache");
}

#[test]
fn the_call_that_was_alone_when_the_process_died_fails_and_the_next_event_starts_another() {
    let stage = Stage::new(&Script::event("echo about to die >&2; exit 3"));
    stage.fire();
    let run = stage.last();
    let (is_failed, end, reason) = failed(&run);
    assert!(is_failed && end == RunEnd::Exited(3), "{run:?}");
    assert_eq!(reason, "its process exited with code 3");
    assert_eq!(run.stderr_tail, "about to die");
    stage.fire();
    assert_eq!(stage.pids().len(), 2);
    assert_eq!(stage.one_shot_runs(), 0);
}

#[test]
fn after_three_deaths_in_a_minute_it_runs_once_per_event_which_is_reported_once() {
    let stage = Stage::new(&Script::event("kill -9 $$"));
    (0..3).for_each(|_| drop(stage.fire()));
    assert_eq!(stage.last().end, RunEnd::Signal(9));
    for _ in 0..2 {
        assert_eq!(stage.reason(), "one-shot");
        assert_eq!(stage.last().transport, Some(Transport::OneShot));
    }
    assert_eq!(stage.pids().len(), 3);
    let warned: Vec<String> =
        stage.runs().into_iter().flat_map(|run| run.record.warnings).collect();
    let [warning] = &warned[..] else { panic!("{warned:?}") };
    assert!(
        warning.contains("3 times within a minute") && warning.contains("signal 9"),
        "{warning}"
    );
}

#[test]
fn a_hook_without_a_one_shot_form_fails_when_its_process_does() {
    let script =
        Script { metadata: "  runtime: serve-only\n", event: "exit 3", ..Script::default() };
    let stage = Stage::new(&script);
    (0..5).for_each(|_| drop(stage.fire()));
    assert_eq!((stage.pids().len(), stage.one_shot_runs()), (3, 0));
    let (is_failed, end, reason) = failed(&stage.last());
    assert!(is_failed && end == RunEnd::NotStarted && reason.contains("3 times"), "{reason}");
}

#[test]
fn a_process_that_died_between_two_events_is_replaced_without_a_failure() {
    let script = Script::event(
        r#"respond '{"decision": "deny", "reason": "served"}'; exec >&- 2>&-; exit 0"#,
    );
    let stage = Stage::new(&script);
    assert_eq!(stage.reason(), "served");
    until_gone(stage.pids()[0]);
    assert_eq!(stage.reason(), "served");
    assert_eq!((stage.pids().len(), stage.one_shot_runs()), (2, 0));
}

#[test]
fn a_hook_that_does_not_start_to_serve_runs_once_per_event() {
    for (initialize, start, why) in [
        (
            r#"respond '{"protocol": 7}'"#,
            "",
            "version 7 of the runtime protocol; this is version 1",
        ),
        ("respond null", "", "something else than an object"),
        (r#"respond '{"concurrency": 0}'"#, "", "`concurrency` of 0"),
        (
            r#"printf '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}\n'"#,
            "",
            "with an error: no",
        ),
        ("respond '{}'", "exit 4", "exited with code 4"),
        ("respond '{}'", "echo hello", "not JSON: \"hello\"; print to stderr instead"),
    ] {
        let stage = Stage::new(&Script { start, initialize, ..Script::default() });
        assert_eq!(stage.reason(), "one-shot");
        let run = stage.last();
        assert_eq!(run.transport, Some(Transport::OneShot));
        assert!(
            run.warnings.iter().any(|warning| warning.contains(why)),
            "{why}: {:?}",
            run.warnings
        );
        let script =
            Script { metadata: "  runtime: serve-only\n", start, initialize, ..Script::default() };
        let stage = Stage::new(&script);
        stage.fire();
        let (is_failed, _, reason) = failed(&stage.last());
        assert!(is_failed && reason.contains(why), "{why}: {reason}");
    }
}

#[test]
fn a_process_that_does_not_answer_initialize_is_given_five_seconds() {
    let stage = Stage::new(&Script { initialize: ":", ..Script::default() });
    let start = Instant::now();
    assert_eq!(stage.reason(), "one-shot");
    assert!(start.elapsed() >= Duration::from_secs(5));
    let warnings = stage.last().record.warnings;
    assert!(warnings[0].contains("did not answer `initialize` within 5 s"), "{warnings:?}");
    until_gone(stage.pids()[0]);
}

#[test]
fn a_timeout_cancels_the_request_and_kills_a_process_that_does_not_react() {
    let script =
        Script { manifest: "timeout: 200\n", event: "exec sleep 1000", ..Script::default() };
    let stage = Stage::new(&script);
    let start = Instant::now();
    stage.fire();
    assert!(start.elapsed() >= Duration::from_millis(700), "it has half a second to react");
    let (is_failed, end, reason) = failed(&stage.last());
    assert!(is_failed && end == RunEnd::TimedOut, "{reason}");
    assert_eq!(reason, "timed out after 200 ms");
    until_gone(stage.pids()[0]);
}

#[test]
fn a_process_that_answers_a_cancelled_request_lives_on() {
    with_growing_limits(answers_a_cancelled_request);
}

fn answers_a_cancelled_request(factor: u32) {
    let script = Script {
        manifest: format!("timeout: {}\n", 200 * factor).leak(),
        event: "[ \"$(cat \"$TENTER_PROJECT_DIR/heard\" | wc -l)\" -gt 2 ] && respond '{\"decision\": \"deny\", \"reason\": \"served\"}'; slow=$id",
        cancel: "id=$slow; respond null",
        ..Script::default()
    };
    let stage = Stage::new(&script);
    stage.fire();
    assert!(is_timed_out(&stage), "{:?}", stage.last());
    assert_eq!(stage.reason(), "served");
    assert_eq!(stage.heard(), ["initialize", "before_tool", "cancel", "before_tool"]);
    assert_eq!(stage.pids().len(), 1);
}

#[test]
fn an_interrupted_agent_cancels_the_request() {
    let script = Script {
        event: r#"slow=$id; : > "$TENTER_PROJECT_DIR/begun""#,
        cancel: "id=$slow; respond null",
        ..Script::default()
    };
    let stage = Stage::new(&script);
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let firing = scope.spawn(|| stage.fire_until(&cancel));
        until("it runs", || stage.file("begun").exists());
        cancel.cancel();
        firing.join().unwrap();
    });
    let (is_failed, end, _) = failed(&stage.last());
    assert!(is_failed && end == RunEnd::Cancelled);
    assert!(exists(stage.pids()[0]));
}

#[test]
fn a_changed_hook_of_the_users_is_started_again() {
    let stage = Stage::new(&Script::default());
    assert_eq!(stage.reason(), "served");
    let first = stage.pids()[0];
    Script::event(r#"respond '{"decision": "deny", "reason": "changed"}'"#).write(
        &stage.scene,
        USER_AGENTS,
        "hook",
    );
    assert_eq!(stage.reason(), "changed");
    until_gone(first);
}

#[test]
fn a_changed_hook_of_the_project_is_ended_and_does_not_run() {
    let scene = Scene::gated();
    Script::default().write(&scene, PROJECT_AGENTS, "hook");
    scene.trust_all();
    let stage = Stage::in_scene(scene);
    assert_eq!(stage.reason(), "served");
    let first = stage.pids()[0];
    Script::event("respond null").write(&stage.scene, PROJECT_AGENTS, "hook");
    assert!(stage.reason().contains("changed after it was loaded"));
    until_gone(first);
    assert_eq!(stage.pids().len(), 1);
    stage.scene.trust_all();
    stage.fire();
    assert!(is_served(&stage.last()), "{:?}", stage.last());
    assert_eq!(stage.pids().len(), 2, "it is trusted in its new state");
}

#[test]
fn an_asynchronous_hook_is_served_and_drained_before_the_shutdown() {
    let script = Script {
        manifest: "async: true\n",
        event: "sleep 0.2; respond '{\"additional_context\": \"late\"}'",
        ..Script::default()
    };
    let scene = Scene::new();
    script.write(&scene, USER_AGENTS, "hook");
    let stage = Stage::in_scene(scene);
    stage.fire();
    stage.engine.drain(FOREVER);
    let run = stage.last();
    assert!(is_served(&run) && run.asynchronous && run.decision == DecisionKind::None, "{run:?}");
    assert_eq!(stage.engine.take_late_replies("c").len(), 1);
    assert_eq!(stage.heard(), ["initialize", "before_tool", "shutdown"]);
}

#[test]
fn children_of_a_process_do_not_survive_it() {
    let script = Script {
        start: r#"(trap '' TERM HUP; exec sleep 1000) >/dev/null 2>&1 & echo $! > "$TENTER_PROJECT_DIR/child""#,
        event: DENY,
        ..Script::default()
    };
    let stage = Stage::new(&script);
    assert_eq!(stage.reason(), "served");
    let child = stage.lines("child")[0].parse().unwrap();
    assert!(exists(child));
    stage.engine.drain(FOREVER);
    until_gone(child);
}
