//! Hooks without code: a `HOOK.md`, and no script.

use std::fs;
use std::path::PathBuf;

use tenter_engine::inspect::{Outcome, Status};
use tenter_engine::{DecisionKind, HookRun, RunEnd};
use tenter_protocol::{Body, Event, HistoryAction, Message, Severity, ToolCall, ToolResult};

use super::{call, reason};
use crate::builtin::turn;
use crate::scene::{PROJECT, Scene, USER, ids, running, scope, tool_call, why};

impl Scene {
    /// Returns a static hook in the user's directory: its trigger, and the lines below `metadata`.
    fn declared(&self, name: &str, trigger: &str, lines: &[&str]) -> PathBuf {
        self.declared_in(USER, name, &format!("trigger: {trigger}"), lines)
    }

    fn declared_in(&self, directory: &str, name: &str, more: &str, lines: &[&str]) -> PathBuf {
        let lines = lines.join("\n  ");
        self.bare(
            directory,
            name,
            &format!("name: {name}\ndescription: d\n{more}\nmetadata:\n  {lines}"),
        )
    }

    /// Dispatches an event to the hooks of this scene. Returns the outcome and the reported runs.
    fn dispatch_body(&self, body: Body) -> (Outcome, Vec<HookRun>) {
        let (engine, observer) = self.engine(self.load().0);
        let outcome = engine.dispatch(Event { scope: scope("c"), body }, &self.cancel);
        let runs = observer.runs.lock().unwrap().clone();
        (outcome, runs)
    }
}

#[test]
fn a_deny_uses_the_payload_and_is_reported_like_any_run() {
    let scene = Scene::new();
    scene.declared_in(
        USER,
        "no-rm",
        "trigger: before_tool\nmatcher: {tool: ^Shell$, pattern: rm -rf}",
        &["action: deny", "reason: \"{{.tool_name}} may not run {{.tool_input.command}}\""],
    );
    let (outcome, runs) = scene.dispatch_body(Body::BeforeTool(tool_call("bash", "rm -rf /")));
    assert_eq!(reason(&outcome), "Shell may not run rm -rf /");
    let [run] = &runs[..] else { panic!("{runs:#?}") };
    assert_eq!(
        (run.hook.as_str(), run.decision, &run.end),
        ("no-rm", DecisionKind::Deny, &RunEnd::NoProcess)
    );
    assert!(!run.fingerprint.0.is_empty());
    let (outcome, runs) = scene.dispatch_body(Body::BeforeTool(tool_call("bash", "ls")));
    assert_eq!((outcome.denied(), runs.len()), (None, 0));
}

#[test]
fn an_unmet_condition_has_no_effect() {
    let scene = Scene::new();
    let when = "when: 'eq .tool_input.command \"ls\"'";
    scene.declared("no-ls", "before_tool", &["action: deny", "reason: no", when]);
    assert_eq!(reason(&scene.dispatch()), "no");
    let (outcome, runs) = scene.dispatch_body(Body::BeforeTool(tool_call("bash", "pwd")));
    assert_eq!((outcome.denied(), runs[0].decision), (None, DecisionKind::None));
}

#[test]
fn every_action_equals_the_reply_of_a_script() {
    let scene = Scene::new();
    scene.declared("ask", "before_tool", &["action: ask", "reason: sure?"]);
    scene.declared("allow", "before_tool", &["action: allow"]);
    scene.declared("context", "before_tool", &["action: context", "text: by {{.tool_name}}"]);
    let (outcome, runs) = scene.dispatch_body(Body::BeforeTool(tool_call("bash", "ls")));
    assert_eq!(outcome.asked(), Some(("ask", "sure?")));
    assert_eq!(outcome.contexts[0].value, "by bash");
    let decisions: Vec<_> = runs.iter().map(|run| run.decision.as_str()).collect();
    assert_eq!(decisions, ["allow", "ask", "context"]);
}

#[test]
fn static_hooks_can_mutate_and_call_back() {
    let scene = Scene::new();
    let messages = "messages: [{role: user, content: \"turn {{.turn_number}}\"}]";
    scene.declared("replace", "after_turn", &["action: mutate", messages]);
    let (outcome, _) = scene.dispatch_body(turn(1, None));
    let expected = HistoryAction::Mutate(vec![Message::user("turn 1")]);
    assert_eq!(outcome.history[0].value, expected);

    let scene = Scene::new();
    let args =
        "args: {used: \"{{percent .usage.current_context_window .usage.max_context_window}}\"}";
    let when = "when: ge (percent .usage.current_context_window .usage.max_context_window) 70";
    scene.declared("early", "after_turn", &["action: callback", "recipe: digest", args, when]);
    let (outcome, _) = scene.dispatch_body(turn(699, None));
    assert_eq!(outcome.history, []);
    let (outcome, _) = scene.dispatch_body(turn(700, None));
    let args = [("used".to_owned(), "70".to_owned())].into();
    let expected = HistoryAction::Callback { recipe: "digest".to_owned(), args };
    assert_eq!(outcome.history[0].value, expected);
}

#[test]
fn a_hook_sees_the_output_as_rewritten_by_earlier_hooks() {
    let scene = Scene::new();
    let text = "text: \"{{default .tool_error \\\"fine\\\"}}\"";
    scene.declared("told", "after_tool_failure", &["action: context", text]);
    let result = ToolResult::failure("bash", "exit code 2", "T".to_owned());
    let (outcome, _) =
        scene.dispatch_body(Body::AfterTool { call: tool_call("bash", "ls"), result });
    assert_eq!(outcome.contexts[0].value, "exit code 2");
}

#[test]
fn a_template_error_is_a_failure_under_the_hooks_policy() {
    for (fail, is_denied) in [("open", false), ("closed", true)] {
        let scene = Scene::new();
        let fail = format!("fail: {fail}");
        scene.declared(
            "guard",
            "before_tool",
            &["action: deny", "reason: \"{{.gone.far}}\"", &fail],
        );
        let (outcome, runs) = scene.dispatch_body(Body::BeforeTool(tool_call("bash", "ls")));
        assert_eq!(outcome.denied().is_some(), is_denied);
        assert_eq!(outcome.denied_by_failure, is_denied);
        assert_eq!(runs[0].decision, DecisionKind::Failed);
        let why = runs[0].reason.as_deref().unwrap();
        assert!(why.contains("the payload has no `gone.far`, in `{{.gone.far}}`"), "{why}");
    }
}

#[test]
fn priority_and_first_deny_apply_to_both_kinds() {
    let scene = Scene::new();
    scene.manifest(USER, "script", "");
    scene.declared_in(
        USER,
        "words",
        "trigger: before_tool\npriority: 900",
        &["action: deny", "reason: first"],
    );
    assert_eq!(running(&scene.load().0), ["words", "script"]);
    assert_eq!(reason(&scene.dispatch()), "first");
}

#[test]
fn an_asynchronous_reply_arrives_late() {
    let scene = Scene::new();
    scene.declared_in(
        USER,
        "late",
        "trigger: after_turn\nasync: true",
        &["action: context", "text: read this"],
    );
    let (engine, _) = scene.engine(scene.load().0);
    let event = Event { scope: scope("c"), body: turn(1, None) };
    assert!(engine.dispatch(event, &scene.cancel).contexts.is_empty());
    engine.drain(std::time::Duration::from_mins(1));
    assert_eq!(engine.take_late_replies("c")[0].context.as_deref(), Some("read this"));
}

#[test]
fn a_projects_hook_runs_only_as_it_was_trusted() {
    let scene = Scene::gated();
    let directory = scene.declared_in(
        PROJECT,
        "guard",
        "trigger: before_tool",
        &["action: deny", "reason: old"],
    );
    assert_eq!(scene.listing()[0].1, "not trusted");
    scene.trust_all();
    let (engine, _) = scene.engine(scene.load().0);
    assert_eq!(reason(&call(&engine)), "old");
    let manifest = fs::read_to_string(directory.join("HOOK.md")).unwrap().replace("old", "new");
    fs::write(directory.join("HOOK.md"), manifest).unwrap();
    assert!(reason(&call(&engine)).contains("run `tenter trust`"), "it is not what was trusted");
    assert_eq!(scene.listing()[0].1, "changed");
}

#[test]
fn a_cached_static_hook_is_complete() {
    let scene = Scene::new();
    let scene = Scene { cache: Some(scene.at("cache")), ..scene };
    let lines = ["action: deny", "reason: \"no {{.tool_name}}\"", "when: .tool_input"];
    scene.declared("guard", "before_tool", &lines);
    for _ in 0..2 {
        assert_eq!(reason(&scene.dispatch()), "no bash");
        let hook = scene.load().0.hooks()[0].clone();
        assert_eq!(hook.kind.as_str(), "static");
        assert_eq!(hook.static_action().unwrap().when(), Some(".tool_input"));
    }
    let cache = fs::read(scene.at("cache/hooks.bin")).unwrap();
    assert!(String::from_utf8_lossy(&cache).contains("no {{.tool_name}}"));
}

#[test]
fn a_script_beside_an_action_is_an_error_that_names_both() {
    let scene = Scene::new();
    let cache = Some(scene.at("cache"));
    let scene = Scene { cache, ..scene };
    scene.declared("guard", "before_tool", &["action: deny", "reason: no"]);
    assert_eq!(reason(&scene.dispatch()), "no");
    scene.file(&format!("{USER}/guard/scripts/run.sh"), "exit 0\n", 0o644);
    let (catalog, diagnostics) = scene.load();
    assert!(why(&catalog).contains("has both an `action` and a script"), "{}", why(&catalog));
    let finding = diagnostics
        .iter()
        .find(|diagnostic| diagnostic.id == "hook-with-action-and-script")
        .unwrap();
    let place = finding.span.as_ref().unwrap();
    assert_eq!((place.line, place.source.as_str()), (6, "  action: deny"));
    assert!(finding.help.as_deref().unwrap().ends_with("scripts/run.sh"));
}

#[test]
fn errors_are_reported_with_their_location_and_hide_no_other_hook() {
    for (trigger, lines, id, line, message) in [
        (
            "before_tool",
            &["action: deny", "reason: \"{{.a\""][..],
            "manifest-template",
            7,
            "has no end",
        ),
        (
            "before_tool",
            &["action: deny", "reason: '{{bash \"ls\"}}'"],
            "manifest-template",
            7,
            "cannot run programs",
        ),
        (
            "before_tool",
            &["action: deny", "reason: x", "when: eq .a"],
            "manifest-template",
            8,
            "at least 2",
        ),
        ("before_tool", &["action: mutate", "messages: []"], "manifest-action", 6, "not possible"),
        ("session_end", &["action: deny", "reason: x"], "manifest-action", 6, "not possible"),
        ("before_tool", &["action: deny"], "manifest-action", 6, "needs `reason`"),
        ("before_tool", &["action: permit"], "manifest-action", 6, "cannot be `permit`"),
    ] {
        let scene = Scene::new();
        scene.declared("broken", trigger, lines);
        scene.declared("guard", "before_tool", &["action: deny", "reason: no"]);
        let (catalog, diagnostics) = scene.load();
        assert_eq!(running(&catalog), ["guard"], "{lines:?}");
        assert!(matches!(catalog.listing()[0].status, Status::Invalid { .. }), "{lines:?}");
        let finding = diagnostics.iter().find(|diagnostic| diagnostic.id == id);
        let finding = finding.unwrap_or_else(|| panic!("{lines:?}: {:?}", ids(&diagnostics)));
        assert_eq!(finding.severity, Severity::Error);
        assert_eq!(finding.span.as_ref().unwrap().line, line, "{lines:?}");
        assert!(finding.message.contains(message), "{lines:?}: {}", finding.message);
    }
}

#[test]
fn a_guard_on_write_sees_the_patches_that_add_a_file_and_no_others() {
    let scene = Scene::new();
    let more = "trigger: before_tool\nmatcher: {tool: ^Write$}";
    scene.declared_in(USER, "guard", more, &["action: deny", "reason: no"]);
    let engine = scene.engine(scene.load().0).0;
    let is_denied = |patch: &str| {
        let input = serde_json::json!({"patch": patch}).as_object().unwrap().clone();
        let body = Body::BeforeTool(ToolCall { id: "1".into(), name: "file_edit".into(), input });
        engine.dispatch(Event { scope: scope("c"), body }, &scene.cancel).denied().is_some()
    };
    let update = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch";
    assert!(!is_denied(update));
    assert!(is_denied("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"));
    assert!(!is_denied(update), "what one patch does is not remembered of the next");
    assert!(is_denied("not a patch"));
}
