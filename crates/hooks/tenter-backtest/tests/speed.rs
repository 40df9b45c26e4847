//! The rate of a backtest and its memory, on a long history.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use serde_json::json;
use tempfile::TempDir;
use tenter_backtest::{HookSet, HostPlaces, Replay, ReportBuilder, ScanOptions, scan};
use tenter_engine::journal::Redactor;
use tenter_engine::{Directories, Engine};

const CALLS: usize = 100_000;
const CALLS_PER_FILE: usize = 1000;
/// Commands as agents run them; the last is stopped.
const COMMANDS: [&str; 6] = [
    "cargo test --workspace 2>&1 | tail -40",
    "git status --short && git diff --stat",
    "rg -n 'fn main' crates | head -20",
    "sed -n 1,120p src/lib.rs",
    "cd src && ls -la && cat main.rs | wc -l",
    "git push --force origin main",
];

fn write_history(home: &Path, project: &Path) {
    let directory = home.join(".claude/projects/app");
    fs::create_dir_all(&directory).unwrap();
    let output = "a line of what the command printed\n".repeat(40);
    for file in 0..CALLS / CALLS_PER_FILE {
        let path = directory.join(format!("{file}.jsonl"));
        let mut lines = BufWriter::new(File::create(path).unwrap());
        for call in 0..CALLS_PER_FILE {
            let id = format!("toolu_01ABCDEFGHJKLMN{file:05}{call:05}");
            let command = format!("{} # {call}", COMMANDS[call % COMMANDS.len()]);
            let start = json!({"type": "assistant", "sessionId": format!("s{file}"), "cwd": project, "timestamp": "2026-11-24T10:00:00Z", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command, "description": "a step"}}]}});
            let end = json!({"type": "user", "sessionId": format!("s{file}"), "cwd": project, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": false}]}});
            writeln!(lines, "{start}\n{end}").unwrap();
        }
    }
}

/// Returns the largest memory of this process so far, in mebibytes.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[test]
#[ignore = "it takes up to a minute: it measures"]
fn a_hundred_thousand_calls_take_less_than_a_minute_and_little_memory() {
    let scratch = TempDir::new().unwrap();
    let (home, project) = (scratch.path().join("home"), scratch.path().join("app"));
    fs::create_dir_all(&project).unwrap();
    write_history(&home, &project);
    let guards = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tenter-commands/src/guard/shipped");
    for entry in fs::read_dir(guards).unwrap().map(|entry| entry.unwrap().path()) {
        let hook = home.join(".config/agents/hooks").join(entry.file_stem().unwrap());
        if entry.extension().is_some_and(|extension| extension == "md") {
            fs::create_dir_all(&hook).unwrap();
            fs::copy(&entry, hook.join("HOOK.md")).unwrap();
        }
    }
    let places = HostPlaces { home: home.clone(), variables: BTreeMap::new() };
    let load = |root: &Path| {
        let builder = Engine::builder(root).directories(Directories::in_home(&home));
        let (catalog, _) = builder.load_without_queries(&builder.trust_store().0);
        HookSet { builder, catalog }
    };
    let before = peak_memory();
    let start = Instant::now();
    let mut replay = Replay::new(&home, &load);
    let mut report = ReportBuilder::new(Redactor::default());
    let options = ScanOptions { places: &places, hosts: &[], since: None, max_calls: None };
    let hosts = scan(options, &mut |call| {
        let judgement = replay.judge(&call);
        report.add(&call, &judgement);
    });
    let report = report.finish(hosts, [], 5);
    let (seconds, memory) = (start.elapsed().as_secs_f64(), peak_memory() - before);
    println!("{} calls in {seconds:.1} s, {memory} MiB more", report.calls);
    assert_eq!(report.calls, CALLS as u64);
    assert!(report.stopped >= CALLS as u64 / 6, "{report:?}");
    assert!(seconds < 60.0, "{seconds}");
    assert!(memory < 200, "{memory}");
}
