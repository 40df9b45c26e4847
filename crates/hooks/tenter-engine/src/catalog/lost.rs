//! Project hooks that were trusted and no longer run (R73). Someone may have removed a guard, so it is reported, unless the user
//! accepted this state of the project.

use std::path::Path;

use sha2::{Digest, Sha256};
use tenter_base::hex;
use tenter_protocol::{Diagnostic, Severity};

use super::examine::{Examination, Examined};
use super::policy::Policies;
use super::{ListedHook, Loss, LostHook, Status};
use crate::hook_policy::FailMode;
use crate::layer::Layer;
use crate::source::HookSettings;
use crate::trust::{ProjectState, ProjectTrust};

/// Returns the state of the project: its hooks that can run, regardless of the user's own settings.
pub(super) fn state(examined: &[Examined], settings: &HookSettings) -> ProjectState {
    let in_state = |examined: &Examined| match &examined.finding {
        Examination::Ready(ready)
            if examined.candidate.layer.needs_trust()
                && settings.disabled_by_project(&examined.candidate.name).is_none() =>
        {
            Some((examined.candidate.name.clone(), ready.fingerprint.0.clone()))
        }
        _ => None,
    };
    let mut hooks: Vec<(String, String)> = examined.iter().filter_map(in_state).collect();
    hooks.sort();
    hooks.dedup();
    let mut hasher = Sha256::new();
    for text in hooks.iter().flat_map(|(name, content)| [name, content]) {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    ProjectState(hex(&hasher.finalize()))
}

/// Returns the trusted hooks that no longer run. Those without which the user accepted an earlier state are left out, unless they fail
/// closed.
pub(super) fn lost(
    project_trust: ProjectTrust,
    project: &Path,
    listing: &[ListedHook],
    policies: Policies,
) -> Vec<LostHook> {
    let lost_hook = |name: &str| {
        let loss = loss(name, listing, policies.settings)?;
        let entry = listing.iter().find(|hook| is_of_project(hook, name));
        let path = entry.map_or(Path::new(""), |hook| hook.path.as_path());
        Some(LostHook {
            name: name.to_owned(),
            project: project.to_owned(),
            // Only the name of a plugin's hook contains the name of its plugin.
            layer: if name.contains('/') { Layer::ProjectPlugin } else { Layer::Project },
            trusted: project_trust.previous(name, path)?.clone(),
            loss,
            fail_closed: policies.project_table.policy(name).fail == FailMode::Closed,
        })
    };
    let is_new = |loss: &LostHook| loss.fail_closed || !project_trust.may_lack(&loss.name);
    project_trust.hooks().into_iter().filter_map(lost_hook).filter(is_new).collect()
}

/// Returns why the hook of this name does not run; `None` if it runs, is reported elsewhere, or was disabled by the user.
fn loss(name: &str, listing: &[ListedHook], settings: &HookSettings) -> Option<Loss> {
    let mut loss = Loss::Gone;
    for hook in listing.iter().filter(|hook| is_of_project(hook, name)) {
        let path = hook.path.clone();
        loss = match &hook.status {
            Status::Disabled => Loss::Disabled { path },
            Status::NotExecutable => Loss::NotExecutable { path },
            Status::NoScript => Loss::NoScript { path },
            Status::SwitchedOff { .. } => {
                Loss::SwitchedOff { by: settings.disabled_by_project(name)?.to_owned() }
            }
            Status::Active
            | Status::Shadowed { .. }
            | Status::NotTrusted { .. }
            | Status::WouldDisplace { .. }
            | Status::Invalid { .. } => return None,
        };
    }
    Some(loss)
}

fn is_of_project(hook: &ListedHook, name: &str) -> bool {
    hook.layer.needs_trust() && hook.name == name
}

/// Returns the diagnostic about a lost hook.
pub(super) fn diagnostic(hook: &LostHook) -> Diagnostic {
    let severity = if hook.fail_closed { Severity::Error } else { Severity::Warning };
    // A line break in a file name must not forge a line of the message.
    let message = format!("the trusted hook {} does not run: it {}", hook.name, hook.why());
    let message = message.replace('\n', "\\n");
    Diagnostic::new("trusted-hook-lost", severity, message).help(
        "restore it; or run `tenter trust` to accept the project as it is or to forget the hook",
    )
}
