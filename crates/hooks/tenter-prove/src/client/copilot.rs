//! GitHub Copilot CLI.

use std::path::PathBuf;

use serde_json::json;
use tenter_model_server::Match;

use super::{Client, Compaction, KEY, Launch, MCP_SERVER, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "copilot",
    arguments: "-p {prompt} --allow-all-tools --allow-all-paths --output-format json {resume}",
    resume: Some("--continue"),
    more_arguments,
    files,
    environment: |launch| {
        let settings = [
            ("COPILOT_PROVIDER_BASE_URL", launch.url),
            ("COPILOT_PROVIDER_API_KEY", KEY),
            ("COPILOT_MODEL", "mock-model"),
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_AUTO_UPDATE", "false"),
        ];
        settings.map(|(name, value)| (name, value.to_owned())).into()
    },
    shell: |reply, command| {
        reply.call("bash", json!({"command": command, "description": "Run a command"}))
    },
    write: |reply, file, text| reply.call("create", json!({"path": file, "file_text": text})),
    subagent: Some(Subagent::new(|reply, task| {
        let input = json!({
            "description": "a small task",
            "prompt": task,
            "name": "small-task",
            "mode": "sync",
            "agent_type": "general-purpose",
        });
        reply.call("task", input)
    })),
    // Of 200,000.
    compaction: Some(Compaction {
        tokens: 196_000,
        requests: || Match::default().last_user("create a detailed summary"),
    }),
    mcp_tool: Some("scratch-touch"),
    off_switch: Some("`disableAllHooks`"),
    unpacks_itself: true,
    ..Client::BASE
};

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    // Old versions have no option by which a directory is trusted.
    let settings = json!({"trustedFolders": [launch.project]});
    let settings = (launch.home.join(".copilot/config.json"), settings.to_string());
    let places = [
        launch.home.join(".copilot/settings.json"),
        launch.project.join(".github/copilot/settings.json"),
    ];
    let off = places.map(|file| (file, json!({"disableAllHooks": true}).to_string()));
    [settings].into_iter().chain(off.into_iter().filter(|_| launch.disables_hooks())).collect()
}

fn more_arguments(launch: &Launch) -> Vec<String> {
    let option = launch.denied_program().map(|program| format!("--deny-tool=shell({program}:*)"));
    let server = launch.mcp_server.map(|program| {
        let server = json!({"type": "local", "command": program, "args": [], "tools": ["*"]});
        format!("--additional-mcp-config={}", json!({"mcpServers": {MCP_SERVER: server}}))
    });
    [option, server].into_iter().flatten().collect()
}
