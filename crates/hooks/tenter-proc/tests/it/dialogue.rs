//! Programs with which lines are exchanged.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use tenter_proc::{
    Dialogue, DialogueEnd, DialogueLimits, DialogueListener, Invocation, NotSent, ProcessEnd,
};
use tenter_testkit::own_process;

use crate::harness::{FOREVER, exists, kill, program, sh, until, until_gone};

/// A line of a program, or the end of the dialogue.
#[derive(Debug)]
enum Heard {
    Line(String),
    TooLong,
    End(DialogueEnd),
}

struct Forward(Sender<Heard>);

impl DialogueListener for Forward {
    fn line(&mut self, line: &[u8]) {
        let _ = self.0.send(Heard::Line(String::from_utf8_lossy(line).into_owned()));
    }

    fn line_too_long(&mut self) {
        let _ = self.0.send(Heard::TooLong);
    }

    fn ended(&mut self, end: DialogueEnd) {
        let _ = self.0.send(Heard::End(end));
    }
}

struct Talk {
    dialogue: Dialogue,
    heard: Receiver<Heard>,
}

impl Talk {
    fn with(invocation: Invocation, limits: DialogueLimits) -> Self {
        let (sender, heard) = mpsc::channel();
        let dialogue = Dialogue::start(invocation, None, limits, Forward(sender)).unwrap();
        Self { dialogue, heard }
    }

    fn sh(script: &str) -> Self {
        Self::with(sh(script), DialogueLimits::default())
    }

    fn next(&self) -> Heard {
        self.heard.recv_timeout(FOREVER).unwrap()
    }

    /// Returns the rest of the first line that begins with `prefix`.
    fn line_after(&self, prefix: &str) -> String {
        loop {
            if let Some(rest) = self.line().strip_prefix(prefix) {
                return rest.to_owned();
            }
        }
    }

    fn line(&self) -> String {
        match self.next() {
            Heard::Line(line) => line,
            other => panic!("{other:?}"),
        }
    }

    fn end(&self) -> DialogueEnd {
        loop {
            if let Heard::End(end) = self.next() {
                return end;
            }
        }
    }
}

#[test]
fn lines_go_both_ways() {
    let talk = Talk::sh("while read -r line; do echo \"heard $line\"; done; exit 7");
    for word in ["one", "two"] {
        talk.dialogue.send(format!("{word}\n").as_bytes()).unwrap();
        assert_eq!(talk.line(), format!("heard {word}"));
    }
    talk.dialogue.close(FOREVER);
    assert!(matches!(talk.end(), DialogueEnd::Process(ProcessEnd::Exited(7))));
    assert!(talk.dialogue.wait(FOREVER));
    assert_eq!(talk.dialogue.send(b"late\n"), Err(NotSent::Closed));
}

#[test]
fn a_long_line_is_written_as_fast_as_the_program_reads() {
    let talk = Talk::sh("head -n 1 | wc -c");
    let line = [vec![b'x'; 3_000_000], vec![b'\n']].concat();
    talk.dialogue.send(&line).unwrap();
    assert_eq!(talk.line().trim(), "3000001");
}

#[test]
fn a_program_that_does_not_read_does_not_block_the_caller_and_memory_is_bounded() {
    let limits = DialogueLimits { unread: 1 << 20, ..DialogueLimits::default() };
    let talk = Talk::with(sh("echo ready; exec sleep 1000"), limits);
    assert_eq!(talk.line(), "ready");
    let line = [vec![b'x'; 99_999], vec![b'\n']].concat();
    let count = (0..100).take_while(|_| talk.dialogue.send(&line).is_ok()).count();
    assert!((10..13).contains(&count), "{count}");
    assert_eq!(talk.dialogue.send(&line), Err(NotSent::Full));
    talk.dialogue.kill();
    assert!(matches!(talk.end(), DialogueEnd::Killed));
}

#[test]
fn a_line_that_is_too_long_is_reported_once_and_skipped() {
    let limits = DialogueLimits { line: 1000, ..DialogueLimits::default() };
    let talk = Talk::with(sh("head -c 100000 /dev/zero; echo; echo after; cat"), limits);
    assert!(matches!(talk.next(), Heard::TooLong));
    assert_eq!(talk.line(), "after");
}

#[test]
fn the_end_of_stderr_is_kept_and_is_there_before_the_line_that_follows_it() {
    let limits = DialogueLimits { stderr: 100, ..DialogueLimits::default() };
    let script = "read -r line; seq 1 1000 >&2; echo a; read -r line; echo more >&2; echo b; cat";
    let talk = Talk::with(sh(script), limits);
    assert_eq!(talk.dialogue.stderr_position(), 0);
    talk.dialogue.send(b"\n").unwrap();
    assert_eq!(talk.line(), "a");
    assert!(talk.dialogue.stderr_since(0).ends_with("999\n1000\n"));
    assert_eq!(talk.dialogue.stderr_since(0).len(), 100);
    let position = talk.dialogue.stderr_position();
    talk.dialogue.send(b"\n").unwrap();
    assert_eq!(talk.line(), "b");
    assert_eq!(talk.dialogue.stderr_since(position), "more\n");
}

#[test]
fn a_program_that_ignores_the_end_of_its_stdin_is_killed_after_the_patience() {
    let talk = Talk::sh("trap '' TERM; echo $$; exec sleep 1000");
    let pid = talk.line().parse().unwrap();
    talk.dialogue.close(Duration::from_millis(50));
    assert!(matches!(talk.end(), DialogueEnd::Killed));
    until_gone(pid);
}

#[test]
fn children_of_a_program_that_ends_are_killed() {
    let talk = Talk::sh("(trap '' TERM HUP; exec sleep 1000) & echo $!; exit 3");
    let pid = talk.line().parse().unwrap();
    assert!(matches!(talk.end(), DialogueEnd::Process(ProcessEnd::Exited(3))));
    until_gone(pid);
}

#[test]
fn a_program_that_closes_its_stdout_is_killed() {
    let talk = Talk::sh("echo $$; exec sleep 1000 >/dev/null");
    let pid = talk.line().parse().unwrap();
    assert!(matches!(talk.end(), DialogueEnd::StdoutClosed));
    until_gone(pid);
}

#[test]
fn a_program_that_closes_its_stdin_hears_nothing_and_lives() {
    let talk = Talk::sh("exec </dev/null; echo closed; exec sleep 1000");
    assert_eq!(talk.line(), "closed");
    // A process that another test is starting has copies of all pipes until it calls exec.
    until("the pipe is closed", || talk.dialogue.send(b"line\n") == Err(NotSent::Closed));
    talk.dialogue.kill();
    assert!(matches!(talk.end(), DialogueEnd::Killed));
}

#[test]
fn a_signal_of_another_process_is_distinguished_from_our_own() {
    let talk = Talk::sh("kill -9 $$");
    assert!(matches!(talk.end(), DialogueEnd::Process(ProcessEnd::Signalled(9))));
}

#[test]
fn floods_without_end_are_bounded_and_end_with_the_program() {
    let talk = Talk::sh("yes >&2 & exec tr '\\0' x </dev/zero");
    assert!(matches!(talk.next(), Heard::TooLong));
    until("stderr is full", || talk.dialogue.stderr_position() > 1 << 20);
    assert!(talk.dialogue.stderr_since(0).len() <= 16 << 10);
    talk.dialogue.kill();
    assert!(matches!(talk.end(), DialogueEnd::Killed));
}

#[test]
fn dropping_it_kills_the_program() {
    let talk = Talk::sh("echo $$; exec sleep 1000");
    let pid = talk.line().parse().unwrap();
    drop(talk.dialogue);
    until_gone(pid);
}

#[test]
fn a_program_that_cannot_be_started_is_an_error() {
    let (sender, _heard) = mpsc::channel();
    let invocation = Invocation { program: "/nowhere/program".into(), ..sh("") };
    let error = Dialogue::start(invocation, None, DialogueLimits::default(), Forward(sender))
        .err()
        .unwrap();
    assert!(error.to_string().contains("does not exist"), "{error}");
}

/// A test, whose process plays two parts in it.
#[cfg(target_os = "linux")]
const TRAMPOLINE: &str =
    "dialogue::the_program_of_a_trampoline_dies_with_the_process_that_started_it";

/// Returns a program that plays a part, or starts another one that does.
#[cfg(target_os = "linux")]
fn playing(part: &str, program: Invocation) -> Invocation {
    let part = (own_process::PART.into(), part.into());
    Invocation { env: program.env.into_iter().chain([part]).collect(), ..program }
}

#[test]
#[cfg(target_os = "linux")]
fn the_program_of_a_trampoline_dies_with_the_process_that_started_it() {
    if own_process::plays("owner") {
        return owner();
    }
    if own_process::plays("trampoline") {
        return trampoline();
    }
    let own = std::env::current_exe().unwrap();
    let own = program(
        own.to_str().unwrap(),
        &own_process::arguments(TRAMPOLINE).each_ref().map(String::as_str),
    );
    let owner = Talk::with(playing("owner", own), DialogueLimits::default());
    let owner_pid = owner.line_after("owner ").parse().unwrap();
    let pid = owner.line_after("program ").parse().unwrap();
    assert!(exists(pid));
    kill(owner_pid);
    until_gone(pid);
    assert!(matches!(owner.end(), DialogueEnd::Process(ProcessEnd::Signalled(9))));
}

#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "the test that started it reads what it prints")]
fn owner() {
    println!("\nowner {}", std::process::id());
    let trampoline = tenter_proc::Trampoline {
        program: std::env::current_exe().unwrap(),
        args: own_process::arguments(TRAMPOLINE)
            .map(Into::into)
            .into_iter()
            .chain(["--".into()])
            .collect(),
    };
    let (sender, heard) = mpsc::channel();
    // With one processor, the test program has begun a line.
    let script = sh("echo; echo program $$; trap '' TERM HUP PIPE; while :; do sleep 1000; done");
    let script = playing("trampoline", script);
    let limits = DialogueLimits::default();
    let _dialogue = Dialogue::start(script, Some(trampoline), limits, Forward(sender)).unwrap();
    for heard in heard {
        if let Heard::Line(line) = heard {
            println!("{line}");
        }
    }
}

#[cfg(target_os = "linux")]
fn trampoline() {
    let args = std::env::args_os().skip_while(|argument| argument != "--").skip(1);
    panic!("{}", tenter_proc::exec_bound_to_parent(args));
}
