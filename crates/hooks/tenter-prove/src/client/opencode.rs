//! OpenCode, and what Kilo shares with it.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Match, Reply};

use super::{Client, Compaction, Launch, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "opencode",
    format: Format::Chat,
    arguments: |launch| arguments(launch, &["run"]),
    environment: |launch| environment(launch, &SWITCHES),
    files: |launch| files(launch, "opencode"),
    setup: None,
    shell,
    write,
    failing_call: |reply, word| shell(reply, &format!("echo {word} >&2; exit 3")),
    subagent: SUBAGENT,
    compaction: COMPACTION,
    resumes: true,
    unpacks_itself: false,
    deny_ends_run: false,
    takes_answers_back: false,
    limits: &[("continue", "`opencode run` ends when the agent is idle for the first time")],
};

pub(super) const SWITCHES: [&str; 4] = [
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_SHARE",
];

pub(super) const SUBAGENT: Option<Subagent> = Some(Subagent {
    call: subagent,
    requests: || Match::default().first_user(Subagent::TASK),
    wait: None,
});

/// Of 200,000.
pub(super) const COMPACTION: Option<Compaction> = Some(Compaction {
    tokens: 196_000,
    requests: || Match::default().last_user("Here is the conversation so far"),
});

/// The plugins' packages, which it would fetch into each directory of settings unless these files say that they are there.
const PACKAGES: [&str; 2] = ["@opencode-ai/plugin", "@kilocode/plugin"];

pub(super) fn arguments(launch: &Launch, start: &[&str]) -> Vec<String> {
    let options = ["--format", "json", "--print-logs"].iter();
    let resume: &[&str] = if launch.continues { &["--continue"] } else { &[] };
    let words = start.iter().chain(options).chain(resume).chain([&launch.prompt]);
    words.map(|word| (*word).to_owned()).collect()
}

pub(super) fn environment(
    launch: &Launch,
    switches: &[&'static str],
) -> Vec<(&'static str, String)> {
    let directories = [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
    ];
    let directory = |path| launch.home.join(path).to_string_lossy().into_owned();
    let directories = directories.map(|(name, path)| (name, directory(path)));
    directories.into_iter().chain(switches.iter().map(|name| (*name, "1".to_owned()))).collect()
}

/// The settings of a program that is called `name`.
pub(super) fn files(launch: &Launch, name: &str) -> Vec<(PathBuf, String)> {
    let model = json!({
        "name": "mock-model",
        "tool_call": true,
        "limit": {"context": 200_000, "output": 8000},
    });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": launch.url, "apiKey": super::KEY},
        "models": {"mock-model": model},
    });
    let permission = match launch.denied_program() {
        None => json!({"*": "allow"}),
        Some(program) => {
            json!({"*": "allow", "bash": {"*": "allow", (format!("{program} *")): "deny"}})
        }
    };
    let settings = json!({
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
    let needed = PACKAGES.map(|name| (name.to_owned(), json!("*")));
    let needed = json!({"dependencies": serde_json::Map::from_iter(needed)});
    let installed = json!({"packages": {"": needed}});
    vec![
        (directory.join("package.json"), needed.to_string()),
        (directory.join("package-lock.json"), installed.to_string()),
        (directory.join("node_modules/.keep"), String::new()),
    ]
}

pub(super) fn shell(reply: Reply, command: &str) -> Reply {
    reply.call_any(&["bash", "shell"], json!({"command": command, "description": "Run a command"}))
}

pub(super) fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("write", json!({"filePath": file, "content": text}))
}

fn subagent(reply: Reply, task: &str) -> Reply {
    let input = json!({"description": "a small task", "prompt": task, "subagent_type": "general"});
    reply.call("task", input)
}
