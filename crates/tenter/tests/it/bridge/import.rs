//! `tenter bridge import`: hooks written for Claude Code, as its documentation and plugins have them, under `tenter run`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tenter_testkit::{Sandbox, needs};

use crate::{headless, of_kind, sandbox};

/// Hooks in the forms of Claude Code's documentation and of plugins, which are written for these tests.
fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tenter-bridge/tests/fixtures/claude-hooks")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A project with Claude Code's settings, and the hooks of them.
fn imported() -> Sandbox {
    let sandbox = sandbox();
    copy(&fixtures().join("project"), &sandbox.project());
    let _ = sandbox.run(&["bridge", "import", "claude-code", "--yes"]).expect_code(0);
    let _ = sandbox.run(&["trust", "--yes"]).expect_code(0);
    sandbox
}

/// A user with the hooks of a plugin.
fn with_plugin(name: &str) -> Sandbox {
    let sandbox = sandbox();
    let plugin = sandbox.home().join(".claude/plugins").join(name);
    copy(&fixtures().join(name), &plugin);
    let file = plugin.join("hooks/hooks.json").display().to_string();
    let import = ["bridge", "import", "claude-code", &file, "--user", "--yes"];
    let _ = sandbox.run(&import).expect_code(0);
    sandbox
}

/// The hooks that denied, in the order in which they did.
fn denials(lines: &[Value]) -> Vec<&str> {
    let runs = of_kind(lines, "hook").into_iter();
    runs.filter(|run| run["decision"] == "deny").map(|run| run["hook"].as_str().unwrap()).collect()
}

/// A script of one call.
fn call(tool: &str, input: &str, expect: &str) -> String {
    format!(
        "turns: [{{tool_calls: [{{name: {tool}, input: {{{input}}}}}]}}, {{text: ok, expect: {{{expect}}}}}, {{text: ok}}]"
    )
}

#[test]
fn a_dry_run_shows_everything_and_writes_nothing() {
    let sandbox = sandbox();
    copy(&fixtures().join("project"), &sandbox.project());
    let output = sandbox.run(&["bridge", "import", "claude-code", "--dry-run"]).expect_code(0);
    for text in [
        "claude-check-command (new)",
        "PreToolUse Bash: python3 \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/check-command.py",
        "claude-deny-bash-curl (new)",
        "claude-ask-bash-git-push (new)",
        "permissions.deny Read(./secrets/**)",
        "Not imported:",
        "Notification: Tenter has no such event",
        "Stop: a hook of the type \"prompt\" needs Claude Code itself",
        "permissions.deny Read([ab].txt): its wildcards are not supported",
        "permissions.allow: ",
    ] {
        assert!(output.stdout.contains(text), "{text}\n{output}");
    }
    assert!(!sandbox.project().join(".agents").exists());
}

#[test]
fn imported_hooks_are_valid_and_another_import_changes_nothing() {
    let sandbox = imported();
    let _ = sandbox.run(&["hooks", "validate", "--strict"]).expect_code(0);
    let again = sandbox.run(&["bridge", "import", "claude-code", "--yes"]).expect_code(0);
    assert!(again.stdout.contains("claude-format (unchanged)"), "{again}");
    assert!(again.stderr.contains("Nothing was changed."), "{again}");
    let original = fs::read_to_string(fixtures().join("project/.claude/settings.json")).unwrap();
    assert_eq!(sandbox.read(".claude/settings.json"), original);
}

#[test]
fn another_import_updates_what_it_created_and_leaves_what_was_edited() {
    let sandbox = imported();
    let settings =
        sandbox.read(".claude/settings.json").replace("\"timeout\": 10", "\"timeout\": 20");
    sandbox.write(".claude/settings.json", settings.replace("Bash(curl:*)", "Bash(wget:*)"));
    let edited = ".agents/hooks/claude-check-command/scripts/run.sh";
    sandbox.write(edited, format!("{}# mine\n", sandbox.read(edited)));
    let output = sandbox.run(&["bridge", "import", "claude-code", "--yes"]).expect_code(0);
    for text in [
        "claude-format (update)",
        "claude-check-command (edited, stays)",
        "claude-deny-bash-curl (remove)",
        "claude-deny-bash-wget (new)",
        "claude-approve-docs (unchanged)",
    ] {
        assert!(output.stdout.contains(text), "{text}\n{output}");
    }
    assert!(sandbox.read(".agents/hooks/claude-format/HOOK.md").contains("timeout: 20000"));
    assert!(sandbox.read(edited).ends_with("# mine\n"));
    assert!(!sandbox.project().join(".agents/hooks/claude-deny-bash-curl").exists());
}

#[test]
fn what_cannot_be_read_is_located_and_managed_settings_are_refused() {
    let sandbox = sandbox();
    let output = sandbox.run(&["bridge", "import", "claude-code", "--yes"]).expect_code(1);
    assert!(output.stderr.contains("pass --user for ~/.claude/settings.json"), "{output}");
    sandbox.write(".claude/settings.json", "{\n  \"hooks\": {,}\n}\n");
    let output = sandbox.run(&["bridge", "import", "claude-code", "--yes"]).expect_code(1);
    assert!(output.stderr.contains("settings.json:2:13"), "{output}");
    sandbox.write("managed-settings.json", "{}");
    let managed = ["bridge", "import", "claude-code", "managed-settings.json", "--yes"];
    let _ = sandbox.run(&managed).expect_code(2);
    let _ = sandbox.run(&["bridge", "import", "codex", "--yes"]).expect_code(2);
}

#[test]
fn the_documented_hooks_guard_unchanged() {
    if !needs::has("python3") {
        return;
    }
    for (tool, input, hook, reason) in [
        ("bash", "command: grep x notes", "claude-check-command", "Use rg instead of grep."),
        ("file_write", "file_path: .env, text: x", "claude-python3", "blocked by hook"),
        (
            "file_write",
            "file_path: sub/package-lock.json, text: x",
            "claude-python3",
            "blocked by hook",
        ),
        ("bash", "command: 'cd x; curl http://a'", "claude-deny-bash-curl", "Bash(curl:*)"),
        (
            "bash",
            "command: /usr/bin/env -u X cu''rl http://a",
            "claude-deny-bash-curl",
            "Bash(curl:*)",
        ),
        ("file_read", "file_path: secrets/key", "claude-deny-read-secrets", "Read(./secrets/**)"),
        ("bash", "command: cat secrets/key", "claude-deny-read-secrets", "Read(./secrets/**)"),
    ] {
        let sandbox = imported();
        let expect = format!("contains: [{}]", serde_json::to_string(reason).unwrap());
        let (lines, code) = headless(&sandbox, &call(tool, input, &expect));
        assert_eq!(code, 0, "{input}");
        assert!(denials(&lines)[0].starts_with(hook), "{:?}", denials(&lines));
    }
    for command in ["git push origin", "git -C . push --force"] {
        let sandbox = imported();
        let (lines, _) = headless(&sandbox, &call("bash", &format!("command: {command}"), ""));
        let asks = of_kind(&lines, "hook").into_iter().filter(|run| run["decision"] == "ask");
        assert_eq!(asks.count(), 1, "{command}");
    }
}

#[test]
fn the_reason_of_a_hook_is_given_before_that_of_a_permission_rule() {
    let sandbox = sandbox();
    sandbox.write(
        ".claude/settings.json",
        r#"{"permissions": {"deny": ["Bash(curl:*)", "Bash(x [a]:*)"]}, "hooks": {"PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./zzz-own.sh"}]}]}}"#,
    );
    sandbox.write("zzz-own.sh", "echo Use the cache instead. >&2; exit 2");
    let chmod = sandbox.shell("chmod +x zzz-own.sh");
    let _ = chmod.expect_code(0);
    let _ = sandbox.run(&["bridge", "import", "claude-code", "--yes"]).expect_code(0);
    let _ = sandbox.run(&["trust", "--yes"]).expect_code(0);
    let expect = "contains: [Use the cache instead.]";
    for command in ["curl http://a", "x [a]"] {
        let input = format!("command: '{command}'");
        let (lines, code) = headless(&sandbox, &call("bash", &input, expect));
        assert_eq!((code, denials(&lines).len()), (0, 1), "{lines:?}");
    }
}

#[test]
fn the_documented_hooks_add_format_and_continue_unchanged() {
    if !needs::has("python3") {
        return;
    }
    let sandbox = imported();
    let script = "turns: [{tool_calls: [{name: file_write, input: {file_path: a.txt, text: \"x\\n\"}}], expect: {contains: [The branch is main., It is a Friday.]}}, {text: Done., expect: {contains: [The file was formatted.]}}, {tool_calls: [{name: file_write, input: {file_path: notes.txt, text: x}}], expect: {contains: [Write notes.txt first.]}}, {text: Done.}]";
    let (lines, code) = headless(&sandbox, script);
    assert_eq!((code, sandbox.read("a.txt").as_str()), (0, "x\nformatted\n"));
    assert!(of_kind(&lines, "hook").iter().all(|run| run["decision"] != "failed"), "{lines:?}");
    let model = sandbox.script("turns: [{text: ok}]");
    let rejected = sandbox.run(&["run", "--model", &model, "my password: x"]).expect_code(3);
    assert!(rejected.stderr.contains("Write it without."), "{rejected}");
    if needs::has("jq") {
        let (_, code) = headless(&sandbox, &call("bash", "command: 'true'", ""));
        assert_eq!((code, sandbox.read("commands.log").as_str()), (0, "true - no description\n"));
    }
}

#[test]
fn the_hooks_of_plugins_guard_unchanged() {
    if !needs::has("python3") {
        return;
    }
    let sandbox = with_plugin("reminder");
    let write = "{name: file_write, input: {file_path: a.js, text: 'eval(x)'}}";
    let script = format!(
        "turns: [{{tool_calls: [{write}]}}, {{tool_calls: [{write}], expect: {{contains: [Parse the text instead.]}}}}, {{text: ok}}]"
    );
    let (lines, _) = headless(&sandbox, &script);
    assert_eq!(denials(&lines), ["claude-remind"], "once in a session");
    assert_eq!(sandbox.read("a.js"), "eval(x)");

    let sandbox = with_plugin("rules");
    let script = "turns: [{tool_calls: [{name: bash, input: {command: chmod 777 x}}]}, {text: I am not sure.}, {text: I am., expect: {contains: ['Rule: be sure.']}}]";
    let (lines, code) = headless(&sandbox, script);
    assert_eq!((code, denials(&lines).len()), (0, 2), "{:?}", denials(&lines));

    let sandbox = with_plugin("style");
    let script = "turns: [{text: ok, expect: {contains: [Explain each choice in one sentence.]}}]";
    assert_eq!(headless(&sandbox, script).1, 0);
}
