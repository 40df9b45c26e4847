//! Tool calls under hooks: order, rewrites, redaction, parallel calls.

use serde_json::{Value, json};
use tenter_testkit::needs;

use crate::manifests::decisions;
use crate::{filter_kind, headless, sandbox};

#[test]
fn a_redacted_output_is_used_for_model_stream_and_store() {
    tenter_testkit::skip_unless!(needs::has("python3"));
    let sandbox = sandbox();
    sandbox.user_hook("redact", include_str!("scripts/redact.py"));
    sandbox.sh_hook("z-silent", "after_tool_call", "");
    let model = sandbox.script(
        "turns: [{tool_calls: [{name: file_read, input: {file_path: key.txt}}]}, {text: ok, expect: {contains: [\"[redacted]\"], lacks: [SECRETKEY]}}]",
    );
    sandbox.write("key.txt", "the key is SECRETKEY-123\n");
    let output = sandbox.run(["run", "--headless", "--model", &model, "read it"]).expect_code(0);
    assert!(!output.stdout.contains("SECRETKEY"), "{output}");
    let screen = sandbox.run(["run", "--no-save", "--model", &model, "read it"]).expect_code(0);
    assert!(
        !screen.stdout.contains("SECRETKEY") && !screen.stderr.contains("SECRETKEY"),
        "{screen}"
    );
    let database = std::fs::read(sandbox.state().join("conversations.db")).unwrap();
    assert!(
        !database.windows(9).any(|window| window == b"SECRETKEY"),
        "the store holds what was redacted"
    );
    let resumed = sandbox
        .script("turns: [{text: ok, expect: {contains: [\"[redacted]\"], lacks: [SECRETKEY]}}]");
    assert_eq!(sandbox.run(["run", "--follow", "--model", &resumed, "and?"]).code, Some(0));
}

#[test]
fn hooks_receive_blocked_calls_with_the_original_input() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "a-rewrite",
        "before_tool_call",
        r#"echo '{"input": {"command": "rewritten"}}'"#,
    );
    // Files that changed meanwhile are no effects of a call that did not run.
    let deny = r#"touch changed; echo '{"blocked": true, "reason": "no"}'"#;
    sandbox.sh_hook("b-deny", "before_tool_call", deny);
    sandbox.sh_hook("audit", "after_tool_call", r#"printf '%s\n' "$payload" >> audit.log"#);
    let _ = sandbox.shell("rm -rf .git && git init -q .").expect_code(0);
    let (lines, _) = headless(
        &sandbox,
        "turns: [{tool_calls: [{name: bash, input: {command: original}}]}, {text: ok}]",
    );
    let payload: Value = serde_json::from_str(&sandbox.read("audit.log")).unwrap();
    assert_eq!(payload["event"], "after_tool_call");
    assert_eq!(payload["tool_input"], json!({"command": "original"}));
    assert_eq!(payload["tool_output"]["metadata"], json!({"tool_name": "bash", "reason": "no"}));
    assert_eq!(filter_kind(&lines, "hook").last().unwrap()["event"], "after_tool_failure");
}

#[test]
fn parallel_calls_each_run_under_their_own_hooks() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "guard",
        "before_tool_call",
        r#"case "$payload" in *forbidden*) echo '{"blocked": true, "reason": "no"}';; esac"#,
    );
    // Each of two calls waits for the other's file, so both end only if they run in parallel.
    let wait = |mine: &str, other: &str| {
        format!("touch {mine}; until [ -e {other} ]; do sleep 0.01; done; echo {mine} done")
    };
    let script = format!(
        "turns: [{{tool_calls: [{{id: a, name: bash, input: {{command: \"{}\"}}}}, {{id: x, name: bash, input: {{command: forbidden}}}}, {{id: b, name: bash, input: {{command: \"{}\"}}}}]}}, {{text: ok}}]",
        wait("a", "b"),
        wait("b", "a")
    );
    let (lines, code) = headless(&sandbox, &script);
    assert_eq!(code, 0);
    let result = |id: &str| {
        let results = filter_kind(&lines, "tool-result");
        results.into_iter().find(|result| result["tool_call_id"] == id).unwrap()["result"].clone()
    };
    assert_eq!(result("a")["metadata"]["output"], "a done\n");
    assert_eq!(result("b")["metadata"]["output"], "b done\n");
    assert_eq!(result("x")["metadataType"], "blocked");
    assert_eq!(decisions(&lines, "guard").len(), 3);
}

#[test]
fn hooks_run_in_the_project_with_their_variables_and_without_model_keys() {
    let sandbox = sandbox();
    sandbox.sh_hook("env", "before_tool_call", "env > env.txt; pwd > pwd.txt");
    let model = sandbox.script("turns: [{tool_calls: [{name: todo, input: {}}]}, {text: ok}]");
    let vars = [("OPENAI_API_KEY", "sk-very-secret"), ("SLACK_WEBHOOK_URL", "https://hook")];
    let _ = sandbox.run_with_env(&vars, ["run", "--model", &model, "x"]).expect_code(0);
    let env = sandbox.read("env.txt");
    for variable in [
        "TENTER_EVENT=before_tool_call",
        "TENTER_HOOK_NAME=env",
        "TENTER_PROTOCOL_VERSION=1",
        "SLACK_WEBHOOK_URL=https://hook",
        &format!("TENTER_PROJECT_DIR={}", sandbox.project().display()),
        &format!("TENTER_HOOK_DIR={}/.kodelet/hooks", sandbox.home().display()),
    ] {
        assert!(env.lines().any(|line| line == variable), "{variable} is missing in\n{env}");
    }
    let state = format!(
        "TENTER_HOOK_STATE={}/",
        sandbox.home().join(".local/state/tenter/hooks").display()
    );
    assert!(env.lines().any(|line| line.starts_with(&state)), "{state} is missing in\n{env}");
    assert!(env.contains("TENTER_SESSION_ID=") && !env.contains("OPENAI_API_KEY"), "{env}");
    assert_eq!(sandbox.read("pwd.txt").trim(), sandbox.project().to_str().unwrap());
}
