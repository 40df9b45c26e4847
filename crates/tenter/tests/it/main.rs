//! The binary as a user runs it: real processes, real files, whole sessions.

#![expect(clippy::unwrap_used, reason = "tests")]

// The fuzz targets use the fuzzing library by its name.
extern crate self as libfuzzer_sys;

mod agents_above;
mod architecture;
mod backtest;
mod bridge;
mod bundles;
mod chat;
mod commits;
mod completions;
mod concurrency;
mod config;
mod confine;
mod conversation;
mod conversation_changes;
mod conversation_export;
mod conversations;
mod crashes;
mod demo;
mod docs;
mod examples;
mod exhaustion;
mod export;
mod faults;
mod follow_ups;
mod fuzz_targets;
mod guards;
mod help;
mod hooks;
mod inspect;
mod journal_seals;
mod live;
mod log;
mod long_session;
mod man;
mod managed;
mod manifests;
mod mcp;
mod mcp_login;
mod mcp_trust;
mod models;
mod nested_projects;
mod permissions;
mod plugin_authors;
mod plugins;
mod prompts;
mod providers;
mod readme;
mod ready_made;
mod recipe_runs;
mod recipes;
mod retries;
mod run;
mod sdk;
mod security;
mod services;
mod skills;
mod static_programs;
mod subagents;
mod tool_calls;
mod tool_inputs;
mod transcripts;
mod trust_questions;
mod upgrades;
mod wording;

use std::fmt::Display;
use std::process::Command;

use serde_json::Value;
use tenter_testkit::Sandbox;

/// Returns a sandbox for this build of `tenter`.
fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_tenter"))
}

/// Sends a signal, such as `INT`, to a process. Returns whether there is such a process; `0` only looks.
#[expect(clippy::disallowed_methods, reason = "kill is what a user would use")]
fn send_signal(name: &str, process: impl Display) -> bool {
    let kill = |process: &str| Command::new("kill").args([&format!("-{name}"), process]).status();
    kill(&process.to_string()).unwrap().success()
}

/// Returns the objects of one kind.
fn filter_kind<'v>(lines: &'v [Value], kind: &str) -> Vec<&'v Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

/// Runs a script headless and returns its stream and its exit code.
fn headless(sandbox: &Sandbox, script: &str) -> (Vec<Value>, i32) {
    let output = sandbox.play(script, &["--headless", "do it"]);
    (output.json_lines(), output.code.unwrap_or(-1))
}
