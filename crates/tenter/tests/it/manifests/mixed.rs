//! Executable and manifest hooks on the same events: one order, one chain of rewrites, one record.

use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_fields};

use super::{decisions, hook, records, runs};
use crate::{filter_kind, headless, sandbox};

/// Adds a word to the command, in either protocol's words: what it appends is seen in the command that runs.
fn appends(word: &str, field: &str) -> String {
    format!(
        "command=$(printf '%s' \"$payload\" | sed 's/.*\"command\": \"\\([^\"]*\\)\".*/\\1/')\n\
         echo '{word}' >> order\nprintf '{{\"{field}\": {{\"command\": \"%s {word}\"}}}}' \"$command\""
    )
}

/// Returns a setup with all kinds of hooks: rewriting, broken, timing out, asynchronous, denying.
fn everything() -> Sandbox {
    let sandbox = sandbox();
    hook(
        &sandbox,
        "z-first",
        "before_tool",
        "priority: 999\nmatcher: {tool: ^Shell$}",
        &appends("first", "modified_input"),
    );
    sandbox.sh_hook("b-program", "before_tool_call", &appends("program", "input"));
    hook(&sandbox, "c-manifest", "pre-tool-call", "", &appends("manifest", "modified_input"));
    hook(&sandbox, "d-broken", "before_tool", "", "echo broken >> order; echo 'no jq' >&2; exit 1");
    hook(&sandbox, "e-slow", "before_tool", "timeout: 100", "sleep 600");
    hook(&sandbox, "a-last", "before_tool", "priority: 10", &appends("last", "modified_input"));
    hook(
        &sandbox,
        "y-deny",
        "before_tool",
        "priority: 500\nmatcher: {pattern: forbidden}",
        "echo deny >> order; echo 'forbidden' >&2; exit 2",
    );
    let script = "printf '%s\\n' \"$payload\" >> async; echo '{\"decision\": \"deny\", \"reason\": \"too late\"}'";
    hook(&sandbox, "x-async", "before_tool", "priority: 1000\nasync: true", script);
    sandbox.sh_hook("audit", "after_tool_call", "printf '%s\\n' \"$payload\" >> audit");
    sandbox
}

const SCRIPT: &str = "turns: [{tool_calls: [{id: t1, name: bash, input: {command: echo said}}]}, \
     {tool_calls: [{id: t2, name: bash, input: {command: echo forbidden}}], expect: {contains: [said first program manifest last], lacks: [too late, no jq]}}, \
     {text: ok, expect: {contains: [\"blocked by hook: forbidden\"], lacks: [too late, forbidden first]}}]";

#[test]
fn the_stream_reports_every_run_and_the_journal_records_each_change() {
    let sandbox = everything();
    let (lines, _) = headless(&sandbox, SCRIPT);
    stream_reports_every_run(&lines);
    journal_records_each_change(&records(&sandbox));
}

fn stream_reports_every_run(lines: &[Value]) {
    let first: Vec<(&str, &str)> = filter_kind(lines, "hook")
        .into_iter()
        .filter(|run| {
            run["tool_call_id"] == "t1" && run["event"] == "before_tool" && run["async"] == false
        })
        .map(|run| (run["hook"].as_str().unwrap(), run["decision"].as_str().unwrap()))
        .collect();
    let expected = [
        ("z-first", "rewrite"),
        ("b-program", "rewrite"),
        ("c-manifest", "rewrite"),
        ("d-broken", "failed"),
        ("e-slow", "failed"),
        ("a-last", "rewrite"),
    ];
    assert_eq!(first, expected);
    assert_eq!(decisions(lines, "y-deny"), ["deny"]);
    let [asynchronous] = runs(lines, "x-async")[..] else { panic!("{lines:#?}") };
    assert_eq!((&asynchronous["async"], &asynchronous["decision"]), (&json!(true), &json!("none")));
    assert_eq!(runs(lines, "c-manifest")[0]["spelling"], "pre-tool-call");
    assert_eq!(
        filter_kind(lines, "tool-use")[0]["input"]["command"],
        "echo said",
        "what the model wanted"
    );
}

fn journal_records_each_change(records: &[Value]) {
    let of = |call: &str| -> Vec<&Value> {
        let before =
            |record: &&Value| record["tool_call_id"] == call && record["event"] == "before_tool";
        records.iter().filter(before).collect()
    };
    let rewrites: Vec<(&str, &str)> = of("t1")
        .into_iter()
        .filter(|record| record["rewrite"].is_object())
        .map(|record| {
            let command = |side: &str| record["rewrite"][side]["command"].as_str().unwrap();
            (command("before"), command("after"))
        })
        .collect();
    let chain = [
        "echo said",
        "echo said first",
        "echo said first program",
        "echo said first program manifest",
        "echo said first program manifest last",
    ];
    let expected: Vec<(&str, &str)> = chain.windows(2).map(|pair| (pair[0], pair[1])).collect();
    assert_eq!(rewrites, expected);
    let decision = |call: &str| {
        of(call).into_iter().find(|record| record["kind"] == "decision").unwrap().clone()
    };
    let first = decision("t1");
    assert_fields(&first, &json!({"decision": "rewrite", "by": "a-last", "hooks_run": 6}));
    let second = decision("t2");
    assert_fields(&second, &json!({"decision": "deny", "by": "y-deny", "reason": "forbidden"}));
    let run =
        |hook: &str| of("t1").into_iter().find(|record| record["hook"] == hook).unwrap().clone();
    assert_eq!(
        (&run("d-broken")["exit"], &run("d-broken")["stderr"]),
        (&json!("exit 1"), &json!("no jq"))
    );
    assert_eq!(
        (&run("e-slow")["exit"], &run("e-slow")["reason"]),
        (&json!("timed out"), &json!("timed out after 100 ms"))
    );
    assert_eq!(run("x-async")["async"], true);
    assert!(run("x-async")["notes"][0].as_str().unwrap().contains("asynchronous"));
}
