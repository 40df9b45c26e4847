//! Problems with the registrations of hooks in other agents (B31).

use std::path::PathBuf;

use tenter_bridge::registration::{
    IgnoredFile, RegisteredHandler, Registry, Scope, SilencingSetting, Target,
};
use tenter_bridge::{Host, hosts};
use tenter_protocol::{Diagnostic, Severity};

use crate::project::Project;

/// Diagnoses the registrations with every agent.
pub(super) fn examine(project: &Project) -> Vec<Diagnostic> {
    let registry = crate::commands::bridge::registry(project.env);
    hosts::ALL.iter().flat_map(|host| with_host(project, &registry, host)).collect()
}

fn with_host(project: &Project, registry: &Registry, host: &'static Host) -> Vec<Diagnostic> {
    let recorded: Vec<PathBuf> =
        registry.records_of(host).into_iter().map(|record| record.file).collect();
    let targets = registry.targets(host, project.root());
    let mut findings = Vec::new();
    let mut registered = Vec::new();
    for target in &targets {
        match registry.registered(target) {
            Ok(handlers) if !handlers.is_empty() => {
                findings.extend(with_handlers(target, &handlers, registry.expected(target)));
                findings.extend(ignored(registry, target));
                registered.push(target);
            }
            Ok(_) if recorded.contains(&target.file) => findings.push(missing(target)),
            // A file that is recorded was valid.
            Err(error) if recorded.contains(&target.file) => findings.push(error),
            Ok(_) | Err(_) => {}
        }
    }
    if let Some(finding) = twice(project, registered.iter().copied()) {
        findings.push(finding);
        findings.extend(registry.note_several(host).err());
    }
    if !registered.is_empty() {
        let settings = registry.silencing_settings(host, &targets);
        findings.extend(settings.into_iter().map(|setting| silenced(host, setting)));
    }
    findings
}

/// Problems with the handlers in a file.
fn with_handlers(
    target: &Target,
    handlers: &[RegisteredHandler],
    events: usize,
) -> Vec<Diagnostic> {
    let name = target.host.name;
    let mut findings = Vec::new();
    let mut programs: Vec<&PathBuf> =
        handlers.iter().filter_map(|handler| handler.command.program.as_ref()).collect();
    programs.sort();
    programs.dedup();
    for program in programs.into_iter().filter(|program| !program.is_file()) {
        let message =
            format!("{name} runs no hooks of yours: there is no program {}", program.display());
        findings.push(finding("bridge-program-missing", Severity::Error, message, target));
    }
    let intact = handlers.iter().filter(|handler| handler.is_intact).count();
    if intact != events || intact != handlers.len() {
        let message = format!(
            "{intact} of {events} events of {name} are registered as they should be: the others were changed or removed"
        );
        findings.push(finding("bridge-incomplete", Severity::Warning, message, target));
    }
    findings
}

/// The finding that the host does not read the file.
fn ignored(registry: &Registry, target: &Target) -> Option<Diagnostic> {
    let IgnoredFile { reads, line, column } = registry.ignored_because(target).ok().flatten()?;
    let message = format!(
        "{} ignores this file: it reads {reads} (line {line}, column {column})",
        target.host.name
    );
    let help = "remove what it does not read from the file";
    Some(finding("bridge-ignored", Severity::Error, message, target).help(help))
}

/// The finding that a recorded registration is not in its file.
fn missing(target: &Target) -> Diagnostic {
    let message =
        format!("{} runs no hooks of yours: the registration was removed", target.host.name);
    finding("bridge-missing", Severity::Warning, message, target).help(format!(
        "run `tenter bridge install {0}`, or `tenter bridge remove {0}`",
        target.host.id
    ))
}

/// The finding that the user's registration and one of the project are both read.
fn twice<'t>(
    project: &Project,
    registered: impl Iterator<Item = &'t Target>,
) -> Option<Diagnostic> {
    let is_read =
        |target: &&Target| target.scope == Scope::User || target.file.starts_with(project.root());
    let read: Vec<&Target> = registered.filter(is_read).collect();
    let [first, second, ..] = read[..] else { return None };
    let message = format!(
        "{} reads this registration and that in {}: each event runs the hooks once, but starts two processes",
        first.host.name,
        second.file.display()
    );
    let project = if second.scope == Scope::User { "" } else { " --project" };
    let help = format!("run `tenter bridge remove {}{project}` to keep one", first.host.id);
    Some(finding("bridge-twice", Severity::Info, message, first).help(help))
}

/// A setting that switches hooks off.
fn silenced(host: &Host, setting: SilencingSetting) -> Diagnostic {
    let SilencingSetting { file, key, value, line } = setting;
    let message = format!("{} runs no hooks of yours: {key} is {value} in line {line}", host.name);
    Diagnostic::new("bridge-silenced", Severity::Warning, message)
        .at(file)
        .help(format!("remove {key} from the file, unless you want that"))
}

fn finding(id: &'static str, severity: Severity, message: String, target: &Target) -> Diagnostic {
    let project = if target.scope == Scope::User { "" } else { " --project" };
    Diagnostic::new(id, severity, message)
        .at(&target.file)
        .help(format!("run `tenter bridge install {}{project}` again", target.host.id))
}
