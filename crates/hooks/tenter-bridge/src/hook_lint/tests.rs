//! Tests of the lint with entries that cannot work.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::*;
use crate::hosts;

/// Returns the findings for these settings of a host, as message and help, in a project with three scripts.
fn findings(host: &str, settings: &Value) -> Vec<String> {
    let scratch = tempfile::tempdir().unwrap();
    let project = scratch.path();
    let script = |name: &str, mode, text: &str| {
        fs::write(project.join(name), text).unwrap();
        fs::set_permissions(project.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    script("ok.sh", 0o755, "#!/bin/sh\necho no >&2\nexit 2\n");
    script("plain.sh", 0o644, "#!/bin/sh\nexit 2\n");
    script("one.sh", 0o755, "#!/bin/sh\necho 'blocked: rm' >&2\nexit 1\n");
    let file = LintedFile {
        path: project.join(".claude/settings.json"),
        text: settings.to_string(),
        project: project.to_owned(),
        home: project.join("home"),
        version: HostVersion::parse("2.1.100"),
    };
    let findings = lint(hosts::find(host).unwrap(), &file).unwrap();
    let text =
        |finding: Diagnostic| format!("{} | {}", finding.message, finding.help.unwrap_or_default());
    let project = format!("{}/", project.display());
    findings.into_iter().map(text).map(|text| text.replace(&project, "")).collect()
}

fn before_tool(matcher: &str, command: &str) -> Value {
    let handler = json!({"type": "command", "command": command});
    json!({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [handler]}]}})
}

#[test]
fn entries_that_cannot_work_are_found_with_the_form_that_works() {
    for (settings, expected) in [
        (
            before_tool("Bash", "echo \"$STDIN_JSON\" | jq ."),
            "does not set the variable $STDIN_JSON",
        ),
        (
            before_tool("Write", "prettier --write \"$CLAUDE_TOOL_INPUT_FILE_PATH\""),
            "jq -r '.tool_input.file_path'",
        ),
        (
            before_tool("Bash", "case $CLAUDE_TOOL_COMMAND in *rm*) exit 2;; esac"),
            "jq -r '.tool_input.command'",
        ),
        (
            before_tool("Bash(git commit:*)", "./ok.sh"),
            "write \"matcher\": \"Bash\", and \"if\": \"Bash(git commit:*)\"",
        ),
        (
            before_tool("tools:Write AND file_paths:**/*.py", "./ok.sh"),
            "never matches: matchers are names of tools",
        ),
        (before_tool("bash", "./ok.sh"), "has no tool bash | write Bash"),
        (before_tool("run_shell_command", "./ok.sh"), "has no tool run_shell_command | write Bash"),
        (before_tool("Bash[", "./ok.sh"), "never matches"),
        (before_tool("Bash", "echo '{\"block\": true, \"reason\": \"no\"}'"), "ignores the answer"),
        (before_tool("Bash", "./one.sh"), "exit code 1 does not block"),
        (
            before_tool("Bash", "./plain.sh"),
            "plain.sh is not executable, so it does not run | run `chmod +x ./plain.sh`",
        ),
        (before_tool("Bash", "\"$CLAUDE_PROJECT_DIR\"/gone.sh"), "gone.sh does not exist"),
        (before_tool("Bash", "/Users/ada/hooks/x.sh"), "is a path of another user"),
        (before_tool("", "npx some-linter"), "delays every tool call"),
        (
            json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "./ok.sh", "timeout": 60_000}]}]}}),
            "timeouts are in seconds: write 60",
        ),
        (
            json!({"hooks": {"preToolUse": [{"hooks": [{"command": "./ok.sh"}]}]}}),
            "has no event preToolUse | write PreToolUse",
        ),
        (
            json!({"hooks": {"BeforeEdit": [{"hooks": [{"command": "./ok.sh"}]}]}}),
            "has no event BeforeEdit",
        ),
        (
            json!({"hooks": {"PostToolBatch": [{"hooks": [{"command": "./ok.sh"}]}]}}),
            "2.1.100 does not have the event PostToolBatch",
        ),
        (
            json!({"hooks": {"UserPromptSubmit": [{"matcher": "Bash", "hooks": [{"command": "./ok.sh"}]}]}}),
            "has no effect: UserPromptSubmit has none",
        ),
        (before_tool("Bash", "python3 \"%USERPROFILE%\\hooks\\x.py\""), "it has a Windows path"),
        (before_tool("Bash", "node C:\\hooks\\x.js"), "it has a Windows path"),
        (before_tool("Bash", "node \"C:/hooks/x.js\""), "it has a Windows path"),
        (before_tool("Bash", "/usr/bin/env-python/python3 gone/x.py"), "gone/x.py does not exist"),
        (before_tool("mcp__memory", "./ok.sh"), "write mcp__memory__.*, for all tools"),
        (
            json!({"hooks": {"PreToolUse": [{"matcher": "Write", "if": "Write(*.md)", "hooks": [{"command": "./ok.sh"}]}]}}),
            "`if` has no effect beside `hooks`",
        ),
        (
            json!({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"command": "./ok.sh", "if": "Write(*.md)|Edit(*.md)"}]}]}}),
            "never applies: it is one rule",
        ),
        (
            json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "./ok.sh", "matcher": "Write"}]}]}}),
            "the matcher \"Write\" has no effect in the hook | write `matcher` beside `hooks`",
        ),
        (
            json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "prompt": "Is it done?"}]}]}}),
            "it has no command, so nothing runs | write \"type\": \"prompt\"",
        ),
        (
            json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "node", "args": ["${CLAUDE_PROJECT_DIR}/gone.js"]}]}]}}),
            "gone.js does not exist",
        ),
        (
            json!({"permissions": {"deny": "Bash"}, "hooks": {"Stop": [{"hooks": [{"command": "./ok.sh"}]}]}}),
            "Claude Code ignores this file: `permissions.deny` is not a list of rules",
        ),
        (json!({"hooks": [{"event": "Stop"}]}), "`hooks` is not an object"),
    ] {
        let findings = findings("claude-code", &settings);
        assert_eq!(findings.len(), 1, "{settings}: {findings:#?}");
        assert!(findings[0].contains(expected), "{settings}: {findings:#?}");
    }
    let same = json!({"type": "command", "command": "./ok.sh"});
    let twice = json!({"hooks": {"Stop": [{"hooks": [same, same]}]}});
    assert!(findings("claude-code", &twice)[0].contains("registered twice"));
}

#[test]
fn entries_that_work_are_not_reported() {
    for settings in [
        before_tool("Bash", "./ok.sh"),
        before_tool("Bash", "bash plain.sh"),
        before_tool("Edit|MultiEdit|Write", "\"$CLAUDE_PROJECT_DIR\"/ok.sh"),
        before_tool("mcp__github__.*", "./ok.sh"),
        before_tool("Bash", "node -e \"require('./x/y.js')\" node x/y.js"),
        before_tool("Bash", "python3 -c 'import sys\nprint(1 / 2)'"),
        before_tool("Bash", "bash -lc './x/y.sh; exit 0'"),
        before_tool("Bash", "sed 's:/a:/b:' ok.sh"),
        before_tool("Bash|Execute", "./ok.sh"),
        before_tool(
            "Bash",
            "input=$(cat); file=$(printf %s \"$input\" | jq -r .tool_input.file_path); echo \"$file ${X:-y}\"",
        ),
        before_tool("Bash", "CLAUDE_FILE=x; echo $CLAUDE_FILE"),
        before_tool("^(Bash|Task)$", "echo '{\"decision\": \"block\", \"reason\": \"no\"}'"),
        before_tool("Bash", "npx some-linter"),
        before_tool("*", "jq -r .tool_name >> log.txt"),
        json!({"hooks": {"Notification": [{"hooks": [{"command": "notify-send Claude"}]}]}}),
        json!({"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"command": "cat ok.sh"}]}]}}),
        json!({"hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [{"command": "./one.sh"}]}]}}),
        json!({"model": "opus"}),
        json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
            {"command": "node", "args": ["${CLAUDE_PROJECT_DIR}/ok.sh"]},
            {"command": "node", "args": ["${CLAUDE_PROJECT_DIR}/plain.sh"]},
            {"command": "./ok.sh", "if": "Bash(git push *)"},
            {"command": "./ok.sh", "if": "Bash(git commit *)"},
        ]}]}}),
    ] {
        let findings = findings("claude-code", &settings);
        assert!(findings.is_empty(), "{settings}: {findings:#?}");
    }
}

#[test]
fn every_host_has_its_own_facts() {
    let file = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "$CLAUDE_PROJECT_DIR/ok.sh"}]}]}});
    assert!(
        findings("codex", &file)[0].contains("Codex does not set the variable $CLAUDE_PROJECT_DIR")
    );
    let gemini = json!({"hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"command": "./ok.sh", "timeout": 5}]}]}});
    assert!(findings("gemini", &gemini)[0].contains("in milliseconds"));
    let gemini =
        json!({"hooks": {"SessionEnd": [{"matcher": ".*", "hooks": [{"command": "./ok.sh"}]}]}});
    assert!(findings("gemini", &gemini)[0].contains("it is one word and no expression"));
    let gemini = json!({"hooks": {"SessionStart": [{"type": "command", "command": "./ok.sh"}]}});
    assert!(findings("gemini", &gemini)[0].contains("Gemini CLI drops it"));
    let copilot = json!({"version": 1, "hooks": {"PretoolUse": [{"bash": "./ok.sh"}]}});
    assert!(findings("copilot", &copilot)[0].contains("has no event PretoolUse"));
    for (host, settings) in [
        (
            "copilot",
            json!({"hooks": {"PreToolUse": [{"bash": "./ok.sh"}], "Stop": [{"bash": "x"}], "stop": []}}),
        ),
        (
            "cursor",
            json!({"hooks": {
                "beforeShellExecution": [{"command": "./ok.sh", "matcher": "git"}], "afterFileEdit": [{"command": "x"}],
                "preToolUse": [{"matcher": "Write|ApplyPatch|apply_patch", "command": "./ok.sh"}],
            }}),
        ),
        (
            "qwen",
            json!({"hooks": {"PreToolUse": [{"matcher": "WriteFile", "hooks": [{"command": "./ok.sh", "timeout": 10}]}]}}),
        ),
        (
            "gemini",
            json!({"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"command": "./ok.sh"}]}]}}),
        ),
    ] {
        assert_eq!(findings(host, &settings), [""; 0], "{host}");
    }
}

#[test]
fn an_event_that_is_there_twice_is_found() {
    let handler = r#"[{"hooks": [{"command": "x"}]}]"#;
    let file = LintedFile {
        path: "/home/ada/.claude/settings.json".into(),
        text: format!("{{\"hooks\": {{\"Stop\": {handler},\n\"Stop\": {handler}}}}}"),
        project: "/home/ada/project".into(),
        home: "/home/ada".into(),
        version: None,
    };
    let findings = lint(hosts::find("claude-code").unwrap(), &file).unwrap();
    assert_eq!(findings[0].message, "the key \"Stop\" is there twice: only the last one counts");
}

#[test]
fn a_codex_file_in_toml_and_kimis_tables_are_read() {
    let scratch = tempfile::tempdir().unwrap();
    for (host, text, event) in [
        (
            "codex",
            "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"x\"\n",
            "PreToolUse",
        ),
        (
            "kimi-code",
            "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"x\"\n",
            "PreToolUse",
        ),
    ] {
        let path = scratch.path().join("config.toml");
        let all = entries(hosts::find(host).unwrap(), &path, text).unwrap();
        assert_eq!(all.len(), 1, "{host}");
        assert_eq!(
            (all[0].event.as_str(), all[0].matcher.as_deref(), all[0].command()),
            (event, Some("Bash"), Some("x"))
        );
    }
}

#[test]
fn two_tools_that_do_the_same_for_the_same_calls_are_found() {
    let settings = |first: (&str, &str), second: (&str, &str)| {
        let group = |(matcher, command): (&str, &str)| json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
        json!({"hooks": {"PostToolUse": [group(first), group(second)]}})
    };
    for (first, second, expected) in [
        (
            ("Edit|Write", "npx prettier --write ."),
            ("Write", "npx @biomejs/biome format ."),
            Some("prettier and biome format both format JavaScript"),
        ),
        (
            ("", "black ."),
            ("Edit", "ruff format ."),
            Some("black and ruff format both format Python"),
        ),
        (("Edit", "black ."), ("Bash", "ruff format ."), None),
        (("Edit", "black ."), ("Edit", "ruff check ."), None),
        (("Edit", "prettier -w a"), ("Edit", "eslint --fix a"), None),
        (("Edit", "black a"), ("Edit", "black b"), None),
    ] {
        let findings = findings("claude-code", &settings(first, second));
        let is_found =
            findings.iter().any(|finding| expected.is_some_and(|text| finding.contains(text)));
        assert_eq!(is_found, expected.is_some(), "{second:?}: {findings:?}");
        let is_same = findings.iter().any(|finding| finding.contains(" both "));
        assert_eq!(is_same, expected.is_some(), "{second:?}: {findings:?}");
    }
}

#[test]
fn a_policy_that_gemini_drops_is_named_with_its_rule() {
    let lint_policy = |text: &str| {
        let file = LintedFile {
            path: "/home/ada/.gemini/policies/own.toml".into(),
            text: text.to_owned(),
            project: "/home/ada/project".into(),
            home: "/home/ada".into(),
            version: None,
        };
        let findings = lint(hosts::find("gemini").unwrap(), &file).unwrap();
        findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    let shell = |command: &str, rest: &str| {
        format!(
            "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"{command}\"\n{rest}\n"
        )
    };
    let valid = shell("git push", "decision = \"deny\"\npriority = 100");
    assert_eq!(lint_policy(&valid), Vec::<String>::new());
    let cases = [
        (shell("rm", "decision = \"deny\""), "it has no `priority`"),
        (shell("rm", "decision = \"deny\"\npriority = 1000"), "its `priority` is not valid"),
        (shell("rm", "decision = \"ask\"\npriority = 1"), "it has no valid `decision`"),
        ("[[rule]]\ndecision = \"deny\"\npriority = 1\n".to_owned(), "it has no `toolName`"),
    ];
    for (rule, why) in cases {
        let expected =
            format!("rule 2: {why}, so Gemini CLI drops the whole file, with all its rules");
        assert_eq!(lint_policy(&format!("{valid}{rule}")), [expected]);
    }
}
