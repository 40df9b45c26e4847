//! Calls whose text cannot be searched to the end: a guard acts as if they matched.

use serde_json::json;
use tenter_engine::DecisionKind;
use tenter_engine::inspect::Outcome;
use tenter_protocol::{Body, Event, ToolCall};

use crate::scene::{Scene, USER, scope};

fn write(scene: &Scene, content: &str) -> Outcome {
    let input = json!({"file_path": "/a", "text": content}).as_object().unwrap().clone();
    let body = Body::BeforeTool(ToolCall { id: "1".into(), name: "file_write".into(), input });
    let engine = scene.engine(scene.load().0).0;
    engine.dispatch(Event { scope: scope("c"), body }, &tenter_proc::Cancel::new())
}

fn front(pattern: &str, action: &str) -> String {
    format!(
        "name: guard\ndescription: d\ntrigger: before_tool\nmatcher: {{pattern: '{pattern}'}}\nmetadata:\n  {action}"
    )
}

const DENY: &str = "action: deny\n  reason: no secrets";

#[test]
fn the_linear_engine_searches_texts_of_any_length() {
    for pattern in ["main() {", r"main\(\) \{", "SECRET_[A-Z]+"] {
        let scene = Scene::new();
        scene.bare(USER, "guard", &front(pattern, DENY));
        let clean = "x = 1\n".repeat(1 << 18);
        assert!(write(&scene, &clean).denied().is_none(), "{pattern}");
        let dirty = format!("{clean}main() {{ main {{ SECRET_KEY");
        assert!(write(&scene, &dirty).denied().is_some(), "{pattern}");
    }
}

#[test]
fn what_cannot_be_searched_is_denied_by_a_static_guard() {
    let scene = Scene::new();
    scene.bare(USER, "guard", &front("password(?!s)", DENY));
    assert!(write(&scene, "passwords").denied().is_none());
    let long = format!("main() {{ password passwords {}", "x".repeat(64 << 10));
    assert_eq!(write(&scene, &long).denied().map(|(_, reason)| reason), Some("no secrets"));
}

#[test]
fn a_script_runs_on_what_cannot_be_searched_and_decides_itself() {
    let scene = Scene::new();
    scene.manifest(USER, "guard", "matcher: {pattern: 'password(?!s)'}\n");
    let long = "x".repeat(65 << 10);
    let (engine, observer) = scene.engine(scene.load().0);
    let input = json!({"text": long}).as_object().unwrap().clone();
    let call = ToolCall { id: "1".into(), name: "file_write".into(), input };
    let body = Body::BeforeTool(call);
    let outcome = engine.dispatch(Event { scope: scope("c"), body }, &tenter_proc::Cancel::new());
    assert!(outcome.denied().is_some());
    let runs = observer.runs.lock().unwrap();
    assert_eq!(runs[0].decision, DecisionKind::Deny);
    assert!(runs[0].warnings[0].contains("runs as if the call matched"), "{:?}", runs[0].warnings);
}

#[test]
fn a_static_hook_that_only_allows_does_not_act_on_what_cannot_be_searched() {
    let scene = Scene::new();
    scene.bare(USER, "guard", &front("password(?!s)", "action: allow"));
    let long = "x".repeat(65 << 10);
    let (engine, observer) = scene.engine(scene.load().0);
    let input = json!({"text": long}).as_object().unwrap().clone();
    let call = ToolCall { id: "1".into(), name: "file_write".into(), input };
    let body = Body::BeforeTool(call);
    engine.dispatch(Event { scope: scope("c"), body }, &tenter_proc::Cancel::new());
    assert_eq!(observer.runs.lock().unwrap()[0].decision, DecisionKind::Failed);
}

#[test]
fn rules_about_commands_stop_what_they_could_not_read() {
    let scene = Scene::new();
    let rules = |uncertain: &str| {
        format!(
            "name: guard\ndescription: d\ntrigger: before_tool\nmetadata:\n  match:\n    - {{program: rm, decision: deny, reason: no rm, uncertain: {uncertain}}}\n    - {{over_limit: false, program: cp, decision: deny, reason: no cp, uncertain: deny}}"
        )
    };
    let run = |command: &str| {
        let input = json!({"command": command}).as_object().unwrap().clone();
        let body = Body::BeforeTool(ToolCall { id: "1".into(), name: "bash".into(), input });
        let engine = scene.engine(scene.load().0).0;
        let outcome =
            engine.dispatch(Event { scope: scope("c"), body }, &tenter_proc::Cancel::new());
        outcome.verdict.map(|verdict| (verdict.value.kind, verdict.value.reason_text().to_owned()))
    };
    let long = format!("{}\nrm -rf /", "true\n".repeat(20 << 10));
    for (uncertain, kind) in [("deny", "Deny"), ("ask", "Ask")] {
        scene.bare(USER, "guard", &rules(uncertain));
        let (decision, reason) = run(&long).unwrap();
        assert_eq!(format!("{decision:?}"), kind);
        assert!(reason.contains("read to its end"), "{reason}");
        assert_eq!(run("true"), None);
    }
    scene.bare(USER, "guard", &rules("ignore"));
    assert_eq!(run(&long), None);
}
