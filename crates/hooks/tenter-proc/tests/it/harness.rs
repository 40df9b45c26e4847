//! Builders of test programs, and helpers that wait for what they do.

use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tenter_proc::{Cancel, Completion, Invocation, Limits, ProcessEnd, run};

pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Longer than any test takes, on any machine.
pub(crate) const FOREVER: Duration = Duration::from_mins(2);

/// Returns a shell script with a minute to run.
pub(crate) fn sh(script: &str) -> Invocation {
    program("sh", &["-c", script])
}

pub(crate) fn program(program: &str, args: &[&str]) -> Invocation {
    Invocation {
        program: program.into(),
        args: args.iter().map(Into::into).collect(),
        cwd: "/".into(),
        env: vec![("PATH".into(), PATH.into())],
        limits: Limits { timeout: FOREVER, ..Limits::default() },
        ..Invocation::default()
    }
}

pub(crate) fn run_to_end(invocation: &Invocation) -> Completion {
    run(invocation, &Cancel::new())
}

/// Runs a script into its timeout after it has printed `ready`, with a longer timeout if the machine is too slow for that.
pub(crate) fn run_past_ready(mut invocation: Invocation) -> Completion {
    invocation.limits.timeout = Duration::from_millis(100);
    loop {
        let completion = run_to_end(&invocation);
        assert!(matches!(completion.end, ProcessEnd::TimedOut), "{completion:?}");
        assert!(completion.duration >= invocation.limits.timeout);
        if completion.stdout.text().contains("ready") {
            return completion;
        }
        invocation.limits.timeout *= 2;
        assert!(invocation.limits.timeout < FOREVER, "it never got ready: {completion:?}");
    }
}

/// Returns the number in the first line of what a program wrote.
pub(crate) fn first_number(completion: &Completion) -> i32 {
    let text = completion.stdout.text();
    text.lines()
        .next()
        .and_then(|line| line.parse().ok())
        .unwrap_or_else(|| panic!("no number: {completion:?}"))
}

pub(crate) fn whole_text(completion: &Completion) -> &str {
    std::str::from_utf8(completion.stdout.whole().unwrap()).unwrap()
}

pub(crate) fn pid(number: i32) -> Pid {
    Pid::from_raw(number).unwrap()
}

/// Returns true if a process, or its zombie, exists.
pub(crate) fn exists(number: i32) -> bool {
    test_kill_process(pid(number)).is_ok()
}

pub(crate) fn kill(number: i32) {
    kill_process(pid(number), Signal::KILL).unwrap();
}

/// Waits until `is_so` returns true.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    tenter_testkit::wait_until(what, is_so);
}

/// Waits until a process is gone. An orphaned zombie may stay until init reaps it.
pub(crate) fn until_gone(number: i32) {
    until("a process is gone", || !exists(number) || is_zombie(number));
}

fn is_zombie(number: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}

/// Writes an executable file.
pub(crate) fn write_script(path: &Path, text: &str) {
    write_with_mode(path, text, 0o755);
}

pub(crate) fn write_with_mode(path: &Path, text: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
