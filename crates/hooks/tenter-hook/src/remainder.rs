//! Hooks that run after the answer, in a process that holds none of the host's pipes (B26).

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

use tenter_base::{private_dir, replace_file, untrusted_file};
use tenter_bridge::payload::MAX_PAYLOAD;
use tenter_bridge::{Remainder, Visited, Visitor};
use tenter_proc::Invocation;

use crate::output::warn;

/// Maximum size of the file with the remaining work, in bytes: a payload, and the overhead of JSON.
const MAX_REMAINDER: u64 = 2 * MAX_PAYLOAD;

/// Starts a process for the hooks that run after an answer. Returns a warning if that fails.
pub(crate) fn start(visitor: &Visitor, remainder: &Remainder) -> Option<String> {
    let error = try_start(visitor, remainder).err()?;
    Some(format!("hooks that run after the answer could not be started: {error}"))
}

fn try_start(visitor: &Visitor, remainder: &Remainder) -> io::Result<()> {
    let directory = visitor.directories.state.join("bridge/pending");
    private_dir::enforce(&directory)?;
    let file = directory.join(format!("{}.json", replace_file::random()?));
    let remainder = serde_json::to_vec(remainder).map_err(io::Error::other)?;
    replace_file::replace_with_mode(&file, &remainder, Some(0o600))?;
    let args = [
        OsString::from(visitor.host.id),
        visitor.event.name.into(),
        "--home".into(),
        visitor.directories.home.clone().into(),
        "--after".into(),
        file.into(),
    ];
    let invocation = Invocation {
        program: std::env::current_exe()?,
        args: args.into(),
        cwd: visitor.cwd.clone(),
        env: Vec::clone(&visitor.vars),
        ..Invocation::default()
    };
    tenter_proc::start_background(&invocation, Path::new("/dev/null")).map(drop)
}

/// Runs the hooks that a file describes, and removes it.
pub(crate) fn finish(visitor: &Visitor, file: &Path) -> ExitCode {
    let remainder = untrusted_file::read_prefix(file, MAX_REMAINDER)
        .and_then(|bytes| serde_json::from_slice(&bytes).map_err(io::Error::other));
    let _ = fs::remove_file(file);
    let Visited { warnings, .. } = match remainder {
        Ok(remainder) => visitor.run_after(&remainder),
        Err(error) => {
            warn(&[format!("{}: {error}", file.display())]);
            return ExitCode::FAILURE;
        }
    };
    warn(&warnings);
    ExitCode::SUCCESS
}
