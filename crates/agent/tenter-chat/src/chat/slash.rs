//! The commands of a chat: lines that begin with a slash.

mod about;
mod conversations;
mod diff;
mod export;
mod facts;
mod hooks;
mod images;
mod log;
mod model;
mod permissions;
mod plan;
mod recipe;
mod undo;

use tenter_agent::{Agent, Session};
use tenter_base::nearest;
use tenter_terminal::Failure;

use super::{Chat, ChatEnd};

pub(super) use conversations::recent as recent_conversations;
pub(super) use facts::status_line;
pub(super) use hooks::ACTIONS as HOOK_ACTIONS;
pub(super) use images::AttachedImage;

/// A command.
pub(super) struct Command {
    /// The name, without the slash.
    pub(super) name: &'static str,
    /// The argument in help texts; empty if it takes none.
    pub(super) argument: &'static str,
    help: &'static str,
    run: SlashFunction,
}

/// The end of the chat, if a command ends it.
type SlashResult = Result<Option<ChatEnd>, Failure>;

/// Runs a command with its argument. Returns why the session ends, if it does.
type SlashFunction = fn(&mut CommandContext, &str) -> SlashResult;

/// The chat and the session that a command works on.
pub(super) struct CommandContext<'t, 'c, 's> {
    pub(super) chat: &'t mut Chat<'c>,
    pub(super) session: &'t mut Session<'s>,
    pub(super) agent: &'t Agent,
}

const fn command(
    name: &'static str,
    argument: &'static str,
    help: &'static str,
    run: SlashFunction,
) -> Command {
    Command { name, argument, help, run }
}

/// Every command, in the order of `/help`.
pub(super) const COMMANDS: &[Command] = &[
    command("help", "", "list these commands", about::help),
    command("hooks", "[on|off|test NAME]", "list hooks; enable, disable or test one", hooks::hooks),
    command("trust", "", "review untrusted hooks, recipes and MCP servers", hooks::trust),
    command(
        "diff",
        "[FILE|last]",
        "show what the agent changed, of a file, or in the last turn",
        diff::diff,
    ),
    command("undo", "", "restore the files as they were before the agent's last turn", undo::undo),
    command("redo", "", "redo what was undone", undo::redo),
    command("log", "[N]", "show what hooks did in this conversation, or the newest N", log::log),
    command(
        "image",
        "[FILE|URL …|clear]",
        "attach images to the next message; show or clear them",
        images::image,
    ),
    command(
        "recipe",
        "[NAME [ARG=VALUE …] [MESSAGE]]",
        "list recipes; with NAME, run that one",
        recipe::recipe,
    ),
    command("init", "[ARG=VALUE …]", "the same as /recipe init: write AGENTS.md", recipe::init),
    command(
        "review",
        "[ARG=VALUE …] [MESSAGE]",
        "the same as /recipe review: review the changes that are not committed",
        recipe::review,
    ),
    command("export", "[FILE]", "write the conversation to a Markdown file", export::export),
    command(
        "compact",
        "[NAME=VALUE]",
        "compact the conversation; NAME=VALUE passes an argument to the recipe",
        model::compact,
    ),
    command("model", "[NAME]", "show the model; with NAME, switch to it", model::model),
    command(
        "permissions",
        "[MODE|add RULE|remove RULE]",
        "show which calls ask, and the rules; switch the mode, change the rules",
        permissions::permissions,
    ),
    command(
        "plan",
        "[MESSAGE]",
        "begin or end plan mode, as Shift-Tab does: nothing changes until you approve a plan",
        plan::plan,
    ),
    command("go", "", "approve the plan: end plan mode and carry it out", plan::go),
    command("status", "", "show the model, permissions, hooks, servers and tokens", facts::status),
    command("usage", "", "show tokens, the context in use, and cost", model::usage),
    command("cost", "", "the same as /usage", model::usage),
    command("context", "", "show what fills the context window", facts::context),
    command("mcp", "", "list MCP servers", facts::mcp),
    command("skills", "", "list skills", facts::skills),
    command(
        "resume",
        "[ID]",
        "choose another conversation of this project; with ID, continue that one",
        conversations::resume,
    ),
    command("new", "", "start a new conversation", conversations::new),
    command("clear", "", "the same as /new", conversations::new),
    command("exit", "", "end the chat, as Ctrl-D does", about::exit),
    command("quit", "", "the same as /exit", about::exit),
];

/// Runs the command of this name.
pub(super) fn run(context: &mut CommandContext, name: &str, argument: &str) -> SlashResult {
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(unknown(name));
    };
    if command.argument.is_empty() && !argument.is_empty() {
        return Err(Failure::usage(format!("/{name} takes no argument")));
    }
    (command.run)(context, argument)
}

fn unknown(name: &str) -> Failure {
    let suggestion = nearest(name, COMMANDS.iter().map(|command| command.name));
    let suggestion =
        suggestion.map(|suggestion| format!("did you mean /{suggestion}? ")).unwrap_or_default();
    Failure::usage(format!("there is no command /{name}")).help(format!(
        "{suggestion}/help lists the commands; begin a message with two slashes to send one"
    ))
}
