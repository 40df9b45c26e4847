//! The live part of the screen, as the user of a terminal sees it while an agent works.

use tenter_testkit::pty::Signal;
use tenter_testkit::{PtySession, Sandbox, wait_until};

use crate::manifests::hook as manifest_hook;
use crate::sandbox;

/// A command that runs until the file `go` exists in the project.
const UNTIL_GO: &str = "while [ ! -e go ]; do sleep 0.02; done";

/// Starts `tenter run` with a scripted model, in a terminal of a number of columns.
fn run(sandbox: &Sandbox, script: &str, columns: u16) -> PtySession {
    let mut command = sandbox.command();
    command.args(["run", "--model", &sandbox.script(script), "go"]);
    PtySession::start_sized(command, (columns, 30))
}

fn bash(command: &str) -> String {
    format!(
        "turns:\n  - tool_calls: [{{name: bash, input: {{command: {command:?}}}}}]\n  - text: Done.\n"
    )
}

fn status(rows: &[String]) -> Option<&String> {
    rows.iter().find(|row| row.contains("Ctrl-C stops"))
}

#[test]
fn a_slow_command_shows_what_runs_and_its_last_lines_and_nothing_of_it_stays() {
    for columns in [60, 100, 200] {
        let sandbox = sandbox();
        let command =
            format!("for i in 1 2 3 4 5 6 7; do echo line $i; done; {UNTIL_GO}; echo end");
        let session = run(&sandbox, &bash(&command), columns);
        let rows = session.wait_for_rows(|rows| rows.contains(&"  line 7".to_owned()));
        let output = status(&rows).unwrap();
        assert!(output.contains("bash for i in 1 2 3") && output.contains(" s · "), "{output}");
        assert!(rows.contains(&"  line 3".to_owned()), "{rows:?}");
        assert!(!rows.contains(&"  line 2".to_owned()), "{rows:?}");
        sandbox.write("go", "");
        session.wait_for_row("Done.");
        let lines = session.end_lines().1;
        assert!(status(&lines).is_none(), "{lines:?}");
        assert!(lines.contains(&"Done.".to_owned()), "{lines:?}");
        assert!(!lines.contains(&"  line 7".to_owned()), "{lines:?}");
    }
}

#[test]
fn a_slow_model_is_shown_within_the_first_second() {
    let sandbox = sandbox();
    let session = run(&sandbox, "turns: [{text: Done., fault: {delay_ms: 2500}}]", 100);
    let row = session.wait_for_row("model scripted:");
    assert!(row.contains(" s · Ctrl-C stops"), "{row}");
    session.wait_for_row("1 s · ");
    session.wait_for_row("Done.");
}

#[test]
fn a_narrow_terminal_shows_the_status_on_one_row() {
    let sandbox = sandbox();
    let session = run(&sandbox, &bash(&format!("echo 字字字字字字字字字字字字字; {UNTIL_GO}")), 20);
    let rows = session.wait_for_rows(|rows| rows.contains(&"  字字字字字字字字…".to_owned()));
    assert!(rows.iter().any(|row| row.contains("bash") && row.ends_with(" s")), "{rows:?}");
    sandbox.write("go", "");
    session.wait_for_row("Done.");
}

#[test]
fn a_dumb_terminal_and_a_pipe_show_nothing_of_it() {
    let sandbox = sandbox();
    let script = bash("sleep 0.5; echo end");
    let mut command = sandbox.command();
    command.env("TERM", "dumb").args(["run", "--model", &sandbox.script(&script), "go"]);
    let session = PtySession::start(command);
    session.wait_for_row("Done.");
    let raw = session.raw();
    assert!(!raw.contains("Ctrl-C") && !raw.contains("\x1b[?"), "{raw}");
    let output = sandbox.run(["run", "--model", &sandbox.script(&script), "go"]).expect_code(0);
    assert!(!output.stderr.contains("Ctrl-C") && !output.stderr.contains('\x1b'), "{output}");
}

#[test]
fn resizing_leaves_nothing_behind() {
    let sandbox = sandbox();
    sandbox.write("wait", format!("echo begun; {UNTIL_GO}"));
    let session = run(&sandbox, &bash("sh wait"), 100);
    session.wait_for_row("  begun");
    for columns in [60, 200, 45] {
        session.resize((columns, 25));
        let rows = session.wait_for_rows(|rows| rows.contains(&"  begun".to_owned()));
        let count = |text: &str| rows.iter().filter(|row| row.contains(text)).count();
        assert_eq!((count("Ctrl-C stops"), count("  begun")), (1, 1), "{rows:?}");
    }
    sandbox.write("go", "");
    session.wait_for_row("Done.");
    let lines = session.end_lines().1;
    assert!(status(&lines).is_none(), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("● bash")), "{lines:?}");
}

#[test]
fn a_slow_hook_is_shown_with_its_event() {
    let sandbox = sandbox();
    sandbox.sh_hook("slow", "before_tool_call", UNTIL_GO);
    let session = run(&sandbox, &bash("true"), 100);
    let row = session.wait_for_row("hook slow at before_tool");
    assert!(row.contains("Ctrl-C stops"), "{row}");
    sandbox.write("go", "");
    session.wait_for_row("Done.");
}

#[test]
fn parallel_calls_are_counted_and_each_result_names_its_call() {
    let sandbox = sandbox();
    let script = format!(
        "turns:
  - tool_calls:
      - {{name: bash, input: {{command: {:?}}}}}
      - {{name: bash, input: {{command: {:?}}}}}
  - text: Done.
",
        format!("echo one; {UNTIL_GO}"),
        format!("echo two; {UNTIL_GO}; exit 3"),
    );
    let session = run(&sandbox, &script, 100);
    session.wait_for_row("2 at once: bash echo "); // they begin in any order
    session.wait_for_rows(|rows| {
        let ends = |text: &str| {
            rows.iter().any(|row| row.starts_with("  bash echo") && row.ends_with(text))
        };
        ends(": one") && ends(": two")
    });
    sandbox.write("go", "");
    session.wait_for_row("Done.");
    let lines = session.end_lines().1;
    assert!(lines.iter().any(|line| line.starts_with("  ✓ bash echo one; while")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("  ✗ bash echo two; while")), "{lines:?}");
}

#[test]
fn the_first_interrupt_removes_the_region_and_leaves_the_cursor_visible() {
    let sandbox = sandbox();
    let session = run(&sandbox, &bash(&format!("echo begun; {UNTIL_GO}")), 100);
    session.wait_for_row("  begun");
    session.signal(Signal::INT);
    session.wait_for_row("interrupted; continue with");
    let lines = session.end_lines().1;
    assert!(status(&lines).is_none(), "{lines:?}");
}

#[test]
fn a_question_is_not_overprinted_and_others_wait_for_it() {
    let sandbox = sandbox();
    let ask = r#"echo '{"decision": "ask", "reason": "really?"}'"#;
    let body = format!("case $payload in *quick*) ;; *) {ask} ;; esac");
    manifest_hook(&sandbox, "asks", "before_tool", "", &body);
    let script = r#"turns:
  - tool_calls:
      - {name: bash, input: {command: touch first}}
      - {name: bash, input: {command: touch second}}
      - {name: bash, input: {command: "echo quick; touch quick-ran"}}
  - text: Done.
"#;
    let mut session = run(&sandbox, script, 100);
    session.wait_for_row("[n] no:");
    wait_until("the quick call ran", || sandbox.project().join("quick-ran").exists());
    // The result of the quick call waits, and so does the second question.
    let rows = session.rows();
    assert_eq!(rows.iter().filter(|row| row.contains("really?")).count(), 1, "{rows:?}");
    assert!(!rows.iter().any(|row| row.contains("✓")), "{rows:?}");
    let last = rows.iter().rfind(|row| !row.is_empty()).unwrap();
    assert!(last.ends_with("[n] no:"), "{rows:?}");
    session.enter("y");
    // What is typed before a question is shown does not answer it.
    session.wait_for_rows(|rows| rows.iter().filter(|row| row.contains("[n] no:")).count() == 2);
    session.enter("y");
    session.wait_for_row("Done.");
    for file in ["first", "second"] {
        assert!(sandbox.project().join(file).exists(), "{file}");
    }
}

#[test]
fn a_compaction_in_a_chat_is_shown() {
    let sandbox = sandbox();
    let script = "turns: [{text: Hello.}]
recipes:
  compact: [{text: We spoke., fault: {delay_ms: 1500}}]
";
    let mut command = sandbox.command();
    command.args(["chat", "--model", &sandbox.script(script), "hi"]);
    let mut session = PtySession::start_sized(command, (100, 30));
    session.wait_for("Hello.\n");
    session.answer("\n> ", "/compact");
    let row = session.wait_for_row("recipe compact · ");
    assert!(row.ends_with("Ctrl-C stops"), "{row}");
    session.wait_for("\n> ");
    assert!(status(&session.rows()).is_none(), "{:?}", session.rows());
}

#[test]
fn fetching_a_plugin_is_shown() {
    let sandbox = sandbox();
    let mut command = sandbox.command();
    let ssh = format!("sh -c 'cd {} && {UNTIL_GO}; false'", sandbox.project().display());
    command.env("GIT_SSH_COMMAND", ssh).args(["plugin", "add", "ssh://host.invalid/ada/guards"]);
    let session = PtySession::start_sized(command, (100, 30));
    let row = session.wait_for_row("fetching ada/guards");
    assert!(row.ends_with("Ctrl-C stops"), "{row}");
    session.signal(Signal::INT);
    let (code, lines) = session.end_lines();
    assert_eq!(code, Some(130));
    assert!(status(&lines).is_none(), "{lines:?}");
}

#[test]
fn only_the_result_stays_with_result_only() {
    let sandbox = sandbox();
    let mut command = sandbox.command();
    let script = bash(UNTIL_GO);
    command.args(["run", "--result-only", "--model", &sandbox.script(&script), "go"]);
    let session = PtySession::start_sized(command, (100, 30));
    session.wait_for_row("bash while");
    sandbox.write("go", "");
    let lines = session.end_lines().1;
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, ["Done."]);
}

#[test]
fn a_chat_shows_the_text_word_by_word_and_prints_it_once() {
    let sandbox = sandbox();
    let script = "turns: [{text: alpha **beta** gamma delta., pace_ms: 700}]";
    let mut command = sandbox.command();
    command.args(["chat", "--model", &sandbox.script(script), "hi"]);
    let mut session = PtySession::start_sized(command, (60, 30));
    session.wait_for_rows(|rows| rows.iter().any(|row| row.trim_end() == "alpha beta"));
    session.wait_for("alpha beta gamma delta.\n");
    session.wait_for("\n> ");
    let rows = session.rows();
    assert_eq!(rows.iter().filter(|row| row.contains("alpha")).count(), 1, "{rows:?}");
}
