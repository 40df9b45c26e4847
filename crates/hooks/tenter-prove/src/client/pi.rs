//! Pi.

use std::path::PathBuf;

use serde_json::{Value, json};
use tenter_model_server::Match;

use super::{Client, Compaction, KEY, Launch, MCP_SERVER, OtherPlugin};

pub(super) const CLIENT: Client = Client {
    host: "pi",
    arguments: "-p --mode json --provider scripted --model mock-model {resume} {prompt}",
    resume: Some("--continue"),
    switches: "PI_OFFLINE PI_SKIP_VERSION_CHECK",
    environment: |_| vec![("PI_TELEMETRY", "0".to_owned())],
    files,
    other_plugin: Some(OtherPlugin {
        extension: "ts",
        code: r#"import { writeFileSync } from "node:fs"
export default function (pi) {
  pi.on("tool_call", async () => { writeFileSync({flag}, "") })
}
"#,
    }),
    // Of 200,000.
    compaction: Some(Compaction {
        tokens: 196_000,
        requests: || Match::default().last_user("context checkpoint summary"),
    }),
    mcp_tool: Some("mcp__scratch__touch"),
    ..Client::BASE
};

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let model = json!({"id": "mock-model", "contextWindow": 200_000, "maxTokens": 8000});
    let provider = json!({
        "baseUrl": launch.url,
        "api": "openai-completions",
        "apiKey": KEY,
        "models": [model],
    });
    let models = json!({"providers": {"scripted": provider}});
    let file = |name: &str, content: Value| {
        (launch.home.join(".pi/agent").join(name), content.to_string())
    };
    // Otherwise it keeps the last 20,000 tokens, which is all of a short session.
    let settings = json!({"compaction": {"keepRecentTokens": 500}});
    let server = |program| json!({"command": program, "args": [], "exposure": "direct"});
    let servers =
        launch.mcp_server.map(|program| json!({"mcpServers": {MCP_SERVER: server(program)}}));
    let servers = servers.map(|servers| file("mcp.json", servers));
    [file("models.json", models), file("settings.json", settings)]
        .into_iter()
        .chain(servers)
        .collect()
}
