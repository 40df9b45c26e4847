//! Samples of what hooks are told: for every event one that an agent might have caused.

use std::sync::Arc;

use serde_json::json;
use tenter_base::rfc3339;
use tenter_protocol::event::{
    CompactTrigger, Compaction, ExitReason, SessionEnd, SessionStart, Stop, StopReason, Subagent,
    Turn, TurnUsage, Usage,
};
use tenter_protocol::tool_metadata::Bash;
use tenter_protocol::{
    Block, Body, Event, EventName, Message, Object, Role, Scope, ToolCall, ToolResult,
};

use crate::env;
use crate::project::Project;

/// The conversation of all samples.
pub(super) const CONVERSATION: &str = "00000000-0000-7000-8000-000000000000";

const QUESTION: &str = "Which files are there?";
const ANSWER: &str = "There are a README.md and a folder src.";

/// An event as it might happen in the project.
pub(super) fn event(name: EventName, project: &Project) -> Event {
    let time = rfc3339(env::now());
    let folder = project.root().to_string_lossy().into_owned();
    let body = body(name, &time, &folder);
    let scope = Scope {
        conversation_id: CONVERSATION.to_owned(),
        parent_conversation_id: None,
        cwd: project.root().to_owned(),
        recipe: None,
        recipe_full_name: None,
        time,
    };
    Event { scope, body }
}

fn body(name: EventName, time: &str, folder: &str) -> Body {
    match name {
        EventName::SessionStart => Body::SessionStart(session_start()),
        EventName::SessionEnd => Body::SessionEnd(SessionEnd {
            duration_seconds: 42,
            total_steps: 2,
            exit_reason: ExitReason::Done,
        }),
        EventName::BeforeAgent => Body::BeforeAgent { message: QUESTION.to_owned() },
        EventName::BeforeTool => Body::BeforeTool(call("ls -la")),
        EventName::AfterTool => {
            Body::AfterTool { call: call("ls -la"), result: listed_files(time, folder) }
        }
        EventName::AfterToolFailure => {
            Body::AfterTool { call: call("ls missing"), result: failed(time, folder) }
        }
        EventName::AfterTurn => Body::AfterTurn(turn(time, folder)),
        EventName::BeforeStop => Body::BeforeStop(stop(time, folder)),
        EventName::AfterAgent => Body::AfterAgent { response: ANSWER.to_owned() },
        EventName::SubagentStart => Body::SubagentStart(subagent()),
        EventName::SubagentStop => {
            Body::SubagentStop { subagent: subagent(), response: "It looks good.".to_owned() }
        }
        EventName::PreCompact => Body::PreCompact(compaction(None)),
        EventName::PostCompact => Body::PostCompact(compaction(Some(4_000))),
    }
}

fn session_start() -> SessionStart {
    let args = [("ui", "run"), ("agent", "tenter")];
    let args = args.map(|(name, value)| (name.to_owned(), json!(value)));
    SessionStart { model: "openai:gpt-5".to_owned(), args: Object::from_iter(args) }
}

fn turn(time: &str, folder: &str) -> Turn {
    Turn {
        turn_number: 2,
        session_turn: 2,
        tools_used: false,
        usage: usage(),
        auto_compact: Some(0.8),
        response: ANSWER.to_owned(),
        messages: conversation(time, folder),
    }
}

fn stop(time: &str, folder: &str) -> Stop {
    Stop {
        reason: StopReason::NoToolCalls,
        step_count: 2,
        usage: usage(),
        auto_compact: Some(0.8),
        response: ANSWER.to_owned(),
        messages: conversation(time, folder),
        continuation_count: 0,
    }
}

fn subagent() -> Subagent {
    Subagent {
        name: "code-reviewer".to_owned(),
        kind: "coder".to_owned(),
        task: "Review the authentication module".to_owned(),
    }
}

fn compaction(tokens_after: Option<u64>) -> Compaction {
    Compaction { trigger: CompactTrigger::Auto, tokens_before: 160_000, tokens_after }
}

fn call(command: &str) -> ToolCall {
    let input = Object::from_iter([("command".to_owned(), json!(command))]);
    ToolCall { id: "call_1".to_owned(), name: "bash".to_owned(), input }
}

fn listed_files(time: &str, folder: &str) -> ToolResult {
    let metadata = Bash {
        command: "ls -la".to_owned(),
        exit_code: 0,
        output: "total 8\n-rw-r--r-- 1 you you  120 Jan 15 10:29 README.md\ndrwxr-xr-x 2 you you 4096 Jan 15 10:29 src\n".to_owned(),
        execution_time: 4_000_000,
        working_dir: folder.to_owned(),
        dropped_bytes: 0,
    };
    ToolResult::success("bash", &metadata, time.to_owned())
}

fn failed(time: &str, folder: &str) -> ToolResult {
    let metadata = Bash {
        command: "ls missing".to_owned(),
        exit_code: 2,
        output: "ls: cannot access 'missing': No such file or directory\n".to_owned(),
        execution_time: 3_000_000,
        working_dir: folder.to_owned(),
        dropped_bytes: 0,
    };
    ToolResult::success("bash", &metadata, time.to_owned()).failed("exit code 2")
}

fn conversation(time: &str, folder: &str) -> Arc<Vec<Message>> {
    let result =
        Block::ToolResult { call_id: "call_1".to_owned(), result: listed_files(time, folder) };
    let blocks = vec![Block::text("I will look."), Block::ToolUse(call("ls -la"))];
    let looking = Message::new(Role::Assistant, blocks);
    let seen = Message::new(Role::User, vec![result]);
    Arc::new(vec![Message::user(QUESTION), looking, seen, Message::assistant(ANSWER)])
}

fn usage() -> Usage {
    Usage {
        input_tokens: 1800,
        output_tokens: 90,
        current_context_window: 960,
        max_context_window: 200_000,
        turn: TurnUsage { input_tokens: 920, output_tokens: 40, ..TurnUsage::default() },
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_protocol::lifecycle::TABLE;

    #[test]
    fn there_is_a_sample_of_every_event_and_it_is_of_that_event() {
        for row in &TABLE {
            let body = body(row.event, "2024-01-15T10:30:00.000Z", "/project");
            assert_eq!(body.name(), row.event, "{}", row.name);
        }
    }
}
