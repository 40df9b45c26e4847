//! A complete agent under hooks: its model is a script, its tool `run` is a shell, and its user always says no.

use tenter_engine::protocol::{event::StopAttempt, tool_metadata::Bash};
use tenter_engine::{Attributed, Engine, HookSession, MessageDecision, PermissionAnswer};
use tenter_engine::{Scope, Timestamp, ToolCall, ToolDecision, ToolResult};

pub(crate) struct Agent<'e> {
    pub(crate) hooks: HookSession<'e>,
    /// The messages that the model reads.
    pub(crate) conversation: Vec<String>,
}

impl Agent<'_> {
    /// Answers a user message. `model` is what the model says in turn; `$ …` is a call of the tool.
    pub(crate) fn answer(&mut self, message: &str, model: &[&str]) {
        match self.hooks.before_agent(message) {
            MessageDecision::Deny(denial) => return self.conversation.push(denial.reason),
            MessageDecision::Send { message, contexts } => {
                self.conversation.push(message);
                self.add(contexts);
            }
        }
        for response in model {
            if let Some(command) = response.strip_prefix("$ ") {
                let input = [("command".to_owned(), command.into())];
                self.call(ToolCall::new("call-1", "run", input));
                continue;
            }
            self.conversation.push((*response).to_owned());
            let review = self.hooks.before_stop(StopAttempt::new(*response));
            if review.follow_ups.is_empty() {
                break;
            }
            self.add(review.follow_ups);
        }
    }

    fn call(&mut self, call: ToolCall) {
        let decision = match self.hooks.before_tool(call.clone()) {
            ToolDecision::Run(approved) => Ok(approved),
            ToolDecision::Ask(question) => self.hooks.answer(question, PermissionAnswer::No),
            ToolDecision::Deny(denial) => Err(denial),
        };
        let time = self.hooks.timestamp();
        let (call, result, contexts) = match decision {
            Ok(approved) => (approved.call.clone(), shell(&approved.call, time), approved.contexts),
            Err(deny) => (call, ToolResult::blocked("run", &deny.reason, time), deny.contexts),
        };
        let review = self.hooks.after_tool(call, result);
        self.conversation.push(review.result.text());
        self.add(contexts);
        self.add(review.feedback.into_messages());
    }

    fn add(&mut self, messages: Vec<Attributed<String>>) {
        self.conversation.extend(messages.into_iter().map(|message| message.value));
    }
}

#[expect(clippy::disallowed_methods, reason = "this agent starts its programs itself")]
fn shell(call: &ToolCall, time: String) -> ToolResult {
    let command = call.input["command"].as_str().unwrap_or_default();
    let Ok(result) = std::process::Command::new("sh").args(["-c", command]).output() else {
        return ToolResult::failure("run", "there is no shell", time);
    };
    let output = String::from_utf8_lossy(&result.stdout).into_owned();
    ToolResult::success("run", &Bash { output, ..Bash::default() }, time)
}

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program does this in main")]
fn main() {
    let project = std::env::current_dir().unwrap_or_default();
    let builder = Engine::builder(&project).vars(std::env::vars_os()).clock(Timestamp::now);
    let (engine, diagnostics) = builder.tool_alias("run", "bash").load();
    diagnostics.iter().map(|item| &item.message).for_each(|message| println!("{message}"));
    let hooks = engine.session(Scope::new("conversation-1", project));
    let mut agent = Agent { hooks, conversation: Vec::new() };
    agent.answer("Which files are here?", &["$ ls", "These are the files.", "Nothing else."]);
    agent.conversation.iter().for_each(|message| println!("{message}"));
}
