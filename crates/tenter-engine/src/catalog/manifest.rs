//! A manifest hook, as far as its folder tells: what `HOOK.md` says, and which script there is. Only the front matter is
//! read; the text below it is for people, and the script for its turn (section 9 of the specification).

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use tenter_protocol::executable::Subscription;
use tenter_protocol::manifest::Manifest;
use tenter_protocol::manifest::front_matter::{self, LONGEST_FILE, Rules};
use tenter_protocol::{Diagnostic, Severity};

use super::policy::OwnPolicy;
use crate::hook::{ManifestHook, Protocol};
use crate::matcher::{self, Matcher};
use crate::source::{Candidate, Script, script};

/// What the specification says where a manifest is silent: a manifest that says the same has said nothing.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// What a folder's manifest comes to.
pub(super) struct Read {
    /// The full name: the manifest's, or the folder's where there is none.
    pub(super) name: String,
    /// The hook, or why it cannot run.
    pub(super) hook: Result<Hook, String>,
    /// What is wrong with the manifest.
    pub(super) diagnostics: Vec<Diagnostic>,
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
        hook: Err(why),
        diagnostics: Vec::new(),
    };
    let bytes = match front(file) {
        Ok(bytes) => bytes,
        Err(error) => return unread(format!("has a HOOK.md that cannot be read: {error}")),
    };
    let (manifest, diagnostics) =
        front_matter::read(file, &bytes, Rules::Tolerant, &matcher::check);
    let Some(manifest) = manifest else {
        let first = diagnostics.iter().find(|finding| finding.severity == Severity::Error);
        let why = first.map_or("it has no front matter", |finding| finding.message.as_str());
        return Read {
            diagnostics: diagnostics.clone(),
            ..unread(format!("has a HOOK.md that is not valid: {why}"))
        };
    };
    let name = format!("{}{}", candidate.prefix, manifest.name);
    Read { name, hook: hook(&manifest, &candidate.path), diagnostics }
}

/// The beginning of a manifest: as much as may be front matter, and a byte more where the file is longer than it may be.
fn front(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(LONGEST_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn hook(manifest: &Manifest, folder: &Path) -> Result<Hook, String> {
    let subscriptions = vec![Subscription { event: manifest.event, spelling: manifest.trigger }];
    let own = OwnPolicy {
        timeout: Some(manifest.timeout_ms)
            .filter(|ms| *ms != DEFAULT_TIMEOUT_MS)
            .map(Duration::from_millis),
        priority: Some(manifest.priority),
        asynchronous: Some(manifest.asynchronous).filter(|asynchronous| *asynchronous),
        fail_closed: manifest.extensions.fail_closed == Some(true),
    };
    let script = match script(folder) {
        Script::Entry(entry) => Runnable::Yes(Protocol::Manifest(Box::new(ManifestHook {
            description: manifest.description.clone(),
            entry,
            matcher: matcher(manifest)?,
            starts_in_own_folder: manifest.extensions.starts_in_own_folder,
            light_payload: manifest.extensions.light_payload,
            env: manifest.extensions.env.clone(),
            protected: manifest.extensions.protected,
        }))),
        Script::NotExecutable(_) => Runnable::NotExecutable,
        Script::Missing => Runnable::Missing,
    };
    Ok(Hook { subscriptions, own, script })
}

/// The compiled matcher; none where there is nothing to match, or the event is not about a tool (R19).
fn matcher(manifest: &Manifest) -> Result<Option<Matcher>, String> {
    let text = &manifest.matcher;
    let is_empty = text.tool.is_none() && text.pattern.is_none();
    if is_empty || !manifest.event.lifecycle().matcher {
        return Ok(None);
    }
    Matcher::compile(text)
        .map(Some)
        .map_err(|error| format!("has a matcher that cannot be used: {error}"))
}
