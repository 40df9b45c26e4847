//! An event of every kind, with a secret in it.

use std::sync::Arc;

use tenter_protocol::event::{
    CompactTrigger, Compaction, ExitReason, SessionEnd, SessionStart, StopAttempt, StopReason,
    Subagent, Turn, Usage,
};
use tenter_protocol::{Body, Event, EventName, Object, Scope, ToolResult, tool_metadata};

use crate::scene::{scope, tool_call};

/// The output of the user's tool.
pub(super) const SECRET: &str = "SECRET";

/// Returns the event; a big one has a payload of a megabyte.
pub(super) fn event(name: EventName, is_big: bool) -> Event {
    // The only field of every payload whose length is not limited.
    let recipe = is_big.then(|| "r".repeat(1_000_000));
    Event { scope: Scope { recipe, ..scope("c") }, body: body(name) }
}

fn body(event: EventName) -> Body {
    let text = || SECRET.to_owned();
    let subagent = || Subagent { name: "a".into(), kind: "k".into(), task: text() };
    match event {
        EventName::SessionStart => {
            Body::SessionStart(SessionStart { model: Some("m".into()), args: Object::new() })
        }
        EventName::BeforeAgent => Body::BeforeAgent { message: text() },
        EventName::BeforeTool => Body::BeforeTool(tool_call("bash", SECRET)),
        EventName::AfterTool => {
            let metadata = tool_metadata::Bash { output: text(), ..Default::default() };
            let result = ToolResult::success("bash", &metadata, "T".to_owned());
            Body::AfterTool { call: tool_call("bash", "ls"), result }
        }
        EventName::AfterToolFailure => {
            let result = ToolResult::failure("bash", SECRET, "T".to_owned());
            Body::AfterTool { call: tool_call("bash", "ls"), result }
        }
        EventName::AfterTurn => Body::AfterTurn(turn(text())),
        EventName::BeforeStop => Body::BeforeStop(stop(text())),
        EventName::AfterAgent => Body::AfterAgent { response: text() },
        EventName::SubagentStart => Body::SubagentStart(subagent()),
        EventName::SubagentStop => Body::SubagentStop { subagent: subagent(), response: text() },
        EventName::PreCompact => Body::PreCompact(compaction(None)),
        EventName::PostCompact => Body::PostCompact(compaction(Some(1))),
        EventName::SessionEnd => Body::SessionEnd(SessionEnd {
            duration_seconds: Some(1),
            total_steps: Some(1),
            exit_reason: ExitReason::Done,
        }),
    }
}

fn turn(response: String) -> Turn {
    Turn {
        turn_number: Some(1),
        session_turn: Some(1),
        tools_used: false,
        usage: Some(Usage::default()),
        auto_compact: None,
        response,
        messages: Some(Arc::default()),
    }
}

fn stop(response: String) -> StopAttempt {
    StopAttempt {
        reason: StopReason::NoToolCalls,
        step_count: Some(1),
        usage: Some(Usage::default()),
        auto_compact: None,
        response,
        messages: Some(Arc::default()),
        continuation_count: 0,
    }
}

fn compaction(tokens_after: Option<u64>) -> Compaction {
    Compaction { trigger: CompactTrigger::Auto, tokens_before: Some(2), tokens_after }
}
