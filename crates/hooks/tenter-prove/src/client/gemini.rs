//! Gemini CLI.

use std::path::PathBuf;

use serde_json::json;
use tenter_model_server::Format;

use super::{Client, KEY, Launch, OwnSandbox, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "gemini",
    format: Format::Gemini,
    arguments: "-p {prompt} --yolo --skip-trust -m gemini-2.5-flash -o json {resume}",
    resume: Some("--resume latest"),
    environment: |launch| {
        let url = ("GOOGLE_GEMINI_BASE_URL", launch.url.to_owned());
        vec![("GEMINI_API_KEY", KEY.to_owned()), url]
    },
    files,
    shell: |reply, command| {
        let input = json!({"command": command, "description": "Run a command"});
        reply.call("run_shell_command", input)
    },
    write: |reply, file, text| {
        reply.call("write_file", json!({"file_path": file, "content": text}))
    },
    subagent: Some(Subagent::new(|reply, task| {
        let input = json!({
            "agent_name": "generalist", "request": task, "prompt": task, "objective": task,
        });
        reply.call_any(&["generalist", "invoke_agent", "delegate_to_agent"], input)
    })),
    // No event of a compaction is used.
    compaction: None,
    mcp_tool: Some("mcp_scratch_touch"),
    off_switch: Some("`hooksConfig.enabled` false"),
    own_sandbox: Some(OwnSandbox {
        setting: "`security.toolSandboxing`",
        programs: &["bwrap"],
        without_programs: "it cannot run commands in its sandbox, for which bwrap must be installed",
    }),
    ..Client::BASE
};

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let mut settings = json!({
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "toolSandboxing": launch.is_sandboxed(),
        },
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "mcpServers": launch.mcp_servers(),
    });
    if launch.disables_hooks() {
        settings["hooksConfig"] = json!({"enabled": false});
    }
    let rule = |program| {
        let rule = format!(
            "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"{program}\"\ndecision = \"deny\"\npriority = 999\n"
        );
        (launch.home.join(".gemini/policies/rules.toml"), rule)
    };
    let settings = (launch.home.join(".gemini/settings.json"), settings.to_string());
    [settings].into_iter().chain(launch.denied_program().map(rule)).collect()
}
