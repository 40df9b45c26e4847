//! Pi.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Reply};

use super::{Client, Launch};

pub(super) const CLIENT: Client = Client {
    host: "pi",
    format: Format::Chat,
    arguments,
    environment,
    files,
    setup: None,
    shell,
    write,
    failing_call: |reply, word| shell(reply, &format!("echo {word} >&2; exit 3")),
    subagent: None,
    compaction: None,
    resumes: true,
    unpacks_itself: false,
    deny_ends_run: false,
    takes_answers_back: false,
    limits: &[("continue", "`pi -p` ends with the agent's first answer")],
};

fn arguments(launch: &Launch) -> Vec<String> {
    let start = ["-p", "--mode", "json", "--provider", "scripted", "--model", "mock-model"];
    let resume: &[&str] = if launch.continues { &["--continue"] } else { &[] };
    start.iter().chain(resume).chain([&launch.prompt]).map(|word| (*word).to_owned()).collect()
}

fn environment(_: &Launch) -> Vec<(&'static str, String)> {
    let switches = [("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1"), ("PI_TELEMETRY", "0")];
    switches.map(|(name, value)| (name, value.to_owned())).into()
}

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let model = json!({"id": "mock-model", "contextWindow": 200_000, "maxTokens": 8000});
    let provider = json!({
        "baseUrl": launch.url,
        "api": "openai-completions",
        "apiKey": super::KEY,
        "models": [model],
    });
    let models = json!({"providers": {"scripted": provider}});
    vec![(launch.home.join(".pi/agent/models.json"), models.to_string())]
}

fn shell(reply: Reply, command: &str) -> Reply {
    reply.call("bash", json!({"command": command}))
}

fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("write", json!({"path": file, "content": text}))
}
