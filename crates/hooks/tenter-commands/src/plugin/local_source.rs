//! Plugins from directories of this machine. A project's `plugin.lock` is untrusted: an update must not copy a private
//! directory that it names into the project unless the user has agreed to that directory.

use std::path::{Path, PathBuf};

use tenter_base::visible;
use tenter_engine::Fingerprint;
use tenter_engine::trust::TrustedKind;
use tenter_plugins::{Source, Spec};
use tenter_terminal::question::{confirm, read_at_terminal};
use tenter_terminal::{Env, Failure, NAME, NOTICE, styled, ui};

use super::places::{PluginDir, PluginLocation};
use crate::project::Project;
use crate::trust::{self, TrustRecord};

/// Makes sure that the user agrees to the source that `plugin.lock` records.
///
/// # Errors
/// When it is a directory outside the project that the user has not named before, and the user refuses or cannot be asked.
pub(super) fn check(project: &mut Project, place: &PluginDir, spec: &Spec) -> Result<(), Failure> {
    let Some(directory) = outside(project, place, spec) else { return Ok(()) };
    if record(&spec.name.to_string(), &directory).is_in(&project.trust, project.root()) {
        return Ok(());
    }
    if !ask(spec, &directory) {
        return Err(refusal(spec, &directory));
    }
    remember(project, place, spec)
}

/// Remembers that the user named the source of this plugin.
pub(super) fn remember(
    project: &mut Project,
    place: &PluginDir,
    spec: &Spec,
) -> Result<(), Failure> {
    let Some(directory) = outside(project, place, spec) else { return Ok(()) };
    trust::record(project, &[record(&spec.name.to_string(), &directory).entry()])
}

/// Forgets the source that the user named for a plugin of the project.
pub(super) fn forget(project: &mut Project, plugin: &str) -> Result<(), Failure> {
    let record = record(plugin, Path::new(""));
    trust::revoke(project, Some(record.name())).map(drop)
}

/// Returns the record of the user's consent: to this plugin from this directory.
fn record(plugin: &str, directory: &Path) -> TrustRecord {
    let fingerprint = Fingerprint(directory.to_string_lossy().into_owned());
    TrustRecord::new(TrustedKind::PluginSource, plugin, fingerprint, directory)
}

/// Returns the directory outside the project that one of its plugins comes from, if it comes from one. A `file:` URL counts as
/// outside: git decodes it in its own way.
fn outside(project: &Project, place: &PluginDir, spec: &Spec) -> Option<PathBuf> {
    if place.location == PluginLocation::Global {
        return None;
    }
    match &spec.source {
        Source::Path(path) => {
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            (!real(path).starts_with(real(project.root()))).then(|| path.clone())
        }
        Source::Url(url) => url.starts_with("file:").then(|| PathBuf::from(url)),
    }
}

/// Asks the user; without a terminal the answer is no.
fn ask(spec: &Spec, directory: &Path) -> bool {
    if !Env::can_ask() {
        return false;
    }
    ui::note(format!(
        "{} This project's plugin.lock says that {} comes from the directory {}.",
        styled(NOTICE, "?"),
        styled(NAME, visible(&spec.name.to_string())),
        styled(NAME, visible(&directory.to_string_lossy())),
    ));
    confirm("Copy it into the project?", &mut read_at_terminal)
}

fn refusal(spec: &Spec, directory: &Path) -> Failure {
    let directory = directory.display();
    Failure::new(format!(
        "this project's plugin.lock says that {} comes from {directory}, a directory outside the project that you have \
         not agreed to; nothing is copied from it",
        spec.name
    ))
    .help(format!("if you want it, name it yourself: `tenter plugin add {directory} --force`"))
}
