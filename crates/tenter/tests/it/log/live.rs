//! `tenter log` in a pager, and as it grows.

use std::io::{BufRead as _, BufReader};
use std::process::ChildStdout;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tenter_testkit::{PtySession, Sandbox, wait_until};

use super::ask;
use crate::conversation::busy_conversation;
use crate::{sandbox, send_signal};

/// Runs `tenter log` in a terminal with this pager, and returns what the terminal showed.
fn paged(sandbox: &Sandbox, pager: Option<&str>, args: &[&str]) -> String {
    let mut command = sandbox.command();
    command.arg("log").args(args).env("OPENAI_API_KEY", "sk-top-secret-value");
    command.envs(pager.map(|pager| ("PAGER", pager)));
    let (code, screen) = PtySession::start(command).end();
    assert_eq!(code, Some(0), "{screen}");
    screen
}

#[test]
fn the_log_is_shown_in_the_users_pager_without_model_keys() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    let pager = "cat > paged; env > env.txt; echo";
    let screen = paged(&sandbox, Some(&format!("{pager} was here #")), &[]);
    assert!(screen.contains("was here") && !screen.contains("b-guard"), "{screen}");
    assert!(sandbox.read("paged").contains("b-guard"), "{}", sandbox.read("paged"));
    let env = sandbox.read("env.txt");
    assert!(env.contains("PAGER=") && !env.contains("sk-top-secret-value"), "{env}");
    for (pager, args) in [
        (Some(""), &[][..]),
        (Some("cat"), &[]),
        (Some("no-such-pager-anywhere"), &[]),
        (Some("echo was here; false"), &["--no-pager"]),
        (Some("echo was here; false"), &["--json"]),
    ] {
        let screen = paged(&sandbox, pager, args);
        assert!(screen.contains("b-guard") && !screen.contains("was here"), "{pager:?}\n{screen}");
    }
    // A user who leaves the pager has read enough.
    assert!(!paged(&sandbox, Some("head -n 1; exit 1"), &[]).contains("b-guard"));
}

#[test]
fn following_starts_with_the_newest_records() {
    let sandbox = sandbox();
    sandbox.sh_hook("stop", "agent_stop", "");
    let _ = ask(&sandbox, &[]);
    let before = ask(&sandbox, &[]);
    let mut watcher = sandbox.start("log --follow -n 1 --json");
    let next = lines_of(watcher.stdout.take().unwrap());
    assert_eq!((&next()["conversation_id"], "decision"), (&before.as_str().into(), "decision"));
    let after = ask(&sandbox, &[]);
    assert_eq!(next()["conversation_id"], after.as_str());
    assert!(send_signal("INT", watcher.id()));
    let _ = sandbox.finish(watcher).expect_code(0);
}

/// Reads JSON lines from a pipe; the test fails if an expected line does not come.
fn lines_of(pipe: ChildStdout) -> impl Fn() -> Value {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        BufReader::new(pipe).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    move || {
        let line = receiver.recv_timeout(Duration::from_mins(1)).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

#[test]
fn watching_shows_new_records_until_ctrl_c() {
    let sandbox = sandbox();
    sandbox.sh_hook("stop", "agent_stop", "");
    let mut watcher = sandbox.start("log -f --json");
    let next = lines_of(watcher.stdout.take().unwrap());
    let first = ask(&sandbox, &[]);
    let run = next();
    assert_eq!((&run["conversation_id"], &run["kind"]), (&first.as_str().into(), &"run".into()));
    assert_eq!(next()["kind"], "decision");
    let second = ask(&sandbox, &[]);
    assert_eq!(next()["conversation_id"], second.as_str());
    assert_eq!(next()["kind"], "decision");
    assert!(send_signal("INT", watcher.id()));
    let _ = sandbox.finish(watcher).expect_code(0);
}

#[test]
fn watching_ends_when_the_reader_is_gone() {
    let sandbox = sandbox();
    sandbox.sh_hook("stop", "agent_stop", "");
    let mut watcher = sandbox.start("log --watch");
    drop(watcher.stdout.take());
    let _ = ask(&sandbox, &[]);
    wait_until("the watcher is gone", || watcher.try_wait().unwrap().is_some());
    let _ = sandbox.finish(watcher).expect_code(0);
}
