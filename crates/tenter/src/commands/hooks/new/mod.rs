//! `tenter hooks new`: writes a hook that works as it is, and trusts it (R47).

mod declared;
mod executable;
mod manifest;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use tenter_engine::catalog::Status;
use tenter_engine::source::check_file_name;
use tenter_engine::trust::TrustEntry;
use tenter_proc::{Cancel, End, Invocation, Limits, Streams};
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::{Diagnostic, EventName, Severity};

use super::entry;
use crate::commands::{Done, trust};
use crate::failure::{Exit, Failure};
use crate::hooks::Project;
use crate::sanitize::sanitize;
use crate::{signals, ui};

pub(crate) use manifest::NewFile;
pub(crate) use write::folder as write_folder;

/// How long a new hook may be compiled for; afterwards it answers at once.
const COMPILE_TIMEOUT: Duration = Duration::from_mins(2);
/// Lines of the compiler that are shown.
const COMPILER_LINES: usize = 20;

/// The languages that there are templates in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    /// A bash script that needs nothing but grep and sed.
    Bash,
    /// A script for python3, with nothing but its standard library.
    Python,
    /// A Rust program that compiles itself with rustc when it is first run.
    Rust,
}

/// The kinds of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A folder with a HOOK.md, a script (unless it has an --action) and tests.
    Manifest,
    /// One executable file.
    Executable,
}

impl Format {
    /// The kind that an event's spelling means: `before_tool_call` is a word of executables, `before_tool` one of manifests.
    fn meant_by(event: &str) -> Self {
        let of_manifests = TABLE.iter().any(|row| row.manifest.contains(&event));
        let of_executables = TABLE.iter().any(|row| row.executable.contains(&event));
        if of_executables && !of_manifests { Self::Executable } else { Self::Manifest }
    }
}

/// Write a new hook: a commented example that works as it is, for the event and in the language you choose.
///
/// A project's hook is trusted as it is written; after you change it, `tenter trust` asks again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The hook's name, which is its folder's or its file's name.
    name: String,
    /// The event that it is told of, in any spelling.
    #[arg(long, value_name = "EVENT", default_value = "before_tool")]
    event: String,
    /// What it is: a manifest hook, unless the event is given in a word that only executables use.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// The language that it is written in.
    #[arg(long, value_name = "LANGUAGE", default_value = "bash")]
    lang: Language,
    /// What it does, for a hook without code: its HOOK.md says all there is to say.
    #[arg(long, value_name = "ACTION", conflicts_with = "lang")]
    action: Option<declared::ActionWord>,
    /// For all of your projects, in ~/.kodelet/hooks, instead of for this one.
    #[arg(long)]
    user: bool,
    /// Replace a hook that is there already.
    #[arg(long)]
    force: bool,
}

/// What was written.
struct Written {
    /// The hook: a file or a folder.
    path: PathBuf,
    /// What runs.
    program: PathBuf,
    /// The event in the hook's words.
    spelling: &'static str,
}

/// Does it.
pub(super) fn run(mut project: Project, args: &Args) -> Done {
    check_file_name(&args.name).map_err(|why| {
        Failure::usage(format!("a hook cannot have the name {:?}: it {why}", args.name))
    })?;
    let cancel = Cancel::new();
    signals::forward(&cancel)?;
    let meant = || match args.action {
        Some(_) => Format::Manifest,
        None => Format::meant_by(&args.event),
    };
    let written = match args.format.unwrap_or_else(meant) {
        Format::Manifest => write_manifest(&project, args)?,
        Format::Executable if args.action.is_some() => {
            return Err(Failure::usage("an executable is code, so it has no --action")
                .help("leave one of the two out"));
        }
        Format::Executable => write_executable(&project, args)?,
    };
    if !args.user {
        trust_new(&mut project, args, &written, &cancel)?;
    }
    ui::out(written.path.display());
    let compiled = match args.lang {
        Language::Rust => compile(&project, &written.program, &cancel),
        Language::Bash | Language::Python => Ok(()),
    };
    match compiled {
        Ok(()) => advise(&mut project, &args.name, &written.path, &cancel),
        Err(why) => ui::diagnostic(&not_compiled(&args.name, &why)),
    }
    Ok(Exit::Done)
}

/// The files of hooks that work as they are, of each kind at least one: what a new plugin holds in its folder `hooks`.
pub(crate) fn examples() -> Result<Vec<NewFile>, Failure> {
    let (event, language) = ("before_tool_call", Language::Bash);
    let text = executable::text(event, language)
        .ok_or_else(|| Failure::new(format!("there is no template for {event}")))?;
    let mut files = vec![NewFile { name: "hooks/guard".to_owned(), text, is_executable: true }];
    for (name, event) in
        [("tested", EventName::BeforeStop), ("unattended", EventName::SessionStart)]
    {
        let of_hook = manifest::files(name, event, language)?;
        files.extend(
            of_hook
                .into_iter()
                .map(|file| NewFile { name: format!("hooks/{name}/{}", file.name), ..file }),
        );
    }
    Ok(files)
}

fn write_executable(project: &Project, args: &Args) -> Result<Written, Failure> {
    let spelling = executable::spelling(&args.event)?;
    let text = executable::text(spelling, args.lang)
        .ok_or_else(|| Failure::new(format!("there is no template for {spelling}")))?;
    let path = path(project, args);
    write::file(&path, &text, args.force)?;
    Ok(Written { program: path.clone(), path, spelling })
}

fn write_manifest(project: &Project, args: &Args) -> Result<Written, Failure> {
    let event = manifest::event(&args.event)?;
    let files = match args.action {
        Some(action) => declared::files(&args.name, event, action)?,
        None => manifest::files(&args.name, event, args.lang)?,
    };
    let path = path(project, args);
    write::folder(&path, &files, args.force)?;
    let program = path.join(manifest::script_name(args.lang));
    Ok(Written { program, path, spelling: event.as_str() })
}

/// Where the hook goes: both kinds to one folder, so that a name is taken once.
fn path(project: &Project, args: &Args) -> PathBuf {
    let above = if args.user { &project.env.home } else { project.root() };
    above.join(".kodelet/hooks").join(&args.name)
}

/// Trusts the hook as it was found. One that was found unfit to be trusted is not: what to do about it is said later.
fn trust_new(
    project: &mut Project,
    args: &Args,
    written: &Written,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let path = &written.path;
    let catalog = project.load(cancel);
    let listed = catalog.listing().iter().find(|listed| listed.path == *path);
    let Some(fingerprint) = listed.and_then(|listed| listed.fingerprint.clone()) else {
        return Ok(());
    };
    let events = vec![written.spelling.to_owned()];
    let entry = TrustEntry { name: args.name.clone(), fingerprint, path: path.clone(), events };
    trust::trust(project, &[entry])
}

/// Starts the hook once, so that it is compiled before it has to answer in time.
fn compile(project: &Project, path: &Path, cancel: &Cancel) -> Result<(), String> {
    ui::note("Compiling it …");
    let invocation = Invocation {
        program: path.to_owned(),
        args: vec!["hook".into()],
        cwd: project.root().to_owned(),
        env: project.hook_environment().with(&[], &[]),
        stdin: Vec::new(),
        streams: Streams::Separate,
        limits: Limits { timeout: COMPILE_TIMEOUT, ..Limits::default() },
    };
    let completion = tenter_proc::run(&invocation, cancel);
    Err(match completion.end {
        End::Exited(0) => return Ok(()),
        End::TimedOut => format!("it took longer than {} s", COMPILE_TIMEOUT.as_secs()),
        End::Cancelled => "it was interrupted".to_owned(),
        End::NotStarted(error) => error.to_string(),
        End::Exited(_) | End::Signalled(_) => completion.stderr.tail_lines(COMPILER_LINES),
    })
}

fn not_compiled(name: &str, why: &str) -> Diagnostic {
    let message = format!("the hook was written, but could not be compiled: {why}");
    Diagnostic::new("hook-not-compiled", Severity::Warning, message)
        .help(format!("mend that, then run `tenter hooks test {name}`: it compiles it again"))
}

/// Says what to do next: to try it, or what keeps it from running.
fn advise(project: &mut Project, name: &str, path: &Path, cancel: &Cancel) {
    let catalog = project.load(cancel);
    let Some(listed) = catalog.listing().iter().find(|listed| listed.path == path) else { return };
    match &listed.status {
        Status::Shadowed { by } => {
            let by = entry::short(project, by);
            ui::note(format!(
                "It does not run in this project: {} has the same name.",
                sanitize(&by)
            ));
        }
        Status::Invalid { why } => ui::note(format!("It does not run yet: it {}", sanitize(why))),
        _ => ui::note(format!("Try it:    tenter hooks test {}", sanitize(name))),
    }
    if listed.layer.needs_trust() {
        ui::note("Change it, then trust what you made of it:    tenter trust");
    }
}
