//! Kimi Code.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_model_server::{Format, Match, Reply};

use super::{Client, Compaction, Launch, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "kimi-code",
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
        // It does not wait for the hooks of the last call of a tool.
        wait: Some(|reply| shell(reply, "sleep 1")),
    }),
    // Of 200,000.
    compaction: Some(Compaction {
        tokens: 196_000,
        requests: || Match::default().last_user("handoff summary"),
    }),
    resumes: true,
    unpacks_itself: false,
    deny_ends_run: false,
    takes_answers_back: false,
    limits: &[("fires.session_end", "`SessionEnd` does not fire with `-p`")],
};

fn arguments(launch: &Launch) -> Vec<String> {
    let start = ["-p", launch.prompt, "--output-format", "stream-json"];
    let resume: &[&str] = if launch.continues { &["--continue"] } else { &[] };
    start.iter().chain(resume).map(|word| (*word).to_owned()).collect()
}

fn environment(_: &Launch) -> Vec<(&'static str, String)> {
    let switches =
        ["KIMI_DISABLE_TELEMETRY", "KIMI_CLI_NO_AUTO_UPDATE", "KIMI_CODE_NO_AUTO_UPDATE"];
    switches.map(|name| (name, "1".to_owned())).into()
}

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let config = format!(
        r#"default_model = "scripted"
default_permission_mode = "auto"
telemetry = false

[providers.scripted]
type = "openai"
base_url = "{url}"
api_key = "{key}"

[models.scripted]
provider = "scripted"
model = "mock-model"
max_context_size = 200000
capabilities = ["tool_use"]
"#,
        url = launch.url,
        key = super::KEY
    );
    vec![(launch.home.join(".kimi-code/config.toml"), config)]
}

fn shell(reply: Reply, command: &str) -> Reply {
    reply.call("Bash", json!({"command": command, "description": "Run a command"}))
}

fn write(reply: Reply, file: &Path, text: &str) -> Reply {
    reply.call("Write", json!({"path": file, "content": text}))
}

fn subagent(reply: Reply, task: &str) -> Reply {
    let input = json!({"description": "a small task", "prompt": task, "subagent_type": "coder"});
    reply.call_any(&["Agent", "Task"], input)
}
