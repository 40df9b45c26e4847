//! Hooks that use an SDK in real sessions: one process for all events, services, and the same decisions as in the one-shot form.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use tenter_testkit::{Sandbox, needs};

use super::sdk;
use crate::{filter_kind, sandbox};

const LANGUAGES: [(&str, &str, &str, &str); 2] = [
    ("python3", "hook.py", "run.py", "python/tenter_hook.py"),
    ("node", "hook.mjs", "hook.mjs", "javascript/tenter-hook.mjs"),
];
const START_NODE: &str = "#!/bin/sh\nexec node \"$(dirname \"$0\")/hook.mjs\" \"$@\"\n";

/// Returns a sandbox with the hook of `wire` in one language, with these lines below `metadata`.
fn with_hook(language: (&str, &str, &str, &str), metadata: &str) -> Sandbox {
    let (interpreter, source, script, is_copy) = language;
    let sandbox = sandbox();
    let directory = sandbox.home().join(".config/agents/hooks/guard");
    let scripts = directory.join("scripts");
    fs::create_dir_all(&scripts).unwrap();
    let manifest = format!(
        "---\nname: guard\ndescription: A test.\ntrigger: before_tool\nmetadata:\n  fail: closed\n{metadata}---\n"
    );
    fs::write(directory.join("HOOK.md"), manifest).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sdk/hooks");
    fs::copy(sources.join(source), scripts.join(script)).unwrap();
    let copy = sdk().join(is_copy);
    fs::copy(&copy, scripts.join(copy.file_name().unwrap())).unwrap();
    let start = if interpreter == "node" { "run" } else { script };
    if interpreter == "node" {
        fs::write(scripts.join(start), START_NODE).unwrap();
    }
    fs::set_permissions(scripts.join(start), fs::Permissions::from_mode(0o755)).unwrap();
    sandbox
}

/// Runs these commands under the hook; the model's last request must contain these texts. Returns the lines of the stream.
fn run(sandbox: &Sandbox, commands: &[&str], expected: &[&str]) -> Vec<Value> {
    let call = |(index, command): (usize, &&str)| {
        let id = format!("call-{index}");
        json!({"tool_calls": [{"id": id, "name": "bash", "input": {"command": command}}]})
    };
    let mut turns: Vec<Value> = commands.iter().enumerate().map(call).collect();
    turns.push(json!({"text": "ok", "expect": {"contains": expected}}));
    let script = json!({"turns": turns, "completions": ["from the model"]}).to_string();
    let output = sandbox.play(&script, &["--headless", "Do it."]);
    assert_eq!(output.code, Some(0), "{output}");
    output.json_lines()
}

const SERVE: &str = "  runtime: serve\n  services: [history, model, ask, state, notify]\n";

#[test]
fn one_process_sees_all_events_and_its_services_are_answered() {
    for language in LANGUAGES {
        if !needs::has(language.0) {
            continue;
        }
        let sandbox = with_hook(language, SERVE);
        let commands = ["count", "count", "state", "model", "history", "notify"];
        let expected = ["count 1", "count 2", "state 2", "from the model", "history "];
        let lines = run(&sandbox, &commands, &expected);
        let notices: Vec<&Value> =
            filter_kind(&lines, "notice").into_iter().map(|notice| &notice["text"]).collect();
        assert_eq!(notices, ["look"]);
    }
}

#[test]
fn both_forms_decide_alike() {
    for language in LANGUAGES {
        if !needs::has(language.0) {
            continue;
        }
        let decided = |metadata: &str| {
            let sandbox = with_hook(language, metadata);
            let commands = ["deny", "ask", "rewrite", "print", "raise", "list", "other"];
            let lines = run(&sandbox, &commands, &[]);
            let runs = filter_kind(&lines, "hook").into_iter();
            runs.map(|run| run["decision"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let served = decided(SERVE);
        assert_eq!(served, ["deny", "ask", "rewrite", "none", "failed", "failed", "none"]);
        assert_eq!(decided(""), served);
    }
}
