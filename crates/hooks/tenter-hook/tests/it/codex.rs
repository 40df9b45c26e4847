//! Sessions of Codex.

use std::fs;

use serde_json::{Value, json};
use tenter_testkit::{assert_fields, wait_until};

use crate::host_session::{HostSession, LOG};

fn session() -> HostSession {
    HostSession::new("codex")
}

/// Returns the payload of a patch before it is applied.
fn patch(session: &HostSession, text: &str, mode: &str) -> Value {
    session.answer_with("PreToolUse.apply_patch", |payload| {
        payload["tool_input"]["command"] = json!(text);
        payload["permission_mode"] = json!(mode);
    })
}

const UPDATE: &str = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** End Patch\n";

#[test]
fn a_guard_on_write_sees_patches_that_add_a_file() {
    let session = session();
    session.hook(
        "guard",
        "before_tool",
        "matcher:\n  tool: ^Write$\n  pattern: \\.txt$",
        "echo no >&2; exit 2",
    );
    let specific = &session.answer("PreToolUse.apply_patch")["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny");
    assert_eq!(specific["permissionDecisionReason"], "hook guard: no");
    assert!(patch(&session, UPDATE, "default").is_null(), "an update is no write");
    let payload =
        "*** Begin Patch\n*** Update File: a\n*** Move to: b.txt\n@@\n-x\n+y\n*** End Patch";
    assert!(patch(&session, payload, "default").is_object(), "a new name is a new file");
    let payload = "*** Begin Patch\n*** Add File: c.txt\n+x\n";
    assert!(patch(&session, payload, "default").is_object(), "a broken patch may add a file");
}

#[test]
fn a_patch_is_an_edit_of_each_of_its_files() {
    let session = session();
    session.log("edit", "before_tool", "matcher:\n  tool: ^Edit$\n  pattern: ^src/a\\.rs$");
    assert!(patch(&session, UPDATE, "default").is_null());
    let payload = &session.payloads()[0];
    assert_eq!(payload["tool_input"], json!({"patch": UPDATE}));
    assert_fields(&payload["paths"][0], &json!({"given": "src/a.rs", "op": "write"}));
    assert_eq!(payload["host"]["tool_name"], "apply_patch");
    assert_eq!(payload["host"]["tool_input"], json!({"command": UPDATE}));
}

#[test]
fn a_rewritten_call_runs_only_where_codex_would_not_ask() {
    let session = session();
    let script = r#"echo '{"modified_input": {"patch": "other"}}'"#;
    session.hook("change", "before_tool", "", script);
    let specific = &patch(&session, UPDATE, "bypassPermissions")["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "allow");
    assert_eq!(specific["updatedInput"], json!({"command": "other"}));
    let specific = &patch(&session, UPDATE, "default")["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny");
    let reason = specific["permissionDecisionReason"].as_str().unwrap();
    assert!(
        reason.contains("apply_patch") && reason.contains(r#"{"command":"other"}"#),
        "{reason}"
    );
    assert!(patch(&session, "other", "default").is_null(), "the model made the call");
}

#[test]
fn a_version_that_runs_the_original_call_is_asked_for_the_rewritten_one() {
    let session = session();
    let script = r#"echo '{"modified_input": {"command": "other", "patch": "other"}}'"#;
    session.hook("change", "before_tool", "", script);
    for (version, decision) in [
        ("0.129.0", "deny"),
        ("0.130.0", "deny"),
        ("0.131.0", "allow"),
        ("0.169.0-alpha.1", "allow"),
    ] {
        session.begin_transcript(version);
        for fixture in ["PreToolUse.Bash", "PreToolUse.apply_patch"] {
            let output = session.fire_with(fixture, |payload| {
                payload["permission_mode"] = json!("bypassPermissions");
                payload["session_id"] = json!(version);
            });
            let specific = &HostSession::read_answer(output)["hookSpecificOutput"];
            assert_eq!(specific["permissionDecision"], decision, "{version} {fixture}: {specific}");
            assert_eq!(specific["updatedInput"].is_null(), decision == "deny");
        }
    }
}

#[test]
fn without_a_transcript_the_registered_version_decides_about_rewrites() {
    let session = session();
    let script = r#"echo '{"modified_input": {"patch": "other"}}'"#;
    session.hook("change", "before_tool", "", script);
    for (version, decision) in
        [(json!("0.130.0"), "deny"), (json!(null), "deny"), (json!("0.169.0"), "allow")]
    {
        session.register_version(&version);
        let output = session.fire_with("PreToolUse.apply_patch", |payload| {
            payload["permission_mode"] = json!("bypassPermissions");
            payload["session_id"] = json!(format!("s{version}"));
            payload["transcript_path"] = json!(null);
        });
        let specific = &HostSession::read_answer(output)["hookSpecificOutput"];
        assert_eq!(specific["permissionDecision"], decision, "{version}: {specific}");
    }
}

#[test]
fn an_imported_hook_that_changes_a_file_of_a_patch_denies_it() {
    let session = session();
    let script = r#"case $payload in *secret*) input='{"file_path": "/w/a.txt", "content": "masked"}';; *) input=$(printf %s "$payload" | sed 's/.*"tool_input": *\({[^}]*}\).*/\1/');; esac
        printf '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": %s}}' "$input""#;
    session.hook("mask", "before_tool", "metadata: {dialect: claude-code}", script);
    let add = |text: &str| {
        let text = format!("*** Begin Patch\n*** Add File: a.txt\n+{text}\n*** End Patch\n");
        patch(&session, &text, "bypassPermissions")
    };
    let answer = add("secret");
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny", "{answer}");
    let reason = specific["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains(r#""content":"masked""#), "{reason}");
    assert!(add("public").is_null(), "nothing is changed");
}

#[test]
fn an_allow_alone_is_no_answer_even_if_it_may_skip_the_question() {
    let session = session();
    let config = session.sandbox.home().join(".config/tenter");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[bridge]\nallow_skips_prompt = true\n").unwrap();
    session.reply("may", "before_tool", r#"{"decision": "allow"}"#);
    assert!(session.answer("PreToolUse.Bash").is_null());
}

#[test]
fn a_failed_patch_is_a_failure() {
    let session = session();
    session.log("bad", "after_tool_failure", "");
    let failure = "Exit code: 1\nWall time: 0 seconds\nOutput:\nno such file\n";
    let _ = session
        .fire_with("PostToolUse.apply_patch", |payload| payload["tool_response"] = json!(failure))
        .expect_code(0);
    assert_eq!(session.payloads()[0]["tool_error"], failure);
}

#[test]
fn hooks_at_the_end_run_in_a_process_of_their_own() {
    let session = session();
    session.hook("end", "session_end", "", &format!("sleep 0.2; {LOG}"));
    session.pass("UserPromptSubmit");
    session.pass("SessionEnd");
    wait_until("the hook ran", || !session.payloads().is_empty());
    assert_eq!(session.payloads()[0]["event_type"], "session_end");
}

#[test]
fn a_compaction_that_cannot_be_prevented_is_reported() {
    let session = session();
    session.hook("keep", "pre_compact", "", "echo no >&2; exit 2");
    assert!(session.answer("PreCompact.compact").is_null());
    let answer = session.answer_with("UserPromptSubmit", |payload| {
        payload["session_id"] = session.payload("PreCompact.compact")["session_id"].clone();
    });
    let notice = answer["systemMessage"].as_str().unwrap();
    assert!(notice.contains("the hook keep wants to prevent a compaction"), "{notice}");
}

#[test]
fn hooks_read_the_messages_of_the_transcript_unless_their_payload_is_light() {
    let session = session();
    session.log("full", "before_stop", "");
    session.log("light", "before_stop", "metadata:\n  payload: light");
    let log_later = LOG.replace("/log", "/later");
    session.hook("later", "before_stop", "metadata:\n  async: true", &log_later);
    let transcript = session.sandbox.home().join("rollout.jsonl");
    let fixture_file = "../tenter-bridge/tests/transcripts/codex.record.jsonl";
    std::fs::copy(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture_file), &transcript)
        .unwrap();
    let set_path = |payload: &mut Value| payload["transcript_path"] = json!(transcript);
    let _ = session.fire_with("Stop", set_path).expect_code(0);
    let payloads = session.payloads();
    assert_eq!(payloads[0]["messages"][0]["content"], "Please run the test");
    assert_fields(&payloads[0], &json!({"usage": {"input_tokens": 400, "estimated": true}}));
    assert_eq!(
        payloads[0]["host"]["unknown"],
        json!(["turn_number", "session_turn", "step_count"])
    );
    assert!(payloads[1].get("messages").is_none());
    let later = session.sandbox.home().join("later");
    let read = || std::fs::read_to_string(&later).unwrap_or_default();
    wait_until("the asynchronous hook has run", || read().ends_with('\n'));
    let later: Value = serde_json::from_str(&read()).unwrap();
    assert_eq!(later["messages"], payloads[0]["messages"]);
    assert_eq!(later["usage"], payloads[0]["usage"]);
}

#[test]
fn without_a_transcript_the_payload_says_what_it_lacks() {
    let session = session();
    session.log("full", "before_stop", "");
    session.pass("Stop");
    let unknown = session.payloads()[0]["host"]["unknown"].to_string();
    assert!(unknown.contains("messages") && unknown.contains("usage"), "{unknown}");
}

#[test]
fn a_shell_that_waits_for_input_that_no_hook_sees_is_stopped_by_rules() {
    let session = session();
    let rules = "metadata:\n  match:\n    - {program: git, subcommand: push, decision: deny, reason: \"no\"}";
    let hook = session.hook("guard", "before_tool", rules, "");
    fs::remove_dir_all(hook.join("scripts")).unwrap();
    let is_denied = |command: &str| {
        let answer = session.answer_with("PreToolUse.Bash", |payload| {
            payload["tool_input"]["command"] = json!(command);
        });
        answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    };
    // The first call writes the summary of the hooks, which the others use.
    assert!(!is_denied("ls"));
    for command in ["bash", "cat | sh", "python3", "git push"] {
        assert!(is_denied(command), "{command}");
    }
    for command in ["bash -c ls", "python3 x.py", "bash < x.sh"] {
        assert!(!is_denied(command), "{command}");
    }
    session.log("log", "before_tool", "");
    is_denied("bash");
    assert_eq!(session.payloads()[0]["unparsed"], true);
}
