//! Processes that leave their group, in a process that adopts orphans: they are killed when their program is ended, and keep
//! running when it exits by itself. Adopting orphans changes the whole process, so each test runs in one of its own.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use tenter_proc::{Cancel, Invocation, ProcessEnd, adopt_orphans, run, start_background};
use tenter_testkit::own_process::alone;

use crate::harness::{
    exists, first_number, kill, run_past_ready, run_to_end, sh, until, until_gone,
};

/// Returns a script that runs `start`, which writes process ids to the file `pids`, and then hangs.
fn started_by(start: &str) -> (tempfile::TempDir, Invocation) {
    adopt_orphans().unwrap();
    let directory = tempfile::tempdir().unwrap();
    // Processes that closed the pipes must be found as well.
    let wait = "until [ -s pids ]; do sleep 0.01; done; echo ready; sleep 1000";
    let mut invocation = sh(&format!("{start}\n{wait}"));
    invocation.cwd = directory.path().into();
    (directory, invocation)
}

fn pids(directory: &Path) -> Vec<i32> {
    let text = fs::read_to_string(directory.join("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn all_die_at_the_timeout(start: &str) {
    let (directory, invocation) = started_by(start);
    let completion = run_past_ready(invocation);
    assert!(!completion.pipes_held, "{start}: {completion:?}");
    let pids = pids(directory.path());
    assert!(!pids.is_empty());
    for pid in pids {
        assert!(!exists(pid), "{start}: process {pid} is left, or its zombie is");
    }
}

#[test]
fn setsid_does_not_keep_a_child_alive() {
    alone("adopted::setsid_does_not_keep_a_child_alive", || {
        all_die_at_the_timeout("setsid sh -c 'echo $$ >> pids; sleep 1000' &");
    });
}

#[test]
fn job_control_does_not_keep_a_child_alive() {
    alone("adopted::job_control_does_not_keep_a_child_alive", || {
        all_die_at_the_timeout("bash -c 'set -m; sleep 1000 & echo $! >> pids; wait' &");
    });
}

#[test]
fn a_child_that_double_forked_is_found() {
    alone("adopted::a_child_that_double_forked_is_found", || {
        all_die_at_the_timeout("(setsid sh -c 'echo $$ >> pids; sleep 1000' &)");
        all_die_at_the_timeout(
            "(setsid sh -c '(echo $$; sh -c \"echo \\$\\$\"; sleep 1000 & echo $!) >> pids; exit' &)",
        );
    });
}

#[test]
fn a_daemon_that_closed_its_streams_and_ignores_sigterm_is_found() {
    alone("adopted::a_daemon_that_closed_its_streams_and_ignores_sigterm_is_found", || {
        let daemon = "trap \"\" TERM HUP; echo $$ >> pids; while :; do sleep 1000; done";
        all_die_at_the_timeout(&format!("(setsid sh -c '{daemon}' </dev/null >/dev/null 2>&1 &)"));
    });
}

#[test]
fn a_stopped_daemon_is_found() {
    alone("adopted::a_stopped_daemon_is_found", || {
        all_die_at_the_timeout(
            "(setsid sh -c 'echo $$ >> pids; kill -STOP $$' </dev/null >/dev/null 2>&1 &)",
        );
    });
}

#[test]
fn a_child_without_an_environment_is_found_by_its_ancestors() {
    alone("adopted::a_child_without_an_environment_is_found_by_its_ancestors", || {
        all_die_at_the_timeout("env -i setsid sh -c 'echo $$ >> pids; exec sleep 1000' &");
        // And so are the children of one that was found by its environment, even if that one is gone first.
        all_die_at_the_timeout(
            "(setsid sh -c 'env -i sh -c \"echo \\$\\$ >> pids; trap \\\"\\\" TERM; while :; do sleep 1; done\"' &)",
        );
    });
}

#[test]
fn a_program_that_keeps_forking_is_killed() {
    alone("adopted::a_program_that_keeps_forking_is_killed", || {
        adopt_orphans().unwrap();
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("run"), "echo $$ >> pids; sleep 0.01; setsid sh run &\n")
            .unwrap();
        let mut invocation =
            sh("sh run; until [ -s pids ]; do sleep 0.01; done; echo ready; sleep 1000");
        invocation.cwd = directory.path().into();
        run_past_ready(invocation);
        let survivors = || pids(directory.path()).into_iter().filter(|pid| exists(*pid)).count();
        until("every zombie is reaped by a later run", || {
            run_to_end(&sh("exit 0"));
            survivors() == 0
        });
        let count = pids(directory.path()).len();
        assert_eq!((survivors(), pids(directory.path()).len()), (0, count), "none keeps running");
    });
}

#[test]
fn a_cancel_ends_processes_that_left_the_group() {
    alone("adopted::a_cancel_ends_processes_that_left_the_group", || {
        let (directory, invocation) = started_by("(setsid sh -c 'echo $$ >> pids; sleep 1000' &)");
        let cancel = Cancel::new();
        thread::scope(|scope| {
            let running = scope.spawn(|| run(&invocation, &cancel));
            until("the daemon runs", || !pids(directory.path()).is_empty());
            cancel.cancel();
            assert!(matches!(running.join().unwrap().end, ProcessEnd::Cancelled));
        });
        assert!(!exists(pids(directory.path())[0]));
    });
}

#[test]
fn processes_of_a_background_program_end_with_it() {
    alone("adopted::processes_of_a_background_program_end_with_it", || {
        let (directory, mut invocation) =
            started_by("(setsid sh -c 'echo $$ >> pids; sleep 1000' &)");
        invocation.limits.grace = Duration::from_millis(50);
        let background = start_background(&invocation, &directory.path().join("log")).unwrap();
        until("the daemon runs", || !pids(directory.path()).is_empty());
        background.end();
        assert!(!exists(pids(directory.path())[0]));
    });
}

#[test]
fn a_nested_run_ends_with_the_outer_one_and_a_longer_id_is_another_run() {
    alone("adopted::a_nested_run_ends_with_the_outer_one_and_a_longer_id_is_another_run", || {
        let child = |mark: &str, file: &str| {
            format!(
                "(TENTER_RUN_ID=\"${{TENTER_RUN_ID}}{mark}\" setsid sh -c 'echo $$ > {file}; exec sleep 1000' </dev/null >/dev/null 2>&1 &)"
            )
        };
        let both = format!(
            "{}\n{}\nuntil [ -s other ]; do sleep 0.01; done",
            child("/77-0", "pids"),
            child("0", "other")
        );
        let (directory, invocation) = started_by(&both);
        run_past_ready(invocation);
        assert!(!exists(pids(directory.path())[0]));
        let other: i32 =
            fs::read_to_string(directory.path().join("other")).unwrap().trim().parse().unwrap();
        assert!(exists(other), "it is not of this run");
        kill(other);
    });
}

#[test]
fn children_left_by_a_program_that_exits_keep_running_and_are_reaped_when_they_die() {
    alone(
        "adopted::children_left_by_a_program_that_exits_keep_running_and_are_reaped_when_they_die",
        || {
            adopt_orphans().unwrap();
            let completion =
                run_to_end(&sh("(setsid sleep 1000 & echo $!); sleep 1000 & echo $!; exit 5"));
            assert!(matches!(completion.end, ProcessEnd::Exited(5)) && completion.pipes_held);
            for line in completion.stdout.text().lines() {
                let child = line.parse().unwrap();
                assert!(exists(child), "it keeps running");
                kill(child);
                until("its zombie is reaped by a later run", || {
                    run_to_end(&sh("exit 0"));
                    !exists(child)
                });
            }
        },
    );
}

/// Concurrent runs, each with a daemon: some exit by themselves, some are ended. None affects the daemons of another.
#[test]
fn ending_a_run_leaves_the_daemons_of_other_runs_alone() {
    alone("adopted::ending_a_run_leaves_the_daemons_of_other_runs_alone", || {
        adopt_orphans().unwrap();
        // It ends only once its daemon has survived everything that happens meanwhile.
        let (directory, mut patient) = started_by("");
        patient = Invocation {
        args: sh("(setsid sh -c 'echo $$ >> pids; until [ -e go ]; do sleep 0.01; done; echo done > new; mv new done' </dev/null >/dev/null 2>&1 &)
            until [ -e done ]; do sleep 0.01; done; cat done").args,
        ..patient
    };
        // Returns once the daemon has written its process id.
        let daemon = "(setsid sh -c 'echo $$; : > '$$'.begun; exec sleep 1000' &)
            until [ -e $$.begun ]; do sleep 0.01; done";
        let exit = Invocation { args: sh(daemon).args, ..patient.clone() };
        let end = sh(&format!("{daemon}; echo ready; sleep 1000"));
        let end = Invocation { args: end.args, ..patient.clone() };
        let lived = thread::scope(|scope| {
            let patient = scope.spawn(|| run_to_end(&patient));
            until("the patient one's daemon runs", || !pids(directory.path()).is_empty());
            let exits = || first_number(&run_to_end(&exit));
            let exiting: Vec<_> = (0..6).map(|_| scope.spawn(exits)).collect();
            let ending: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| first_number(&run_past_ready(end.clone()))))
                .collect();
            let lived: BTreeSet<i32> = exiting.into_iter().map(|run| run.join().unwrap()).collect();
            for run in ending {
                until_gone(run.join().unwrap());
            }
            fs::write(directory.path().join("go"), "").unwrap();
            let patient = patient.join().unwrap();
            assert_eq!(
                (patient.stdout.text().as_str(), patient.end.is_success()),
                ("done\n", true)
            );
            lived
        });
        assert_eq!(lived.len(), 6);
        for daemon in lived {
            assert!(exists(daemon), "a daemon of a run that ended by itself keeps running");
            kill(daemon);
        }
    });
}

#[test]
fn reaping_orphans_loses_no_exit_code() {
    alone("adopted::reaping_orphans_loses_no_exit_code", || {
        adopt_orphans().unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for code in 0..25 {
                        let completion =
                            run_to_end(&sh(&format!("(sh -c 'exit 9' &); exit {code}")));
                        assert!(
                            matches!(completion.end, ProcessEnd::Exited(end) if end == code),
                            "{completion:?}"
                        );
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..5 {
                    let mut hangs = sh("setsid sleep 1000 & sleep 1000");
                    hangs.limits.timeout = Duration::from_millis(20);
                    assert!(matches!(run_to_end(&hangs).end, ProcessEnd::TimedOut));
                }
            });
        });
    });
}
