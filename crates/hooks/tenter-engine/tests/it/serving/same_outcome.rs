//! Either form of a hook decides the same with the same reply (S13).

use proptest::prelude::*;
use tenter_engine::{DecisionKind, Transport};
use tenter_proc::Cancel;
use tenter_protocol::event::StopAttempt;
use tenter_protocol::{Body, Event, ToolCall};

use super::stage::{Script, Stage};
use crate::scene::{Scene, USER_AGENTS, scope};

/// A hook that prints, or answers, the file `reply`.
const SERVED: Script = Script {
    manifest: "",
    metadata: "  runtime: serve\n  triggers: [before_agent, before_stop, after_agent]\n",
    one_shot: r#"cat "$TENTER_PROJECT_DIR/reply""#,
    start: "",
    initialize: "respond '{}'",
    event: r#"respond "$(cat "$TENTER_PROJECT_DIR/reply")""#,
    cancel: ":",
};

fn reply() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["allow", "deny", "ask", "block", "approve", "denny", ""]);
    let text =
        prop::sample::select(vec!["\"because\"", "\"\"", "7", "null", "[\"a\"]", "\"é\\n\""]);
    let field = prop_oneof![
        word.prop_map(|word| format!("\"decision\": \"{word}\"")),
        (
            prop::sample::select(vec![
                "reason",
                "additional_context",
                "log",
                "modified_prompt",
                "unknown",
                "follow_up_messages",
                "result",
            ]),
            text
        )
            .prop_map(|(name, text)| format!("\"{name}\": {text}")),
        Just("\"modified_input\": {\"command\": \"ls\"}".to_owned()),
        Just("\"modified_input\": 7".to_owned()),
        Just("\"blocked\": true".to_owned()),
        Just("\"follow_up_messages\": [\"again\"]".to_owned()),
    ];
    prop_oneof![
        1 => Just("null".to_owned()),
        9 => prop::collection::vec(field, 0..4).prop_map(|fields| format!("{{{}}}", fields.join(", "))),
    ]
}

fn bodies() -> Vec<Body> {
    vec![
        Body::BeforeTool(ToolCall::new("1", "bash", [("command".to_owned(), "rm x".into())])),
        Body::BeforeAgent { message: "hello".to_owned() },
        Body::BeforeStop(StopAttempt::new("done")),
        Body::AfterAgent { response: "done".to_owned() },
    ]
}

#[test]
fn one_shot_and_runtime_decide_the_same() {
    let stages = ["open", "closed"].map(|fail| {
        let metadata = format!("{}  fail: {fail}\n", SERVED.metadata);
        [metadata.clone().leak(), metadata.replace("  runtime: serve\n", "").leak()].map(
            |metadata| {
                let scene = Scene::new();
                Script { metadata, ..SERVED }.write(&scene, USER_AGENTS, "hook");
                Stage::in_scene(scene)
            },
        )
    });
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(120));
    runner
        .run(&(reply(), 0..bodies().len(), 0..2_usize), |(reply, body, fail)| {
            let [runtime, one_shot] = [0, 1].map(|form| {
                let stage: &Stage = &stages[fail][form];
                std::fs::write(stage.file("reply"), &reply).unwrap();
                let event = Event { scope: scope("c"), body: bodies()[body].clone() };
                let outcome = stage.engine.dispatch(event, &Cancel::new());
                (outcome, stage.last())
            });
            prop_assert_eq!(runtime.1.transport, Some(Transport::Runtime));
            prop_assert_eq!(one_shot.1.transport, Some(Transport::OneShot));
            prop_assert_eq!(format!("{:?}", runtime.0), format!("{:?}", one_shot.0));
            let report = |run: &tenter_engine::HookRun| {
                let has_failed = run.decision == DecisionKind::Failed;
                (
                    has_failed,
                    run.decision,
                    run.also.clone(),
                    run.reason.clone(),
                    run.warnings.clone(),
                    run.notes.clone(),
                )
            };
            prop_assert_eq!(report(&runtime.1), report(&one_shot.1));
            Ok(())
        })
        .unwrap();
}
