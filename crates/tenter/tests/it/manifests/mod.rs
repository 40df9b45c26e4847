//! Manifest hooks in real sessions: `tenter run` plays a script under hooks that are directories with `HOOK.md`.
//!
//! `specification` runs the specification's own examples, `answers` replies and failures, `events` the payloads of every
//! event, `mixed` both kinds of hooks together, `declared` static hooks, `http` hooks behind HTTP,
//! `claude_code` hooks that are written for Claude Code.

mod answers;
mod claude_code;
mod declared;
mod events;
mod http;
mod mixed;
mod specification;

use serde_json::Value;
use tenter_testkit::Sandbox;

use crate::filter_kind;

/// The user's directory for manifest hooks.
const DIRECTORY: &str = ".config/agents/hooks";

/// Installs a user hook with this front matter and this `scripts/run.sh`.
fn install(sandbox: &Sandbox, front: &str, script: &str) {
    let name = front.lines().find_map(|line| line.strip_prefix("name: ")).unwrap();
    let directory = format!("../home/{DIRECTORY}/{name}");
    sandbox.write(&format!("{directory}/HOOK.md"), format!("---\n{}\n---\n", front.trim()));
    sandbox.write_program(&format!("{directory}/scripts/run.sh"), script);
}

/// Installs a hook with this trigger and these lines of front matter; its script in sh has the payload in `$payload`.
pub(crate) fn hook(sandbox: &Sandbox, name: &str, trigger: &str, more: &str, body: &str) {
    let front = format!("name: {name}\ndescription: A test.\ntrigger: {trigger}\n{more}");
    install(sandbox, &front, &format!("#!/bin/sh\npayload=$(cat)\n{body}\n"));
}

/// Returns a script of one call of `bash` with this command, and an answer under an expectation.
fn bash(command: &str, expect: &str) -> String {
    let command = serde_json::to_string(command).unwrap();
    format!(
        "turns: [{{tool_calls: [{{id: t1, name: bash, input: {{command: {command}}}}}]}}, {{text: ok, expect: {{{expect}}}}}]"
    )
}

/// Returns the runs of one hook, in order.
fn runs<'v>(lines: &'v [Value], hook: &str) -> Vec<&'v Value> {
    filter_kind(lines, "hook").into_iter().filter(|run| run["hook"] == hook).collect()
}

/// Returns the decisions of a hook, run by run.
pub(crate) fn decisions(lines: &[Value], hook: &str) -> Vec<String> {
    runs(lines, hook).iter().map(|run| run["decision"].as_str().unwrap().to_owned()).collect()
}

/// Returns the records of the journal.
fn records(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.run("log --json").expect_code(0).json_lines()
}
