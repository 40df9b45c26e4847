//! The processes that are killed before a process exits, and those that it leaves running. `kill_all` prevents any further start, so each
//! of these tests runs in a process of its own.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use tenter_proc::{Background, adopt_orphans, kill_all, start_background};
use tenter_testkit::own_process::alone;

use crate::harness::{FOREVER, exists, kill, run_to_end, sh, until, until_gone};

/// Returns a script that ignores SIGTERM, writes its process id to a file, and never ends.
fn deaf(file: &Path) -> String {
    let file = file.display();
    format!(
        "trap \"\" TERM HUP; echo $$ > {file}.new; mv {file}.new {file}; while :; do sleep 0.1; done"
    )
}

fn number(file: &Path) -> i32 {
    until("it runs", || file.exists());
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

fn background(script: &str, directory: &Path) -> Background {
    let mut invocation = sh(script);
    invocation.limits.grace = FOREVER;
    start_background(&invocation, &directory.join("log")).unwrap()
}

#[test]
fn supervised_programs_are_killed_and_others_keep_running() {
    alone("leaving::supervised_programs_are_killed_and_others_keep_running", killed_and_left);
}

fn killed_and_left() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    adopt_orphans().unwrap();
    let daemon =
        |name: &str| format!("(setsid sh -c '{}' </dev/null >/dev/null 2>&1 &)", deaf(&file(name)));
    let over =
        format!("{}; until [ -e {} ]; do sleep 0.01; done", daemon("over"), file("over").display());
    assert!(run_to_end(&sh(&over)).end.is_success());
    for script in [format!("{}\n{}", daemon("daemon"), deaf(&file("first"))), deaf(&file("second"))]
    {
        thread::spawn(move || run_to_end(&sh(&script)));
    }
    let continuing = background(&deaf(&file("continues")), directory.path());
    let heard = format!("echo > {}", file("heard").display());
    let hears = deaf(&file("told")).replacen("\"\" TERM", &format!("\"{heard}\" TERM"), 1);
    let ending = background(&hears, directory.path());
    let killed = ["first", "second", "daemon", "told"].map(|name| number(&file(name)));
    let running = ["over", "continues"].map(|name| number(&file(name)));
    thread::spawn(move || ending.end());
    until("it received SIGTERM", || file("heard").exists());
    kill_all();
    killed.into_iter().for_each(until_gone);
    for pid in running {
        assert!(exists(pid), "it is not supervised");
        kill(pid);
    }
    // Dropping it would wait for it, which is no longer possible.
    std::mem::forget(continuing);
}

#[test]
fn it_returns_at_once_however_many_programs_start_and_end() {
    alone(
        "leaving::it_returns_at_once_however_many_programs_start_and_end",
        in_the_middle_of_everything,
    );
}

fn in_the_middle_of_everything() {
    adopt_orphans().unwrap();
    let (sender, receiver) = mpsc::channel();
    for script in ["exit 0", "sleep 0.01 & exit 3", "(setsid sleep 0.01 &)", "kill -9 $$"] {
        let sender = sender.clone();
        thread::spawn(move || {
            loop {
                run_to_end(&sh(script));
                let _ = sender.send(());
            }
        });
    }
    for _ in 0..40 {
        receiver.recv().unwrap();
    }
    kill_all();
    // Results of programs that ended before may still arrive; then none does.
    while receiver.recv_timeout(Duration::from_millis(300)).is_ok() {}
}
