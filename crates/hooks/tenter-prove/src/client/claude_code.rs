//! Claude Code.

use std::path::PathBuf;

use serde_json::json;
use tenter_model_server::{Format, Match};

use super::{Client, Compaction, KEY, Launch, OwnSandbox, Subagent};

pub(super) const CLIENT: Client = Client {
    host: "claude-code",
    format: Format::Anthropic,
    arguments: "\
        -p {prompt} --output-format stream-json --verbose --dangerously-skip-permissions \
        --model claude-opus-5-5 {resume}",
    resume: Some("--continue"),
    // Otherwise it refuses to skip permissions as root.
    switches: "\
        IS_SANDBOX DISABLE_AUTOUPDATER DISABLE_TELEMETRY DISABLE_ERROR_REPORTING \
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    environment: |launch| {
        let model = launch.url.to_owned();
        let tools = ("ENABLE_TOOL_SEARCH", "false".to_owned());
        vec![("ANTHROPIC_BASE_URL", model), ("ANTHROPIC_API_KEY", KEY.to_owned()), tools]
    },
    files,
    shell: |reply, command| {
        reply.call("Bash", json!({"command": command, "description": "Run a command"}))
    },
    write: |reply, file, text| reply.call("Write", json!({"file_path": file, "content": text})),
    subagent: Some(Subagent::new(|reply, task| {
        let input = json!({
            "description": "a small task",
            "prompt": task,
            "subagent_type": "general-purpose",
            "run_in_background": false,
        });
        reply.call_any(&["Agent", "Task"], input)
    })),
    // Of a million.
    compaction: Some(Compaction {
        tokens: 985_000,
        requests: || Match::default().last_user("create a detailed summary"),
    }),
    mcp_tool: Some("mcp__scratch__touch"),
    skill: Some(|reply, name| reply.call("Skill", json!({"skill": name}))),
    own_sandbox: Some(OwnSandbox {
        setting: "`sandbox.enabled`",
        programs: &["bwrap", "socat"],
        without_programs: "it runs commands without its sandbox, for which bwrap and socat must be installed",
    }),
    off_switch: Some("`disableAllHooks`"),
    ..Client::BASE
};

fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let rules = launch
        .denied_program()
        .map(|program| json!({"permissions": {"deny": [format!("Bash({program}:*)")]}}));
    let sandbox = launch.is_sandboxed().then(|| json!({"sandbox": {"enabled": true}}));
    let off = || launch.disables_hooks().then(|| json!({"disableAllHooks": true}));
    let settings = rules
        .or(sandbox)
        .or_else(off)
        .map(|settings| (launch.home.join(".claude/settings.json"), settings.to_string()));
    let local = off()
        .map(|settings| (launch.project.join(".claude/settings.local.json"), settings.to_string()));
    let own = settings.into_iter().chain(local).chain(launch.mcp_file(".claude.json"));
    own.chain(launch.skills(".claude/skills")).collect()
}
