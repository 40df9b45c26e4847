//! Claude Code.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Match, Reply};

use super::{Client, Compaction, Launch, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "claude-code",
    format: Format::Anthropic,
    arguments,
    environment,
    files,
    setup: None,
    shell,
    write,
    failing_call: |reply, word| shell(reply, &format!("echo {word} >&2; exit 3")),
    subagent: Some(Subagent {
        call: subagent,
        requests: || Match::default().first_user(Subagent::TASK),
        wait: None,
    }),
    // Of a million.
    compaction: Some(Compaction {
        tokens: 985_000,
        requests: || Match::default().last_user("create a detailed summary"),
    }),
    resumes: true,
    unpacks_itself: false,
    deny_ends_run: false,
    takes_answers_back: false,
    limits: &[],
};

fn arguments(launch: &Launch) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "-p",
        launch.prompt,
        "--output-format",
        "stream-json",
        "--verbose",
        "--dangerously-skip-permissions",
        "--model",
        "claude-opus-5-5",
    ]
    .map(str::to_owned)
    .into();
    if launch.continues {
        arguments.push("--continue".to_owned());
    }
    arguments
}

fn environment(launch: &Launch) -> Vec<(&'static str, String)> {
    let switches = [
        // Otherwise it refuses to skip permissions as root.
        "IS_SANDBOX",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    ];
    let switches = switches.map(|name| (name, "1".to_owned()));
    let model = [
        ("ANTHROPIC_BASE_URL", launch.url.to_owned()),
        ("ANTHROPIC_API_KEY", super::KEY.to_owned()),
    ];
    switches.into_iter().chain(model).collect()
}

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let settings = |program| {
        let rules = json!({"permissions": {"deny": [format!("Bash({program}:*)")]}});
        (launch.home.join(".claude/settings.json"), rules.to_string())
    };
    launch.denied_program().map(settings).into_iter().collect()
}

fn shell(reply: Reply, command: &str) -> Reply {
    reply.call("Bash", json!({"command": command, "description": "Run a command"}))
}

fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("Write", json!({"file_path": file, "content": text}))
}

fn subagent(reply: Reply, task: &str) -> Reply {
    let input = json!({
        "description": "a small task",
        "prompt": task,
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    reply.call_any(&["Agent", "Task"], input)
}
