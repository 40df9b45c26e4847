//! The place of a registration: the user's file or one of a project, and the program.

use std::path::{Path, PathBuf};

use tenter_base::{real_path, search_path};
use tenter_bridge::Host;
use tenter_bridge::registration::{self, PROGRAM, RegistrationScope, Target};
use tenter_proc::{Cancel, ProcessEnd};
use tenter_terminal::{Env, Failure, ui};

use crate::git::{self, Git};
use crate::project::{self, Project};

/// Returns the root of the project that `--project` names; `None` without it.
pub(super) fn project_named(env: &Env, path: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let Some(directory) = path else { return Ok(None) };
    let root = match directory {
        here if here == Path::new(".") => project::root(env, None)?,
        directory => project::root(env, Some(directory))?,
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if real(&root) == real(&env.home) {
        return Err(Failure::usage("the project is your home directory")
            .help("leave out --project to register for all projects"));
    }
    Ok(Some(root))
}

/// Returns the file of a host in this scope.
pub(super) fn target(
    env: &Env,
    host: &'static Host,
    scope: RegistrationScope,
    root: &Path,
) -> Result<Target, Failure> {
    let target = super::registry(env).target(host, scope, root).ok_or_else(|| {
        let file = if scope == RegistrationScope::Personal { "personal" } else { "shared" };
        Failure::new(format!("{} has no {file} settings in projects", host.name))
            .help("leave out --project to register for all projects")
    })?;
    if scope != RegistrationScope::User {
        check_inside(root, &target.file)?;
    }
    Ok(target)
}

/// Checks that a symlink in a project does not lead to other files of the user.
fn check_inside(root: &Path, file: &Path) -> Result<(), Failure> {
    let paths = real_path(root).and_then(|root| Ok((real_path(file)?, root)));
    let (real, root) =
        paths.map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
    if real.starts_with(root) {
        return Ok(());
    }
    let message = format!("{} leads out of the project, to {}", file.display(), real.display());
    Err(Failure::new(message).help("replace the symlink by a file, or register for all projects"))
}

/// Makes sure that git does not track a personal file and would ignore it (B40).
pub(super) fn check_untracked(project: &Project, target: &Target) -> Result<(), Failure> {
    let git = Git {
        directory: project.root(),
        vars: &project.program_environment(),
        cancel: &Cancel::new(),
    };
    let file = target.file.to_string_lossy();
    let run = |args: &[&str]| git.query(args).end;
    match run(&["rev-parse", "--is-inside-work-tree"]) {
        ProcessEnd::Exited(0) => {}
        end @ ProcessEnd::NotStarted(_) if project.root().join(".git").exists() => {
            let message = format!("git {}", git::how(&end));
            return Err(Failure::new(format!("cannot tell whether git tracks {file}: {message}")));
        }
        // Not a repository.
        _ => return Ok(()),
    }
    let why = if run(&["ls-files", "--error-unmatch", "--", &file]).is_success() {
        "git tracks it"
    } else if run(&["check-ignore", "--quiet", "--", &file]).is_success() {
        return Ok(());
    } else {
        "git does not ignore it"
    };
    Err(Failure::new(format!("{file} would have paths of this machine, and {why}")).help(
        "add it to .git/info/exclude, or pass --shared to register for everyone who works on this project",
    ))
}

/// Returns the program that is registered: the one beside this program.
pub(super) fn program_beside() -> Result<PathBuf, Failure> {
    let own = Env::program();
    let program = own.canonicalize().unwrap_or(own).with_file_name(PROGRAM);
    let program = program.canonicalize().unwrap_or(program);
    if !program.is_file() || !search_path::is_executable(&program) {
        return Err(Failure::new(format!("there is no program {}", program.display())).help(
            format!(
                "it belongs beside `tenter`: `cargo install --path crates/hooks/{PROGRAM}` installs it"
            ),
        ));
    }
    Ok(program)
}

/// Returns the program that is copied and registered, unless other users may have replaced it.
pub(super) fn program(force: bool) -> Result<PathBuf, Failure> {
    let program = program_beside()?;
    match registration::unsafe_location(&program) {
        None => {}
        Some(why) if force => ui::note(format!("note: {}: {why}", program.display())),
        Some(why) => {
            let message = format!("{} should not be registered: {why}", program.display());
            return Err(Failure::new(message)
                .help("install Tenter in a directory of yours, or pass --force"));
        }
    }
    Ok(program)
}
