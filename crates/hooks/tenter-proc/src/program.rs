//! Finds the file of a program, and explains why it could not be started.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf, is_separator};

use tenter_base::search_path::{self, path_variable};
use tenter_base::untrusted_file;

use crate::{Invocation, os};

/// Returns the file to start. A bare name is looked up in the `PATH` of the invocation's own environment; any other relative path
/// is relative to the working directory. Relative directories in `PATH` are ignored: they would be inside the project.
pub(crate) fn find(invocation: &Invocation) -> io::Result<PathBuf> {
    let Invocation { program, cwd, .. } = invocation;
    if !cwd.is_absolute() {
        let message = format!("the working directory `{}` is not an absolute path", cwd.display());
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    if program.as_os_str().as_encoded_bytes().iter().any(|byte| is_separator(char::from(*byte))) {
        return Ok(cwd.join(program));
    }
    find_in_path(invocation).ok_or_else(|| not_in_path(invocation))
}

fn find_in_path(invocation: &Invocation) -> Option<PathBuf> {
    let Invocation { program, env, .. } = invocation;
    // A file that may not be executed is better than none: the error then says so.
    search_path::program(program, env)
        .or_else(|| search_path::files(program, path_variable(env)).next())
}

fn not_in_path(invocation: &Invocation) -> io::Error {
    let (name, path) = (invocation.program.display(), path_variable(&invocation.env).display());
    let message = format!("there is no program `{name}` in PATH ({path})");
    io::Error::new(ErrorKind::NotFound, message)
}

/// Explains an error of starting a program. The system has a single error code for a missing working directory, program or
/// interpreter.
pub(crate) fn explain(error: &io::Error, invocation: &Invocation, file: &Path) -> io::Error {
    let cwd = &invocation.cwd;
    // The dot also checks the permission to enter the directory.
    if let Err(error) = fs::metadata(cwd.join(".")) {
        let message = format!("the working directory `{}` cannot be used: {error}", cwd.display());
        return io::Error::new(error.kind(), message);
    }
    let name = file.display();
    let message = match error.kind() {
        ErrorKind::NotFound => match interpreter(file) {
            Some(line) => format!("`{name}` has an interpreter that does not exist: {line:?}"),
            None => format!("the program `{name}` does not exist"),
        },
        ErrorKind::PermissionDenied if file.is_dir() => {
            format!("`{name}` is a directory, not a program")
        }
        ErrorKind::PermissionDenied => format!("`{name}` is not executable; run `chmod +x` on it"),
        ErrorKind::ExecutableFileBusy => {
            format!("`{name}` is open for writing in another program; close it there and try again")
        }
        _ if os::is_no_program(error) && is_binary(file) => {
            format!("`{name}` is a program for another architecture; build it for this machine")
        }
        _ if os::is_no_program(error) => {
            format!("`{name}` is not a program: a script must begin with a `#!` line")
        }
        _ => format!("`{name}`: {error}"),
    };
    io::Error::new(error.kind(), message)
}

/// Returns the `#!` line of a script, as far as the system reads it.
fn interpreter(file: &Path) -> Option<String> {
    let start = start_of(file).ok()?;
    let line = start.split(|byte| *byte == b'\n').next()?;
    line.starts_with(b"#!").then(|| String::from_utf8_lossy(line).into_owned())
}

/// Returns true if a file is a compiled program (ELF), for any architecture.
fn is_binary(file: &Path) -> bool {
    start_of(file).is_ok_and(|start| start.starts_with(b"\x7fELF"))
}

/// Returns the part of a file that the system reads to determine its type.
fn start_of(file: &Path) -> io::Result<Vec<u8>> {
    untrusted_file::read_prefix(file, 256)
}
