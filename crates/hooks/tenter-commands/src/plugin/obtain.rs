//! Fetches and installs a plugin, for `add` and `update`.

use std::time::Duration;

use tenter_base::{rfc3339, sanitize};
use tenter_plugins::{
    FetchError, Fetched, Fetcher, InstallError, InstallRequest, Installed, LockedPlugin, Spec,
    Staging,
};
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;
use tenter_terminal::screen::screen;
use tenter_terminal::{Exit, Failure, now, ui};

use super::places::{PluginDir, PluginLocation};
use crate::project::Project;

/// Maximum duration of one git command.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The reason why one plugin could not be installed.
pub(super) enum ObtainError {
    /// The user interrupted.
    Interrupted,
    /// The plugin is rejected.
    Refused(Vec<Diagnostic>),
    /// Another failure.
    Failed(Failure),
}

impl ObtainError {
    /// Prints the failure; returns the exit code.
    pub(super) fn print(&self, name: &str) -> Exit {
        match self {
            Self::Interrupted => {
                ui::failure(&Failure::new(format!("interrupted; {name} is unchanged")));
                return Exit::Interrupted;
            }
            Self::Refused(findings) => {
                findings.iter().for_each(ui::diagnostic);
                ui::failure(&Failure::new(format!("{name} cannot be installed")));
            }
            Self::Failed(failure) => ui::failure(failure),
        }
        Exit::Failed
    }
}

impl From<FetchError> for ObtainError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Cancelled => Self::Interrupted,
            FetchError::Refused(findings) => Self::Refused(findings),
        }
    }
}

impl From<Diagnostic> for ObtainError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Refused(vec![diagnostic])
    }
}

impl From<Failure> for ObtainError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Fetches a plugin and unpacks it in a temporary directory.
pub(super) fn fetch(
    project: &Project,
    place: &PluginDir,
    spec: &Spec,
    cancel: &Cancel,
) -> Result<(Staging, Fetched), ObtainError> {
    let source = spec.source.as_text();
    ui::note(format!("Fetching {} from {} …", spec.name, sanitize(&source)));
    let _waiting = screen().wait_for(format!("fetching {}", spec.name));
    let staging = place.plugins.stage()?;
    let env = project.program_environment();
    let fetcher = Fetcher { env: &env, cancel, timeout: TIMEOUT };
    let fetched = fetcher.fetch(&spec.source, spec.reference.as_deref(), staging.dir())?;
    let unpacked = place.plugins.unpack(&staging, &spec.name, &fetched.content);
    unpacked.map_err(|conflict| refused(place, spec, conflict))?;
    Ok((staging, fetched))
}

/// Installs a fetched plugin. `replace` says whether it may replace an installed one.
pub(super) fn install(
    place: &PluginDir,
    spec: &Spec,
    (staging, fetched): &(Staging, Fetched),
    replace: bool,
) -> Result<Installed, ObtainError> {
    let record = LockedPlugin {
        name: String::new(),
        source: spec.source.as_text(),
        reference: spec.reference.clone(),
        commit: fetched.commit.clone(),
        hash: String::new(),
        installed_at: rfc3339(now()),
        files: std::collections::BTreeMap::new(),
    };
    let request = InstallRequest { name: &spec.name, content: &fetched.content, record, replace };
    place.plugins.install(staging, request).map_err(|conflict| refused(place, spec, conflict))
}

fn refused(place: &PluginDir, spec: &Spec, conflict: InstallError) -> ObtainError {
    match conflict {
        InstallError::Installed => already(place, &spec.name.to_string()).into(),
        InstallError::Empty(finding) | InstallError::Failed(finding) => finding.into(),
    }
}

/// Returns the failure for a plugin that is already installed.
pub(super) fn already(place: &PluginDir, name: &str) -> Failure {
    let global = if place.location == PluginLocation::Global { " -g" } else { "" };
    Failure::new(format!("{name} is already installed"))
        .help(format!("`tenter plugin update{global} {name}` updates it; --force replaces it"))
}
