//! Sample events: for each event one that an agent might fire. `tenter hooks test --sample`, `docs/events.md` and tests use them.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use crate::event::{
    AgentFacts, CompactTrigger, Compaction, ExitReason, HostFacts, SessionEnd, SessionStart,
    StopAttempt, StopReason, Subagent, Turn, TurnUsage, Usage,
};
use crate::facts::{
    self, CallFacts, Code, Command, Facts, Flow, FlowRole, FlowSource, Language, PathOp, PathPlace,
    Redirect, Stdin, Uncertain,
};
use crate::tool_metadata::Bash;
use crate::{Block, Body, Event, EventName, Message, Object, Role, Scope, ToolCall, ToolResult};

/// The conversation id of all samples.
pub const CONVERSATION: &str = "00000000-0000-7000-8000-000000000000";

const QUESTION: &str = "Which files are there?";
const ANSWER: &str = "There are a README.md and a directory src.";

/// Returns a sample of the event, fired at `time` (RFC 3339 in UTC) by an agent that works in `cwd`.
pub fn event(name: EventName, time: &str, cwd: &Path) -> Event {
    let body = body(name, time, &cwd.to_string_lossy());
    let scope = Scope {
        conversation_id: CONVERSATION.to_owned(),
        cwd: cwd.to_owned(),
        time: time.to_owned(),
        ..Scope::default()
    };
    Event { scope, body }
}

fn body(name: EventName, time: &str, cwd: &str) -> Body {
    match name {
        EventName::SessionStart => Body::SessionStart(session_start()),
        EventName::SessionEnd => Body::SessionEnd(SessionEnd {
            duration_seconds: Some(42),
            total_steps: Some(2),
            exit_reason: ExitReason::Done,
        }),
        EventName::BeforeAgent => Body::BeforeAgent { message: QUESTION.to_owned() },
        EventName::BeforeTool => Body::BeforeTool(call("ls -la")),
        EventName::AfterTool => {
            Body::AfterTool { call: call("ls -la"), result: listed_files(time, cwd) }
        }
        EventName::AfterToolFailure => {
            Body::AfterTool { call: call("ls missing"), result: failed(time, cwd) }
        }
        EventName::AfterTurn => Body::AfterTurn(turn(time, cwd)),
        EventName::BeforeStop => Body::BeforeStop(stop(time, cwd)),
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
    SessionStart { model: Some("openai:gpt-5".to_owned()), args: Object::from_iter(args) }
}

fn turn(time: &str, cwd: &str) -> Turn {
    Turn {
        turn_number: Some(2),
        session_turn: Some(2),
        tools_used: false,
        usage: Some(usage()),
        auto_compact: Some(0.8),
        response: ANSWER.to_owned(),
        messages: Some(conversation(time, cwd)),
    }
}

fn stop(time: &str, cwd: &str) -> StopAttempt {
    StopAttempt {
        reason: StopReason::NoToolCalls,
        step_count: Some(2),
        usage: Some(usage()),
        auto_compact: Some(0.8),
        response: ANSWER.to_owned(),
        messages: Some(conversation(time, cwd)),
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
    Compaction { trigger: CompactTrigger::Auto, tokens_before: Some(160_000), tokens_after }
}

fn call(command: &str) -> ToolCall {
    let input = Object::from_iter([("command".to_owned(), json!(command))]);
    ToolCall { id: "call_1".to_owned(), name: "bash".to_owned(), input }
}

fn listed_files(time: &str, cwd: &str) -> ToolResult {
    let metadata = Bash {
        command: "ls -la".to_owned(),
        exit_code: Some(0),
        output: "total 8\n-rw-r--r-- 1 you you  120 Jan 15 10:29 README.md\ndrwxr-xr-x 2 you you 4096 Jan 15 10:29 src\n".to_owned(),
        execution_time: Some(4_000_000),
        working_dir: cwd.to_owned(),
        dropped_bytes: 0,
        ..Bash::default()
    };
    ToolResult::success("bash", &metadata, time.to_owned())
}

fn failed(time: &str, cwd: &str) -> ToolResult {
    let metadata = Bash {
        command: "ls missing".to_owned(),
        exit_code: Some(2),
        output: "ls: cannot access 'missing': No such file or directory\n".to_owned(),
        execution_time: Some(3_000_000),
        working_dir: cwd.to_owned(),
        dropped_bytes: 0,
        ..Bash::default()
    };
    ToolResult::success("bash", &metadata, time.to_owned()).failed("exit code 2")
}

fn conversation(time: &str, cwd: &str) -> Arc<Vec<Message>> {
    let result =
        Block::ToolResult { call_id: "call_1".to_owned(), result: listed_files(time, cwd) };
    let blocks = vec![Block::text("I will look."), Block::ToolUse(call("ls -la"))];
    let looking = Message::new(Role::Assistant, blocks);
    let listing = Message::new(Role::User, vec![result]);
    Arc::new(vec![Message::user(QUESTION), looking, listing, Message::assistant(ANSWER)])
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

/// Returns a sample with every field that a payload may omit, and facts about a tool call. Objects whose fields depend on the
/// tool or the agent are empty.
pub fn full_event(name: EventName, time: &str, cwd: &Path) -> (Event, Facts) {
    let mut event = event(name, time, cwd);
    event.scope.parent_conversation_id = Some("parent".to_owned());
    event.scope.recipe = Some("review".to_owned());
    event.scope.recipe_full_name = Some("ada/tools/review".to_owned());
    let host = HostFacts {
        name: "codex".to_owned(),
        version: Some("1.0.0".to_owned()),
        event: Some("PreToolUse".to_owned()),
        tool_name: Some("Bash".to_owned()),
        tool_input: Some(Object::new()),
        unknown: vec!["model".to_owned()],
        ..HostFacts::default()
    };
    event.scope.host = Some(host.into());
    let agent = AgentFacts { id: "a1".to_owned(), kind: "Explore".to_owned(), depth: Some(1) };
    event.scope.agent = Some(agent);
    let turn = TurnUsage { cached_input_tokens: 1, cache_write_tokens: 1, ..TurnUsage::default() };
    let usage = Usage { estimated: true, cost_usd: Some(0.5), turn, ..Usage::default() };
    match &mut event.body {
        Body::SessionStart(start) => start.args.clear(),
        Body::BeforeTool(call) => call.input.clear(),
        Body::AfterTool { call, result } => {
            call.input.clear();
            result.metadata = Some(Object::new());
            result.error.get_or_insert_default();
        }
        Body::AfterTurn(turn) => turn.usage = Some(usage),
        Body::BeforeStop(stop) => stop.usage = Some(usage),
        _ => {}
    }
    (event, Facts { call: full_call(), ..Facts::default() })
}

fn full_call() -> CallFacts {
    let words = || vec!["-x".to_owned()];
    let command = Command {
        program: "git".to_owned(),
        path: Some("/bin/git".to_owned()),
        subcommand: Some("push".to_owned()),
        flags: words(),
        operands: words(),
        args: words(),
        env: [("A".to_owned(), "b".to_owned())].into(),
        cwd: Some("/".to_owned()),
        via: words(),
        stdin_from: Some(Stdin::Commands(vec![0])),
        redirects: vec![Redirect { fd: "2".to_owned(), op: ">", target: "x".to_owned() }],
        uncertain: vec![Uncertain::Program, Uncertain::Arg(0)],
        ..Command::default()
    };
    let path = facts::Path {
        path: "/a".to_owned(),
        given: "a".to_owned(),
        op: PathOp::Write,
        recursive: true,
        place: PathPlace::Project,
        inside_project: true,
        command: Some(0),
        certain: false,
        glob: true,
        joined: None,
        inner: None,
    };
    let code = Code { language: Language::Python, text: "x".to_owned(), dynamic: true, command: 0 };
    CallFacts {
        commands: vec![command],
        paths: vec![path],
        code: vec![code],
        flows: vec![Flow { from: FlowSource::Network, into: 0, role: FlowRole::Code }],
        sql: Vec::new(),
        forkbomb: true,
        unparsed: true,
        over_limit: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::TABLE;

    #[test]
    fn every_event_has_a_sample() {
        for row in &TABLE {
            let body = body(row.event, "2024-01-15T10:30:00.000Z", "/project");
            assert_eq!(body.name(), row.event, "{}", row.name);
        }
    }
}
