//! Stored conversations: resuming, not saving, and a process that is killed.

use std::time::Instant;

use tenter_testkit::wait_until;

use crate::{sandbox, send_signal};

#[test]
fn follow_and_resume_continue_the_conversation() {
    let sandbox = sandbox();
    let first = sandbox
        .play("turns: [{text: The answer is 42.}]", &["--headless", "what is it?"])
        .expect_code(0);
    let id = first.json_lines()[0]["id"].as_str().unwrap().to_owned();
    let model = sandbox.script(
        "turns: [{text: Because., expect: {contains: [what is it?, The answer is 42., why?]}}]",
    );
    assert_eq!(sandbox.run(["run", "--follow", "--model", &model, "why?"]).code, Some(0));
    let model = sandbox.script("turns: [{text: ok, expect: {contains: [Because.]}}]");
    let resumed = sandbox
        .run(["run", "--headless", "--resume", &id[..13], "--model", &model, "and?"])
        .expect_code(0);
    assert_eq!(resumed.json_lines()[0]["id"], id);
    let unknown =
        sandbox.run(["run", "--resume", "nonsense", "--model", &model, "x"]).expect_code(1);
    assert!(unknown.stderr.contains("there is no conversation \"nonsense\""), "{unknown}");
    assert_eq!(sandbox.run(["run", "--resume", &id, "--follow", "x"]).code, Some(2));
}

#[test]
fn turns_are_counted_per_message_and_over_the_conversation() {
    let sandbox = sandbox();
    sandbox.sh_hook("turn", "after_turn", r#"printf '%s' "$payload" > turn.json"#);
    let model = sandbox.script("turns: [{text: one}]");
    assert_eq!(sandbox.run(["run", "--model", &model, "a"]).code, Some(0));
    assert_eq!(sandbox.run(["run", "--follow", "--model", &model, "b"]).code, Some(0));
    let payload: serde_json::Value = serde_json::from_str(&sandbox.read("turn.json")).unwrap();
    assert_eq!((&payload["turn_number"], &payload["session_turn"]), (&1.into(), &2.into()));
}

#[test]
fn no_save_stores_nothing() {
    let sandbox = sandbox();
    let model = sandbox.script("turns: [{text: ok}]");
    assert_eq!(sandbox.run(["run", "--no-save", "--model", &model, "a"]).code, Some(0));
    assert!(!sandbox.state().join("conversations.db").exists());
    assert_eq!(sandbox.run(["run", "--model", &model, "saved"]).code, Some(0));
    let model = sandbox.script(
        "turns: [{text: ok, expect: {contains: [saved]}}, {text: ok, expect: {contains: [saved]}}]",
    );
    assert_eq!(
        sandbox.run(["run", "--no-save", "--follow", "--model", &model, "unsaved"]).code,
        Some(0)
    );
    let model =
        sandbox.script("turns: [{text: ok, expect: {contains: [saved], lacks: [unsaved]}}]");
    assert_eq!(sandbox.run(["run", "--follow", "--model", &model, "b"]).code, Some(0));
}

/// A process that is killed at any moment loses at most the exchange in flight, and its conversation can be resumed.
#[test]
fn a_killed_run_keeps_every_finished_exchange_and_can_be_resumed() {
    let sandbox = sandbox();
    let turn = |number: u32| {
        format!(
            "{{text: step {number}., tool_calls: [{{name: bash, input: {{command: \"echo {number} >> steps\"}}}}]}}"
        )
    };
    let turns: Vec<String> = (0..400).map(turn).collect();
    let script = format!("turns: [{}]", turns.join(", "));
    for round in 0..6 {
        let model = sandbox.script(&script);
        let _ = std::fs::remove_file(sandbox.project().join("steps"));
        let mut child = sandbox.start(["run", "--model", &model, "walk"]);
        let steps = || {
            std::fs::read_to_string(sandbox.project().join("steps"))
                .map_or(0, |text| text.lines().count())
        };
        let start = Instant::now();
        wait_until("some steps are done", || steps() > round * 3);
        // A different moment of an exchange each time, without a clock of our own.
        while start.elapsed().subsec_micros() % 7 != u32::try_from(round).unwrap() {
            std::hint::spin_loop();
        }
        assert!(send_signal("KILL", child.id()));
        child.wait().unwrap();
        let count = steps();
        let minimum = count.saturating_sub(2); // the last may be in flight, and one more may have begun
        let expected =
            if minimum == 0 { "walk".to_owned() } else { format!("step {}.", minimum - 1) };
        let output = sandbox.play(
            &format!("turns: [{{text: resumed, expect: {{contains: [walk, \"{expected}\"]}}}}]"),
            &["--follow", "--result-only", "continue"],
        );
        assert_eq!(output.stdout, "resumed\n", "round {round}\n{output}");
    }
}
