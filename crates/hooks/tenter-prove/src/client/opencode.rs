//! OpenCode, and what Kilo shares with it.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::Match;

use super::{Client, Compaction, KEY, Launch, MCP_SERVER, OtherPlugin, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "opencode",
    arguments: "run --format json --print-logs {resume} {prompt}",
    resume: Some("--continue"),
    switches: "\
        OPENCODE_DISABLE_AUTOUPDATE OPENCODE_DISABLE_MODELS_FETCH \
        OPENCODE_DISABLE_LSP_DOWNLOAD OPENCODE_DISABLE_SHARE",
    environment: directories,
    files: |launch| files(launch, "opencode"),
    shell: |reply, command| {
        let input = json!({"command": command, "description": "Run a command"});
        reply.call_any(&["bash", "shell"], input)
    },
    write: |reply, file, text| reply.call("write", json!({"filePath": file, "content": text})),
    subagent: Some(Subagent::new(|reply, task| {
        let input =
            json!({"description": "a small task", "prompt": task, "subagent_type": "general"});
        reply.call("task", input)
    })),
    // Of 200,000.
    compaction: Some(Compaction {
        tokens: 196_000,
        requests: || Match::default().last_user("Here is the conversation so far"),
    }),
    mcp_tool: Some("scratch_touch"),
    other_plugin: Some(OtherPlugin {
        extension: "js",
        code: r#"import { writeFileSync } from "node:fs"
export const Other = async () => ({ "tool.execute.before": async () => writeFileSync({flag}, "") })
"#,
    }),
    limits: &[("continue", "`opencode run` ends when the agent is idle for the first time")],
    ..Client::BASE
};

/// The plugins' packages, which it would fetch into each directory of settings unless these files say that they are there.
const PACKAGES: [&str; 2] = ["@opencode-ai/plugin", "@kilocode/plugin"];

/// Returns the variables with the directories of a program that follows the XDG specification.
pub(super) fn directories(launch: &Launch) -> Vec<(&'static str, String)> {
    let directories = [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
    ];
    let directory = |path| launch.home.join(path).to_string_lossy().into_owned();
    directories.map(|(name, path)| (name, directory(path))).into()
}

/// Returns the settings of a program that is called `name`.
pub(super) fn files(launch: &Launch, name: &str) -> Vec<(PathBuf, String)> {
    let model = json!({
        "name": "mock-model",
        "tool_call": true,
        "limit": {"context": 200_000, "output": 8000},
    });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": launch.url, "apiKey": KEY},
        "models": {"mock-model": model},
    });
    let permission = match launch.denied_program() {
        None => json!({"*": "allow"}),
        Some(program) => {
            json!({"*": "allow", "bash": {"*": "allow", (format!("{program} *")): "deny"}})
        }
    };
    let server = |program| json!({MCP_SERVER: {"type": "local", "command": [program]}});
    let settings = json!({
        "mcp": launch.mcp_server.map_or_else(|| json!({}), server),
        "model": "scripted/mock-model",
        "small_model": "scripted/mock-model",
        "autoupdate": false,
        "share": "disabled",
        "permission": permission,
        "provider": {"scripted": provider},
    });
    let directories =
        [launch.project.join(format!(".{name}")), launch.home.join(".config").join(name)];
    let settings = (launch.project.join(format!("{name}.json")), settings.to_string());
    directories.iter().flat_map(|one| packages(one)).chain([settings]).collect()
}

fn packages(directory: &Path) -> Vec<(PathBuf, String)> {
    let packages = PACKAGES.map(|name| (name.to_owned(), json!("*")));
    let manifest = json!({"dependencies": serde_json::Map::from_iter(packages)});
    let lock = json!({"packages": {"": manifest}});
    vec![
        (directory.join("package.json"), manifest.to_string()),
        (directory.join("package-lock.json"), lock.to_string()),
        (directory.join("node_modules/.keep"), String::new()),
    ]
}
