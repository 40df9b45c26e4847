//! The ends of programs: by themselves, at a timeout, or by a cancel; and the processes that are left.

use std::time::Duration;

use tenter_proc::{Cancel, ProcessEnd, run};

use crate::harness::{
    FOREVER, exists, first_number, kill, program, run_past_ready, run_to_end, sh, until, until_gone,
};

#[test]
fn exit_codes_and_signals_are_distinguished() {
    assert!(matches!(run_to_end(&sh("exit 0")).end, ProcessEnd::Exited(0)));
    assert!(matches!(run_to_end(&sh("exit 7")).end, ProcessEnd::Exited(7)));
    assert!(matches!(run_to_end(&sh("kill -KILL $$")).end, ProcessEnd::Signalled(9)));
    assert!(matches!(run_to_end(&sh("kill -TERM $$")).end, ProcessEnd::Signalled(15)));
}

#[test]
fn no_zombie_is_left() {
    let completion = run_to_end(&sh("echo $$"));
    assert!(!exists(first_number(&completion)));
    let completion = run_past_ready(sh("echo $$; echo ready; exec sleep 1000"));
    assert!(!exists(first_number(&completion)));
}

#[test]
fn an_unlimited_timeout_does_not_overflow() {
    let mut invocation = sh("exit 3");
    invocation.limits.timeout = Duration::MAX;
    assert!(matches!(run_to_end(&invocation).end, ProcessEnd::Exited(3)));
}

#[test]
fn a_timeout_keeps_the_output_so_far() {
    let completion = run_past_ready(sh("echo reason >&2; echo ready; sleep 1000"));
    assert_eq!(completion.stdout.text(), "ready\n");
    assert_eq!(completion.stderr.text(), "reason\n");
    assert!(!completion.pipes_held);
}

#[test]
fn a_child_that_ignores_sigterm_is_killed() {
    let mut invocation = sh("trap '' TERM; echo $$; echo ready; while :; do sleep 1000; done");
    invocation.limits.grace = Duration::from_millis(100);
    let completion = run_past_ready(invocation);
    assert!(completion.duration >= Duration::from_millis(200), "the grace period is kept");
    assert!(!exists(first_number(&completion)));
}

#[test]
fn a_child_that_cleans_up_within_its_grace_ends_the_wait() {
    let mut invocation =
        sh("trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.02; done");
    invocation.limits.grace = FOREVER;
    let completion = run_past_ready(invocation);
    assert_eq!(completion.stdout.text(), "ready\ncleaned\n");
    assert!(completion.duration < FOREVER);
}

#[test]
fn a_grandchild_dies_at_the_timeout() {
    let completion = run_past_ready(sh("sleep 1000 & echo $!; echo ready; wait"));
    until_gone(first_number(&completion));
}

#[test]
fn a_grandchild_that_closed_the_pipes_and_ignores_sigterm_is_killed() {
    let mut invocation = sh(
        "(trap '' TERM; exec sleep 1000 </dev/null >/dev/null 2>&1) & echo $!; echo ready; wait",
    );
    invocation.limits.grace = Duration::from_millis(50);
    until_gone(first_number(&run_past_ready(invocation)));
}

#[test]
fn a_grandchild_that_left_the_group_does_not_delay_a_timeout() {
    // With job control, a background job is a group of its own.
    let mut invocation = program("bash", &["-c", "set -m; sleep 1000 & echo $!; echo ready; wait"]);
    invocation.limits.grace = Duration::from_millis(50);
    let completion = run_past_ready(invocation);
    assert!(completion.pipes_held);
    kill(first_number(&completion));
}

#[test]
fn a_background_child_that_holds_the_pipes_does_not_delay_the_result_and_survives() {
    let directory = tempfile::tempdir().unwrap();
    let child = "(until [ -e go ]; do sleep 0.02; done; touch alive) &";
    let mut invocation = sh(&format!("{child} exit 5"));
    invocation.cwd = directory.path().into();
    let completion = run_to_end(&invocation);
    assert!(matches!(completion.end, ProcessEnd::Exited(5)));
    assert!(completion.pipes_held);
    std::fs::write(directory.path().join("go"), "").unwrap();
    until("the child keeps running", || directory.path().join("alive").exists());
}

#[test]
fn a_background_child_that_floods_does_not_delay_the_result() {
    let completion = run_to_end(&sh("cat /dev/zero >&2 & echo $!; exit 5"));
    assert!(matches!(completion.end, ProcessEnd::Exited(5)));
    assert!(completion.pipes_held);
    until_gone(first_number(&completion));
}

#[test]
fn a_cancel_cuts_the_wait_for_a_background_child_short() {
    let directory = tempfile::tempdir().unwrap();
    let exiting = directory.path().join("exiting");
    let mut invocation =
        sh(&format!("sleep 1000 & echo $!; touch '{}'; exit 5", exiting.display()));
    invocation.limits.timeout = Duration::MAX;
    invocation.limits.drain = Duration::MAX;
    let cancel = Cancel::new();
    let completion = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&invocation, &cancel));
        until("the program exits", || exiting.exists());
        cancel.cancel();
        running.join().unwrap()
    });
    let child = first_number(&completion);
    match completion.end {
        ProcessEnd::Exited(5) => kill(child),
        // It had not exited quite yet, so its group was ended.
        ProcessEnd::Cancelled => until_gone(child),
        end => panic!("{end:?}"),
    }
}

#[test]
fn the_deadline_bounds_the_wait_for_a_background_child() {
    let mut invocation = sh("sleep 1000 & echo $!; exit 5");
    invocation.limits.drain = Duration::MAX;
    invocation.limits.timeout = Duration::from_millis(500);
    let mut completion = run_to_end(&invocation);
    while matches!(completion.end, ProcessEnd::TimedOut) && invocation.limits.timeout < FOREVER {
        // The machine was too slow for it to exit by itself.
        invocation.limits.timeout *= 2;
        completion = run_to_end(&invocation);
    }
    assert!(matches!(completion.end, ProcessEnd::Exited(5)));
    assert!(completion.duration >= invocation.limits.timeout);
    kill(first_number(&completion));
}

#[test]
fn a_stopped_child_ends_at_the_deadline() {
    for script in ["", "trap '' TERM; "] {
        let mut invocation = sh(&format!("{script}echo $$; echo ready; kill -STOP $$; sleep 1000"));
        invocation.limits.grace = Duration::from_millis(100);
        assert!(!exists(first_number(&run_past_ready(invocation))));
    }
}

#[test]
fn a_stopped_child_can_clean_up_too() {
    let mut invocation =
        sh("trap 'echo cleaned; exit' TERM; echo ready; kill -STOP $$; sleep 1000");
    invocation.limits.grace = FOREVER;
    assert_eq!(run_past_ready(invocation).stdout.text(), "ready\ncleaned\n");
}

#[test]
fn a_child_that_floods_its_output_times_out() {
    let completion = run_past_ready(sh("trap '' TERM; echo ready; exec cat /dev/zero"));
    assert!(completion.stdout.total > completion.stdout.head.len() as u64);
}

#[test]
fn a_cancel_from_another_thread_ends_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let marker = directory.path().join("started");
    let invocation = sh(&format!("echo partial; touch '{}'; sleep 1000", marker.display()));
    let cancel = Cancel::new();
    let completion = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&invocation, &cancel));
        until("the program has started", || marker.exists());
        cancel.cancel();
        running.join().unwrap()
    });
    assert!(matches!(completion.end, ProcessEnd::Cancelled), "{completion:?}");
    assert_eq!(completion.stdout.text(), "partial\n");
}

#[test]
fn one_cancel_ends_all_programs_that_share_it() {
    let directory = tempfile::tempdir().unwrap();
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..5)
            .map(|number| {
                let (cancel, file) = (cancel.clone(), directory.path().join(number.to_string()));
                scope.spawn(move || {
                    run(&sh(&format!("touch '{}'; sleep 1000", file.display())), &cancel)
                })
            })
            .collect();
        until("all have started", || directory.path().read_dir().unwrap().count() == 5);
        cancel.cancel();
        assert!(
            running
                .into_iter()
                .all(|thread| matches!(thread.join().unwrap().end, ProcessEnd::Cancelled))
        );
    });
}

#[test]
fn a_cancelled_program_that_ignores_sigterm_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let marker = directory.path().join("started");
    let mut invocation =
        sh(&format!("trap '' TERM; touch '{}'; while :; do sleep 1; done", marker.display()));
    invocation.limits.grace = Duration::from_millis(50);
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&invocation, &cancel));
        until("the program has started", || marker.exists());
        cancel.cancel();
        assert!(matches!(running.join().unwrap().end, ProcessEnd::Cancelled));
    });
}

#[test]
fn nothing_is_started_after_a_cancel() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let cancel = Cancel::new();
    cancel.cancel();
    let completion = run(&sh(&format!("touch '{}'", file.display())), &cancel);
    assert!(matches!(completion.end, ProcessEnd::Cancelled));
    assert!(!file.exists());
}
