//! Replies of asynchronous hooks that arrive after the agent has continued: real processes, blocked until the test
//! releases them.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tenter_engine::{Cancel, DecisionKind, Engine, HookRun, LateReply, Observer};
use tenter_protocol::{Body, Event, EventName};

use crate::builtin::turn;
use crate::scene::{ObservedRuns, Scene, USER, scope};

/// No hook of these tests takes so long.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Adds an asynchronous hook that answers so, once there is a file `go` in the project.
fn asynchronous_hook(scene: &Scene, name: &str, trigger: &str, answer: &str) {
    scene.bare(
        USER,
        name,
        &format!("name: {name}\ndescription: d\ntrigger: {trigger}\nasync: true\ntimeout: 60000"),
    );
    let script = format!(
        "#!/bin/sh\nuntil [ -e \"$TENTER_PROJECT_DIR/go\" ]; do sleep 0.02; done\ncat <<'END'\n{answer}\nEND\n"
    );
    scene.file(&format!("{USER}/{name}/scripts/run"), &script, 0o755);
}

/// Tells this scene's hooks of the end of a turn in each of these conversations.
fn dispatched(scene: &Scene, conversations: &[&str]) -> (Engine, Arc<ObservedRuns>) {
    let (engine, observer) = scene.engine(scene.load().0);
    for conversation in conversations {
        let event = Event { scope: scope(conversation), body: turn(1, None) };
        let outcome = engine.dispatch(event, &scene.cancel);
        assert!(outcome.contexts.is_empty() && outcome.history.is_empty(), "{outcome:?}");
    }
    (engine, observer)
}

/// Lets the hooks answer, and waits until they have.
fn answered(scene: &Scene, engine: &Engine) {
    fs::write(scene.at("project/go"), "").unwrap();
    engine.drain(TIMEOUT);
}

/// Returns the only run that observers received.
fn only_run(observer: &ObservedRuns) -> HookRun {
    let runs = observer.runs.lock().unwrap();
    let [run] = &runs[..] else { panic!("{runs:#?}") };
    run.clone()
}

const BOTH: &str = r#"{"result": "callback", "callback": "digest", "callback_args": {"goal": "x"}, "additional_context": "CI is red"}"#;

#[test]
fn late_context_is_delivered_once() {
    let scene = Scene::new();
    asynchronous_hook(&scene, "ci", "after_turn", BOTH);
    let (engine, observer) = dispatched(&scene, &["c"]);
    assert_eq!(engine.take_late_replies("c"), [], "nothing was answered yet");
    answered(&scene, &engine);
    let args = BTreeMap::from([("goal".to_owned(), "x".to_owned())]);
    let late = LateReply {
        hook: "ci".to_owned(),
        scope: Arc::new(scope("c")),
        event: EventName::AfterTurn,
        context: Some("CI is red".to_owned()),
        callback: Some(("digest".to_owned(), args)),
    };
    assert_eq!(engine.take_late_replies("c"), [late]);
    assert_eq!(engine.take_late_replies("c"), [], "what was taken is gone");
    let run = only_run(&observer);
    assert_eq!((run.decision, run.asynchronous), (DecisionKind::None, true));
    assert_eq!(run.notes, ["late: its reply (callback, context) is used at a later turn"]);
}

#[test]
fn late_decisions_have_no_effect() {
    let mutate = r#"{"result": "mutate", "messages": [{"role": "user", "content": "short"}]}"#;
    for (answer, kind) in
        [(r#"{"decision": "deny", "reason": "too late"}"#, "deny"), (mutate, "mutate")]
    {
        let scene = Scene::new();
        asynchronous_hook(&scene, "slow", "after_turn", answer);
        let (engine, observer) = dispatched(&scene, &["c"]);
        answered(&scene, &engine);
        assert_eq!(engine.take_late_replies("c"), []);
        let note = format!("its reply ({kind}) has no effect: it is asynchronous");
        assert_eq!(only_run(&observer).notes, [note]);
    }
}

#[test]
fn the_usable_part_of_a_late_reply_is_kept() {
    let scene = Scene::new();
    let answer = r#"{"decision": "deny", "additional_context": "CI is red"}"#;
    asynchronous_hook(&scene, "ci", "after_turn", answer);
    let (engine, observer) = dispatched(&scene, &["c"]);
    answered(&scene, &engine);
    let replies = engine.take_late_replies("c");
    assert_eq!((replies.len(), replies[0].context.as_deref()), (1, Some("CI is red")));
    let notes = only_run(&observer).record.notes;
    assert!(notes[0].starts_with("late: its reply (context)"), "{notes:?}");
    assert!(notes[1].starts_with("its reply (deny) has no effect"), "{notes:?}");
}

#[test]
fn a_conversation_takes_only_its_own_late_replies() {
    let scene = Scene::new();
    asynchronous_hook(&scene, "ci", "after_turn", BOTH);
    let (engine, _) = dispatched(&scene, &["parent", "child", "child"]);
    answered(&scene, &engine);
    assert_eq!(engine.take_late_replies("unknown"), []);
    let of = |conversation: &str| -> Vec<String> {
        let replies = engine.take_late_replies(conversation).into_iter();
        replies.map(|late| late.scope.conversation_id.clone()).collect()
    };
    assert_eq!(of("child"), ["child", "child"]);
    assert_eq!(of("parent"), ["parent"]);
}

#[test]
fn of_too_many_replies_the_oldest_is_dropped_and_this_is_reported() {
    let scene = Scene::new();
    fs::write(scene.at("project/go"), "").unwrap();
    asynchronous_hook(&scene, "ci", "after_turn", BOTH);
    let (engine, observer) = dispatched(&scene, &["ended"]);
    engine.drain(TIMEOUT);
    for _ in 0..8 {
        for _ in 0..8 {
            let event = Event { scope: scope("c"), body: turn(1, None) };
            engine.dispatch(event, &scene.cancel);
        }
        engine.drain(TIMEOUT);
    }
    assert_eq!(engine.take_late_replies("ended"), []);
    assert_eq!(engine.take_late_replies("c").len(), 64);
    let runs = observer.runs.lock().unwrap();
    let warnings: Vec<&String> = runs.iter().flat_map(|run| &run.warnings).collect();
    assert_eq!(
        warnings,
        [
            "too many late replies are kept for a later turn: the reply of the hook ci at after_turn is dropped"
        ]
    );
}

#[test]
fn a_hook_terminated_with_the_session_has_no_reply() {
    let scene = Scene::new();
    asynchronous_hook(&scene, "ci", "after_agent", BOTH);
    let (engine, observer) = scene.engine(scene.load().0);
    let body = Body::AfterAgent { response: String::new() };
    engine.dispatch(Event { scope: scope("c"), body }, &scene.cancel);
    engine.drain(Duration::ZERO);
    assert_eq!(engine.take_late_replies("c"), []);
    assert_eq!(only_run(&observer).decision, DecisionKind::Failed);
}

/// An observer that waits for the end of the session, as on a busy machine, but not forever: the session waits for the observer.
struct SlowObserver {
    session_ended: Cancel,
    reported: AtomicUsize,
}

impl Observer for SlowObserver {
    fn hook_ran(&self, _: &HookRun) {
        assert!(!self.session_ended.wait(Duration::from_millis(300)), "it ended before the report");
        self.reported.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn the_last_failure_is_reported_before_the_session_ends() {
    let scene = Scene::new();
    asynchronous_hook(&scene, "ci", "after_agent", BOTH);
    let observer =
        Arc::new(SlowObserver { session_ended: Cancel::new(), reported: AtomicUsize::new(0) });
    let engine = scene.builder().observer(observer.clone()).build(scene.load().0);
    let body = Body::AfterAgent { response: String::new() };
    engine.dispatch(Event { scope: scope("c"), body }, &scene.cancel);
    engine.drain(Duration::ZERO);
    observer.session_ended.cancel();
    assert_eq!(observer.reported.load(Ordering::SeqCst), 1);
}
