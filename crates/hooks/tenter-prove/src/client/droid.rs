//! Factory Droid.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Reply};

use super::{Client, Launch};

pub(super) const CLIENT: Client = Client {
    host: "droid",
    format: Format::Chat,
    arguments,
    environment,
    files,
    setup: None,
    shell,
    write,
    failing_call: |reply, word| shell(reply, &format!("echo {word} >&2; exit 3")),
    subagent: None,
    compaction: None,
    resumes: false,
    unpacks_itself: false,
    deny_ends_run: false,
    takes_answers_back: false,
    limits: &[
        ("fires.before_agent", NO_MESSAGES),
        ("context.before_agent", NO_MESSAGES),
        ("prompt", NO_MESSAGES),
        ("fires.subagent_start", NO_SUBAGENTS),
        ("fires.subagent_stop", NO_SUBAGENTS),
        ("deny.subagent", NO_SUBAGENTS),
    ],
};

const NO_MESSAGES: &str = "`UserPromptSubmit` does not fire in `droid exec`";
const NO_SUBAGENTS: &str = "subagents need Droid's daemon";

fn arguments(launch: &Launch) -> Vec<String> {
    let words = ["exec", "--skip-permissions-unsafe", "-m", "custom:mock-model", launch.prompt];
    words.map(str::to_owned).into()
}

fn environment(_: &Launch) -> Vec<(&'static str, String)> {
    let settings = [
        // It refuses another form.
        ("FACTORY_API_KEY", "fk-no-key-needed"),
        ("FACTORY_DISABLE_AUTO_UPDATE", "1"),
        ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false"),
    ];
    settings.map(|(name, value)| (name, value.to_owned())).into()
}

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let model = json!({
        "model": "mock-model",
        "displayName": "scripted",
        "apiKey": super::KEY,
        "baseUrl": launch.url,
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 8000,
    });
    let denied = launch.denied_program().map(str::to_owned);
    let settings = json!({
        "customModels": [model],
        "commandBlocklist": denied.into_iter().collect::<Vec<_>>(),
    });
    vec![(launch.home.join(".factory/settings.json"), settings.to_string())]
}

fn shell(reply: Reply, command: &str) -> Reply {
    let input = json!({
        "command": command, "summary": "Run a command", "timeout": 30,
        "riskLevel": "low", "riskLevelReason": "a test",
    });
    reply.call("Execute", input)
}

fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("Create", json!({"file_path": file, "content": text}))
}
