//! Files that decide what runs and what guards the agent (B49).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use tenter_bridge::hosts;
use tenter_bridge::registration::{RegistrationScope, Registry};

use crate::host_session::HostSession;

/// Returns the answer to a call that writes `path`.
fn write(session: &HostSession, fixture: &str, path: &str) -> Value {
    session.answer_with(fixture, |payload| {
        payload["tool_input"]["file_path"] = json!(path);
    })
}

/// Returns the decision of Claude Code about a write, and its reason.
fn claude(session: &HostSession, path: &str) -> (Value, String) {
    let answer = write(session, "PreToolUse.Write", path);
    let specific = &answer["hookSpecificOutput"];
    let reason = specific["permissionDecisionReason"].as_str().unwrap_or_default().to_owned();
    (specific["permissionDecision"].clone(), reason)
}

#[test]
fn the_user_is_asked_before_a_protected_file_is_changed() {
    let session = HostSession::registered("claude-code");
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
    for path in ["src/main.rs", ".github/workflows/x.yml", "settings.json", "config.toml"] {
        assert_eq!(claude(&session, path).0, Value::Null, "{path}");
    }
}

#[test]
fn the_registered_program_and_what_it_leads_to_are_protected() {
    let session = HostSession::registered("claude-code");
    let (home, directory) = (session.sandbox.home(), session.sandbox.root().join("opt/tenter-1"));
    fs::create_dir_all(home.join(".local/share/tenter/bin")).unwrap();
    fs::create_dir_all(&directory).unwrap();
    for name in ["tenter-hook", "tenter", "other"] {
        fs::write(directory.join(name), "").unwrap();
    }
    let current = directory.with_file_name("current");
    symlink(&directory, &current).unwrap();
    // Earlier versions registered a symlink; since, `tenter` is one beside the copy.
    symlink(current.join("tenter-hook"), home.join(".local/share/tenter/bin/tenter-hook")).unwrap();
    symlink(current.join("tenter"), home.join(".local/share/tenter/bin/tenter")).unwrap();
    for path in [
        home.join(".local/share/tenter/bin/tenter-hook"),
        home.join(".local/share/tenter/bin/new"),
        home.join(".local/share/tenter/x"),
        directory.join("tenter-hook"),
        current.join("tenter-hook"),
        directory.join("tenter"),
    ] {
        let (decision, reason) = claude(&session, path.to_str().unwrap());
        assert_eq!(decision, "ask", "{}", path.display());
        assert!(reason.contains("is protected"), "{reason}");
    }
    assert_eq!(claude(&session, directory.join("other").to_str().unwrap()).0, Value::Null);
}

#[test]
fn settings_plugins_servers_and_permissions_of_every_agent_are_protected() {
    let session = HostSession::registered("claude-code");
    let home = session.sandbox.home().display().to_string();
    for path in *tenter_base::words!(
        ".claude/agents/x.md .claude/commands/x.md .mcp.json sub/.mcp.json
         ~/.codex/rules/default.rules ~/.codex/work.config.toml .opencode/opencode.json
         sub/opencode.jsonc .opencode/tool/x.ts ~/.config/opencode/opencode.json .cursor/cli.json
         .cursor/mcp.json ~/.config/goose/config.yaml .crush.json ~/.config/crush/crushrc
         ~/.vibe/config.toml ~/.copilot/mcp-config.json .github/copilot/settings.local.json
         .vscode/mcp.json .vscode/settings.json ~/.config/Code/User/settings.json .kilo/kilo.json
         .kilocode/mcp.json .gemini/policies/x.toml .gemini/.env .qwen/agents/x.md
         ~/.kimi-code/mcp.json .pi/settings.json ~/.pi/agent/models.json
         ~/.cline/data/settings/cline_mcp_settings.json ~/Documents/Cline/MCP/server/index.js
         .factory/mcp.json ~/.factory/droids/x.md .goose/recipes/x.yaml
         /etc/claude-code/managed-settings.json .windsurf/hooks.json"
    ) {
        let path = path.replace('~', &home);
        assert_eq!(claude(&session, &path).0, "ask", "{path}");
    }
}

#[test]
fn what_only_instructs_the_model_is_not_protected() {
    let session = HostSession::registered("claude-code");
    for path in *tenter_base::words!(
        "CLAUDE.md AGENTS.md GEMINI.md .claude/CLAUDE.md .claude/rules/style.md
         .claude/output-styles/short.md .cursor/rules/style.mdc .clinerules/style.md
         .github/copilot-instructions.md .github/instructions/x.instructions.md
         .gemini/skills/x/SKILL.md .agents/skills/x/SKILL.md .goosehints .vscode/tasks.json
         charts/goose/config.yaml src/plugins/opencode.rs src/settings.local.json plugin.json"
    ) {
        assert_eq!(claude(&session, path).0, Value::Null, "{path}");
    }
}

/// Returns whether Claude Code asks about a write of `path`, with this variable in the environment.
fn is_asked_about(session: &HostSession, variable: (&str, &Path), path: &Path) -> bool {
    let mut payload = session.payload("PreToolUse.Write");
    payload["tool_input"]["file_path"] = json!(path);
    let stdin = session.sandbox.write("payload.json", payload.to_string());
    let mut command = session.sandbox.command();
    command.args(["claude-code", "PreToolUse", "--home"]).arg(session.sandbox.home());
    command.env(variable.0, variable.1).stdin(fs::File::open(stdin).unwrap());
    String::from_utf8(command.output().unwrap().stdout).unwrap().contains("\"ask\"")
}

#[test]
fn settings_in_directories_that_the_user_chose_are_protected() {
    let session = HostSession::registered("claude-code");
    let directory = session.sandbox.home().join("chosen");
    for (variable, file) in [
        ("CLAUDE_CONFIG_DIR", "settings.json"),
        ("CODEX_HOME", "rules/default.rules"),
        ("XDG_CONFIG_HOME", "goose/config.yaml"),
        ("XDG_DATA_HOME", "opencode/auth.json"),
        ("PI_CODING_AGENT_DIR", "extensions/x.ts"),
        ("CURSOR_CONFIG_DIR", "cli-config.json"),
    ] {
        let path = directory.join(file);
        assert!(!is_asked_about(&session, ("OTHER", &directory), &path), "{file}");
        assert!(is_asked_about(&session, (variable, &directory), &path), "{variable}");
    }
}

#[test]
fn what_the_user_protects_is_protected_too() {
    let session = HostSession::registered("claude-code");
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
    let session = HostSession::registered("gemini");
    let answer = write(&session, "BeforeTool.write_file", ".gemini/settings.json");
    assert_eq!(answer["decision"], "deny");
    assert!(answer["reason"].as_str().unwrap().contains("is protected"), "{answer}");
    assert_ne!(write(&session, "BeforeTool.write_file", "a.txt")["decision"], "deny");
}

#[test]
fn a_hooks_rewrite_and_its_allow_do_not_circumvent_the_protection() {
    let session = HostSession::registered("claude-code");
    let config = session.sandbox.home().join(".config/tenter");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[bridge]\nallow_skips_prompt = true\n").unwrap();
    let rewrite = r#"echo '{"decision": "allow", "modified_input": {"file_path": ".git/config", "text": "x"}}'"#;
    session.hook("rewrite", "before_tool", "", rewrite);
    assert_eq!(claude(&session, "a.txt").0, "ask");
    session.hook("deny", "before_tool", "priority: 900", "echo no >&2; exit 2");
    assert_eq!(claude(&session, "a.txt").0, "deny");
}

#[test]
fn the_file_of_every_registration_and_the_directories_of_hooks_are_protected() {
    let session = HostSession::registered("claude-code");
    let home = session.sandbox.home();
    let project = session.sandbox.project();
    let registry = Registry::in_home(&home);
    for host in hosts::ALL {
        for target in RegistrationScope::ALL
            .into_iter()
            .filter_map(|scope| registry.target(host, scope, &project))
        {
            let file = target.file.display().to_string();
            assert_eq!(claude(&session, &file).0, "ask", "{}: {file}", host.id);
        }
    }
    for (tool, input) in [
        (
            "Edit",
            json!({"file_path": ".claude/settings.json", "old_string": "a", "new_string": "b"}),
        ),
        ("MultiEdit", json!({"file_path": ".agents/hooks/guard/HOOK.md", "edits": []})),
        (
            "NotebookEdit",
            json!({"notebook_path": ".claude/settings.local.json", "new_source": "x"}),
        ),
    ] {
        let answer = session.answer_with("PreToolUse.Write", |payload| {
            payload["tool_name"] = json!(tool);
            payload["tool_input"] = input;
        });
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{tool}");
    }
}

/// Returns why Codex does not apply a patch; empty if it does.
fn codex(session: &HostSession, patch: &Value) -> String {
    let answer = session.answer_with("PreToolUse.apply_patch", |payload| {
        payload["tool_input"]["command"] = patch.clone();
    });
    let specific = &answer["hookSpecificOutput"];
    assert!(specific.is_null() || specific["permissionDecision"] == "deny", "{answer}");
    specific["permissionDecisionReason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn no_file_of_a_patch_is_protected_or_codex_does_not_apply_it() {
    let session = HostSession::registered("codex");
    let home = session.sandbox.home().display().to_string();
    let patch = |body: &str| json!(format!("*** Begin Patch\n{body}\n*** End Patch\n"));
    for body in [
        "*** Add File: .codex/hooks.json\n+{}",
        "*** Add File: a.txt\n+x\n*** Add File: .agents/hooks/x/HOOK.md\n+x",
        "*** Update File: a.txt\n*** Move to: .claude/settings.local.json\n@@\n-x\n+y",
        "*** Update File: .claude/settings.json\n*** Move to: a.txt\n@@\n-x\n+y",
        "*** Delete File: sub/../.agents/hooks/x/HOOK.md",
        "*** Add File: .opencode/plugins/x.ts\n+x",
        "*** Update File: a.txt\n*** Move to: sub/.crush.json\n@@\n-x\n+y",
        &format!("*** Update File: {home}/.codex/hooks.json\n@@\n-x\n+y"),
        &format!("*** Update File: {home}/.codex/config.toml\n@@\n-x\n+y"),
        &format!("*** Delete File: {home}/.local/state/tenter/trust.json"),
    ] {
        let reason = codex(&session, &patch(body));
        assert!(reason.contains("is protected:"), "{body}: {reason}");
    }
    assert_eq!(codex(&session, &patch("*** Add File: a.txt\n+.codex/hooks.json")), "");
}

#[test]
fn a_patch_that_cannot_be_read_touches_what_it_names() {
    let session = HostSession::registered("codex");
    for patch in [
        json!(
            "*** Begin Patch\n*** Update File: a.txt\n*** Copy File: .claude/settings.json\n*** End Patch"
        ),
        json!("--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-x\n+y\n"),
        json!(["*** Begin Patch", "*** Add File: .codex/hooks.json", "+{}"]),
        json!({"path": "sub/../tenter.toml", "text": ""}),
    ] {
        let reason = codex(&session, &patch);
        let why = "the patch cannot be read and names a protected path";
        assert!(reason.contains(why), "{patch}: {reason}");
    }
    for patch in [json!("*** Begin Patch\n*** Update File: a.txt"), json!(["*** Add File: a"])] {
        assert_eq!(codex(&session, &patch), "", "{patch}");
    }
}

/// Returns whether Claude Code gets an answer to a command that a guard stops, except in a container.
fn is_stopped_unless_contained(session: &HostSession) -> bool {
    let answer = session.answer_with("PreToolUse.Bash", |payload| {
        payload["tool_input"]["command"] = json!("rm -rf /srv/other");
    });
    answer["hookSpecificOutput"]["permissionDecision"] == json!("deny")
}

#[test]
fn only_the_users_configuration_says_that_nothing_leaves_the_container() {
    let session = HostSession::registered("claude-code");
    let directory = session.sandbox.home().join(".config/agents/hooks/outside");
    fs::create_dir_all(&directory).unwrap();
    let manifest = "---
name: outside
description: A test.
trigger: before_tool
metadata:
  match:
    - path: {op: delete, outside: project}
      except: [{agent: container}]
      decision: deny
      reason: Not here.
---
";
    fs::write(directory.join("HOOK.md"), manifest).unwrap();
    assert!(is_stopped_unless_contained(&session));
    let settings = "[guards]\ncontainer = true\n";
    session.sandbox.write("tenter.toml", settings);
    assert!(is_stopped_unless_contained(&session), "a project may not set it");
    let config = session.sandbox.home().join(".config/tenter");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), settings).unwrap();
    assert!(!is_stopped_unless_contained(&session));
}

#[test]
fn a_tool_of_a_server_changes_no_protected_file_either() {
    let session = HostSession::registered("claude-code");
    fs::create_dir_all(session.sandbox.project().join(".agents/hooks")).unwrap();
    let decision = |tool: &str, input: Value| {
        let answer = session.answer_with("PreToolUse.Write", |payload| {
            payload["tool_name"] = json!(tool);
            payload["tool_input"] = input.clone();
        });
        answer["hookSpecificOutput"]["permissionDecision"].clone()
    };
    for (tool, input) in [
        ("mcp__filesystem__write_file", json!({"path": ".agents/hooks/x", "content": ""})),
        ("mcp__filesystem__move_file", json!({"source": ".agents", "destination": "x"})),
        ("mcp__filesystem__delete_directory", json!({"uri": "file://$WORK/.agents"})),
        ("mcp__x__frobnicate", json!({"file_path": "tenter.toml"})),
    ] {
        let text = input.to_string().replace("$WORK", session.sandbox.project().to_str().unwrap());
        let input: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(decision(tool, input), "ask", "{tool}");
    }
    let copy = json!({"path": ".agents/hooks/x"});
    assert_eq!(decision("mcp__filesystem__read_file", copy), Value::Null);
}
