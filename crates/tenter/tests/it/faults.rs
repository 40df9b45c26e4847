//! Hooks that hang, flood, fork, lie and die. The agent continues, reports it, and leaves nothing behind.

use std::fs;

use tenter_testkit::Sandbox;

use crate::{filter_kind, headless, sandbox, send_signal};

const ONE_CALL: &str =
    "turns: [{tool_calls: [{name: bash, input: {command: touch ran}}]}, {text: ok}]";

fn ran(sandbox: &Sandbox) -> bool {
    sandbox.project().join("ran").exists()
}

/// If a hook cannot name its events, or its manifest cannot be read, it could have blocked anything.
#[test]
fn a_fail_closed_hook_that_cannot_run_stops_the_session() {
    let sandbox = sandbox();
    let config = "[[hooks.override]]\nname = \"guard\"\nfail = \"closed\"\n";
    sandbox.configure(config);
    let guard_file = sandbox.user_hook("guard", "#!/bin/sh\necho 'no token' >&2; exit 7\n");
    let model = sandbox.script(ONE_CALL);
    let refusal = |reason: &str| {
        let output = sandbox.run(["run", "--model", &model, "x"]).expect_code(3);
        let message = "the hook guard does not run";
        assert!(output.stderr.contains(message) && output.stderr.contains(reason), "{output}");
        assert!(output.stderr.contains("blocked by hook guard at session_start"), "{output}");
        assert!(!ran(&sandbox), "{output}");
        let explained = sandbox.run("hooks explain --event session_start");
        assert!(explained.stdout.contains("it is set to fail closed, so this is blocked"));
    };
    refusal("exited with code 7 when it was queried for its events; it said: no token");
    let log = sandbox.run("log --json").expect_code(0).json_lines();
    assert!(log.iter().any(|line| line["hook"] == "guard" && line["decision"] == "failed"));
    let _ = sandbox.user_hook("guard", "#!/bin/sh\necho before_lunch\n");
    refusal("before_lunch");
    fs::remove_file(guard_file).unwrap();
    let manifest = "---\nname: guard\ndescription: d\ntrigger: before_lunch\n---\n";
    sandbox.write("../home/.kodelet/hooks/guard/HOOK.md", manifest);
    refusal("before_lunch");
    // Disabling it declares that it may be missing.
    let switched_off = sandbox.run("hooks disable guard");
    let _ = sandbox.run(["run", "--model", &model, "x"]).expect_code(0);
    assert!(ran(&sandbox), "{switched_off}");
}

#[test]
fn a_fail_closed_hook_withholds_the_output_it_had_to_see() {
    let sandbox = sandbox();
    let config = "[[hooks.override]]\nname = \"redact\"\nfail = \"closed\"\n";
    sandbox.configure(config);
    sandbox.sh_hook("redact", "after_tool_call", "exit 1");
    let script = "turns: [{tool_calls: [{name: bash, input: {command: printf SECRET; }}]}, {text: ok, expect: {contains: [the output is withheld], lacks: [\"SECRET\\n\"]}}]";
    let (lines, code) = headless(&sandbox, &script.replace("printf SECRET; ", "\"echo SEC''RET\""));
    assert_eq!(code, 0, "{lines:?}");
    let result = filter_kind(&lines, "tool-result")[0]["result"].to_string();
    assert!(!result.contains("SECRET") && result.contains("redact failed"), "{result}");
}

/// A daemon as daemons are made: forked twice, in a session of its own, without the pipes, and deaf to SIGTERM.
const DAEMON: &str = r#"(setsid sh -c 'trap "" TERM HUP; echo $$ > daemon; while :; do sleep 1; done' </dev/null >/dev/null 2>&1 &)
until [ -s daemon ]; do sleep 0.01; done"#;

fn is_gone(pid: &str) -> bool {
    !std::path::Path::new("/proc").join(pid).exists()
}

#[test]
fn a_daemon_of_a_timed_out_command_is_terminated_and_others_are_not() {
    let sandbox = sandbox();
    sandbox.write("bg.sh", DAEMON.replace("daemon", "lives"));
    sandbox.write("hangs.sh", format!("{DAEMON}\nsleep 1000"));
    let call = |script: &str, timeout: u32| {
        format!(
            "{{name: bash, input: {{command: sh {script}, description: d, timeout: {timeout}}}}}"
        )
    };
    let (ends, hangs) = (call("bg.sh", 60), call("hangs.sh", 4));
    let both = format!("turns: [{{tool_calls: [{ends}, {hangs}]}}, {{text: ok}}]");
    let (lines, code) = headless(&sandbox, &both);
    assert_eq!(code, 0, "{lines:?}");
    let lives = sandbox.read("lives").trim().to_owned();
    assert!(!is_gone(&lives), "what a command that ended by itself left is not touched");
    send_signal("KILL", &lives);
    assert!(is_gone(sandbox.read("daemon").trim()), "{lines:?}");
}

#[test]
fn invalid_utf8_and_control_characters_are_harmless() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "paint",
        "before_tool_call",
        r#"printf '{"blocked": true, "reason": "\\u001b[2J\\u001b[31mred\\u0007"}'"#,
    );
    let model = sandbox.script(ONE_CALL);
    let output = sandbox.run_with_stdin(["run", "--model", &model], b"caf\xe9 \xff").expect_code(0);
    assert!(output.stderr.contains("at before_tool: red"), "{output}");
    assert!(!output.stderr.contains('\u{1b}'), "{output}");
}
