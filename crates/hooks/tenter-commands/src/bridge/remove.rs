//! `tenter bridge remove`.

use std::path::{Path, PathBuf};

use tenter_base::visible;
use tenter_bridge::registration::{RegistrationScope, Registry};
use tenter_bridge::{Host, hosts};
use tenter_terminal::{CommandResult, Env, Exit, Failure, GOOD, styled, ui};

use super::consent::Consent;
use super::{located, location};
use crate::{project, user_only};

/// Remove what `install` added to the settings of agents.
///
/// Everything else in these files stays, also what you have edited around it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Agents, such as claude-code.
    #[arg(value_name = "AGENT", required_unless_present = "all")]
    hosts: Vec<String>,
    /// Remove it from every agent.
    #[arg(long, conflicts_with = "hosts")]
    all: bool,
    /// Remove it from the settings of this project, personal and shared.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    project: Option<PathBuf>,
    #[command(flatten)]
    consent: Consent,
}

pub(super) fn run(env: &Env, args: &Args) -> CommandResult {
    let project = location::project_named(env, args.project.as_deref())?;
    let root = project.clone().map_or_else(|| project::root(env, None), Ok)?;
    if !args.consent.dry_run {
        user_only::check(env, &root, "bridge remove")?;
    }
    let scopes = match project {
        None => &[RegistrationScope::User][..],
        Some(_) => &[RegistrationScope::Personal, RegistrationScope::Shared],
    };
    let registry = super::registry(env);
    let hosts: Vec<&Host> = if args.all {
        hosts::ALL.iter().copied().filter(|host| !registry.records_of(host).is_empty()).collect()
    } else {
        args.hosts.iter().map(|id| super::host(id)).collect::<Result<_, _>>()?
    };
    let mut exit = Exit::Done;
    for host in hosts {
        let mut is_registered = false;
        for scope in scopes {
            match remove(env, &registry, (host, *scope), (&root, args.consent)) {
                Ok(None) => {}
                Ok(Some(end)) => {
                    is_registered = true;
                    exit = if end == Exit::Done { exit } else { end };
                }
                Err(failure) => {
                    ui::failure(&failure);
                    (exit, is_registered) = (Exit::Failed, true);
                }
            }
        }
        if !is_registered {
            note_none(&registry, host);
        }
    }
    Ok(exit)
}

/// Removes a registration; `None` if there is none.
fn remove(
    env: &Env,
    registry: &Registry,
    (host, scope): (&'static Host, RegistrationScope),
    (root, consent): (&Path, Consent),
) -> Result<Option<Exit>, Failure> {
    if registry.target(host, scope, root).is_none() {
        return Ok(None);
    }
    let target = location::target(env, host, scope, root)?;
    let plan = registry.plan_remove(&target).map_err(located)?;
    if !plan.is_change() {
        if !consent.dry_run {
            registry.remove(&plan).map_err(located)?;
        }
        return Ok(None);
    }
    ui::note(format!("{} will no longer run your hooks.", host.name));
    if !consent.to(&plan, "Remove?")? {
        ui::note("Nothing was changed.");
        return Ok(Some(if consent.dry_run { Exit::Done } else { Exit::Failed }));
    }
    registry.remove(&plan).map_err(located)?;
    let file = visible(&target.file.to_string_lossy()).into_owned();
    ui::note(format!("{} from {file}.", styled(GOOD, "Removed")));
    Ok(Some(Exit::Done))
}

/// Notes that nothing is registered there, and where something is.
fn note_none(registry: &Registry, host: &Host) {
    ui::note(format!("{}: nothing is registered there.", host.name));
    for record in registry.records_of(host) {
        let file = visible(&record.file.to_string_lossy()).into_owned();
        let project =
            if record.scope == RegistrationScope::User { "" } else { " (pass --project)" };
        ui::note(format!("  It is registered in {file}{project}."));
    }
}
