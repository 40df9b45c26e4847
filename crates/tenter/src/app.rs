//! The commands, and which function does each.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands::{
    chat, commit, conversation, demo, help, hooks, log, models, plugin, pr, recipe, run, skill,
    trust,
};
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::ui::{self, ColorWhen};

/// Run a coding agent under lifecycle hooks: your programs watch, block, rewrite and steer what it does.
///
/// First time here? `tenter demo` shows everything in a scratch project, without a key and without a network.
#[derive(Debug, Parser)]
#[command(name = "tenter", version, propagate_version = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, after_long_help = help::listing())]
struct App {
    /// The project's folder, instead of the one around the working folder.
    #[arg(long, global = true, value_name = "DIR")]
    project: Option<PathBuf>,
    /// When to use colours.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorWhen,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer one query.
    Run(run::Args),
    /// Talk with an agent at the terminal.
    Chat(chat::Args),
    /// See hooks at work in a scratch project: no key, no network.
    Demo(demo::Args),
    /// List, look at, make and try hooks.
    #[command(subcommand)]
    Hooks(hooks::Command),
    /// Say which of the project's hooks may run, and which of its recipes may start programs.
    Trust(trust::Args),
    /// List, search, show, export, fork, restore and delete stored conversations.
    #[command(subcommand)]
    Conversation(conversation::Command),
    /// Install, list, update, verify and remove plugins: hooks, skills and recipes from a repository.
    #[command(subcommand)]
    Plugin(plugin::Command),
    /// List recipes, and show their prompts.
    #[command(subcommand)]
    Recipe(recipe::Command),
    /// Commit what is staged with a message that the model writes.
    Commit(commit::Args),
    /// Write a pull request for the commits of this branch, and create it.
    Pr(pr::Args),
    /// List skills, and show their instructions.
    #[command(subcommand)]
    Skill(skill::Command),
    /// Show what hooks did: the journal.
    Log(log::Args),
    /// List the models that are known.
    Models(models::Args),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print a page of the manual, or the help of a command.
    Help(help::Args),
}

/// Runs the command that the arguments name.
pub(crate) fn main(env: &Env) -> ExitCode {
    let app = App::parse();
    app.color.apply();
    let project = app.project.as_deref();
    let done = match app.command {
        Command::Run(args) => run::run(env, project, &args),
        Command::Chat(args) => chat::run(env, project, &args),
        Command::Demo(args) => demo::run(env, &args),
        Command::Hooks(command) => hooks::run(env, project, &command),
        Command::Trust(args) => trust::run(env, project, &args),
        Command::Conversation(command) => conversation::run(env, project, &command),
        Command::Plugin(command) => plugin::run(env, project, &command),
        Command::Recipe(command) => recipe::run(env, project, &command),
        Command::Commit(args) => commit::run(env, project, &args),
        Command::Pr(args) => pr::run(env, project, &args),
        Command::Skill(command) => skill::run(env, project, &command),
        Command::Log(args) => log::run(env, project, &args),
        Command::Models(args) => models::run(env, project, &args),
        Command::Completions { shell } => Ok(completions(shell)),
        Command::Help(args) => help::run(env, project, App::command(), &args),
    };
    done.unwrap_or_else(|failure| failed(&failure)).into()
}

fn completions(shell: clap_complete::Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut App::command(), "tenter", &mut script);
    ui::out_piece(String::from_utf8_lossy(&script));
    Exit::Done
}

fn failed(failure: &Failure) -> Exit {
    ui::failure(failure);
    failure.exit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        App::command().debug_assert();
    }
}
