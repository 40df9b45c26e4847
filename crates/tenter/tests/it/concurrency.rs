//! Many concurrent processes with one home: the same store, journal, caches and trust. Nothing is lost, and no process
//! waits for a hook of another one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;
use tenter_testkit::{Output, Sandbox, wait_until};

use crate::{filter_kind, sandbox};

const WATCHER: &str =
    "#!/bin/sh\n[ \"$1\" = hook ] && echo after_tool_call && exit\ncat > /dev/null\n";
/// A hook's body: it waits where the process that runs it has `HANG` in its environment.
const HANGS: &str =
    r#"if [ -n "$HANG" ]; then touch hanging; while [ ! -e release ]; do sleep 0.05; done; fi"#;

/// Checks whether the cache has a reply of this hook.
fn has_cached(sandbox: &Sandbox, hook: &str) -> bool {
    let cache = fs::read(sandbox.home().join(".cache/tenter/hooks.bin")).unwrap();
    String::from_utf8_lossy(&cache).contains(&format!("/{hook}"))
}

fn names_in(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn start_with(sandbox: &Sandbox, variable: &str, args: &[&str]) -> Child {
    let mut command = sandbox.command();
    command.env(variable, "1").args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Starts the command `count` times. Each waits for the end of its stdin before it continues.
fn start_at_once(sandbox: &Sandbox, count: usize, args: &[&str]) -> Vec<Child> {
    let start = |_| {
        let mut command = sandbox.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut children: Vec<Child> = (0..count).map(start).collect();
    for child in &mut children {
        drop(child.stdin.take());
    }
    children
}

/// Returns the journal of a conversation, every line of it.
fn journal(sandbox: &Sandbox, id: &str) -> Vec<Value> {
    let path = sandbox.state().join("journal").join(format!("{id}.jsonl"));
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{id} ends in half a line");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn thirty_two_concurrent_runs_lose_nothing() {
    let sandbox = sandbox();
    let rewrite = r#"echo '{"input": {"todos": []}}'"#;
    sandbox.sh_hook("rewrite", "before_tool_call", rewrite);
    sandbox.hook("watch", WATCHER);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let trust = sandbox.state().join("trust.json");
    let file = fs::read(&trust).unwrap();
    // All begin with neither a cache nor a store.
    fs::remove_dir_all(sandbox.home().join(".cache")).unwrap();
    let turn = "{text: Step., tool_calls: [{name: todo, input: {}}]}";
    let model = sandbox.script(&format!("turns: [{turn}, {turn}, {turn}, {{text: Done.}}]"));
    let args = ["run", "--headless", "--model", &model, "go"];
    let children = start_at_once(&sandbox, 32, &args);
    let ids: BTreeSet<String> =
        children.into_iter().map(|child| finished(&sandbox, child)).collect();
    assert_eq!(ids.len(), 32);
    let output = sandbox.run("conversation list --json --limit 0").expect_code(0);
    let list = output.json();
    let whole = |conversation: &&Value| {
        ids.contains(conversation["id"].as_str().unwrap())
            && conversation["message_count"] == 8
            && conversation["status"] == "done"
    };
    assert_eq!(list.as_array().unwrap().iter().filter(whole).count(), 32, "{list}");
    for id in &ids {
        check_journal(id, &journal(&sandbox, id));
    }
    let log = sandbox.run("log --json").expect_code(0);
    assert_eq!((log.json_lines().len(), log.stderr.as_str()), (32 * 12, ""));
    assert!(has_cached(&sandbox, "rewrite") && has_cached(&sandbox, "watch"));
    assert_eq!(fs::read(trust).unwrap(), file);
    assert!(names_in(&sandbox.state()).iter().all(|name| !name.starts_with('.')));
    assert_eq!(names_in(&sandbox.home().join(".cache/tenter")), ["hooks.bin".to_owned()].into());
}

/// Waits for a run that must be done without a word on stderr; returns its conversation's id.
fn finished(sandbox: &Sandbox, child: Child) -> String {
    let output = sandbox.finish(child).expect_code(0);
    let lines = output.json_lines();
    assert_eq!(output.stderr, "");
    assert_eq!(filter_kind(&lines, "diagnostic").len(), 0, "{output}");
    assert_eq!(filter_kind(&lines, "hook").len(), 6, "{output}");
    assert_eq!(lines.last().unwrap()["status"], "done", "{output}");
    lines[0]["id"].as_str().unwrap().to_owned()
}

fn check_journal(id: &str, records: &[Value]) {
    let hooks = |name: &str| records.iter().filter(|record| record["hook"] == name).count();
    assert_eq!((records.len(), hooks("rewrite"), hooks("watch")), (12, 3, 3), "{records:?}");
    assert_eq!(filter_kind(records, "decision").len(), 6);
    assert!(records.iter().all(|record| record["conversation_id"] == id));
}

#[test]
fn of_two_processes_that_resume_one_conversation_the_slower_fails_and_nothing_is_lost() {
    let sandbox = sandbox();
    let output = sandbox.play("turns: [{text: Begun.}]", &["--headless", "begin"]).expect_code(0);
    let id = output.json_lines()[0]["id"].as_str().unwrap().to_owned();
    // Both have read the conversation before either may write.
    let wait = "touch \"started.$$\"; while [ ! -e release ]; do sleep 0.05; done";
    sandbox.sh_hook("wait", "user_message_send", wait);
    let model = sandbox
        .script("turns: [{text: Step., tool_calls: [{name: todo, input: {}}]}, {text: Finished.}]");
    let resume = |word: &str| sandbox.start(["run", "--resume", &id, "--model", &model, word]);
    let children = [("apple", resume("apple")), ("pear", resume("pear"))];
    let is_start = |name: &String| name.starts_with("started.");
    wait_until("both have begun", || {
        names_in(&sandbox.project()).iter().filter(|name| is_start(name)).count() == 2
    });
    sandbox.write("release", "");
    let ends = children.map(|(word, child)| (word, sandbox.finish(child)));
    let (won, losers): (Vec<_>, Vec<_>) = ends.iter().partition(|(_, end)| end.code == Some(0));
    let [((kept, _), (left_out, told))] = [(won[0], losers[0])];
    check_told(told);
    let list = sandbox.run("conversation list --json").expect_code(0).json();
    assert_eq!(
        list[0]["status"], "done",
        "how the slower one ended is not how the conversation did"
    );
    let _ = sandbox.play(&format!(
        "turns: [{{text: ok, expect: {{contains: [begin, Begun., {kept}, Step., Finished.], lacks: [{left_out}]}}}}]"
    ), &["--resume", &id, "more"]).expect_code(0);
}

fn check_told(loser: &Output) {
    assert_eq!(loser.code, Some(1), "{loser}");
    let conflicts = loser.stderr.matches("was changed by another process").count();
    assert_eq!(conflicts, 1, "{loser}");
    assert!(loser.stderr.contains("resume it again to continue from there"), "{loser}");
}

#[test]
fn a_hanging_hook_blocks_no_other_process() {
    for event in
        ["user_message_send", "before_tool_call", "after_tool_call", "turn_end", "agent_stop"]
    {
        let sandbox = sandbox();
        sandbox.sh_hook("slow", event, HANGS);
        sandbox.hook("watch", WATCHER);
        let model = sandbox.script("turns: [{tool_calls: [{name: todo, input: {}}]}, {text: ok}]");
        let args = ["run", "--trust-project", "--headless", "--model", &model, "go"];
        let mut hanging = start_with(&sandbox, "HANG", &args);
        wait_until("the hook hangs", || sandbox.project().join("hanging").exists());
        let resumed = [&args[..3], &["--model", &model, "--follow", "more"]].concat();
        for args in [&args[..], &resumed, &["trust", "--revoke"], &["trust", "--yes"]] {
            let _ = sandbox.run(args).expect_code(0);
        }
        for args in [&["log"][..], &["conversation", "list"], &["hooks", "list"]] {
            let _ = sandbox.run(args).expect_code(0);
        }
        assert!(hanging.try_wait().unwrap().is_none(), "{event}: the hook does not hang any more");
        sandbox.write("release", "");
        let _ = sandbox.finish(hanging).expect_code(0);
    }
}
