//! Problems with the registrations of hooks in other agents (B31).

use std::cmp::Ordering;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tenter_bridge::host::HostVersion;
use tenter_bridge::registration::{
    self, IgnoredFile, Options, RegisteredHandler, RegistrationScope, Registry, SilencingSetting,
    Target,
};
use tenter_bridge::unknown_tools::UnknownTool;
use tenter_bridge::{Host, heartbeat, hosts};
use tenter_engine::Directories;
use tenter_protocol::{Diagnostic, Severity};
use tenter_prove::{CheckVerdict, Client, Proof};

use crate::hooks::lint;
use crate::installed_agents::{self, InstalledAgent};
use crate::project::Project;

/// A session that continues for this long without an event does not show its events. What a host writes at its end, or while it waits
/// for its user, takes less.
const MAX_SILENCE: Duration = Duration::from_mins(15);

/// Diagnoses the registrations with every agent.
pub(super) fn examine(project: &Project) -> Vec<Diagnostic> {
    let registry = Registry::in_home(&project.env.home).with_variables(&project.env.vars);
    hosts::ALL.iter().flat_map(|host| with_host(project, &registry, host)).collect()
}

/// Returns a note if hooks in other agents do not use the directories that the environment names (B43), and one is registered.
pub(super) fn other_directories(project: &Project) -> Option<Diagnostic> {
    let others = Directories::in_home(&project.env.home).state;
    let is_other = project.env.journals().all().count() > 1;
    let registry = Registry::in_home(&project.env.home);
    let is_registered = hosts::ALL.iter().any(|host| !registry.records_of(host).is_empty());
    let is_used = is_registered || others.join("journal").is_dir();
    (is_other && is_used).then(|| {
        let message = format!(
            "XDG_STATE_HOME is set: hooks in other agents keep what is trusted and recorded in {} instead",
            others.display()
        );
        Diagnostic::new("bridge-other-state", Severity::Info, message).help(
            "`log`, `inspect` and `stats` read both; run `tenter trust` without the variable for hooks in other agents",
        )
    })
}

fn with_host(project: &Project, registry: &Registry, host: &'static Host) -> Vec<Diagnostic> {
    let files: Vec<PathBuf> =
        registry.records_of(host).into_iter().map(|record| record.file).collect();
    let targets = registry.targets(host, project.root());
    let mut findings = lint::examine(project, host);
    let mut registered = Vec::new();
    for target in &targets {
        match registry.registered(target) {
            Ok(handlers) if !handlers.is_empty() => {
                findings.extend(with_handlers(target, &handlers, registry.expected(target)));
                if let Some(ignored) = ignored(registry, target) {
                    // The lint says it, too.
                    findings.retain(|finding| finding.message != ignored.message);
                    findings.push(ignored);
                }
                findings.extend(untrusted(registry, target));
                registered.push(target);
            }
            Ok(_) if files.contains(&target.file) => findings.push(missing(target)),
            // A file that is recorded was valid.
            Err(error) if files.contains(&target.file) => findings.push(error),
            Ok(_) | Err(_) => {}
        }
    }
    findings.extend(managed(project, host, !registered.is_empty()));
    let mut several: Vec<Diagnostic> =
        twice(project, registered.iter().copied()).into_iter().collect();
    if let Some(first) = registered.first() {
        let settings = registry.silencing_settings(host, &targets);
        findings.extend(settings.into_iter().map(|setting| silenced(host, setting)));
        several.extend(read_by_others(project, registry, first));
        several.extend(in_plugin(registry, first));
        findings.extend(unseen(project, registry, first));
        findings.extend(outdated(project, registry, first));
        findings.extend(unproved(project, first));
        findings.extend(breached(project, first));
        findings.extend(unknown_tools(project, first));
    }
    if !several.is_empty() {
        findings.extend(registry.note_several(host).err());
    }
    findings.extend(several);
    findings
}

/// Reports a registration for all users of the machine, beside which a user's is one too many.
fn managed(project: &Project, host: &Host, has_own: bool) -> Option<Diagnostic> {
    let file = registration::managed_registration(host, &project.layout.managed)?;
    let message = format!("{} runs hooks for all users of this machine", host.name);
    let finding = |severity, message| Diagnostic::new("bridge-managed", severity, message).at(file);
    Some(if has_own {
        finding(Severity::Warning, format!("{message} and as you registered them: they run twice"))
            .help(format!("run `tenter bridge remove {}`", host.id))
    } else {
        finding(Severity::Info, message)
    })
}

/// Returns the problems with the handlers in a file.
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
    let cut_short = handlers.iter().filter(|handler| handler.is_cut_short);
    let cut_short: Vec<&str> = cut_short.map(|handler| handler.event.as_str()).collect();
    if !cut_short.is_empty() {
        let message = format!(
            "{name} lets calls pass before their hooks have answered: the timeout of {} was shortened",
            cut_short.join(", ")
        );
        findings.push(finding("bridge-timeout", Severity::Warning, message, target));
        return findings;
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

/// Returns the finding that the host does not read the file.
fn ignored(registry: &Registry, target: &Target) -> Option<Diagnostic> {
    let ignored: IgnoredFile = registry.ignored_because(target).ok().flatten()?;
    let message = format!("{} ignores this file: {ignored}", target.host.name);
    let help = ignored.help;
    Some(finding("bridge-ignored", Severity::Error, message, target).help(help))
}

/// Returns the finding that the host does not trust handlers.
fn untrusted(registry: &Registry, target: &Target) -> Option<Diagnostic> {
    let missing = registry.untrusted(target).ok().filter(|missing| *missing > 0)?;
    let message = format!(
        "{} runs no hooks of yours for {missing} events: it does not trust these entries, which were changed or moved",
        target.host.name
    );
    Some(finding("bridge-untrusted", Severity::Error, message, target))
}

/// Returns the findings that other hosts read the registration, too.
fn read_by_others(project: &Project, registry: &Registry, target: &Target) -> Vec<Diagnostic> {
    let host = target.host;
    let others = host.registration.also_reads.iter().filter_map(|id| hosts::find(id));
    let targets = others.flat_map(|other| registry.targets(other, project.root()));
    let in_project = targets.filter(|target| {
        let is_read =
            target.scope != RegistrationScope::User && target.file.starts_with(project.root());
        is_read && registry.registered(target).is_ok_and(|handlers| !handlers.is_empty())
    });
    let finding = |other: Target| {
        let message = format!(
            "{} also reads the registration for {}: each event runs the hooks once, but starts two processes",
            host.name, other.host.name
        );
        Diagnostic::new("bridge-twice", Severity::Info, message).at(other.file).help(format!(
            "run `tenter bridge remove {} --project` if that is too slow",
            other.host.id
        ))
    };
    in_project.map(finding).collect()
}

/// Returns the finding that a plugin of the host registers hooks as well.
fn in_plugin(registry: &Registry, target: &Target) -> Option<Diagnostic> {
    let plugin = registry.plugin(target.host)?;
    let message = format!(
        "{} also reads the plugin in {}: each event runs the hooks once, but starts two processes",
        target.host.name,
        plugin.display()
    );
    let help = format!(
        "remove the plugin in {}, or run `tenter bridge remove {}`",
        target.host.name, target.host.id
    );
    Some(finding("bridge-twice", Severity::Info, message, target).help(help))
}

/// Returns the finding that sessions ran without an event.
fn unseen(project: &Project, registry: &Registry, target: &Target) -> Option<Diagnostic> {
    let host = target.host;
    let newest = registry.newest_session(host)?;
    let state = Directories::in_home(&project.env.home).state;
    let records = registry.records_of(host).into_iter();
    let version = records.filter_map(|record| {
        let time: jiff::Timestamp = record.installed_at.parse().ok()?;
        Some(SystemTime::from(time))
    });
    let last = heartbeat::last_event(&state, host).into_iter().chain(version).max()?;
    let is_unseen = newest.duration_since(last).is_ok_and(|time| time > MAX_SILENCE);
    let message = format!(
        "sessions of {} ran since the last event that Tenter saw, and showed it none",
        host.name
    );
    let help = "start a new session; if this stays, look for settings that switch hooks off";
    is_unseen.then(|| finding("bridge-no-events", Severity::Warning, message, target).help(help))
}

/// Returns the finding that the host ran a denied call.
fn breached(project: &Project, target: &Target) -> Option<Diagnostic> {
    let host = target.host;
    let breach = installed_agents::newest_breach(project.env, host)?;
    let message =
        format!("{} in the session {}, {}", breach.describe(host), breach.session, breach.at);
    let help = format!("run `tenter bridge prove {}` to see what its hooks guard", host.id);
    Some(finding("bridge-breach", Severity::Error, message, target).help(help))
}

/// Returns the finding that sessions used tools that Tenter does not know by their names (B51).
fn unknown_tools(project: &Project, target: &Target) -> Option<Diagnostic> {
    let state = Directories::in_home(&project.env.home).state;
    let tools = tenter_bridge::unknown_tools::list(&state, target.host);
    let names: Vec<String> = tools.iter().map(UnknownTool::describe).collect();
    let message = format!(
        "sessions of {} used tools that Tenter does not know: {}",
        target.host.name,
        names.join(", ")
    );
    let help = "rules about commands and paths apply to them by the fields of their input; a matcher that needs one of them has to name it";
    (!tools.is_empty())
        .then(|| finding("bridge-unknown-tools", Severity::Info, message, target).help(help))
}

/// Returns the finding that the installed version of the host knows other events than those that are registered.
fn outdated(project: &Project, registry: &Registry, target: &Target) -> Option<Diagnostic> {
    let host = target.host;
    let version = InstalledAgent::find(project.env, host).version(project.env)?;
    let options = Options { version: HostVersion::parse(&version), ..Options::default() };
    let handlers = registry.plan_install(target, options).ok()?.handlers();
    let registered = registry.registered(target).ok()?.len();
    let (severity, why) = match registered.cmp(&handlers) {
        Ordering::Equal => return None,
        Ordering::Less => {
            (Severity::Info, format!("knows {handlers} events, and {registered} are registered"))
        }
        Ordering::Greater => (
            Severity::Error,
            format!(
                "knows only {handlers} of the {registered} registered events, and may ignore the whole file for that"
            ),
        ),
    };
    let message = format!("{} {version} {why}", host.name);
    Some(finding("bridge-outdated", severity, message, target))
}

/// Returns the finding that the installed version of the host is not proved, or that a check of it is broken.
fn unproved(project: &Project, target: &Target) -> Option<Diagnostic> {
    let host = target.host;
    let version = InstalledAgent::find(project.env, host).version(project.env)?;
    let proofs = Proof::kept(&installed_agents::state(project.env), host);
    if let Some(proof) = proofs.iter().find(|proof| proof.version == version) {
        let failures = proof.count(CheckVerdict::Broken);
        let message =
            format!("{} {version} does not do what it should in {failures} checks", host.name);
        return (failures > 0).then(|| {
            finding("bridge-broken", Severity::Warning, message, target)
                .help(format!("run `tenter bridge prove {}` to see which", host.id))
        });
    }
    if Client::find(host).is_none() {
        return other_version(&version, target);
    }
    let last = match (proofs.first(), host.measured_version) {
        (Some(proof), _) => format!("; the last proof is of {}", proof.version),
        (None, Some(version)) => format!("; what Tenter knows was measured with {version}"),
        (None, None) => String::new(),
    };
    let message = format!("{} {version} is not proved yet on this machine{last}", host.name);
    let help = format!("run `tenter bridge prove {}`, which takes a minute", host.id);
    Some(finding("bridge-unproved", Severity::Info, message, target).help(help))
}

/// Returns the finding that the installed version of a host, which cannot be proved, is not the measured one.
fn other_version(version: &str, target: &Target) -> Option<Diagnostic> {
    let host = target.host;
    let message = match host.measured_version {
        Some(measured_version) if measured_version == version => return None,
        Some(measured_version) => format!(
            "{} {version} is installed; what Tenter knows about it was measured with {measured_version}",
            host.name
        ),
        None => format!("what Tenter knows about {} is from its documentation only", host.name),
    };
    let help = format!("run `tenter bridge show {}` to see what is expected", host.id);
    Some(finding("bridge-version", Severity::Info, message, target).help(help))
}

/// Returns the finding that a recorded registration is not in its file.
fn missing(target: &Target) -> Diagnostic {
    let message =
        format!("{} runs no hooks of yours: the registration was removed", target.host.name);
    finding("bridge-missing", Severity::Warning, message, target).help(format!(
        "run `tenter bridge install {0}`, or `tenter bridge remove {0}`",
        target.host.id
    ))
}

/// Returns the finding that the user's registration and one of the project are both read.
fn twice<'t>(
    project: &Project,
    registered: impl Iterator<Item = &'t Target>,
) -> Option<Diagnostic> {
    let is_read = |target: &&Target| {
        target.scope == RegistrationScope::User || target.file.starts_with(project.root())
    };
    let targets: Vec<&Target> = registered.filter(is_read).collect();
    let [first, second, ..] = targets[..] else { return None };
    let message = format!(
        "{} reads this registration and that in {}: each event runs the hooks once, but starts two processes",
        first.host.name,
        second.file.display()
    );
    let project = if second.scope == RegistrationScope::User { "" } else { " --project" };
    let help = format!("run `tenter bridge remove {}{project}` to keep one", first.host.id);
    Some(finding("bridge-twice", Severity::Info, message, first).help(help))
}

/// Returns a setting that switches hooks off.
fn silenced(host: &Host, setting: SilencingSetting) -> Diagnostic {
    let SilencingSetting { file, key, value, line } = setting;
    let message = format!("{} runs no hooks of yours: {key} is {value} in line {line}", host.name);
    Diagnostic::new("bridge-silenced", Severity::Warning, message)
        .at(file)
        .help(format!("remove {key} from the file, unless you want that"))
}

fn finding(id: &'static str, severity: Severity, message: String, target: &Target) -> Diagnostic {
    let project = if target.scope == RegistrationScope::User { "" } else { " --project" };
    Diagnostic::new(id, severity, message)
        .at(&target.file)
        .help(format!("run `tenter bridge install {}{project}` again", target.host.id))
}
