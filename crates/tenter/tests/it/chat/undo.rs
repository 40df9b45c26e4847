//! Snapshots in a chat: `/undo`, `/redo` and `/diff` on real files.

use std::fs;

use tenter_testkit::{PtySession, Sandbox};

use super::{chat, chat_with, say};
use crate::sandbox;

/// The configuration of the user.
const USER_FILE: &str = "../home/.config/tenter/config.toml";

fn command(command: &str) -> String {
    format!("tool_calls: [{{name: bash, input: {{command: {command:?}}}}}]")
}

/// Returns a chat in which the agent changed files in two turns.
fn worked(sandbox: &Sandbox, more: &str) -> PtySession {
    sandbox.write("a.txt", "one\n");
    sandbox.write("old.txt", "old\n");
    let script = format!(
        "turns:
  - {}
  - text: First.
  - tool_calls:
      - {{name: file_write, input: {{file_path: a.txt, text: \"three\\n\"}}}}
      - {{name: file_write, input: {{file_path: deep/new.txt, text: \"new\\n\"}}}}
  - text: Second.
{more}",
        command("echo two > a.txt; rm old.txt; head -c 100 /dev/zero > zeros.bin"),
    );
    let mut chat = chat(sandbox, &script);
    assert!(say(&mut chat, "change it").contains("First."));
    assert!(say(&mut chat, "and again").contains("Second."));
    chat
}

#[test]
fn turns_are_undone_one_after_another_and_redone() {
    let sandbox = sandbox();
    let expect = "{contains: [The user undid your changes of these files, a.txt, deep/new.txt]}";
    let mut chat = worked(&sandbox, &format!("  - {{text: I see., expect: {expect}}}"));
    let undone = say(&mut chat, "/undo");
    for line in ["Undoing the changes of and again", "  restore a.txt", "  delete deep/new.txt"] {
        assert!(undone.contains(line), "{line} in {undone}");
    }
    assert!(undone.contains("Undone: 3 paths."), "{undone}");
    assert_eq!(sandbox.read("a.txt"), "two\n");
    assert!(!sandbox.project().join("deep").exists());
    let undone = say(&mut chat, "/undo");
    assert!(undone.contains("create old.txt") && undone.contains("delete zeros.bin"), "{undone}");
    assert_eq!((sandbox.read("a.txt"), sandbox.read("old.txt")), ("one\n".into(), "old\n".into()));
    assert!(say(&mut chat, "/undo").contains("Nothing to undo"));
    assert!(say(&mut chat, "/redo").contains("Redoing the changes of change it"));
    assert_eq!(sandbox.read("a.txt"), "two\n");
    assert!(say(&mut chat, "what now?").contains("I see."));
}

#[test]
fn a_file_that_the_user_changed_is_overwritten_only_after_a_question() {
    let sandbox = sandbox();
    let mut chat = worked(&sandbox, "");
    sandbox.write("a.txt", "mine\n");
    let ask = |chat: &mut PtySession, answer: &str| {
        chat.enter("/undo");
        chat.wait_for("1 file was changed since, not by the agent. Overwrite?");
        say(chat, answer)
    };
    assert!(ask(&mut chat, "n").contains("Nothing was changed."));
    assert!(sandbox.project().join("deep/new.txt").exists());
    assert!(ask(&mut chat, "k").contains("Undone: 2 paths."));
    assert_eq!(sandbox.read("a.txt"), "mine\n");
    assert!(!sandbox.project().join("deep/new.txt").exists());
    ask(&mut chat, "y");
    assert_eq!(sandbox.read("a.txt"), "one\n");
}

#[test]
fn changes_can_be_undone_in_a_later_chat_and_the_model_reads_it() {
    let sandbox = sandbox();
    let mut first = worked(&sandbox, "");
    first.enter("/exit");
    assert_eq!(first.end().0, Some(0));
    let script = "turns:
  - {text: Hello., expect: {lacks: [The user undid]}}
  - {text: I see., expect: {contains: [The user undid your changes of these files]}}";
    let mut second = chat_with(&sandbox, script, &["--follow"]);
    assert!(say(&mut second, "hello").contains("Hello."));
    assert!(say(&mut second, "/undo").contains("restore a.txt"));
    second.enter("/exit");
    assert_eq!(second.end().0, Some(0));
    assert_eq!(sandbox.read("a.txt"), "two\n");
    let script = "turns:
  - {text: I see., expect: {contains: [The user undid your changes of these files]}}";
    let mut third = chat_with(&sandbox, script, &["--follow"]);
    assert!(say(&mut third, "so?").contains("I see."));
}

#[test]
fn a_turn_of_a_killed_chat_can_be_undone() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "one\n");
    let mut killed = chat(
        &sandbox,
        &format!("turns: [{{{}}}]", command("echo two > a.txt; touch done; sleep 1000")),
    );
    killed.enter("go");
    tenter_testkit::wait_until("the command ran", || sandbox.project().join("done").exists());
    killed.signal(tenter_testkit::pty::Signal::KILL);
    drop(killed);
    let mut chat = chat_with(&sandbox, "turns: []", &["--follow"]);
    let undone = say(&mut chat, "/undo");
    assert!(undone.contains("Tenter ended during this turn"), "{undone}");
    assert_eq!(sandbox.read("a.txt"), "one\n");
    assert!(!sandbox.project().join("done").exists());
}

#[test]
fn subagents_and_formatting_hooks_are_undone_too() {
    let sandbox = sandbox();
    sandbox.write("b.txt", "one\n");
    crate::manifests::hook(&sandbox, "format", "after_tool", "", "echo formatted > b.txt");
    let mut chat = chat(
        &sandbox,
        "turns:
  - tool_calls: [{name: subagent, input: {task: write it}}]
  - tool_calls: [{name: file_write, input: {file_path: c.txt, text: c}}]
  - text: Wrote it.
  - text: Done.",
    );
    assert!(say(&mut chat, "delegate").contains("Done."));
    assert_eq!((sandbox.read("b.txt"), sandbox.read("c.txt")), ("formatted\n".into(), "c".into()));
    say(&mut chat, "/undo");
    assert_eq!(sandbox.read("b.txt"), "one\n");
    assert!(!sandbox.project().join("c.txt").exists());
}

#[test]
fn the_changes_of_the_agent_are_shown() {
    let sandbox = sandbox();
    let mut chat = worked(&sandbox, "");
    let all = say(&mut chat, "/diff");
    for part in [
        "● a.txt changed\n",
        "-one\n",
        "+three\n",
        "● deep/new.txt created\n",
        "+new\n",
        "● old.txt deleted\n",
        "● zeros.bin created\n    a binary file of 100 bytes\n",
    ] {
        assert!(all.contains(part), "{part} in {all}");
    }
    let last = say(&mut chat, "/diff last");
    assert!(last.contains("-two\n") && !last.contains("old.txt"), "{last}");
    let one = say(&mut chat, "/diff deep");
    assert!(one.contains("deep/new.txt") && !one.contains("a.txt"), "{one}");
    assert!(say(&mut chat, "/diff other").contains("the agent did not change other"));
    say(&mut chat, "/undo");
    let undone = say(&mut chat, "/diff a.txt");
    assert!(undone.contains("-one\n") && undone.contains("+two\n"), "{undone}");
}

#[test]
fn without_snapshots_nothing_is_kept() {
    let run = |flags: &[&str], configuration: &str| {
        let sandbox = sandbox();
        sandbox.write(USER_FILE, configuration);
        let script = format!("turns: [{{{}}}, {{text: Done.}}]", command("echo 1 > a.txt"));
        let mut chat = chat_with(&sandbox, &script, flags);
        say(&mut chat, "go");
        for name in ["/undo", "/redo", "/diff"] {
            assert!(say(&mut chat, name).contains("this chat keeps no snapshots of files"));
        }
        assert!(!sandbox.state().join("snapshots").exists());
    };
    run(&["--no-save"], "");
    run(&[], "[chat]\nsnapshots = false\n");
}

#[test]
fn a_project_cannot_turn_snapshots_off_and_deleted_conversations_leave_none() {
    let sandbox = sandbox();
    sandbox.write("tenter.toml", "[chat]\nsnapshots = false\n");
    let script = format!("turns: [{{{}}}, {{text: Done.}}]", command("echo 1 > a.txt"));
    let mut chat = chat(&sandbox, &script);
    say(&mut chat, "go");
    assert!(say(&mut chat, "/diff").contains("● a.txt created"));
    chat.enter("/exit");
    assert_eq!(chat.end().0, Some(0));
    let has_content = || {
        let files = fs::read_dir(sandbox.state().join("snapshots")).unwrap();
        let mut contents = files.map(|file| fs::read(file.unwrap().path()).unwrap());
        contents.any(|content| String::from_utf8_lossy(&content).contains("a.txt"))
    };
    assert!(has_content());
    let _ = sandbox.run("conversation delete last --yes").expect_code(0);
    assert!(!has_content());
}
