//! One hook, run once.

use std::fs;

use tenter_engine::environment::HookEnvironment;
use tenter_engine::{EngineSettings, Request, TestRun, test_run};
use tenter_protocol::reply::VerdictKind;

use crate::scene::{PROJECT, Scene, USER};

fn now() -> jiff::Timestamp {
    jiff::Timestamp::UNIX_EPOCH
}

/// What the one hook of the scene does when it is told `payload`.
fn tried(scene: &Scene, payload: &str, before: impl FnOnce()) -> TestRun {
    let (catalog, _) = scene.load();
    let hook = &catalog.hooks()[0];
    let request = Request {
        subscription: hook.subscriptions[0],
        session_id: "s1".to_owned(),
        payload: payload.to_owned(),
    };
    let settings = EngineSettings {
        project: scene.places.project.clone(),
        environment: HookEnvironment::new(
            &vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            &[],
        ),
        clock: now,
        observers: Vec::new(),
        callbacks: None,
    };
    before();
    test_run(hook, request, &settings, &scene.cancel)
}

#[test]
fn a_hook_is_told_exactly_the_payload_and_all_it_wrote_comes_back() {
    let scene = Scene::new();
    let script = "#!/bin/sh
if [ \"$1\" = hook ]; then echo before_tool_call; exit 0; fi
cat >&2
echo \"$TENTER_EVENT $TENTER_SESSION_ID $TENTER_HOOK_NAME\" >&2
echo '{\"blocked\": true, \"reason\": \"no\"}'
";
    scene.hook(USER, "guard", script);
    let trial = tried(&scene, "{\"anything\": 1}\n", || {});
    assert_eq!(trial.answer.unwrap().verdict.unwrap().kind, VerdictKind::Deny);
    assert_eq!(trial.exit, "exit 0");
    assert_eq!(trial.stdout.text(), "{\"blocked\": true, \"reason\": \"no\"}\n");
    assert_eq!(trial.stderr.text(), "{\"anything\": 1}\nbefore_tool_call s1 guard\n");
}

#[test]
fn a_trusted_hook_that_was_changed_since_it_was_loaded_does_not_run() {
    let scene = Scene::gated();
    let path = scene.hook(PROJECT, "guard", crate::scene::GUARD);
    scene.trust_all();
    let trial = tried(&scene, "{}\n", || {
        fs::write(&path, "#!/bin/sh\ntouch \"$TENTER_PROJECT_DIR/ran\"\n").unwrap();
    });
    let failure = trial.answer.unwrap_err();
    assert!(failure.contains("was changed after it was loaded"), "{failure}");
    assert_eq!(trial.exit, "not started");
    assert!(!scene.at("project/ran").exists());
}
