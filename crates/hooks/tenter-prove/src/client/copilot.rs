//! GitHub Copilot CLI.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Match, Reply};

use super::{Client, Compaction, Launch, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "copilot",
    format: Format::Chat,
    arguments,
    environment,
    files: |_| Vec::<(PathBuf, String)>::new(),
    setup: None,
    shell,
    write,
    failing_call: |reply, word| shell(reply, &format!("echo {word} >&2; exit 3")),
    subagent: Some(Subagent {
        call: subagent,
        requests: || Match::default().first_user(Subagent::TASK),
        wait: None,
    }),
    // Of 200,000.
    compaction: Some(Compaction {
        tokens: 196_000,
        requests: || Match::default().last_user("create a detailed summary"),
    }),
    resumes: true,
    unpacks_itself: true,
    deny_ends_run: false,
    takes_answers_back: false,
    limits: &[],
};

fn arguments(launch: &Launch) -> Vec<String> {
    let start = ["-p", launch.prompt, "--allow-all-tools", "--output-format", "json"];
    // It does not take both.
    let last = if launch.continues { "--continue" } else { "--trust-folder" };
    let words = start.iter().chain([&last]).map(|word| (*word).to_owned());
    let denied = launch.denied_program().map(|program| format!("--deny-tool=shell({program}:*)"));
    words.chain(denied).collect()
}

fn environment(launch: &Launch) -> Vec<(&'static str, String)> {
    let settings = [
        ("COPILOT_PROVIDER_BASE_URL", launch.url),
        ("COPILOT_PROVIDER_API_KEY", super::KEY),
        ("COPILOT_MODEL", "mock-model"),
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
    ];
    settings.map(|(name, value)| (name, value.to_owned())).into()
}

fn shell(reply: Reply, command: &str) -> Reply {
    reply.call("bash", json!({"command": command, "description": "Run a command"}))
}

fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("create", json!({"path": file, "file_text": text}))
}

fn subagent(reply: Reply, task: &str) -> Reply {
    let input = json!({
        "description": "a small task",
        "prompt": task,
        "name": "small-task",
        "mode": "sync",
        "agent_type": "general-purpose",
    });
    reply.call("task", input)
}
