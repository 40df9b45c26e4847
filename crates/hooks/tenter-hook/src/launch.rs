//! `tenter-launch`, the launcher of confined commands: what `tenter-hook confine` is, in a program of its own. It is small, because a
//! command waits for its start: of a large program, twice as many memory pages would be touched (F5).

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use tenter_confine::{Confinement, Surroundings, launcher};

/// The program that reads profiles of the user's.
const PROGRAM: &str = "tenter-hook";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some((first, arguments)) = arguments.split_first()
        && first == launcher::COMMAND
    {
        return launcher::run(arguments, Surroundings::read_process(), leave_to_tenter_hook);
    }
    if arguments == ["--version"] {
        let line = concat!("tenter-launch ", env!("CARGO_PKG_VERSION"), "\n");
        let is_written = std::io::stdout().write_all(line.as_bytes()).is_ok();
        return if is_written { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if arguments == ["--help"] || arguments == ["-h"] {
        return launcher::help();
    }
    let _ = writeln!(std::io::stderr(), "{}", launcher::USAGE);
    ExitCode::FAILURE
}

/// Becomes the program that knows the configuration, with the same arguments. Agents give the launcher whole confinements, so that it
/// needs none.
#[expect(clippy::disallowed_methods, reason = "the process becomes another launcher")]
fn leave_to_tenter_hook(name: &str, _: &Surroundings) -> Result<Option<Confinement>, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = own.with_file_name(PROGRAM);
    let error = Command::new(&program).args(std::env::args_os().skip(1)).exec();
    Err(format!("the profile {name:?} needs {}: {error}", program.display()))
}
