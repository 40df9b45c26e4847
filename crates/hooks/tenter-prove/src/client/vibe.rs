//! Mistral Vibe.

use std::path::PathBuf;

use serde_json::json;

use super::{Client, KEY, Launch};

pub(super) const CLIENT: Client = Client {
    host: "vibe",
    arguments: "-p {prompt} --auto-approve --trust --output json {resume}",
    resume: Some("--continue"),
    environment: |_| vec![("MODEL_SERVER_KEY", KEY.to_owned())],
    files,
    write: |reply, file, text| reply.call("write_file", json!({"path": file, "content": text})),
    takes_answers_back: true,
    limits: &[
        (
            "deny.mcp",
            "the model reaches tools of MCP servers only from scripts, by `run_typescript`",
        ),
        ("rewrite.user-rule", "with `--auto-approve`, Vibe does not read the rules of its tools"),
        ("context.before_stop", "no call follows it there, with whose result it would be given"),
    ],
    ..Client::BASE
};

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
