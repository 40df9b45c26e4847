//! Files that decide what runs and what guards the agent (B49).

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::host_session::HostSession;

/// The answer to a call that writes `path`.
fn write(session: &HostSession, fixture: &str, path: &str) -> Value {
    HostSession::answer(session.fire_with(fixture, |payload| {
        payload["tool_input"]["file_path"] = json!(path);
    }))
}

/// The decision of Claude Code about a write, and its reason.
fn claude(session: &HostSession, path: &str) -> (Value, String) {
    let answer = write(session, "PreToolUse.Write", path);
    let specific = &answer["hookSpecificOutput"];
    let reason = specific["permissionDecisionReason"].as_str().unwrap_or_default().to_owned();
    (specific["permissionDecision"].clone(), reason)
}

#[test]
fn the_user_is_asked_before_a_protected_file_is_changed() {
    let session = HostSession::new("claude-code");
    let project = session.sandbox.project();
    let home = session.sandbox.home();
    fs::create_dir_all(project.join(".agents/hooks")).unwrap();
    fs::create_dir_all(project.join("sub")).unwrap();
    symlink(".agents", project.join("link")).unwrap();
    symlink("../planned", project.join(".agents/hooks/later")).unwrap();
    let home = home.display();
    for path in [
        ".agents/hooks/guard/HOOK.md",
        "sub/../.agents/hooks/x",
        "link/hooks/x",
        ".Agents/Hooks/x",
        ".git/config",
        "tenter.toml",
        ".claude/settings.json",
        "sub/.claude/settings.local.json",
        ".gemini/settings.json",
        &format!("{home}/.claude/settings.json"),
        &format!("{home}/.claude/plugins/x/hooks.json"),
        &format!("{home}/.codex/config.toml"),
        &format!("{home}/.config/agents/hooks/x/HOOK.md"),
        &format!("{home}/.config/tenter/config.toml"),
        &format!("{home}/.local/state/tenter/trust.json"),
    ] {
        let (decision, reason) = claude(&session, path);
        assert_eq!(decision, "ask", "{path}");
        assert!(reason.contains("is protected"), "{path}: {reason}");
    }
    for path in ["src/main.rs", ".github/workflows/x.yml", ".claude/commands/x.md", "settings.json"]
    {
        assert_eq!(claude(&session, path).0, Value::Null, "{path}");
    }
}

#[test]
fn what_the_user_protects_is_protected_too() {
    let session = HostSession::new("claude-code");
    let config = session.sandbox.home().join(".config/tenter");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[tools]\nprotect = [\"deploy\", \"~/notes\"]\n")
        .unwrap();
    session.sandbox.write("tenter.toml", "[tools]\nprotect = [\"Makefile\"]\n");
    let notes = session.sandbox.home().join("notes/a");
    for path in ["deploy/prod.sh", "Makefile", notes.to_str().unwrap()] {
        assert_eq!(claude(&session, path).0, "ask", "{path}");
    }
    fs::write(config.join("config.toml"), "[hooks]\nenabled = false\n").unwrap();
    assert_eq!(claude(&session, "tenter.toml").0, Value::Null, "hooks are off");
}

#[test]
fn a_host_that_cannot_ask_denies() {
    let session = HostSession::new("gemini");
    let answer = write(&session, "BeforeTool.write_file", ".gemini/settings.json");
    assert_eq!(answer["decision"], "deny");
    assert!(answer["reason"].as_str().unwrap().contains("is protected"), "{answer}");
    assert_ne!(write(&session, "BeforeTool.write_file", "a.txt")["decision"], "deny");
}

#[test]
fn a_hooks_rewrite_and_its_allow_do_not_circumvent_the_protection() {
    let session = HostSession::new("claude-code");
    let config = session.sandbox.home().join(".config/tenter");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[bridge]\nallow_skips_prompt = true\n").unwrap();
    let rewrite = r#"echo '{"decision": "allow", "modified_input": {"file_path": ".git/config", "text": "x"}}'"#;
    session.hook("rewrite", "before_tool", "", rewrite);
    assert_eq!(claude(&session, "a.txt").0, "ask");
    session.hook("deny", "before_tool", "priority: 900", "echo no >&2; exit 2");
    assert_eq!(claude(&session, "a.txt").0, "deny");
}
