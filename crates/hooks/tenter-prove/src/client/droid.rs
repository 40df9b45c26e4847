//! Factory Droid.

use std::path::PathBuf;

use serde_json::json;

use super::{Client, KEY, Launch};

pub(super) const CLIENT: Client = Client {
    host: "droid",
    arguments: "exec --skip-permissions-unsafe -m custom:mock-model {prompt}",
    switches: "FACTORY_DISABLE_AUTO_UPDATE",
    environment: |_| {
        let settings = [
            // It refuses another form.
            ("FACTORY_API_KEY", "fk-no-key-needed"),
            ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false"),
        ];
        settings.map(|(name, value)| (name, value.to_owned())).into()
    },
    files,
    shell: |reply, command| {
        let input = json!({
            "command": command, "summary": "Run a command", "timeout": 30,
            "riskLevel": "low", "riskLevelReason": "a test",
        });
        reply.call("Execute", input)
    },
    write: |reply, file, text| reply.call("Create", json!({"file_path": file, "content": text})),
    mcp_tool: Some("scratch___touch"),
    limits: &[
        ("fires.before_agent", NO_MESSAGES),
        ("context.before_agent", NO_MESSAGES),
        ("prompt", NO_MESSAGES),
        ("fires.subagent_start", NO_SUBAGENTS),
        ("fires.subagent_stop", NO_SUBAGENTS),
        ("deny.subagent", NO_SUBAGENTS),
    ],
    ..Client::BASE
};

const NO_MESSAGES: &str = "`UserPromptSubmit` does not fire in `droid exec`";
const NO_SUBAGENTS: &str = "subagents need Droid's daemon";

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let model = json!({
        "model": "mock-model",
        "displayName": "scripted",
        "apiKey": KEY,
        "baseUrl": launch.url,
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 8000,
    });
    let program = launch.denied_program().map(str::to_owned);
    let settings = json!({
        "customModels": [model],
        "commandBlocklist": program.into_iter().collect::<Vec<_>>(),
    });
    let settings = (launch.home.join(".factory/settings.json"), settings.to_string());
    [settings].into_iter().chain(launch.mcp_file(".factory/mcp.json")).collect()
}
