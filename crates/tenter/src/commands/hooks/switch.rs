//! `tenter hooks enable` and `tenter hooks disable`: the suffix `.disable` comes off or goes on (R10). What is trusted stays
//! trusted, since the content stays.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tenter_engine::catalog::{Catalog, Listed, Status};
use tenter_engine::layout::ResourceName;
use tenter_proc::Cancel;

use super::{built_in, entry};
use crate::commands::Done;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::sanitize::visible;
use crate::trust;
use crate::ui;
use crate::user_only;

/// The suffix of what is disabled.
const SUFFIX: &str = ".disable";

/// Switch a hook on or off.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The hook's full name; where several layers have one, the one of the highest is meant.
    name: String,
}

/// Takes the suffix off.
pub(super) fn enable(mut project: Project, args: &Args) -> Done {
    let catalog = project.load(&Cancel::new());
    let listed = first(&project, &catalog, &args.name, |status| *status == Status::Disabled)?
        .ok_or_else(|| Failure::new(format!("no hook {} is disabled", args.name)))?;
    // What is disabled has the suffix as its last extension.
    rename(&listed.path, &listed.path.with_extension(""))
}

/// Puts the suffix on: of the hook that runs, else of the first that would if something about it were mended.
pub(super) fn disable(mut project: Project, args: &Args) -> Done {
    user_only::check(project.env, project.root(), "hooks disable")?;
    let catalog = project.load(&Cancel::new());
    let running = first(&project, &catalog, &args.name, |status| *status == Status::Active)?;
    let other = first(&project, &catalog, &args.name, |status| *status != Status::Disabled)?;
    let listed = running
        .or(other)
        .ok_or_else(|| Failure::new(format!("the hook {} is disabled already", args.name)))?;
    let mut path = listed.path.clone().into_os_string();
    path.push(SUFFIX);
    let done = rename(&listed.path, &PathBuf::from(path))?;
    // The user disables it themselves: it is not missed.
    let name = listed.name.clone();
    let catalog = project.load(&Cancel::new());
    if catalog.lost().iter().all(|lost| lost.name == name) {
        trust::accept(&mut project, &catalog)?;
    }
    Ok(done)
}

/// The first hook of this name, by precedence, of such a status; there is at least one of the name.
fn first<'c>(
    project: &Project,
    catalog: &'c Catalog,
    name: &str,
    is_meant: impl Fn(&Status) -> bool,
) -> Result<Option<&'c Listed>, Failure> {
    built_in::refuse(name)?;
    entry::entries_named(project, catalog, name)?;
    let mut listing = catalog.listing().iter();
    let name = ResourceName::new(name);
    Ok(listing.find(|listed| listed.name == name.as_str() && is_meant(&listed.status)))
}

fn rename(from: &Path, to: &Path) -> Done {
    let failed = |error: std::io::Error| {
        Failure::new(format!("{} cannot be renamed: {error}", from.display()))
    };
    if fs::symlink_metadata(to).is_ok() {
        return Err(failed(ErrorKind::AlreadyExists.into())
            .help(format!("{} is in the way: remove one of the two", to.display())));
    }
    fs::rename(from, to).map_err(failed)?;
    ui::out(visible(&to.to_string_lossy()));
    Ok(Exit::Done)
}
