//! Input and output: nothing blocks, and every byte is kept or counted.

use std::time::Duration;

use tenter_proc::{Limits, ProcessEnd, Streams};

use crate::harness::{FOREVER, program, run_to_end, sh, whole_text};

const MEGABYTE: usize = 1_000_000;

#[test]
fn stdin_reaches_the_program_and_ends() {
    let mut invocation = program("cat", &[]);
    invocation.stdin = (0..3 * MEGABYTE).map(|index| index.to_le_bytes()[0]).collect();
    invocation.limits.keep = 4 * MEGABYTE;
    let completion = run_to_end(&invocation);
    assert!(completion.end.is_success());
    assert_eq!(completion.stdout.whole(), Some(&invocation.stdin[..]));
    assert!(!completion.pipes_held);
}

#[test]
fn an_empty_stdin_is_at_its_end() {
    let completion = run_to_end(&program("cat", &[]));
    assert!(completion.end.is_success());
    assert!(completion.stdout.is_empty());
}

#[test]
fn a_program_need_not_read_its_stdin() {
    for script in ["exit 0", "exec <&-; echo done", "head -c 1 >/dev/null"] {
        let mut invocation = sh(script);
        invocation.stdin = vec![b'x'; MEGABYTE];
        let completion = run_to_end(&invocation);
        assert!(completion.end.is_success(), "{completion:?}");
    }
}

#[test]
fn a_program_may_fill_its_pipes_before_it_reads() {
    let mut invocation = sh("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; wc -c");
    invocation.stdin = vec![b'x'; MEGABYTE];
    let completion = run_to_end(&invocation);
    assert!(completion.end.is_success());
    assert_eq!(completion.stdout.tail_lines(1).trim_matches(['\0', ' ']), "1000000");
    assert_eq!(completion.stderr.total, MEGABYTE as u64);
}

#[test]
fn a_flood_is_counted_and_its_two_ends_are_kept() {
    let script = "echo first; head -c 100000000 /dev/zero; echo last";
    for (script, is_stdout) in [(script.to_owned(), true), (format!("exec >&2; {script}"), false)] {
        let completion = run_to_end(&sh(&script));
        let captured = if is_stdout { &completion.stdout } else { &completion.stderr };
        assert!(completion.end.is_success());
        assert_eq!(captured.total, 100_000_000 + 11);
        assert_eq!(captured.head.len() + captured.tail.len(), Limits::default().keep);
        assert!(captured.head.starts_with(b"first\n") && captured.tail.ends_with(b"last\n"));
        assert_eq!(captured.whole(), None);
    }
    assert!(peak_memory().is_none_or(|bytes| bytes < 90 * MEGABYTE), "{:?}", peak_memory());
}

/// Returns the peak memory of this process in bytes, if `/proc` shows it.
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<usize>().unwrap() * 1024)
}

#[test]
fn streams_are_captured_separately() {
    let completion = run_to_end(&sh("echo out; echo err >&2"));
    assert_eq!(
        (completion.stdout.text(), completion.stderr.text()),
        ("out\n".into(), "err\n".into())
    );
}

#[test]
fn merged_streams_keep_their_order() {
    let mut invocation = sh("for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done");
    invocation.streams = Streams::Merged;
    let completion = run_to_end(&invocation);
    assert_eq!(
        whole_text(&completion),
        "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nout 4\nerr 4\nout 5\nerr 5\n"
    );
    assert!(completion.stderr.is_empty());
}

#[test]
fn a_program_that_closes_its_streams_is_awaited() {
    let completion = run_to_end(&sh("echo seen; exec >&- 2>&-; sleep 0.1; exit 7"));
    assert!(matches!(completion.end, ProcessEnd::Exited(7)));
    assert_eq!(whole_text(&completion), "seen\n");
}

#[test]
fn all_output_of_the_program_is_read_even_without_a_drain() {
    let mut invocation = sh("sleep 1000 & head -c 50000 /dev/zero; kill $!; exit 0");
    invocation.limits.drain = Duration::ZERO;
    assert_eq!(run_to_end(&invocation).stdout.total, 50_000);
}

#[test]
fn output_of_a_child_within_the_drain_is_read() {
    let mut invocation = sh("(sleep 0.1; echo late) & echo now");
    invocation.limits.drain = FOREVER;
    let completion = run_to_end(&invocation);
    assert_eq!(whole_text(&completion), "now\nlate\n");
    assert!(!completion.pipes_held);
}
