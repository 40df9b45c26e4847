//! A manifest hook, as far as its folder tells: what `HOOK.md` says, and which script there is, if it has code. Only the front matter is
//! read; the text below it is for people, and the script for its turn (section 9 of the specification).

use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use tenter_base::untrusted_file;
use tenter_protocol::executable::Subscription;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::manifest::front_matter::{self, Field, LONGEST_FILE, Rules, Written};
use tenter_protocol::manifest::{Declaration, Manifest};
use tenter_protocol::{Diagnostic, EventName, Severity};

use super::examine::About;
use super::policy::OwnPolicy;
use crate::hook::{Implementation, ManifestHook, Protocol};
use crate::matcher::Matcher;
use crate::query::KnownManifest;
use crate::source::{Candidate, Script};
use crate::static_action::{CHECKS, StaticAction, action_and_script};

/// Bytes that are read of a manifest at once: front matter is a few lines.
const PIECE: u64 = 8 * 1024;

/// What a folder's manifest comes to.
pub(super) struct Read {
    /// The full name: the manifest's, or the folder's where there is none.
    pub(super) name: String,
    /// What it says, or why it cannot run.
    pub(super) manifest: Result<Manifest, String>,
    /// What is wrong with the manifest.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What is known of the hook where it cannot run.
    pub(super) about: About,
}

/// What a manifest says of its hook.
pub(super) struct Hook {
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) own: OwnPolicy,
    pub(super) script: Runnable,
}

/// Whether there is something to run.
pub(super) enum Runnable {
    Yes(Protocol),
    NotExecutable,
    Missing,
}

/// Reads the manifest `file` of `candidate`.
pub(super) fn read(candidate: &Candidate, file: &Path) -> Read {
    let unread = |why: String| Read {
        name: candidate.name.clone(),
        manifest: Err(why),
        diagnostics: Vec::new(),
        about: About { is_hook: true, ..About::default() },
    };
    let bytes = match front(file) {
        Ok(bytes) => bytes,
        Err(error) => return unread(format!("has a HOOK.md that cannot be read: {error}")),
    };
    let (manifest, diagnostics) = front_matter::read(file, &bytes, Rules::Tolerant, CHECKS);
    let conflict = action_and_script(file, &bytes).filter(|_| manifest.is_some());
    let (manifest, diagnostics) = match conflict {
        Some(finding) => (None, diagnostics.into_iter().chain([finding]).collect()),
        None => (manifest, diagnostics),
    };
    let Some(manifest) = manifest else {
        let first = diagnostics.iter().find(|finding| finding.severity == Severity::Error);
        let why = first.map_or("it has no front matter", |finding| finding.message.as_str());
        return Read {
            diagnostics: diagnostics.clone(),
            about: outline(file, &bytes),
            ..unread(format!("has a HOOK.md that is not valid: {why}"))
        };
    };
    let (name, about) = (full_name(candidate, &manifest), about(&manifest));
    Read { name, manifest: Ok(manifest), diagnostics, about }
}

/// What a manifest says of a hook that cannot run.
pub(super) fn about(manifest: &Manifest) -> About {
    let subscriptions = manifest.subscriptions();
    About {
        is_hook: true,
        events: Some(subscriptions.iter().map(|subscription| subscription.event).collect()),
        matcher: matcher(manifest, &subscriptions),
        own: own_policy(manifest),
    }
}

/// What a manifest that is not valid says all the same: its events, and whether it is set to fail closed. Its matcher may be
/// what is wrong, so it does not count.
fn outline(file: &Path, bytes: &[u8]) -> About {
    let fields = front_matter::document(file, bytes).0.map(|document| document.fields);
    let about = About { is_hook: true, ..About::default() };
    let Some(fields) = fields else {
        let fail_closed = says_fail_closed(bytes);
        return About { own: OwnPolicy { fail_closed, ..OwnPolicy::default() }, ..about };
    };
    let metadata = match value(&fields, "metadata") {
        Some(Written::Fields(metadata)) => metadata.as_slice(),
        _ => &[],
    };
    let further = match value(metadata, "triggers") {
        Some(Written::List(items)) => items.iter().map(|item| &item.value).collect(),
        _ => Vec::new(),
    };
    let triggers = value(&fields, "trigger").into_iter().chain(further);
    let events: Option<Vec<EventName>> = triggers.map(event).collect();
    let own = OwnPolicy {
        // A word that is not understood may have been meant so.
        fail_closed: value(metadata, "fail").is_some_and(|fail| !is_text(fail, "open")),
        asynchronous: value(&fields, "async").map(|word| is_text(word, "true")),
        ..OwnPolicy::default()
    };
    About { events: events.filter(|events| !events.is_empty()), own, ..about }
}

/// Whether a line of a front matter that is not even YAML says that the hook fails closed.
fn says_fail_closed(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let closed = |line: &str| {
        let line: String = line.chars().filter(|letter| !" \t\"'{}".contains(*letter)).collect();
        line.contains("fail:closed")
    };
    text.lines().any(closed)
}

fn value<'f>(fields: &'f [Field], key: &str) -> Option<&'f Written> {
    fields.iter().find(|field| field.key == key).map(|field| &field.value.value)
}

fn is_text(value: &Written, word: &str) -> bool {
    matches!(value, Written::Text(text) if text == word)
}

fn event(trigger: &Written) -> Option<EventName> {
    let Written::Text(word) = trigger else { return None };
    let named = TABLE.iter().find(|row| row.manifest.contains(&word.as_str()));
    named.map(|row| row.event)
}

/// The name that a manifest gives its hook.
pub(super) fn full_name(candidate: &Candidate, manifest: &Manifest) -> String {
    format!("{}{}", candidate.prefix, manifest.name)
}

/// The beginning of a manifest: up to the end of its front matter, and a byte more than may be where that does not come or
/// the file is longer than it may be.
fn front(file: &Path) -> io::Result<Vec<u8>> {
    let mut opened = untrusted_file::open(file)?;
    let is_long = opened.metadata()?.len() > LONGEST_FILE as u64;
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        opened.by_ref().take(PIECE).read_to_end(&mut bytes)?;
        let is_whole = bytes.len() == before;
        let is_enough = !is_long && front_matter::is_complete(&bytes);
        if is_whole || is_enough || bytes.len() > LONGEST_FILE {
            return Ok(bytes);
        }
    }
}

/// What a manifest's hook is.
///
/// # Errors
/// Why it cannot run, as the end of a sentence that begins with its name.
pub(super) fn hook(KnownManifest { manifest, script, .. }: &KnownManifest) -> Result<Hook, String> {
    let subscriptions = manifest.subscriptions();
    let own = own_policy(manifest);
    let runs = |implementation: Implementation| {
        Runnable::Yes(Protocol::Manifest(Box::new(ManifestHook {
            description: manifest.description.clone(),
            implementation,
            matcher: matcher(manifest, &subscriptions),
            starts_in_own_folder: manifest.extensions.starts_in_own_folder,
            light_payload: manifest.extensions.light_payload,
            env: manifest.extensions.env.clone(),
            protected: manifest.extensions.protected,
        })))
    };
    let script = match (&manifest.extensions.declaration, script.clone()) {
        (Some(declaration), _) => runs(Implementation::Static(Box::new(declared(declaration)?))),
        (None, Script::Entry(entry)) => runs(Implementation::Script(entry)),
        (None, Script::NotExecutable(_)) => Runnable::NotExecutable,
        (None, Script::Missing) => Runnable::Missing,
    };
    Ok(Hook { subscriptions, own, script })
}

fn own_policy(manifest: &Manifest) -> OwnPolicy {
    OwnPolicy {
        timeout: (!manifest.unset.timeout).then(|| Duration::from_millis(manifest.timeout_ms)),
        priority: Some(manifest.priority),
        asynchronous: (!manifest.unset.asynchronous).then_some(manifest.asynchronous),
        fail_closed: manifest.extensions.fail_closed == Some(true),
    }
}

fn declared(declaration: &Declaration) -> Result<StaticAction, String> {
    StaticAction::new(declaration)
        .map_err(|why| format!("has an action that cannot be used: {why}"))
}

/// The matcher; none where there is nothing to match, or no event is about a tool (R19).
fn matcher(manifest: &Manifest, subscriptions: &[Subscription]) -> Option<Matcher> {
    let text = &manifest.matcher;
    let is_empty = text.tool.is_none() && text.pattern.is_none();
    let applies = subscriptions.iter().any(|named| named.event.lifecycle().matcher);
    (!is_empty && applies).then(|| Matcher::new(text))
}
