//! `tenter hooks new`: writes a hook that works as it is, and trusts it (R47).

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;
use tenter_engine::catalog::Status;
use tenter_engine::source::check_file_name;
use tenter_engine::trust::{TrustEntry, fingerprint};
use tenter_proc::{Cancel, End, Invocation, Limits, Streams};
use tenter_protocol::{Diagnostic, Severity};

use super::entry;
use super::template::{self, Language};
use crate::commands::{Done, trust};
use crate::failure::{Exit, Failure};
use crate::hooks::Project;
use crate::sanitize::sanitize;
use crate::{signals, ui};

/// How long a new hook may be compiled for; afterwards it answers at once.
const COMPILE_TIMEOUT: Duration = Duration::from_mins(2);
/// Lines of the compiler that are shown.
const COMPILER_LINES: usize = 20;

/// Write a new hook: a commented example that works as it is, for the event and in the language you choose.
///
/// A project's hook is trusted as it is written; after you change it, `tenter trust` asks again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The hook's name, which is its file's name.
    name: String,
    /// The event that it is told of.
    #[arg(long, value_name = "EVENT", default_value = "before_tool_call")]
    event: String,
    /// The language that it is written in.
    #[arg(long, value_name = "LANGUAGE", default_value = "bash")]
    lang: Language,
    /// For all of your projects, in ~/.kodelet/hooks, instead of for this one.
    #[arg(long)]
    user: bool,
    /// Replace a hook that is there already.
    #[arg(long)]
    force: bool,
}

/// Does it.
pub(super) fn run(mut project: Project, args: &Args) -> Done {
    check_file_name(&args.name).map_err(|why| {
        Failure::usage(format!("a hook cannot have the name {:?}: it {why}", args.name))
    })?;
    let spelling = template::spelling(&args.event)?;
    let text = template::text(spelling, args.lang)
        .ok_or_else(|| Failure::new(format!("there is no template for {spelling}")))?;
    let cancel = Cancel::new();
    signals::forward(&cancel)?;
    let path = folder(&project, args.user).join(&args.name);
    write(&path, &text, args.force)?;
    if !args.user {
        trust_new(&mut project, args, &path, spelling)?;
    }
    ui::out(path.display());
    let compiled = match args.lang {
        Language::Rust => compile(&project, &path, &cancel),
        Language::Bash | Language::Python => Ok(()),
    };
    match compiled {
        Ok(()) => advise(&mut project, &args.name, &path, &cancel),
        Err(why) => ui::diagnostic(&not_compiled(&args.name, &why)),
    }
    Ok(Exit::Done)
}

fn folder(project: &Project, of_user: bool) -> PathBuf {
    let above = if of_user { &project.env.home } else { project.root() };
    above.join(".kodelet/hooks")
}

/// Writes an executable file at once: whoever looks sees all of it or nothing.
fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let failed = |error: std::io::Error| {
        Failure::new(format!("{} cannot be written: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().set_permissions(Permissions::from_mode(0o755)).map_err(failed)?;
    let written = if force { file.persist(path) } else { file.persist_noclobber(path) };
    match written.map_err(|error| error.error) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && !force => {
            Err(Failure::new(format!("{} exists already", path.display()))
                .help("choose another name, or replace it with --force"))
        }
        Err(error) => Err(failed(error)),
    }
}

fn trust_new(
    project: &mut Project,
    args: &Args,
    path: &Path,
    spelling: &str,
) -> Result<(), Failure> {
    let (fingerprint, _) = fingerprint(path)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    let events = vec![spelling.to_owned()];
    let entry = TrustEntry { name: args.name.clone(), fingerprint, path: path.to_owned(), events };
    trust::trust(project, &[entry])
}

/// Starts the hook once, so that it is compiled before it has to answer in time.
fn compile(project: &Project, path: &Path, cancel: &Cancel) -> Result<(), String> {
    ui::note("Compiling it …");
    let invocation = Invocation {
        program: path.to_owned(),
        args: vec!["hook".into()],
        cwd: project.root().to_owned(),
        env: project.hook_environment(),
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
