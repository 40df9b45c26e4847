//! Hooks that are found and cannot run: set to fail closed they stop what they would have to see, and nothing else; none is
//! silent.

use tenter_engine::inspect::PolicyOverride;
use tenter_engine::{FailMode, RunEnd};
use tenter_protocol::{Body, Event, EventName, ToolResult, tool_metadata};

use crate::scene::{GUARD, Scene, USER, ids, scope, tool_call};

fn body(event: EventName, tool: &str) -> Body {
    match event {
        EventName::BeforeAgent => Body::BeforeAgent { message: "hello".into() },
        EventName::BeforeTool => Body::BeforeTool(tool_call(tool, "ls")),
        EventName::AfterTool => {
            let metadata =
                tool_metadata::Bash { output: "SECRET".to_owned(), ..Default::default() };
            let result = ToolResult::success(tool, &metadata, "T".to_owned());
            Body::AfterTool { call: tool_call(tool, "ls"), result }
        }
        other => unreachable!("{other}"),
    }
}

/// Returns the result of an event, in a word.
fn comes_of(scene: &Scene, event: EventName, tool: &str) -> &'static str {
    let (engine, observer) = scene.engine(scene.load().0);
    let outcome =
        engine.dispatch(Event { scope: scope("c"), body: body(event, tool) }, &scene.cancel);
    let is_withheld = matches!(&outcome.body, Body::AfterTool { result, .. } if !result.text().contains("SECRET"));
    let word = match outcome.denied() {
        Some(("guard", _)) if outcome.denied_by_failure => "denied",
        Some(other) => panic!("{other:?}"),
        None if is_withheld => "withheld",
        None => "passed",
    };
    assert_eq!(observer.runs.lock().unwrap().len(), usize::from(word != "passed"));
    word
}

/// Adds a broken manifest hook, by what is wrong with it: its front matter after the trigger, and the mode of its script.
fn manifest(scene: &Scene, front: &str, script: Option<(&str, u32)>) {
    scene.bare(USER, "guard", &format!("name: guard\ndescription: d\n{front}"));
    if let Some((name, mode)) = script {
        scene.file(&format!("{USER}/guard/{name}"), "#!/bin/sh\nexit 0\n", mode);
    }
}

#[test]
fn a_manifest_hook_that_cannot_run_stops_only_its_own_events() {
    let policy = "metadata: {fail: closed}";
    let run = Some(("scripts/run", 0o755));
    let causes = [
        ("trigger: before_tool", Some(("scripts/run", 0o644)), "hook-fails-closed"),
        ("trigger: before_tool", None, "hook-fails-closed"),
        ("trigger: before_tool\nmatcher: {pattern: '(rm'}", run, "hook-fails-closed"),
        ("trigger: before_tool\nmatcher: {tool: Bash}", None, "hook-fails-closed"),
    ];
    for (front, script, id) in causes {
        let scene = Scene::new();
        manifest(&scene, &format!("{front}\n{policy}"), script);
        assert!(ids(&scene.load().1).contains(&id), "{front}: {:?}", scene.load().1);
        assert_eq!(comes_of(&scene, EventName::BeforeTool, "bash"), "denied", "{front}");
        assert_eq!(comes_of(&scene, EventName::BeforeAgent, "bash"), "passed", "{front}");
        assert_eq!(comes_of(&scene, EventName::AfterTool, "bash"), "passed", "{front}");
        let open = Scene::new();
        manifest(&open, front, script);
        assert!(!open.load().1.is_empty(), "{front}: silent");
        assert_eq!(comes_of(&open, EventName::BeforeTool, "bash"), "passed", "{front}");
    }
}

#[test]
fn a_missing_hooks_matcher_applies_and_its_output_is_withheld() {
    let scene = Scene::new();
    manifest(&scene, "trigger: before_tool\nmatcher: {tool: Bash}\nmetadata: {fail: closed}", None);
    assert_eq!(comes_of(&scene, EventName::BeforeTool, "grep"), "passed");
    let scene = Scene::new();
    manifest(&scene, "trigger: after_tool\nmetadata: {fail: closed}", None);
    assert_eq!(comes_of(&scene, EventName::AfterTool, "bash"), "withheld");
    assert_eq!(comes_of(&scene, EventName::BeforeTool, "bash"), "passed");
}

#[test]
fn a_hook_with_unknown_events_blocks_everything() {
    let scene = Scene::new();
    let front = "trigger: before_toll\nmetadata: {fail: closed}";
    manifest(&scene, front, Some(("scripts/run", 0o755)));
    for event in [EventName::BeforeTool, EventName::BeforeAgent] {
        assert_eq!(comes_of(&scene, event, "bash"), "denied");
    }
}

#[test]
fn words_in_front_matter_that_cannot_be_read_set_nothing() {
    let scene = Scene::new();
    let front = "trigger: before_tool\nmetadata: [\n  fail: closed";
    manifest(&scene, front, Some(("scripts/run", 0o755)));
    assert!(!scene.load().1.is_empty(), "silent");
    for event in [EventName::BeforeTool, EventName::BeforeAgent] {
        assert_eq!(comes_of(&scene, event, "bash"), "passed");
    }
}

#[test]
fn an_executable_without_execute_bit_is_reported_and_denies_if_fail_closed() {
    for fail in [FailMode::Open, FailMode::Closed] {
        let mut scene = Scene::new();
        let policy = PolicyOverride { fail: Some(fail), ..PolicyOverride::default() };
        scene.policies.overrides.insert("guard".to_owned(), policy);
        scene.file(&format!("{USER}/guard"), GUARD, 0o644);
        let expected = match fail {
            FailMode::Open => ("hook-not-executable", "passed"),
            FailMode::Closed => ("hook-fails-closed", "denied"),
        };
        let diagnostics = scene.load().1;
        assert_eq!(
            (ids(&diagnostics), comes_of(&scene, EventName::BeforeTool, "bash")),
            (vec![expected.0], expected.1)
        );
    }
}

#[test]
fn a_non_executable_file_is_a_hook_only_if_settings_name_it() {
    let mut scene = Scene::new();
    scene.policies.default.fail = FailMode::Closed;
    scene.file(&format!("{USER}/README"), "read me", 0o644);
    assert_eq!(ids(&scene.load().1), [""; 0]);
    assert_eq!(comes_of(&scene, EventName::BeforeTool, "bash"), "passed");
    scene.file(&format!("{USER}/guard"), "no interpreter", 0o644);
    scene.policies.overrides.insert("guard".to_owned(), PolicyOverride::default());
    assert_eq!(ids(&scene.load().1), ["hook-fails-closed"]);
    assert_eq!(comes_of(&scene, EventName::BeforeTool, "bash"), "denied");
}

#[test]
fn every_hook_that_cannot_run_is_in_the_journal_once() {
    use std::sync::Arc;
    use tenter_engine::journal::{self, JournalWriter, RecordKind, Redactor};

    let scene = Scene::new();
    scene.file(&format!("{USER}/guard"), GUARD, 0o644);
    manifest_named(&scene, "tidy");
    let journal = Arc::new(JournalWriter::new(scene.at("journal"), Redactor::new([])));
    let engine = scene.builder().observer(journal).build(scene.load().0);
    for _ in 0..2 {
        let body = body(EventName::BeforeTool, "bash");
        engine.dispatch(Event { scope: scope("c"), body }, &scene.cancel);
    }
    let copy = journal::read(&scene.at("journal"), "c").unwrap();
    let runs = copy.lines.into_iter().filter_map(|line| match line.record.kind {
        RecordKind::Run(run) => Some((run.hook, run.end)),
        _ => None,
    });
    let not_started = |name: &str| (name.to_owned(), RunEnd::NotStarted);
    let mut runs: Vec<_> = runs.collect();
    runs.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(runs, [not_started("guard"), not_started("tidy")]);
}

/// Adds a manifest hook without a script.
fn manifest_named(scene: &Scene, name: &str) {
    scene.bare(USER, name, &format!("name: {name}\ndescription: d\ntrigger: after_tool"));
}

#[test]
fn a_rewritten_call_is_stopped_if_a_hook_that_cannot_run_would_see_it() {
    let scene = Scene::new();
    let guard = "trigger: before_tool\nmatcher: {pattern: ^sudo}\nmetadata: {fail: closed}";
    manifest(&scene, guard, None);
    assert_eq!(comes_of(&scene, EventName::BeforeTool, "bash"), "passed");
    scene.bare(USER, "wrap", "name: wrap\ndescription: d\ntrigger: before_tool");
    let reply = r#"{"decision": "allow", "updated_input": {"command": "sudo ls"}}"#;
    let script = format!("#!/bin/sh\necho '{reply}'\n");
    scene.file(&format!("{USER}/wrap/scripts/run"), &script, 0o755);
    let (engine, observer) = scene.engine(scene.load().0);
    let body = body(EventName::BeforeTool, "bash");
    let outcome = engine.dispatch(Event { scope: scope("c"), body: body.clone() }, &scene.cancel);
    assert_eq!(outcome.denied().map(|(hook, _)| hook), Some("guard"));
    assert!(outcome.denied_by_failure);
    assert_eq!(outcome.body, body, "a deny undoes rewrites");
    let runs = observer.runs.lock().unwrap();
    let runs: Vec<_> = runs.iter().map(|run| (run.hook.as_str(), run.end.clone())).collect();
    assert_eq!(runs, [("wrap", RunEnd::Exited(0)), ("guard", RunEnd::NotStarted)]);
}
