//! Hooks that are written for Claude Code (`metadata.dialect: claude-code`), under `tenter run`.

use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_fields};

use super::{decisions, hook};
use crate::{filter_kind, headless, sandbox};

/// Installs a hook for Claude Code with this trigger, further lines of `metadata` and this script.
fn claude_hook(sandbox: &Sandbox, name: &str, trigger: &str, metadata: &str, body: &str) {
    let more = format!("metadata: {{dialect: claude-code{metadata}}}");
    hook(sandbox, name, trigger, &more, body);
}

#[test]
fn a_script_reads_claude_codes_payload_and_its_variables() {
    let sandbox = sandbox();
    let log = r#"printf '%s\n' "$payload" >> log; printf '%s|%s|%s' "$CLAUDE_PROJECT_DIR" "$CLAUDE_PLUGIN_ROOT" "${CLAUDECODE-unset}" > vars"#;
    claude_hook(
        &sandbox,
        "log",
        "before_tool",
        ", triggers: [after_tool, after_tool_failure, session_start, before_agent, before_stop, session_end], plugin_root: /opt/plugin",
        log,
    );
    let script = "turns: [{tool_calls: [{name: file_write, input: {file_path: a.txt, text: x}}, {name: bash, input: {command: 'echo oops; exit 3'}}]}, {text: Done.}]";
    let model = sandbox.script(script);
    let args = ["run", "--headless", "--model", &model, "do it"];
    let _ = sandbox.run_with_env(&[("CLAUDECODE", "1")], args).expect_code(0);
    let project = sandbox.project().display().to_string();
    assert_eq!(sandbox.read("vars"), format!("{project}|/opt/plugin|unset"));
    let payloads = sandbox.read_lines("log");
    let of = |event: &str, tool: &str| {
        let is = |payload: &&Value| {
            payload["hook_event_name"] == event && (tool.is_empty() || payload["tool_name"] == tool)
        };
        payloads.iter().find(is).cloned().unwrap_or_else(|| panic!("no {event} {tool}"))
    };
    assert_eq!(of("SessionStart", "")["source"], "startup");
    assert_eq!(of("UserPromptSubmit", "")["prompt"], "do it");
    let write = of("PreToolUse", "Write");
    assert_eq!(write["tool_input"]["file_path"], format!("{project}/a.txt"));
    assert_eq!(write["tool_input"]["content"], "x");
    assert_eq!(of("PostToolUse", "Write")["tool_response"]["content"], "x");
    assert_eq!(of("PostToolUseFailure", "Bash")["error"], "Exit code 3\noops\n");
    let stop = of("Stop", "");
    assert_fields(&stop, &json!({"stop_hook_active": false, "last_assistant_message": "Done."}));
    assert_eq!(of("SessionEnd", "")["reason"], "other");
}

/// A matcher of a call names its tool, and one of another event how it came about.
#[test]
fn matchers_are_those_of_claude_code() {
    let script =
        "turns: [{tool_calls: [{name: file_write, input: {file_path: a, text: x}}]}, {text: ok}]";
    for (trigger, matcher, is_run) in [
        ("before_tool", "Write,Edit", true),
        ("before_tool", "Wri.*", true),
        ("before_tool", "file_write", false),
        ("session_start", "startup|resume", true),
        ("session_start", "compact", false),
        ("session_end", "other", true),
        ("session_end", "clear", false),
    ] {
        let sandbox = sandbox();
        claude_hook(&sandbox, "note", trigger, &format!(", matcher: '{matcher}'"), "touch ran");
        headless(&sandbox, script);
        assert_eq!(sandbox.project().join("ran").exists(), is_run, "{trigger} {matcher}");
    }
}

#[test]
fn a_stop_is_continued_and_only_that_of_the_main_agent() {
    let sandbox = sandbox();
    let again = r#"case $payload in *'"stop_hook_active": false'*) echo 'Run the tests.' >&2; exit 2;; esac"#;
    claude_hook(&sandbox, "tests", "before_stop", ", event: Stop", again);
    claude_hook(&sandbox, "sub", "before_stop", ", event: SubagentStop", "echo x >> subs");
    let script = "turns: [{tool_calls: [{name: subagent, input: {question: look}}]}, {text: Sub.}, {text: Done.}, {text: Tested., expect: {contains: [Run the tests.]}}]";
    let (lines, code) = headless(&sandbox, script);
    assert_eq!(code, 0);
    assert_eq!(decisions(&lines, "tests"), ["deny", "none"]);
    assert_eq!(sandbox.read("subs"), "x\n");
    assert!(filter_kind(&lines, "hook").iter().all(|run| run["decision"] != "failed"));
}

#[test]
fn the_dialect_is_checked() {
    let sandbox = sandbox();
    claude_hook(
        &sandbox,
        "good",
        "before_stop",
        ", event: Stop, matcher: x, origin: ~/.claude/settings.json",
        "true",
    );
    claude_hook(&sandbox, "wrong-event", "before_tool", ", event: Stop", "true");
    claude_hook(&sandbox, "no-event", "before_tool", ", event: PreTool", "true");
    hook(&sandbox, "other", "before_tool", "metadata: {dialect: codex}", "true");
    let validate = |name: &str| {
        let hook = sandbox.home().join(".config/agents/hooks").join(name);
        sandbox.run(["hooks", "validate", &hook.display().to_string()])
    };
    let _ = validate("good").expect_code(0);
    for (name, message) in [
        ("wrong-event", "`Stop` is not an event of this hook's triggers"),
        ("no-event", "did you mean `PreToolUse`?"),
        ("other", "`dialect` cannot be `codex`"),
    ] {
        let output = validate(name).expect_code(1);
        assert!(output.stderr.contains(message) || output.stdout.contains(message), "{output}");
    }
}
