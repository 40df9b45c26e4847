//! A session of a client: the conversation, its events, and what hooks change.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::hooks::{HookAnswer, Hooks, elements};
use super::tools::{self, CommandSurroundings, FakeToolEnd};
use super::{Defect, mcp, model};

/// The number of tokens from which the history is replaced by a summary.
const FULL: u64 = 960_000;

/// Maximum number of times in a row that hooks make the agent continue.
const MAX_CONTINUATIONS: usize = 8;

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    home: PathBuf,
    project: PathBuf,
    /// The address of the model's server.
    url: String,
    hooks: Hooks,
    id: String,
    /// Number of subagents so far.
    subagents: usize,
}

/// The main agent, or a subagent.
#[derive(Debug, Default)]
struct Agent {
    messages: Vec<Value>,
    /// The id of a subagent.
    id: Option<String>,
}

impl Agent {
    /// Adds texts that the model reads as the user's.
    fn hear(&mut self, texts: impl IntoIterator<Item = String>) {
        let blocks: Vec<Value> =
            texts.into_iter().map(|text| json!({"type": "text", "text": text})).collect();
        if !blocks.is_empty() {
            self.messages.push(json!({"role": "user", "content": blocks}));
        }
    }
}

impl Session {
    pub(super) fn new(home: PathBuf, project: PathBuf, url: String, defects: String) -> Self {
        let hooks = Hooks::new(&home, &project, defects);
        let id = format!("fake-{}", std::process::id());
        Self { home, project, url, hooks, id, subagents: 0 }
    }

    /// Answers a message, in a new session or in the last one.
    pub(super) fn answer(&mut self, prompt: &str, continues: bool) -> Result<(), String> {
        let mut agent = Agent::default();
        if continues {
            self.resume(&mut agent)?;
        }
        let source = if continues { "resume" } else { "startup" };
        let start = self.fire(&agent, "SessionStart", json!({"source": source}));
        let result = self.fire(&agent, "UserPromptSubmit", json!({"prompt": prompt}));
        if let Some(reason) = result.refusal {
            println(&format!("UserPromptSubmit operation blocked by hook:\n{reason}"));
            self.end(&agent);
            return Ok(());
        }
        agent.hear(start.contexts.into_iter().chain(result.contexts).chain([prompt.to_owned()]));
        let answer = self.converse(&mut agent);
        match &answer {
            Ok(text) => println(text),
            Err(error) => drop(self.fire(&agent, "StopFailure", json!({"error": error}))),
        }
        self.end(&agent);
        self.keep(&agent)?;
        answer.map(drop)
    }

    fn end(&self, agent: &Agent) {
        self.fire(agent, "SessionEnd", json!({"reason": "other"}));
    }

    /// Carries on until the agent has nothing more to do; returns its last text.
    fn converse(&mut self, agent: &mut Agent) -> Result<String, String> {
        let mut continuations = 0;
        loop {
            let reply = model::ask(&self.url, &agent.messages)?;
            agent.messages.push(json!({"role": "assistant", "content": reply.content}));
            let calls = reply.calls();
            if calls.is_empty() {
                let message = self.stop(agent, &reply.text(), continuations);
                let Some(message) = message else { return Ok(reply.text()) };
                continuations += 1;
                agent.hear([message]);
                continue;
            }
            self.carry_out(agent, &calls);
            if reply.input_tokens > FULL && agent.id.is_none() {
                self.compact(agent)?;
            }
        }
    }

    /// Returns the message with which a hook makes the agent continue.
    fn stop(&self, agent: &Agent, text: &str, continuations: usize) -> Option<String> {
        let event = if agent.id.is_some() { "SubagentStop" } else { "Stop" };
        let answer = self.fire(
            agent,
            event,
            json!({"stop_hook_active": continuations > 0, "last_assistant_message": text}),
        );
        if self.hooks.has(Defect::DoesNotContinue) || continuations >= MAX_CONTINUATIONS {
            return None;
        }
        answer.refusal.or_else(|| answer.contexts.into_iter().next())
    }

    /// Carries out the calls of one response.
    fn carry_out(&mut self, agent: &mut Agent, calls: &[Value]) {
        let mut blocks = Vec::new();
        let mut contexts = Vec::new();
        for call in calls {
            let end = self.call(agent, call, &mut contexts);
            blocks.push(json!({
                "type": "tool_result",
                "tool_use_id": call["id"],
                "content": end.text,
                "is_error": end.response.is_none(),
            }));
        }
        contexts.extend(self.fire(agent, "PostToolBatch", json!({"tool_calls": []})).contexts);
        let texts = contexts.into_iter().map(|text| json!({"type": "text", "text": text}));
        blocks.extend(texts);
        agent.messages.push(json!({"role": "user", "content": blocks}));
    }

    /// Carries out a call, under hooks.
    fn call(&mut self, agent: &Agent, call: &Value, contexts: &mut Vec<String>) -> FakeToolEnd {
        let tool = call["name"].as_str().unwrap_or_default();
        let mut input = call["input"].clone();
        let is_alike = self.hooks.has(Defect::NamesToolsAlike);
        let name = if is_alike { "Bash" } else { tool };
        if mcp::is_tool(tool) && self.hooks.has(Defect::SkipsMcp) {
            return self.run(tool, &input);
        }
        let about = |input: &Value| json!({"tool_name": name, "tool_input": input, "tool_use_id": call["id"]});
        let early = (self.hooks.has(Defect::RunsFirst)).then(|| self.run(tool, &input));
        let before = self.fire(agent, "PreToolUse", about(&input));
        contexts.extend(before.contexts);
        if let Some(reason) = before.refusal {
            return FakeToolEnd::failure(format!("PreToolUse:{tool} hook error: {reason}"));
        }
        input = before.input.unwrap_or(input);
        if self.hooks.is_denied_by_rule(&input) {
            return FakeToolEnd::failure("Permission to use this tool has been denied.".to_owned());
        }
        let end = early.unwrap_or_else(|| self.run(tool, &input));
        let mut about = about(&input);
        let (event, field, value) = match &end.response {
            Some(response) => ("PostToolUse", "tool_response", response.clone()),
            None => ("PostToolUseFailure", "error", json!(end.text)),
        };
        about[field] = value;
        let after = self.fire(agent, event, about);
        contexts.extend(after.contexts);
        match after.output {
            Some(output) => end.replaced(&output),
            None => end,
        }
    }

    fn run(&mut self, tool: &str, input: &Value) -> FakeToolEnd {
        match tool {
            "Agent" => self.subagent(input),
            "Skill" => self.skill(input["skill"].as_str().unwrap_or_default()),
            _ if mcp::is_tool(tool) => mcp::run(&self.home, tool, input),
            _ => {
                let (project, session) = (self.project.as_path(), self.id.as_str());
                let (variables, sandbox) = (self.hooks.variables(), self.hooks.sandbox());
                let surroundings = CommandSurroundings { project, session, variables, sandbox };
                tools::run(tool, input, &surroundings)
            }
        }
    }

    /// Loads a skill. The command in its text runs under hooks.
    fn skill(&mut self, name: &str) -> FakeToolEnd {
        let file = self.project.join(".claude/skills").join(name).join("SKILL.md");
        let text = fs::read_to_string(file).unwrap_or_default();
        let command = text.split_once("!`").and_then(|(_, rest)| rest.split('`').next());
        let Some(command) = command else {
            return FakeToolEnd::failure(format!("{name} has no command"));
        };
        let input = json!({"command": command});
        let id = format!("{name}:preamble-0");
        let fields = json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": id, "command_name": name});
        let agent = Agent { messages: Vec::new(), id: None };
        match self.fire(&agent, "PreSkillShellCommand", fields).refusal {
            Some(reason) => FakeToolEnd::failure(reason),
            None => self.run("Bash", &input),
        }
    }

    fn subagent(&mut self, input: &Value) -> FakeToolEnd {
        self.subagents += 1;
        let id = format!("a{:016x}", self.subagents);
        let mut agent = Agent { messages: Vec::new(), id: Some(id.clone()) };
        let start = self.fire(&agent, "SubagentStart", json!({}));
        let task = input["prompt"].as_str().unwrap_or_default().to_owned();
        agent.hear([task].into_iter().chain(start.contexts));
        match self.converse(&mut agent) {
            Ok(text) => {
                let content = json!([{"type": "text", "text": text}]);
                let response = json!({"status": "completed", "agentId": id, "content": content});
                FakeToolEnd { text, response: Some(response) }
            }
            Err(error) => FakeToolEnd::failure(error),
        }
    }

    /// Replaces the history by a summary.
    fn compact(&mut self, agent: &mut Agent) -> Result<(), String> {
        let why = json!({"trigger": "auto", "custom_instructions": null});
        let before = self.fire(agent, "PreCompact", why);
        if before.refusal.is_some() {
            return Err("the context is full".to_owned());
        }
        let task = "Your task is to create a detailed summary of the conversation.";
        agent.hear([format!("{task}\nAdditional Instructions:\n{}", before.text)]);
        let summary = model::ask(&self.url, &agent.messages)?.text();
        agent.messages.clear();
        let after = json!({"trigger": "auto", "compact_summary": summary});
        self.fire(agent, "PostCompact", after);
        let start = self.fire(agent, "SessionStart", json!({"source": "compact"}));
        agent.hear(start.contexts.into_iter().chain([summary]));
        Ok(())
    }

    fn fire(&self, agent: &Agent, event: &str, fields: impl Into<Value>) -> HookAnswer {
        if agent.id.is_some() && self.hooks.has(Defect::SkipsSubagents) {
            return HookAnswer::default();
        }
        let transcript = self.home.join(format!(".claude/projects/fake/{}.jsonl", self.id));
        let mut payload = json!({
            "session_id": self.id,
            "transcript_path": transcript,
            "cwd": self.project,
            "prompt_id": format!("prompt-{}", std::process::id()),
            "permission_mode": "bypassPermissions",
            "hook_event_name": event,
        });
        if let Some(id) = &agent.id {
            payload["agent_id"] = json!(id);
            payload["agent_type"] = json!("general-purpose");
        }
        if let (Value::Object(payload), Value::Object(fields)) = (&mut payload, fields.into()) {
            payload.extend(fields);
        }
        let answer = self.hooks.fire(event, &payload);
        answer.notices.iter().for_each(|notice| println(notice));
        answer
    }

    fn kept(&self) -> PathBuf {
        self.home.join(".claude/fake-session.json")
    }

    fn keep(&self, agent: &Agent) -> Result<(), String> {
        let session = json!({"id": self.id, "messages": agent.messages});
        let file = self.kept();
        let directory = file.parent().map_or(Ok(()), fs::create_dir_all);
        directory
            .and_then(|()| fs::write(&file, session.to_string()))
            .map_err(|error| error.to_string())
    }

    fn resume(&mut self, agent: &mut Agent) -> Result<(), String> {
        let text = fs::read_to_string(self.kept()).map_err(|error| error.to_string())?;
        let session: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        session["id"].as_str().unwrap_or_default().clone_into(&mut self.id);
        agent.messages = elements(&session["messages"]).to_vec();
        Ok(())
    }
}

#[expect(clippy::print_stdout, reason = "a client shows answers")]
fn println(text: &str) {
    println!("{text}");
}
