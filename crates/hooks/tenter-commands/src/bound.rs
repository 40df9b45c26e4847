//! A command that is part of no help: this program continues as another one, which the system kills when the process that started it is
//! killed (S9). The processes of runtime hooks are started with it.

use std::ffi::OsString;
use std::process::ExitCode;

use tenter_engine::inspect::Trampoline;
use tenter_terminal::{Env, Failure, ui};

/// The first argument.
const COMMAND: &str = "__bound";
/// The exit code if the program cannot be started, as in shells.
const NOT_STARTED: u8 = 126;

/// Returns the program that starts programs that die with this one.
pub fn trampoline() -> Trampoline {
    Trampoline { program: Env::program(), args: vec![COMMAND.into()] }
}

/// Continues as the program in the arguments, if they begin with the command. Returns only if that fails.
pub fn run(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != COMMAND {
        return None;
    }
    let error = tenter_proc::exec_bound_to_parent(arguments);
    ui::failure(&Failure::new(format!("cannot start the program: {error}")));
    Some(ExitCode::from(NOT_STARTED))
}
