//! Deadlines of a session, and asynchronous hooks that are left out or run alone: real hooks that hang.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenter_engine::inspect::AsynchronousHooks;
use tenter_engine::{
    DecisionKind, Engine, EventName, HookRun, MessageDecision, RunEnd, ToolDecision,
};
use tenter_testkit::with_growing_limits;

use crate::scene::{ObservedRuns, Scene, USER, scope, tool_call};

const HANGS: &str = "#!/bin/sh\nsleep 1000\n";
/// Marks in the project that it ran.
const MARKS: &str = "#!/bin/sh\necho \"$TENTER_HOOK_NAME\" >> \"$TENTER_PROJECT_DIR/ran\"\n";

fn manifest_hook(scene: &Scene, name: &str, fields: &str, script: &str) {
    scene.bare(USER, name, &format!("name: {name}\ndescription: d\n{fields}"));
    scene.file(&format!("{USER}/{name}/scripts/run"), script, 0o755);
}

fn engine(scene: &Scene, asynchronous: AsynchronousHooks) -> (Engine, Arc<ObservedRuns>) {
    let observed = Arc::new(ObservedRuns::default());
    let builder = scene.builder().observer(observed.clone()).asynchronous_hooks(asynchronous);
    (builder.build(scene.load().0), observed)
}

/// Returns a deadline after which a hook that hangs has started.
fn soon(factor: u32) -> Instant {
    Instant::now() + Duration::from_millis(200) * factor
}

fn runs(observer: &ObservedRuns) -> Vec<HookRun> {
    observer.runs.lock().unwrap().clone()
}

/// Returns the names of the hooks that left a mark.
fn marks(scene: &Scene) -> Vec<String> {
    let text = fs::read_to_string(scene.at("project/ran")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

const AT_DEADLINE: &str = "it was stopped at the deadline of the event, before its timeout of 60 s";
const TOO_LATE: &str = "it was not started: the deadline of the event had passed";

#[test]
fn a_hook_that_hangs_fails_closed_at_the_deadline() {
    with_growing_limits(hangs_and_fails_closed);
}

fn hangs_and_fails_closed(factor: u32) {
    let scene = Scene::new();
    manifest_hook(
        &scene,
        "slow",
        "trigger: before_tool\ntimeout: 60000\nmetadata: {fail: closed}",
        HANGS,
    );
    let (engine, observer) = engine(&scene, AsynchronousHooks::Run);
    let hooks = engine.session(scope("c")).with_deadline(soon(factor));
    let decision = hooks.before_tool(tool_call("bash", "ls"));
    let ToolDecision::Deny(denial) = decision else { panic!("{decision:?}") };
    assert!(denial.reason.contains(AT_DEADLINE), "{denial:?}");
    let [run] = &runs(&observer)[..] else { panic!("not one run") };
    assert_eq!((&run.end, run.decision), (&RunEnd::TimedOut, DecisionKind::Failed));
    assert_eq!(run.reason.as_deref(), Some(AT_DEADLINE));
}

#[test]
fn a_hook_that_hangs_passes_at_the_deadline_if_it_fails_open_and_later_hooks_have_failed() {
    with_growing_limits(hangs_and_fails_open);
}

fn hangs_and_fails_open(factor: u32) {
    let scene = Scene::new();
    manifest_hook(&scene, "a-slow", "trigger: before_agent\ntimeout: 60000", HANGS);
    manifest_hook(&scene, "b-late", "trigger: before_agent", MARKS);
    let (engine, observer) = engine(&scene, AsynchronousHooks::Run);
    let decision = engine.session(scope("c")).with_deadline(soon(factor)).before_agent("hello");
    assert!(matches!(decision, MessageDecision::Send { .. }), "{decision:?}");
    let runs = runs(&observer);
    let reasons: Vec<_> = runs.iter().map(|run| run.reason.as_deref().unwrap()).collect();
    assert_eq!(reasons, [AT_DEADLINE, TOO_LATE]);
    assert_eq!(runs[1].end, RunEnd::NotStarted);
    assert!(marks(&scene).is_empty());
}

#[test]
fn a_hook_that_cannot_start_in_time_denies_if_it_fails_closed() {
    let scene = Scene::new();
    manifest_hook(&scene, "guard", "trigger: before_tool\nmetadata: {fail: closed}", MARKS);
    let (engine, _) = engine(&scene, AsynchronousHooks::Run);
    let hooks = engine.session(scope("c")).with_deadline(Instant::now());
    let decision = hooks.before_tool(tool_call("bash", "ls"));
    let ToolDecision::Deny(denial) = decision else { panic!("{decision:?}") };
    assert!(denial.reason.contains(TOO_LATE), "{denial:?}");
    assert!(marks(&scene).is_empty());
}

#[test]
fn a_hooks_own_timeout_counts_if_it_is_sooner_than_the_deadline() {
    let scene = Scene::new();
    manifest_hook(&scene, "slow", "trigger: before_tool\ntimeout: 100", HANGS);
    let (engine, observer) = engine(&scene, AsynchronousHooks::Run);
    let deadline = Instant::now() + Duration::from_mins(1);
    let _ = engine.session(scope("c")).with_deadline(deadline).before_tool(tool_call("bash", "ls"));
    assert_eq!(runs(&observer)[0].reason.as_deref(), Some("timed out after 100 ms"));
}

#[test]
fn a_static_hook_decides_after_the_deadline() {
    let scene = Scene::new();
    let fields = "trigger: before_tool\nmetadata: {action: deny, reason: not here}";
    scene.bare(USER, "guard", &format!("name: guard\ndescription: d\n{fields}"));
    let (engine, _) = engine(&scene, AsynchronousHooks::Run);
    let hooks = engine.session(scope("c")).with_deadline(Instant::now());
    let decision = hooks.before_tool(tool_call("bash", "ls"));
    let ToolDecision::Deny(denial) = decision else { panic!("{decision:?}") };
    assert!(denial.reason.contains("not here"), "{denial:?}");
}

/// Returns an awaited and an asynchronous hook that mark that they ran; the asynchronous one applies to `git`.
fn both_kinds() -> Scene {
    let scene = Scene::new();
    manifest_hook(&scene, "awaited", "trigger: before_tool", MARKS);
    let matcher = "matcher: {tool: bash, pattern: git}";
    let script = format!("{MARKS}echo '{{\"additional_context\": \"CI is red\"}}'\n");
    let fields = format!("trigger: before_tool\nasync: true\ntimeout: 60000\n{matcher}");
    manifest_hook(&scene, "background", &fields, &script);
    scene
}

#[test]
fn asynchronous_hooks_can_be_left_out() {
    let scene = both_kinds();
    let (engine, _) = engine(&scene, AsynchronousHooks::Skip);
    let hooks = engine.session(scope("c"));
    let call = tool_call("bash", "git push");
    assert!(hooks.has_asynchronous(EventName::BeforeTool, Some(&call)));
    assert!(!hooks.has_asynchronous(EventName::BeforeTool, Some(&tool_call("bash", "ls"))));
    assert!(!hooks.has_asynchronous(EventName::SessionStart, None));
    let _ = hooks.before_tool(call);
    engine.drain(Duration::from_mins(1));
    assert_eq!(marks(&scene), ["awaited"]);
}

#[test]
fn asynchronous_hooks_can_run_alone_and_are_awaited() {
    let scene = both_kinds();
    let (engine, observer) = engine(&scene, AsynchronousHooks::Only);
    let hooks = engine.session(scope("c"));
    let _ = hooks.before_tool(tool_call("bash", "git push"));
    assert_eq!(marks(&scene), ["background"]);
    let late = hooks.take_late_replies();
    assert_eq!(late[0].context.as_deref(), Some("CI is red"));
    assert_eq!(runs(&observer).len(), 1);
    assert!(observer.decisions.lock().unwrap().is_empty());
}

#[test]
fn an_asynchronous_hook_that_is_awaited_ends_at_the_deadline() {
    with_growing_limits(hangs_in_the_background);
}

fn hangs_in_the_background(factor: u32) {
    let scene = Scene::new();
    let fields = "trigger: before_tool\nasync: true\ntimeout: 60000";
    manifest_hook(&scene, "background", fields, HANGS);
    let (engine, observer) = engine(&scene, AsynchronousHooks::Only);
    let hooks = engine.session(scope("c")).with_deadline(soon(factor));
    let _ = hooks.before_tool(tool_call("bash", "ls"));
    assert_eq!(runs(&observer)[0].reason.as_deref(), Some(AT_DEADLINE));
}
