//! Reads a manifest hook: the front matter of its `HOOK.md`, and which script it has. The text below the front matter is not read
//! (section 9 of the specification).

use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use tenter_base::untrusted_file;
use tenter_protocol::executable::Subscription;
use tenter_protocol::front_matter::{self, Node, Strictness, find};
use tenter_protocol::manifest::format::{self, MAX_FILE_SIZE};
use tenter_protocol::manifest::{Extensions, Manifest, StaticActionText};
use tenter_protocol::{Diagnostic, EventName, Severity};

use super::outline::HookOutline;
use super::policy::OwnPolicy;
use crate::claude_code::{self, ClaudeCodeHook};
use crate::hook::{HookKind, HookOptions, RuntimeHook};
use crate::hook_policy::HookMode;
use crate::layer::Layer;
use crate::matcher::{HookRules, Matcher};
use crate::query::KnownManifest;
use crate::ready_made::ReadyMade;
use crate::source::{Candidate, MANIFEST_FILE, Script};
use crate::static_action::{CHECKS, StaticAction, needless_script};

/// Number of bytes that are read from a manifest at once. Front matter is usually shorter.
const PIECE: u64 = 8 * 1024;

/// The result of reading a manifest.
pub(super) struct Read {
    /// The full name: from the manifest, or from the directory if the manifest has none.
    pub(super) name: String,
    /// The hook, or why it cannot run.
    pub(super) manifest: Result<Manifest, String>,
    /// Diagnostics of the manifest.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The known parts of the hook, used if it cannot run.
    pub(super) about: HookOutline,
}

/// The settings of a hook in its manifest.
pub(super) struct ManifestHook {
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) own: OwnPolicy,
    pub(super) script: Runnable,
    pub(super) options: Box<HookOptions>,
    pub(super) runtime: Option<RuntimeHook>,
}

/// The script of a hook, or its replacement.
pub(super) enum Runnable {
    Yes(HookKind),
    NotExecutable,
    Missing,
}

/// Reads the manifest `file` of `candidate`.
pub(super) fn read(candidate: &Candidate, file: &Path) -> Read {
    let unread = |why: String| Read {
        name: candidate.name.clone(),
        manifest: Err(why),
        diagnostics: Vec::new(),
        about: HookOutline { is_hook: true, ..HookOutline::default() },
    };
    let bytes = match front(file) {
        Ok(bytes) => bytes,
        Err(error) => return unread(format!("has a HOOK.md that cannot be read: {error}")),
    };
    let strictness = match candidate.layer {
        Layer::Managed => Strictness::RuleByRule,
        _ => Strictness::Tolerant,
    };
    let (manifest, diagnostics) = format::read(file, &bytes, strictness, CHECKS);
    let conflict = needless_script(file, &bytes).filter(|_| manifest.is_some());
    let (manifest, diagnostics) = match conflict {
        Some(finding) => (None, diagnostics.into_iter().chain([finding]).collect()),
        None => (manifest, diagnostics),
    };
    let Some(manifest) = manifest else {
        let first = diagnostics.iter().find(|finding| finding.severity == Severity::Error);
        let why = first.map_or_else(|| "it has no front matter".to_owned(), at_line);
        return Read {
            diagnostics: diagnostics.clone(),
            about: outline(file, &bytes),
            ..unread(format!("has a HOOK.md that is not valid: {why}"))
        };
    };
    let (name, about) = (full_name(candidate, &manifest), about(&manifest));
    Read { name, manifest: Ok(manifest), diagnostics, about }
}

/// Returns the message of a diagnostic, with its line.
fn at_line(finding: &Diagnostic) -> String {
    let line = finding.span.as_ref().map(|span| format!(" (line {})", span.line));
    format!("{}{}", finding.message, line.unwrap_or_default())
}

/// Returns what a manifest says about a hook that cannot run.
pub(super) fn about(manifest: &Manifest) -> HookOutline {
    let subscriptions = manifest.subscriptions();
    HookOutline {
        is_hook: true,
        events: Some(subscriptions.iter().map(|subscription| subscription.event).collect()),
        matcher: matcher(manifest, &subscriptions),
        own: own_policy(manifest),
    }
}

/// Returns the events and the fail mode of an invalid manifest. Its matcher is ignored, because it may be the invalid part.
fn outline(file: &Path, bytes: &[u8]) -> HookOutline {
    let about = HookOutline { is_hook: true, ..HookOutline::default() };
    // Words in front matter that cannot be read set nothing (R61).
    let Some(document) = front_matter::read(file, bytes).0 else { return about };
    let value = |key| find(&document.fields, key).map(|field| &field.value);
    let metadata = value("metadata").and_then(Node::as_mapping).unwrap_or_default();
    let metadata_value = |key| find(metadata, key).map(|field| &field.value);
    let further = metadata_value("triggers").and_then(Node::as_list).unwrap_or_default();
    let event = |word: &Node| Some(Subscription::in_manifest(word.as_text()?)?.event);
    let events: Option<Vec<EventName>> =
        value("trigger").into_iter().chain(further).map(event).collect();
    let own = OwnPolicy {
        // An unknown word may have been meant as `closed`.
        fail_closed: metadata_value("fail").is_some_and(|fail| fail.as_text() != Some("open")),
        asynchronous: value("async").map(|word| word.as_text() == Some("true")),
        mode: metadata_value("mode").map(|word| mode(word.as_text() == Some("monitor"))),
        ..OwnPolicy::default()
    };
    HookOutline { events: events.filter(|events| !events.is_empty()), own, ..about }
}

/// Returns whether a manifest that was trusted sets its hook to fail closed.
pub(super) fn is_fail_closed(text: &str) -> bool {
    let manifest =
        format::read(Path::new(MANIFEST_FILE), text.as_bytes(), Strictness::Tolerant, CHECKS).0;
    manifest.is_some_and(|manifest| manifest.extensions.fail_closed == Some(true))
}

/// Returns the name in a manifest.
pub(super) fn full_name(candidate: &Candidate, manifest: &Manifest) -> String {
    format!("{}{}", candidate.prefix, manifest.name)
}

/// Reads a manifest up to the end of its front matter. Without an end, or if the file is too large, reads one byte more than the
/// limit.
fn front(file: &Path) -> io::Result<Vec<u8>> {
    let mut open_file = untrusted_file::open(file)?;
    let is_long = open_file.metadata()?.len() > MAX_FILE_SIZE as u64;
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        open_file.by_ref().take(PIECE).read_to_end(&mut bytes)?;
        let is_whole = bytes.len() == before;
        let is_enough = !is_long && front_matter::is_complete(&bytes);
        if is_whole || is_enough || bytes.len() > MAX_FILE_SIZE {
            return Ok(bytes);
        }
    }
}

/// Converts a manifest into a hook.
///
/// # Errors
/// The reason why the hook cannot run, as the end of a sentence that begins with its name.
pub(super) fn hook(facts: &KnownManifest) -> Result<ManifestHook, String> {
    let KnownManifest { manifest, rules, script, .. } = facts;
    let subscriptions = manifest.subscriptions();
    let own = own_policy(manifest);
    let script = runnable(manifest, script.clone(), rules.as_ref())?;
    let options = Box::new(HookOptions {
        description: Some(manifest.description.clone()),
        matcher: matcher(manifest, &subscriptions),
        rules: rules.clone(),
        starts_in_own_directory: manifest.extensions.starts_in_own_directory,
        is_pure: manifest.extensions.is_pure,
        light_payload: manifest.extensions.light_payload,
        env: manifest.extensions.env.clone(),
        protected: manifest.extensions.protected,
        claude_code: manifest.extensions.claude_code.clone().map(ClaudeCodeHook::new),
        settings: manifest.extensions.settings.clone(),
    });
    let runtime = RuntimeHook::from_manifest(&manifest.extensions);
    Ok(ManifestHook { subscriptions, own, script, options, runtime })
}

/// Returns what runs at an event.
///
/// # Errors
/// The reason why nothing can, as the end of a sentence that begins with the hook's name.
fn runnable(
    manifest: &Manifest,
    script: Script,
    rules: Option<&HookRules>,
) -> Result<Runnable, String> {
    let Extensions { static_action: action, endpoint, ready_made, .. } = &manifest.extensions;
    if let Some(name) = ready_made {
        let hook = ReadyMade::named(name)
            .map_err(|help| format!("has an unknown ready-made hook `{name}`: {help}"))?;
        return Ok(Runnable::Yes(HookKind::ReadyMade(hook)));
    }
    if let Some(endpoint) = endpoint.as_ref().filter(|_| action.is_none()) {
        return Ok(Runnable::Yes(HookKind::Http(Box::new(endpoint.clone()))));
    }
    if let Some(action) = action {
        return Ok(Runnable::Yes(HookKind::Static(Some(Box::new(static_action(action)?)))));
    }
    if rules.is_some_and(HookRules::decide) {
        return Ok(Runnable::Yes(HookKind::Static(None)));
    }
    Ok(match script {
        Script::Entry(entry) => Runnable::Yes(HookKind::Program(entry)),
        Script::NotExecutable(_) => Runnable::NotExecutable,
        Script::Missing => Runnable::Missing,
    })
}

fn own_policy(manifest: &Manifest) -> OwnPolicy {
    OwnPolicy {
        timeout: (!manifest.unset.timeout).then(|| Duration::from_millis(manifest.timeout_ms)),
        priority: Some(manifest.priority),
        asynchronous: (!manifest.unset.asynchronous).then_some(manifest.asynchronous),
        fail_closed: manifest.extensions.fail_closed == Some(true),
        budget: manifest.extensions.budget_ms.map(Duration::from_millis),
        mode: manifest.extensions.monitors.map(mode),
    }
}

fn mode(monitors: bool) -> HookMode {
    if monitors { HookMode::Monitor } else { HookMode::Enforce }
}

fn static_action(action: &StaticActionText) -> Result<StaticAction, String> {
    StaticAction::new(action).map_err(|why| format!("has an action that cannot be used: {why}"))
}

/// Returns the matcher; `None` if it is empty, or no event has a tool call (R19).
fn matcher(manifest: &Manifest, subscriptions: &[Subscription]) -> Option<Matcher> {
    let script = manifest.extensions.claude_code.as_ref();
    let native = script.and_then(claude_code::expression);
    let mut text = manifest.matcher.clone();
    text.tool = native.clone().or(text.tool);
    let is_empty = text.tool.is_none() && text.pattern.is_none();
    let applies = subscriptions.iter().any(|one| one.event.lifecycle().matcher);
    let matcher = (!is_empty && applies).then(|| Matcher::new(&text))?;
    Some(if native.is_some() { matcher.with_claude_code_names() } else { matcher })
}
