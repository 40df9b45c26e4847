//! Asynchronous hooks: their replies are delivered before a later turn, marked as late, and none outlives a session.

use std::time::{Duration, Instant};

use tenter_agent::Session;
use tenter_agent::prompt::SectionWriter;
use tenter_agent::session::Status;

use crate::session_stage::{ID, QUICK, Stage};

/// Maximum wait for a hook.
const MAX_WAIT: Duration = Duration::from_mins(1);

const CALLBACK: &str = r#"echo '{"result": "callback", "callback": "digest"}'"#;
const CONTEXT: &str = r#"echo '{"additional_context": "CI is red"}'"#;

/// Returns a stage on which an asynchronous hook says this, at the first event of its kind.
fn stage(script: &str, trigger: &str, answer: &str) -> Stage {
    let mut stage = Stage::new(script, QUICK);
    stage.write("home/.kodelet/recipes/digest.md", "Digest it.\n");
    let once = format!("[ -e once ] || {{ touch once; {answer}; }}");
    stage.hook("watch", trigger, "async: true", &once);
    stage
}

/// Ends the work.
fn end(session: Session) {
    session.end(Status::Done, Status::Done.exit_reason());
}

/// Returns the messages that are stored, as text.
fn stored(stage: &Stage) -> Vec<String> {
    stage.stored().0.iter().map(tenter_protocol::Message::content).collect()
}

/// Sends messages until one that is marked as late has been added.
fn continue_until_late(stage: &Stage, session: &mut Session) -> String {
    let start = Instant::now();
    loop {
        session.send(&"continue".into());
        if let Some(late) = stored(stage).into_iter().find(|text| text.contains("late=\"true\"")) {
            return late;
        }
        assert!(start.elapsed() < MAX_WAIT, "{:?}", stage.reports());
    }
}

/// Returns a text of the hook `watch` as the model of this session reads it.
fn late(session: &Session, text: &str) -> String {
    let attributes = [("name", "watch"), ("late", "true")];
    SectionWriter::new(session.conversation_id()).section("hook", &attributes, text)
}

#[test]
fn late_text_is_delivered_before_a_later_turn() {
    let stage = stage(
        "turns: [{text: One.}, {text: Two., expect: {contains: [' name=\"watch\" late=\"true\">', CI is red]}}]",
        "after_turn",
        CONTEXT,
    );
    let mut session = stage.session();
    session.send(&"go".into());
    stage.agent.engine.drain(MAX_WAIT);
    assert_eq!(session.send(&"and?".into()).response, "Two.");
    let late = late(&session, "CI is red");
    assert_eq!(stored(&stage), ["go", "One.", "and?", &late, "Two."]);
}

#[test]
fn a_late_recipes_answer_is_added_without_replacing_the_history() {
    let stage = stage(
        "turns: [{text: One., usage: {input_tokens: 10, output_tokens: 1}}, {text: Two., usage: {input_tokens: 20, output_tokens: 2}}]\nrecipes: {digest: [{text: DIGEST, usage: {input_tokens: 500, output_tokens: 50}, cost_usd: 0.5, expect: {contains: [Digest it., go, One.]}}]}",
        "after_turn",
        CALLBACK,
    );
    let mut session = stage.session();
    session.send(&"go".into());
    stage.agent.engine.drain(MAX_WAIT);
    let digest = continue_until_late(&stage, &mut session);
    assert_eq!(digest, late(&session, "DIGEST"));
    let usage = *session.usage();
    end(session);
    assert_eq!(
        (stage.epochs().len(), &stored(&stage)[..2]),
        (1, &["go".to_owned(), "One.".to_owned()][..])
    );
    assert_eq!(usage.cost_usd, Some(0.5));
    let stored_usage = stage.agent.store.load(ID).unwrap().summary.usage;
    assert_eq!((stored_usage.input_tokens, stored_usage.cost_usd), (usage.input_tokens, Some(0.5)));
}

#[test]
fn a_failing_late_recipe_is_reported_and_counted() {
    let script =
        "turns: [{text: One.}]\nrecipes: {digest: [{fault: {kind: refused, message: no}}]}";
    let mut stage = Stage::new(script, QUICK);
    stage.write("home/.kodelet/recipes/digest.md", "Digest it.\n");
    stage.hook("watch", "after_turn", "async: true", CALLBACK);
    let mut session = stage.session();
    let start = Instant::now();
    let no = "callback-failed the recipe digest, called back late by watch: no";
    while stage.reports_of(no).len() < 3 {
        session.send(&"go".into());
        assert!(start.elapsed() < MAX_WAIT, "{:?}", stage.reports());
    }
    let runs = stage.reports_of("recipe").len();
    for _ in 0..3 {
        session.send(&"go".into());
    }
    stage.agent.engine.drain(MAX_WAIT);
    session.send(&"go".into());
    assert_eq!(stage.reports_of("recipe").len(), runs, "nothing is called back any more");
}

#[test]
fn the_end_of_a_session_terminates_a_late_recipe() {
    for answer in [
        "{text: DIGEST, fault: {delay_ms: 600000}}",
        "{tool_calls: [{name: bash, input: {command: sleep 600}}]}",
    ] {
        let stage = stage(
            &format!("turns: [{{text: One.}}]\nrecipes: {{digest: [{answer}]}}"),
            "after_turn",
            CALLBACK,
        );
        let mut session = stage.session();
        session.send(&"go".into());
        stage.agent.engine.drain(MAX_WAIT);
        session.send(&"and?".into());
        assert_eq!(stage.reports_of("recipe"), ["recipe digest"]);
        let start = Instant::now();
        end(session);
        assert!(start.elapsed() < MAX_WAIT);
        let reports = stage.reports_of("callback-too-late");
        assert_eq!(
            reports,
            [
                "callback-too-late the recipe digest, called back late by watch, had not finished when the session ended"
            ]
        );
        assert!(!stored(&stage).concat().contains("late="));
    }
}

#[test]
fn a_late_recipe_that_starts_a_program_blocks_nothing() {
    let stage = stage(
        "turns: [{text: One.}, {text: Two.}]\nrecipes: {digest: [DIGEST]}",
        "after_turn",
        CALLBACK,
    );
    stage.write(
        "home/.kodelet/recipes/digest.md",
        "{{bash \"sh\" \"-c\" \"touch began; sleep 600\"}}\n",
    );
    let mut session = stage.session();
    session.send(&"go".into());
    stage.agent.engine.drain(MAX_WAIT);
    let start = Instant::now();
    assert_eq!(session.send(&"and?".into()).response, "Two.");
    stage.wait_for("began");
    end(session);
    assert!(start.elapsed() < Duration::from_secs(25), "the program would take 30 s at least");
}

#[test]
fn text_that_arrives_at_the_end_waits_for_the_next_session() {
    for trigger in ["after_turn", "session_end"] {
        let stage = stage(
            "turns: [{text: One.}, {text: Two., expect: {contains: [CI is red]}}]",
            trigger,
            CONTEXT,
        );
        stage.send(&"go".into());
        if trigger == "session_end" {
            // There is nothing that it could say to a session that is over.
            assert_eq!(stored(&stage), ["go", "One."]);
            continue;
        }
        assert_eq!(stored(&stage).len(), 3);
        assert_eq!(stage.send(&"and?".into()).0.response, "Two.");
    }
}

#[test]
fn a_callback_at_the_end_is_reported_as_too_late() {
    let stage = stage("turns: [{text: One.}]\nrecipes: {digest: [DIGEST]}", "after_turn", CALLBACK);
    stage.send(&"go".into());
    assert_eq!(
        (stage.reports_of("callback-too-late").len(), stage.reports_of("recipe").len()),
        (1, 0)
    );
    assert_eq!(stored(&stage), ["go", "One."]);
}

#[test]
fn a_subagents_late_recipe_is_terminated_with_it() {
    let until_asked =
        "until [ -e asked ]; do sleep 0.02; done; while kill -0 $(cat asked); do sleep 0.02; done";
    let script = format!(
        "turns:\n  - {{tool_calls: [{{name: subagent, input: {{task: dig}}}}]}}\n  - {{tool_calls: [{{name: todo}}]}}\n  - {{tool_calls: [{{name: bash, input: {{command: \"{until_asked}\"}}}}]}}\n  - {{tool_calls: [{{name: todo}}]}}\n  - {{text: Dug.}}\n  - {{text: Done.}}\nrecipes: {{digest: [{{text: DIGEST, fault: {{delay_ms: 600000}}}}]}}\n"
    );
    let mut stage = Stage::new(&script, QUICK);
    stage.write("home/.kodelet/recipes/digest.md", "Digest it.\n");
    let ask = format!("{CALLBACK}; echo $$ > asking; mv asking asked");
    let body = format!(
        "case \"$payload\" in *'\"invoked_by\": \"subagent\"'*) [ -e asked ] || {{ {ask}; }};; esac"
    );
    stage.hook("watch", "after_turn", "async: true", &body);
    let start = Instant::now();
    let (finish, _) = stage.send(&"go".into());
    assert_eq!(finish.response, "Done.", "{:?}", stage.reports());
    assert_eq!(stage.reports_of("callback-too-late").len(), 1, "{:?}", stage.reports());
    assert!(start.elapsed() < MAX_WAIT);
}
