//! `builtin:compact-trigger`, after real hooks and without any.

use std::sync::Arc;

use tenter_engine::builtin::NAME;
use tenter_engine::inspect::{Catalog, Outcome};
use tenter_engine::journal::{JournalWriter, RecordKind, Redactor, read};
use tenter_engine::{DecisionKind, Layer, Observer as _, RunEnd};
use tenter_proc::Cancel;
use tenter_protocol::event::{Turn, Usage};
use tenter_protocol::{Body, Event, HistoryAction};

use crate::scene::{ObservedRuns, Scene, USER, ids, running, scope};

/// Returns a turn after which the context has this many of 1000 tokens.
pub(crate) fn turn(tokens: u64, auto_compact: Option<f64>) -> Body {
    let usage =
        Usage { current_context_window: tokens, max_context_window: 1000, ..Usage::default() };
    Body::AfterTurn(Turn {
        usage: Some(usage),
        auto_compact,
        messages: Some(Arc::default()),
        ..Turn::new(1, "Done.")
    })
}

/// Adds an executable for `after_turn` that leaves its name in the project and gives this answer.
fn after_turn(scene: &Scene, name: &str, answer: &str) {
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = hook ]; then echo after_turn; exit; fi\necho {name} >> \"$TENTER_PROJECT_DIR/calls\"\necho '{answer}'\n"
    );
    scene.hook(USER, name, &script);
}

/// Returns the outcome of an event with this scene's hooks, and what observers received.
fn dispatch(scene: &Scene, body: Body) -> (Outcome, Arc<ObservedRuns>) {
    let (engine, observer) = scene.engine(scene.load().0);
    (engine.dispatch(Event { scope: scope("c"), body }, &scene.cancel), observer)
}

/// Returns the hook that acts on the history, and the recipe that it runs.
fn acts(outcome: &Outcome) -> Option<(&str, &str)> {
    let history = outcome.history.first()?;
    match &history.value {
        HistoryAction::Callback { recipe, .. } => Some((&history.hook, recipe)),
        HistoryAction::Mutate(_) => Some((&history.hook, "")),
    }
}

#[test]
fn it_runs_without_any_hook_and_is_reported_like_one() {
    let scene = Scene::new();
    let (engine, observer) = scene.engine(Catalog::default());
    let event = Event { scope: scope("c"), body: turn(800, Some(0.8)) };
    let outcome = engine.dispatch(event, &Cancel::new());
    assert_eq!(acts(&outcome), Some((NAME, "compact")));
    let runs = observer.runs.lock().unwrap();
    let [run] = &runs[..] else { panic!("{runs:#?}") };
    assert_eq!(
        (run.hook.as_str(), run.layer, run.spelling.as_str()),
        (NAME, Layer::BuiltIn, "after_turn")
    );
    assert_eq!((run.decision, &run.end), (DecisionKind::Callback, &RunEnd::NoProcess));
    let reason = "the context has 800 of 1000 tokens; the threshold is 80 %";
    assert_eq!(run.reason.as_deref(), Some(reason));
    let decisions = observer.decisions.lock().unwrap();
    let [decision] = &decisions[..] else { panic!("{decisions:#?}") };
    assert_eq!((decision.hooks_run, decision.by.as_deref()), (1, Some(NAME)));
}

#[test]
fn it_is_not_reported_when_it_does_nothing() {
    let scene = Scene::new();
    for body in
        [turn(799, Some(0.8)), turn(1000, None), Body::AfterAgent { response: "Done.".to_owned() }]
    {
        let (outcome, observer) = dispatch(&scene, body.clone());
        assert_eq!(outcome, Outcome::new(body));
        assert!(
            observer.runs.lock().unwrap().is_empty()
                && observer.decisions.lock().unwrap().is_empty()
        );
    }
}

#[test]
fn it_yields_to_every_history_action_without_a_conflict() {
    let mutate = r#"{"result": "mutate", "messages": [{"role": "user", "content": "short"}]}"#;
    for (answer, expected) in [
        (mutate, ("summary", "")),
        (r#"{"result": "callback", "callback": "digest"}"#, ("summary", "digest")),
    ] {
        let scene = Scene::new();
        after_turn(&scene, "summary", answer);
        let (outcome, observer) = dispatch(&scene, turn(900, Some(0.8)));
        assert_eq!(acts(&outcome), Some(expected));
        assert!(outcome.overruled().is_empty(), "{outcome:?}");
        assert!(observer.decisions.lock().unwrap()[0].overruled.is_empty());
        let runs = observer.runs.lock().unwrap();
        assert_eq!(runs[1].notes, ["it gives way to the hook summary"]);
        assert!(runs[1].warnings.is_empty());
    }
}

#[test]
fn it_comes_last_and_neither_a_failure_nor_a_block_stops_it() {
    let scene = Scene::new();
    after_turn(&scene, "a-fails", "not an answer");
    scene.bare(USER, "b-denies", "name: b-denies\ndescription: d\ntrigger: after_turn");
    let deny = "#!/bin/sh\necho 'not good' >&2\nexit 2\n";
    scene.file(&format!("{USER}/b-denies/scripts/run"), deny, 0o755);
    let (outcome, observer) = dispatch(&scene, turn(900, Some(0.8)));
    assert_eq!(outcome.denied(), Some(("b-denies", "not good")));
    assert_eq!(acts(&outcome), Some((NAME, "compact")));
    let runs = observer.runs.lock().unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run.hook.as_str()).collect();
    assert_eq!(names, ["a-fails", "b-denies", NAME]);
}

#[test]
fn it_does_not_run_after_a_cancellation() {
    let scene = Scene::new();
    scene.cancel.cancel();
    let (outcome, observer) = dispatch(&scene, turn(900, Some(0.8)));
    assert_eq!(acts(&outcome), None);
    assert!(observer.runs.lock().unwrap().is_empty());
}

#[test]
fn the_journal_has_its_runs() {
    let scene = Scene::new();
    let (_, observer) = dispatch(&scene, turn(900, Some(0.8)));
    let journal = JournalWriter::new(scene.at("journal"), Redactor::new(Vec::new()));
    journal.hook_ran(&observer.runs.lock().unwrap()[0]);
    let lines = read(&scene.at("journal"), "c").unwrap().lines;
    let RecordKind::Run(run) = &lines[0].record.kind else { panic!("{lines:?}") };
    assert_eq!(
        (run.hook.as_str(), run.layer.as_str(), run.fingerprint.0.as_str(), &run.end),
        (NAME, "builtin", "", &RunEnd::NoProcess)
    );
}

#[test]
fn no_hook_file_can_use_a_built_in_name() {
    let scene = Scene::new();
    after_turn(&scene, "builtin:compact-trigger", "");
    after_turn(&scene, "rebuiltin:fine", "");
    let (catalog, findings) = scene.load();
    assert_eq!(running(&catalog), ["rebuiltin:fine"]);
    assert_eq!(ids(&findings), ["hook-invalid"]);
    assert!(findings[0].message.contains("begins with builtin:"), "{}", findings[0].message);
}
