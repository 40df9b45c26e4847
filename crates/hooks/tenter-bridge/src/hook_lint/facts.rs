//! Facts about each host besides the events for which the bridge registers: measured in the clients of the versions that
//! [`Host::measured_version`] names.

use crate::host::Host;

/// The facts about the hooks of a host.
pub(super) struct HookFacts {
    host: &'static str,
    /// Events for which the bridge does not register.
    pub(super) events: &'static [&'static str],
    /// Events without a tool at which a matcher counts.
    pub(super) matched_events: &'static [&'static str],
    /// Tools besides those that have a name of Tenter's.
    pub(super) tools: &'static [&'static str],
    /// The variables that it sets for hooks.
    pub(super) variables: &'static [&'static str],
    /// Beginnings of the names of further variables that it sets.
    prefixes: &'static [&'static str],
    /// The longest timeout that it accepts, in seconds.
    pub(super) longest_timeout: Option<f64>,
    /// True if exit code 2 blocks a call, and 1 does not.
    pub(super) blocks_with_2: bool,
    /// Answers before a tool that have no effect, without spaces.
    pub(super) answers: &'static [&'static str],
    /// An answer that blocks a call.
    pub(super) deny: &'static str,
}

/// Variables that published hooks use and that no host sets, or only other hosts, with the field of the payload that has the value.
const REPLACEMENTS: [(&str, &str); 16] = [
    ("STDIN_JSON", "."),
    ("CLAUDE_TOOL_FILE_PATH", ".tool_input.file_path"),
    ("CLAUDE_TOOL_INPUT_FILE_PATH", ".tool_input.file_path"),
    ("CLAUDE_FILE_PATH", ".tool_input.file_path"),
    ("CLAUDE_FILE_PATHS", ".tool_input.file_path"),
    ("CLAUDE_FILE", ".tool_input.file_path"),
    ("CLAUDE_TOOL_COMMAND", ".tool_input.command"),
    ("CLAUDE_TOOL_INPUT_COMMAND", ".tool_input.command"),
    ("CLAUDE_COMMAND", ".tool_input.command"),
    ("CLAUDE_BASH_COMMAND", ".tool_input.command"),
    ("CLAUDE_TOOL_INPUT", ".tool_input"),
    ("CLAUDE_TOOL_NAME", ".tool_name"),
    ("CLAUDE_TOOL", ".tool_name"),
    ("CLAUDE_TOOL_OUTPUT", ".tool_response"),
    ("CLAUDE_TOOL_RESPONSE", ".tool_response"),
    ("CLAUDE_SESSION_ID", ".session_id"),
];

/// Beginnings of variables that belong to hosts.
const HOST_PREFIXES: [&str; 8] =
    ["CLAUDE_", "CODEX_", "GEMINI_", "QWEN_", "CURSOR_", "COPILOT_", "FACTORY_", "DROID_"];

const CLAUDE_DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"…"}}"#;
const SHORT_DENY: &str = r#"{"decision":"deny","reason":"…"}"#;

/// Answers of other hosts, or invented ones.
const NOT_CLAUDE: &[&str] = &[
    r#"{"block":true"#,
    r#""block":true"#,
    r#""blocked":true"#,
    r#""permission":"deny""#,
    r#""action":"block""#,
    r#""action":"deny""#,
    r#""decision":"deny""#,
    r#""allow":false"#,
    r#""allowed":false"#,
];
const NOT_SHORT: &[&str] =
    &[r#"{"block":true"#, r#""block":true"#, r#""action":"block""#, r#""allow":false"#];

/// A host of which nothing more is known.
const UNKNOWN: HookFacts = HookFacts {
    host: "",
    events: &[],
    matched_events: &[],
    tools: &[],
    variables: &[],
    prefixes: &[],
    longest_timeout: None,
    blocks_with_2: false,
    answers: &[],
    deny: CLAUDE_DENY,
};

const TABLE: [HookFacts; 8] = [
    HookFacts {
        host: "claude-code",
        events: tenter_base::words!(
            "Notification UserPromptExpansion PreModelSwitch PostModelSwitch PermissionRequest
             PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted Elicitation
             ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded
             CwdChanged FileChanged DirectoryAdded MessageDisplay"
        ),
        matched_events: tenter_base::words!(
            "SessionStart SessionEnd PreCompact PostCompact SubagentStart SubagentStop StopFailure"
        ),
        tools: tenter_base::words!(
            "WebFetch WebSearch LS NotebookRead ExitPlanMode EnterPlanMode AskUserQuestion
             BashOutput KillShell KillBash TaskOutput TaskStop SlashCommand LSP ToolSearch
             PowerShell Monitor"
        ),
        variables: tenter_base::words!(
            "CLAUDE_PROJECT_DIR CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA CLAUDE_ENV_FILE
             CLAUDE_EFFORT CLAUDE_PID CLAUDE_CONFIG_DIR"
        ),
        prefixes: &["CLAUDE_CODE_", "CLAUDE_PLUGIN_OPTION_"],
        longest_timeout: Some(600.0),
        blocks_with_2: true,
        answers: NOT_CLAUDE,
        deny: CLAUDE_DENY,
    },
    HookFacts {
        host: "codex",
        events: &["PermissionRequest"],
        matched_events: tenter_base::words!(
            "SessionStart PreCompact PostCompact SubagentStart SubagentStop"
        ),
        tools: &["Bash", "apply_patch", "Edit", "Write", "spawn_agent"],
        variables: &[],
        prefixes: &["CODEX_"],
        blocks_with_2: true,
        answers: NOT_SHORT,
        ..UNKNOWN
    },
    HookFacts {
        host: "gemini",
        events: tenter_base::words!(
            "BeforeModel AfterModel BeforeToolSelection PreCompress Notification"
        ),
        matched_events: &["SessionStart", "SessionEnd", "PreCompress", "Notification"],
        variables: &["GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID", "GEMINI_CWD", "CLAUDE_PROJECT_DIR"],
        prefixes: &["GEMINI_CLI_"],
        blocks_with_2: true,
        answers: NOT_SHORT,
        deny: SHORT_DENY,
        ..UNKNOWN
    },
    HookFacts {
        host: "qwen",
        events: &["Notification", "PermissionRequest", "InstructionsLoaded", "MessageDisplay"],
        matched_events: tenter_base::words!(
            "SessionStart SessionEnd PreCompact PostCompact SubagentStart SubagentStop"
        ),
        tools: &[
            // Qwen Code's other names of its tools.
            "Agent",
            "AskUserQuestion",
            "Edit",
            "ExitPlanMode",
            "FindFiles",
            "Glob",
            "Grep",
            "ListFiles",
            "Lsp",
            "ReadFile",
            "ReadFolder",
            "SaveMemory",
            "SearchFiles",
            "Shell",
            "Skill",
            "Task",
            "TodoWrite",
            "WebFetch",
            "WebSearch",
            "WriteFile",
            "replace",
            "search_file_content",
            "task",
        ],
        variables: &["QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
        prefixes: &["QWEN_CODE_"],
        blocks_with_2: true,
        answers: NOT_SHORT,
        deny: SHORT_DENY,
        ..UNKNOWN
    },
    HookFacts {
        host: "droid",
        events: &["Notification", "SubagentStop"],
        matched_events: &["SessionStart", "SessionEnd", "PreCompact"],
        variables: tenter_base::words!(
            "FACTORY_PROJECT_DIR DROID_PROJECT_DIR CLAUDE_PROJECT_DIR DROID_PLUGIN_ROOT
             CLAUDE_PLUGIN_ROOT CLAUDE_ENV_FILE"
        ),
        prefixes: &["FACTORY_", "DROID_"],
        blocks_with_2: true,
        answers: NOT_SHORT,
        ..UNKNOWN
    },
    HookFacts {
        host: "kimi-code",
        events: &["SubagentStart", "SubagentStop", "TurnStarted", "Notification"],
        blocks_with_2: true,
        answers: &[r#"{"block":true"#, r#""block":true"#, r#""decision":"block""#],
        ..UNKNOWN
    },
    // From its documentation, as its events are.
    HookFacts {
        host: "cursor",
        events: tenter_base::words!(
            "subagentStart subagentStop beforeShellExecution afterShellExecution
             beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit afterAgentResponse
             afterAgentThought beforeTabFileRead afterTabFileEdit"
        ),
        variables: &["CLAUDE_PROJECT_DIR"],
        prefixes: &["CURSOR_"],
        ..UNKNOWN
    },
    HookFacts {
        host: "copilot",
        events: tenter_base::words!(
            "errorOccurred notification permissionRequest ErrorOccurred Notification
             PermissionRequest SessionStart UserPromptSubmit PreToolUse PostToolUse
             PostToolUseFailure Stop SubagentStart SubagentStop PreCompact SessionEnd"
        ),
        variables: &["COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "COPILOT_HOOK_DIR"],
        prefixes: &["COPILOT_CLI"],
        answers: &[r#"{"block":true"#, r#""block":true"#, r#""decision":"block""#],
        deny: r#"{"permissionDecision":"deny","permissionDecisionReason":"…"}"#,
        ..UNKNOWN
    },
];

impl HookFacts {
    /// Returns the facts about a host.
    pub(super) fn for_host(host: &Host) -> Self {
        TABLE.into_iter().find(|facts| facts.host == host.id).unwrap_or(UNKNOWN)
    }

    /// Returns whether a variable is one that the host sets, and Tenter does not.
    pub(super) fn alone_sets(&self, name: &str) -> bool {
        let is_for_all = name == "CLAUDE_PLUGIN_ROOT" || name.ends_with("_PROJECT_DIR");
        let is_of_a_host = HOST_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        is_of_a_host && !is_for_all && !self.lacks_variable(name)
    }

    /// Returns whether a variable looks like one of a host's and this host does not set it.
    pub(super) fn lacks_variable(&self, name: &str) -> bool {
        let is_of_a_host = HOST_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let is_set = self.variables.contains(&name)
            || self.prefixes.iter().any(|prefix| name.starts_with(prefix));
        let is_known = !self.host.is_empty();
        is_known && !is_set && (is_of_a_host || replacement(name).is_some())
    }
}

/// Returns the field of the payload that has the value that a variable was meant to have.
pub(super) fn replacement(name: &str) -> Option<&'static str> {
    REPLACEMENTS.iter().find(|(variable, _)| *variable == name).map(|(_, field)| *field)
}
