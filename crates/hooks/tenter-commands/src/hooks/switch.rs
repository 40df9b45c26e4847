//! `tenter hooks enable` and `tenter hooks disable`: remove or add the suffix `.disable` (R10). A hook stays trusted, since its
//! content does not change.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tenter_base::visible;
use tenter_engine::Layer;
use tenter_engine::inspect::{Catalog, ListedHook, Status};
use tenter_engine::layout::ResourceName;
use tenter_proc::Cancel;
use tenter_terminal::{CommandResult, Exit, Failure, ui};

use super::entry;
use crate::project::Project;
use crate::{trust, user_only};

const SUFFIX: &str = ".disable";

/// Enable or disable a hook.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The hook's full name; if several layers have it, the highest one counts.
    pub(super) name: String,
}

/// Removes the suffix.
pub fn enable(project: &mut Project, name: &str) -> CommandResult {
    let catalog = project.load(&Cancel::new());
    let hook = first(project, &catalog, name, |status| *status == Status::Disabled)?
        .ok_or_else(|| Failure::new(format!("no hook {name} is disabled")))?;
    // The suffix is the last extension.
    rename(&hook.path, &hook.path.with_extension(""))
}

/// Adds the suffix to the hook that runs, else to the first that is not disabled.
pub fn disable(project: &mut Project, name: &str) -> CommandResult {
    user_only::check(project.env, project.root(), "hooks disable")?;
    let catalog = project.load(&Cancel::new());
    let running = first(project, &catalog, name, |status| *status == Status::Active)?;
    let other = first(project, &catalog, name, |status| *status != Status::Disabled)?;
    let hook = running
        .or(other)
        .ok_or_else(|| Failure::new(format!("the hook {name} is disabled already")))?;
    if hook.layer == Layer::Managed {
        let failure = Failure::new(format!("the hook {name} is managed: no user disables it"));
        return Err(failure.help(format!("an administrator can change {}", hook.path.display())));
    }
    let mut path = hook.path.clone().into_os_string();
    path.push(SUFFIX);
    let target = rename(&hook.path, &PathBuf::from(path))?;
    // The user disables it themselves: it is not missed.
    let name = hook.name.clone();
    let catalog = project.load(&Cancel::new());
    trust::accept_disabled(project, &catalog, &name)?;
    Ok(target)
}

/// Returns the first hook of this name with such a status, by precedence. Fails if no hook has the name.
fn first<'c>(
    project: &Project,
    catalog: &'c Catalog,
    name: &str,
    is_meant: impl Fn(&Status) -> bool,
) -> Result<Option<&'c ListedHook>, Failure> {
    entry::refuse_built_in(name)?;
    entry::entries_named(project, catalog, name)?;
    let mut listing = catalog.listing().iter();
    let name = ResourceName::new(name);
    Ok(listing.find(|hook| hook.name == name.as_str() && is_meant(&hook.status)))
}

fn rename(from: &Path, to: &Path) -> CommandResult {
    let failure = |error: std::io::Error| {
        Failure::new(format!("{} cannot be renamed: {error}", from.display()))
    };
    if fs::symlink_metadata(to).is_ok() {
        return Err(failure(ErrorKind::AlreadyExists.into())
            .help(format!("{} already exists: remove one of the two", to.display())));
    }
    fs::rename(from, to).map_err(failure)?;
    ui::out(visible(&to.to_string_lossy()));
    Ok(Exit::Done)
}
