//! Whether an executable hook can run: it may be executed, its interpreter is installed, and it names its events. An untrusted
//! one, and one that is in no hooks directory, is not asked for its events, since that would run it (R11).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_engine::catalog::{Catalog, Listed, Status};
use tenter_engine::hook::EntryPoint;
use tenter_protocol::{Diagnostic, Severity};

use super::super::{entry, scripts};
use crate::hooks::Project;

/// Everything that is wrong with the executable hook at `path`.
pub(super) fn check(path: &Path, project: &Project, catalog: &Catalog) -> Vec<Diagnostic> {
    let may_run = fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
    if !may_run {
        let finding = finding(path, Severity::Error, "the file may not be executed");
        return vec![finding.help(format!("chmod +x {}", path.display()))];
    }
    let environment = project.hook_environment();
    let script = EntryPoint { path: path.to_owned(), interpreter: None };
    let interpreter = scripts::interpreter_missing(&script, environment.given());
    interpreter.into_iter().chain(events(path, project, catalog)).collect()
}

/// What is wrong with the events that it names.
fn events(path: &Path, project: &Project, catalog: &Catalog) -> Option<Diagnostic> {
    let real = real(path);
    let is_this = |listed: &&Listed| self::real(&listed.path) == real;
    let Some(listed) = catalog.listing().iter().find(is_this) else {
        let message = "it is in no hooks directory, so it was not asked for its events";
        return Some(finding(path, Severity::Info, message));
    };
    let severity = match listed.status {
        Status::Invalid { .. } => Severity::Error,
        Status::NotTrusted { .. } => Severity::Warning,
        _ => return None,
    };
    let reason = entry::reason(project, &listed.status).unwrap_or_default();
    Some(finding(path, severity, &format!("it {reason}")))
}

fn finding(path: &Path, severity: Severity, message: &str) -> Diagnostic {
    Diagnostic::new("executable-hook", severity, message).at(path)
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
