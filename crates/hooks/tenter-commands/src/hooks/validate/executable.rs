//! Checks that an executable hook can run: it is executable, its interpreter is installed, and it names its events. A hook that
//! is untrusted or outside the hooks directories is not asked for its events, since that would run it (R11).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_engine::inspect::{Catalog, EntryPoint, ListedHook, Status};
use tenter_protocol::{Diagnostic, Severity};

use super::super::{entry, script_check, scripts};
use crate::project::Project;

/// The id of the diagnostic for a hook that was not asked for its events.
pub(super) const NOT_CHECKED: &str = "executable-not-checked";

/// Returns everything that is wrong with the executable hook at `path`.
pub(super) fn check(path: &Path, project: &Project, catalog: &Catalog) -> Vec<Diagnostic> {
    let may_run =
        fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0);
    if !may_run {
        let finding = finding(path, Severity::Error, "the file is not executable");
        return vec![finding.help(format!("run chmod +x {}", path.display()))];
    }
    let environment = project.hook_environment();
    let script = EntryPoint { path: path.to_owned(), interpreter: None };
    let interpreter = scripts::interpreter_missing(&script, environment.base());
    let text = script_check::check(&script, environment.base());
    interpreter.into_iter().chain(text).chain(events(path, project, catalog)).collect()
}

/// Returns the diagnostic of its events.
fn events(path: &Path, project: &Project, catalog: &Catalog) -> Option<Diagnostic> {
    let real = real(path);
    let is_this = |hook: &&ListedHook| self::real(&hook.path) == real;
    let Some(hook) = catalog.listing().iter().find(is_this) else {
        let message = "it is not in a hooks directory, so it was not asked for its events";
        return Some(
            Diagnostic::new(NOT_CHECKED, Severity::Info, message)
                .at(path)
                .help("move it into a hooks directory and run `tenter trust`"),
        );
    };
    match hook.status {
        Status::Invalid { .. } => {
            let reason = entry::reason(project, &hook.status).unwrap_or_default();
            Some(finding(path, Severity::Error, &format!("it {reason}")))
        }
        Status::NotTrusted { has_changed } => Some(not_trusted(path, has_changed)),
        _ => None,
    }
}

fn not_trusted(path: &Path, is_changed: bool) -> Diagnostic {
    let why = if is_changed { "was changed since it was trusted" } else { "is not trusted" };
    let message = format!("it {why}, so it was not asked for its events");
    Diagnostic::new(NOT_CHECKED, Severity::Warning, message)
        .at(path)
        .help("review it, run `tenter trust`, and validate it again")
}

fn finding(path: &Path, severity: Severity, message: &str) -> Diagnostic {
    Diagnostic::new("executable-hook", severity, message).at(path)
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
