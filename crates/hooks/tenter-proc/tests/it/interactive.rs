//! Interactive programs: they share the terminal, and the caller waits for them.

use std::fs;
use std::path::Path;

use tenter_proc::{Invocation, ProcessEnd, interactive};

use crate::harness::{program, sh};

/// Returns a script that runs in `directory`.
fn sh_in(directory: &Path, script: &str) -> Invocation {
    Invocation { cwd: directory.to_owned(), ..sh(script) }
}

#[test]
fn it_shares_our_streams_and_process_group() {
    let directory = tempfile::tempdir().unwrap();
    let script = "group=$(cut -d ' ' -f 5 /proc/$$/stat)
        streams=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)
        echo \"$group $streams\" > out";
    assert!(matches!(interactive(&sh_in(directory.path(), script)), ProcessEnd::Exited(0)));
    let ours = [0, 1, 2].map(|fd| fs::read_link(format!("/proc/self/fd/{fd}")).unwrap());
    let group = rustix::process::getpgrp().as_raw_nonzero();
    let ours = ours.map(|stream| stream.display().to_string()).join("\n");
    assert_eq!(
        fs::read_to_string(directory.path().join("out")).unwrap(),
        format!("{group} {ours}\n")
    );
}

#[test]
fn the_call_waits_and_returns_how_the_program_ended() {
    let directory = tempfile::tempdir().unwrap();
    let script = "i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done; echo done > out; exit 7";
    assert!(matches!(interactive(&sh_in(directory.path(), script)), ProcessEnd::Exited(7)));
    assert_eq!(fs::read_to_string(directory.path().join("out")).unwrap(), "done\n");
    assert!(matches!(interactive(&sh("kill -KILL $$")), ProcessEnd::Signalled(9)));
}

#[test]
fn the_environment_is_not_inherited() {
    let directory = tempfile::tempdir().unwrap();
    let mut invocation = sh_in(directory.path(), "echo \"${CARGO:-none} $GIVEN\" > out");
    invocation.env.push(("GIVEN".into(), "this".into()));
    assert!(matches!(interactive(&invocation), ProcessEnd::Exited(0)));
    assert_eq!(fs::read_to_string(directory.path().join("out")).unwrap(), "none this\n");
}

#[test]
fn a_program_that_cannot_be_started_is_an_error() {
    let ProcessEnd::NotStarted(error) = interactive(&program("no-such-editor", &[])) else {
        panic!()
    };
    assert!(error.to_string().contains("there is no program `no-such-editor`"), "{error}");
}

#[test]
fn a_given_stdin_replaces_the_terminal_and_need_not_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let output = |script: &str, stdin: &[u8]| {
        interactive(&Invocation { stdin: stdin.to_owned(), ..sh_in(directory.path(), script) })
    };
    assert!(matches!(output("cat > out", b"one\ntwo\n"), ProcessEnd::Exited(0)));
    assert_eq!(fs::read_to_string(directory.path().join("out")).unwrap(), "one\ntwo\n");
    let more_than_a_pipe_holds = vec![b'x'; 1 << 20];
    assert!(matches!(output("exit 3", &more_than_a_pipe_holds), ProcessEnd::Exited(3)));
}
