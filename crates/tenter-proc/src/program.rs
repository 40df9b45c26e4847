//! Which file a program's name stands for, and why it could not be started, in words for the one who wrote it.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf, is_separator};

use tenter_base::search_path::{self, path_variable};

use crate::{Invocation, os};

/// The file to start. A bare name is looked up in the `PATH` of the invocation's own environment; any other relative path
/// starts at its working folder. A folder of `PATH` that is not absolute counts for nothing: it would be one of the project's,
/// and so would the program.
pub(crate) fn find(invocation: &Invocation) -> io::Result<PathBuf> {
    let Invocation { program, cwd, .. } = invocation;
    if !cwd.is_absolute() {
        let message = format!("the working folder `{}` is not an absolute path", cwd.display());
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
    let message = format!("there is no program `{name}` in the folders of PATH ({path})");
    io::Error::new(ErrorKind::NotFound, message)
}

/// The error of a start, told by its cause: the system has one code for a missing working folder, program and interpreter.
pub(crate) fn explain(error: &io::Error, invocation: &Invocation, file: &Path) -> io::Error {
    let cwd = &invocation.cwd;
    // The dot asks for the right to enter the folder as well.
    if let Err(error) = fs::metadata(cwd.join(".")) {
        let message = format!("the working folder `{}` cannot be used: {error}", cwd.display());
        return io::Error::new(error.kind(), message);
    }
    let name = file.display();
    let message = match error.kind() {
        ErrorKind::NotFound => match interpreter(file) {
            Some(line) => format!("`{name}` wants an interpreter that does not exist: {line:?}"),
            None => format!("the program `{name}` does not exist"),
        },
        ErrorKind::PermissionDenied if file.is_dir() => {
            format!("`{name}` is a folder, not a program")
        }
        ErrorKind::PermissionDenied => format!("`{name}` may not be executed; try `chmod +x`"),
        ErrorKind::ExecutableFileBusy => {
            format!("`{name}` is open for writing in some program; close it there, then try again")
        }
        _ if os::is_no_program(error) && is_binary(file) => {
            format!("`{name}` is a program for another kind of machine; build it for this one")
        }
        _ if os::is_no_program(error) => {
            format!("`{name}` is no program: a script must begin with a `#!` line")
        }
        _ => format!("`{name}` could not be started: {error}"),
    };
    io::Error::new(error.kind(), message)
}

/// The `#!` line of a script, or as much of it as the system reads.
fn interpreter(file: &Path) -> Option<String> {
    let start = start_of(file).ok()?;
    let line = start.split(|byte| *byte == b'\n').next()?;
    line.starts_with(b"#!").then(|| String::from_utf8_lossy(line).into_owned())
}

/// Whether a file is a compiled program (ELF), for whatever machine.
fn is_binary(file: &Path) -> bool {
    start_of(file).is_ok_and(|start| start.starts_with(b"\x7fELF"))
}

/// As much of a file as the system reads to tell what it is.
fn start_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    fs::File::open(file)?.take(256).read_to_end(&mut start)?;
    Ok(start)
}
