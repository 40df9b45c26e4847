//! Asks whether the hooks of a plugin may run, when it is installed (R46, R55) and when it changes.
//!
//! Trust covers the content of an executable or of a hook's directory. Hooks of a plugin may also share files, so a change of any file
//! in `hooks` revokes the trust in all of them.

use std::path::PathBuf;

use tenter_base::visible;
use tenter_engine::TrustMode;
use tenter_engine::inspect::Untrusted;
use tenter_proc::Cancel;
use tenter_terminal::{FAINT, Failure, NAME, NOTICE, styled, ui};

use crate::project::Project;
use crate::trust::{ask_hooks_of_plugin, note_consequences, revoke, trust_hooks};

/// Asks whether the hooks of these plugins of the project may run; with `trust`, they may. Without a terminal they stay untrusted,
/// and a note says so: nothing runs, and `tenter run` does not start before they are trusted.
pub(super) fn settle(
    project: &mut Project,
    plugins: &[String],
    trust: bool,
    cancel: &Cancel,
) -> Result<(), Failure> {
    // Loading asks hooks for their events, and with the gate open these would be asked too: they will be, when they run.
    if plugins.is_empty() || project.settings.hooks.trust == TrustMode::All {
        return Ok(());
    }
    let catalog = project.load(cancel);
    let is_theirs = |hook: &&Untrusted| plugins.iter().any(|plugin| is_of(plugin, &hook.name));
    let waiting: Vec<Untrusted> = catalog.untrusted().iter().filter(is_theirs).cloned().collect();
    if waiting.is_empty() {
        return Ok(());
    }
    ui::note(format!("{} Hooks that run only when you trust them:", styled(NOTICE, "?")));
    for hook in &waiting {
        describe(project, hook);
    }
    if !trust && !ask_hooks_of_plugin(&waiting) {
        ui::note("They do not run yet: review them and run `tenter trust`.");
        return Ok(());
    }
    let catalog = trust_hooks(project, &waiting, cancel)?;
    ui::note("Trusted:");
    for hook in &waiting {
        let active = catalog.hooks().iter().find(|other| other.name == hook.name);
        let events: Vec<&str> = active
            .iter()
            .flat_map(|active| &active.subscriptions)
            .map(|one| one.spelling)
            .collect();
        let name = styled(NAME, visible(&hook.name));
        ui::note(format!("  {name}  {}", events.join(", ")).trim_end());
    }
    let is_in_plugin = |path: &PathBuf| waiting.iter().any(|hook| path.starts_with(&hook.path));
    let findings = project.findings();
    ui::diagnostics(findings.filter(|finding| finding.path.as_ref().is_some_and(is_in_plugin)));
    Ok(())
}

/// Revokes the trust in every hook of a plugin.
pub(super) fn withdraw(project: &mut Project, plugin: &str) -> Result<(), Failure> {
    let names = project.trust.project(project.root()).hooks().into_iter();
    let names: Vec<String> = names.filter(|name| is_of(plugin, name)).map(str::to_owned).collect();
    for name in names {
        revoke(project, Some(&name))?;
    }
    Ok(())
}

fn is_of(plugin: &str, hook: &str) -> bool {
    hook.strip_prefix(plugin).is_some_and(|rest| rest.starts_with('/'))
}

fn describe(project: &Project, hook: &Untrusted) {
    let mut events: Vec<&str> = hook.subscriptions.iter().map(|one| one.spelling).collect();
    events.dedup();
    let events = match events.as_slice() {
        // To ask an executable is to run it (R11).
        [] => "executable; its events are asked after you trust it".to_owned(),
        events => events.join(", "),
    };
    let path = hook.path.strip_prefix(project.root()).unwrap_or(&hook.path);
    let path = styled(FAINT, visible(&path.to_string_lossy()));
    ui::note(format!("  {}  {events}  {path}", styled(NAME, visible(&hook.name))));
    note_consequences(hook);
}
