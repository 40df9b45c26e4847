//! Golden tests: the exact payload of every event, and the examples of the specification.

use std::sync::Arc;

use serde_json::{Value, json};

use super::payload;
use crate::event::{
    AgentFacts, CompactTrigger, Compaction, ExitReason, HostFacts, SessionEnd, SessionStart,
    StopAttempt, StopReason, Subagent, Turn, TurnUsage, Usage,
};
use crate::facts::{CallFacts, Command, Facts, Location, Path, PathOp, PathPlace};
use crate::lifecycle::TABLE;
use crate::tool_metadata::Bash;
use crate::{Body, Event, Message, Object, Scope, ToolCall, ToolResult};

const BASE: &str = r#""timestamp": "2024-01-15T10:30:00Z", "session_id": "sess-abc123", "work_dir": "/home/user/project", "context": {"invoked_by": "main", "protocol_version": 1}, "host": {"name": "tenter"}"#;

fn scope() -> Scope {
    Scope {
        conversation_id: "sess-abc123".into(),
        cwd: "/home/user/project".into(),
        time: "2024-01-15T10:30:00Z".into(),
        ..Scope::default()
    }
}

/// Returns the payload of `body` with the canonical event name and the tool's own name.
fn line_of(body: Body) -> String {
    let trigger = body.name().as_str();
    payload(&Event { scope: scope(), body }, trigger, None, &Facts::default(), false).to_line()
}

#[track_caller]
fn assert_golden(body: Body, own: &str) {
    let name = body.name();
    let golden = format!("{{\"event_type\": \"{name}\", {BASE}, {own}}}\n");
    assert_eq!(line_of(body), golden);
}

fn object(value: &Value) -> Object {
    value.as_object().unwrap().clone()
}

fn call() -> ToolCall {
    let input = object(&json!({"command": "rm -rf /tmp/old-files"}));
    ToolCall { id: "tool_123".into(), name: "bash".into(), input }
}

fn result() -> ToolResult {
    let metadata = Bash {
        command: "rm".into(),
        exit_code: Some(0),
        output: "done".into(),
        execution_time: Some(0),
        ..Bash::default()
    };
    ToolResult::success("bash", &metadata, "T".into())
}

fn subagent() -> Subagent {
    Subagent {
        name: "code-reviewer".into(),
        kind: "coder".into(),
        task: "Review the authentication module".into(),
    }
}

fn usage() -> Usage {
    Usage {
        input_tokens: 900,
        output_tokens: 80,
        current_context_window: 700,
        max_context_window: 2000,
        turn: TurnUsage { input_tokens: 600, output_tokens: 40, ..TurnUsage::default() },
        ..Usage::default()
    }
}

const USAGE: &str = r#""usage": {"input_tokens": 900, "output_tokens": 80, "current_context_window": 700, "max_context_window": 2000, "turn": {"input_tokens": 600, "output_tokens": 40}}"#;
const MESSAGES: &str = r#", "messages": [{"role": "user", "content": "hi", "blocks": [{"type": "text", "text": "hi"}]}]"#;

fn turn() -> Turn {
    Turn {
        turn_number: Some(2),
        session_turn: Some(7),
        tools_used: true,
        usage: Some(usage()),
        auto_compact: Some(0.8),
        response: "Looking.".into(),
        messages: Some(Arc::new(vec![Message::user("hi")])),
    }
}

fn stop() -> StopAttempt {
    StopAttempt {
        reason: StopReason::NoToolCalls,
        step_count: Some(5),
        usage: Some(usage()),
        auto_compact: None,
        response: "Task completed successfully".into(),
        messages: Some(Arc::new(vec![Message::user("hi")])),
        continuation_count: 1,
    }
}

#[test]
fn session_payloads() {
    let args = object(&json!({"ui": "shell", "agent": "default"}));
    assert_golden(
        Body::SessionStart(SessionStart { model: Some("kimi-latest".into()), args }),
        r#""model": "kimi-latest", "args": {"ui": "shell", "agent": "default"}"#,
    );
    let exit_reason = ExitReason::UserExit;
    assert_golden(
        Body::SessionEnd(SessionEnd {
            duration_seconds: Some(3600),
            total_steps: Some(25),
            exit_reason,
        }),
        r#""duration_seconds": 3600, "total_steps": 25, "exit_reason": "user_exit""#,
    );
}

#[test]
fn agent_payloads() {
    assert_golden(Body::BeforeAgent { message: "Fix it".into() }, r#""prompt": "Fix it""#);
    assert_golden(Body::AfterAgent { response: "Fixed.".into() }, r#""response": "Fixed.""#);
}

#[test]
fn tool_payloads() {
    let fields = r#""tool_name": "bash", "tool_input": {"command": "rm -rf /tmp/old-files"}, "tool_use_id": "tool_123""#;
    let aliases = r#""tool_aliases": ["Bash", "Shell", "shell", "run_shell_command", "run_terminal_cmd", "run_in_terminal", "execute_command", "run_command", "exec_command", "local_shell", "Execute", "run_commands", "developer__shell"]"#;
    assert_golden(Body::BeforeTool(call()), &format!("{fields}, {aliases}"));
    let output = r#""metadataType": "bash", "metadata": {"command": "rm", "exitCode": 0, "output": "done", "executionTime": 0}, "timestamp": "T"}"#;
    assert_golden(
        Body::AfterTool { call: call(), result: result() },
        &format!(
            r#"{fields}, "tool_output": {{"toolName": "bash", "success": true, {output}, {aliases}"#
        ),
    );
    assert_golden(
        Body::AfterTool { call: call(), result: result().failed("exit code 1") },
        &format!(
            r#"{fields}, "tool_error": "exit code 1", "tool_output": {{"toolName": "bash", "success": false, "error": "exit code 1", {output}, {aliases}"#
        ),
    );
}

#[test]
fn turn_payloads() {
    let figures = format!(
        r#"{USAGE}, "auto_compact_enabled": true, "auto_compact_threshold": 0.8{MESSAGES}"#
    );
    assert_golden(
        Body::AfterTurn(turn()),
        &format!(
            r#""turn_number": 2, "session_turn": 7, "tools_used": true, "response": "Looking.", {figures}"#
        ),
    );
    assert_golden(
        Body::BeforeStop(stop()),
        &format!(
            r#""stop_reason": "no_tool_calls", "step_count": 5, "final_message": {{"role": "assistant", "content": "Task completed successfully"}}, "stop_hook_active": true, "continuation_count": 1, {USAGE}, "auto_compact_enabled": false{MESSAGES}"#
        ),
    );
}

#[test]
fn subagent_payloads() {
    let fields = r#""subagent_name": "code-reviewer", "subagent_type": "coder", "task_description": "Review the authentication module""#;
    assert_golden(Body::SubagentStart(subagent()), fields);
    assert_golden(
        Body::SubagentStop { subagent: subagent(), response: "Sound.".into() },
        &format!(r#"{fields}, "response": "Sound.""#),
    );
}

#[test]
fn compaction_payloads() {
    let trigger = CompactTrigger::Auto;
    assert_golden(
        Body::PreCompact(Compaction { trigger, tokens_before: Some(1800), tokens_after: None }),
        r#""trigger": "auto", "tokens_before": 1800"#,
    );
    assert_golden(
        Body::PostCompact(Compaction {
            trigger,
            tokens_before: Some(1800),
            tokens_after: Some(200),
        }),
        r#""trigger": "auto", "tokens_before": 1800, "tokens_after": 200"#,
    );
}

#[test]
fn a_light_payload_omits_the_history() {
    for body in [Body::AfterTurn(turn()), Body::BeforeStop(stop())] {
        let event = Event { scope: scope(), body };
        let whole = payload(&event, "x", None, &Facts::default(), false).to_line();
        assert!(whole.contains(MESSAGES));
        assert_eq!(
            payload(&event, "x", None, &Facts::default(), true).to_line(),
            whole.replace(MESSAGES, "")
        );
    }
}

#[test]
fn before_stop_without_text_and_at_the_turn_limit() {
    let reason = StopReason::TurnLimit;
    let line = line_of(Body::BeforeStop(StopAttempt { response: "\n".into(), reason, ..stop() }));
    assert!(line.contains(r#""final_message": null"#), "{line}");
    assert!(line.contains(r#""stop_reason": "max_steps""#), "{line}");
}

#[test]
fn payloads_echo_the_hooks_spellings() {
    let event = Event { scope: scope(), body: Body::BeforeTool(call()) };
    let line = payload(&event, "pre-tool-call", Some("Shell"), &Facts::default(), false).to_line();
    assert!(line.starts_with(r#"{"event_type": "pre-tool-call", "#), "{line}");
    assert!(line.contains(r#""tool_name": "Shell""#), "{line}");
    let aliases: Value = serde_json::from_str(&line).unwrap();
    let aliases = aliases["tool_aliases"].as_array().unwrap();
    assert!(aliases.contains(&json!("bash")) && !aliases.contains(&json!("Shell")), "{line}");
}

#[test]
fn commands_and_paths_come_last() {
    let path = Path {
        path: "/project/.env".into(),
        given: "a/../.env".into(),
        op: PathOp::Write,
        recursive: false,
        place: PathPlace::Project,
        inside_project: true,
        command: Some(0),
        certain: true,
        glob: false,
        joined: None,
        inner: None,
    };
    let command = Command {
        program: "tee".into(),
        operands: vec!["a/../.env".into()],
        args: vec!["a/../.env".into()],
        text: "tee a/../.env".into(),
        location: Location::Local,
        ..Command::default()
    };
    let call_facts =
        CallFacts { commands: vec![command], paths: vec![path], ..CallFacts::default() };
    let facts = Facts { call: call_facts, ..Facts::default() };
    let event = Event { scope: scope(), body: Body::BeforeTool(call()) };
    let end = r#""commands": [{"program": "tee", "operands": ["a/../.env"], "args": ["a/../.env"], "text": "tee a/../.env", "where": "local"}], "paths": [{"path": "/project/.env", "given": "a/../.env", "op": "write", "place": "project", "inside_project": true, "command": 0, "certain": true}]}"#;
    let manifest = payload(&event, "before_tool", None, &facts, false).to_line();
    let executable = crate::executable::payload(&event, "before_tool_call", &facts).unwrap();
    for line in [manifest, executable] {
        assert!(line.trim_end().ends_with(end), "{line}");
        // Scripts look for the first one.
        let first = line.find("\"command\": ").unwrap();
        assert!(line[first..].starts_with("\"command\": \"rm -rf /tmp/old-files\""), "{line}");
    }
}

#[test]
fn context_has_the_parent_of_a_subagent_and_the_recipe() {
    let scope = Scope {
        parent_conversation_id: Some("sess-parent".into()),
        recipe: Some("review".into()),
        recipe_full_name: None,
        ..scope()
    };
    let line = payload(
        &Event { scope, body: Body::AfterAgent { response: String::new() } },
        "after_agent",
        None,
        &Facts::default(),
        false,
    )
    .to_line();
    let context = r#""context": {"invoked_by": "subagent", "parent_session_id": "sess-parent", "recipe_name": "review", "protocol_version": 1}"#;
    assert!(line.contains(context), "{line}");
}

fn host() -> HostFacts {
    HostFacts {
        name: "codex".into(),
        version: Some("0.169.0".into()),
        event: Some("PreToolUse".into()),
        tool_name: Some("Bash".into()),
        tool_input: Some(object(&json!({"cmd": "ls"}))),
        unknown: vec!["usage".into()],
        ..HostFacts::default()
    }
}

#[test]
fn payloads_name_the_host_and_its_subagent() {
    let agent = AgentFacts { id: "a1".into(), kind: "Explore".into(), depth: Some(1) };
    let scope = Scope { agent: Some(agent), ..scope().with_host(host()) };
    let event = Event { scope, body: Body::BeforeTool(call()) };
    let facts = Facts::default();
    let agent = r#""agent": {"id": "a1", "type": "Explore", "depth": 1}, "#;
    let light = r#""host": {"name": "codex", "version": "0.169.0", "event": "PreToolUse", "tool_name": "Bash", "unknown": ["usage"]}"#;
    let whole = light.replace(r#", "unknown""#, r#", "tool_input": {"cmd": "ls"}, "unknown""#);
    let manifest = |light| payload(&event, "before_tool", None, &facts, light).to_line();
    let executable = crate::executable::payload(&event, "before_tool_call", &facts).unwrap();
    for (line, host) in [(manifest(false), &*whole), (manifest(true), light), (executable, &*whole)]
    {
        assert!(line.contains(agent) && line.contains(host), "{line}");
        assert!(line.contains(r#""invoked_by": "main""#), "{line}");
    }
}

#[test]
fn what_a_host_does_not_provide_is_left_out() {
    let unknown = vec!["invoked_by".to_owned()];
    let scope = scope().with_host(HostFacts { unknown, ..host() });
    let stop = StopAttempt::new("Done.");
    let bodies = [
        Body::SessionStart(SessionStart { model: None, args: Object::new() }),
        Body::SessionEnd(SessionEnd {
            duration_seconds: None,
            total_steps: None,
            exit_reason: ExitReason::Done,
        }),
        Body::AfterTurn(Turn { turn_number: None, ..Turn::new(1, "Done.") }),
        Body::BeforeStop(stop),
        Body::PreCompact(Compaction {
            trigger: CompactTrigger::Auto,
            tokens_before: None,
            tokens_after: None,
        }),
    ];
    let optional = [
        "model",
        "duration_seconds",
        "total_steps",
        "turn_number",
        "session_turn",
        "step_count",
        "usage",
        "messages",
        "tokens_before",
        "invoked_by",
    ];
    for body in bodies {
        let event = Event { scope: scope.clone(), body };
        let spelling = event.body.name().as_str();
        let lines = [
            Some(payload(&event, spelling, None, &Facts::default(), false).to_line()),
            crate::executable::payload(&event, spelling, &Facts::default()),
        ];
        for line in lines.into_iter().flatten() {
            let payload: Value = serde_json::from_str(&line).unwrap();
            let is_written =
                |field: &&str| payload.get(field).or(payload["context"].get(field)).is_some();
            assert_eq!(optional.iter().find(|field| is_written(field)), None, "{line}");
        }
    }
}

/// Returns the bodies of the specification's examples (sections 5.1 to 5.5).
fn specified() -> Vec<(Body, Value)> {
    let args = object(&json!({"ui": "shell", "agent": "default"}));
    let exit_reason = ExitReason::UserExit;
    vec![
        (
            Body::BeforeTool(call()),
            json!({"event_type": "before_tool", "tool_name": "Shell",
                   "tool_input": {"command": "rm -rf /tmp/old-files"}, "tool_use_id": "tool_123"}),
        ),
        (
            Body::SubagentStart(subagent()),
            json!({"event_type": "subagent_start", "subagent_name": "code-reviewer", "subagent_type": "coder",
                   "task_description": "Review the authentication module"}),
        ),
        (
            Body::SessionStart(SessionStart { model: Some("kimi-latest".into()), args }),
            json!({"event_type": "session_start", "model": "kimi-latest",
                   "args": {"ui": "shell", "agent": "default"}}),
        ),
        (
            Body::SessionEnd(SessionEnd {
                duration_seconds: Some(3600),
                total_steps: Some(25),
                exit_reason,
            }),
            json!({"event_type": "session_end", "duration_seconds": 3600, "total_steps": 25,
                   "exit_reason": "user_exit"}),
        ),
        (
            Body::BeforeStop(stop()),
            json!({"event_type": "before_stop", "stop_reason": "no_tool_calls", "step_count": 5,
                   "final_message": {"role": "assistant", "content": "Task completed successfully"}}),
        ),
    ]
}

#[test]
fn payloads_contain_the_examples_of_the_specification() {
    let base = json!({"timestamp": "2024-01-15T10:30:00Z", "session_id": "sess-abc123",
                      "work_dir": "/home/user/project"});
    for (body, example) in specified() {
        let trigger = body.name().as_str();
        let event = Event { scope: scope(), body };
        let line = payload(&event, trigger, Some("Shell"), &Facts::default(), true).to_line();
        let payload: Value = serde_json::from_str(&line).unwrap();
        assert!(payload["context"].is_object(), "{line}");
        for (key, value) in object(&base).into_iter().chain(object(&example)) {
            assert_eq!(payload[&key], value, "{key} of {line}");
        }
    }
}

#[test]
fn every_payload_is_one_line() {
    let compaction =
        Compaction { trigger: CompactTrigger::Hook, tokens_before: Some(1), tokens_after: None };
    let failure = result().failed("x");
    let mut bodies: Vec<Body> = specified().into_iter().map(|(body, _)| body).collect();
    bodies.extend([
        Body::BeforeAgent { message: "two\nlines".into() },
        Body::AfterTool { call: call(), result: result() },
        Body::AfterTool { call: call(), result: failure },
        Body::AfterTurn(turn()),
        Body::AfterAgent { response: "two\nlines".into() },
        Body::SubagentStop { subagent: subagent(), response: "two\nlines".into() },
        Body::PreCompact(compaction),
        Body::PostCompact(compaction),
    ]);
    let mut names: Vec<&str> = bodies.iter().map(|body| body.name().as_str()).collect();
    for body in bodies {
        let line = line_of(body);
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.ends_with("}\n"), "{line}");
    }
    names.sort_unstable();
    let mut all: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    all.sort_unstable();
    assert_eq!(names, all);
}
