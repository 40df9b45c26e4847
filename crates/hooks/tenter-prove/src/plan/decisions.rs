//! Hooks ask about a call, guard a tool by its name, and say something to the user beside their answer.

use serde_json::json;
use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::{Plan, prompts, touch};
use crate::client::Client;
use crate::hook_file::HookFile;
use crate::sandbox::Sandbox;

/// The file of a call that a hook asks about, and the question.
pub(crate) const ASKED: &str = "asked.txt";
pub(crate) const ASK_HOOK: &str = "ask-user";
pub(crate) const QUESTION: &str = "QUESTION-OF-HOOK";
/// The file of a call of the file tool, all calls of which a hook denies, the hook, and its reason.
pub(crate) const WRITTEN: &str = "by-guarded-tool.txt";
pub(crate) const TOOL_HOOK: &str = "guard-tool";
pub(crate) const TOOL_REASON: &str = "REASON-BY-TOOL";
/// The file of a call of another tool, which that hook does not deny.
pub(crate) const PASSED: &str = "by-other-tool.txt";
/// The file of a call that a hook denies beside a notice, the hook, and its reason.
pub(crate) const DENIED: &str = "denied-with-notice.txt";
pub(crate) const DENY_HOOK: &str = "deny-with-notice";
pub(crate) const REASON: &str = "REASON-BESIDE-NOTICE";
/// The context that a hook adds beside a notice.
pub(crate) const CONTEXT: &str = "CONTEXT-BESIDE-NOTICE";
/// The notice.
pub(crate) const NOTICE: &str = "NOTICE-OF-HOOK";

pub(super) fn plan(client: &Client, sandbox: &Sandbox) -> Plan {
    let call = |file: &str| (client.shell)(ModelReply::new(), &touch(file));
    let replies = vec![
        call(ASKED),
        (client.write)(ModelReply::new(), &sandbox.project().join(WRITTEN), "text\n"),
        call(PASSED),
        call(DENIED),
        ModelReply::text("All finished."),
    ];
    Plan { prompts: prompts(client), ..Plan::new(hooks().into(), replies) }
}

fn hooks() -> [HookFile; 4] {
    let at_call = EventName::BeforeTool;
    let denial = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": REASON,
    });
    let context = json!({"hookEventName": "PostToolUse", "additionalContext": CONTEXT});
    let answer = |specific| json!({"systemMessage": NOTICE, "hookSpecificOutput": specific});
    [
        HookFile::ask(ASK_HOOK, at_call, QUESTION).only("Bash", ASKED),
        HookFile::deny(TOOL_HOOK, at_call, TOOL_REASON).every("(Write|Edit)"),
        HookFile::claude_code(DENY_HOOK, at_call, &answer(denial)).only("Bash", DENIED),
        // Where hooks cannot replace results, calls of one that fails closed are denied.
        HookFile::claude_code("context-with-notice", EventName::AfterTool, &answer(context))
            .only("Bash", PASSED)
            .failing_open(),
    ]
}
