//! Text that is still arriving, as the user of a terminal sees it, in a chat and with `tenter run`.

use serde_json::{Value, json};
use tenter_testkit::pty::Signal;
use tenter_testkit::{PtySession, Sandbox};

use crate::sandbox;

/// A pause that no test waits for.
const FOREVER: u64 = 3_600_000;

/// Returns a program with a scripted model, in a terminal of 60 columns and 20 rows.
fn start(sandbox: &Sandbox, program: &str, turn: &Value) -> PtySession {
    let script = json!({"turns": [turn]}).to_string();
    let mut command = sandbox.command();
    command.args([program, "--model", &sandbox.script(&script), "go"]);
    PtySession::start_sized(command, (60, 20))
}

/// Returns everything that `tenter run` leaves on the screen.
fn lines_of_run(sandbox: &Sandbox, turn: &Value) -> Vec<String> {
    let session = start(sandbox, "run", turn);
    session.wait_for_row("done · ");
    session.end_lines().1
}

#[test]
fn incomplete_text_is_shown_as_markdown_and_stays_after_an_interrupt() {
    for program in ["chat", "run"] {
        let sandbox = sandbox();
        let text = "A list:\n\n- `one`\n- **two** never";
        let session = start(&sandbox, program, &json!({"text": text, "pace_ms": 1}));
        session.wait_for_row("• two never");
        drop(session);

        let text = "Begun.\n\n**bold never";
        let session = start(&sandbox, program, &json!({"text": text, "pace_ms": FOREVER}));
        session.wait_for_rows(|rows| rows.contains(&"bold".to_owned()));
        session.resize((30, 10));
        session.wait_for_rows(|rows| rows.iter().filter(|row| *row == "bold").count() == 1);
        session.signal(Signal::INT);
        let rows = session.wait_for_rows(|rows| {
            rows.iter().any(|row| row.starts_with("stopped") || row.starts_with("interrupted"))
        });
        assert_eq!(rows.iter().filter(|row| *row == "**bold").count(), 1, "{rows:?}");
        assert_eq!(rows.iter().filter(|row| *row == "Begun.").count(), 1, "{rows:?}");
    }
}

#[test]
fn code_longer_than_the_screen_is_printed_once() {
    let code: Vec<String> = (0..10_000).map(|number| format!("line_{number}")).collect();
    let text = format!("```\n{}\n```\n", code.join("\n"));
    let lines = lines_of_run(&sandbox(), &json!({"text": text}));
    let output: Vec<&String> = lines.iter().filter(|line| line.starts_with("line_")).collect();
    assert!(output.len() == code.len() && output.into_iter().eq(&code), "{lines:?}");
}

#[test]
fn a_block_longer_than_the_screen_is_printed_once() {
    let rows: Vec<String> = (0..60).map(|number| format!("|row_{number}|two words|")).collect();
    let text = format!("|name|text|\n|-|-|\n{}\n\nEnd.", rows.join("\n"));
    let lines = lines_of_run(&sandbox(), &json!({"text": text, "pace_ms": 5}));
    let output: Vec<&str> =
        lines.iter().filter_map(|line| Some(line.split_once(" │ ")?.0.trim_end())).collect();
    let expected: Vec<String> = (0..60).map(|number| format!("row_{number}")).collect();
    assert_eq!(output[0], "name");
    assert_eq!(output[1..], expected, "{lines:?}");
}

#[test]
fn the_discarded_part_of_an_answer_leaves_the_screen() {
    let sandbox = sandbox();
    sandbox.configure("[retry]\nfirst_delay_ms = 1\n");
    let fault = json!({"kind": "cut", "retry_after_ms": 20});
    let lines = lines_of_run(&sandbox, &json!({"text": "The name is Ada.", "fault": fault}));
    assert!(lines[0].starts_with("↻"), "{lines:?}");
    assert!(!lines.contains(&"The name".to_owned()), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| *line == "The name is Ada.").count(), 1, "{lines:?}");
}

#[test]
fn run_renders_text_and_changes_on_a_terminal_only() {
    let sandbox = sandbox();
    sandbox.write("list.txt", "one\n\ttwo\n");
    let edit = json!({"file_path": "list.txt", "old_text": "two", "new_text": "2"});
    let script = json!({"turns": [
        {"text": "I **change** it.", "tool_calls": [{"name": "file_edit", "input": edit}]},
        {"text": "Done."}
    ]});
    let model = sandbox.script(&script.to_string());
    let mut command = sandbox.command();
    command.args(["run", "--model", &model, "go"]);
    let session = PtySession::start_sized(command, (60, 20));
    session.wait_for_row("done · ");
    let lines = session.end_lines().1.join("\n");
    let screen = "I change it.\n\n● file_edit list.txt\n  ✓ Edited list.txt: 1 replacement at line 2.\n    @@ line 1 @@\n     one\n    -    two\n    +    2\n\nDone.\ndone · ";
    assert!(lines.contains(screen), "{lines}");

    sandbox.write("list.txt", "one\n\ttwo\n");
    let output = sandbox.run(["run", "--model", &model, "go"]).expect_code(0);
    assert_eq!(output.stdout, "I **change** it.\nDone.\n");
    assert!(output.stderr.contains("● file_edit {\"file_path\""), "{output}");
}
