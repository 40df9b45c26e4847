//! Hooks that were imported from Claude Code's settings, in other agents and in Claude Code itself.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tenter_bridge::import::{self, MANIFEST, SCRIPT, Source};
use tenter_testkit::{copy_directory, needs, skip_unless};

use crate::host_session::HostSession;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tenter-bridge/tests/fixtures/claude-hooks")
}

/// Writes imported settings as hooks of the user. Returns their directory.
fn import(
    session: &HostSession,
    text: &str,
    origin: &str,
    plugin_root: Option<PathBuf>,
) -> PathBuf {
    let hooks = session.sandbox.home().join(".config/agents/hooks");
    let source = Source {
        host: tenter_bridge::hosts::find("claude-code").unwrap(),
        file: session.sandbox.home().join(".claude/settings.json"),
        text: text.to_owned(),
        origin: origin.to_owned(),
        plugin_root,
        project: session.sandbox.project(),
        home: session.sandbox.home(),
    };
    for hook in import::plan(import::read(&source).unwrap(), &source, &hooks, &[]).hooks {
        let directory = hooks.join(&hook.name);
        fs::create_dir_all(directory.join("scripts")).unwrap();
        fs::write(directory.join(MANIFEST), &hook.files.manifest).unwrap();
        if let Some(script) = &hook.files.script {
            fs::write(directory.join(SCRIPT), script).unwrap();
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(directory.join(SCRIPT), mode).unwrap();
        }
    }
    hooks
}

/// Creates a session whose project has the documented hooks.
fn with_documented_hooks(host: &'static str) -> HostSession {
    let session = HostSession::new(host);
    let from = fixtures().join("project/.claude");
    let to = session.sandbox.project().join(".claude/hooks");
    copy_directory(&from.join("hooks"), &to);
    let text = fs::read_to_string(from.join("settings.json")).unwrap();
    import(&session, &text, "/elsewhere/.claude/settings.json", None);
    session
}

fn text(answer: &Value) -> String {
    answer.to_string()
}

#[test]
fn the_documented_hooks_guard_gemini_unchanged() {
    skip_unless!(needs::has("python3"));
    let session = with_documented_hooks("gemini");
    let grep = session.fire_with("BeforeTool.run_shell_command", |payload| {
        payload["tool_input"]["command"] = json!("grep x notes");
    });
    assert!(text(&HostSession::read_answer(grep)).contains("Use rg instead of grep."));
    let env = session.fire_with("BeforeTool.write_file", |payload| {
        payload["tool_input"]["file_path"] = json!(".env");
    });
    assert_eq!(HostSession::read_answer(env)["decision"], "deny");
    let curl = session.fire_with("BeforeTool.run_shell_command", |payload| {
        payload["tool_input"]["command"] = json!("curl http://a");
    });
    assert!(text(&HostSession::read_answer(curl)).contains("Bash(curl:*)"));
    assert_ne!(session.answer("BeforeTool.write_file")["decision"], "deny");
    let result = session.answer("AfterTool.write_file");
    assert!(text(&result).contains("The file was formatted."), "{result}");
}

#[test]
fn the_documented_hooks_guard_codex_and_its_patches_unchanged() {
    skip_unless!(needs::has("python3"));
    let session = with_documented_hooks("codex");
    let patch = |patch: &str| {
        let output = session.fire_with("PreToolUse.apply_patch", |payload| {
            payload["tool_input"]["command"] = json!(patch);
        });
        text(&HostSession::read_answer(output))
    };
    let two = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** Add File: .env\n+KEY=1\n*** End Patch";
    assert!(patch(two).contains("deny"), "one of its files is protected");
    assert!(!patch("*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch").contains("deny"));
    let run = |command: &str| {
        let event_output = session.fire_with("PreToolUse.Bash", |payload| {
            payload["tool_input"]["command"] = json!(command);
        });
        text(&HostSession::read_answer(event_output))
    };
    assert!(run("grep x notes").contains("Use rg instead of grep."));
    assert!(run("true; curl http://a").contains("Bash(curl:*)"));
    assert!(!run("true").contains("deny"));
}

/// Creates a session whose user has the hooks of the plugins.
fn with_hooks_of_plugins(host: &'static str) -> HostSession {
    let session = HostSession::new(host);
    for plugin in ["reminder", "rules", "style"] {
        let root = fixtures().join(plugin);
        let file = fs::read_to_string(root.join("hooks/hooks.json")).unwrap();
        import(&session, &file, plugin, Some(root));
    }
    session
}

#[test]
fn the_hooks_of_plugins_guard_codex_and_its_patches_unchanged() {
    skip_unless!(needs::has("python3"));
    let session = with_hooks_of_plugins("codex");
    let start = session.answer("SessionStart");
    assert!(text(&start).contains("Explain each choice in one sentence."), "{start}");
    let calls = std::cell::Cell::new(0);
    let patch = |line: &str| {
        let patch = format!("*** Begin Patch\n*** Add File: a.py\n+{line}\n*** End Patch");
        calls.set(calls.get() + 1);
        let output = session.fire_with("PreToolUse.apply_patch", |payload| {
            payload["tool_input"]["command"] = json!(patch);
            payload["tool_use_id"] = json!(format!("call-{}", calls.get()));
        });
        text(&HostSession::read_answer(output))
    };
    assert!(!patch("parse(x)").contains("deny"));
    assert!(patch("eval(x)").contains("Parse the text instead."));
    assert!(!patch("eval(x)").contains("deny"), "once in a session");
    let chmod = session.fire_with("PreToolUse.Bash", |payload| {
        payload["tool_input"]["command"] = json!("chmod 777 x");
    });
    assert!(text(&HostSession::read_answer(chmod)).contains("deny"));
}

#[test]
fn the_hooks_of_plugins_guard_qwen_unchanged() {
    skip_unless!(needs::has("python3"));
    let session = with_hooks_of_plugins("qwen");
    let start = session.answer("SessionStart");
    assert!(text(&start).contains("Explain each choice in one sentence."), "{start}");
    let eval = || {
        let output = session.fire_with("PreToolUse.write_file", |payload| {
            payload["tool_input"]["content"] = json!("eval(x)");
        });
        text(&HostSession::read_answer(output))
    };
    assert!(eval().contains("Parse the text instead."));
    assert!(!eval().contains("deny"), "once in a session");
    let chmod = session.fire_with("PreToolUse.run_shell_command", |payload| {
        payload["tool_input"]["command"] = json!("chmod 777 x");
    });
    assert!(text(&HostSession::read_answer(chmod)).contains("deny"));
}

const COUNTING: &str = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo x >> \"$HOME/runs\""}]}]}}"#;

/// Returns the number of runs of the counting hook.
fn runs(session: &HostSession) -> usize {
    let runs = fs::read_to_string(session.sandbox.home().join("runs"));
    runs.unwrap_or_default().lines().count()
}

#[test]
fn in_claude_code_an_imported_hook_runs_only_if_its_origin_does_not() {
    let session = HostSession::new("claude-code");
    let settings = session.sandbox.home().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, COUNTING).unwrap();
    let hooks = import(&session, COUNTING, "~/.claude/settings.json", None);
    session.pass("PreToolUse.Bash");
    assert_eq!(runs(&session), 0, "Claude Code runs it");
    for other in [
        COUNTING.replace("Bash", "Bash|Write"),
        COUNTING.replacen('{', "{\"disableAllHooks\": true, ", 1),
        format!("// comment\n{COUNTING}"),
        "{}".to_owned(),
    ] {
        let before = runs(&session);
        fs::write(&settings, &other).unwrap();
        session.pass("PreToolUse.Bash");
        assert_eq!(runs(&session), before + 1, "{other}");
    }
    fs::write(&settings, COUNTING).unwrap();
    let hook = fs::read_dir(&hooks).unwrap().next().unwrap().unwrap().path();
    let script = hook.join(SCRIPT);
    let text = format!("{}true\n", fs::read_to_string(&script).unwrap());
    fs::write(&script, text).unwrap();
    session.pass("PreToolUse.Bash");
    assert_eq!(runs(&session), 5, "it was edited");
}

#[test]
fn in_other_agents_an_imported_hook_runs_whatever_its_origin_has() {
    let session = HostSession::new("gemini");
    let settings = session.sandbox.home().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, COUNTING).unwrap();
    import(&session, COUNTING, "~/.claude/settings.json", None);
    session.pass("BeforeTool.run_shell_command");
    assert_eq!(runs(&session), 1);
}

#[test]
fn the_settings_of_another_project_are_not_read_by_claude_code() {
    let session = HostSession::new("claude-code");
    let settings = session.sandbox.root().join("other/.claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, COUNTING).unwrap();
    import(&session, COUNTING, &settings.display().to_string(), None);
    session.pass("PreToolUse.Bash");
    assert_eq!(runs(&session), 1);
}

/// Copies the transcript to the home directory.
const COPIES_TRANSCRIPT: &str = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "path=$(sed 's/.*\"transcript_path\": *\"\\([^\"]*\\)\".*/\\1/'); cp \"$path\" \"$HOME/copy\""}]}]}}"#;

#[test]
fn an_imported_hook_reads_the_conversation_in_claude_codes_format_in_other_agents() {
    for (host, events, message) in [
        (
            "gemini",
            [
                "BeforeAgent",
                "BeforeTool.run_shell_command",
                "AfterTool.run_shell_command",
                "AfterAgent",
            ],
            "Please run the test",
        ),
        (
            "codex",
            ["UserPromptSubmit", "PreToolUse.Bash", "PostToolUse.Bash", "Stop"],
            "Please run the test",
        ),
    ] {
        let session = HostSession::new(host);
        import(&session, COPIES_TRANSCRIPT, "/elsewhere/.claude/settings.json", None);
        for event in events {
            drop(session.fire(event));
        }
        let copy = fs::read_to_string(session.sandbox.home().join("copy")).unwrap();
        let lines: Vec<Value> =
            copy.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["user", "assistant", "user", "assistant"], "{host}");
        assert_eq!(lines[0]["message"]["content"], message, "{host}");
        let call = &lines[1]["message"]["content"][0];
        assert_eq!((&call["type"], &call["name"]), (&json!("tool_use"), &json!("Bash")), "{host}");
        let command = call["input"]["command"].as_str().unwrap();
        assert!(command.contains("hello-from-shell"), "{host}: {command}");
        let result = &lines[2]["message"]["content"][0];
        assert_eq!(result["tool_use_id"], call["id"], "{host}");
        assert!(
            result["content"].as_str().unwrap().contains("hello-from-shell"),
            "{host}: {result}"
        );
        assert_eq!(lines[3]["message"]["content"][0]["type"], "text", "{host}");
        let files = session.sandbox.home().join(".local/state/tenter/bridge/conversations");
        assert_eq!(fs::metadata(&files).unwrap().permissions().mode() & 0o777, 0o700, "{host}");
        let file = fs::read_dir(files).unwrap().next().unwrap().unwrap().path();
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600, "{host}");
    }
}

#[test]
fn no_conversation_is_recorded_without_a_hook_that_is_written_for_claude_code() {
    let session = HostSession::new("gemini");
    session.hook("log", "before_tool", "", "true");
    drop(session.fire("BeforeTool.run_shell_command"));
    assert!(!session.sandbox.home().join(".local/state/tenter/bridge/conversations").exists());
}
