//! What each candidate turns out to be: first what it is made of, then whether it may be asked, then what it answers. In
//! that order, so that nothing untrusted ever runs (R11).

use std::path::Path;

use tenter_protocol::Diagnostic;
use tenter_protocol::executable::Subscription;

use super::manifest;
use super::policy::OwnPolicy;
use crate::hook::{Fingerprint, Protocol};
use crate::query::{Answer, Cache, Known, KnownManifest, Query, explain, parallel};
use crate::source::{self, Candidate, Kind};
use crate::stamp::{FileStamp, HookStamp};
use crate::trust::{ProjectTrust, TrustMode, Trusted, fingerprint};

/// Hooks that are examined at once.
const AT_ONCE: usize = 8;

/// What a candidate turned out to be.
#[derive(Debug, Clone)]
pub(super) enum Finding {
    /// It can run.
    Ready(Box<Ready>),
    /// It was not asked, because it is not trusted. What a manifest says of its event is known all the same.
    NotTrusted {
        fingerprint: Fingerprint,
        previous: Option<Trusted>,
        subscriptions: Vec<Subscription>,
        env: Vec<String>,
    },
    NotExecutable,
    /// A valid manifest with nothing to run.
    NoScript(Vec<Subscription>),
    Disabled,
    /// Why it cannot run, as the end of a sentence that begins with its name.
    Invalid(String),
}

/// A hook that can run.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    pub(super) fingerprint: Fingerprint,
    pub(super) stamp: HookStamp,
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) protocol: Protocol,
    pub(super) own: OwnPolicy,
}

/// A candidate, under the name that it turned out to have, and what it is.
#[derive(Debug, Clone)]
pub(super) struct Examined {
    pub(super) candidate: Candidate,
    pub(super) finding: Finding,
    /// What is wrong with its manifest.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Examined {
    fn plain(candidate: Candidate, finding: Finding) -> Self {
        Self { candidate, finding, diagnostics: Vec::new() }
    }
}

/// Examines candidates: the same way for all of one load.
pub(super) struct Examiner<'a> {
    pub(super) query: Query<'a>,
    pub(super) mode: TrustMode,
    pub(super) trusted: ProjectTrust<'a>,
}

/// What is worth remembering.
enum Fresh {
    /// Of an executable that was asked.
    Answer(FileStamp, Known),
    /// Of a manifest that was read.
    Manifest(HookStamp, Box<KnownManifest>),
}

impl Examiner<'_> {
    /// What every candidate is. Those that the cache does not know are asked in parallel, so that one that hangs holds up
    /// no other; what they answer goes into the cache.
    pub(super) fn examine_all(
        &self,
        candidates: Vec<Candidate>,
        cache: &mut Cache,
    ) -> Vec<Examined> {
        let mut settled = Vec::new();
        let mut open = Vec::new();
        for candidate in candidates {
            match self.at_once(&candidate, cache) {
                Some(examined) => settled.push(examined),
                None => open.push(candidate),
            }
        }
        let all = parallel::map(&open, AT_ONCE, |candidate| self.examine(candidate));
        for (examined, fresh) in all {
            let real_path = &examined.candidate.real_path;
            match fresh {
                Some(Fresh::Answer(stamp, known)) => cache.put(real_path, stamp, &known),
                Some(Fresh::Manifest(stamp, known)) => {
                    cache.put_manifest(real_path, &stamp, &known);
                }
                None => {}
            }
            settled.push(examined);
        }
        settled
    }

    /// What can be told from memory, or without it: nothing is opened but a manifest hook's folders.
    fn at_once(&self, candidate: &Candidate, cache: &Cache) -> Option<Examined> {
        let finding = match &candidate.kind {
            Kind::Executable(stamp) => {
                let known = cache.get(&candidate.real_path, *stamp)?;
                let refusal = self.refusal(candidate, &known.fingerprint, &[], &[]);
                refusal.unwrap_or_else(|| finding(known, HookStamp::File(*stamp)))
            }
            Kind::Manifest(_) => return self.manifest_at_once(candidate, cache),
            Kind::NotExecutable => Finding::NotExecutable,
            Kind::Disabled => Finding::Disabled,
            Kind::Invalid(why) => Finding::Invalid(why.clone()),
        };
        Some(Examined::plain(candidate.clone(), finding))
    }

    /// What a manifest says, as long as its folder looks as it did when it was read.
    fn manifest_at_once(&self, candidate: &Candidate, cache: &Cache) -> Option<Examined> {
        let stamp = HookStamp::of(&candidate.path).ok()?;
        let known = cache.manifest(candidate, &stamp)?;
        let name = manifest::full_name(candidate, &known.manifest);
        let candidate = Candidate { name, ..candidate.clone() };
        let finding = self.judge(&candidate, &known, stamp);
        Some(Examined::plain(candidate, finding))
    }

    fn examine(&self, candidate: &Candidate) -> (Examined, Option<Fresh>) {
        if let Kind::Manifest(file) = &candidate.kind {
            return self.read_manifest(candidate, file);
        }
        let (finding, fresh) = self.ask(candidate);
        (Examined::plain(candidate.clone(), finding), fresh)
    }

    fn ask(&self, candidate: &Candidate) -> (Finding, Option<Fresh>) {
        let path = &candidate.path;
        let (fingerprint, stamp) = match fingerprint(path) {
            Ok(taken) => taken,
            Err(error) => return (unreadable(&error), None),
        };
        if let Some(refusal) = self.refusal(candidate, &fingerprint, &[], &[]) {
            return (refusal, None);
        }
        if !looks_like(path, &stamp) {
            return (changed(), None);
        }
        let known = Known { fingerprint, answer: self.query.ask(&candidate.name, path) };
        // What was changed meanwhile may have answered with either content.
        let fresh = match &stamp {
            HookStamp::File(file) if looks_like(path, &stamp) => {
                Some(Fresh::Answer(*file, known.clone()))
            }
            _ => None,
        };
        (finding(known, stamp), fresh)
    }

    fn read_manifest(&self, candidate: &Candidate, file: &Path) -> (Examined, Option<Fresh>) {
        let taken = fingerprint(&candidate.path);
        let manifest::Read { name, manifest, diagnostics } = manifest::read(candidate, file);
        let candidate = Candidate { name, ..candidate.clone() };
        let script = source::script(&candidate.path);
        let mut fresh = None;
        let finding = match (manifest, taken) {
            (Err(why), _) => Finding::Invalid(why),
            (_, Err(error)) => unreadable(&error),
            (Ok(_), Ok((_, stamp))) if !looks_like(&candidate.path, &stamp) => changed(),
            (Ok(manifest), Ok((fingerprint, stamp))) => {
                let known = KnownManifest { manifest, fingerprint, script };
                let finding = self.judge(&candidate, &known, stamp.clone());
                fresh = diagnostics.is_empty().then(|| Fresh::Manifest(stamp, Box::new(known)));
                finding
            }
        };
        (Examined { candidate, finding, diagnostics }, fresh)
    }

    fn judge(&self, candidate: &Candidate, known: &KnownManifest, stamp: HookStamp) -> Finding {
        let fingerprint = known.fingerprint.clone();
        let hook = match manifest::hook(known) {
            Ok(hook) => hook,
            Err(why) => return Finding::Invalid(why),
        };
        let env = &known.manifest.extensions.env;
        if let Some(refusal) = self.refusal(candidate, &fingerprint, &hook.subscriptions, env) {
            return refusal;
        }
        match hook.script {
            manifest::Runnable::Yes(protocol) => Finding::Ready(Box::new(Ready {
                fingerprint,
                stamp,
                subscriptions: hook.subscriptions,
                protocol,
                own: hook.own,
            })),
            manifest::Runnable::NotExecutable => Finding::NotExecutable,
            manifest::Runnable::Missing => Finding::NoScript(hook.subscriptions),
        }
    }

    /// The finding for a hook that may not even be asked (R45).
    fn refusal(
        &self,
        candidate: &Candidate,
        fingerprint: &Fingerprint,
        subscriptions: &[Subscription],
        env: &[String],
    ) -> Option<Finding> {
        let is_open = !candidate.layer.needs_trust() || self.mode == TrustMode::All;
        if is_open || self.trusted.is_trusted(&candidate.name, fingerprint) {
            return None;
        }
        let previous = self.trusted.previous(&candidate.name, &candidate.path).cloned();
        let (fingerprint, subscriptions) = (fingerprint.clone(), subscriptions.to_vec());
        Some(Finding::NotTrusted { fingerprint, previous, subscriptions, env: env.to_vec() })
    }
}

fn unreadable(error: &std::io::Error) -> Finding {
    Finding::Invalid(format!("cannot be read: {error}"))
}

fn changed() -> Finding {
    Finding::Invalid("was changed while it was looked at".to_owned())
}

fn looks_like(path: &Path, stamp: &HookStamp) -> bool {
    HookStamp::of(path).is_ok_and(|now| now == *stamp)
}

fn finding(known: Known, stamp: HookStamp) -> Finding {
    match known.answer {
        Answer::Subscriptions(subscriptions) => Finding::Ready(Box::new(Ready {
            fingerprint: known.fingerprint,
            stamp,
            subscriptions,
            protocol: Protocol::Executable,
            own: OwnPolicy::EXECUTABLE,
        })),
        Answer::Printed(text) => Finding::Invalid(explain(&text)),
        Answer::Failed(why) => Finding::Invalid(why),
    }
}
