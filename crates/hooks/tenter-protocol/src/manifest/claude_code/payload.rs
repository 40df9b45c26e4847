//! The payload that a hook of Claude Code's reads.

use std::path::Path;

use serde_json::{Value, json};

use crate::claude_code::{Matched, results, tools};
use crate::event::{CompactTrigger, Compaction, ExitReason, StopAttempt, Turn};
use crate::patch::{FileChange, Patch, PatchedFile};
use crate::{Block, Body, EventRef, Object, Role, ToolCall, ToolResult};

/// The name by which bridges know Claude Code.
const CLAUDE_CODE: &str = "claude-code";
/// Tenter's tool that takes patches.
const FILE_EDIT: &str = "file_edit";
/// The fields of Claude Code's tools that are absolute paths.
const PATHS: [&str; 2] = ["file_path", "notebook_path"];

/// An event in Claude Code's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaudeCodeEvent<'e> {
    /// Its name.
    pub name: &'static str,
    /// The value that a matcher of the event is compared with; `None` if it has no matcher, is a tool event, or the agent does not provide it.
    pub matched: Option<&'e str>,
}

impl<'e> ClaudeCodeEvent<'e> {
    /// Returns the event in Claude Code's words; `None` if Claude Code does not fire one.
    pub fn new(event: EventRef<'e>) -> Option<Self> {
        let is_subagent = event.scope.parent_conversation_id.is_some();
        let agent_type = event.scope.agent.as_ref().map(|agent| agent.kind.as_str());
        let (name, matcher_text) = match event.body {
            Body::SessionStart(start) => ("SessionStart", Some(source(&start.args))),
            Body::SessionEnd(end) => ("SessionEnd", Some(reason(end.exit_reason))),
            Body::BeforeAgent { .. } if is_subagent => return None,
            Body::BeforeAgent { .. } => ("UserPromptSubmit", None),
            Body::BeforeTool(_) => ("PreToolUse", None),
            // Claude Code fires nothing for a call that was denied.
            Body::AfterTool { result, .. } if result.is_blocked() => return None,
            Body::AfterTool { result, .. } if result.is_failure() => ("PostToolUseFailure", None),
            Body::AfterTool { .. } => ("PostToolUse", None),
            Body::AfterTurn(turn) if turn.tools_used => ("PostToolBatch", None),
            Body::AfterTurn(_) | Body::AfterAgent { .. } => return None,
            Body::BeforeStop(_) if is_subagent => ("SubagentStop", agent_type),
            Body::BeforeStop(_) => ("Stop", None),
            Body::SubagentStart(subagent) => ("SubagentStart", Some(subagent.kind.as_str())),
            Body::SubagentStop { subagent, .. } => ("SubagentStop", Some(subagent.kind.as_str())),
            Body::PreCompact(compaction) => ("PreCompact", Some(trigger(*compaction))),
            Body::PostCompact(compaction) => ("PostCompact", Some(trigger(*compaction))),
        };
        Some(Self { name, matched: matcher_text.filter(|value| !value.is_empty()) })
    }

    /// Returns true for a tool event: a matcher is compared with the tool's name.
    pub fn is_tool_event(self) -> bool {
        let native = crate::claude_code::named(self.name);
        native.is_some_and(|native| native.matched == Some(Matched::Tool))
    }
}

fn source(args: &Object) -> &str {
    match args.get("source").and_then(Value::as_str) {
        Some("new") | None => "startup",
        Some(source) => source,
    }
}

fn reason(reason: ExitReason) -> &'static str {
    match reason {
        ExitReason::UserExit => "prompt_input_exit",
        _ => "other",
    }
}

fn trigger(compaction: Compaction) -> &'static str {
    match compaction.trigger {
        CompactTrigger::Manual => "manual",
        CompactTrigger::Auto | CompactTrigger::Hook | CompactTrigger::Overflow => "auto",
    }
}

/// Returns the payloads of an event; none if Claude Code does not fire one. A patch of several files is a call for each of them,
/// as Claude Code's tools change one file at a time; those are left out whose tool `is_meant` rules out.
pub fn payloads(event: EventRef<'_>, is_meant: impl Fn(&str) -> bool) -> Vec<Object> {
    let Some(native) = ClaudeCodeEvent::new(event) else { return Vec::new() };
    let Some(call) = event.body.tool_call() else { return vec![payload(event, native)] };
    let mut calls = native_calls(event, call);
    if calls.len() > 1 {
        calls.retain(|(name, _)| is_meant(name));
    }
    let payload = |native_call| {
        let mut fields = base(event, native.name);
        fields.call(native_call, call);
        if let Body::AfterTool { result, .. } = event.body {
            fields.end(call, result);
        }
        fields.0
    };
    calls.into_iter().map(payload).collect()
}

/// Returns the payload of an event that has no tool.
fn payload(event: EventRef<'_>, ClaudeCodeEvent { name, matched }: ClaudeCodeEvent<'_>) -> Object {
    let mut fields = base(event, name);
    match event.body {
        Body::SessionStart(start) => {
            fields.set("source", matched);
            fields.set("model", start.model.as_deref());
        }
        Body::SessionEnd(_) => fields.set("reason", matched),
        Body::BeforeAgent { message } => fields.set("prompt", Some(message.as_str())),
        Body::AfterTurn(turn) => fields.set("tool_calls", tool_calls(event, turn)),
        Body::BeforeStop(stop) => fields.stop(stop),
        Body::SubagentStart(subagent) => fields.set("agent_type", Some(subagent.kind.as_str())),
        Body::SubagentStop { subagent, response } => {
            fields.set("agent_type", Some(subagent.kind.as_str()));
            fields.stop(&StopAttempt::new(response));
        }
        Body::PreCompact(_) => {
            fields.set("trigger", matched);
            fields.set("custom_instructions", Some(Value::Null));
        }
        Body::PostCompact(_) => fields.set("trigger", matched),
        Body::BeforeTool(_) | Body::AfterTool { .. } | Body::AfterAgent { .. } => {}
    }
    fields.0
}

/// Returns the fields of every event.
fn base(event: EventRef<'_>, name: &str) -> Fields {
    let scope = event.scope;
    let mut fields = Fields(Object::new());
    let host = scope.host.as_deref();
    let own = scope.conversation_id.as_str();
    let parent = scope.parent_conversation_id.as_deref();
    let root = parent.unwrap_or(own);
    // In a host, the id of a subagent's conversation begins with the session's id.
    let root = root.split_once('/').filter(|_| host.is_some()).map_or(root, |(root, _)| root);
    fields.set("session_id", Some(root));
    fields.set("transcript_path", host.and_then(|host| host.transcript_path.as_deref()));
    fields.set("cwd", Some(scope.cwd.to_string_lossy()));
    fields.set("permission_mode", host.and_then(|host| host.permission_mode.as_deref()));
    if parent.is_some() {
        let agent = scope.agent.as_ref();
        fields.set("agent_id", Some(agent.map_or(own, |agent| agent.id.as_str())));
        fields.set(
            "agent_type",
            agent.map(|agent| agent.kind.as_str()).filter(|kind| !kind.is_empty()),
        );
    }
    fields.set("hook_event_name", Some(name));
    fields
}

/// The fields of a payload.
struct Fields(Object);

impl Fields {
    fn set(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
    }

    fn call(&mut self, (name, input): (String, Object), call: &ToolCall) {
        self.set("tool_name", Some(name));
        self.set("tool_input", Some(Value::Object(input)));
        self.set("tool_use_id", Some(call.id.as_str()));
    }

    fn end(&mut self, call: &ToolCall, result: &ToolResult) {
        if result.is_failure() {
            self.set("error", Some(results::error(result)));
            self.set("is_interrupt", Some(false));
        } else {
            self.set("tool_response", Some(results::response(call, result)));
        }
        self.set("duration_ms", results::duration_ms(result));
    }

    fn stop(&mut self, stop: &StopAttempt) {
        self.set("stop_hook_active", Some(stop.continuation_count > 0));
        let response = stop.response.as_str();
        self.set("last_assistant_message", Some(response).filter(|text| !text.trim().is_empty()));
    }
}

/// Returns a call as calls of Claude Code's tools: one for each file of a patch, else one.
pub(super) fn native_calls(event: EventRef<'_>, call: &ToolCall) -> Vec<(String, Object)> {
    let patch = Patch::from_input(&call.input).filter(|_| call.name == FILE_EDIT);
    let files = patch.map(|patch| patch.files).unwrap_or_default();
    if files.is_empty() {
        return vec![native_call(event, call)];
    }
    let native_edit = |file: &PatchedFile<'_>| {
        let path = absolute(PATHS[0], &json!(file.path), &event.scope.cwd);
        let patched = |name: &str, more: Value| {
            let mut input = call.input.clone();
            input.insert(PATHS[0].to_owned(), path.clone());
            input.extend(more.as_object().cloned().unwrap_or_default());
            (name.to_owned(), input)
        };
        match file.change {
            FileChange::Add => patched("Write", json!({"content": file.added_lines})),
            FileChange::Update | FileChange::Delete => patched(
                "Edit",
                json!({"old_string": file.removed_lines, "new_string": file.added_lines}),
            ),
        }
    };
    files.iter().map(native_edit).collect()
}

/// Returns a call in the names of Claude Code. In Claude Code itself, that is the tool that the model called.
fn native_call(event: EventRef<'_>, call: &ToolCall) -> (String, Object) {
    let host = event.scope.host.as_deref().filter(|host| host.name == CLAUDE_CODE);
    let tool = host.and_then(|host| host.tool_name.as_deref()).and_then(tools::named);
    let tool =
        tool.filter(|tool| tool.canonical == call.name).or_else(|| tools::counterpart(&call.name));
    let Some(tool) = tool else { return (call.name.clone(), call.input.clone()) };
    let fields = call.input.iter().map(|(field, value)| {
        let field = tool.native_field(field);
        (field.to_owned(), absolute(field, value, &event.scope.cwd))
    });
    (tool.name.to_owned(), fields.collect())
}

/// Returns a value of an input. Claude Code's file tools only know absolute paths.
fn absolute(field: &str, value: &Value, cwd: &Path) -> Value {
    match value.as_str() {
        Some(path) if PATHS.contains(&field) && !path.is_empty() && !path.starts_with('~') => {
            json!(cwd.join(path.trim_start_matches("./")).to_string_lossy())
        }
        _ => value.clone(),
    }
}

/// Returns the calls of the last response, with the text of their results; `None` if the agent does not tell the conversation.
fn tool_calls(event: EventRef<'_>, turn: &Turn) -> Option<Value> {
    let messages = turn.messages.as_deref()?;
    let response = messages.iter().rposition(|message| message.role == Role::Assistant)?;
    let blocks = || messages[response..].iter().flat_map(|message| &message.blocks);
    let result_of = |id: &str| {
        blocks().find_map(|block| match block {
            Block::ToolResult { call_id, result } if call_id == id => Some(result.text()),
            _ => None,
        })
    };
    let calls = blocks().filter_map(|block| match block {
        Block::ToolUse(call) => {
            let (name, input) = native_call(event, call);
            Some(json!({"tool_name": name, "tool_input": input, "tool_use_id": call.id, "tool_response": result_of(&call.id)}))
        }
        _ => None,
    });
    Some(calls.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{AgentFacts, SessionStart, Subagent};
    use crate::tool_metadata::Bash;
    use crate::{HostFacts, Scope};

    fn scope() -> Scope {
        Scope::new("c1", "/work/shop")
    }

    fn payload_of(scope: &Scope, body: &Body) -> Option<Value> {
        let mut payloads = payloads(EventRef { scope, body }, |_| true);
        assert!(payloads.len() < 2);
        payloads.pop().map(Value::Object)
    }

    fn call(tool: &str, input: &Value) -> ToolCall {
        ToolCall::new("t1", tool, input.as_object().unwrap().clone())
    }

    #[test]
    fn a_call_has_claude_codes_names_and_absolute_paths() {
        let write = call("file_write", &json!({"file_path": "./src/a.rs", "text": "x"}));
        assert_eq!(
            payload_of(&scope(), &Body::BeforeTool(write)).unwrap(),
            json!({"session_id": "c1", "cwd": "/work/shop", "hook_event_name": "PreToolUse", "tool_name": "Write",
                "tool_input": {"file_path": "/work/shop/src/a.rs", "content": "x"}, "tool_use_id": "t1"})
        );
        let edit = call("file_edit", &json!({"file_path": "/a", "old_text": "x", "new_text": "y"}));
        let edit = payload_of(&scope(), &Body::BeforeTool(edit)).unwrap();
        assert_eq!(
            edit["tool_input"],
            json!({"file_path": "/a", "old_string": "x", "new_string": "y"})
        );
        let mcp =
            payload_of(&scope(), &Body::BeforeTool(call("mcp__a__b", &json!({"q": 1})))).unwrap();
        assert_eq!(
            (&mcp["tool_name"], &mcp["tool_input"]),
            (&json!("mcp__a__b"), &json!({"q": 1}))
        );
    }

    #[test]
    fn a_patch_is_a_call_for_each_of_its_files() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n+y\n*** Update File: b.txt\n@@\n same\n-old\n+new\n*** End Patch";
        let body = Body::BeforeTool(call("file_edit", &json!({"patch": patch})));
        let scope = scope();
        let event = EventRef { scope: &scope, body: &body };
        let inputs: Vec<Value> = payloads(event, |_| true)
            .into_iter()
            .map(|payload| json!([payload["tool_name"], payload["tool_input"]]))
            .collect();
        assert_eq!(
            inputs[0],
            json!(["Write", {"patch": patch, "file_path": "/work/shop/a.txt", "content": "x\ny\n"}])
        );
        assert_eq!(
            inputs[1],
            json!(["Edit", {"patch": patch, "file_path": "/work/shop/b.txt", "old_string": "old\n", "new_string": "new\n"}])
        );
        assert_eq!(payloads(event, |name| name == "Write").len(), 1);
    }

    #[test]
    fn in_claude_code_the_tool_is_the_one_that_the_model_called() {
        let host = HostFacts {
            name: "claude-code".into(),
            tool_name: Some("NotebookEdit".into()),
            permission_mode: Some("plan".into()),
            transcript_path: Some("/t.jsonl".into()),
            ..HostFacts::default()
        };
        let edit = call("file_edit", &json!({"file_path": "/a.ipynb", "new_text": "y"}));
        let payload = payload_of(&scope().with_host(host), &Body::BeforeTool(edit)).unwrap();
        assert_eq!(payload["tool_name"], "NotebookEdit");
        assert_eq!(payload["tool_input"], json!({"notebook_path": "/a.ipynb", "new_source": "y"}));
        assert_eq!(
            (&payload["permission_mode"], &payload["transcript_path"]),
            (&json!("plan"), &json!("/t.jsonl"))
        );
    }

    #[test]
    fn results_and_failures_have_their_own_events() {
        let call = call("bash", &json!({"command": "make"}));
        let metadata = Bash {
            output: "ok".into(),
            exit_code: Some(0),
            execution_time: Some(5_000_000),
            ..Bash::default()
        };
        let result = ToolResult::success("bash", &metadata, "T".into());
        let body = Body::AfterTool { call: call.clone(), result: result.clone() };
        let payload = payload_of(&scope(), &body).unwrap();
        assert_eq!(payload["hook_event_name"], "PostToolUse");
        assert_eq!(
            (&payload["tool_response"]["stdout"], &payload["duration_ms"]),
            (&json!("ok"), &json!(5))
        );
        let body = Body::AfterTool { call: call.clone(), result: result.failed("exit code 0") };
        let payload = payload_of(&scope(), &body).unwrap();
        assert_eq!(payload["hook_event_name"], "PostToolUseFailure");
        assert_eq!(payload["error"], "Exit code 0\nok");
        let result = ToolResult::blocked("bash", "no", "T".into());
        assert_eq!(payload_of(&scope(), &Body::AfterTool { call, result }), None);
    }

    #[test]
    fn a_subagents_stop_and_message_are_not_those_of_the_main_agent() {
        let agent = AgentFacts { id: "a7".into(), kind: "Explore".into(), depth: None };
        let host = HostFacts { name: "codex".into(), ..HostFacts::default() };
        let sub = Scope {
            agent: Some(agent),
            ..Scope::new("c1/a7", "/w").with_parent(Some("c1")).with_host(host)
        };
        let stop =
            Body::BeforeStop(StopAttempt { continuation_count: 1, ..StopAttempt::new("Done.") });
        let payload = payload_of(&sub, &stop).unwrap();
        assert_eq!(
            payload,
            json!({"session_id": "c1", "cwd": "/w", "agent_id": "a7", "agent_type": "Explore",
                "hook_event_name": "SubagentStop", "stop_hook_active": true, "last_assistant_message": "Done."})
        );
        assert_eq!(payload_of(&scope(), &stop).unwrap()["hook_event_name"], "Stop");
        let message = Body::BeforeAgent { message: "hi".into() };
        assert_eq!(payload_of(&sub, &message), None);
        assert_eq!(payload_of(&scope(), &message).unwrap()["prompt"], "hi");
    }

    #[test]
    fn starts_and_subagents_tell_what_their_matchers_are_about() {
        let start = Body::SessionStart(SessionStart::new("m"));
        let subagent = Body::SubagentStart(Subagent::new("n", "Explore", "t"));
        for (body, name, matched) in [
            (start, "SessionStart", Some("startup")),
            (subagent, "SubagentStart", Some("Explore")),
            (
                Body::PreCompact(Compaction::new(CompactTrigger::Overflow, 1)),
                "PreCompact",
                Some("auto"),
            ),
        ] {
            let scope = scope();
            let event = ClaudeCodeEvent::new(EventRef { scope: &scope, body: &body }).unwrap();
            assert_eq!((event.name, event.matched), (name, matched));
        }
    }
}
