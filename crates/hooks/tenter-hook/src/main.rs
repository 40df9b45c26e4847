//! `tenter-hook`, the program that other agents run. It reads a native payload on stdin and writes a native answer to stdout. Hosts ignore an
//! answer with any other line on stdout. `serve` answers many events, `remainder` runs hooks after an answer, and `keeper` keeps runtime
//! hooks between events. `confine` is the launcher of confined commands, as `tenter-launch` is.

mod arguments;
mod keeper;
mod output;
mod remainder;
mod resources;
mod serve;
mod shell_prefix;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use tenter_base::account;
use tenter_base::search_path::{LAUNCHER, program_beside_real};
use tenter_bridge::host::Moment;
use tenter_bridge::payload::{MAX_PAYLOAD, Payload};
use tenter_bridge::registration::Registry;
use tenter_bridge::reply::HostReply;
use tenter_bridge::shell_prefix::ARGUMENT as PREFIX_ARGUMENT;
use tenter_bridge::{NativeEvent, Visitor};
use tenter_confine::{Surroundings, launcher};
use tenter_engine::Directories;

use crate::arguments::{Arguments, Task};
use crate::output::{answer, warn};

/// The size of the stack of the thread that watches the event, in bytes.
const WATCH_STACK: usize = 128 << 10;
/// The exit code if the answer cannot be written: most hosts deny then.
const UNANSWERED: u8 = 2;
/// The reason for the model or the user if this program has a defect.
const DEFECT: &str = "tenter-hook failed because of a defect in Tenter";

fn main() -> ExitCode {
    let start = Instant::now();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Before anything that the command would inherit.
    if let Some((_, arguments)) =
        arguments.split_first().filter(|(first, _)| *first == launcher::COMMAND)
    {
        return launcher::run(
            arguments,
            Surroundings::read_process(),
            launcher::configured_profile,
        );
    }
    if let Some((_, arguments)) =
        arguments.split_first().filter(|(first, _)| *first == PREFIX_ARGUMENT)
    {
        return shell_prefix::run(arguments, Surroundings::read_process());
    }
    // If this fails, only writes beyond the file size limit end the process.
    let _ = tenter_proc::outlive_file_size_limit();
    if let Some((_, arguments)) =
        arguments.split_first().filter(|(first, _)| *first == keeper::COMMAND)
    {
        return keep(arguments);
    }
    let arguments = match Arguments::parse(&arguments) {
        Ok(arguments) => arguments,
        Err(error) => return without_task(&arguments, error),
    };
    note_other_registration(&arguments);
    match &arguments.task {
        Task::Answer(event) => answer_stdin(&visitor(&arguments, event, start)),
        Task::Finish(event, file) => remainder::finish(&visitor(&arguments, event, start), file),
        Task::Serve => serve::run(visitor(&arguments, &arguments.host.events[0], start)),
    }
}

/// Prints the version or the help if the arguments ask for it; reports what is wrong with them otherwise.
fn without_task(arguments: &[OsString], error: String) -> ExitCode {
    let version = || concat!("tenter-hook ", env!("CARGO_PKG_VERSION")).to_owned();
    let is_version = arguments.iter().any(|argument| argument == "--version" || argument == "-V");
    let text = is_version.then(version);
    let text = text.or_else(|| arguments::help(arguments, io::stdin().is_terminal()));
    let Some(text) = text else {
        warn(&[error, "`tenter-hook --help` shows the arguments".to_owned()]);
        return ExitCode::FAILURE;
    };
    if answer(Some(&text)).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Keeps runtime hooks between events (S14).
#[expect(clippy::disallowed_methods, reason = "this is where the clock comes from")]
fn keep(arguments: &[OsString]) -> ExitCode {
    let Some(options) = keeper::options(arguments) else {
        warn(&["the keeper is started by tenter-hook itself".to_owned()]);
        return ExitCode::from(1);
    };
    keeper::run(options, jiff::Timestamp::now)
}

/// Notes that the host runs several registrations if this one has no id, because a project or a plugin shares it, and the user has one
/// of their own (B7). The start of a session is soon enough.
fn note_other_registration(arguments: &Arguments) {
    let starts = match &arguments.task {
        Task::Answer(event) => event.moment == Moment::SessionStart,
        Task::Finish(..) => false,
        Task::Serve => true,
    };
    if arguments.has_id || !starts {
        return;
    }
    let registry = Registry::in_home(home(arguments));
    if !registry.records_of(arguments.host).is_empty()
        && let Err(error) = registry.note_several(arguments.host)
    {
        warn(std::slice::from_ref(&error.message));
    }
}

fn answer_stdin(visitor: &Visitor) -> ExitCode {
    deny_on_panic(visitor);
    watch(visitor);
    let mut payload = Vec::new();
    if let Err(error) = io::stdin().lock().take(MAX_PAYLOAD + 1).read_to_end(&mut payload) {
        warn(&[format!("stdin cannot be read to its end: {error}")]);
    }
    let visit = match resources::missing(payload.len()) {
        Some(what) => visitor.refuse(what),
        None => visitor.run(Payload::parse(&payload)),
    };
    claim_answer();
    let result = answer(visit.answer.as_deref());
    warn(&visit.warnings);
    if result.is_err() && visitor.event.moment.deniable().is_some() {
        return ExitCode::from(UNANSWERED);
    }
    let warning = visit.after.and_then(|remainder| remainder::start(visitor, &remainder));
    warn(warning.as_slice());
    ExitCode::SUCCESS
}

/// Starts a thread that answers the event if that takes too long (B24). Without a thread, the event is answered without that limit.
fn watch(visitor: &Visitor) {
    let Some(first) = visitor.latest_answer() else { return };
    let visitor = visitor.clone();
    let answer_late = move || {
        let mut latest = first;
        while let Some(time) = latest.checked_duration_since(Instant::now()) {
            thread::sleep(time);
            // Later, if hooks have started.
            latest = visitor.latest_answer().unwrap_or(latest);
        }
        claim_answer();
        let late = visitor.late();
        let _ = answer(late.answer.as_deref());
        warn(&late.warnings);
        #[expect(clippy::exit, reason = "the rest of the program may hang")]
        std::process::exit(0);
    };
    let thread = thread::Builder::new().name("watch".to_owned()).stack_size(WATCH_STACK);
    let _ = thread.spawn(answer_late);
}

/// Claims the right to write the answer. Only one thread gets it; another one waits until the process ends.
fn claim_answer() {
    static IS_CLAIMED: AtomicBool = AtomicBool::new(false);
    while IS_CLAIMED.swap(true, Ordering::SeqCst) {
        thread::park();
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where environment and clock come from")]
fn visitor(arguments: &Arguments, event: &'static NativeEvent, start: Instant) -> Visitor {
    let home = home(arguments);
    let cache = home.join(".cache/tenter");
    let vars: Vec<_> = std::env::vars_os().collect();
    let own = std::env::current_exe().ok();
    // Linux gives a program its real path.
    let real = |own: PathBuf| {
        if cfg!(target_os = "linux") { own } else { own.canonicalize().unwrap_or(own) }
    };
    let own = own.map(real);
    Visitor {
        host: arguments.host,
        event,
        caller: None,
        directories: Directories::in_home(home).with_cache(cache).with_managed_from(&vars),
        vars: Arc::new(vars),
        cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        clock: jiff::Timestamp::now,
        start,
        tenter: own.as_deref().and_then(|own| program_beside_real(own, "tenter")),
        launcher: own.map(|own| program_beside_real(&own, LAUNCHER).unwrap_or(own)),
        keeper: Some(keeper::connector),
        memory: None,
        progress: Arc::default(),
    }
}

/// Returns the home directory below which the user's directories are.
fn home(arguments: &Arguments) -> PathBuf {
    arguments.home.clone().or_else(account::home).unwrap_or_else(|| PathBuf::from("/"))
}

/// Sets a panic hook that denies the action that follows (B25). It also works if panics abort.
fn deny_on_panic(visitor: &Visitor) {
    let (host, event) = (visitor.host, visitor.event);
    std::panic::set_hook(Box::new(move |panic| {
        if event.moment.deniable().is_some() {
            let _ = answer((host.answer)(event, &HostReply::deny(DEFECT)).as_deref());
        }
        warn(&[format!("a defect in Tenter: {panic}")]);
        #[expect(clippy::exit, reason = "an abort would make the host ignore the answer")]
        std::process::exit(0);
    }));
}
