//! Processes that are killed at any moment. What was reported is stored, what is stored can be read, and the next process
//! continues. `TENTER_SOAK` makes more rounds than a normal run has.

mod plugins;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::Child;

use serde_json::Value;
use tenter_testkit::{Sandbox, soak_factor};

use crate::sandbox;

/// Rounds of a normal run.
const ROUNDS: usize = 20;
/// Rounds in one sandbox: enough for a long history, few enough for many beginnings.
const ROUNDS_OF_A_SANDBOX: u64 = 10;
const WATCHER: &str =
    "#!/bin/sh\n[ \"$1\" = hook ] && echo after_tool_call && exit\ncat > /dev/null\n";

fn rounds() -> u64 {
    u64::try_from(ROUNDS * soak_factor()).unwrap()
}

/// Returns the same number below `limit` for a round in every run: splitmix64.
fn chosen(round: u64, limit: usize) -> usize {
    let mut z = round.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((z ^ (z >> 31)) % limit as u64).unwrap()
}

fn hooked() -> Sandbox {
    let sandbox = sandbox();
    let rewrite = r#"echo '{"input": {"todos": []}}'"#;
    sandbox.sh_hook("rewrite", "before_tool_call", rewrite);
    sandbox.hook("watch", WATCHER);
    sandbox
}

/// The reports of a killed session before its end: its conversation, and the number of finished exchanges.
struct ReportedWork {
    id: Option<String>,
    exchanges: usize,
}

/// Runs a session of forty steps and kills it after `count` lines of its stream.
fn killed_after(sandbox: &Sandbox, round: u64, count: usize) -> ReportedWork {
    let turn =
        |step| format!("{{text: r{round}s{step}., tool_calls: [{{name: todo, input: {{}}}}]}}");
    let turns: Vec<String> = (0..40).map(turn).collect();
    let model = sandbox.script(&format!("turns: [{}]", turns.join(", ")));
    let args = ["run", "--trust-project", "--headless", "--model", &model, "walk"];
    let mut child = sandbox.start(args);
    let mut stream = BufReader::new(child.stdout.take().unwrap());
    let mut stream_text = String::new();
    for _ in 0..count {
        assert!(
            stream.read_line(&mut stream_text).unwrap() > 0,
            "round {round} ended early: {stream_text}"
        );
    }
    child.kill().unwrap();
    child.wait().unwrap();
    stream.read_to_string(&mut stream_text).unwrap();
    // The last line may be cut.
    let whole = stream_text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let lines: Vec<Value> = whole.map(|line| serde_json::from_str(line).unwrap()).collect();
    ReportedWork {
        id: lines.first().map(|line| line["id"].as_str().unwrap().to_owned()),
        exchanges: crate::filter_kind(&lines, "usage").len(),
    }
}

/// Checks that the next session reads everything that the killed one told, by the conversation's id or as the newest one.
fn continues(sandbox: &Sandbox, round: u64, work: &ReportedWork) {
    let steps: Vec<String> = (0..work.exchanges).map(|step| format!("r{round}s{step}.")).collect();
    let model = sandbox.script(&format!(
        "turns: [{{text: here, tool_calls: [{{name: todo, input: {{}}}}], expect: {{contains: [{}]}}}}, {{text: resumed}}]",
        steps.join(", ")
    ));
    let mut args = vec!["run", "--trust-project", "--result-only", "--model", &model, "continue"];
    match &work.id {
        Some(id) if work.exchanges > 0 && round.is_multiple_of(2) => args.extend(["--resume", id]),
        _ => args.push("--follow"),
    }
    let output = sandbox.run(&args).expect_code(0);
    assert_eq!(output.stdout, "resumed\n", "round {round}\n{output}");
    let is_known = |line: &str| {
        line.starts_with("Trusted: ") || line.contains("this project has no conversation yet")
    };
    assert!(output.stderr.lines().all(is_known), "round {round}\n{output}");
}

fn is_json(path: &Path) {
    if let Ok(bytes) = fs::read(path) {
        let result: Result<Value, _> = serde_json::from_slice(&bytes);
        assert!(result.is_ok(), "{}: {}", path.display(), String::from_utf8_lossy(&bytes));
    }
}

fn files_are_whole(sandbox: &Sandbox) {
    is_json(&sandbox.state().join("trust.json"));
    let cache = fs::read(sandbox.home().join(".cache/tenter/hooks.bin"));
    assert!(!cache.is_ok_and(|cache| cache.is_empty()), "the cache is empty");
}

/// Checks that every line of the journals is whole but for the last ones that killed processes wrote, and the log shows the rest.
fn log_is_readable(sandbox: &Sandbox, kills: usize) {
    let log = sandbox.run("log --json").expect_code(0);
    let count = log.json_lines().len();
    assert!(count > 0 && log.stderr.matches("error").count() == 0, "{log}");
    let Ok(journals) = fs::read_dir(sandbox.state().join("journal")) else { return };
    let text: String =
        journals.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    let (whole, cut): (Vec<&str>, Vec<&str>) = text
        .lines()
        .filter(|line| !line.is_empty())
        .partition(|line| serde_json::from_str::<Value>(line).is_ok());
    assert_eq!(whole.len(), count);
    assert!(cut.len() <= kills, "{cut:?}");
}

#[test]
fn a_session_killed_after_any_line_has_stored_what_it_reported() {
    let mut sandbox = hooked();
    for round in 0..rounds() {
        if round.is_multiple_of(ROUNDS_OF_A_SANDBOX) && round > 0 {
            sandbox = hooked();
        }
        let killed = killed_after(&sandbox, round, chosen(round, 36));
        files_are_whole(&sandbox);
        continues(&sandbox, round, &killed);
        files_are_whole(&sandbox);
        let count = usize::try_from(round % ROUNDS_OF_A_SANDBOX).unwrap() + 1;
        if count % 5 == 0 {
            log_is_readable(&sandbox, count);
        }
    }
}

/// Looks at a child until it is gone or was looked at `looks` times, then kills it. Returns how often it was looked at.
fn killed_after_looks(mut child: Child, looks: usize) -> usize {
    let mut count = 0;
    while count < looks && child.try_wait().unwrap().is_none() {
        count += 1;
        std::thread::yield_now();
    }
    let _ = child.kill();
    child.wait().unwrap();
    count
}

#[test]
fn a_killed_first_session_leaves_a_usable_home() {
    let first = sandbox();
    let model = first.script("turns: [{text: ok}]");
    let args = ["run", "--result-only", "--model", &model, "hi"];
    let full = killed_after_looks(first.start(args), usize::MAX);
    for round in 0..rounds() {
        let sandbox = sandbox();
        killed_after_looks(sandbox.start(args), chosen(round, full + 1));
        let output = sandbox.run(args).expect_code(0);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("ok\n", ""), "round {round}");
        let list = sandbox.run("conversation list --json").expect_code(0).json();
        let counts: Vec<u64> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|conversation| conversation["message_count"].as_u64().unwrap())
            .collect();
        assert!(counts[0] == 2 && counts.len() <= 2 && counts[1..].iter().all(|n| *n <= 2));
    }
}

#[test]
fn a_killed_trust_command_leaves_a_valid_store() {
    let sandbox = hooked();
    let full = killed_after_looks(sandbox.start("trust --yes"), usize::MAX);
    for round in 0..rounds() {
        if round.is_multiple_of(2) {
            let _ = sandbox.run("trust --revoke").expect_code(0);
        } else {
            sandbox.hook("watch", &format!("{WATCHER}# {round}\n"));
        }
        let _ = fs::remove_dir_all(sandbox.home().join(".cache"));
        killed_after_looks(sandbox.start("trust --yes"), chosen(round, full + 1));
        files_are_whole(&sandbox);
        let output = sandbox.run("trust --yes").expect_code(0);
        assert!(!output.stderr.contains("warning"), "round {round}\n{output}");
        let list = sandbox.run("trust --list --json").expect_code(0).json();
        let entries = list.as_array().unwrap();
        let is_watch = |hook: &Value| hook["name"] == "watch";
        assert!(!entries.is_empty() && entries.iter().all(is_watch), "round {round}: {entries:?}");
    }
    let listing = sandbox.run("hooks list --json").expect_code(0).json();
    let active = |hook: &&Value| hook["status"] == "active" && hook["layer"] != "builtin";
    assert_eq!(listing.as_array().unwrap().iter().filter(active).count(), 2, "{listing}");
}

#[test]
fn a_killed_hooks_new_leaves_a_complete_hook_or_none() {
    for (format, event) in [("manifest", "before_tool"), ("executable", "before_tool_call")] {
        let sandbox = sandbox();
        let new = ["hooks", "new", "made", "--format", format, "--event", event, "--force"];
        let full = killed_after_looks(sandbox.start(new), usize::MAX);
        let whole = content(&sandbox.project().join(".agents/hooks/made"));
        for round in 0..rounds() / 2 {
            if round.is_multiple_of(2) {
                remove(&sandbox.project().join(".agents/hooks/made"));
            }
            killed_after_looks(sandbox.start(new), chosen(round, full + 1));
            files_are_whole(&sandbox);
            let parts = content(&sandbox.project().join(".agents/hooks/made"));
            assert!(parts.is_empty() || parts == whole, "round {round}: {parts:?}");
            let list = sandbox.run("hooks list --json").expect_code(0);
            // What is built in is always there.
            let only = usize::from(!parts.is_empty()) + 1;
            assert_eq!(list.json().as_array().unwrap().len(), only, "round {round}\n{list}");
        }
        let _ = sandbox.run(new).expect_code(0);
        assert_eq!(content(&sandbox.project().join(".agents/hooks/made")), whole);
        let _ = sandbox.run("hooks test made").expect_code(0);
    }
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir_all(path);
}

/// Returns the files of a hook in order; none if there is no hook.
fn content(path: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    if let Ok(bytes) = fs::read(path) {
        return vec![(path.to_owned(), bytes)];
    }
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| content(path)).collect()
}
