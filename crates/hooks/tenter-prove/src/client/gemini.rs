//! Gemini CLI.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Match, Reply};

use super::{Client, Launch, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "gemini",
    format: Format::Gemini,
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
    // No event of a compaction is used.
    compaction: None,
    resumes: true,
    unpacks_itself: false,
    deny_ends_run: false,
    takes_answers_back: false,
    limits: &[],
};

fn arguments(launch: &Launch) -> Vec<String> {
    let start = ["-p", launch.prompt, "--yolo", "--skip-trust", "-m", "gemini-2.5-flash"];
    let resume: &[&str] = if launch.continues { &["--resume", "latest"] } else { &[] };
    let words = start.iter().chain(&["-o", "json"]).chain(resume);
    words.map(|word| (*word).to_owned()).collect()
}

fn environment(launch: &Launch) -> Vec<(&'static str, String)> {
    vec![
        ("GEMINI_API_KEY", super::KEY.to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", launch.url.to_owned()),
    ]
}

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    });
    let rule = |program| {
        let rule = format!(
            "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"{program}\"\ndecision = \"deny\"\npriority = 999\n"
        );
        (launch.home.join(".gemini/policies/rules.toml"), rule)
    };
    let settings = (launch.home.join(".gemini/settings.json"), settings.to_string());
    [settings].into_iter().chain(launch.denied_program().map(rule)).collect()
}

fn shell(reply: Reply, command: &str) -> Reply {
    let input = json!({"command": command, "description": "Run a command"});
    reply.call("run_shell_command", input)
}

fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("write_file", json!({"file_path": file, "content": text}))
}

fn subagent(reply: Reply, task: &str) -> Reply {
    let input = json!({
        "agent_name": "generalist", "request": task, "prompt": task, "objective": task,
    });
    reply.call_any(&["generalist", "invoke_agent", "delegate_to_agent"], input)
}
