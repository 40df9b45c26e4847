//! Kimi Code.

use std::path::PathBuf;

use serde_json::json;
use tenter_model_server::{Match, ModelReply};

use super::{Client, Compaction, KEY, Launch, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "kimi-code",
    arguments: "-p {prompt} --output-format stream-json {resume}",
    resume: Some("--continue"),
    switches: "KIMI_DISABLE_TELEMETRY KIMI_CLI_NO_AUTO_UPDATE KIMI_CODE_NO_AUTO_UPDATE",
    files,
    shell,
    write: |reply, file, text| reply.call("Write", json!({"path": file, "content": text})),
    subagent: Some(Subagent {
        // It does not wait for the hooks of the last call of a tool.
        wait: Some(|reply| shell(reply, "sleep 1")),
        ..Subagent::new(|reply, task| {
            let input =
                json!({"description": "a small task", "prompt": task, "subagent_type": "coder"});
            reply.call_any(&["Agent", "Task"], input)
        })
    }),
    // Of 200,000.
    compaction: Some(Compaction {
        tokens: 196_000,
        requests: || Match::default().last_user("handoff summary"),
    }),
    mcp_tool: Some("mcp__scratch__touch"),
    limits: &[("fires.session_end", "`SessionEnd` does not fire with `-p`")],
    ..Client::BASE
};

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let config = format!(
        r#"default_model = "scripted"
default_permission_mode = "auto"
telemetry = false

[providers.scripted]
type = "openai"
base_url = "{url}"
api_key = "{KEY}"

[models.scripted]
provider = "scripted"
model = "mock-model"
max_context_size = 200000
capabilities = ["tool_use"]
"#,
        url = launch.url,
    );
    let config = (launch.home.join(".kimi-code/config.toml"), config);
    [config].into_iter().chain(launch.mcp_file(".kimi-code/mcp.json")).collect()
}

fn shell(reply: ModelReply, command: &str) -> ModelReply {
    reply.call("Bash", json!({"command": command, "description": "Run a command"}))
}
