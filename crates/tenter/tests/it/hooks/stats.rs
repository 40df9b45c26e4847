//! `tenter hooks stats`: figures from the journal.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_contains};

use super::{manifest, user_hooks};
use crate::sandbox;

/// Returns a line of a journal: a run of `hook` in `project`.
fn line(project: &str, hook: &str, (day, ms): (u32, u64), decision: &str) -> String {
    let record = json!({"v": 1, "time": format!("2026-03-{day:02}T09:00:00.000Z"), "conversation_id": "c", "project": project,
        "event": "before_tool", "kind": "run", "hook": hook, "layer": "user", "hash": "", "spelling": "before_tool",
        "duration_ms": ms, "exit": "exit 0", "decision": decision});
    format!("{record}\n")
}

/// Writes a journal with runs of several days and projects, and with damage.
fn journal(sandbox: &Sandbox) {
    let project = sandbox.project().to_string_lossy().into_owned();
    let directory = sandbox.state().join("journal");
    fs::create_dir_all(&directory).unwrap();
    let lines = [
        line(&project, "guard", (1, 10), "deny"),
        line(&project, "guard", (2, 30), "none"),
        line(&project, "format", (2, 360), "failed"),
        "{\"v\":1,\"time\":\n".to_owned(),
        line("/elsewhere", "guard", (2, 5000), "none"),
        "{\"v\":1,\"time\":\"2026".to_owned(),
    ];
    fs::write(directory.join("c.jsonl"), lines.concat()).unwrap();
}

fn names(stats: &Value) -> Vec<(&str, u64)> {
    let hooks = stats["hooks"].as_array().unwrap().iter();
    hooks.map(|hook| (hook["name"].as_str().unwrap(), hook["runs"].as_u64().unwrap())).collect()
}

#[test]
fn hooks_are_listed_with_their_counts_and_durations() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("hooks stats"), @"
    exit: 0
    --- stderr
    No hook ran. `tenter hooks list` lists the hooks.
    ");
    journal(&sandbox);
    manifest(&user_hooks(&sandbox), "idle", "trigger: before_tool", "");
    assert_snapshot!(sandbox.run("hooks stats"), @"
    exit: 0
    --- stdout
    hook    runs  denied  asked  failed  share     p50     p95     max
    format     1       0      0       1   90 %  [N] ms  [N] ms  [N] ms
    guard      2       1      0       0   10 %   [N] ms   [N] ms   [N] ms
    The hook format failed in 1 of 1 runs: `tenter log --failed --hook format`.
    Never ran: idle
    ");
}

#[test]
fn runs_are_counted_since_a_time_and_in_all_projects() {
    let sandbox = sandbox();
    journal(&sandbox);
    let stats = |args: &[&str]| sandbox.run([&["hooks", "stats", "--json"], args].concat()).json();
    let all = stats(&[]);
    assert_eq!(names(&all), [("format", 1), ("guard", 2)]);
    assert_eq!(all["hooks"][1]["p95_ms"], 30);
    assert_eq!(names(&stats(&["--since", "2026-03-02"])), [("format", 1), ("guard", 1)]);
    assert_eq!(names(&stats(&["--since", "2026-03-03"])), []);
    assert_eq!(names(&stats(&["--all"])), [("guard", 3), ("format", 1)]);
    sandbox.fails(2, "hooks stats --since soon", "give a time such as");
}

#[test]
fn hooks_that_take_too_long_are_named() {
    let sandbox = sandbox();
    let hooks = user_hooks(&sandbox);
    manifest(&hooks, "heavy", "trigger: before_tool\nmetadata: {budget_ms: 100}", "");
    let matcher = "trigger: before_tool\nmatcher: {tool: bash}\nmetadata: {budget_ms: 100}";
    manifest(&hooks, "narrow", matcher, "");
    super::doctor::ran(&sandbox, "heavy", &[300, 400], "exit 0");
    super::doctor::ran(&sandbox, "narrow", &[300, 20, 20], "exit 0");
    let output = sandbox.run("hooks stats --all").expect_code(0);
    assert_contains(
        &output.stdout,
        &[
            "The hook heavy exceeds its budget of 100 ms: the p95 of its 2 runs is 400 ms.\n",
            "The hook heavy slows down every tool call: half of its runs take 300 ms or more.\n",
            "The hook narrow exceeds its budget of 100 ms",
        ],
    );
    assert!(!output.stdout.contains("narrow slows down"), "{output}");
}
