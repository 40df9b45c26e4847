//! Imported hooks and permission rules decide as the agent that they were written for. `fixtures/decisions` has the settings, the
//! calls, and what the real agent did with each call, with its version.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_contains, needs, skip_unless};

use crate::sandbox;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks/tenter-bridge/tests/fixtures/decisions")
}

/// Writes the scripts of the hooks into the project.
fn add_scripts(sandbox: &Sandbox) {
    for entry in fs::read_dir(fixtures().join("hooks")).unwrap() {
        let entry = entry.unwrap();
        let name = format!("hooks/{}", entry.file_name().display());
        sandbox.write_program(&name, fs::read(entry.path()).unwrap());
    }
}

/// Returns a turn of the model with one call.
fn turn(call: &Value) -> Value {
    let tool_call = match &call["bash"] {
        Value::Null => json!({"name": "file_write",
            "input": {"file_path": call["file"], "content": call["content"]}}),
        command => json!({"name": "bash", "input": {"command": command}}),
    };
    json!({"tool_calls": [tool_call]})
}

/// Imports the settings of an agent, lets a model make the same calls, and compares the files that the calls create.
fn compare(sandbox: &Sandbox, fixture: &Value) {
    let calls = fixture["calls"].as_array().unwrap();
    let turns: Vec<Value> = calls.iter().map(|call| turn(&call["call"])).collect();
    let _ = sandbox.play(&json!({"turns": turns}).to_string(), &["work"]).expect_code(0);
    let mut differences = Vec::new();
    for call in calls {
        let expected = call.get("tenter").unwrap_or(&call["decision"]);
        let file = sandbox.project().join(call["creates"].as_str().unwrap());
        let actual = if file.exists() { "ran" } else { "stopped" };
        let is_let_through = ["ran", "rewritten"].iter().any(|word| expected == word);
        if (actual == "ran") != is_let_through {
            differences.push(format!("{}: {actual}, not {expected}", call["name"]));
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

fn recorded(agent: &str) -> Value {
    let text = fs::read_to_string(fixtures().join(format!("{agent}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Checks that the import lists every entry of the settings.
fn assert_every_entry_is_listed(settings: &Value, listing: &str) {
    let groups = settings["hooks"].as_object().unwrap().values();
    let handlers = groups.flat_map(|groups| groups.as_array().unwrap());
    for handler in handlers.flat_map(|group| group["hooks"].as_array().unwrap()) {
        let command = handler["command"].as_str().unwrap();
        assert!(listing.contains(command), "{command}: {listing}");
    }
}

#[test]
fn hooks_of_claude_code_decide_as_in_claude_code() {
    skip_unless!(needs::has("python3") && needs::has("node"));
    let sandbox = sandbox();
    let fixture = recorded("claude-code");
    add_scripts(&sandbox);
    sandbox.write(".claude/settings.json", fixture["settings"].to_string());
    let output = sandbox.run("bridge import claude-code --yes").expect_code(0);
    assert_every_entry_is_listed(&fixture["settings"], &output.stdout);
    let _ = sandbox.run("trust --yes").expect_code(0);
    compare(&sandbox, &fixture);
}

#[test]
fn hooks_of_codex_decide_as_in_codex() {
    skip_unless!(needs::has("python3") && needs::has("node"));
    let sandbox = sandbox();
    let fixture = recorded("codex");
    add_scripts(&sandbox);
    let rule = "prefix_rule(pattern=[\"curl\"], decision=\"forbidden\")\n";
    sandbox.write("../home/.codex/rules/default.rules", rule);
    sandbox.write("../home/.codex/hooks.json", fixture["settings"].to_string());
    let output = sandbox.run("bridge import codex --user --yes").expect_code(0);
    assert_every_entry_is_listed(&fixture["settings"], &output.stdout);
    compare(&sandbox, &fixture);
}

#[test]
fn policies_of_gemini_decide_as_in_gemini() {
    let sandbox = sandbox();
    let fixture = recorded("gemini");
    sandbox.write("../home/.gemini/settings.json", fixture["settings"].to_string());
    sandbox.write("../home/.gemini/policies/rules.toml", fixture["policy"].as_str().unwrap());
    let output = sandbox.run("bridge import gemini --user --yes").expect_code(0);
    assert_contains(
        &output.stdout,
        &[
            "rule allow git push --dry-run: a hook's allow does not answer",
            "rule deny run_shell_command: Tenter has no condition commandRegex",
            "rule deny replace|write_file: Tenter has no condition argsPattern",
            "rule deny git log: Tenter has no condition modes",
        ],
    );
    compare(&sandbox, &fixture);
    let calls = fixture["calls"].as_array().unwrap().iter();
    for call in calls.filter(|call| call["decision"] == "asked" && call.get("tenter").is_none()) {
        let command = call["call"]["bash"].as_str().unwrap();
        let output = sandbox.run(["check", "--", command]).expect_code(1);
        assert!(output.stdout.starts_with("asked about"), "{command}: {output}");
    }
}
