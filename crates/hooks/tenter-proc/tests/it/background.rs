//! Background programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tenter_proc::{Background, start_background};
use tenter_testkit::with_growing_limits;

use crate::harness::{exists, kill, pid, program, sh, until, until_gone};

fn start(directory: &TempDir, script: &str) -> (Background, PathBuf) {
    let mut invocation = sh(script);
    invocation.limits.grace = Duration::from_millis(100);
    let log = directory.path().join("log");
    (start_background(&invocation, &log).unwrap(), log)
}

fn number(background: &Background) -> i32 {
    background.pid.try_into().unwrap()
}

fn until_written(log: &PathBuf, text: &str) {
    until("the log is written", || fs::read_to_string(log).unwrap() == text);
}

#[test]
fn output_is_appended_to_a_private_log() {
    let directory = tempfile::tempdir().unwrap();
    let (_first, log) = start(&directory, "echo one; echo two >&2");
    until_written(&log, "one\ntwo\n");
    let (_second, log) = start(&directory, "cat; echo three");
    until_written(&log, "one\ntwo\nthree\n");
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn it_runs_until_its_whole_group_is_ended() {
    let directory = tempfile::tempdir().unwrap();
    let (background, log) =
        start(&directory, "(trap '' TERM; exec sleep 1000) & echo $!; exec sleep 1000");
    until("the log is written", || fs::read_to_string(&log).unwrap().ends_with('\n'));
    let child: i32 = fs::read_to_string(&log).unwrap().trim_end().parse().unwrap();
    let leader = number(&background);
    assert!(background.is_running() && exists(child));
    assert_eq!(rustix::process::getpgid(Some(pid(child))).unwrap(), pid(leader));
    background.end();
    until_gone(child);
    until("the program is reaped", || !exists(leader));
}

#[test]
fn a_child_that_outlives_the_program_is_ended() {
    let directory = tempfile::tempdir().unwrap();
    let (background, log) = start(&directory, "sleep 1000 & echo $!");
    until("the program has exited", || !background.is_running());
    let child: i32 = fs::read_to_string(&log).unwrap().trim_end().parse().unwrap();
    assert!(exists(child));
    background.end();
    until_gone(child);
}

#[test]
fn it_can_clean_up_when_it_is_ended() {
    // Its end takes the whole grace period.
    with_growing_limits(cleans_up);
}

fn cleans_up(factor: u32) {
    let directory = tempfile::tempdir().unwrap();
    let mut invocation =
        sh("trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.02; done");
    invocation.limits.grace = Duration::from_millis(500) * factor;
    let log = directory.path().join("log");
    let background = start_background(&invocation, &log).unwrap();
    until_written(&log, "ready\n");
    background.end();
    // The shell may have said before that its `sleep` was terminated too.
    assert!(fs::read_to_string(&log).unwrap().ends_with("cleaned\n"));
}

#[test]
fn dropping_the_handle_leaves_the_program_running_and_no_zombie() {
    let directory = tempfile::tempdir().unwrap();
    let (background, _) = start(&directory, "exec sleep 1000");
    let leader = number(&background);
    drop(background);
    assert!(exists(leader));
    kill(leader);
    until("the program is reaped", || !exists(leader));
}

#[test]
fn an_exited_program_is_reaped_when_its_handle_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let (background, _) = start(&directory, "exit 0");
    until("the program has exited", || !background.is_running());
    let leader = number(&background);
    assert!(exists(leader), "its process id is still its own");
    drop(background);
    until("the program is reaped", || !exists(leader));
}

#[test]
fn a_missing_program_or_log_is_an_error_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let error = start_background(&program("no-such-program", &[]), &directory.path().join("log"))
        .unwrap_err();
    assert!(error.to_string().contains("no-such-program"), "{error}");
    let error = start_background(&sh("exit 0"), &directory.path().join("missing/log")).unwrap_err();
    assert!(error.to_string().contains("missing/log"), "{error}");
}
