//! The input of tools in payloads: the advertised names of its fields (R63), the tool's other names, and the working directory
//! (R69).

use serde_json::{Value, json};
use tenter_testkit::{Output, Sandbox};

use crate::{filter_kind, sandbox};

/// A hook that keeps every payload.
const RECORD: &str = r#"printf '%s\n' "$payload" >> payloads"#;

fn play(sandbox: &Sandbox, calls: &str) -> Output {
    let model = sandbox.script(&format!("turns: [{{tool_calls: [{calls}]}}, {{text: ok}}]"));
    sandbox.run(["run", "--headless", "--model", &model, "go"]).expect_code(0)
}

#[test]
fn aliases_reach_hooks_under_the_advertised_names() {
    let sandbox = sandbox();
    sandbox.sh_hook("a-record", "before_tool_call", RECORD);
    sandbox.sh_hook("b-record", "after_tool_call", RECORD);
    let guard = r#"case "$payload" in *'"file_path": ".env"'*) echo '{"blocked": true}';; esac"#;
    sandbox.sh_hook("guard", "before_tool_call", guard);
    let output = play(
        &sandbox,
        "{name: file_write, input: {path: .env, content: stolen}}, {name: file_write, input: {path: a, content: x}}",
    );
    assert!(!sandbox.project().join(".env").exists(), "{output}");
    assert_eq!(sandbox.read("a"), "x");
    let inputs: Vec<Value> = sandbox
        .read_lines("payloads")
        .into_iter()
        .map(|payload| payload["tool_input"].clone())
        .collect();
    assert_eq!(inputs.len(), 4, "{inputs:?}");
    for input in inputs {
        assert!(input["file_path"].is_string() && input["text"].is_string(), "{input}");
        assert!(input.get("path").is_none() && input.get("content").is_none(), "{input}");
    }
    // The stream and the conversation keep what the model wrote.
    let new_text = json!({"path": "a", "content": "x"});
    assert_eq!(filter_kind(&output.json_lines(), "tool-use")[1]["input"], new_text);
    let screen = sandbox.run("conversation show last --json").stdout;
    assert!(screen.contains(r#""path": "a""#) || screen.contains(r#""path":"a""#), "{screen}");
}

#[test]
fn a_rewrite_that_uses_an_alias_is_renamed_for_the_next_hook() {
    let sandbox = sandbox();
    let rewrite = r#"echo '{"input": {"path": ".env", "content": "stolen"}}'"#;
    sandbox.sh_hook("a-rewrite", "before_tool_call", rewrite);
    let guard = r#"case "$payload" in *'"file_path": ".env"'*) echo '{"blocked": true}';; esac"#;
    sandbox.sh_hook("b-guard", "before_tool_call", guard);
    let output = play(&sandbox, "{name: file_write, input: {file_path: a, text: x}}");
    assert!(!sandbox.project().join(".env").exists(), "{output}");
    assert!(!sandbox.project().join("a").exists(), "{output}");
    assert!(output.stdout.contains("blocked by hook"), "{output}");
}

#[test]
fn two_spellings_with_different_values_run_nothing() {
    let model_values = sandbox();
    model_values.sh_hook("record", "before_tool_call", RECORD);
    let output = play(
        &model_values,
        "{name: file_write, input: {file_path: a, path: b, text: x}}, {name: file_write, input: {file_path: c, path: c, text: x}}",
    );
    assert!(
        !model_values.project().join("a").exists() && !model_values.project().join("b").exists()
    );
    assert_eq!(model_values.read("c"), "x");
    assert_eq!(
        model_values.read_lines("payloads").len(),
        1,
        "no hook sees the malformed call\n{output}"
    );
    assert!(output.stdout.contains("`file_path` is given twice"), "{output}");

    let hook_values = sandbox();
    let rewrite = r#"echo '{"input": {"file_path": "a", "path": "b", "text": "x"}}'"#;
    hook_values.sh_hook("rewrite", "before_tool_call", rewrite);
    let output = play(&hook_values, "{name: file_write, input: {file_path: c, text: x}}");
    for name in ["a", "b", "c"] {
        assert!(!hook_values.project().join(name).exists(), "{name}\n{output}");
    }
    assert!(output.stdout.contains("`file_path` is given twice"), "{output}");
}

#[test]
fn payloads_name_the_tool_as_other_agents_do() {
    let sandbox = sandbox();
    sandbox.sh_hook("record", "before_tool_call", RECORD);
    let manifest =
        "---\nname: shell\ndescription: d\ntrigger: before_tool\nmatcher:\n  tool: ^Shell$\n---\n";
    sandbox.write("../home/.kodelet/hooks/shell/HOOK.md", manifest);
    sandbox.write("../home/.kodelet/hooks/shell/scripts/run.sh", "cat >> payloads\n");
    let _ = play(&sandbox, "{name: bash, input: {command: 'true'}}");
    let payloads = sandbox.read_lines("payloads");
    assert_eq!(payloads.len(), 2);
    for (payload, other) in payloads.iter().zip(["Shell", "bash"]) {
        let aliases = payload["tool_aliases"].as_array().unwrap();
        assert!(aliases.contains(&json!("Bash")) && aliases.contains(&json!(other)), "{payload}");
        assert!(!aliases.contains(&payload["tool_name"]), "{payload}");
    }
}

#[test]
fn tools_run_in_the_working_directory_and_hooks_in_the_project_root() {
    let sandbox = sandbox();
    let record = r#"printf '%s %s\n' "$(pwd -P)" "$TENTER_PROJECT_DIR" >> where; printf '%s\n' "$payload" >> payloads"#;
    sandbox.sh_hook("record", "before_tool_call", record);
    sandbox.write("sub/here.txt", "needle\n");
    sandbox.write("other.txt", "needle\n");
    let calls = "{name: bash, input: {command: pwd -P > shell}}, {name: file_write, input: {file_path: new, text: x}}, {name: grep, input: {pattern: needle}}";
    let model = sandbox.script(&format!("turns: [{{tool_calls: [{calls}]}}, {{text: ok}}]"));
    let output = sandbox
        .shell(&format!("cd sub && exec tenter run --headless --model {model} go"))
        .expect_code(0);
    let (project, sub) = (sandbox.project(), sandbox.project().join("sub"));
    let root = project.to_str().unwrap();
    assert_eq!(sandbox.read("where"), format!("{root} {root}\n").repeat(3), "{output}");
    assert_eq!(sandbox.read("sub/shell").trim_end(), sub.to_str().unwrap(), "{output}");
    assert_eq!(sandbox.read("sub/new"), "x", "{output}");
    for payload in sandbox.read_lines("payloads") {
        assert_eq!(payload["cwd"], sub.to_str().unwrap(), "{payload}");
    }
    let lines = output.json_lines();
    let results = filter_kind(&lines, "tool-result");
    let search = results.iter().find(|line| line["result"]["toolName"] == "grep").unwrap();
    let files = search["result"]["metadata"]["results"].as_array().unwrap();
    assert_eq!(files.len(), 1, "{search}");
    assert_eq!(files[0]["filePath"], "here.txt", "{search}");
}
