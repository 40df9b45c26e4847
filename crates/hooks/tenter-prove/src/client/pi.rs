//! Pi.

use std::path::PathBuf;

use serde_json::json;

use super::{Client, KEY, Launch, OtherPlugin, PROMPT, RESUME};

pub(super) const CLIENT: Client = Client {
    host: "pi",
    arguments: &[
        "-p",
        "--mode",
        "json",
        "--provider",
        "scripted",
        "--model",
        "mock-model",
        RESUME,
        PROMPT,
    ],
    resume: Some(&["--continue"]),
    switches: &["PI_OFFLINE", "PI_SKIP_VERSION_CHECK"],
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
    limits: &[("continue", "`pi -p` ends with the agent's first answer")],
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
    vec![(launch.home.join(".pi/agent/models.json"), models.to_string())]
}
