//! `tenter hooks doctor`: diagnoses problems with the hooks of a project. It changes nothing.

mod bridge;
mod confine;
mod hooks;
mod kodelet;
mod misplaced;
mod record;
mod runtime;

use std::path::Path;
use std::sync::Arc;

use tenter_base::format_count;
use tenter_engine::Layer;
use tenter_engine::inspect::{Catalog, Hook, no_such};
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{BAD, Exit, GOOD, NOTICE, styled, ui};

pub use hooks::OWN_TOOLS;

use super::entry;
use crate::project::Project;
use crate::{bundle, hook_figures, registered_program};

/// Diagnose problems with your hooks, errors first.
///
/// The exit code is 1 if there is an error.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the diagnostics as JSON.
    #[arg(long)]
    json: bool,
}

/// Sets the place of a diagnostic to the hook's file or directory.
fn at_hook(hook: &Hook, diagnostic: Diagnostic) -> Diagnostic {
    match hook.path() {
        Some(path) => diagnostic.at(path),
        None => diagnostic,
    }
}

pub(super) fn run(mut project: Project, args: &Args) -> Exit {
    let catalog = project.load(&Cancel::new());
    let mut findings = examine(&project, &catalog);
    // The sort is stable: diagnostics of the same severity stay in the order of precedence of their hooks.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    if args.json {
        ui::json(&findings);
    } else {
        findings.iter().for_each(ui::diagnostic);
        ui::out(summary(ready(&project, &catalog, &findings), &findings));
    }
    let is_broken = findings.iter().any(|finding| finding.severity == Severity::Error);
    if is_broken { Exit::Failed } else { Exit::Done }
}

fn examine(project: &Project, catalog: &Catalog) -> Vec<Diagnostic> {
    // `hooks::diagnose_entry` reports these in more detail.
    let own = project.findings().filter(|finding| finding.id != "hook-not-executable");
    let mut findings: Vec<Diagnostic> = own.cloned().collect();
    findings.extend(misplaced::examine(project));
    findings.extend(switched_off(project));
    findings.extend(managed(project, catalog));
    findings.extend(bundle::examine(project.env));
    findings.extend(unknown_names(project, catalog));
    findings.extend(kodelet::disabled_hooks(project.env));
    findings.extend(bridge::examine(project));
    let programs = registered_program::examine(project.env).into_iter();
    findings.extend(programs.filter(|finding| finding.id != registered_program::MISSING));
    findings.extend(bridge::other_directories(project));
    for entry in entry::entries(project, catalog) {
        findings.extend(hooks::diagnose_entry(project, &entry));
    }
    let hooks = hook_figures::known(catalog);
    let (history, unread) = record::RecordHistory::read(&project.env.journals(), &hooks);
    findings.extend(unread);
    for hook in catalog.hooks() {
        findings.extend(hooks::never_matches(hook));
        findings.extend(history.warnings(hook));
    }
    findings.extend(runtime::examine(project, catalog));
    findings.extend(confine::examine(project, catalog));
    findings
}

fn switched_off(project: &Project) -> Option<Diagnostic> {
    let message = "hooks are disabled (hooks.enabled = false): only built-in and managed hooks run";
    let finding = Diagnostic::new("hooks-switched-off", Severity::Warning, message);
    (!project.settings.hooks.enabled).then(|| finding.at(project.env.config_file()))
}

/// Returns a note about what administrators set on this machine.
fn managed(project: &Project, catalog: &Catalog) -> Option<Diagnostic> {
    let directory = &project.layout.managed;
    let hooks = catalog.hooks().iter().filter(|hook| hook.layer == Layer::Managed).count();
    let policies = &project.settings.hooks.policies;
    let only = if policies.only_managed.is_some() { ", and no other hooks run" } else { "" };
    let message =
        format!("{} managed on this machine{only}", format_count(hooks, "hook is", "hooks are"));
    let finding = Diagnostic::new("managed-layer", Severity::Info, message).at(directory.path());
    directory.exists().then_some(finding)
}

/// Returns warnings about names in the configuration that no hook has.
fn unknown_names(project: &Project, catalog: &Catalog) -> Vec<Diagnostic> {
    let settings = &project.settings;
    let file = |name: &str| {
        if settings.hooks.project_overrides.contains(name) {
            settings.project.join("tenter.toml")
        } else {
            project.env.config_file()
        }
    };
    let names = settings.hooks.policies.names();
    names.filter_map(|name| Some(no_such(name, catalog.listing())?.at(file(name)))).collect()
}

/// Returns the number of hooks that can run: those without an error, and whose matcher matches some tool.
fn ready(project: &Project, catalog: &Catalog, findings: &[Diagnostic]) -> usize {
    if !project.settings.hooks.enabled {
        return catalog.only_managed().hooks().len();
    }
    let prevents = |finding: &&Diagnostic| {
        finding.severity == Severity::Error || finding.id == hooks::NEVER_MATCHES
    };
    let paths: Vec<&Path> =
        findings.iter().filter(prevents).filter_map(|finding| finding.path.as_deref()).collect();
    let can_run = |hook: &&Arc<Hook>| {
        hook.path().is_none_or(|own| !paths.iter().any(|path| path.starts_with(own)))
    };
    catalog.hooks().iter().filter(can_run).count()
}

fn summary(ready: usize, findings: &[Diagnostic]) -> String {
    let hooks = format_count(ready, "hook is ready", "hooks are ready");
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    if errors + warnings == 0 {
        return format!("{}: {hooks}.", styled(GOOD, "All is well"));
    }
    let style = if errors > 0 { BAD } else { NOTICE };
    let problems = format!(
        "{}, {}",
        format_count(errors, "error", "errors"),
        format_count(warnings, "warning", "warnings")
    );
    format!("{}; {hooks}.", styled(style, problems))
}
