//! A program that has our terminal: it is where we are, and it is waited for.

use std::fs;
use std::path::Path;

use tenter_proc::{End, Invocation, interactive};

use crate::harness::{program, sh};

/// A script that may write to `out` in a folder of its own.
fn sh_in(folder: &Path, script: &str) -> Invocation {
    Invocation { cwd: folder.to_owned(), ..sh(script) }
}

#[test]
fn it_reads_and_writes_what_we_do_and_the_terminals_keys_reach_it() {
    let folder = tempfile::tempdir().unwrap();
    let script = "group=$(cut -d ' ' -f 5 /proc/$$/stat)
        streams=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)
        echo \"$group $streams\" > out";
    assert!(matches!(interactive(&sh_in(folder.path(), script)), End::Exited(0)));
    let ours = [0, 1, 2].map(|fd| fs::read_link(format!("/proc/self/fd/{fd}")).unwrap());
    let group = rustix::process::getpgrp().as_raw_nonzero();
    let ours = ours.map(|stream| stream.display().to_string()).join("\n");
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), format!("{group} {ours}\n"));
}

#[test]
fn it_is_waited_for_and_says_how_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let script = "i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done; echo done > out; exit 7";
    assert!(matches!(interactive(&sh_in(folder.path(), script)), End::Exited(7)));
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "done\n");
    assert!(matches!(interactive(&sh("kill -KILL $$")), End::Signalled(9)));
}

#[test]
fn its_environment_is_what_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut invocation = sh_in(folder.path(), "echo \"${CARGO:-none} $GIVEN\" > out");
    invocation.env.push(("GIVEN".into(), "this".into()));
    assert!(matches!(interactive(&invocation), End::Exited(0)));
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "none this\n");
}

#[test]
fn one_that_cannot_be_started_says_why() {
    let End::NotStarted(error) = interactive(&program("no-such-editor", &[])) else { panic!() };
    assert!(error.to_string().contains("there is no program `no-such-editor`"), "{error}");
}

#[test]
fn one_that_is_given_something_to_read_reads_that_and_need_not_read_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let fed = |script: &str, stdin: &[u8]| {
        interactive(&Invocation { stdin: stdin.to_owned(), ..sh_in(folder.path(), script) })
    };
    assert!(matches!(fed("cat > out", b"one\ntwo\n"), End::Exited(0)));
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "one\ntwo\n");
    let more_than_a_pipe_holds = vec![b'x'; 1 << 20];
    assert!(matches!(fed("exit 3", &more_than_a_pipe_holds), End::Exited(3)));
}
