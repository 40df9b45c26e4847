//! Fetches a plugin and puts it in its place: what `add` and `update` have in common, and how both fail.

use std::time::Duration;

use tenter_agent::session::Status;
use tenter_base::rfc3339;
use tenter_plugins::{
    Conflict, FetchError, Fetched, Fetcher, Installed, Locked, Order, Spec, Staging,
};
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;

use super::places::{Location, Place};
use crate::env;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::sanitize::sanitize;
use crate::ui;

/// How long one call of git may take.
const TIMEOUT: Duration = Duration::from_mins(10);

/// Why one plugin could not be had; the others may be.
pub(super) enum Trouble {
    /// The person does not want it any more.
    Interrupted,
    /// What is wrong with the plugin.
    Refused(Vec<Diagnostic>),
    /// Anything else.
    Failed(Failure),
}

impl Trouble {
    /// Tells it, and says how the command ends.
    pub(super) fn tell(&self, name: &str) -> Exit {
        match self {
            Self::Interrupted => {
                ui::failure(&Failure::new(format!("interrupted; {name} is as it was")));
                return Exit::Agent(Status::Interrupted);
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

impl From<FetchError> for Trouble {
    fn from(failed: FetchError) -> Self {
        match failed {
            FetchError::Cancelled => Self::Interrupted,
            FetchError::Refused(findings) => Self::Refused(findings),
        }
    }
}

impl From<Diagnostic> for Trouble {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Refused(vec![diagnostic])
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Fetches a plugin and unpacks it in a temporary folder beside its place.
pub(super) fn fetch(
    project: &Project,
    place: &Place,
    spec: &Spec,
    cancel: &Cancel,
) -> Result<(Staging, Fetched), Trouble> {
    let source = spec.source.as_text();
    ui::note(format!("Fetching {} from {} …", spec.name, sanitize(&source)));
    let staging = place.plugins.stage()?;
    let env = project.program_environment();
    let fetcher = Fetcher { env: &env, cancel, timeout: TIMEOUT };
    let fetched = fetcher.fetch(&spec.source, spec.reference.as_deref(), staging.dir())?;
    let unpacked = place.plugins.unpack(&staging, &spec.name, &fetched.content);
    unpacked.map_err(|conflict| refused(place, spec, conflict))?;
    Ok((staging, fetched))
}

/// Installs what was fetched. `replace` says whether it may take the place of what is there.
pub(super) fn install(
    place: &Place,
    spec: &Spec,
    (staging, fetched): &(Staging, Fetched),
    replace: bool,
) -> Result<Installed, Trouble> {
    let record = Locked {
        name: String::new(),
        source: spec.source.as_text(),
        reference: spec.reference.clone(),
        commit: fetched.commit.clone(),
        hash: String::new(),
        installed_at: rfc3339(env::now()),
        files: std::collections::BTreeMap::new(),
    };
    let order = Order { name: &spec.name, content: &fetched.content, record, replace };
    place.plugins.install(staging, order).map_err(|conflict| refused(place, spec, conflict))
}

fn refused(place: &Place, spec: &Spec, conflict: Conflict) -> Trouble {
    match conflict {
        Conflict::Installed => already(place, &spec.name.to_string()).into(),
        Conflict::Empty(finding) | Conflict::Failed(finding) => finding.into(),
    }
}

/// The failure for a plugin that is there.
pub(super) fn already(place: &Place, name: &str) -> Failure {
    let global = if place.location == Location::Global { " -g" } else { "" };
    Failure::new(format!("{name} is installed already")).help(format!(
        "`tenter plugin update{global} {name}` fetches what is new; --force replaces it"
    ))
}
