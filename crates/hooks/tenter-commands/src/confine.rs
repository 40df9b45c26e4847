//! `tenter confine`: runs a command with fewer rights.

use std::ffi::OsString;
use std::process::ExitCode;

use tenter_confine::{Surroundings, launcher};
use tenter_terminal::{CommandResult, Env, Failure};

/// Run a command with fewer rights.
///
/// The Linux kernel keeps them: which places may be written, what may not be read, and which network may be used. Without a profile, the
/// command writes the project and temporary files, reads no keys and credentials, and has no network.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tenter confine -- make test\n  tenter confine --profile build -- npm install\n  tenter confine --check"
)]
pub struct Args {
    /// Use this profile: standard, build, pure, or your own.
    #[arg(long, value_name = "NAME")]
    profile: Vec<String>,
    /// Use this confinement, as JSON.
    #[arg(long, value_name = "JSON", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    spec: Option<String>,
    /// Note what is kept in this new file.
    #[arg(long, value_name = "FILE")]
    check_in: Option<std::path::PathBuf>,
    /// Print what this machine keeps, and run nothing.
    #[arg(long)]
    check: bool,
    /// The command.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the launcher if the first of the process's arguments is `confine`, before this process has done anything that the command would
/// inherit. The command line prints its help.
pub fn run_first(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != launcher::COMMAND {
        return None;
    }
    let arguments: Vec<OsString> = arguments.collect();
    let is_help = |argument: &OsString| argument == "--help" || argument == "-h";
    if arguments.is_empty() || arguments.iter().take_while(|one| *one != "--").any(is_help) {
        return None;
    }
    let env = Env::read_process();
    let surroundings = Surroundings::new(env.cwd, env.home, env.vars);
    Some(launcher::run(&arguments, surroundings, launcher::configured_profile))
}

/// Fails: an option before the command would have to be applied before this process started.
///
/// # Errors
/// Always.
pub fn run(_: &Args) -> CommandResult {
    Err(Failure::usage("`confine` must be the first argument, with a command or --check")
        .help("run tenter confine -- COMMAND, or tenter confine --check"))
}
