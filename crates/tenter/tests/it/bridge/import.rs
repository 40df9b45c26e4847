//! `tenter bridge import`: hooks written for Claude Code, as its documentation and plugins have them, under `tenter run`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use tenter_testkit::http_server::HttpServer;
use tenter_testkit::{Sandbox, assert_contains, copy_directory, needs, skip_unless};

use crate::{filter_kind, headless, sandbox};

/// Returns hooks in the forms of Claude Code's documentation and of plugins, which are written for these tests.
fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks/tenter-bridge/tests/fixtures/claude-hooks")
}

/// Returns a project with Claude Code's settings, and the hooks of them.
fn imported() -> Sandbox {
    let sandbox = sandbox();
    copy_directory(&fixtures().join("project"), &sandbox.project());
    let _ = sandbox.run("bridge import claude-code --yes").expect_code(0);
    let _ = sandbox.run("trust --yes").expect_code(0);
    sandbox
}

/// Returns a user with the hooks of a plugin.
fn with_plugin(name: &str) -> Sandbox {
    let sandbox = sandbox();
    let plugin = sandbox.home().join(".claude/plugins").join(name);
    copy_directory(&fixtures().join(name), &plugin);
    let file = plugin.join("hooks/hooks.json").display().to_string();
    let import = ["bridge", "import", "claude-code", &file, "--user", "--yes"];
    let _ = sandbox.run(import).expect_code(0);
    sandbox
}

/// Returns the hooks that denied, in the order in which they did.
fn denials(lines: &[Value]) -> Vec<&str> {
    let runs = filter_kind(lines, "hook").into_iter();
    runs.filter(|run| run["decision"] == "deny").map(|run| run["hook"].as_str().unwrap()).collect()
}

/// Returns a script of one call.
fn call(tool: &str, input: &str, expect: &str) -> String {
    format!(
        "turns: [{{tool_calls: [{{name: {tool}, input: {{{input}}}}}]}}, {{text: ok, expect: {{{expect}}}}}, {{text: ok}}]"
    )
}

#[test]
fn conditions_in_every_place_become_hooks_without_a_warning() {
    let sandbox = sandbox();
    let hook = |rule: &str| format!(r#"{{"type": "command", "command": "true", "if": "{rule}"}}"#);
    let group = |matcher: &str, rule: &str| {
        format!(r#"{{"matcher": "{matcher}", "hooks": [{}]}}"#, hook(rule))
    };
    let before = [
        group("Bash", "Bash(git push*)"),
        group("*", "Edit(src/**)"),
        group(".*", "Bash(git *)"),
        group("Edit|Write", "Edit(*.md)|Write(*.md)"),
        group("", "Bash"),
    ];
    let settings = format!(
        r#"{{"hooks": {{"PreToolUse": [{}], "Stop": [{}]}}}}"#,
        before.join(", "),
        group("", "Bash(git *)")
    );
    sandbox.write(".claude/settings.json", &settings);
    let _ = sandbox.run("bridge import claude-code --yes").expect_code(0);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let list = sandbox.run("hooks list").expect_code(0);
    assert!(!list.stderr.contains("warning"), "{}", list.stderr);
}

#[test]
fn hooks_and_rules_of_other_agents_are_imported_or_named() {
    let sandbox = sandbox();
    sandbox.write_program("deny.sh", "#!/bin/sh\necho no deletion here >&2\nexit 2\n");
    sandbox.write(
        ".qwen/settings.json",
        r#"{"hooks": {"PreToolUse": [{"matcher": "run_shell_command", "hooks": [{"type": "command", "command": "$QWEN_PROJECT_DIR/deny.sh", "timeout": 5000}]}], "Notification": [{"hooks": [{"type": "command", "command": "true"}]}], "BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}, "permissions": {"deny": ["run_shell_command(curl)"]}}"#,
    );
    let output = sandbox.run("bridge import qwen --yes").expect_code(0);
    let other = "BeforeTool: Qwen Code has no such event; it is one of Gemini CLI";
    assert_contains(&output.stdout, &["Notification: Tenter has no such event", other]);
    let _ = sandbox.run("trust --yes").expect_code(0);
    for (command, reason) in [("rm x", "no deletion here"), ("curl -s http://localhost", "curl")] {
        let script =
            call("bash", &format!("command: {command}"), &format!("contains: ['{reason}']"));
        let _ = sandbox.play(&script, &["go"]).expect_code(0);
    }
    sandbox.write(
        ".cursor/hooks.json",
        r#"{"version": 1, "hooks": {"preToolUse": [{"command": "x"}, {"command": "y"}], "stop": [{"command": "x"}]}}"#,
    );
    sandbox.write(".cursor/cli.json", r#"{"permissions": {"deny": ["Shell(curl)"]}}"#);
    let output = sandbox.run("bridge import cursor --dry-run").expect_code(0);
    assert_contains(
        &output.stdout,
        &[
            "preToolUse (2 hooks), stop: its script reads the payloads of Cursor",
            "cursor-deny-bash-curl (new)",
        ],
    );
    sandbox.write(
        ".github/hooks/guard.json",
        r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "x"}]}}"#,
    );
    let output = sandbox.run(["bridge", "import", "copilot", "--dry-run"]).expect_code(0);
    assert!(output.stdout.contains("reads the payloads of Copilot CLI"), "{output}");
    sandbox.fails(2, "bridge import codx", "did you mean `codex`?");
}

#[test]
fn hooks_in_two_files_of_droid_get_names_and_variables_of_their_own() {
    let sandbox = sandbox();
    sandbox.write_program("a/guard.sh", "#!/bin/sh\ngrep -q \"'Execute'\" && exit 2\n");
    let hooks = |event: &str, matcher: &str, command: &str| {
        format!(
            r#"{{"hooks": {{"{event}": [{{"matcher": "{matcher}", "hooks": [{{"type": "command", "command": "{command}"}}]}}]}}}}"#
        )
    };
    sandbox.write(
        ".factory/settings.json",
        hooks("PreToolUse", "Create|Edit|ApplyPatch", "$FACTORY_PROJECT_DIR/a/guard.sh"),
    );
    sandbox.write(".factory/hooks.json", hooks("SubagentStop", "", "b/guard.sh"));
    let output = sandbox.run(["bridge", "import", "droid", "--yes"]).expect_code(0);
    assert_contains(
        &output.stdout,
        &[
            "guard (new)\n    PreToolUse Write|Edit: $FACTORY_PROJECT_DIR/a/guard.sh",
            "its script looks for `Execute`, and reads `Bash`",
            "guard-subagent-stop (new)\n    SubagentStop: b/guard.sh",
        ],
    );
    assert!(output.stderr.contains("`hooks.json` beside it replaces its hooks"), "{output}");
    let script = sandbox.read(".agents/hooks/guard/scripts/run.sh");
    assert!(script.contains("DROID_PROJECT_DIR=\"$CLAUDE_PROJECT_DIR\"\n$FACTORY"), "{script}");
    let install = ["bridge", "install", "droid", "--project", "--shared", "--yes", "--no-check"];
    let install = sandbox.run(install).expect_code(0);
    assert!(install.stderr.contains("replaces its hooks"), "{install}");
    let doctor = sandbox.run(["hooks", "doctor"]).expect_code(1);
    assert_eq!(doctor.stderr.matches("replaces its hooks").count(), 1, "{doctor}");
}

#[test]
fn a_remark_about_several_hooks_is_shown_once_and_an_asynchronous_hook_is_no_finding() {
    let sandbox = sandbox();
    sandbox.write(
        ".claude/settings.json",
        r#"{"permissions": {"deny": ["Bash(curl:*)", "Bash(wget:*)"]}, "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "true", "async": true}]}]}}"#,
    );
    let output = sandbox.run(["bridge", "import", "claude-code", "--yes"]).expect_code(0);
    let note = "note for claude-deny-bash-curl, claude-deny-bash-wget: it applies";
    assert!(output.stdout.contains(note), "{output}");
    let validate = sandbox.run(["hooks", "validate"]).expect_code(0);
    assert!(!validate.stderr.contains("warning"), "{validate}");
}

#[test]
fn rules_and_hooks_in_files_of_their_own_are_imported() {
    let sandbox = sandbox();
    sandbox.write(
        ".codex/rules/default.rules",
        "prefix_rule(pattern = [\"curl\"], decision = \"forbidden\")\nprefix_rule(pattern = [\"ls\"])\n",
    );
    sandbox.write(
        ".gemini/policies/own.toml",
        "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"wget\"\ndecision = \"deny\"\npriority = 100\n",
    );
    sandbox.write(
        ".claude/skills/release/SKILL.md",
        "---\nname: release\ndescription: Releases.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: \"echo no releases today >&2; exit 2\"\n---\n",
    );
    sandbox.write(".claude/skills/plain/SKILL.md", "---\nname: plain\ndescription: Plain.\n---\n");
    for (agent, hook, left_out) in [
        ("codex", "codex-deny-bash-curl", "prefix_rule ls: a hook's allow"),
        ("gemini", "gemini-deny-bash-wget", ""),
        ("claude-code", "PreToolUse Bash: echo no releases", "only while its skill"),
    ] {
        let output = sandbox.run(["bridge", "import", agent, "--yes"]).expect_code(0);
        assert!(output.stdout.contains(hook) && output.stdout.contains(left_out), "{output}");
    }
    let _ = sandbox.run("trust --yes").expect_code(0);
    for (command, reason) in
        [("curl -s x", "curl"), ("wget x", "wget"), ("ls", "no releases today")]
    {
        let call = call("bash", &format!("command: {command}"), &format!("contains: ['{reason}']"));
        let _ = sandbox.play(&call, &["go"]).expect_code(0);
    }
    sandbox.warns("bridge import codex --yes", "Nothing was changed.");
}

#[test]
fn in_the_home_directory_the_hooks_are_the_users() {
    let sandbox = sandbox();
    let settings = r#"{"permissions": {"deny": ["Bash(curl:*)"]}}"#;
    sandbox.write("../home/.claude/settings.json", settings);
    let output = sandbox.shell("cd ~ && tenter bridge import claude-code --yes");
    assert!(
        sandbox.home().join(".config/agents/hooks/claude-deny-bash-curl/HOOK.md").exists(),
        "{output}"
    );
    assert!(!sandbox.home().join(".agents").exists(), "{output}");
}

#[test]
fn dead_entries_are_found_and_the_doctor_names_them() {
    let sandbox = sandbox();
    sandbox.write(
        ".claude/settings.json",
        r#"{"hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "prettier --write $CLAUDE_TOOL_FILE_PATH"}]}]}}"#,
    );
    let output = sandbox.run("hooks lint").expect_code(1);
    assert_contains(
        &output.stderr,
        &["does not set the variable $CLAUDE_TOOL_FILE_PATH", "jq -r '.tool_input.file_path'"],
    );
    let doctor = sandbox.run("hooks doctor");
    assert!(doctor.stderr.contains("$CLAUDE_TOOL_FILE_PATH"), "{doctor}");
    sandbox.write(".claude/settings.json", "{}");
    let _ = sandbox.run("hooks lint claude-code").expect_code(0);
    let file = "../home/.gemini/policies/own.toml";
    let policy = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\n";
    sandbox.write(file, policy);
    let output = sandbox.run("hooks lint gemini").expect_code(1);
    for text in ["own.toml", "rule 1: it has no `priority`", "drops the whole file"] {
        assert!(output.stderr.contains(text), "{output}");
    }
    sandbox.write(file, format!("{policy}priority = 100\n"));
    let _ = sandbox.run("hooks lint gemini").expect_code(0);
}

#[test]
fn a_dry_run_shows_everything_and_writes_nothing() {
    let sandbox = sandbox();
    copy_directory(&fixtures().join("project"), &sandbox.project());
    let output = sandbox.run("bridge import claude-code --dry-run").expect_code(0);
    for text in [
        "check-command (new)",
        "PreToolUse Bash: python3 \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/check-command.py",
        "claude-deny-bash-curl (new)",
        "claude-ask-bash-git-push (new)",
        "permissions.deny Read(./secrets/**)",
        "Not imported:",
        "Notification: Tenter has no such event",
        "Stop: it starts an agent of Claude Code's",
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
    let _ = sandbox.run("hooks validate --strict").expect_code(0);
    let again = sandbox.run("bridge import claude-code --yes").expect_code(0);
    assert!(again.stdout.contains("format (unchanged)"), "{again}");
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
    let file = ".agents/hooks/check-command/scripts/run.sh";
    sandbox.write(file, format!("{}# mine\n", sandbox.read(file)));
    let output = sandbox.run("bridge import claude-code --yes").expect_code(0);
    assert_contains(
        &output.stdout,
        &[
            "format (update)",
            "check-command (edited, stays)",
            "claude-deny-bash-curl (remove)",
            "claude-deny-bash-wget (new)",
            "approve-docs (unchanged)",
        ],
    );
    assert!(sandbox.read(".agents/hooks/format/HOOK.md").contains("timeout: 20000"));
    assert!(sandbox.read(file).ends_with("# mine\n"));
    assert!(!sandbox.project().join(".agents/hooks/claude-deny-bash-curl").exists());
}

#[test]
fn what_cannot_be_read_is_located_and_managed_settings_are_refused() {
    let sandbox = sandbox();
    sandbox.fails(1, "bridge import claude-code --yes", "pass --user for your own settings");
    sandbox.write(".claude/settings.json", "{\n  \"hooks\": {,}\n}\n");
    sandbox.fails(1, "bridge import claude-code --yes", "settings.json:2:13");
    sandbox.write(".claude/settings.json", "{\n  \"permissions\": {\"deny\": \"Bash(ls)\"}\n}");
    let output = sandbox.run("bridge import claude-code --yes").expect_code(1);
    let hook = "settings.json:2:27: Claude Code rejects this file as a whole: `permissions.deny`";
    assert!(output.stderr.contains(hook), "{output}");
    assert!(!sandbox.project().join(".agents").exists());
    sandbox.write("managed-settings.json", "{}");
    let managed = ["bridge", "import", "claude-code", "managed-settings.json", "--yes"];
    let _ = sandbox.run(managed).expect_code(2);
    let _ = sandbox.run("bridge import codex --yes").expect_code(1);
}

#[test]
fn hooks_get_the_variables_of_the_settings_and_no_value_is_shown() {
    let sandbox = sandbox();
    sandbox.write(
        ".claude/settings.json",
        r#"{"env": {"TEAM": "it's $HOME", "LD_PRELOAD": "", "ANTHROPIC_API_KEY": "key-1", "A-B": "x"},
            "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./team.sh"}]}]}}"#,
    );
    sandbox.write_program(
        "team.sh",
        "# transcript_path, CLAUDE_ENV_FILE\necho \"team: $TEAM\" >&2; exit 2",
    );
    let output = sandbox.run("bridge import claude-code --yes").expect_code(0);
    assert_contains(
        &output.stdout,
        &[
            "team (new)",
            "these variables of `env`: TEAM, LD_PRELOAD",
            "LD_PRELOAD can change which programs hooks run",
            "env ANTHROPIC_API_KEY: keys of models are withheld from hooks",
            "env A-B: it is no name of a variable",
            "its script reads `transcript_path`",
            "its script writes to `CLAUDE_ENV_FILE`",
        ],
    );
    assert!(!output.stdout.contains("it's") && !output.stdout.contains("key-1"), "{output}");
    let script = sandbox.project().join(".agents/hooks/team/scripts/run.sh");
    assert_eq!(fs::metadata(script).unwrap().permissions().mode() & 0o777, 0o700);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let expect = "contains: [\"team: it's $HOME\"]";
    assert_eq!(headless(&sandbox, &call("bash", "command: ls", expect)).1, 0);
    sandbox.prints("bridge import claude-code --yes", "team (unchanged)");
}

#[test]
fn a_hook_behind_http_posts_the_payload_of_claude_code() {
    skip_unless!(needs::has("curl"));
    let sandbox = sandbox();
    let server = HttpServer::json(
        r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "Ask the team."}}"#,
    );
    let url = server.url("/guard");
    sandbox.write(
        ".claude/settings.json",
        format!(
            r#"{{"env": {{"TEAM_TOKEN": "t-1"}}, "hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": [{{"type": "http", "url": "{url}",
            "headers": {{"X-Team": "Bearer $TEAM_TOKEN$OTHER"}}, "allowedEnvVars": ["TEAM_TOKEN"]}}]}}]}}}}"#
        ),
    );
    let _ = sandbox.run("bridge import claude-code --yes").expect_code(0);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let expect = "contains: [Ask the team.]";
    let (lines, code) = headless(&sandbox, &call("bash", "command: ls", expect));
    assert_eq!((code, denials(&lines).len()), (0, 1), "{lines:?}");
    let requests = server.requests();
    assert!(requests[0].line.starts_with("POST /guard "), "{requests:?}");
    assert_eq!(requests[0].header("x-team"), Some("Bearer t-1"));
    assert!(requests[0].body.contains("\"hook_event_name\""), "{requests:?}");
}

#[test]
fn a_hook_that_asks_a_model_denies_a_call_and_makes_the_agent_continue() {
    let sandbox = sandbox();
    let hook = |prompt: &str| format!(r#"{{"hooks": [{{"type": "prompt", "prompt": "{prompt}"}}]"#);
    let (safe, question) = (hook("Is this safe? $ARGUMENTS"), hook("It's done?"));
    let settings = format!(
        r#"{{"hooks": {{"PreToolUse": [{safe}, "matcher": "Bash"}}], "Stop": [{question}}}]}}}}"#
    );
    sandbox.write(".claude/settings.json", settings);
    let output = sandbox.run("bridge import claude-code --yes").expect_code(0);
    assert_contains(&output.stdout, &["judge-is-this-safe (new)", "judge-it-s-done (new)"]);
    let _ = sandbox.run("hooks validate").expect_code(0);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let script = "turns: [{tool_calls: [{name: bash, input: {command: touch made}}]},
        {tool_calls: [{name: bash, input: {command: touch asked}}], expect: {contains: [It makes a file.]}},
        {text: first}, {text: second, expect: {contains: [Tests are missing.]}}]
completions: [
        {text: '{\"ok\": false, \"reason\": \"It makes a file.\"}', expect: {contains: ['Is this safe?', touch made]}},
        {text: 'Yes: {\"ok\": true}', expect: {contains: [touch asked], lacks: ['$ARGUMENTS']}},
        {text: '{\"ok\": false, \"reason\": \"Tests are missing.\"}', expect: {contains: [\"It's done?\", touch made]}},
        {text: '{\"ok\": true}'}]
";
    let model = sandbox.script(script);
    // The hooks find the program in `PATH`.
    let run = format!("tenter run --headless --model {model} 'do it' 2>/dev/null");
    let lines = sandbox.shell(&run).expect_code(0).json_lines();
    assert_eq!(denials(&lines), ["judge-is-this-safe", "judge-it-s-done"], "{lines:?}");
    assert!(!sandbox.project().join("made").exists());
    assert!(sandbox.project().join("asked").exists(), "{lines:?}");
}

#[test]
fn the_documented_hooks_guard_unchanged() {
    skip_unless!(needs::has("python3"));
    let sandbox = imported();
    let (grep, edit) = ("Use rg instead of grep.", "claude-pre-tool-use-edit-write-multiedit");
    let (curl, secrets) = ("Bash(curl:*)", "Read(./secrets/**)");
    let calls = [
        ("bash", "command: grep x notes", "check-command", grep),
        ("file_write", "file_path: .env, text: x", edit, "blocked by hook"),
        ("file_write", "file_path: sub/package-lock.json, text: x", edit, "blocked by hook"),
        ("bash", "command: 'cd x; curl http://a'", "claude-deny-bash-curl", curl),
        ("bash", "command: /usr/bin/env -u X cu''rl http://a", "claude-deny-bash-curl", curl),
        ("file_read", "file_path: secrets/key", "claude-deny-read-secrets", secrets),
        ("bash", "command: cat secrets/key", "claude-deny-read-secrets", secrets),
        ("bash", "command: git push origin", "", ""),
        ("bash", "command: git -C . push --force", "", ""),
    ];
    let (mut turns, mut before) = (String::new(), String::new());
    for (tool, input, _, reason) in calls {
        let call = format!("{{name: {tool}, input: {{{input}}}}}");
        turns.extend(["{tool_calls: [", &call, "]", &before, "}, "]);
        before = format!(", expect: {{contains: [{}]}}", serde_json::to_string(reason).unwrap());
    }
    let (lines, code) = headless(&sandbox, &format!("turns: [{turns}{{text: ok}}, {{text: ok}}]"));
    assert_eq!(code, 0);
    let denials = denials(&lines);
    // The last one makes the agent continue.
    assert_eq!((denials.len(), denials[7]), (8, "notes-written"), "{denials:?}");
    for (denial, (_, input, hook, _)) in denials.iter().zip(calls) {
        assert!(denial.starts_with(hook), "{input}: {denial}");
    }
    let asks = filter_kind(&lines, "hook").into_iter().filter(|run| run["decision"] == "ask");
    assert_eq!(asks.count(), 2);
}

#[test]
fn the_reason_of_a_hook_is_given_before_that_of_a_permission_rule() {
    let sandbox = sandbox();
    sandbox.write(
        ".claude/settings.json",
        r#"{"permissions": {"deny": ["Bash(curl:*)", "Bash(x [a]:*)"]}, "hooks": {"PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./zzz-own.sh"}]}]}}"#,
    );
    sandbox.write_program("zzz-own.sh", "echo Use the cache instead. >&2; exit 2");
    let _ = sandbox.run("bridge import claude-code --yes").expect_code(0);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let expect = "contains: [Use the cache instead.]";
    for command in ["curl http://a", "x [a]"] {
        let input = format!("command: '{command}'");
        let (lines, code) = headless(&sandbox, &call("bash", &input, expect));
        assert_eq!((code, denials(&lines).len()), (0, 1), "{lines:?}");
    }
}

#[test]
fn the_documented_hooks_add_format_and_continue_unchanged() {
    skip_unless!(needs::has("python3"));
    let sandbox = imported();
    let script = "turns: [{tool_calls: [{name: file_write, input: {file_path: a.txt, text: \"x\\n\"}}], expect: {contains: [The branch is main., It is a Friday.]}}, {text: Done., expect: {contains: [The file was formatted.]}}, {tool_calls: [{name: file_write, input: {file_path: notes.txt, text: x}}], expect: {contains: [Write notes.txt first.]}}, {text: Done.}]";
    let (lines, code) = headless(&sandbox, script);
    assert_eq!((code, sandbox.read("a.txt").as_str()), (0, "x\nformatted\n"));
    assert!(filter_kind(&lines, "hook").iter().all(|run| run["decision"] != "failed"), "{lines:?}");
    sandbox.play("turns: [{text: ok}]", &["my password: x"]).fails(3, "Write it without.");
    if needs::has("jq") {
        let (_, code) = headless(&sandbox, &call("bash", "command: 'true'", ""));
        assert_eq!((code, sandbox.read("commands.log").as_str()), (0, "true - no description\n"));
    }
}

#[test]
fn the_hooks_of_plugins_guard_unchanged() {
    skip_unless!(needs::has("python3"));
    let sandbox = with_plugin("reminder");
    let write = "{name: file_write, input: {file_path: a.js, text: 'eval(x)'}}";
    let script = format!(
        "turns: [{{tool_calls: [{write}]}}, {{tool_calls: [{write}], expect: {{contains: [Parse the text instead.]}}}}, {{text: ok}}]"
    );
    let (lines, _) = headless(&sandbox, &script);
    assert_eq!(denials(&lines), ["remind"], "once in a session");
    assert_eq!(sandbox.read("a.js"), "eval(x)");

    let sandbox = with_plugin("rules");
    let script = "turns: [{tool_calls: [{name: bash, input: {command: chmod 777 x}}]}, {text: I am not sure.}, {text: I am., expect: {contains: ['Rule: be sure.']}}]";
    let (lines, code) = headless(&sandbox, script);
    assert_eq!((code, denials(&lines).len()), (0, 2), "{:?}", denials(&lines));

    let sandbox = with_plugin("style");
    let script = "turns: [{text: ok, expect: {contains: [Explain each choice in one sentence.]}}]";
    assert_eq!(headless(&sandbox, script).1, 0);
}
