//! Seals and retention of journals (M5, M6).

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tenter_testkit::Sandbox;

use crate::sandbox;

/// Returns a session with a hook, and its journal.
fn recorded() -> (Sandbox, PathBuf) {
    let sandbox = sandbox();
    sandbox.sh_hook("watch", "before_tool_call", "echo '{\"blocked\": true, \"reason\": \"no\"}'");
    session(&sandbox);
    let entries = fs::read_dir(sandbox.state().join("journal")).unwrap();
    let mut journals = entries.map(|entry| entry.unwrap().path());
    let journal = journals.find(|path| path.extension().is_some_and(|it| it == "jsonl")).unwrap();
    (sandbox, journal)
}

fn session(sandbox: &Sandbox) {
    let script = "turns:\n  - tool_calls: [{name: bash, input: {command: ls}}]\n  - text: Done.\n";
    let _ = sandbox.play(script, &["do it"]).expect_code(0);
}

#[test]
fn a_session_is_sealed_at_its_end_and_later_changes_are_found() {
    let (sandbox, journal) = recorded();
    sandbox.prints("journal verify", "1 journal, 1 seal, 0 bytes not sealed yet");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("\"deny\"", "\"none\"", 1)).unwrap();
    let output = sandbox.run("journal verify").expect_code(1);
    assert!(output.stdout.contains("was changed between the bytes 0 and"), "{output}");
    fs::write(&journal, &text).unwrap();
    let _ = sandbox.run("journal verify").expect_code(0);
    fs::remove_file(&journal).unwrap();
    let output = sandbox.run("journal verify").expect_code(1);
    assert!(output.stdout.contains("was deleted"), "{output}");
}

/// A user who rewrites the journal and the chain is found only by a hash that was noted elsewhere.
#[test]
fn a_rewritten_chain_is_found_by_its_anchor() {
    let (sandbox, journal) = recorded();
    let head = sandbox.run("journal seal --head").expect_code(0).stdout;
    let head = head.trim();
    let _ = sandbox.run(["journal", "verify", "--anchor", head]).expect_code(0);
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("\"deny\"", "\"none\"", 1)).unwrap();
    fs::remove_file(sandbox.state().join("journal.seals")).unwrap();
    let _ = sandbox.run("journal seal").expect_code(0);
    let _ = sandbox.run("journal verify").expect_code(0);
    let output = sandbox.run(["journal", "verify", "--anchor", head]).expect_code(1);
    assert!(output.stdout.contains("the chain was rewritten"), "{output}");
}

#[test]
fn old_journals_are_deleted_at_the_end_of_a_session_and_the_seals_say_so() {
    let (sandbox, journal) = recorded();
    sandbox.configure("[journal]\nkeep_days = 30\n");
    session(&sandbox);
    assert!(journal.exists(), "it is young");
    let file = fs::OpenOptions::new().append(true).open(&journal).unwrap();
    let mtime = file.metadata().unwrap().modified().unwrap();
    file.set_modified(mtime - Duration::from_hours(24 * 31)).unwrap();
    session(&sandbox);
    assert!(!journal.exists());
    let chain = fs::read_to_string(sandbox.state().join("journal.seals")).unwrap();
    assert!(chain.contains("\"deleted\":\"journal.keep_days\""), "{chain}");
    let _ = sandbox.run("journal verify").expect_code(0);
}
