//! Projects within projects (R89), in commands and runs.

use serde_json::Value;
use tenter_testkit::{Output, Sandbox};

use crate::{filter_kind, sandbox};

const DENY: &str = "#!/bin/sh\n[ \"$1\" = hook ] && { echo before_tool_call; exit; }\necho '{\"blocked\": true, \"reason\": \"not here\"}'\n";

/// A turn after which there is another.
const TURN: &str = "{tool_calls: [{name: glob, input: {pattern: x}}]}";

/// Returns a repository with the trusted hook `guard`, below which a command created a directory with `.agents`.
fn nested() -> Sandbox {
    let sandbox = sandbox();
    sandbox.hook("guard", DENY);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let _ = sandbox.shell("mkdir -p sub/.agents").expect_code(0);
    sandbox
}

/// Runs a command in the directory `sub`.
fn in_sub(sandbox: &Sandbox, command: &str) -> Output {
    sandbox.shell(&format!("cd sub && {command}"))
}

/// Returns the decisions of the hooks about a call in the directory `sub`.
fn decisions(sandbox: &Sandbox) -> Vec<String> {
    let call =
        "turns: [{tool_calls: [{name: bash, input: {command: \"touch ran\"}}]}, {text: Done.}]";
    let model = sandbox.script(call);
    let run = in_sub(sandbox, &format!("tenter run --headless --model '{model}' go"));
    let lines = run.expect_code(0).json_lines();
    let text = |hook: &&Value| hook["decision"].as_str().unwrap().to_owned();
    filter_kind(&lines, "hook").iter().map(text).collect()
}

#[test]
fn only_a_trusted_root_setting_starts_a_project_of_its_own() {
    let sandbox = nested();
    sandbox.write("sub/tenter.toml", "root = true\n");
    let output = in_sub(&sandbox, "tenter hooks doctor");
    assert!(output.to_string().contains("`root = true` has no effect"), "{output}");
    assert_eq!(decisions(&sandbox), ["deny"]);
    assert!(!sandbox.project().join("sub/ran").exists());
    let question = in_sub(&sandbox, "tenter trust --yes").expect_code(0);
    assert!(question.to_string().contains("Trusted: root:project."), "{question}");
    assert_eq!(decisions(&sandbox), [] as [&str; 0]);
    let _ = in_sub(&sandbox, "tenter trust --revoke root:project").expect_code(0);
    assert_eq!(decisions(&sandbox), ["deny"]);
}

#[test]
fn hooks_of_both_projects_are_listed_and_trusted_where_they_are() {
    let sandbox = nested();
    sandbox.write_program("sub/.agents/hooks/own", DENY);
    let _ = in_sub(&sandbox, "tenter trust --yes").expect_code(0);
    let list = in_sub(&sandbox, "tenter hooks list --json").expect_code(0).json();
    let hooks = list.as_array().unwrap().iter();
    let hooks: Vec<_> = hooks.map(|hook| (&hook["name"], &hook["trust"])).take(2).collect();
    assert_eq!(hooks, [(&"guard".into(), &"trusted".into()), (&"own".into(), &"trusted".into())]);
    let records = sandbox.run("trust --list --json").json();
    let project = |name: &str| {
        let mut records = records.as_array().unwrap().iter();
        let record = records.rfind(|record| record["name"] == name).unwrap();
        record["project"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    };
    assert_eq!([project("guard"), project("own")], ["project", "sub"]);
    let explained =
        in_sub(&sandbox, "tenter hooks explain --tool bash --input '{\"command\": \"ls\"}'");
    assert!(explained.stdout.contains("guard"), "{explained}");
}

#[test]
fn settings_of_every_project_make_hooks_stricter() {
    let sandbox = nested();
    sandbox.write("tenter.toml", "max_turns = 2\n[hooks]\nfail = \"closed\"\n");
    sandbox.write("sub/tenter.toml", "max_turns = 9\n");
    let list = in_sub(&sandbox, "tenter hooks list --json").expect_code(0).json();
    assert_eq!(list[0]["fail"], "closed");
    let model = sandbox.script(&format!("turns: [{}]", [TURN; 6].join(", ")));
    let run = in_sub(&sandbox, &format!("tenter run --headless --model '{model}' go"));
    let turns = filter_kind(&run.json_lines(), "usage").len();
    assert!(turns <= 2, "{run}");
}
