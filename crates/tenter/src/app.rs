//! The command line: every command, and the function that runs it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tenter_commands::project::Project;
use tenter_commands::trust::command as trust;
use tenter_commands::{
    Commands, Deferred, OwnAgent, backtest, bridge, bundle, checkpoint, config, confine, export,
    guard, help, hooks, inspect, journal, log, man, parse_line, plugin, registered_program,
};
use tenter_terminal::screen::screen;
use tenter_terminal::ui::ColorWhen;
use tenter_terminal::{CommandResult, Env, Exit, Failure, signals, ui};

use crate::grouped_help::with_groups;
use crate::{completion, unknown_command};

#[cfg(feature = "agent")]
use tenter_chat::{chat, commit, conversation, demo, mcp, models, pr, recipe, run, skill};

#[cfg(feature = "agent")]
const AGENT: &dyn OwnAgent = &tenter_chat::TenterAgent;
#[cfg(not(feature = "agent"))]
const AGENT: &dyn OwnAgent = &tenter_commands::NoAgent;

/// Lifecycle hooks for coding agents: your programs watch, block, rewrite and steer what an agent does.
#[cfg_attr(
    feature = "agent",
    doc = r"
New here? `tenter demo` shows hooks at work in a scratch project, without a key or a network."
)]
#[cfg_attr(
    not(feature = "agent"),
    doc = r"
This build of tenter has no agent of its own."
)]
#[derive(Debug, Parser)]
#[command(name = "tenter", version, long_version = version_with_commit(), propagate_version = true)]
#[command(arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
struct App {
    /// Use the project in DIR instead of the current one.
    #[arg(long, global = true, value_name = "DIR")]
    project: Option<PathBuf>,
    /// When to use colours.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorWhen,
    #[command(subcommand)]
    command: Commands<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[cfg(feature = "agent")]
    /// Run an agent on one query.
    Run(Deferred<run::Args>),
    #[cfg(feature = "agent")]
    /// Chat with an agent in the terminal.
    Chat(Deferred<chat::Args>),
    #[cfg(feature = "agent")]
    /// Show hooks at work in a scratch project.
    Demo(Deferred<demo::Args>),
    /// List, add, change, update and remove ready-made guards.
    #[command(subcommand)]
    Guard(Deferred<guard::Command>),
    /// Show what your hooks would have done with past tool calls.
    Backtest(Deferred<backtest::Args>),
    /// List, show and restore earlier states of the files.
    #[command(subcommand)]
    Checkpoint(Deferred<checkpoint::Command>),
    /// List, add, show, create, test and diagnose hooks.
    #[command(subcommand)]
    Hooks(Deferred<hooks::Command>),
    /// Check what your hooks decide about a command.
    Check(Deferred<hooks::check::Args>),
    /// Choose which hooks and recipes of the project to trust.
    Trust(Deferred<trust::Args>),
    #[cfg(feature = "agent")]
    /// List, search, show, export, fork, restore and delete conversations.
    #[command(subcommand)]
    Conversation(Deferred<conversation::Command>),
    /// Add, list, update, verify and remove plugins.
    #[command(subcommand)]
    Plugin(Deferred<plugin::Command>),
    /// Pack, sign, install and update managed hooks.
    #[command(subcommand)]
    Bundle(Deferred<bundle::Command>),
    /// Use your hooks in other agents, such as Claude Code.
    #[command(subcommand)]
    Bridge(Deferred<bridge::Command>),
    /// Run a command with fewer rights.
    Confine(Deferred<confine::Args>),
    #[cfg(feature = "agent")]
    /// List recipes and show their prompts.
    #[command(subcommand)]
    Recipe(Deferred<recipe::Command>),
    #[cfg(feature = "agent")]
    /// Commit staged changes with a message from the model.
    Commit(Deferred<commit::Args>),
    #[cfg(feature = "agent")]
    /// Create a pull request with a text from the model.
    Pr(Deferred<pr::Args>),
    #[cfg(feature = "agent")]
    /// List and show skills.
    #[command(subcommand)]
    Skill(Deferred<skill::Command>),
    #[cfg(feature = "agent")]
    /// Add, remove, list, test and log in with MCP servers.
    #[command(subcommand)]
    Mcp(Deferred<mcp::Command>),
    /// Show what hooks did.
    Log(Deferred<log::Args>),
    /// Seal journals, find later changes, and delete old ones.
    #[command(subcommand)]
    Journal(Deferred<journal::Command>),
    /// Send the records of journals to a collector, or print them.
    #[command(subcommand)]
    Export(Deferred<export::Command>),
    /// Show in a browser what hooks did, live.
    Inspect(Deferred<inspect::Args>),
    #[cfg(feature = "agent")]
    /// List known models.
    Models(Deferred<models::Args>),
    /// List, get, set and edit settings.
    #[command(subcommand)]
    Config(Deferred<config::Command>),
    /// Print a shell completion script.
    ///
    /// It completes commands, options, and names: of hooks, conversations, models, settings. For bash, add this line to ~/.bashrc:
    /// source <(tenter completions bash)
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands.
    Man(Deferred<man::Args>),
    /// Print a page of the manual, or the help of a command.
    Help(Deferred<help::Args>),
}

/// Returns the version, and the commit of a packaged program: `packaging/common.sh` sets it for the build.
fn version_with_commit() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let version = env!("CARGO_PKG_VERSION");
        let commit = option_env!("TENTER_COMMIT").filter(|commit| !commit.is_empty());
        commit.map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"))
    });
    &VERSION
}

/// Prints the version if nothing else is requested. The command tree, which this does not need, takes longer than the rest.
pub(crate) fn version(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != "--version" || arguments.next().is_some() {
        return None;
    }
    ui::out(format_args!("tenter {}", version_with_commit()));
    Some(Exit::Done.into())
}

/// Runs the command that the arguments name.
pub(crate) fn main(env: &Env) -> ExitCode {
    let arguments = arguments(Env::arguments().collect());
    let app = match parse(&arguments) {
        Ok(app) => app,
        Err(error) => match unknown_command::failure(&error, &arguments, command()) {
            Some(failure) => return failed(&failure).into(),
            None => error.exit(),
        },
    };
    app.color.apply();
    if let Err(failure) = env.check_home() {
        return failed(&failure).into();
    }
    if env.can_redraw() {
        screen().enable();
        signals::watch_continuing(screen().continued());
    }
    let (project, Commands(chosen)) = (app.project.as_deref(), app.command);
    if !matches!(chosen, Command::Bridge(_) | Command::Completions { .. }) {
        registered_program::warn_if_outdated(env);
    }
    let result = match chosen {
        #[cfg(feature = "agent")]
        Command::Run(args) => run::run(env, project, &args),
        #[cfg(feature = "agent")]
        Command::Chat(args) => chat::run(env, project, &args),
        #[cfg(feature = "agent")]
        Command::Demo(args) => demo::run(env, &args),
        Command::Guard(command) => guard::run(env, project, &command, AGENT),
        Command::Backtest(args) => backtest::run(env, project, &args, &guard::texts, AGENT),
        Command::Checkpoint(command) => checkpoint::run(env, project, &command),
        Command::Hooks(command) => hooks::run(env, project, &command, AGENT),
        Command::Check(args) => {
            Project::open(env, project).and_then(|project| hooks::check::run(project, &args))
        }
        Command::Trust(args) => trust::run(env, project, &args, AGENT),
        #[cfg(feature = "agent")]
        Command::Conversation(command) => conversation::run(env, project, &command),
        Command::Plugin(command) => plugin::run(env, project, &command, AGENT),
        Command::Bundle(command) => bundle::run(env, &command),
        Command::Bridge(command) => bridge::run(env, project, &command),
        Command::Confine(args) => confine::run(&args),
        #[cfg(feature = "agent")]
        Command::Recipe(command) => recipe::run(env, project, &command),
        #[cfg(feature = "agent")]
        Command::Commit(args) => commit::run(env, project, &args),
        #[cfg(feature = "agent")]
        Command::Pr(args) => pr::run(env, project, &args),
        #[cfg(feature = "agent")]
        Command::Skill(command) => skill::run(env, project, &command),
        #[cfg(feature = "agent")]
        Command::Mcp(command) => mcp::run(env, project, &command),
        Command::Log(args) => log::run(env, project, &args, AGENT),
        Command::Journal(command) => journal::run(env, project, &command),
        Command::Export(command) => export::run(env, project, &command, AGENT),
        Command::Inspect(args) => inspect::run(env, project, &args, AGENT),
        #[cfg(feature = "agent")]
        Command::Models(args) => models::run(env, project, &args),
        Command::Config(command) => config::run(env, project, &command),
        Command::Completions { shell } => completions(shell),
        Command::Man(args) => man::run(App::command(), &args),
        Command::Help(args) => help::run(env, project, command(), &args),
    };
    let exit = result.unwrap_or_else(|failure| failed(&failure));
    let error = ui::lost_output().filter(|_| exit == Exit::Done);
    error.map_or(exit, |failure| failed(&failure)).into()
}

/// Parses the arguments. What a short command would only create and free again takes a quarter of its time: other commands, the help of the
/// program, which is shown only where no command is first, and the memory of the command line.
fn parse(arguments: &[OsString]) -> Result<App, clap::Error> {
    let is_command = |argument: &OsString| !argument.to_string_lossy().starts_with('-');
    let has_command = arguments.get(1).is_some_and(is_command);
    parse_line(arguments, || {
        let mut program = if has_command { App::command() } else { command() };
        let matches = program.try_get_matches_from_mut(arguments);
        std::mem::forget(program);
        App::from_arg_matches(&matches?)
    })
}

/// Returns the arguments with `run` before a task: `tenter "do this"` is `tenter run "do this"`. A task has several words, and so is no
/// misspelt command.
fn arguments(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_task = |argument: &OsString| {
        let text = argument.to_string_lossy();
        !text.starts_with('-') && text.trim().contains(char::is_whitespace)
    };
    if cfg!(feature = "agent") && arguments.first().is_some_and(is_task) {
        arguments.insert(0, "run".into());
    }
    arguments.insert(0, "tenter".into());
    arguments
}

/// Returns the command line, whose help has groups.
pub(crate) fn command() -> clap::Command {
    with_groups(App::command())
}

fn completions(shell: clap_complete::Shell) -> CommandResult {
    ui::out_raw(&completion::script(shell)?);
    Ok(Exit::Done)
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

    /// Lists the options that `command` and its subcommands have twice: a command whose arguments are deferred cannot replace a global one.
    fn find_doubled(command: &clap::Command) -> Vec<String> {
        let mut names = std::collections::HashSet::new();
        let options = command.get_arguments().filter_map(clap::Arg::get_long);
        let own = options.filter(|option| !names.insert(*option));
        let own = own.map(|option| format!("{} --{option}", command.get_name()));
        own.chain(command.get_subcommands().flat_map(find_doubled)).collect()
    }

    #[test]
    fn no_command_has_an_option_twice() {
        let mut app = App::command();
        app.build();
        assert_eq!(find_doubled(&app), [""; 0]);
    }

    #[test]
    fn a_line_that_names_a_command_is_parsed_as_with_all_commands() {
        for line in [
            "hooks list",
            "hooks lsit",
            "hooks list --nope",
            "hooks list --help",
            "hooks --help",
            "guard add",
            "hooks add keys --project .",
            "hooks",
            "hook list",
            "log --sesion last",
            "--project hooks hooks show",
            "config get list",
        ] {
            let arguments = super::arguments(line.split(' ').map(OsString::from).collect());
            let described = |result: Result<App, clap::Error>| match result {
                Ok(app) => format!("{app:?}"),
                Err(error) => error.render().to_string(),
            };
            let expected = described(App::try_parse_from(&arguments));
            assert_eq!(described(parse(&arguments)), expected, "{line}");
        }
    }

    #[test]
    fn the_version_is_printed_without_the_command_tree_only_if_it_is_all_that_is_requested() {
        let is_printed = |arguments: &[&str]| version(arguments.iter().map(Into::into)).is_some();
        assert!(is_printed(&["--version"]));
        for other in [&[][..], &["hooks"], &["--version", "hooks"], &["hooks", "--version"]] {
            assert!(!is_printed(other), "{other:?}");
        }
    }

    #[test]
    fn every_command_has_a_group_and_the_help_fits_a_screen() {
        let help = command().render_help().to_string();
        assert!(!help.contains("\nOther\n"), "{help}");
        assert!(help.lines().count() <= 42, "{help}");
        for command in App::command().get_subcommands() {
            assert!(help.contains(&format!("\n  {} ", command.get_name())), "{help}");
        }
    }

    /// Words of the standard library's parse errors.
    const RAW: [&str; 10] = [
        "invalid digit",
        "number too large",
        "number too small",
        "cannot parse",
        "invalid float",
        "provided string was not",
        "number would be zero",
        "is not in ",
        "out of range integral",
        "invalid character",
    ];

    /// Returns the values that `command` and its subcommands take, as command lines.
    fn arguments(command: &clap::Command, path: &[String]) -> Vec<Vec<String>> {
        let valued = command.get_arguments().filter(|one| one.get_action().takes_values());
        let own = valued.map(|one| {
            let long = one.get_long().map(|long| format!("--{long}"));
            let short = one.get_short().map(|short| format!("-{short}"));
            path.iter().cloned().chain(long.or(short)).collect()
        });
        let below = command.get_subcommands().flat_map(|subcommand| {
            let path = [path, &[subcommand.get_name().to_owned()]].concat();
            arguments(subcommand, &path)
        });
        own.chain(below).collect()
    }

    #[test]
    fn no_argument_answers_with_the_words_of_a_parser() {
        let mut app = App::command();
        app.build();
        let lines = arguments(&app, &["tenter".to_owned()]);
        assert!(lines.len() > 100);
        for line in lines {
            for value in ["x", "", "-1", "1.5.5", "1e999", "99999999999999999999999", "0", "é"] {
                let line = line.iter().cloned().chain([value.to_owned()]);
                let Err(error) = App::command().try_get_matches_from(line.clone()) else {
                    continue;
                };
                let error = error.to_string();
                let raw = RAW.iter().find(|raw| error.contains(*raw));
                assert_eq!(raw, None, "{:?}: {error}", line.collect::<Vec<_>>());
            }
        }
    }
}
