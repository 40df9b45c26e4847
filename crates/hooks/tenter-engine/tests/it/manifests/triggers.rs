//! One hook at several events (R67), and the events that its matcher applies to.

use std::fs;

use serde_json::json;
use tenter_engine::inspect::{ConsideredHook, HookFacts, Selection, SelectionSubject};
use tenter_proc::Cancel;
use tenter_protocol::event::SessionStart;
use tenter_protocol::tool_metadata::Bash;
use tenter_protocol::{Body, Event, EventName, Object, ToolCall, ToolResult};

use super::SCRIPT;
use crate::scene::{Scene, USER, running, scope, tool_call};

/// Notes in the project what it was told, then denies.
const NOTE: &str = "#!/bin/sh\necho \"$TENTER_EVENT\" >> \"$TENTER_PROJECT_DIR/events\"\nexit 2\n";

fn finished(error: Option<&str>) -> Body {
    let metadata = Bash {
        command: "ls".into(),
        exit_code: Some(0),
        output: "a".into(),
        execution_time: Some(1),
        working_dir: "/".into(),
        ..Bash::default()
    };
    let result = ToolResult::success("bash", &metadata, "2024-01-15T10:30:00.000Z".into());
    let result = match error {
        Some(error) => result.failed(error),
        None => result,
    };
    Body::AfterTool { call: tool_call("bash", "ls"), result }
}

fn session_start() -> Body {
    Body::SessionStart(SessionStart { model: Some("m".into()), args: Object::new() })
}

fn hook(scene: &Scene, front: &str) {
    scene.bare(USER, "note", &format!("name: note\ndescription: d\n{front}"));
    scene.file(&format!("{USER}/note/{SCRIPT}"), NOTE, 0o755);
}

/// Returns the events that the hook was told of, in its own words.
fn spellings(scene: &Scene, bodies: Vec<Body>) -> Vec<String> {
    let (engine, _) = scene.engine(scene.load().0);
    for body in bodies {
        engine.dispatch(Event { scope: scope("c"), body }, &Cancel::new());
    }
    let events = fs::read_to_string(scene.at("project/events")).unwrap_or_default();
    events.lines().map(str::to_owned).collect()
}

#[test]
fn a_hook_runs_at_each_of_its_triggers() {
    let scene = Scene::new();
    hook(&scene, "trigger: after_tool\nmetadata:\n  triggers: [post-tool-call-failure]");
    let bodies = vec![finished(None), finished(Some("no")), session_start()];
    assert_eq!(spellings(&scene, bodies), ["after_tool", "post-tool-call-failure"]);
}

#[test]
fn a_matcher_applies_only_to_tool_events() {
    for front in [
        "trigger: before_tool\nmatcher: {tool: Shell}\nmetadata: {triggers: [session_start]}",
        "trigger: session_start\nmatcher: {tool: Shell}\nmetadata: {triggers: [before_tool]}",
    ] {
        let scene = Scene::new();
        hook(&scene, front);
        let bodies = vec![
            session_start(),
            Body::BeforeTool(tool_call("grep", "ls")),
            Body::BeforeTool(tool_call("bash", "ls")),
        ];
        assert_eq!(spellings(&scene, bodies), ["session_start", "before_tool"], "{front}");
        let (catalog, _) = scene.load();
        let facts = HookFacts::default();
        let names = |event, call: Option<&ToolCall>| {
            let call = call.map(|call| (call, &facts));
            catalog.explain(&[event], call).remove(0).selection
        };
        let (grep, bash) = (tool_call("grep", "ls"), tool_call("bash", "ls"));
        assert_eq!(names(EventName::BeforeTool, Some(&grep)), Selection::NotMatched);
        let shell = Selection::Runs { tool_name: Some("Shell".to_owned()) };
        assert_eq!(names(EventName::BeforeTool, Some(&bash)), shell);
        let any = Selection::Runs { tool_name: None };
        assert_eq!(names(EventName::SessionStart, None), any);
        assert_eq!(names(EventName::AfterTool, Some(&bash)), Selection::NotSubscribed);
    }
}

#[test]
fn further_triggers_are_remembered_with_the_manifest() {
    let scene = Scene::new();
    let scene = Scene { cache: Some(scene.at("cache")), ..scene };
    hook(&scene, "trigger: after_tool\nmetadata:\n  triggers: [after_tool_failure]");
    let first = scene.load().0;
    let again = scene.load().0;
    assert_eq!(running(&again), ["note"]);
    assert_eq!(first.hooks()[0].subscriptions, again.hooks()[0].subscriptions);
    assert_eq!(again.hooks_for(EventName::AfterToolFailure).len(), 1);
}

#[test]
fn hooks_are_explained_in_the_order_in_which_they_run() {
    let scene = Scene::new();
    let hook = |name: &str, front: &str| {
        let front = format!("name: {name}\ndescription: d\ntrigger: before_tool\n{front}");
        scene.bare(USER, name, &front);
        scene.file(&format!("{USER}/{name}/{SCRIPT}"), "#!/bin/sh\n", 0o755);
    };
    hook("a-late", "async: true\npriority: 900");
    hook("b-any", "");
    hook("c-first", "priority: 999\nmatcher: {tool: Shell, pattern: ls}");
    hook("d-other", "matcher: {tool: Grep}");
    hook("e-text", "matcher: {pattern: mkfs}");
    hook("f-undecided", "matcher: {pattern: \"(a+)+\\\\1b(?=c)\"}");
    let mut call = tool_call("bash", "ls");
    call.input.insert("filler".to_owned(), json!("a".repeat(70_000)));
    let (catalog, _) = scene.load();
    let facts = HookFacts::default();
    let considered = catalog.explain(&[EventName::BeforeTool], Some((&call, &facts)));
    let (selection, others): (Vec<_>, Vec<_>) =
        considered.iter().partition(|hook| hook.selection.is_selected());
    let names = |hooks: &[&ConsideredHook<'_>]| -> Vec<String> {
        let name = |hook: &&ConsideredHook<'_>| match hook.subject {
            SelectionSubject::Hook(hook) => hook.name.clone(),
            ref other => panic!("{other:?}"),
        };
        hooks.iter().map(name).collect()
    };
    assert_eq!(names(&others), ["d-other", "e-text"]);
    assert!(others.iter().all(|hook| hook.selection == Selection::NotMatched));
    let (engine, observer) = scene.engine(catalog.clone());
    let body = Body::BeforeTool(call);
    engine.dispatch(Event { scope: scope("c"), body }, &Cancel::new());
    engine.drain(std::time::Duration::from_mins(1));
    let runs = observer.runs.lock().unwrap();
    let programs: Vec<&str> = runs.iter().map(|run| run.hook.as_str()).collect();
    assert_eq!(names(&selection), programs);
    assert_eq!(programs, ["c-first", "b-any", "f-undecided", "a-late"]);
}
