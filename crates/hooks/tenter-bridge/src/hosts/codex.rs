//! Codex.
//!
//! Codex ignores a whole answer with a field that it does not know or does not accept at the event, and runs the call. So each event has
//! its own form here, with as few fields as it needs.

use std::time::Duration;

use serde_json::Value;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, ToolResult};

use super::claude_form::{self, AnswerFields};
use super::emulation;
use crate::host::{
    ANYWHERE, EntryFormat, EventPowers, Host, HostVersion, InputRewrite, Moment, NativeEvent,
    NativeTool, Reads, Registration, RegistrationFormat, SYSTEM, SettingsPaths, Silencer, at,
    event, tool, within,
};
use crate::occurrence::{Detail, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::{HostReply, HostVerdict};
use crate::tool_result::joined_text;
use crate::user_rules::RuleCheck;

/// Codex, measured with version 0.171.0.
pub(super) const HOST: Host = Host {
    id: "codex",
    name: "Codex",
    measured_version: Some("0.171.0"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        shared_file: Some(".codex/hooks.json"),
        directory_variable: Some(("CODEX_HOME", ".codex")),
        trust_file: Some(".codex/config.toml"),
        silencers: &[Silencer { file: Some("config.toml"), key: "features.hooks", value: false }],
        plugins: Some(".codex/plugins"),
        sessions: Some(".codex/sessions"),
        ..Registration::new(".codex/hooks.json", &["codex"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Web searches run at the provider, without a tool call.",
        "Input for a command that already runs (`write_stdin`) is no tool call. Guards ask about shells, interpreters and database clients that would wait for it, but not about editors, pagers and your own programs.",
        "Files that a shell command writes do not count as calls of a file tool.",
        "Calls of MCP tools that time out or are refused have no result.",
    ],
    notes: &[
        "The result of a command has no exit code: `success` is `null`. A patch that fails has no event. So `after_tool_failure` fires only for MCP tools and for denied calls.",
        "A hook that allows a call without changing it has no effect: Codex takes no bare allow.",
        "A message to the user is shown in the terminal interface; `codex exec` shows none, and not why a prompt was rejected.",
        "Codex runs no hook that its user has not trusted, and `codex exec` does not say so. A change of the entry ends the trust.",
        "Hooks of a project run only if its directory is trusted in Codex, too.",
        "`hooks.json` with comments, trailing commas or unknown keys is ignored as a whole.",
        "Calls that a script of the tool `exec` (code mode) makes are seen one by one; the script itself is not read.",
        "Where a hook makes the agent continue, the model also reads the path of `hooks.json`.",
    ],
    has_unseen_input: true,
    // Texts of about 2,500 tokens: 8,000 characters arrive whole, 12,000 do not.
    context_limit: 8000,
    marks_subagents: true,
    input_rewrite: InputRewrite::WithAllow { since: HostVersion::new(0, 131, 0) },
    user_rules: RuleCheck::CODEX,
    read,
    answer,
    rewrite_output: replaced_output,
    takes_context,
    takes_notice,
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".codex"],
        tenter_base::words!(
            "config.toml *.config.toml managed_config.toml requirements.toml environments.toml
             environments hooks.json hooks rules agents plugins packages"
        ),
    ),
    within(&[ANYWHERE], &[".agents/plugins"]),
    within(&[SYSTEM], &["etc/codex"]),
];

const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    reads: Reads::StrictJson(&["description", "hooks"]),
    ..EntryFormat::JSON_GROUPS
});

/// Codex waits 3 seconds at most at some events, and shows its user an error at each start if more is registered.
const SHORT: Duration = Duration::from_secs(3);

const EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart),
    event("UserPromptSubmit", Moment::Prompt),
    event("PreToolUse", Moment::BeforeTool),
    event("PostToolUse", Moment::AfterTool),
    event("Stop", Moment::Stop),
    event("Interrupt", Moment::StopFailure).timeout(SHORT),
    event("SubagentStart", Moment::SubagentStart),
    event("SubagentStop", Moment::SubagentStop),
    event("PreCompact", Moment::PreCompact),
    event("PostCompact", Moment::PostCompact),
    event("SessionEnd", Moment::SessionEnd).timeout(SHORT),
];

const TOOLS: &[NativeTool] = &[
    tool("Bash", "bash", &[]),
    tool("apply_patch", "file_edit", &[("command", "patch")]),
    tool("spawn_agent", "subagent", &[("message", "question"), ("agent_type", "subagent_type")]),
    tool("update_plan", "todo", &[]),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["SessionStart"]).native(&[Power::AddContext]).emulated(emulation::DENIED_SESSION),
    at(EventName::BeforeAgent, &["UserPromptSubmit"]).native(&[Power::Block, Power::AddContext]),
    at(EventName::BeforeTool, &["PreToolUse"]).native(&[Power::Block, Power::AddContext]).emulated(&[
            (Power::Ask, "denied, and the reason says that the user has to decide"),
            (
                Power::RewriteInput,
                "native where Codex asks nothing, since version 0.131.0; else denied, and the model is asked to make the rewritten call",
            ),
        ]),
    at(EventName::AfterTool, &["PostToolUse"]).native(&[Power::RewriteOutput, Power::AddContext]).emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterToolFailure, &["PostToolUse"]).native(&[Power::RewriteOutput, Power::AddContext]).emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterTurn, &["Stop"]).emulated(emulation::ALL_WITH_NEXT_PROMPT),
    at(EventName::BeforeStop, &["Stop", "SubagentStop"]).native(&[Power::Continue]).emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::AfterAgent, &["Stop", "Interrupt"]).emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::SubagentStart, &["PreToolUse"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["SubagentStop"]).emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::PreCompact, &["PreCompact"]).emulated(&[(Power::AddContext, "given to the model after the compaction")]),
    at(EventName::PostCompact, &["PostCompact"]),
    at(EventName::SessionEnd, &["SessionEnd"]),
];

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    let occurrence = claude_form::read(event, payload)?;
    let detail = match occurrence.detail {
        Detail::AfterTool { call, .. } => {
            let end = end(payload.get("tool_response").cloned().unwrap_or_default());
            Detail::AfterTool { call, end }
        }
        // Every prompt comes from the user, whatever its text.
        _ if event.moment == Moment::Prompt => {
            Detail::Prompt { text: payload.text("prompt").unwrap_or_default().to_owned(), id: None }
        }
        detail => detail,
    };
    Ok(Occurrence { detail, ..occurrence })
}

/// Returns the end of a tool. Most results are the text that the model reads; only results of patches begin with an exit code.
fn end(result: Value) -> ToolEnd {
    let text = result.as_str().map(str::to_owned);
    let exit_code = text.as_deref().and_then(exit_code);
    let outcome = match (exit_code, result.get("isError").and_then(Value::as_bool)) {
        (Some(0), _) | (_, Some(false)) => ToolOutcome::Success,
        (Some(_), _) => ToolOutcome::Failure(text.clone().unwrap_or_default()),
        (_, Some(true)) => {
            ToolOutcome::Failure(joined_text(&result["content"]).unwrap_or_default())
        }
        (None, None) => ToolOutcome::Unknown,
    };
    ToolEnd { output: text, exit_code, ..ToolEnd::new(outcome, result) }
}

/// Reads the exit code in a text whose first line is `Exit code: N`.
fn exit_code(text: &str) -> Option<i32> {
    text.lines().next()?.strip_prefix("Exit code: ")?.trim().parse().ok()
}

/// Returns the text that replaces a result: Codex shows the reason of a block instead of a result of any form.
#[expect(clippy::unnecessary_wraps, reason = "other hosts cannot replace every result")]
fn replaced_output(_end: &ToolEnd, result: &ToolResult) -> Option<Value> {
    Some(Value::String(result.text()))
}

fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let mut answer = AnswerFields::default();
    let block = match event.moment {
        Moment::BeforeTool => {
            permission(reply, &mut answer);
            None
        }
        Moment::Prompt => reply.denial(),
        Moment::AfterTool => reply.output.as_ref().and_then(Value::as_str),
        Moment::Stop | Moment::SubagentStop => reply.continue_with.as_deref(),
        _ => None,
    };
    // Codex ignores a block without a reason.
    answer.decide("block", block);
    if takes_context(event.moment) {
        answer.add_context(reply.context());
    }
    let notices = if takes_notice(event.moment) { &reply.notices[..] } else { &[] };
    answer.write(event, notices)
}

/// Writes a permission. A deny needs a reason; an allow counts only with an input, and an input only with an allow.
fn permission(reply: &HostReply, answer: &mut AnswerFields) {
    let decision = match (&reply.verdict, &reply.input) {
        (Some(HostVerdict::Deny(reason) | HostVerdict::Ask(reason)), _) => {
            answer.set_specific("permissionDecisionReason", reason.as_str());
            "deny"
        }
        (_, Some(input)) => {
            answer.set_specific("updatedInput", input.clone());
            "allow"
        }
        _ => return,
    };
    answer.set_specific("permissionDecision", decision);
}

fn takes_context(moment: Moment) -> bool {
    matches!(
        moment,
        Moment::SessionStart
            | Moment::Prompt
            | Moment::BeforeTool
            | Moment::AfterTool
            | Moment::SubagentStart
    )
}

/// Returns whether a notice is accepted: measured with `codex exec`, which does not show it. Its documentation says that the terminal
/// interface does.
fn takes_notice(moment: Moment) -> bool {
    matches!(
        moment,
        Moment::SessionStart
            | Moment::Prompt
            | Moment::BeforeTool
            | Moment::AfterTool
            | Moment::Stop
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use tenter_protocol::Object;

    use super::*;

    /// The fields of an answer at any event, by their paths.
    const KNOWN: [&str; 9] = *tenter_base::words!(
        "decision reason systemMessage hookSpecificOutput hookSpecificOutput.hookEventName
         hookSpecificOutput.permissionDecision hookSpecificOutput.permissionDecisionReason
         hookSpecificOutput.updatedInput hookSpecificOutput.additionalContext"
    );

    fn any_reply() -> impl Strategy<Value = HostReply> {
        let text = || "[a-z]{1,8}";
        let verdict = prop_oneof![
            text().prop_map(HostVerdict::Deny),
            text().prop_map(HostVerdict::Ask),
            Just(HostVerdict::Allow)
        ];
        let texts = || proptest::collection::vec(text(), 0..3);
        let optional = || proptest::option::of(text());
        (proptest::option::of(verdict), optional(), optional(), texts(), optional(), texts())
            .prop_map(|(verdict, input, output, contexts, continue_with, notices)| HostReply {
                verdict,
                input: input.map(|text| Object::from_iter([("command".to_owned(), json!(text))])),
                output: output.map(Value::String),
                contexts,
                continue_with,
                notices,
                ..HostReply::default()
            })
    }

    proptest! {
        #[test]
        fn every_answer_is_accepted_and_every_denial_is_honoured(reply in any_reply(), index in 0..EVENTS.len()) {
            let event = &EVENTS[index];
            let Some(answer) = answer(event, &reply) else {
                prop_assert!(reply.denial().is_none() || !matches!(event.moment, Moment::BeforeTool | Moment::Prompt));
                return Ok(());
            };
            let answer: Value = serde_json::from_str(&answer).unwrap();
            let specific = &answer["hookSpecificOutput"];
            let paths = answer.as_object().unwrap().keys().cloned();
            let below = specific.as_object().into_iter().flat_map(Object::keys).map(|key| format!("hookSpecificOutput.{key}"));
            for path in paths.chain(below) {
                prop_assert!(KNOWN.contains(&path.as_str()), "{}", path);
            }
            if !specific.is_null() {
                prop_assert_eq!(&specific["hookEventName"], event.name);
            }
            match specific["permissionDecision"].as_str() {
                Some("deny") => prop_assert!(specific["permissionDecisionReason"].is_string() && specific["updatedInput"].is_null()),
                Some(decision) => prop_assert!(decision == "allow" && specific["updatedInput"].is_object()),
                None => prop_assert!(specific["updatedInput"].is_null()),
            }
            prop_assert_eq!(answer["decision"].is_string(), answer["reason"].is_string());
            if let Some(reason) = reply.denial() {
                match event.moment {
                    Moment::BeforeTool => prop_assert_eq!(&specific["permissionDecisionReason"], reason),
                    Moment::Prompt => prop_assert_eq!(&answer["reason"], reason),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn only_some_results_say_whether_the_tool_succeeded() {
        assert_eq!(end(json!("oops\n")).outcome, ToolOutcome::Unknown);
        assert_eq!(
            end(json!("Exit code: 0\nWall time: 0 seconds\n")).outcome,
            ToolOutcome::Success
        );
        let failure = end(json!("Exit code: 1\nOutput:\nno such file"));
        assert!(
            matches!(failure.outcome, ToolOutcome::Failure(error) if error.ends_with("no such file"))
        );
        let mcp = |is_error: bool| {
            end(json!({"content": [{"type": "text", "text": "x"}], "isError": is_error}))
        };
        assert_eq!(mcp(false).outcome, ToolOutcome::Success);
        assert_eq!(mcp(true).outcome, ToolOutcome::Failure("x".to_owned()));
    }
}
