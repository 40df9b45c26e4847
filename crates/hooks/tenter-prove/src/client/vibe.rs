//! Mistral Vibe.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Reply};

use super::{Client, Launch};

pub(super) const CLIENT: Client = Client {
    host: "vibe",
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
    takes_answers_back: true,
    limits: &[
        ("rewrite.user-rule", "with `--auto-approve`, Vibe does not read the rules of its tools"),
        ("context.before_stop", "no call follows it there, with whose result it would be given"),
    ],
};

fn arguments(launch: &Launch) -> Vec<String> {
    let start = ["-p", launch.prompt, "--auto-approve", "--trust", "--output", "json"];
    let resume: &[&str] = if launch.continues { &["--continue"] } else { &[] };
    start.iter().chain(resume).map(|word| (*word).to_owned()).collect()
}

fn environment(_: &Launch) -> Vec<(&'static str, String)> {
    vec![("MODEL_SERVER_KEY", super::KEY.to_owned())]
}

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let rules = launch
        .denied_program()
        .map(|program| format!("\n[tools.bash]\ndenylist = [\"{program}\"]\n"))
        .unwrap_or_default();
    let config = format!(
        r#"active_model = "scripted"
enable_telemetry = false
enable_update_checks = false

[[providers]]
name = "scripted"
api_base = "{url}"
api_key_env_var = "MODEL_SERVER_KEY"

[[models]]
name = "mock-model"
provider = "scripted"
alias = "scripted"
{rules}"#,
        url = launch.url
    );
    vec![(launch.home.join(".vibe/config.toml"), config)]
}

fn shell(reply: Reply, command: &str) -> Reply {
    reply.call("bash", json!({"command": command}))
}

fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("write_file", json!({"path": file, "content": text}))
}
