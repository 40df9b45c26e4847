//! Qwen Code.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Match, Reply};

use super::{Client, Compaction, Launch, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "qwen",
    format: Format::Chat,
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
    // Of 200,000.
    compaction: Some(Compaction {
        tokens: 196_000,
        requests: || Match::default().last_user("<state_snapshot> XML"),
    }),
    resumes: true,
    unpacks_itself: false,
    deny_ends_run: false,
    takes_answers_back: false,
    limits: &[("fires.session_end", "`SessionEnd` does not fire without a terminal")],
};

fn arguments(launch: &Launch) -> Vec<String> {
    let start = ["-p", launch.prompt, "--yolo", "--auth-type", "openai", "-o", "json"];
    let resume: &[&str] = if launch.continues { &["--continue"] } else { &[] };
    start.iter().chain(resume).map(|word| (*word).to_owned()).collect()
}

fn environment(launch: &Launch) -> Vec<(&'static str, String)> {
    vec![
        ("OPENAI_API_KEY", super::KEY.to_owned()),
        ("OPENAI_MODEL", "mock-model".to_owned()),
        ("OPENAI_BASE_URL", launch.url.to_owned()),
    ]
}

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let denied = launch.denied_program().map(|program| format!("run_shell_command({program} *)"));
    let settings = json!({
        "permissions": {"deny": denied.into_iter().collect::<Vec<_>>()},
        "general": {"enableAutoUpdate": false},
        "telemetry": {"enabled": false},
        "privacy": {"usageStatisticsEnabled": false},
    });
    vec![(launch.home.join(".qwen/settings.json"), settings.to_string())]
}

fn shell(reply: Reply, command: &str) -> Reply {
    let input = json!({"command": command, "description": "Run a command", "is_background": false});
    reply.call("run_shell_command", input)
}

fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("write_file", json!({"file_path": file, "content": text}))
}

fn subagent(reply: Reply, task: &str) -> Reply {
    let input = json!({
        "description": "a small task", "prompt": task, "subagent_type": "general-purpose",
    });
    reply.call_any(&["agent", "task"], input)
}
