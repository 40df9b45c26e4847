//! A machine without resources: full disks, file size limits, no file descriptors, no processes, read-only directories.
//! The shortage is reported, nothing panics, nothing that a hook must check runs without it, and what was stored before
//! is intact.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::Value;
use tenter_testkit::{Output, Sandbox, needs};

use crate::sandbox;

/// A call that a hook has to see first.
const ONE_CALL: &str =
    "turns: [{tool_calls: [{name: bash, input: {command: touch ran}}]}, {text: ok}]";
/// Two at once.
const TWO_CALLS: &str = "turns: [{tool_calls: [{name: bash, input: {command: touch ran}}, {name: bash, input: {command: touch ran}}]}, {text: ok}]";

/// An asynchronous hook.
const LATE: &str = "---\nname: late\ndescription: d\ntrigger: before_agent\nasync: true\n---\n";

/// Returns a sandbox whose guard looks at every call, and fails closed. What it has seen it says in `seen`.
fn guarded() -> Sandbox {
    let sandbox = sandbox();
    sandbox.configure("[hooks]\nfail = \"closed\"\n");
    sandbox.sh_hook("guard", "before_tool_call", "echo seen >> seen");
    // It is known by now, whatever is missing later.
    let _ = sandbox.run("hooks list").expect_code(0);
    sandbox
}

/// Runs the session with no more than `limit` allows, which is a line of bash.
fn run_within(sandbox: &Sandbox, limit: &str, script: &str) -> Output {
    for file in ["ran", "seen"] {
        let _ = fs::remove_file(sandbox.project().join(file));
    }
    let model = sandbox.script(script);
    sandbox.shell(&format!("{limit}; exec tenter run --model {model} go"))
}

/// Checks that it ended by itself, it said what is wrong if something is, and the call ran only after the guard had seen it.
fn is_in_order(sandbox: &Sandbox, limit: &str, output: &Output) {
    // 3: the guard could not even be asked what it guards. 127 is the word of the system's loader where it cannot start a
    // program at all.
    assert!(matches!(output.code, Some(0 | 1 | 3 | 127)), "{limit}\n{output}");
    assert!(!output.stdout.contains("panicked"), "{limit}\n{output}");
    assert!(output.code == Some(0) || output.stdout.contains("error"), "{limit}\n{output}");
    let is_there = |file: &str| sandbox.project().join(file).exists();
    assert!(!is_there("ran") || is_there("seen"), "{limit}: it ran without its guard\n{output}");
}

/// Checks that, with everything there again, the next session works, and finds nothing half written.
fn recovers(sandbox: &Sandbox, limit: &str) {
    let output = run_within(sandbox, ":", ONE_CALL).expect_code(0);
    assert!(!output.stdout.contains("warning"), "after {limit}\n{output}");
    assert!(sandbox.project().join("ran").exists(), "after {limit}\n{output}");
    let list = sandbox.run("conversation list --json").expect_code(0);
    assert!(!list.json().as_array().unwrap().is_empty());
    let log = sandbox.run("log --json").expect_code(0);
    assert!(!log.json_lines().is_empty(), "after {limit}\n{log}");
}

#[test]
fn without_file_descriptors_the_session_reports_it_and_the_guard_holds() {
    let sandbox = guarded();
    let mut codes = Vec::new();
    for count in 3..40 {
        let limit = format!("ulimit -n {count}");
        let output = run_within(&sandbox, &limit, TWO_CALLS);
        is_in_order(&sandbox, &limit, &output);
        codes.push(output.code);
    }
    assert!(codes.contains(&Some(1)) && codes.contains(&Some(0)), "{codes:?}");
    recovers(&sandbox, "no descriptors");
}

#[test]
fn without_processes_the_session_reports_it_and_the_guard_holds() {
    let sandbox = guarded();
    let Some(switch) = person(&sandbox) else {
        needs::skipped("user", "root has no limit, and cannot become another user");
        return;
    };
    let mut codes = Vec::new();
    for count in 0..12 {
        let limit = format!("ulimit -u {count}");
        let output = run_as(&sandbox, &switch, &limit, TWO_CALLS);
        is_in_order(&sandbox, &limit, &output);
        codes.push(output.code);
    }
    assert!(codes.contains(&Some(1)), "{codes:?}");
    if switch.is_empty() {
        return;
    }
    // The unprivileged user has no other processes, so some of the limits leave room only for the session. The hook is
    // asynchronous, but it is recorded that it did not run.
    let sandbox = self::sandbox();
    sandbox.write("../home/.kodelet/hooks/late/HOOK.md", LATE);
    sandbox.write_program("../home/.kodelet/hooks/late/scripts/run", "#!/bin/sh\n:\n");
    let Some(switch) = person(&sandbox) else { return };
    for count in 1..12 {
        let _ = run_as(&sandbox, &switch, &format!("ulimit -u {count}"), "turns: [{text: ok}]");
    }
    let log = sandbox.run("log --json").expect_code(0);
    let is_reported = |line: &Value| {
        let reason = line["reason"].as_str().unwrap_or_default();
        line["hook"] == "late" && reason.contains("cannot start a thread")
    };
    assert!(log.json_lines().iter().any(is_reported), "{log}");
}

/// Returns the prefix that makes a command run under a process limit: limits apply per user and not to root, so as root the
/// command runs as an unprivileged user, if possible.
fn person(sandbox: &Sandbox) -> Option<String> {
    if sandbox.shell("[ $(id -u) != 0 ]").code == Some(0) {
        return Some(String::new());
    }
    let unprivileged = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    let root = sandbox.root();
    let line =
        format!("chown -R 65534:65534 {} && {unprivileged} tenter --version", root.display());
    (sandbox.shell(&line).code == Some(0)).then(|| unprivileged.to_owned())
}

fn run_as(sandbox: &Sandbox, switch: &str, limit: &str, script: &str) -> Output {
    let model = sandbox.script(script);
    for file in ["ran", "seen"] {
        let _ = fs::remove_file(sandbox.project().join(file));
    }
    let line = format!("exec {switch} bash -c '{limit}; exec tenter run --model {model} go'");
    sandbox.shell(&line)
}

#[test]
fn a_file_size_limit_is_an_error_and_keeps_stored_data() {
    for blocks in [0, 1, 4, 16, 64, 100, 120, 140, 200] {
        let (sandbox, limit) = (guarded(), format!("ulimit -f {blocks}"));
        let before = run_within(&sandbox, ":", ONE_CALL).expect_code(0);
        let output = run_within(&sandbox, &limit, TWO_CALLS);
        is_in_order(&sandbox, &limit, &output);
        assert!(blocks > 0 || output.code == Some(1), "{before}\n{output}");
        recovers(&sandbox, &limit);
        let list = sandbox.run("conversation list --json").expect_code(0).json();
        let whole = |one: &&Value| one["message_count"] == 4;
        assert!(list.as_array().unwrap().iter().filter(whole).count() >= 2, "{limit}: {list}");
    }
}

/// The script that runs on a small disk of its own, which is full but for `$1` kilobytes while the session runs, and has room again
/// afterwards. What it holds then is kept in `../kept`.
const ON_A_SMALL_DISK: &str = r#"
state=$HOME/.local/state/tenter
cp -a "$state" ../before && mount -t tmpfs -o size=4m none "$state" && cp -a ../before/. "$state" || exit 99
dd if=/dev/zero of="$state/filler" bs=1024 2>/dev/null
truncate -s "-$1K" "$state/filler"
tenter run --model "$2" go
code=$?
rm "$state/filler"
cp -a "$state/." ../kept
exit $code
"#;

#[test]
fn a_full_disk_is_an_error_and_keeps_stored_data() {
    let mut codes = Vec::new();
    for room in [0, 4, 16, 40, 64, 96, 128, 400] {
        let sandbox = guarded();
        let before = run_within(&sandbox, ":", ONE_CALL).expect_code(0);
        let Some(output) = run_on_a_small_disk(&sandbox, room) else {
            needs::skipped("mount", "no file system can be mounted");
            return;
        };
        let limit = format!("{room} kilobytes");
        is_in_order(&sandbox, &limit, &output);
        assert!(room > 0 || output.code == Some(1), "{before}\n{output}");
        if output.code == Some(1) {
            assert!(output.stdout.contains("full") || output.stdout.contains("space"), "{output}");
        }
        codes.push(output.code);
        fs::remove_dir_all(sandbox.state()).unwrap();
        fs::rename(sandbox.root().join("kept"), sandbox.state()).unwrap();
        let list = sandbox.run("conversation list --json").expect_code(0).json();
        let whole = |one: &&Value| one["message_count"] == 4;
        assert!(list.as_array().unwrap().iter().any(|one| whole(&one)), "{limit}: {list}");
        recovers(&sandbox, &limit);
    }
    assert!(codes.contains(&Some(1)) && codes.contains(&Some(0)), "{codes:?}");
}

/// Runs a session in a mount namespace of its own, where one can be had.
fn run_on_a_small_disk(sandbox: &Sandbox, room: u32) -> Option<Output> {
    for file in ["ran", "seen"] {
        let _ = fs::remove_file(sandbox.project().join(file));
    }
    let script = sandbox.write("../on-a-small-disk", ON_A_SMALL_DISK);
    let model = sandbox.script(TWO_CALLS);
    let unshared = if sandbox.shell("[ $(id -u) = 0 ]").code == Some(0) { "-m" } else { "-Urm" };
    let line = format!("unshare {unshared} sh {} {room} {model}", script.display());
    let output = sandbox.shell(&line);
    sandbox.root().join("kept").exists().then_some(output)
}

#[test]
fn a_journal_on_a_full_disk_is_reported_once_and_the_session_continues() {
    let sandbox = guarded();
    let model = sandbox.script(ONE_CALL);
    let first = sandbox.run(["run", "--headless", "--model", &model, "go"]).expect_code(0);
    let id = first.json_lines()[0]["id"].as_str().unwrap().to_owned();
    let journal = sandbox.state().join("journal").join(format!("{id}.jsonl"));
    let text = fs::read(&journal).unwrap();
    fs::remove_file(&journal).unwrap();
    symlink("/dev/full", &journal).unwrap();
    let args = ["run", "--resume", &id, "--model", &model, "again"];
    let output = sandbox.run(args).expect_code(0);
    assert_eq!(output.stderr.matches("the journal could not be written").count(), 1, "{output}");
    assert!(output.stderr.contains("check the directory's free space"), "{output}");
    // The disk has room again: what comes now is written, behind what was there before.
    fs::remove_file(&journal).unwrap();
    fs::write(&journal, &text).unwrap();
    let output = sandbox.run(args).expect_code(0);
    assert!(!output.stderr.contains("journal"), "{output}");
    assert!(fs::read(&journal).unwrap().starts_with(&text));
    let json = sandbox.run(["conversation", "show", &id, "--json"]).expect_code(0).json();
    assert_eq!(json["message_count"], 12, "nothing was lost: {json}");
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let sandbox = guarded();
    for command in ["hooks list --json", "completions bash", "config list", "help concepts"] {
        let full = sandbox.shell(&format!("exec tenter {command} > /dev/full"));
        assert_eq!(full.code, Some(1), "{command}: {full}");
        assert!(full.stdout.contains("error: cannot write to stdout"), "{command}: {full}");
        let output = sandbox.shell(&format!("set -o pipefail; tenter {command} | true"));
        assert_eq!(output.code, Some(0), "the reader may go: {command}: {output}");
    }
}

/// A file instead of a directory, so that not even root can write there.
#[test]
fn an_unusable_state_directory_is_reported_by_name() {
    let sandbox = guarded();
    let _ = fs::remove_dir_all(sandbox.home().join(".local/state"));
    sandbox.write("../home/.local/state", "no directory");
    let output = run_within(&sandbox, ":", ONE_CALL);
    is_in_order(&sandbox, "no directory", &output);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains(".local/state"), "{output}");
}

#[test]
fn unwritable_caches_and_journals_do_not_stop_a_session() {
    let sandbox = guarded();
    let _ = fs::remove_dir_all(sandbox.home().join(".cache"));
    sandbox.write("../home/.cache", "no directory");
    sandbox.write("../home/.local/state/tenter/journal", "no directory");
    let output = run_within(&sandbox, ":", ONE_CALL).expect_code(0);
    is_in_order(&sandbox, "no directories", &output);
    assert!(sandbox.project().join("ran").exists(), "{output}");
    assert_eq!(output.stdout.matches("the journal could not be written").count(), 1, "{output}");
}

#[test]
fn read_only_directories_are_reported_without_a_panic() {
    let sandbox = guarded();
    let _ = run_within(&sandbox, ":", ONE_CALL).expect_code(0);
    let (state, cache) = (sandbox.state(), sandbox.home().join(".cache/tenter"));
    set_mode(&[&state.join("journal"), &state, &cache], 0o500);
    let is_root = fs::write(state.join("probe"), "").is_ok();
    let output = run_within(&sandbox, ":", ONE_CALL);
    is_in_order(&sandbox, "read-only directories", &output);
    assert!(is_root || output.stdout.contains("tenter"), "{output}");
    if is_root {
        needs::skipped("user", "root may write into read-only directories");
    }
    set_mode(&[&state, &state.join("journal"), &cache], 0o700);
    recovers(&sandbox, "read-only directories");
}

fn set_mode(directories: &[&Path], mode: u32) {
    for directory in directories {
        fs::set_permissions(directory, fs::Permissions::from_mode(mode)).unwrap();
    }
}
