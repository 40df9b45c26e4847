//! Confined calls in other agents: rewritten where the agent accepts that, left for the prefix in Claude Code, else asked of the model.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use tenter_testkit::Sandbox;

use crate::confine::is_supported;
use crate::host_session::{HostSession, set_command};
use crate::http::copy;

const CONFINE: &str =
    r#"echo '{"decision": "confine", "confine": {"write": ["project"], "otherwise": "run"}}'"#;

fn session(host: &'static str) -> HostSession {
    let session = HostSession::new(host);
    session.hook("confining", "before_tool", "", CONFINE);
    session
}

fn answer(session: &HostSession, fixture: &str, command: &str) -> String {
    HostSession::read_answer(session.fire_command(fixture, command)).to_string()
}

/// Returns the confined command in an answer.
fn command_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.contains(" confine --spec ") => Some(text.clone()),
        Value::Object(fields) => fields.values().find_map(command_in),
        Value::Array(values) => values.iter().find_map(command_in),
        _ => None,
    }
}

#[test]
fn hosts_that_accept_a_rewrite_run_the_confined_command() {
    for (host, fixture) in
        [("opencode", "tool.execute.before.bash"), ("gemini", "BeforeTool.run_shell_command")]
    {
        let session = session(host);
        let answer: Value = serde_json::from_str(&answer(&session, fixture, "make 'a b'")).unwrap();
        let command = command_in(&answer).unwrap_or_else(|| panic!("{host}: {answer}"));
        assert!(command.contains("--check-in"), "{command}");
        // The command runs, checks in, and writes nothing outside.
        let outside = session.sandbox.root().join("outside");
        let command = command.replace("make", &format!("true; echo x > {};", outside.display()));
        let output = session.sandbox.shell(&command.replace("'\\''", "'"));
        assert!(!outside.exists(), "{output}");
    }
}

#[test]
fn other_hosts_ask_the_model_for_the_confined_command_and_run_it_once_it_comes() {
    for (host, fixture) in
        [("qwen", "PreToolUse.run_shell_command"), ("claude-code", "PreToolUse.Bash")]
    {
        let session = session(host);
        let denial = answer(&session, fixture, "make");
        assert!(denial.contains("must run confined"), "{host}: {denial}");
        let start = denial.find("{\\\"command").unwrap_or_else(|| panic!("{denial}"));
        let command = denial[start..].to_owned();
        assert!(command.contains("bash -c make"), "{command}");
    }
}

/// Returns the command that a denial asks the model for.
fn demanded_command(denial: &str) -> String {
    let answer: Value = serde_json::from_str(denial).unwrap();
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    let (_, input) = reason.split_once("instead: ").unwrap_or_else(|| panic!("{reason}"));
    let input: Value =
        serde_json::Deserializer::from_str(input).into_iter().next().unwrap().unwrap();
    input["command"].as_str().unwrap().to_owned()
}

/// The agent compares the whole confined command with its rules, so Tenter compares the script in it.
#[test]
fn a_confined_command_of_the_model_does_not_hide_its_script_from_the_users_rules() {
    let (host, fixture) = ("claude-code", "PreToolUse.Bash");
    for (rule, is_denied) in [("Bash(make:*)", true), ("Bash(git add:*)", false)] {
        let session = session(host);
        let other = demanded_command(&answer(&session, fixture, "true"));
        let settings = session.sandbox.home().join(".claude/settings.json");
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        let rules = json!({"permissions": {"deny": [rule]}});
        fs::write(&settings, rules.to_string()).unwrap();
        let confined = other.replace("bash -c true", "bash -c 'make install'");
        for command in ["make install", &confined] {
            let answer = answer(&session, fixture, command);
            assert_eq!(
                answer.contains("permission rules"),
                is_denied,
                "{rule} {command}: {answer}"
            );
        }
    }
}

#[test]
fn claude_code_keeps_the_command_if_the_prefix_confines_it() {
    let session = session("claude-code");
    let home = session.sandbox.home();
    let fixture = "PreToolUse.Bash";
    let mut payload = session.payload(fixture);
    set_command(&mut payload, "echo x > ../outside; echo x > inside");
    let program = env!("CARGO_BIN_EXE_tenter-hook");
    let prefix = format!("{program} --shell-prefix");
    let mut hook = session.sandbox.command();
    hook.args(["claude-code", "PreToolUse", "--home"]).arg(&home);
    hook.env("CLAUDE_CODE_SHELL_PREFIX", &prefix);
    let input = session.sandbox.root().join("payload.json");
    fs::write(&input, payload.to_string()).unwrap();
    let output = hook.stdin(fs::File::open(&input).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{output:?}");
    let run = |command: &str| {
        let word = tenter_testkit::shell_text::quote(command);
        let text = format!("eval {word} \\< /dev/null && pwd -P >| {}/cwd", home.display());
        let mut prefix = session.sandbox.command();
        prefix.args(["--shell-prefix", &text]);
        let id = payload["session_id"].as_str().unwrap();
        prefix.env("CLAUDE_CODE_SESSION_ID", id).env("SHELL", "/bin/bash");
        prefix.output().unwrap()
    };
    let outside = session.sandbox.root().join("outside");
    // Another command passes unchanged.
    assert!(run("echo x > ../other").status.success());
    assert!(session.sandbox.root().join("other").exists());
    let confined = run("echo x > ../outside; echo x > inside");
    assert!(!outside.exists(), "{confined:?}");
    assert!(session.sandbox.project().join("inside").exists(), "{confined:?}");
    assert!(home.join("cwd").exists(), "{confined:?}");
}

/// The launcher beside `tenter-hook`.
enum LauncherState {
    Missing,
    Whole,
    Damaged,
}

/// Returns the answer of a host that runs a copy of `tenter-hook`, if a call must run confined or not at all.
fn answer_with(state: &LauncherState) -> String {
    let bin = Sandbox::new("/bin/sh");
    let (program, launcher) = (bin.root().join("tenter-hook"), bin.root().join("tenter-launch"));
    copy(env!("CARGO_BIN_EXE_tenter-hook"), &program);
    let session = HostSession::new("opencode").with_program(&program);
    match state {
        LauncherState::Missing => {}
        LauncherState::Whole => copy(env!("CARGO_BIN_EXE_tenter-launch"), &launcher),
        LauncherState::Damaged => {
            let whole = fs::read(env!("CARGO_BIN_EXE_tenter-launch")).unwrap();
            fs::write(&launcher, &whole[..1000]).unwrap();
            fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    session.hook("confining", "before_tool", "", &CONFINE.replace("\"run\"", "\"deny\""));
    answer(&session, "tool.execute.before.bash", "make")
}

#[test]
fn a_missing_launcher_is_replaced_by_the_program_and_a_damaged_one_starts_nothing() {
    tenter_testkit::skip_unless!(is_supported());
    let command = |state| command_in(&serde_json::from_str(&answer_with(&state)).unwrap());
    let own = command(LauncherState::Missing).unwrap();
    assert!(own.contains("/tenter-hook confine --spec"), "{own}");
    let small = command(LauncherState::Whole).unwrap();
    assert!(small.contains("/tenter-launch confine --spec"), "{small}");
    let damaged = answer_with(&LauncherState::Damaged);
    assert!(damaged.contains("the call must be confined, and that the launcher"), "{damaged}");
    assert!(!damaged.contains(" confine --spec"), "{damaged}");
}
