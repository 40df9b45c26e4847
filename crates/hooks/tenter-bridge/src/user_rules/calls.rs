//! A tool call as rules see it. A shell call has parts: its commands and the files that they touch.

use std::path::Path;

use serde_json::json;
use tenter_engine::inspect::CallSurroundings;
use tenter_protocol::event::Body;
use tenter_protocol::facts::{CallFacts, Command, FlowRole, PathOp};
use tenter_protocol::{Object, ToolCall};

/// The field of a shell call.
const COMMAND: &str = "command";
const SHELL: &str = "bash";

/// A tool call.
#[derive(Debug, Clone)]
pub(crate) struct SeenCall {
    call: ToolCall,
    /// The facts about a shell call.
    facts: Option<CallFacts>,
}

/// A part of a call that rules are compared with.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// The call itself; without its input if that is a shell command.
    Call(ToolCall),
    /// A call of a file tool that touches a file as a command does.
    File(ToolCall),
    /// A command that runs, as a call of the shell with nothing else.
    Command(ToolCall),
    /// A shell call of which not every command is known.
    Unknown(ToolCall),
}

impl SeenCall {
    /// Creates a call from its form in Tenter's names.
    pub(crate) fn new(call: &ToolCall, surroundings: &CallSurroundings, cwd: &Path) -> Self {
        let facts = (call.name == SHELL).then(|| {
            let body = Body::BeforeTool(call.clone());
            surroundings.facts(&body, None, cwd).facts.call
        });
        Self { call: call.clone(), facts }
    }

    /// Returns every part to which rules may apply.
    pub(super) fn parts(&self) -> Vec<Part> {
        let Some(facts) = &self.facts else { return vec![Part::Call(self.call.clone())] };
        let mut parts = vec![self.tool()];
        if !is_complete(facts) {
            parts.push(Part::Unknown(self.call.clone()));
        }
        if let Some(text) = self.call.input.get(COMMAND).and_then(|text| text.as_str()) {
            parts.push(command(text.trim()));
        }
        parts.extend(facts.commands.iter().flat_map(spellings).map(|text| command(&text)));
        parts.extend(facts.paths.iter().flat_map(|path| {
            let tool = match path.op {
                PathOp::Read | PathOp::Execute | PathOp::List => "file_read",
                _ => "file_edit",
            };
            let call = |path: &String| {
                let input = json!({"file_path": path});
                ToolCall::new("", tool, input.as_object().cloned().unwrap_or_default())
            };
            [call(&path.path), call(&path.given)].map(Part::File)
        }));
        parts
    }

    /// Returns the parts that the host certainly compares with its rules: the commands that the text itself names.
    pub(super) fn certain_parts(&self) -> Vec<Part> {
        let Some(facts) = &self.facts else { return vec![Part::Call(self.call.clone())] };
        if !is_complete(facts) {
            return vec![self.tool()];
        }
        let outermost = facts.commands.iter().filter(|command| command.via.is_empty());
        let words = outermost.map(|command| {
            let program = command.path.as_deref().unwrap_or(&command.program);
            self::command(&line(program, &command.args))
        });
        [self.tool()].into_iter().chain(words).collect()
    }

    /// Returns the call without its input, for rules that apply to every call of the tool.
    fn tool(&self) -> Part {
        Part::Call(ToolCall::new("", &self.call.name, Object::new()))
    }
}

fn is_complete(facts: &CallFacts) -> bool {
    let is_code = facts.flows.iter().any(|flow| flow.role == FlowRole::Code);
    let is_certain = |command: &Command| command.is_program_certain();
    !(facts.unparsed || facts.over_limit || facts.forkbomb || is_code)
        && facts.commands.iter().all(is_certain)
}

/// Returns a command with the name of its program, and with the path by which it is called.
fn spellings(command: &Command) -> Vec<String> {
    let programs = [Some(command.program.as_str()), command.path.as_deref()];
    programs.into_iter().flatten().map(|program| line(program, &command.args)).collect()
}

fn line(program: &str, args: &[String]) -> String {
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    words.collect::<Vec<_>>().join(" ")
}

fn shell(command: &str) -> ToolCall {
    let input = json!({ COMMAND: command });
    ToolCall::new("", SHELL, input.as_object().cloned().unwrap_or_default())
}

/// Turns a text into a command.
pub(super) fn command(text: &str) -> Part {
    Part::Command(shell(text))
}
