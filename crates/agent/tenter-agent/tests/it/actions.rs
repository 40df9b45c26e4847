//! The actions of hooks: the choice between several history actions, the count of failed recipes, and the reports of decisions
//! that have no effect.

use std::collections::BTreeMap;

use tenter_agent::session::{CompactionResult, Status};
use tenter_protocol::Message;

use crate::session_stage::{QUICK, Stage};

fn calls_back(recipe: &str) -> String {
    format!("echo '{{\"result\": \"callback\", \"callback\": \"{recipe}\"}}'")
}

/// Returns a stage on which the window is full at each of so many turns.
fn full(turns: usize, recipes: &str) -> Stage {
    let turn =
        "  - {tool_calls: [{name: todo}], usage: {input_tokens: 13000, output_tokens: 10}}\n";
    let turns = turn.repeat(turns);
    let script =
        format!("turns:\n{turns}  - {{text: Done.}}\nrecipes: {recipes}\ncontext_window: 16000\n");
    Stage::new(&script, QUICK)
}

/// Returns the text of the stored conversation.
fn text(stage: &Stage) -> String {
    stage.stored().0.iter().map(Message::content).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_callback_that_cannot_start_does_not_prevent_compaction() {
    for recipe in ["compcat", "needy"] {
        let mut stage = full(1, "{compact: [SUMMARY]}");
        stage.write("home/.kodelet/recipes/needy.md", "Look at {{.ticket}}.");
        stage.hook("caller", "after_turn", "", &calls_back(recipe));
        stage.send(&"go".into());
        let failures = stage.reports_of("failed caller: its callback cannot start");
        assert!(!failures.is_empty(), "{:?}", stage.reports());
        assert_eq!(
            stage.reports_of("history compact by compact").len(),
            1,
            "{:?}",
            stage.reports()
        );
        assert_eq!(stage.reports_of("history-conflict"), [""; 0]);
        assert_eq!(stage.reports_of("callback-failed"), [""; 0]);
    }
}

#[test]
fn the_next_hooks_history_action_applies() {
    let mut stage = full(1, "{}");
    stage.agent.settings.auto_compact = None;
    stage.hook("a", "after_turn", "", &calls_back("nothing-of-the-kind"));
    let mutate = "[ -e done ] || { touch done; echo '{\"result\": \"mutate\", \"messages\": [{\"role\": \"user\", \"content\": \"MINE\"}]}'; }";
    stage.hook("b", "after_turn", "", mutate);
    stage.send(&"go".into());
    assert!(text(&stage).contains("MINE"), "{:?}", stage.reports());
}

#[test]
fn failures_are_counted_by_recipe_and_another_recipe_is_not_affected() {
    let refusal = "{fault: {kind: refused, times: 9}}";
    let mut stage = full(
        5,
        &format!(
            "{{digest: [{{text: D, {}}}], compact: [S1, S2, S3, S4]}}",
            &refusal[1..refusal.len() - 1]
        ),
    );
    stage.write("home/.kodelet/recipes/digest.md", "Digest it.");
    stage.hook("caller", "after_turn", "", &calls_back("digest"));
    stage.send(&"go".into());
    assert_eq!(stage.reports_of("callback-failed").len(), 3, "{:?}", stage.reports());
    // From then on the built-in one has its turn.
    assert!(!stage.reports_of("history compact by compact").is_empty(), "{:?}", stage.reports());
}

#[test]
fn failures_are_remembered_with_the_conversation_until_a_success() {
    let stage = full(3, "{compact: [{text: SUM, fault: {kind: refused, times: 3}}]}");
    stage.send(&"go".into());
    assert_eq!(stage.reports_of("callback-failed").len(), 3);
    let count = || stage.agent.store.load(crate::session_stage::ID).unwrap().callback_failures;
    assert_eq!(count(), [("compact".to_owned(), 3)].into());
    let mut session = stage.session();
    assert_eq!(stage.reports_of("callback-stopped").len(), 1, "{:?}", stage.reports());
    assert_eq!(session.compact(&BTreeMap::new()).unwrap(), CompactionResult::Done);
    assert_eq!(count(), BTreeMap::new());
}

#[test]
fn a_manually_started_recipe_receives_its_arguments() {
    let stage = Stage::new(
        "turns: [{text: One.}]\nrecipes: {compact: [{text: SUM, expect: {contains: [Keep the API.]}}]}\n",
        QUICK,
    );
    stage.write("home/.kodelet/recipes/compact.md", "Keep {{.what}}.");
    let mut session = stage.session();
    session.send(&"go".into());
    assert_eq!(session.compact(&BTreeMap::new()).unwrap(), CompactionResult::Unchanged);
    assert!(stage.reports_of("callback-failed")[0].contains("the argument `what` was not given"));
    let args = [("what".to_owned(), "the API".to_owned())].into();
    assert_eq!(session.compact(&args).unwrap(), CompactionResult::Done, "{:?}", stage.reports());
}

#[test]
fn contexts_of_hooks_before_a_deny_reach_the_model_with_the_reason() {
    let script = "turns:\n  - {tool_calls: [{name: bash, input: {command: touch made}}]}\n  - {text: Done., expect: {contains: ['blocked by hook: not today', it is Friday, ask Ada]}}\n";
    let mut stage = Stage::new(script, QUICK);
    stage.hook("a", "before_tool", "", "echo '{\"additional_context\": \"it is Friday\"}'");
    let deny = "echo '{\"decision\": \"deny\", \"reason\": \"not today\", \"additional_context\": \"ask Ada\"}'";
    stage.hook("b", "before_tool", "", deny);
    let (finish, _) = stage.send(&"go".into());
    assert_eq!(finish.status, Status::Done, "{:?}", stage.reports());
    assert_eq!(stage.read("made"), "");
}

#[test]
fn the_reason_for_a_denied_subagent_task_reaches_the_parents_model() {
    let script = "turns:\n  - {tool_calls: [{name: subagent, input: {question: dig}}]}\n  - {text: Done., expect: {contains: [no digging here]}}\n";
    let mut stage = Stage::new(script, QUICK);
    let deny = "case $payload in *dig*) echo 'no digging here' >&2; exit 2 ;; esac";
    stage.hook("guard", "before_agent", "", deny);
    let (finish, _) = stage.send(&"go".into());
    assert_eq!(finish.status, Status::Done, "{:?}", stage.reports());
}

#[test]
fn continuations_at_the_turn_limit_are_reported_once_and_contexts_are_kept() {
    let mut stage =
        Stage::new("turns:\n  - {tool_calls: [{name: todo}]}\n  - {text: No.}\n", QUICK);
    stage.agent.settings.max_turns = Some(1);
    let answer =
        "echo '{\"follow_up_messages\": [\"continue\"], \"additional_context\": \"remember\"}'";
    stage.hook("a", "before_stop", "", answer);
    stage.hook("b", "before_stop", "", "echo 'not done' >&2; exit 2");
    let (finish, _) = stage.send(&"go".into());
    assert_eq!(finish.status, Status::MaxTurns);
    let reports = stage.reports_of("follow-up-ignored");
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert!(reports[0].contains("the hook a requested a continuation"), "{reports:?}");
    assert!(reports[1].contains("the hook b requested a continuation"), "{reports:?}");
    assert_eq!(stage.reports_of("blocked"), [""; 0]);
    assert!(text(&stage).contains("remember"));
}

#[test]
fn a_redactor_sees_an_output_that_an_earlier_hook_turned_into_a_failure() {
    let script = "turns:\n  - {tool_calls: [{name: bash, input: {command: echo SEC''RET}}]}\n  - {text: Done., expect: {lacks: [SECRET]}}\n";
    let mut stage = Stage::new(script, QUICK);
    stage.hook("a", "after_tool", "", "echo '{\"modified_output\": {\"success\": false}}'");
    let redact = "echo '{\"modified_output\": {\"metadata\": {\"output\": \"[gone]\"}}}'";
    stage.hook("b", "after_tool", "", redact);
    let (finish, _) = stage.send(&"go".into());
    assert_eq!(finish.status, Status::Done, "{:?}", stage.reports());
}
