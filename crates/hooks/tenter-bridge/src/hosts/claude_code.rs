//! Claude Code.

use serde_json::{Value, json};
use tenter_protocol::claude_code::results::HOST as NATIVE_RESULT;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, ToolResult, claude_code};

use super::{claude_form, emulation};
use crate::host::{
    ANYWHERE, EntryFormat, EventPowers, FailClosed, Host, HostVersion, Moment, NativeEvent, Reads,
    Registration, RegistrationFormat, SYSTEM, SettingsPaths, Silencer, SwitchValue, at, event,
    within,
};
use crate::occurrence::{ToolEnd, ToolOutcome};
use crate::reply::{HostReply, HostVerdict};
use crate::shell_prefix;
use crate::user_rules::RuleCheck;

/// Claude Code, measured with version 2.1.332.
pub(super) const HOST: Host = Host {
    id: "claude-code",
    name: "Claude Code",
    measured_version: Some("2.1.332"),
    events: EVENTS,
    tools: claude_code::TOOLS,
    registration: Registration {
        personal_file: Some(".claude/settings.local.json"),
        shared_file: Some(".claude/settings.json"),
        directory_variable: Some(("CLAUDE_CONFIG_DIR", ".claude")),
        exec_since: Some(HostVersion::new(2, 1, 330)),
        switch_since: HostVersion::new(2, 1, 330),
        oldest: HostVersion::new(1, 0, 85),
        silencers: &[Silencer::key("disableAllHooks")],
        plugins: Some(".claude/plugins"),
        sessions: Some(".claude/projects"),
        shell_prefix: Some(shell_prefix::VARIABLE),
        ..Registration::new(".claude/settings.json", &["claude"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Files that a message mentions as `@file` are read without a tool call.",
        "Files that a shell command writes do not count as calls of a file tool.",
        "Commands in the text of a skill or custom command (`` !`…` ``) before version 2.1.332, and where hooks are registered in a project's shared settings.",
    ],
    notes: &[
        "A command in the text of a skill cannot be asked about, changed or confined: it is denied instead. It has no event after it.",
        "Settings with comments or trailing commas are ignored as a whole, without a message.",
        "`disableAllHooks` in the settings of a project turns hooks off, also yours.",
        "The report of a command or subagent that ended in the background is a message for hooks: a user could type the same.",
        "A denied compaction ends a run with `-p` when the context is full.",
        "In Code Mode, the calls that a script of `REPL` makes are seen one by one; the script itself is not read.",
        "An event that a version does not know makes it ignore the whole file: only events that the installed version knows are registered, and in files that are shared or if the version is unknown, only the events of 1.0.85.",
    ],
    marks_subagents: true,
    // Measured: with `--dangerously-skip-permissions`, 2.1.84 runs a call that a hook asks about, and 2.1.85 does not.
    asks_unasked_since: HostVersion::new(2, 1, 85),
    user_rules: RuleCheck::CLAUDE_CODE,
    withheld: &["CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_ENV_FILE"],
    answer,
    rewrite_output: rewrite_result,
    takes_notice: claude_form::takes_notice,
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows. Agents, commands and skills may grant themselves tools, and have hooks and commands of their own.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".claude"],
        tenter_base::words!(
            "settings.json settings.local.json remote-settings.json policy-limits.json daemon.json
             daemon seed-admin hooks agents commands skills plugins cowork_plugins dev-mods
             workflows routines local session-env shell-snapshots scheduled_tasks.json"
        ),
    ),
    within(&[ANYWHERE], &[".claude.json", ".mcp.json"]),
    within(&[SYSTEM], &["etc/claude-code", "Library/Application Support/ClaudeCode"]),
];

const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    fail_closed: FailClosed::Switch("onFailure", SwitchValue::Text("block")),
    reads: Reads::PlainJson,
    ..EntryFormat::JSON_GROUPS
});

/// Versions that do not know an event ignore every setting in a file that names it, permissions included: measured up to 2.1.100.
/// 10 minutes is the longest timeout that the host accepts.
/// The event before a command in the text of a skill runs.
const SKILL_COMMAND: &str = "PreSkillShellCommand";

const EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart).since(1, 0, 62),
    event("UserPromptSubmit", Moment::Prompt).since(1, 0, 53),
    event("PreToolUse", Moment::BeforeTool),
    event(SKILL_COMMAND, Moment::BeforeTool).since(2, 1, 332),
    event("PostToolUse", Moment::AfterTool),
    event("PostToolUseFailure", Moment::AfterToolFailure).since(2, 0, 56),
    event("PostToolBatch", Moment::AfterBatch).since(2, 1, 118),
    event("Stop", Moment::Stop),
    event("StopFailure", Moment::StopFailure).since(2, 1, 78),
    event("SubagentStart", Moment::SubagentStart).since(2, 0, 44),
    event("SubagentStop", Moment::SubagentStop).since(1, 0, 41),
    event("PreCompact", Moment::PreCompact).since(1, 0, 48),
    event("PostCompact", Moment::PostCompact).since(2, 1, 76),
    event("SessionEnd", Moment::SessionEnd).since(1, 0, 85),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["SessionStart"])
        .native(&[Power::AddContext])
        .emulated(emulation::DENIED_SESSION),
    at(EventName::BeforeAgent, &["UserPromptSubmit"]).native(&[Power::Block, Power::AddContext]),
    at(EventName::BeforeTool, &["PreToolUse", SKILL_COMMAND]).native(&[
        Power::Block,
        Power::Ask,
        Power::RewriteInput,
        Power::AddContext,
    ]),
    at(EventName::AfterTool, &["PostToolUse"]).native(&[
        Power::RewriteOutput,
        Power::FeedBack,
        Power::AddContext,
    ]),
    at(EventName::AfterToolFailure, &["PostToolUseFailure"])
        .native(&[Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterTurn, &["PostToolBatch", "Stop"])
        .native(&[Power::FeedBack, Power::AddContext]),
    at(EventName::BeforeStop, &["Stop", "SubagentStop"])
        .native(&[Power::Continue])
        .emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::AfterAgent, &["Stop", "StopFailure"])
        .emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::SubagentStart, &["PreToolUse"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["SubagentStop"]).emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::PreCompact, &["PreCompact"]).native(&[Power::Block, Power::AddContext]),
    at(EventName::PostCompact, &["PostCompact"]),
    at(EventName::SessionEnd, &["SessionEnd"]),
];

/// Writes the native answer. A command in the text of a skill runs as it is or not at all.
fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    if event.name != SKILL_COMMAND {
        return claude_form::answer(event, reply);
    }
    let verdict = match (&reply.verdict, &reply.input) {
        (Some(HostVerdict::Allow) | None, Some(_)) => {
            let why = "a hook changes this command, and a skill cannot run it changed".to_owned();
            Some(HostVerdict::Deny(why))
        }
        (verdict, _) => verdict.clone(),
    };
    let notices = reply.notices.clone();
    claude_form::answer(event, &HostReply { verdict, notices, ..HostReply::default() })
}

/// Returns the native result for the model, after hooks changed Tenter's form of it to `result`. `None` if the tool failed, or if the
/// form of its results is unknown: the host ignores other forms without a message.
fn rewrite_result(end: &ToolEnd, result: &ToolResult) -> Option<Value> {
    if end.outcome != ToolOutcome::Success {
        return None;
    }
    let text = result.text();
    match &end.result {
        // The blocks of an MCP tool, for which any value may be given.
        Value::Array(_) if result.error.is_none() => {
            let blocks = result.metadata.as_ref().and_then(|metadata| metadata.get("result"));
            Some(blocks.cloned().unwrap_or(Value::String(text)))
        }
        Value::String(_) | Value::Array(_) => Some(Value::String(text)),
        Value::Object(object) if result.metadata_type.as_deref() == Some(NATIVE_RESULT) => {
            let metadata = result.metadata.clone().filter(|_| result.error.is_none())?;
            let is_same_shape = metadata.keys().all(|field| object.contains_key(field));
            is_same_shape.then_some(Value::Object(metadata))
        }
        Value::Object(object) if object.contains_key("stdout") => {
            let mut object = object.clone();
            object.insert("stdout".to_owned(), json!(text));
            object.insert("stderr".to_owned(), json!(""));
            // This field repeats parts of the output.
            object.shift_remove("bashEditDiff");
            Some(Value::Object(object))
        }
        Value::Object(object)
            if object.get("file").is_some_and(|file| file["content"].is_string()) =>
        {
            let mut object = object.clone();
            object["file"]["content"] = json!(read_text(result).unwrap_or(text));
            Some(Value::Object(object))
        }
        _ => None,
    }
}

/// Returns the lines of a file that was read, in the host's form: without numbers.
fn read_text(result: &ToolResult) -> Option<String> {
    let lines = result.metadata.as_ref()?.get("lines")?.as_array()?;
    let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
    result.error.is_none().then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_a_skill_that_a_hook_changes_is_denied() {
        let event = EVENTS.iter().find(|event| event.name == SKILL_COMMAND).unwrap();
        let reply = HostReply {
            input: Some([("command".to_owned(), json!("ls"))].into_iter().collect()),
            contexts: vec!["more".to_owned()],
            ..HostReply::default()
        };
        let text = answer(event, &reply).unwrap();
        let specific = &serde_json::from_str::<Value>(&text).unwrap()["hookSpecificOutput"];
        assert_eq!(specific["permissionDecision"], "deny");
        assert_eq!(specific["hookEventName"], SKILL_COMMAND);
        assert!(
            specific.get("updatedInput").is_none() && specific.get("additionalContext").is_none()
        );
        let context = HostReply { input: None, ..reply };
        assert_eq!(answer(event, &context), None);
    }
}
