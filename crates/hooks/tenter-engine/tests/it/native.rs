//! Hooks in Rust: the same order, fold and reports as hooks in files.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tenter_engine::{
    DecisionKind, Engine, EventName, FailMode, NativeEvent, NativeRegistration, Scope, ToolCall,
    ToolDecision,
};
use tenter_protocol::confinement::{Confinement, Otherwise};
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{Reply, Rewrite, Verdict};

use crate::scene::{PROJECT, Scene};

#[path = "../../examples/native_hook.rs"]
#[expect(dead_code, reason = "the example's `main` reads the real environment")]
mod example;

fn verdict(kind: VerdictKind, reason: &str) -> Reply {
    Reply { verdict: Some(Verdict::new(kind, Some(reason.to_owned()))), ..Reply::default() }
}

fn before_tool(engine: &Engine, command: &str) -> ToolDecision {
    let hooks = engine.session(Scope::new("conversation-1", engine.project()));
    hooks.before_tool(ToolCall::new("call-1", "bash", [("command".to_owned(), command.into())]))
}

fn reason(decision: ToolDecision) -> String {
    match decision {
        ToolDecision::Deny(denial) => denial.reason,
        ToolDecision::Ask(question) => format!("asks: {}", question.reason),
        ToolDecision::Run(_) => "runs".to_owned(),
    }
}

/// Returns an engine with this hook at `before_tool`.
fn engine(
    scene: &Scene,
    hook: impl Fn(&NativeEvent<'_>) -> Result<Reply, String> + Send + Sync + 'static,
    set: impl FnOnce(NativeRegistration) -> NativeRegistration,
) -> Engine {
    let hook = NativeRegistration::new("native", [EventName::BeforeTool], hook);
    scene.builder().native_hook(set(hook)).load().0
}

#[test]
fn the_example_denies_sudo_however_it_is_called() {
    let scene = Scene::new();
    let engine = example::with_hook(scene.builder()).load().0;
    assert_eq!(reason(before_tool(&engine, "ls")), "runs");
    for command in ["sudo ls", "ls && env A=1 sudo -u root ls", "bash -c 'sudo ls'"] {
        assert_eq!(reason(before_tool(&engine, command)), "no sudo here", "{command}");
    }
}

#[test]
fn it_sees_the_event_as_earlier_hooks_left_it_and_its_rewrite_counts() {
    let scene = Scene::new();
    let rewrite = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\necho '{\"input\": {\"command\": \"one\"}}'\n";
    scene.hook(PROJECT, "first", rewrite);
    let engine = engine(
        &scene,
        |event| {
            let mut input = event.tool_call().unwrap().input.clone();
            assert_eq!(input["command"], "one");
            input["command"] = "two".into();
            Ok(Reply { rewrite: Some(Rewrite::Input(input)), ..Reply::default() })
        },
        |hook| hook,
    );
    let ToolDecision::Run(approved) = before_tool(&engine, "zero") else { panic!() };
    assert_eq!(approved.call.input["command"], "two");
}

#[test]
fn it_runs_by_priority_and_then_by_layer_and_nothing_shadows_it() {
    for (priority, expected) in [(100, "the file"), (101, "native")] {
        let scene = Scene::new();
        let deny = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\necho '{\"blocked\": true, \"reason\": \"the file\"}'\n";
        scene.hook(PROJECT, "native", deny);
        let hook = |_: &NativeEvent<'_>| Ok(verdict(VerdictKind::Deny, "native"));
        let engine = engine(&scene, hook, |hook| hook.priority(priority));
        assert_eq!(reason(before_tool(&engine, "ls")), expected);
        assert_eq!(engine.catalog().hooks().len(), 2);
    }
}

#[test]
fn its_matcher_selects_calls_under_every_name_of_the_tool() {
    let scene = Scene::new();
    let hook = |_: &NativeEvent<'_>| Ok(verdict(VerdictKind::Ask, "sure?"));
    let engine = engine(&scene, hook, |hook| hook.tool("^Shell$").pattern("push"));
    assert_eq!(reason(before_tool(&engine, "git push")), "asks: sure?");
    assert_eq!(reason(before_tool(&engine, "git pull")), "runs");
}

#[test]
fn an_error_and_a_panic_are_failed_runs() {
    type Hook = fn(&NativeEvent<'_>) -> Result<Reply, String>;
    let hooks: [(Hook, &str); 4] = [
        (|_| Err("the service is down".to_owned()), "the service is down"),
        (|_| panic!("a defect"), "it panicked: a defect"),
        (|event| panic!("a defect in {}", event.name()), "it panicked: a defect in before_tool"),
        (
            |_| Ok(Reply { follow_ups: vec!["more".to_owned()], ..Reply::default() }),
            "its reply cannot continue at before_tool",
        ),
    ];
    for (hook, expected) in hooks {
        let scene = Scene::new();
        let open = engine(&scene, hook, |hook| hook);
        assert_eq!(reason(before_tool(&open, "ls")), "runs");
        let engine_of_guard = engine(&scene, hook, |hook| hook.fail(FailMode::Closed));
        let reason = reason(before_tool(&engine_of_guard, "ls"));
        assert!(reason.contains(expected) && reason.contains("fail closed"), "{reason}");
    }
}

#[test]
fn observers_see_its_runs_and_a_timeout_is_only_reported() {
    #[derive(Default)]
    struct Runs(Mutex<Vec<tenter_engine::HookRun>>);
    impl tenter_engine::Observer for Runs {
        fn hook_ran(&self, run: &tenter_engine::HookRun) {
            self.0.lock().unwrap().push(run.clone());
        }
    }
    let scene = Scene::new();
    let runs = Arc::<Runs>::default();
    let hook = |_: &NativeEvent<'_>| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(5) {
            std::thread::yield_now();
        }
        Ok(Reply { log: Some("seen".to_owned()), ..verdict(VerdictKind::Deny, "slowly") })
    };
    let hook = NativeRegistration::new("native", [EventName::BeforeTool], hook);
    let hook = hook.timeout(Duration::from_millis(1));
    let observer = Arc::clone(&runs) as Arc<dyn tenter_engine::Observer>;
    let engine = scene.builder().native_hook(hook).observer(observer).load().0;
    assert_eq!(reason(before_tool(&engine, "ls")), "slowly");
    let runs = runs.0.lock().unwrap();
    let run = &runs[0];
    assert_eq!((run.hook.as_str(), run.layer.as_str()), ("native", "user"));
    assert_eq!(run.decision, DecisionKind::Deny);
    assert_eq!(run.notes, ["seen"]);
    assert!(run.warnings[0].ends_with("its timeout is 1 ms"), "{:?}", run.warnings);
}

#[test]
fn the_page_about_embedding_shows_the_example() {
    let page = include_str!("../../../../../docs/embedding.md");
    let example = include_str!("../../examples/native_hook.rs");
    assert!(page.contains(&format!("```rust\n{example}```\n")), "copy native_hook.rs into it");
}

#[test]
fn confinements_of_all_hooks_are_kept_and_an_allow_lifts_none() {
    let scene = Scene::new();
    let confine = |profile: &'static str, priority| {
        let reply = move |_: &NativeEvent<'_>| {
            let confinement =
                Confinement { profile: Some(profile.to_owned()), ..Default::default() };
            Ok(Reply { confinements: vec![confinement], ..verdict(VerdictKind::Confine, "unread") })
        };
        NativeRegistration::new(profile, [EventName::BeforeTool], reply).priority(priority)
    };
    let allow = |_: &NativeEvent<'_>| Ok(verdict(VerdictKind::Allow, "fine"));
    let rewrite = |_: &NativeEvent<'_>| {
        let input = serde_json::json!({"command": "make all"}).as_object().unwrap().clone();
        Ok(Reply { rewrite: Some(Rewrite::Input(input)), ..Reply::default() })
    };
    let builder = scene.builder().native_hook(confine("standard", 4));
    let builder = builder
        .native_hook(
            NativeRegistration::new("rewrite", [EventName::BeforeTool], rewrite).priority(3),
        )
        .native_hook(confine("build", 2))
        .native_hook(NativeRegistration::new("allow", [EventName::BeforeTool], allow).priority(1));
    // Everything can be kept by this launcher.
    let engine = builder.clone().launcher("/bin/true").load().0;
    let ToolDecision::Run(approved) = before_tool(&engine, "make") else { panic!() };
    assert_eq!(approved.call.input["command"], "make all");
    let labels: Vec<&str> = approved.confinements.iter().map(Confinement::label).collect();
    assert_eq!(labels, ["standard", "build"]);
    // Nothing can be kept by this one, and there is none.
    for engine in [builder.clone().launcher("/bin/false").load().0, builder.load().0] {
        let ToolDecision::Ask(question) = before_tool(&engine, "make") else { panic!() };
        assert!(question.reason.contains("cannot be confined"), "{}", question.reason);
    }
}

#[test]
fn otherwise_says_what_happens_to_a_call_that_cannot_be_confined() {
    for (otherwise, tool, expected) in [
        (
            Otherwise::Deny,
            "bash",
            "the call must be confined, and that this agent cannot confine commands",
        ),
        (Otherwise::Run, "bash", "runs"),
        (
            Otherwise::Deny,
            "file_write",
            "the call must be confined, and that only shell commands can be confined",
        ),
        (
            Otherwise::Ask,
            "file_write",
            "asks: the call cannot be confined as the hook demands: only shell commands can be confined",
        ),
    ] {
        let scene = Scene::new();
        let reply = move |_: &NativeEvent<'_>| {
            let confinement = Confinement { otherwise: Some(otherwise), ..Confinement::default() };
            Ok(Reply { confinements: vec![confinement], ..verdict(VerdictKind::Confine, "unread") })
        };
        let engine = engine(&scene, reply, |hook| hook);
        let hooks = engine.session(Scope::new("conversation-1", engine.project()));
        let decision = hooks.before_tool(ToolCall::new("1", tool, []));
        if let ToolDecision::Run(approved) = &decision {
            assert_eq!(approved.confinements, []);
        }
        assert_eq!(reason(decision), expected);
    }
}

#[test]
fn an_unknown_profile_asks_the_user() {
    let scene = Scene::new();
    let reply = |_: &NativeEvent<'_>| {
        let confinement =
            Confinement { profile: Some("bild".to_owned()), ..Confinement::default() };
        Ok(Reply { confinements: vec![confinement], ..verdict(VerdictKind::Confine, "unread") })
    };
    let engine = engine(&scene, reply, |hook| hook);
    let question = reason(before_tool(&engine, "make"));
    assert_eq!(question, "asks: there is no profile \"bild\" to confine it with");
}
