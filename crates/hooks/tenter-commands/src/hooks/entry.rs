//! One hook as listings show it, on the terminal and as JSON.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use tenter_base::nearest;
use tenter_engine::inspect::{Catalog, Hook, HookKind, ListedHook, StaticAction, Status};
use tenter_engine::layout::ResourceName;
use tenter_engine::trust::{Hasher, MAX_HOOK_BYTES, ProjectTrust, fingerprint};
use tenter_engine::{FailMode, Fingerprint, Layer, TrustMode, builtin};
use tenter_proc::Cancel;
use tenter_protocol::EventName;
use tenter_protocol::runtime::Service;
use tenter_terminal::Failure;

use super::scripts;
use crate::project::Project;

/// One hook as listings show it, with the fields of the JSON form.
#[derive(Debug, Default, Serialize)]
pub(super) struct HookEntry<'c> {
    /// The full name.
    pub(super) name: &'c str,
    /// The events, joined with commas; empty where it could not be asked.
    pub(super) event: String,
    /// The events.
    pub(super) events: Vec<&'static str>,
    /// Its layer.
    pub(super) layer: &'static str,
    /// None for the built-in hook.
    pub(super) path: Option<String>,
    /// True if it may run as it is.
    pub(super) trust: TrustStatus,
    /// Its status in one word.
    pub(super) status: &'static str,
    /// True if it runs.
    pub(super) active: bool,
    /// The reason why it does not run, as the end of a sentence that begins with its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shadowed_by: Option<String>,
    /// SHA-256 of its content; none if it cannot be read, or is built in.
    pub(super) hash: Option<String>,
    /// Hooks with a higher priority run earlier; the built-in hook has none and runs last.
    pub(super) priority: Option<u16>,
    /// In milliseconds; none for the built-in hook.
    pub(super) timeout_ms: Option<u128>,
    /// The consequence of a failure.
    pub(super) fail: FailMode,
    /// True if it is asynchronous: the agent does not wait for it.
    #[serde(rename = "async")]
    pub(super) asynchronous: bool,
    /// `executable`, `manifest`, `http`, `declared` (a static hook) or `builtin`; none if it is unknown because the hook does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protocol: Option<&'static str>,
    /// The action of a static hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) action: Option<&'static str>,
    /// `serve` or `serve-only` for a runtime hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) runtime: Option<&'static str>,
    /// The script of a manifest hook, relative to its directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) script: Option<String>,
    /// True if other files of its directory could be its script, too.
    #[serde(skip)]
    pub(super) has_several_scripts: bool,
    /// The services that a runtime hook may request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) services: Vec<Service>,
    /// The URL of a hook behind HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    /// The description in its manifest; for the built-in hook what it does, as the end of a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    /// The ratio of the context window from which the built-in hook acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) threshold: Option<f64>,
    /// Its entry in the catalog; none for the built-in hook.
    #[serde(skip)]
    pub(super) hook: Option<&'c ListedHook>,
}

/// The trust in a hook as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TrustStatus {
    /// Its content was trusted.
    Trusted,
    /// Nothing was ever trusted under its name.
    Untrusted,
    /// Something else was trusted under its name.
    Changed,
    /// It is the user's own, or the trust gate is off.
    #[default]
    #[serde(rename = "not needed")]
    NotNeeded,
}

impl TrustStatus {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
            Self::Changed => "changed",
            Self::NotNeeded => "not needed",
        }
    }
}

/// Returns all hooks: first those that run, in their order, then the rest by precedence, then the built-in hook.
pub(super) fn entries<'c>(project: &Project, catalog: &'c Catalog) -> Vec<HookEntry<'c>> {
    let places = catalog
        .hooks()
        .iter()
        .enumerate()
        .filter_map(|(place, hook)| Some((hook.path()?, (place, hook.as_ref()))));
    let running: HashMap<&Path, (usize, &Hook)> = places.collect();
    let mut listing: Vec<&ListedHook> = catalog.listing().iter().collect();
    listing.sort_by_key(|hook| {
        running.get(hook.path.as_path()).map_or(usize::MAX, |(place, _)| *place)
    });
    let running_hook = |hook: &ListedHook| running.get(hook.path.as_path()).map(|(_, hook)| *hook);
    // To look up what is trusted in a project, its directory and its git repository are read.
    let mut trust_by_project: HashMap<&Path, ProjectTrust> = HashMap::new();
    let entries = listing.into_iter().map(|hook| {
        let look_up = || project.trust.project(&hook.project);
        let project_trust = trust_by_project.entry(&hook.project).or_insert_with(look_up);
        HookEntry::new(project, *project_trust, hook, running_hook(hook))
    });
    entries.chain([HookEntry::built_in(super::auto_compact(project))]).collect()
}

/// Returns the entries of this name, of every layer; at least one.
pub(super) fn entries_named<'c>(
    project: &Project,
    catalog: &'c Catalog,
    name: &str,
) -> Result<Vec<HookEntry<'c>>, Failure> {
    let full = ResourceName::new(name);
    let (matches, others): (Vec<_>, Vec<_>) =
        entries(project, catalog).into_iter().partition(|entry| entry.name == full.as_str());
    if !matches.is_empty() {
        return Ok(matches);
    }
    let failure = Failure::new(format!("there is no hook {name:?}"));
    Err(match nearest(name, others.iter().map(|entry| entry.name)) {
        Some(suggestion) => failure.help(format!("did you mean {suggestion}?")),
        None if others.iter().all(HookEntry::is_built_in) => {
            failure.help("there are no hooks yet: `tenter hooks new NAME` creates one")
        }
        None => failure.help("`tenter hooks list` lists all hooks"),
    })
}

impl<'c> HookEntry<'c> {
    /// Creates the entry; `running` is the hook, if it runs.
    fn new(
        project: &Project,
        project_trust: ProjectTrust,
        hook: &'c ListedHook,
        running: Option<&'c Hook>,
    ) -> Self {
        // What the catalog had no reason to read is read here, so that every entry has its hash.
        let hash = hook.fingerprint.clone().or_else(|| {
            let cancel = Cancel::new();
            fingerprint(&hook.covered, &Hasher::new(MAX_HOOK_BYTES, &cancel)).ok()
        });
        let policy = running
            .map_or_else(|| project.settings.hooks.policies.policy(&hook.name), |hook| hook.policy);
        let runtime = running.and_then(|hook| hook.runtime.as_ref());
        let script = running.and_then(script);
        let mut events: Vec<&str> =
            hook.subscriptions.iter().map(|subscription| subscription.event.as_str()).collect();
        events.dedup();
        Self {
            name: &hook.name,
            event: events.join(", "),
            events,
            layer: hook.layer.as_str(),
            path: Some(hook.path.to_string_lossy().into_owned()),
            trust: trust(project, project_trust, hook, hash.as_ref()),
            status: word(&hook.status),
            active: hook.status == Status::Active,
            reason: reason(project, &hook.status),
            shadowed_by: match &hook.status {
                Status::Shadowed { by } => Some(by.to_string_lossy().into_owned()),
                _ => None,
            },
            hash: hash.map(|hash| hash.0),
            priority: Some(policy.priority),
            timeout_ms: Some(policy.timeout.as_millis()),
            fail: policy.fail,
            asynchronous: policy.asynchronous,
            protocol: running.map(|hook| hook.kind.as_str()),
            action: running.and_then(Hook::static_action).map(StaticAction::action),
            runtime: runtime.map(|runtime| runtime.runtime.as_str()),
            has_several_scripts: running.zip(script).is_some_and(|(running, script)| {
                let exists = |name: &str| {
                    running.has_file(name).unwrap_or_else(|| hook.path.join(name).is_file())
                };
                !scripts::unused_scripts(&hook.path, script, exists).is_empty()
            }),
            script: script.map(|script| {
                let short = script.strip_prefix(&hook.path).unwrap_or(script);
                short.to_string_lossy().into_owned()
            }),
            services: runtime.map(|runtime| runtime.services.clone()).unwrap_or_default(),
            url: running.and_then(|hook| hook.kind.endpoint()).map(|endpoint| endpoint.url.clone()),
            description: running.and_then(|hook| hook.options.description.clone()),
            threshold: None,
            hook: Some(hook),
        }
    }

    /// Returns the entry of the built-in hook, with the threshold from which it requests a summary; none if it is off.
    fn built_in(threshold: Option<f64>) -> Self {
        let event = builtin::EVENT.as_str();
        let off = || "is off: conversations are not compacted automatically".to_owned();
        Self {
            name: builtin::NAME,
            event: event.to_owned(),
            events: vec![event],
            layer: Layer::BuiltIn.as_str(),
            status: if threshold.is_some() { "active" } else { "off" },
            active: threshold.is_some(),
            reason: threshold.is_none().then(off),
            protocol: Some("builtin"),
            description: Some(about_built_in(threshold)),
            threshold,
            ..Self::default()
        }
    }

    /// Checks whether it is part of Tenter.
    pub(super) fn is_built_in(&self) -> bool {
        self.hook.is_none()
    }

    /// Checks whether it subscribes to one of these events.
    pub(super) fn subscribes_to(&self, events: &[EventName]) -> bool {
        events.iter().any(|event| self.events.contains(&event.as_str()))
    }

    /// Returns its path for listings; the path of a manifest hook ends with a slash.
    pub(super) fn short_path(&self, project: &Project) -> String {
        let Some(hook) = self.hook else { return "-".to_owned() };
        let is_directory = match self.protocol {
            Some(protocol) => protocol != HookKind::Executable.as_str(),
            None => hook.path.is_dir(),
        };
        let mark = if is_directory { "/" } else { "" };
        short(project, &hook.path) + mark
    }
}

/// Fails if `name` is the built-in hook's name.
pub(super) fn refuse_built_in(name: &str) -> Result<(), Failure> {
    if name != builtin::NAME {
        return Ok(());
    }
    let failure = Failure::new(format!("{name} is built in and has no file"));
    Err(failure.help(
        "turn it off with `--disable-auto-compact`, or with compact.auto = false in the configuration",
    ))
}

/// Returns a path for listings, relative to the project or the home directory if it is in one of them.
pub(super) fn short(project: &Project, path: &Path) -> String {
    let (root, home) = (project.root(), &project.env.home);
    let in_home = path.strip_prefix(home).map(|rest| format!("~/{}", rest.to_string_lossy()));
    match path.strip_prefix(root) {
        // A project around the home directory says less about the place.
        Ok(rest) if !home.starts_with(root) => rest.to_string_lossy().into_owned(),
        _ => in_home.unwrap_or_else(|_| path.to_string_lossy().into_owned()),
    }
}

fn trust(
    project: &Project,
    project_trust: ProjectTrust,
    hook: &ListedHook,
    hash: Option<&Fingerprint>,
) -> TrustStatus {
    if !hook.layer.needs_trust() || project.settings.hooks.trust == TrustMode::All {
        return TrustStatus::NotNeeded;
    }
    if hash.is_some_and(|hash| project_trust.is_trusted(&hook.name, hash)) {
        TrustStatus::Trusted
    } else if project_trust.previous(&hook.name, &hook.path).is_some() {
        TrustStatus::Changed
    } else {
        TrustStatus::Untrusted
    }
}

/// Describes the built-in hook, as the end of a sentence.
fn about_built_in(threshold: Option<f64>) -> String {
    let fullness = match threshold {
        Some(threshold) => {
            format!("{} of the context window is used", builtin::percent(threshold))
        }
        None => "the context window is nearly full".to_owned(),
    };
    format!("asks for the recipe {} when {fullness}", builtin::RECIPE)
}

/// Returns the script of a manifest hook.
fn script(hook: &Hook) -> Option<&Path> {
    match &hook.kind {
        HookKind::Program(entry) => Some(&entry.path),
        _ => None,
    }
}

fn word(status: &Status) -> &'static str {
    match status {
        Status::Active => "active",
        Status::Shadowed { .. } => "shadowed",
        Status::Disabled => "disabled",
        Status::NotTrusted { .. } | Status::WouldDisplace { .. } => "untrusted",
        Status::NotExecutable => "not-executable",
        Status::NoScript => "no-script",
        Status::SwitchedOff { .. } => "switched-off",
        Status::Invalid { .. } => "invalid",
    }
}

/// Explains why a hook does not run, as the end of a sentence that begins with its name.
pub(super) fn reason(project: &Project, status: &Status) -> Option<String> {
    Some(match status {
        Status::Active => return None,
        Status::Shadowed { by } => format!("is shadowed by {}", short(project, by)),
        Status::Disabled => "is disabled: its file's name ends in .disable".to_owned(),
        Status::NotTrusted { has_changed: false } => {
            "is not trusted: look at it and run `tenter trust`".to_owned()
        }
        Status::NotTrusted { has_changed: true } => {
            "was changed since it was trusted: look at it and run `tenter trust`".to_owned()
        }
        Status::WouldDisplace { own } => {
            format!(
                "would shadow your own {}: look at it and run `tenter trust`",
                short(project, own)
            )
        }
        Status::NotExecutable => "is not executable: run `chmod +x` on it".to_owned(),
        Status::NoScript => {
            "has nothing to run: neither scripts/run nor scripts/run.sh nor scripts/run.py"
                .to_owned()
        }
        Status::SwitchedOff { by } => format!("is switched off by {}", short(project, by)),
        Status::Invalid { why } => why.clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_entry_of_a_disabled_hook_says_so_and_has_no_threshold() {
        let expected = json!({
            "name": "builtin:compact-trigger", "event": "after_turn", "events": ["after_turn"],
            "layer": "builtin", "path": null, "trust": "not needed", "status": "off", "active": false,
            "reason": "is off: conversations are not compacted automatically", "hash": null, "priority": null,
            "timeout_ms": null, "fail": "open", "async": false, "protocol": "builtin",
            "description": "asks for the recipe compact when the context window is nearly full",
        });
        assert_eq!(serde_json::to_value(HookEntry::built_in(None)).unwrap(), expected);
    }
}
