//! Recipes that fail: nothing changes, the failure is reported, and after three consecutive failures the recipe is
//! skipped.

use std::collections::BTreeMap;

use tenter_agent::session::{CompactionResult, Status};

use crate::session_stage::{QUICK, Stage};

/// Returns a stage on which the window is full at each of so many turns, and the recipe answers so.
fn stage(turns: usize, answers: &str) -> Stage {
    let turn =
        "  - {tool_calls: [{name: todo}], usage: {input_tokens: 13000, output_tokens: 10}}\n";
    Stage::new(
        &format!(
            "turns:\n{}  - {{text: Done.}}\nrecipes: {{compact: {answers}}}\ncontext_window: 16000\n",
            turn.repeat(turns)
        ),
        QUICK,
    )
}

#[test]
fn a_failing_recipe_changes_nothing_and_is_reported() {
    for (answers, why) in [
        ("[{fault: {kind: refused, message: no such model}}]", "no such model"),
        ("[{reasoning: Hm.}]", "its response is empty"),
        ("[' ']", "its response is empty"),
        ("[{fault: {kind: too_long}}]", "longer than the model can hold"),
        ("[{tool_calls: [{name: todo}]}]", "it did not finish within 30 turns"),
        ("[]", "the script has no response"),
    ] {
        let stage = stage(1, answers);
        let (finish, _) = stage.send(&"go".into());
        assert_eq!(finish.response, "Done.");
        let reports = stage.reports_of("callback-failed");
        let [report] = &reports[..] else { panic!("{answers}: {:?}", stage.reports()) };
        let cause = "the recipe compact, run because builtin:compact-trigger found the context nearly full: ";
        assert!(report.contains(cause) && report.contains(why), "{report}");
        assert_eq!((stage.epochs().len(), stage.stored().0.len()), (1, 4));
    }
}

#[test]
fn a_recipe_with_a_broken_file_is_reported_with_the_problem() {
    for (text, why) in [
        ("Sum it up:\n{{.ticket}}", "the argument `ticket` was not given, in line 2 of "),
        ("{{if}}", "the `if` that begins here has no end"),
        ("---\nallowed_tools: [hammer]\n---\nx", "hammer"),
    ] {
        let stage = stage(1, "[SUM]");
        stage.write("home/.kodelet/recipes/compact.md", text);
        stage.send(&"go".into());
        let reports = stage.reports_of("callback-failed");
        assert!(matches!(&reports[..], [line] if line.contains(why)), "{text}: {reports:?}");
        assert_eq!(stage.epochs().len(), 1);
    }
}

#[test]
fn after_three_consecutive_failures_it_is_skipped_until_the_user_asks() {
    let stage = stage(6, "[{text: SUM, fault: {kind: refused, times: 3}}]");
    let mut session = stage.session();
    assert_eq!(session.send(&"go".into()).response, "Done.");
    assert_eq!(
        (stage.reports_of("callback-failed").len(), stage.reports_of("recipe").len()),
        (3, 3)
    );
    assert_eq!(session.compact(&BTreeMap::new()).unwrap(), CompactionResult::Done);
    assert_eq!(stage.epochs().len(), 2);
}

#[test]
fn a_success_resets_the_failure_count() {
    let refusal = "{fault: {kind: refused}}";
    let stage = stage(7, &format!("[{refusal}, {refusal}, SUM, {refusal}, {refusal}, SUM]"));
    stage.send(&"go".into());
    assert_eq!(
        (stage.reports_of("callback-failed").len(), stage.reports_of("history").len()),
        (4, 3)
    );
}

#[test]
fn a_summary_that_is_too_long_counts_as_a_failure() {
    let long = "z".repeat(52_000);
    let stage = stage(6, &format!("[{long}]"));
    let (finish, _) = stage.send(&"go".into());
    assert_eq!(finish.response, "Done.");
    let reports = stage.reports_of("callback-failed");
    assert_eq!((reports.len(), stage.reports_of("recipe").len()), (3, 3), "{reports:?}");
    assert!(reports[0].ends_with("the new history is still too long"), "{reports:?}");
}

#[test]
fn a_hooks_callback_to_a_skipped_recipe_is_ignored() {
    let mut stage = stage(5, "[{fault: {kind: refused}}]");
    stage.agent.settings.auto_compact = None;
    stage.hook(
        "caller",
        "after_turn",
        "",
        "echo '{\"result\": \"callback\", \"callback\": \"compact\"}'",
    );
    stage.send(&"go".into());
    assert_eq!(stage.reports_of("callback-failed").len(), 3);
}

#[test]
fn a_recipe_that_is_interrupted_has_not_failed() {
    for turn in [
        "usage: {input_tokens: 13000, output_tokens: 10}, tool_calls: [{name: todo}]",
        "fault: {kind: too_long}, text: Late.",
    ] {
        let script = format!(
            "turns:\n  - {{text: One.}}\n  - {{{turn}}}\nrecipes: {{compact: [{{text: SUM, fault: {{delay_ms: 600000}}}}]}}\ncontext_window: 16000\n"
        );
        let stage = Stage::new(&script, QUICK);
        let mut session = stage.session();
        session.send(&"first".into());
        stage.interrupt_at("recipe");
        let finish = session.send(&"second".into());
        assert_eq!((finish.status, finish.error.is_none()), (Status::Interrupted, true), "{turn}");
        assert_eq!(stage.reports_of("callback-failed"), [] as [&str; 0]);
        assert_eq!(stage.epochs().len(), 1);
    }
}

#[test]
fn cancelling_the_turn_terminates_a_recipes_tool() {
    let script = "turns: [{text: One.}]\nrecipes: {digest: [{tool_calls: [{name: bash, input: {command: touch began; sleep 600; touch ended}}]}]}";
    let mut stage = Stage::new(script, QUICK);
    stage.write("home/.kodelet/recipes/digest.md", "Digest it.\n");
    stage.hook(
        "caller",
        "after_turn",
        "",
        "echo '{\"result\": \"callback\", \"callback\": \"digest\"}'",
    );
    let finish = std::thread::scope(|scope| {
        let work = scope.spawn(|| stage.send(&"go".into()).0);
        stage.wait_for("began");
        stage.cancel.cancel();
        work.join().unwrap()
    });
    assert_eq!(finish.status, Status::Interrupted);
    assert_eq!(stage.epochs().len(), 1);
}
