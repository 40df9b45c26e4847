//! `tenter-hook`: what other agents run. It reads a native payload on stdin and writes a native answer to stdout; a line that is
//! not part of the answer would make every host ignore it.

mod arguments;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use tenter_base::{account, private_dir, replace_file, untrusted_file};
use tenter_bridge::payload::MAX_PAYLOAD;
use tenter_bridge::reply::Reply;
use tenter_bridge::{Remainder, Visited, Visitor};
use tenter_engine::Directories;
use tenter_proc::{Invocation, Limits, Streams};

use crate::arguments::Arguments;

/// Maximum size of the file that says what is left to do, in bytes: a payload, and what JSON adds.
const MAX_LEFT: u64 = 2 * MAX_PAYLOAD;

fn main() -> ExitCode {
    let started = Instant::now();
    let arguments = match Arguments::parse(std::env::args_os().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            warn(&[error]);
            return ExitCode::from(1);
        }
    };
    deny_on_panic(&arguments);
    let visitor = visitor(&arguments, started);
    if let Some(file) = &arguments.after {
        return run_after(&visitor, file);
    }
    let mut payload = Vec::new();
    if let Err(error) = io::stdin().lock().take(MAX_PAYLOAD + 1).read_to_end(&mut payload) {
        warn(&[format!("stdin cannot be read to its end: {error}")]);
    }
    let visited = visitor.run(&payload);
    answer(visited.answer.as_deref());
    warn(&visited.warnings);
    if let Some(remainder) = &visited.after
        && let Err(error) = start_after(&visitor, &arguments, remainder)
    {
        warn(&[format!("hooks that run after the answer could not be started: {error}")]);
    }
    ExitCode::SUCCESS
}

#[expect(clippy::disallowed_methods, reason = "this is where environment and clock come from")]
fn visitor(arguments: &Arguments, started: Instant) -> Visitor {
    let home = arguments.home.clone().or_else(account::home).unwrap_or_else(|| PathBuf::from("/"));
    let cache = home.join(".cache/tenter");
    Visitor {
        host: arguments.host,
        event: arguments.event,
        directories: Directories::in_home(home).with_cache(cache),
        vars: std::env::vars_os().collect(),
        cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        clock: jiff::Timestamp::now,
        started,
    }
}

/// Writes the answer as one line.
fn answer(answer: Option<&str>) {
    if let Some(answer) = answer {
        let mut stdout = io::stdout().lock();
        // The error is ignored: the host does not read the answer.
        let _ = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
    }
}

#[expect(clippy::print_stderr, reason = "this program's own report")]
fn warn(lines: &[String]) {
    for line in lines {
        eprintln!("tenter-hook: {line}");
    }
}

/// A defect of this program denies what is about to happen (B25). It also works where a panic aborts.
fn deny_on_panic(arguments: &Arguments) {
    let (host, event) = (arguments.host, arguments.event);
    std::panic::set_hook(Box::new(move |panic| {
        let reply = Reply::deny("tenter-hook failed because of a defect in Tenter");
        if event.moment.deniable().is_some() {
            answer((host.answer)(event, &reply).as_deref());
        }
        warn(&[format!("a defect in Tenter: {panic}")]);
        #[expect(clippy::exit, reason = "an abort would make the host ignore the answer")]
        std::process::exit(0);
    }));
}

/// Starts a process for what is left to do, which holds none of the host's pipes (B26).
fn start_after(visitor: &Visitor, arguments: &Arguments, left: &Remainder) -> io::Result<()> {
    let directory = visitor.directories.state.join("bridge/pending");
    private_dir::enforce(&directory)?;
    let file = directory.join(format!("{}.json", std::process::id()));
    let left = serde_json::to_vec(left).map_err(io::Error::other)?;
    replace_file::replace_with_mode(&file, &left, Some(0o600))?;
    let args = [
        OsString::from(arguments.host.id),
        arguments.event.name.into(),
        "--home".into(),
        visitor.directories.home.clone().into(),
        "--after".into(),
        file.into(),
    ];
    let invocation = Invocation {
        program: std::env::current_exe()?,
        args: args.into(),
        cwd: visitor.cwd.clone(),
        env: visitor.vars.clone(),
        stdin: Vec::new(),
        streams: Streams::Separate,
        limits: Limits::default(),
    };
    tenter_proc::start_background(&invocation, Path::new("/dev/null")).map(drop)
}

fn run_after(visitor: &Visitor, file: &Path) -> ExitCode {
    let left = untrusted_file::read_prefix(file, MAX_LEFT)
        .and_then(|bytes| serde_json::from_slice(&bytes).map_err(io::Error::other));
    let _ = fs::remove_file(file);
    let Visited { warnings, .. } = match left {
        Ok(remainder) => visitor.run_after(&remainder),
        Err(error) => {
            warn(&[format!("{}: {error}", file.display())]);
            return ExitCode::FAILURE;
        }
    };
    warn(&warnings);
    ExitCode::SUCCESS
}
