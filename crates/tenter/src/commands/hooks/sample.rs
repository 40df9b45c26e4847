//! Samples of what executables are told: for every event of theirs one that an agent might have caused.

use std::sync::Arc;

use serde_json::json;
use tenter_engine::clock::rfc3339;
use tenter_protocol::event::{Stop, StopReason, Turn, TurnUsage, Usage};
use tenter_protocol::tool_metadata::Bash;
use tenter_protocol::{
    Block, Body, Event, EventName, Message, Object, Role, Scope, ToolCall, ToolResult,
};

use crate::env;
use crate::hooks::Project;

/// The conversation of all samples.
pub(super) const CONVERSATION: &str = "00000000-0000-7000-8000-000000000000";

const QUESTION: &str = "Which files are there?";
const ANSWER: &str = "There are a README.md and a folder src.";

/// An event as it might happen in the project; none where executables cannot be told of it.
pub(super) fn event(name: EventName, project: &Project) -> Option<Event> {
    let time = rfc3339(env::now());
    let folder = project.root().to_string_lossy().into_owned();
    let body = body(name, &time, &folder)?;
    let scope = Scope {
        conversation_id: CONVERSATION.to_owned(),
        parent_conversation_id: None,
        cwd: project.root().to_owned(),
        recipe: None,
        time,
    };
    Some(Event { scope, body })
}

fn body(name: EventName, time: &str, folder: &str) -> Option<Body> {
    Some(match name {
        EventName::BeforeAgent => Body::BeforeAgent { message: QUESTION.to_owned() },
        EventName::BeforeTool => Body::BeforeTool(call("ls -la")),
        EventName::AfterTool => {
            Body::AfterTool { call: call("ls -la"), result: listed_files(time, folder) }
        }
        EventName::AfterToolFailure => {
            Body::AfterTool { call: call("ls missing"), result: failed(time, folder) }
        }
        EventName::AfterTurn => Body::AfterTurn(Turn {
            turn_number: 2,
            session_turn: 2,
            tools_used: false,
            usage: usage(),
            auto_compact: Some(0.8),
            response: ANSWER.to_owned(),
            messages: conversation(time, folder),
        }),
        EventName::BeforeStop => Body::BeforeStop(Stop {
            reason: StopReason::NoToolCalls,
            step_count: 2,
            usage: usage(),
            auto_compact: Some(0.8),
            response: ANSWER.to_owned(),
            messages: conversation(time, folder),
            continuation_count: 0,
        }),
        _ => return None,
    })
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
    let looking = Message {
        role: Role::Assistant,
        blocks: vec![Block::text("I will look."), Block::ToolUse(call("ls -la"))],
    };
    let seen = Message { role: Role::User, blocks: vec![result] };
    Arc::new(vec![Message::user(QUESTION), looking, seen, Message::assistant(ANSWER)])
}

fn usage() -> Usage {
    Usage {
        input_tokens: 1800,
        output_tokens: 90,
        current_context_window: 960,
        max_context_window: 200_000,
        turn: TurnUsage { input_tokens: 920, output_tokens: 40 },
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_protocol::lifecycle::TABLE;

    #[test]
    fn there_is_a_sample_for_exactly_the_events_of_executables_and_it_is_of_that_event() {
        for row in &TABLE {
            let name =
                body(row.event, "2024-01-15T10:30:00.000Z", "/project").map(|body| body.name());
            assert_eq!(name, (!row.executable.is_empty()).then_some(row.event), "{}", row.name);
        }
    }
}
