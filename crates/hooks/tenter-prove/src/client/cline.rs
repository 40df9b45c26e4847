//! Cline.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Match, Reply};

use super::{Client, Launch, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "cline",
    format: Format::Chat,
    arguments,
    environment,
    files: |_| Vec::<(PathBuf, String)>::new(),
    setup: Some(setup),
    shell,
    write,
    failing_call: |reply, word| shell(reply, &format!("echo {word} >&2; exit 3")),
    subagent: Some(Subagent {
        call: subagent,
        requests: || Match::default().first_user(Subagent::TASK),
        wait: None,
    }),
    compaction: None,
    resumes: false,
    unpacks_itself: false,
    deny_ends_run: true,
    takes_answers_back: false,
    limits: &[
        ("fires.before_agent", NO_MESSAGES),
        ("context.before_agent", NO_MESSAGES),
        ("prompt", NO_MESSAGES),
        ("fires.session_end", "`SessionShutdown` fires only when a run is cancelled"),
    ],
};

const NO_MESSAGES: &str = "messages fire no event without a terminal";

fn arguments(launch: &Launch) -> Vec<String> {
    ["--json", "--auto-approve", "true", launch.prompt].map(str::to_owned).into()
}

fn environment(_: &Launch) -> Vec<(&'static str, String)> {
    let switches = ["CLINE_TELEMETRY_DISABLED", "CLINE_NO_AUTO_UPDATE", "DO_NOT_TRACK"];
    switches.map(|name| (name, "1".to_owned())).into()
}

/// Stores the address and the key of the model.
fn setup(launch: &Launch) -> Vec<String> {
    let model = ["-k", super::KEY, "-m", "mock-model", "-b", launch.url];
    ["auth", "-p", "openai-compatible"]
        .iter()
        .chain(&model)
        .map(|word| (*word).to_owned())
        .collect()
}

fn shell(reply: Reply, command: &str) -> Reply {
    reply.call("run_commands", json!({"commands": [command]}))
}

fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("editor", json!({"command": "create", "path": file, "new_text": text}))
}

fn subagent(reply: Reply, task: &str) -> Reply {
    reply.call("spawn_agent", json!({"task": task, "systemPrompt": "You work.", "prompt": task}))
}
