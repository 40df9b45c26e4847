//! The state between the processes of a session, also if it cannot be written.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};
use tenter_testkit::with_growing_limits;

use crate::claude_code::HARMLESS;
use crate::host_session::HostSession;

#[test]
fn sixteen_parallel_calls_are_all_judged() {
    let session = HostSession::new("claude-code");
    session.hook(
        "guard",
        "before_tool",
        "",
        r#"case "$payload" in *blocked*) echo no >&2; exit 2;; esac"#,
    );
    session.pass("SessionStart");
    thread::scope(|scope| {
        let calls: Vec<_> = (0..16)
            .map(|number| {
                let session = &session;
                scope.spawn(move || {
                    let output = session.fire_with("PreToolUse.Bash", |call| {
                        let word = if number % 2 == 0 { "blocked" } else { "fine" };
                        call["tool_input"]["command"] = format!("{word} {number}").into();
                        call["tool_use_id"] = format!("call-{number}").into();
                    });
                    HostSession::read_answer(output)["hookSpecificOutput"]["permissionDecision"]
                        == "deny"
                })
            })
            .collect();
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.join().unwrap(), number % 2 == 0, "{number}");
        }
    });
}

#[test]
fn without_a_state_directory_denies_hold_and_no_stop_is_continued() {
    for fault in ["a file in its place", "read-only"] {
        let session = HostSession::new("claude-code");
        session.hook("guard", "before_tool", "", "echo no >&2; exit 2");
        session.reply("again", "before_stop", r#"{"follow_up_messages": ["again"]}"#);
        let state = session.sandbox.state();
        fs::create_dir_all(&state).unwrap();
        if fault == "read-only" && !is_root() {
            fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
        } else {
            fs::write(state.join("bridge"), "").unwrap();
        }
        let output = session.fire("PreToolUse.Bash");
        assert!(output.stderr.contains("the state of the session is not kept"), "{output}");
        let answer = HostSession::read_answer(output);
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{fault}");
        let stop = session.fire("Stop");
        assert!(HostSession::read_answer(stop)["hookSpecificOutput"].is_null(), "{fault}");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "the test depends on who runs it")]
fn is_root() -> bool {
    let output = std::process::Command::new("id").arg("-u").output().unwrap();
    output.stdout == b"0\n"
}

#[test]
fn two_registrations_of_one_host_run_the_hooks_once() {
    // The reply of the first one counts for two seconds.
    with_growing_limits(|_| two_registrations());
}

fn two_registrations() {
    let session = HostSession::new("claude-code");
    session.pass("SessionStart");
    session.hook("guard", "before_tool", "", "echo . >> \"$HOME/runs\"; echo no >&2; exit 2");
    let context = r#"echo . >> "$HOME/runs"; echo '{"additional_context": "Mind the gap."}'"#;
    session.hook("context", "after_tool", "", context);
    let note = session.sandbox.home().join(".local/state/tenter/bridge/several/claude-code");
    fs::create_dir_all(note.parent().unwrap()).unwrap();
    fs::write(note, "").unwrap();
    let runs = || fs::read_to_string(session.sandbox.home().join("runs")).unwrap().lines().count();

    let answers = std::thread::scope(|scope| {
        let fire = || session.answer("PreToolUse.Bash");
        let other = scope.spawn(fire);
        [fire(), other.join().unwrap()]
    });
    for answer in answers {
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    }
    assert_eq!(runs(), 1);

    let edit = |payload: &mut serde_json::Value| payload["tool_use_id"] = "other".into();
    let addition = [(); 2].map(|()| session.answer_with("PostToolUse.Bash", edit));
    assert_eq!(addition.iter().filter(|answer| !answer.is_null()).count(), 1, "{addition:?}");
    assert_eq!(runs(), 2);
}

#[test]
fn a_shared_registration_beside_the_users_own_runs_the_hooks_once() {
    let session = HostSession::new("claude-code");
    let note = session.sandbox.home().join(".local/state/tenter/bridge/several/claude-code");
    session.pass("SessionStart");
    assert!(!note.exists(), "it is the only one");
    session.register_version(&serde_json::json!("2.1.330"));
    session.pass("SessionStart");
    assert!(note.exists());
}

#[test]
fn a_process_that_is_killed_at_any_moment_leaves_a_usable_session() {
    let session = HostSession::new("claude-code");
    session.hook("guard", "before_tool", "", "echo no >&2; exit 2");
    let deny = |id: &str| {
        let id = id.to_owned();
        session.fire_with("PreToolUse.Bash", |payload| payload["tool_use_id"] = id.into())
    };
    for milliseconds in 0..24 {
        let mut payload = session.payload("PreToolUse.Bash");
        payload["tool_use_id"] = format!("killed-{milliseconds}").into();
        let mut child = session.spawn("PreToolUse", &payload.to_string());
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(milliseconds) {
            thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let output = deny(&format!("after-{milliseconds}"));
        assert_eq!(output.stderr, "", "after {milliseconds} ms");
        let answer = HostSession::read_answer(output);
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    }
}

#[test]
fn two_agents_and_two_sessions_in_one_project_do_not_share_what_happened() {
    let claude = HostSession::new("claude-code");
    claude.reply("hello", "session_start", r#"{"additional_context": "Hello."}"#);
    let edit = |payload: &mut serde_json::Value| payload["session_id"] = "other".into();
    assert!(!claude.answer("SessionStart").is_null());
    assert!(!claude.answer_with("SessionStart", edit).is_null());
    let id = claude.payload("UserPromptSubmit")["session_id"].clone();
    let gemini = claude.with_host("gemini");
    let same_id = |payload: &mut serde_json::Value| payload["session_id"] = id;
    let greeting = gemini.answer_with("BeforeAgent", same_id);
    let text = greeting["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert_eq!(text, "[hook hello] Hello.", "the session of the other agent is another one");
    let claude = gemini.with_host("claude-code");
    assert!(claude.answer("UserPromptSubmit").is_null(), "it started before");
}

/// Returns the decision about a tool call, and its reason.
fn decision(session: &HostSession) -> (Value, String) {
    let answer = session.answer("PreToolUse.Bash");
    let answer = &answer["hookSpecificOutput"];
    let reason = answer["permissionDecisionReason"].as_str().unwrap_or_default();
    (answer["permissionDecision"].clone(), reason.to_owned())
}

#[test]
fn no_prompt_of_a_subagent_makes_a_session_forget_its_guards() {
    for (count, length) in [(1, 1_100_000), (130, 10_000), (1, 9_000_000)] {
        let session = HostSession::new("claude-code");
        let guard = session.sandbox.hook("guard", HARMLESS);
        session.trust();
        session.pass("SessionStart");
        for number in 0..count {
            let _ = session
                .fire_with("PreToolUse.Agent.subagent", |payload| {
                    payload["tool_use_id"] = json!(format!("call-{number}"));
                    payload["tool_input"]["prompt"] = json!("x".repeat(length));
                })
                .expect_code(0);
        }
        fs::remove_file(&guard).unwrap();
        let (decision, reason) = decision(&session);
        assert_eq!(decision, "deny", "after {count} prompts of {length} bytes");
        assert!(reason.starts_with("hook guard: it guards this session"), "{reason}");
    }
}

#[test]
fn a_state_that_cannot_be_read_denies_what_a_hook_that_fails_closed_guards() {
    let session = HostSession::new("claude-code");
    let guard = session.sandbox.hook("guard", HARMLESS);
    session.trust();
    session.pass("SessionStart");
    let policy = "metadata:\n  fail: closed\nmatcher:\n  tool: ^Bash$";
    session.hook("closed", "before_tool", policy, "true");
    assert_eq!(decision(&session).0, Value::Null);
    let sessions = session.sandbox.state().join("bridge/sessions");
    let files = || fs::read_dir(&sessions).unwrap().map(|file| file.unwrap().path());
    let records = files().filter(|file| file.extension().is_some_and(|end| end == "json"));
    for record in records {
        fs::write(record, "{").unwrap();
    }
    fs::remove_file(&guard).unwrap();
    let (is_denied, reason) = decision(&session);
    assert_eq!(is_denied, "deny");
    assert!(reason.starts_with("hook closed: it fails closed, and what guards"), "{reason}");
    let other = session.answer("PreToolUse.Write");
    assert!(other["hookSpecificOutput"].is_null(), "no hook that fails closed guards it: {other}");
    session.configure("[hooks]\nfail = \"closed\"\n");
    let all = session.answer("PreToolUse.Write");
    assert_eq!(all["hookSpecificOutput"]["permissionDecision"], "deny", "{all}");
}

#[test]
fn a_directory_below_the_project_removes_no_guard() {
    let session = HostSession::new("claude-code");
    let project = session.sandbox.project();
    let sub = project.join("sub");
    fs::create_dir_all(sub.join(".agents/hooks")).unwrap();
    fs::write(sub.join("tenter.toml"), "root = true\n").unwrap();
    session.configure("trust = \"all\"\n");
    let script = "#!/bin/sh\n[ \"$1\" = hook ] && { echo before_tool_call; exit; }\necho '{\"blocked\": true, \"reason\": \"no\"}'\n";
    session.sandbox.hook("guard", script);
    let in_sub = |fixture: &str| {
        let sub = sub.display().to_string();
        session.answer_with(fixture, |payload| payload["cwd"] = sub.into())
    };
    let _ = in_sub("SessionStart");
    let answer = in_sub("PreToolUse.Bash");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
}
