//! The state of bundles: `tenter bundle status`, and what `tenter hooks doctor` finds.

use std::collections::BTreeSet;
use std::fs;

use jiff::Timestamp;
use serde_json::json;
use tenter_base::{format_count, visible};
use tenter_plugins::bundle::{BundleManifest, BundleStore, Expiry, Installation};
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{BAD, Env, Exit, GOOD, NAME, NOTICE, now, styled, ui};

use super::configured::{BundleSource, ConfiguredBundle};
use super::with_ring;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON array.
    #[arg(long)]
    json: bool,
}

/// A bundle of this machine, and what is wrong with it.
struct BundleState {
    name: String,
    manifest: Option<BundleManifest>,
    bundle: Option<ConfiguredBundle>,
    checked_at: Option<String>,
    findings: Vec<Diagnostic>,
}

impl BundleState {
    fn is_broken(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// Runs the command. It fails if something is wrong with a bundle.
pub(super) fn run(env: &Env, args: &Args) -> Exit {
    let (states, findings) = states(env);
    if args.json {
        let states: Vec<_> = states.iter().map(as_json).collect();
        ui::json(&states);
    } else {
        states.iter().for_each(print);
        let state_findings = states.iter().flat_map(|state| &state.findings);
        findings.iter().chain(state_findings).for_each(ui::diagnostic);
        if states.is_empty() {
            ui::note("This machine has no bundles.");
        }
    }
    let is_broken = states.iter().any(BundleState::is_broken) || !findings.is_empty();
    if is_broken { Exit::Failed } else { Exit::Done }
}

/// Returns what is wrong with the bundles of this machine, and a note about each that is as it should be.
pub(crate) fn examine(env: &Env) -> Vec<Diagnostic> {
    let (states, mut findings) = states(env);
    for state in states {
        if let Some(manifest) = state.manifest.filter(|_| state.findings.is_empty()) {
            let message =
                format!("version {} of the bundle {} is in force", manifest.version, state.name);
            findings.push(Diagnostic::new("bundle", Severity::Info, message));
        }
        findings.extend(state.findings);
    }
    findings
}

/// Returns every bundle in the managed settings or on the disk, and what is wrong with the settings.
fn states(env: &Env) -> (Vec<BundleState>, Vec<Diagnostic>) {
    let managed = env.directories().managed;
    // Invalid settings are reported wherever settings are read.
    let (mut bundles, mut findings) = (Vec::new(), Vec::new());
    for bundle in ConfiguredBundle::all(env).unwrap_or_default() {
        match bundle {
            Ok(bundle) => bundles.push(bundle),
            Err(finding) => findings.push(finding),
        }
    }
    let entries = fs::read_dir(managed.bundles()).into_iter().flatten().flatten();
    let mut names: BTreeSet<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.extend(bundles.iter().map(|bundle| bundle.name.clone()));
    let mut states = Vec::new();
    for name in names {
        let index = bundles.iter().position(|bundle| bundle.name == name);
        let bundle = index.map(|index| bundles.swap_remove(index));
        if let Ok(store) = BundleStore::new(&managed, &name) {
            states.push(state(env, &store, bundle));
        }
    }
    (states, findings)
}

fn state(env: &Env, store: &BundleStore, bundle: Option<ConfiguredBundle>) -> BundleState {
    let (name, record) = (store.name().to_owned(), store.record());
    let mut findings = Vec::new();
    let problem = |severity, message: String| {
        Diagnostic::new("bundle-state", severity, format!("the bundle {name}: {message}"))
            .at(store.dir())
    };
    let manifest = match &bundle {
        None => {
            let message =
                "no key is pinned for it in the managed config.toml, so nothing updates it";
            findings.push(problem(Severity::Warning, message.to_owned()));
            store.manifest()
        }
        Some(bundle) => match with_ring(env, &bundle.keys, |ring| store.verify(ring)) {
            Ok(Some(bundle)) => Some(bundle.manifest),
            Ok(None) => {
                let finding = problem(Severity::Error, "no version is installed".to_owned());
                findings.push(finding.help("`sudo tenter bundle update` installs it"));
                None
            }
            Err(finding) => {
                let message = format!("the bundle {name} is damaged: {}", finding.message);
                findings.push(Diagnostic { message, ..finding });
                store.manifest()
            }
        },
    };
    match manifest.as_ref().map(|manifest| (manifest, manifest.expiry(now()))) {
        Some((manifest, Expiry::Past)) => findings.push(past(manifest).at(store.dir())),
        Some((manifest, Expiry::Grace)) => {
            let message =
                format!("version {} expired {}", manifest.version, day(manifest.expires()));
            findings
                .push(problem(Severity::Warning, message).help("a new version should be signed"));
        }
        _ => {}
    }
    if let Some(error) = record.as_ref().and_then(|record| record.error.clone()) {
        let message = format!("the last update was refused: {error}");
        findings.push(
            problem(Severity::Error, message).help("`sudo tenter bundle update` tries again"),
        );
    }
    let checked_at = record.map(|record| record.checked_at);
    BundleState { name: name.clone(), manifest, bundle, checked_at, findings }
}

/// Returns the finding that a bundle has expired beyond its grace.
pub(super) fn past(manifest: &BundleManifest) -> Diagnostic {
    let message = format!(
        "version {} of the bundle {} is in force, and expired {}, beyond its grace",
        manifest.version,
        manifest.name,
        day(manifest.expires())
    );
    Diagnostic::new("bundle-past", Severity::Error, message)
        .help("its hooks keep running; sign a new version, or find out why it does not arrive")
}

/// Prints that a bundle was installed, or was in force already.
pub(super) fn installed(manifest: &BundleManifest, installation: Installation) {
    let BundleManifest { name, version, .. } = manifest;
    ui::note(match installation {
        Installation::Installed => {
            format!("{} version {version} of the bundle {name}.", styled(GOOD, "Installed"))
        }
        Installation::Present => format!("Version {version} of the bundle {name} is in force."),
    });
}

/// Returns the number of a bundle's files, in words.
pub(super) fn files(manifest: &BundleManifest) -> String {
    format_count(manifest.files.len(), "file", "files")
}

/// Returns the day of a time.
pub(super) fn day(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "never".to_owned(), |time| time.strftime("%Y-%m-%d").to_string())
}

fn print(state: &BundleState) {
    let version = state.manifest.as_ref().map_or_else(
        || "no version".to_owned(),
        |manifest| format!("version {}, expires {}", manifest.version, day(manifest.expires())),
    );
    let word = if state.is_broken() {
        styled(BAD, "error")
    } else if state.findings.is_empty() {
        styled(GOOD, "valid")
    } else {
        styled(NOTICE, "warning")
    };
    ui::out(format!("{}  {word}  {version}", styled(NAME, visible(&state.name))));
    if let Some(bundle) = &state.bundle {
        let source = bundle.source.as_ref().map_or_else(|| "files".to_owned(), describe);
        ui::out(format!("  from     {}", visible(&source)));
        for key in &bundle.keys {
            ui::out(format!("  key      {}", visible(&key.to_string())));
        }
    }
    if let Some(checked_at) = &state.checked_at {
        ui::out(format!("  checked  {}", visible(checked_at)));
    }
}

fn describe(source: &BundleSource) -> String {
    match source {
        BundleSource::Url(url) => url.clone(),
        BundleSource::Git { repository, reference, file } => {
            let reference = reference.as_ref().map(|name| format!("@{name}")).unwrap_or_default();
            format!("{file} in {repository}{reference}")
        }
        BundleSource::Directory { path, file } => format!("{path}/{file}"),
    }
}

fn as_json(state: &BundleState) -> serde_json::Value {
    let manifest = state.manifest.as_ref();
    json!({
        "name": state.name,
        "version": manifest.map(|manifest| manifest.version.to_string()),
        "expires": manifest.and_then(BundleManifest::expires).map(|time| time.to_string()),
        "source": state.bundle.as_ref().and_then(|one| one.source.as_ref()).map(describe),
        "keys": state.bundle.iter().flat_map(|one| &one.keys).map(ToString::to_string).collect::<Vec<_>>(),
        "checked_at": state.checked_at,
        "findings": state.findings,
    })
}
