//! Cline.

use serde_json::json;

use super::{Client, KEY, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "cline",
    arguments: "--json --auto-approve true {prompt}",
    switches: "CLINE_TELEMETRY_DISABLED CLINE_NO_AUTO_UPDATE DO_NOT_TRACK",
    // Stores the address and the key of the model.
    setup: Some(|launch| {
        let start = ["auth", "-p", "openai-compatible", "-k", KEY, "-m", "mock-model", "-b"];
        start.iter().chain([&launch.url]).map(|word| (*word).to_owned()).collect()
    }),
    files: |launch| {
        launch.mcp_file(".cline/data/settings/cline_mcp_settings.json").into_iter().collect()
    },
    shell: |reply, command| reply.call("run_commands", json!({"commands": [command]})),
    write: |reply, file, text| {
        reply.call("editor", json!({"command": "create", "path": file, "new_text": text}))
    },
    subagent: Some(Subagent::new(|reply, task| {
        let input = json!({"task": task, "systemPrompt": "You work.", "prompt": task});
        reply.call("spawn_agent", input)
    })),
    mcp_tool: Some("scratch__touch"),
    deny_ends_run: true,
    limits: &[
        ("fires.before_agent", NO_MESSAGES),
        ("context.before_agent", NO_MESSAGES),
        ("prompt", NO_MESSAGES),
        ("fires.session_end", "`SessionShutdown` fires only when a run is cancelled"),
    ],
    ..Client::BASE
};

const NO_MESSAGES: &str = "messages fire no event without a terminal";
