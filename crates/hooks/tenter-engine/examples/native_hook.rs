//! An agent with a hook in Rust: it denies `sudo`, besides the hooks in files.

use tenter_engine::protocol::reply::VerdictKind;
use tenter_engine::protocol::{Reply, Verdict};
use tenter_engine::{
    Engine, EngineBuilder, EventName, FailMode, NativeEvent, NativeRegistration, Scope, Timestamp,
    ToolCall, ToolDecision,
};

/// Reads the commands that the call would run: wrappers, quotes and pipes are already understood.
fn no_sudo(event: &NativeEvent<'_>) -> Result<Reply, String> {
    let facts = &event.facts().call;
    if facts.unparsed {
        return Err("the command cannot be read".to_owned());
    }
    let is_sudo = facts.commands.iter().any(|command| command.program == "sudo");
    let verdict = is_sudo.then(|| Verdict::new(VerdictKind::Deny, Some("no sudo here".to_owned())));
    Ok(Reply { verdict, ..Reply::default() })
}

pub(crate) fn with_hook(builder: EngineBuilder) -> EngineBuilder {
    let hook = NativeRegistration::new("no-sudo", [EventName::BeforeTool], no_sudo);
    builder.native_hook(hook.tool("^Bash$").priority(900).fail(FailMode::Closed))
}

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program does this in main")]
fn main() {
    let project = std::env::current_dir().unwrap_or_default();
    let builder = Engine::builder(&project).vars(std::env::vars_os()).clock(Timestamp::now);
    let (engine, _diagnostics) = with_hook(builder).load();
    let hooks = engine.session(Scope::new("conversation-1", project));
    for command in ["ls", "echo ok | sudo tee /etc/motd"] {
        let call = ToolCall::new("call-1", "bash", [("command".to_owned(), command.into())]);
        match hooks.before_tool(call) {
            ToolDecision::Run(_) => println!("{command}: may run"),
            ToolDecision::Ask(question) => println!("{command}: {}", question.reason),
            ToolDecision::Deny(denial) => println!("{command}: {}", denial.reason),
        }
    }
}
