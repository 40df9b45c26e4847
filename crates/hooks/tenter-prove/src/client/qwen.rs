//! Qwen Code.

use std::path::PathBuf;

use serde_json::json;
use tenter_model_server::Match;

use super::{Client, Compaction, KEY, Launch, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "qwen",
    arguments: "-p {prompt} --yolo --auth-type openai -o json {resume}",
    resume: Some("--continue"),
    environment: |launch| {
        vec![
            ("OPENAI_API_KEY", KEY.to_owned()),
            ("OPENAI_MODEL", "mock-model".to_owned()),
            ("OPENAI_BASE_URL", launch.url.to_owned()),
        ]
    },
    files,
    shell: |reply, command| {
        let input =
            json!({"command": command, "description": "Run a command", "is_background": false});
        reply.call("run_shell_command", input)
    },
    write: |reply, file, text| {
        reply.call("write_file", json!({"file_path": file, "content": text}))
    },
    subagent: Some(Subagent::new(|reply, task| {
        let input = json!({
            "description": "a small task", "prompt": task, "subagent_type": "general-purpose",
        });
        reply.call_any(&["agent", "task"], input)
    })),
    // Of 200,000.
    compaction: Some(Compaction {
        tokens: 196_000,
        requests: || Match::default().last_user("<state_snapshot> XML"),
    }),
    mcp_tool: Some("mcp__scratch__touch"),
    limits: &[
        ("fires.session_end", "`SessionEnd` does not fire without a terminal"),
        ("notice", "without a terminal, Qwen Code prints no messages of hooks"),
    ],
    ..Client::BASE
};

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let option = launch.denied_program().map(|program| format!("run_shell_command({program} *)"));
    let settings = json!({
        "permissions": {"deny": option.into_iter().collect::<Vec<_>>()},
        "general": {"enableAutoUpdate": false},
        "telemetry": {"enabled": false},
        "privacy": {"usageStatisticsEnabled": false},
        "mcpServers": launch.mcp_servers(),
    });
    vec![(launch.home.join(".qwen/settings.json"), settings.to_string())]
}
