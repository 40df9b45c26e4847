//! A full disk, limits on files, descriptors, processes and memory, and hooks that hang for as long as an agent waits.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;
use tenter_bridge::payload::Payload;
use tenter_bridge::{Host, NativeEvent, Visited, Visitor, hosts};
use tenter_engine::Directories;
use tenter_testkit::{Output, Sandbox, needs, with_growing_limits};

use crate::host_session::{HostSession, fixtures};

/// Runs a command with a full disk of its own as the directory `$1`.
const ON_A_FULL_DISK: &str = r#"
mkdir -p "$1" && mount -t tmpfs -o size=16k none "$1" || exit 99
dd if=/dev/zero of="$1/filler" bs=1024 2>/dev/null
shift
exec "$@"
"#;

/// Fires an event while the disk with the state directory is full; `None` if no file system can be mounted.
fn fire_on_a_full_disk(session: &HostSession, fixture: &str) -> Option<Output> {
    let unshare = Sandbox::new("unshare");
    let mode = if unshare.shell("[ $(id -u) = 0 ]").code == Some(0) { "-m" } else { "-Urm" };
    let (state, home) = (session.sandbox.state(), session.sandbox.home());
    let [state, home] = [state, home].map(|path| path.display().to_string());
    let program = env!("CARGO_BIN_EXE_tenter-hook");
    let event = session.event(fixture);
    let shell = [mode, "sh", "-c", ON_A_FULL_DISK, "sh", &state];
    let hook = [program, "claude-code", event, "--home", &home];
    let payload = session.payload(fixture).to_string();
    let output = unshare.run_with_stdin([&shell[..], &hook[..]].concat(), payload);
    if output.code == Some(0) {
        return Some(output);
    }
    assert!(output.stderr.contains("mount") || output.stderr.contains("unshare"), "{output}");
    needs::skipped("mount", "no file system can be mounted");
    None
}

#[test]
fn on_a_full_disk_denials_hold_and_nothing_else_is_denied() {
    let session = HostSession::new("claude-code");
    session.hook("guard", "before_tool", "matcher:\n  tool: ^Bash$", "echo no >&2; exit 2");
    session.reply("again", "before_stop", r#"{"follow_up_messages": ["again"]}"#);
    session.reply("hello", "before_agent", r#"{"additional_context": "Hello."}"#);
    session.hook("later", "after_tool", "async: true", "true");
    let Some(denial) = fire_on_a_full_disk(&session, "PreToolUse.Bash") else { return };
    assert!(denial.stderr.contains("the state of the session is not kept"), "{denial}");
    let answer = HostSession::read_answer(denial);
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");

    let fire = |fixture| fire_on_a_full_disk(&session, fixture).unwrap();
    let passing = HostSession::read_answer(fire("PreToolUse.Write"));
    assert!(passing["hookSpecificOutput"].is_null(), "{passing}");
    let prompt = HostSession::read_answer(fire("UserPromptSubmit"));
    let context = &prompt["hookSpecificOutput"]["additionalContext"];
    assert_eq!(*context, "[hook hello] Hello.", "{prompt}");
    let stop = HostSession::read_answer(fire("Stop"));
    assert!(stop["hookSpecificOutput"].is_null() && stop["decision"].is_null(), "{stop}");
    let late = fire("PostToolUse.Bash");
    assert!(late.stderr.contains("could not be started"), "{late}");
    assert!(HostSession::read_answer(late)["hookSpecificOutput"].is_null());
}

#[test]
fn hooks_have_less_time_than_the_host_waits_at_every_event() {
    for host in hosts::ALL {
        for event in host.events {
            let margin = event.timeout.checked_sub(event.time_for_hooks()).unwrap();
            assert!(margin >= Duration::from_secs(1), "{} {}", host.id, event.name);
        }
    }
}

#[test]
fn an_event_that_cannot_be_read_is_answered_at_half_of_the_timeout() {
    for (host, event, decision) in [
        ("qwen", "PreToolUse", "ask"),
        // Not every version of it asks in every session.
        ("claude-code", "PreToolUse", "deny"),
        ("claude-code", "UserPromptSubmit", "block"),
        ("codex", "PreToolUse", "deny"),
    ] {
        with_growing_limits(|factor| {
            assert_eq!(decision_without_an_event(host, event, 2 * factor), decision);
        });
    }
}

/// Returns the decision that a host gets within its timeout, in seconds, if the event is never read.
fn decision_without_an_event(host: &str, event: &str, timeout: u32) -> String {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_tenter-hook"));
    let mut hook = sandbox
        .command()
        .args([host, event, "--timeout", &timeout.to_string(), "--home"])
        .arg(sandbox.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Without an end of stdin, the event is never read.
    let stdin = hook.stdin.take();
    let start = Instant::now();
    let output = hook.wait_with_output().unwrap();
    drop(stdin);
    assert!(start.elapsed() < Duration::from_secs(timeout.into()), "{:?}", start.elapsed());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let specific = answer["hookSpecificOutput"]["permissionDecision"].as_str();
    specific.or(answer["decision"].as_str()).unwrap().to_owned()
}

/// Returns each event of each host with a recorded payload, except where hooks run after the answer.
fn events_with_payloads() -> Vec<(&'static Host, &'static NativeEvent, String)> {
    let mut events = Vec::new();
    for host in hosts::ALL {
        let names = fs::read_dir(fixtures(host.id)).unwrap();
        let mut names: Vec<String> =
            names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        for event in host.events.iter().filter(|event| event.timeout > Duration::from_secs(3)) {
            let start = format!("{}.", event.name);
            let fixture = names.iter().find(|name| name.starts_with(&start));
            events.extend(fixture.map(|name| (*host, event, name.replace(".json", ""))));
        }
    }
    events
}

/// Fires an event of a host that has already waited for most of the time that it allows.
fn fails_closed_in_time(
    host: &'static Host,
    event: &'static NativeEvent,
    fixture: &str,
    factor: u32,
) {
    let remainder = event.time_for_hooks().min(Duration::from_millis(200) * factor);
    let (visit, elapsed) = fire_late(host, event, fixture, remainder);
    let what = format!("{} {fixture} after {elapsed:?}: {visit:?}", host.id);
    assert!(elapsed < event.timeout, "{what}");
    if event.moment == tenter_bridge::Moment::BeforeTool {
        let answer: Value = serde_json::from_str(&visit.answer.unwrap()).unwrap();
        assert!(answer.to_string().contains("deadline"), "{what}");
    }
}

/// Fires an event whose hooks have this much time left, with a hook that hangs and another one that ignores SIGTERM.
fn fire_late(
    host: &'static Host,
    event: &'static NativeEvent,
    fixture: &str,
    remainder: Duration,
) -> (Visited, Duration) {
    let session = HostSession::new(host.id);
    let events =
        ["before_tool", "after_tool", "before_agent", "after_turn", "before_stop", "session_start"];
    for name in events {
        let (hook, policy) = (name.replace('_', "-"), "metadata:\n  fail: closed");
        session.hook(&hook, name, policy, "sleep 600");
    }
    let stubborn = "trap '' TERM; while :; do sleep 0.1; done";
    session.hook("stubborn", "before_tool", "metadata:\n  fail: closed\npriority: 900", stubborn);
    let waited = event.time_for_hooks().checked_sub(remainder).unwrap();
    let start = Instant::now().checked_sub(waited).unwrap();
    let visitor = Visitor {
        host,
        event,
        caller: None,
        directories: Directories::in_home(session.sandbox.home()),
        vars: vec![("PATH".into(), needs::search_path())].into(),
        cwd: session.sandbox.project(),
        clock: || jiff::Timestamp::UNIX_EPOCH,
        start,
        tenter: None,
        launcher: None,
        keeper: None,
        memory: None,
        progress: Arc::default(),
    };
    let payload = Payload::parse(session.payload(fixture).to_string().as_bytes());
    (visitor.run(payload), start.elapsed())
}

#[test]
fn hooks_that_hang_until_just_before_the_hosts_timeout_are_stopped_and_fail_closed() {
    let events = events_with_payloads();
    let hosts_seen =
        events.iter().map(|(host, ..)| host.id).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(hosts_seen.len(), hosts::ALL.len());
    for events in events.chunks(4) {
        thread::scope(|scope| {
            for (host, event, fixture) in events {
                scope.spawn(move || {
                    with_growing_limits(|factor| {
                        fails_closed_in_time(host, event, fixture, factor);
                    });
                });
            }
        });
    }
}

/// Creates a static hook that denies every tool call.
fn static_guard(session: &HostSession) {
    let deny = "metadata:\n  action: deny\n  reason: no";
    let directory = session.hook("guard", "before_tool", deny, "");
    fs::remove_dir_all(directory.join("scripts")).unwrap();
}

/// Fires a tool call in a process with this limit, which is a line of bash, and its stdout in `stdout`.
fn fire_within(session: &HostSession, limit: &str, stdout: &str) -> Output {
    let bash = Sandbox::new("bash");
    let home = session.sandbox.home().display().to_string();
    let script = format!("{limit}\nexec \"$0\" \"$@\" {stdout}");
    let program = env!("CARGO_BIN_EXE_tenter-hook");
    let arguments = ["-c", &script, program, "claude-code", "PreToolUse", "--home", &home];
    bash.run_with_stdin(arguments, session.payload("PreToolUse.Bash").to_string())
}

fn is_denied(output: Output) -> bool {
    let answer = HostSession::read_answer(output);
    answer["hookSpecificOutput"]["permissionDecision"] == "deny"
}

#[test]
fn a_static_guard_denies_whatever_files_may_be_written() {
    let session = HostSession::new("claude-code");
    static_guard(&session);
    session.pass("SessionStart");
    let _ = session.fire("PreToolUse.Bash").expect_code(0);
    let journal = session.sandbox.home().join(".local/state/tenter/journal");
    for file in fs::read_dir(journal).unwrap() {
        let file = file.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.repeat(100)).unwrap();
    }
    for limit in ["ulimit -f 0", "ulimit -f 1", "ulimit -f 8"] {
        let output = fire_within(&session, limit, "");
        assert!(is_denied(output), "{limit}");
    }
}

#[test]
fn an_answer_that_cannot_be_written_denies_by_the_exit_code() {
    let session = HostSession::new("claude-code");
    static_guard(&session);
    let output = fire_within(&session, "ulimit -f 0", "> \"$HOME/answer\"");
    let _ = output.expect_code(2);
}

#[test]
fn without_file_descriptors_or_memory_nothing_passes_that_a_guard_denies() {
    let session = HostSession::new("claude-code");
    static_guard(&session);
    let descriptors = (3..24).map(|count| format!("ulimit -n {count}"));
    let memory = (8_000..40_000).step_by(2_000).map(|size| format!("ulimit -v {size}"));
    let mut count = 0;
    for limit in descriptors.chain(memory) {
        let output = fire_within(&session, &limit, "");
        if output.code == Some(0) {
            assert!(is_denied(output), "{limit}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}: the program starts with four descriptors");
}

#[test]
fn with_a_few_descriptors_more_than_the_usual_ones_calls_pass() {
    let session = HostSession::new("claude-code");
    session.pass("SessionStart");
    let output = fire_within(&session, "ulimit -n 16", "");
    assert!(HostSession::read_answer(output).is_null());
}

#[test]
fn a_hook_that_cannot_be_started_denies_if_it_fails_closed() {
    let session = HostSession::new("claude-code");
    session.hook("guard", "before_tool", "metadata:\n  fail: closed", "echo no >&2; exit 2");
    for count in 4..24 {
        let output = fire_within(&session, &format!("ulimit -n {count}"), "");
        assert!(is_denied(output), "{count}");
    }
}

#[test]
fn without_a_home_directory_or_rights_in_it_a_guard_denies() {
    let session = HostSession::new("claude-code");
    static_guard(&session);
    let home = session.sandbox.home();
    for limit in ["unset HOME", "cd /", "cd \"$HOME\"; rmdir \"$HOME\""] {
        assert!(is_denied(fire_within(&session, limit, "")), "{limit}");
    }
    fs::set_permissions(&home, fs::Permissions::from_mode(0o500)).unwrap();
    let output = fire_within(&session, ":", "");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(is_denied(output));
    // Without any home, the hooks of the project are all that there is.
    let missing = home.join("gone").display().to_string();
    let payload = session.payload("PreToolUse.Bash").to_string();
    let output =
        session.sandbox.run_with_stdin(["claude-code", "PreToolUse", "--home", &missing], payload);
    assert!(HostSession::read_answer(output)["hookSpecificOutput"].is_null());
}
