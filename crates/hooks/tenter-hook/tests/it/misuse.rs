//! Wrong calls, and payloads that no host should write: a clear line on stderr, and a deny only where a hook fails closed.

use std::process::Command;

use serde_json::{Value, json};
use tenter_testkit::PtySession;

use crate::host_session::HostSession;

const GUARD: &str = "metadata: {fail: closed}";

fn session(front_matter: &str) -> HostSession {
    let session = HostSession::new("claude-code");
    session.hook("guard", "before_tool", front_matter, "exit 0");
    session
}

#[test]
fn unreadable_payloads_are_reported_and_denied_if_a_hook_fails_closed() {
    for (stdin, error) in [
        ("", "the payload is empty"),
        ("not JSON", "the payload is not JSON"),
        ("[]", "the payload is not a JSON object"),
        ("{}", "the payload has no `hook_event_name`"),
        (r#"{"hook_event_name": "Stop"}"#, "the payload is of the event \"Stop\""),
        (r#"{"hook_event_name": "PreToolUse"}"#, "the payload has no `session_id`"),
        (r#"{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/"}"#, "no `tool_name`"),
    ] {
        let open = session("").send("PreToolUse", stdin).expect_code(0);
        assert_eq!(open.stdout, "", "{stdin}");
        assert!(open.stderr.contains(error), "{stdin}: {open}");
        let guard_session = session(GUARD);
        let output = guard_session.send("PreToolUse", stdin);
        assert!(output.stderr.contains(error), "{output}");
        let answer = HostSession::read_answer(output)["hookSpecificOutput"].clone();
        assert_eq!(answer["permissionDecision"], "deny", "{stdin}");
        let reason = answer["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.starts_with("hook guard: it fails closed"), "{reason}");
    }
}

/// A shell call of each host, and the place of its input.
const SHELL_CALLS: [(&str, &str, &str); 15] = [
    ("claude-code", "PreToolUse.Bash", "/tool_input"),
    ("codex", "PreToolUse.Bash", "/tool_input"),
    ("gemini", "BeforeTool.run_shell_command", "/tool_input"),
    ("opencode", "tool.execute.before.bash", "/output/args"),
    ("copilot", "preToolUse.bash", "/toolArgs"),
    ("qwen", "PreToolUse.run_shell_command", "/tool_input"),
    ("kimi-code", "PreToolUse.Bash", "/tool_input"),
    ("cline", "PreToolUse.run_commands", "/tool_call/input"),
    ("pi", "tool_call.bash", "/input/input"),
    ("kilo", "tool.execute.before.bash", "/output/args"),
    ("cursor", "preToolUse.Shell", "/tool_input"),
    ("droid", "PreToolUse.Execute", "/tool_input"),
    ("goose", "PreToolUse.shell", "/tool_input"),
    ("crush", "PreToolUse.bash", "/tool_input"),
    ("vibe", "pre_tool.bash", "/tool_input"),
];

#[test]
fn a_call_whose_input_cannot_be_read_is_denied_if_a_hook_fails_closed() {
    assert_eq!(SHELL_CALLS.map(|(host, ..)| host).to_vec(), ids_of_hosts());
    for (host, fixture, place) in SHELL_CALLS {
        let mut inputs = vec![json!(5), json!(["ls"]), json!(true)];
        match host {
            // Tools of these hosts have a text as input.
            "copilot" | "cursor" => {}
            "cline" => inputs.push(json!({"commands": ["rm -rf /", 5]})),
            _ => inputs.push(json!("{\"command\": \"ls")),
        }
        for input in inputs {
            for (front_matter, is_denied) in [("", false), (GUARD, true)] {
                let session = HostSession::new(host);
                session.hook("guard", "before_tool", front_matter, "exit 0");
                let output = session.fire_with(fixture, |payload| {
                    *payload.pointer_mut(place).unwrap() = input.clone();
                });
                assert!(output.stderr.contains("is not a JSON object"), "{host} {input}: {output}");
                let denies =
                    output.stdout.contains("hook guard: it fails closed and could not look");
                assert_eq!(denies, is_denied, "{host} {input}: {output}");
            }
        }
    }
}

#[test]
fn an_input_may_be_json_in_a_text() {
    for (host, fixture, place) in SHELL_CALLS {
        let session = HostSession::new(host);
        let script = "case $payload in *'\"command\": '*) echo seen >&2; exit 2;; esac";
        session.hook("guard", "before_tool", "", script);
        let output = session.fire_with(fixture, |payload| {
            let input = payload.pointer_mut(place).unwrap();
            *input = Value::String(input.to_string());
        });
        assert!(output.stdout.contains("hook guard: seen"), "{host}: {output}");
    }
}

fn ids_of_hosts() -> Vec<&'static str> {
    tenter_bridge::hosts::ALL.iter().map(|host| host.id).collect()
}

#[test]
fn deep_and_long_payloads_are_limited() {
    let deep = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    session("").send("PreToolUse", deep).warns("recursion limit");
    let guard_session = session(GUARD);
    let mut payload = guard_session.payload("PreToolUse.Write");
    payload["tool_input"]["content"] = "x".repeat(20 << 20).into();
    let output = guard_session.send("PreToolUse", payload.to_string());
    assert!(HostSession::read_answer(output).is_null(), "20 MiB are read");
}

#[test]
fn unknown_fields_of_newer_hosts_are_ignored() {
    let session = session(GUARD);
    let output = session.fire_with("PreToolUse.Bash", |payload| {
        payload["future"] = serde_json::json!({"deep": [1, 2, 3]});
    });
    assert!(HostSession::read_answer(output).is_null());
}

#[test]
fn a_wrong_registration_says_what_is_known() {
    let session = HostSession::new("claude-code");
    let output = session.sandbox.run(["claude-code", "PreToolUs"]).expect_code(1);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("did you mean \"PreToolUse\"?"), "{output}");
    assert!(output.stderr.contains("`tenter-hook --help` shows"), "{output}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the launcher needs no sandbox to print its usage")]
fn the_launcher_explains_itself() {
    for (program, arguments) in [
        (env!("CARGO_BIN_EXE_tenter-launch"), &["--help"][..]),
        (env!("CARGO_BIN_EXE_tenter-launch"), &["confine", "-h"]),
        (env!("CARGO_BIN_EXE_tenter-hook"), &["confine", "--help"]),
    ] {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(output.stdout.starts_with(b"usage: confine "), "{output:?}");
    }
}

#[test]
fn help_and_version_are_printed() {
    let sandbox = HostSession::new("claude-code").sandbox;
    let version = concat!("tenter-hook ", env!("CARGO_PKG_VERSION"), "\n");
    for option in ["--version", "-V"] {
        assert_eq!(sandbox.run([option]).expect_code(0).stdout, version);
    }
    for arguments in [&["--help"][..], &["-h"], &["claude-code", "--help"]] {
        let output = sandbox.run(arguments).expect_code(0);
        assert!(output.stdout.contains("tenter-hook AGENT EVENT"), "{output}");
        assert_eq!(output.stderr, "");
        assert!(output.stdout.lines().all(|line| line.chars().count() <= 100), "{output}");
    }
    let (code, screen) = PtySession::start(sandbox.command()).end();
    assert_eq!(code, Some(0));
    assert!(screen.contains("tenter-hook AGENT EVENT"), "{screen}");
}

#[test]
fn cursor_is_recognised_when_it_runs_the_hooks_of_claude_code() {
    let session = HostSession::new("claude-code");
    session.hook("guard", "before_tool", "", "echo no >&2; exit 2");
    let mut payload = HostSession::new("cursor").payload("preToolUse.Shell");
    payload["cwd"] = session.sandbox.project().to_str().unwrap().into();
    for event in ["preToolUse", "PreToolUse"] {
        payload["hook_event_name"] = event.into();
        let answer = HostSession::read_answer(session.send("PreToolUse", payload.to_string()));
        assert_eq!(answer["permission"], "deny", "{answer}");
        assert_eq!(answer["agent_message"], "hook guard: no", "{answer}");
    }
}
