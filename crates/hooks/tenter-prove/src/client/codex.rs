//! Codex.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tenter_model_server::{Format, Match, ModelReply};

use super::{Client, Compaction, KEY, Launch, MCP_SERVER, OwnSandbox, Subagent};
use crate::scenario::Scenario;

pub(super) const CLIENT: Client = Client {
    host: "codex",
    format: Format::Responses,
    arguments: "exec --json --skip-git-repo-check {resume} {prompt}",
    resume: Some("resume --last"),
    environment: |launch| {
        let home = launch.home.join(".codex").to_string_lossy().into_owned();
        vec![("CODEX_HOME", home), ("MODEL_SERVER_KEY", KEY.to_owned())]
    },
    files,
    shell,
    write,
    failing_call: Some(failing_call),
    subagent: Some(Subagent {
        call: |reply, task| reply.call_any(&["spawn_agent"], json!({"message": task})),
        requests: || Match::default().last_user(Subagent::TASK),
        // The subagent works beside the main agent.
        wait: Some(|reply| shell(reply, "sleep 4")),
    }),
    compaction: Some(Compaction {
        tokens: 70_000,
        requests: || Match::default().last_user("CHECKPOINT COMPACTION"),
    }),
    mcp_tool: Some("mcp__scratch__touch"),
    off_switch: Some("`features.hooks = false`"),
    more_arguments: |launch| {
        let options = launch.disables_hooks().then_some(["-c", "features.hooks=false"]);
        options.into_iter().flatten().map(str::to_owned).collect()
    },
    own_sandbox: Some(OwnSandbox {
        setting: "`sandbox_mode = \"workspace-write\"`",
        programs: &[],
        without_programs: "",
    }),
    limits: &[
        (
            "context.after_tool_failure",
            "Codex shows hooks neither the exit code of a command nor a patch that fails",
        ),
        ("notice", "`codex exec` prints no messages of hooks"),
    ],
    ..Client::BASE
};

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    // A model that the client does not know is offered the tools for subagents and of MCP servers directly.
    let is_unknown = matches!(launch.scenario, Scenario::Subagent | Scenario::Mcp);
    let model = if is_unknown { "mock-model" } else { "gpt-5.5" };
    let window = if launch.scenario == Scenario::Compaction {
        "model_auto_compact_token_limit = 60000\n"
    } else {
        ""
    };
    // The scratch project may be in the directory for temporary files, which commands may write by default.
    let (sandbox_mode, sandbox) = if launch.is_sandboxed() {
        let sandbox =
            "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n";
        ("workspace-write", sandbox)
    } else {
        ("danger-full-access", "")
    };
    let project = Value::from(launch.project.to_string_lossy());
    let server = launch.mcp_server.map(|program| {
        let program = Value::from(program.to_string_lossy());
        format!("\n[mcp_servers.{MCP_SERVER}]\ncommand = {program}\n")
    });
    let config = format!(
        r#"model = "{model}"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "{sandbox_mode}"
check_for_update_on_startup = false
{window}
{sandbox}
[analytics]
enabled = false

[feedback]
enabled = false

[projects.{project}]
trust_level = "trusted"

[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "MODEL_SERVER_KEY"
{server}"#,
        url = launch.url,
        server = server.unwrap_or_default()
    );
    let off = if launch.disables_hooks() { "\n[features]\nhooks = false\n" } else { "" };
    let rule = |program| {
        let rule = format!("prefix_rule(pattern = [\"{program}\"], decision = \"forbidden\")\n");
        (launch.home.join(".codex/rules/default.rules"), rule)
    };
    let config = (launch.home.join(".codex/config.toml"), config + off);
    [config].into_iter().chain(launch.denied_program().map(rule)).collect()
}

fn shell(reply: ModelReply, command: &str) -> ModelReply {
    reply.call_any(&["exec_command", "shell_command", "shell"], json!({"cmd": command}))
}

fn write(reply: ModelReply, file: &Path, text: &str) -> ModelReply {
    let lines: Vec<String> = text.lines().map(|line| format!("+{line}\n")).collect();
    let lines = lines.concat();
    let file = file.display();
    patch(reply, &format!("*** Add File: {file}\n{lines}"))
}

/// Adds a patch that passes Codex's checks, and fails because a directory is a file. Results of commands have no exit code.
fn failing_call(reply: ModelReply, word: &str) -> ModelReply {
    patch(reply, &format!("*** Add File: README.md/{word}.txt\n+text\n"))
}

fn patch(reply: ModelReply, changes: &str) -> ModelReply {
    reply.call_any(&["apply_patch"], format!("*** Begin Patch\n{changes}*** End Patch\n"))
}
