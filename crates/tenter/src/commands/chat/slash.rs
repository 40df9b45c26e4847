//! The commands of a chat: lines that begin with a slash.

mod about;
mod conversations;
mod hooks;
mod model;

use tenter_agent::{Agent, Session};
use tenter_base::nearest;

use super::{After, Chat};
use crate::failure::Failure;

pub(super) use conversations::recent as recent_conversations;

/// A command.
pub(super) struct Command {
    /// Its name, without the slash.
    pub(super) name: &'static str,
    /// What may follow; empty where nothing does.
    pub(super) argument: &'static str,
    help: &'static str,
    run: Run,
}

/// Does a command, given what follows its name. Unless there is something after the session, the next line is read.
type Run = fn(&mut Talk, &str) -> Result<Option<After>, Failure>;

/// What a command works on.
pub(super) struct Talk<'t, 'c, 's> {
    pub(super) chat: &'t mut Chat<'c>,
    pub(super) session: &'t mut Session<'s>,
    pub(super) agent: &'t Agent,
}

const fn command(
    name: &'static str,
    argument: &'static str,
    help: &'static str,
    run: Run,
) -> Command {
    Command { name, argument, help, run }
}

/// Every command, in the order in which they are listed.
pub(super) const COMMANDS: &[Command] = &[
    command("help", "", "list these commands", about::help),
    command("hooks", "", "list the hooks: which run, and why the others do not", hooks::list),
    command(
        "trust",
        "",
        "look at untrusted hooks and recipes, and say which may run",
        hooks::trust,
    ),
    command(
        "compact",
        "[NAME=VALUE]",
        "shorten the conversation to what matters; NAME=VALUE gives the recipe an argument",
        model::compact,
    ),
    command("model", "[NAME]", "show the model; with NAME, go on with that one", model::model),
    command("usage", "", "show tokens, the context in use, and cost", model::usage),
    command(
        "resume",
        "[ID]",
        "list conversations; with ID, go on with that one",
        conversations::resume,
    ),
    command("new", "", "begin a new conversation", conversations::new),
    command("clear", "", "the same as /new", conversations::new),
    command("exit", "", "end the chat, as Ctrl-D does", about::exit),
];

/// Does the command that is named.
pub(super) fn run(talk: &mut Talk, name: &str, argument: &str) -> Result<Option<After>, Failure> {
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(unknown(name));
    };
    if command.argument.is_empty() && !argument.is_empty() {
        return Err(Failure::usage(format!("/{name} stands alone")));
    }
    (command.run)(talk, argument)
}

fn unknown(name: &str) -> Failure {
    let meant = nearest(name, COMMANDS.iter().map(|command| command.name));
    let meant = meant.map(|meant| format!("did you mean /{meant}? ")).unwrap_or_default();
    Failure::usage(format!("there is no command /{name}")).help(format!(
        "{meant}/help lists them; a message that begins with a slash is typed with two"
    ))
}
