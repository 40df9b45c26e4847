//! GitHub Copilot CLI.

use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::native_tool::NativeTool;

use super::{claude_form, copilot_form, emulation};
use crate::host::{
    EntryFormat, EventPowers, FailClosed, Host, HostVersion, Moment, NativeEvent, Registration,
    RegistrationFormat, SYSTEM, SettingsPaths, Silencer, at, event, tool, within,
};
use crate::user_rules::RuleCheck;

pub(super) use super::copilot_form::wrote_for_claude;

/// Copilot CLI, measured with version 1.0.102.
pub(super) const HOST: Host = Host {
    id: "copilot",
    name: "Copilot CLI",
    measured_version: Some("1.0.102"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        shared_file: Some(".github/hooks/tenter.json"),
        directory_variable: Some(("COPILOT_HOME", ".copilot")),
        exec_since: Some(HostVersion::new(1, 0, 102)),
        silencers: &[Silencer::key("disableAllHooks")],
        also_reads: &["claude-code"],
        sessions: Some(".copilot/session-state"),
        ..Registration::new(".copilot/hooks/tenter.json", &["copilot"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Commands that the user runs with `!` and files that a message mentions as `@file` are no tool calls.",
        "Files that a shell command writes do not count as calls of a file tool.",
    ],
    notes: &[
        "The report of a command that ended in the background is a message for hooks: a user could type the same.",
        "Hooks of a project run only in a directory that you trust in Copilot, and with `-p` only if you pass its option that trusts the directory.",
        "Copilot denies a tool call if the hook's program fails or is killed, and lets it run if it takes longer than 10 minutes.",
        "Copilot also runs the hooks in a project's `.claude/settings.json`; if Tenter is registered there, too, it answers in Copilot's form.",
        "A message that you send while the agent works cannot be rewritten: Copilot fires no event for it.",
        "Copilot does not show notices of hooks; they are in the journal.",
        "The result of a failed tool cannot be replaced, except a command's.",
        "MCP tools are called SERVER-TOOL; the last hyphen is taken for the one between the two.",
        "The id of a call is made up from the call, so equal calls have equal ids.",
    ],
    marks_subagents: true,
    user_rules: RuleCheck::COPILOT,
    withheld: &["COPILOT_GITHUB_TOKEN"],
    read: copilot_form::read,
    answer: copilot_form::answer,
    rewrite_output: copilot_form::rewrite_output,
    mcp_name: copilot_form::mcp_name,
    takes_context: copilot_form::takes_context,
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows, also in VS Code.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".github"],
        tenter_base::words!(
            "hooks copilot/settings.json copilot/settings.local.json mcp.json lsp.json agents
             skills extensions plugin workflows/copilot-setup-steps.yml"
        ),
    ),
    within(
        &[".copilot"],
        tenter_base::words!(
            "config.json settings.json mcp-config.json lsp-config.json permissions-config.json
             hooks agents skills extensions plugins installed-plugins pkg"
        ),
    ),
    within(
        &[".vscode", "~/.config/Code/User", "~/Library/Application Support/Code/User"],
        &["settings.json", "mcp.json"],
    ),
    within(&["~"], &[".config/github-copilot", ".cache/copilot", "Library/Caches/copilot"]),
    within(&[SYSTEM], &["etc/github-copilot"]),
];

/// Copilot CLI when it runs the hooks in Claude Code's settings: with Claude Code's events, but its own fields, inputs and answers.
pub(super) const IN_CLAUDE_SETTINGS: Host = Host { events: CLAUDE_EVENTS, ..HOST };

/// Copilot denies if the program fails, and starts it without a shell.
const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    root: &[("version", 1)],
    fields: &[("type", "command")],
    exec: "exec",
    timeout: "timeoutSec",
    fail_closed: FailClosed::ExitCodeOrAnswer(
        r#"{"decision":"block","reason":"tenter-hook failed"}"#,
    ),
    blocks_if_missing: &[Moment::BeforeTool],
    ..EntryFormat::JSON_HANDLERS
});

const EVENTS: &[NativeEvent] = &[
    event("sessionStart", Moment::SessionStart),
    event("userPromptSubmitted", Moment::Prompt),
    event("userPromptTransformed", Moment::PromptSent),
    event("preToolUse", Moment::BeforeTool),
    event("postToolUse", Moment::AfterTool),
    event("postToolUseFailure", Moment::AfterToolFailure),
    event("agentStop", Moment::Stop),
    event("subagentStart", Moment::SubagentStart),
    event("subagentStop", Moment::SubagentStop),
    event("preCompact", Moment::PreCompact),
    event("sessionEnd", Moment::SessionEnd),
];

const CLAUDE_EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart),
    event("UserPromptSubmit", Moment::Prompt),
    event("PreToolUse", Moment::BeforeTool),
    event("PostToolUse", Moment::AfterTool),
    event("PostToolUseFailure", Moment::AfterToolFailure),
    event("Stop", Moment::Stop),
    event("SubagentStart", Moment::SubagentStart),
    event("SubagentStop", Moment::SubagentStop),
    event("PreCompact", Moment::PreCompact),
    event("SessionEnd", Moment::SessionEnd),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["sessionStart"])
        .native(&[Power::AddContext])
        .emulated(emulation::DENIED_SESSION),
    at(EventName::BeforeAgent, &["userPromptSubmitted", "userPromptTransformed"]).native(&[
        Power::Block,
        Power::RewriteMessage,
        Power::AddContext,
    ]),
    at(EventName::BeforeTool, &["preToolUse"]).native(&[
        Power::Block,
        Power::Ask,
        Power::RewriteInput,
        Power::AddContext,
    ]),
    at(EventName::AfterTool, &["postToolUse"])
        .native(&[Power::RewriteOutput, Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterToolFailure, &["postToolUse", "postToolUseFailure"])
        .native(&[Power::RewriteOutput, Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterTurn, &["agentStop"]).emulated(emulation::ALL_WITH_NEXT_PROMPT),
    at(EventName::BeforeStop, &["agentStop", "subagentStop"])
        .native(&[Power::Continue])
        .emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::AfterAgent, &["agentStop"]).emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::SubagentStart, &["preToolUse"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["subagentStop"])
        .emulated(&[(Power::FeedBack, emulation::WITH_NEXT_CALL)]),
    at(EventName::PreCompact, &["preCompact"])
        .emulated(&[(Power::AddContext, emulation::WITH_NEXT_CALL)]),
    at(EventName::SessionEnd, &["sessionEnd"]),
];

/// The tools of all models that it offers, and their names in Claude Code's settings.
const TOOLS: &[NativeTool] = &[
    tool("bash", "bash", &[]),
    tool("powershell", "bash", &[]),
    tool("Bash", "bash", &[]),
    tool("view", "file_read", PATH),
    tool("Read", "file_read", PATH),
    tool("create", "file_write", CREATE),
    tool("Write", "file_write", CREATE),
    tool("edit", "file_edit", EDIT),
    tool("Edit", "file_edit", EDIT),
    tool("apply_patch", "file_edit", &[(copilot_form::FREEFORM, "patch")]),
    editor("view", "file_read", PATH),
    editor("create", "file_write", CREATE),
    editor("str_replace", "file_edit", EDIT),
    editor("insert", "file_edit", EDIT),
    tool("grep", "grep", GREP),
    tool("rg", "grep", GREP),
    tool("Grep", "grep", GREP),
    tool("glob", "glob", GLOB),
    tool("Glob", "glob", GLOB),
    tool("task", "subagent", TASK),
    tool("Agent", "subagent", TASK),
    tool("update_todo", "todo", &[]),
    tool("TodoWrite", "todo", &[]),
    tool("skill", "skill", SKILL),
    tool("Skill", "skill", SKILL),
];

const PATH: &[(&str, &str)] = &[("path", "file_path")];
const CREATE: &[(&str, &str)] = &[("path", "file_path"), ("file_text", "text")];
const EDIT: &[(&str, &str)] =
    &[("path", "file_path"), ("old_str", "old_text"), ("new_str", "new_text")];
const GREP: &[(&str, &str)] = &[("glob", "include"), ("paths", "path")];
const GLOB: &[(&str, &str)] = &[("paths", "path")];
const TASK: &[(&str, &str)] = &[("prompt", "question"), ("agent_type", "subagent_type")];
const SKILL: &[(&str, &str)] = &[("skill", "name")];

/// Creates a row for the tool of older versions whose field `command` selects the action.
const fn editor(
    command: &'static str,
    canonical: &'static str,
    fields: &'static [(&'static str, &'static str)],
) -> NativeTool {
    tool("str_replace_editor", canonical, fields).when("command", command)
}
