//! One hook, run once.

use std::fs;

use serde_json::json;
use tenter_engine::inspect::{Catalog, HookTest, TestRun};
use tenter_engine::{DecisionKind, RunEnd};
use tenter_protocol::{Body, Event, Object, ToolCall};

use crate::scene::{PROJECT, Scene, USER, scope};

/// Tests the one hook of the scene on `payload`, before a call of bash.
fn tested(scene: &Scene, payload: &Object, before: impl FnOnce()) -> Option<TestRun> {
    let (catalog, _) = scene.load();
    let hook = &catalog.hooks()[0];
    let input = Object::from_iter([("command".to_owned(), json!("ls"))]);
    let call = ToolCall { id: "1".into(), name: "bash".into(), input };
    let event = Event { scope: scope("s1"), body: Body::BeforeTool(call) };
    let test = HookTest { event: &event, subscription: hook.subscriptions[0], payload };
    before();
    scene.builder().build(Catalog::default()).test(hook, test, &scene.cancel)
}

fn payload() -> Object {
    Object::from_iter([("anything".to_owned(), json!(1))])
}

#[test]
fn a_test_run_passes_the_exact_payload_and_returns_the_whole_output() {
    let scene = Scene::new();
    let script = "#!/bin/sh
if [ \"$1\" = hook ]; then echo before_tool_call; exit 0; fi
cat >&2
echo \"$TENTER_EVENT $TENTER_SESSION_ID $TENTER_HOOK_NAME\" >&2
echo '{\"blocked\": true, \"reason\": \"no\"}'
";
    scene.hook(USER, "guard", script);
    let test = tested(&scene, &payload(), || {}).unwrap();
    assert_eq!(test.outcome.denied(), Some(("guard", "no")));
    assert_eq!((test.run.decision, test.run.record.end), (DecisionKind::Deny, RunEnd::Exited(0)));
    assert_eq!(test.stdout.text(), "{\"blocked\": true, \"reason\": \"no\"}\n");
    assert_eq!(test.stderr.text(), "{\"anything\": 1}\nbefore_tool_call s1 guard\n");
}

#[test]
fn an_ineffective_rewrite_is_no_decision_in_a_test_run() {
    let scene = Scene::new();
    let script = "#!/bin/sh
if [ \"$1\" = hook ]; then echo before_tool_call; exit 0; fi
echo '{\"input\": {\"command\": \"ls\"}}'
";
    scene.hook(USER, "same", script);
    let test = tested(&scene, &payload(), || {}).unwrap();
    assert_eq!((test.run.decision, test.run.record.change), (DecisionKind::None, None));
}

#[test]
fn a_trusted_hook_that_was_changed_since_it_was_loaded_does_not_run() {
    let scene = Scene::gated();
    let path = scene.hook(PROJECT, "guard", crate::scene::GUARD);
    scene.trust_all();
    let test = tested(&scene, &payload(), || {
        fs::write(&path, "#!/bin/sh\ntouch \"$TENTER_PROJECT_DIR/ran\"\n").unwrap();
    });
    let TestRun { run, outcome, .. } = test.unwrap();
    let reason = run.reason.clone().unwrap();
    assert!(reason.contains("was changed after it was loaded"), "{reason}");
    assert_eq!(run.end, RunEnd::NotStarted);
    assert!(outcome.denied().is_some() && outcome.denied_by_failure);
    assert!(!scene.at("project/ran").exists());
}
