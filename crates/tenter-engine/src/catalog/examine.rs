//! What each candidate turns out to be: first what it is made of, then whether it may be asked, then what it answers. In
//! that order, so that nothing untrusted ever runs (R11).

use std::path::{Path, PathBuf};

use tenter_base::FileStamp;
use tenter_base::untrusted_file;
use tenter_protocol::executable::Subscription;
use tenter_protocol::{Diagnostic, EventName};

use super::manifest;
use super::policy::OwnPolicy;
use super::surroundings::{Around, Surroundings, exposed};
use crate::hook::{Fingerprint, Protocol};
use crate::hook_stamp::HookStamp;
use crate::matcher::Matcher;
use crate::query::{Cache, Known, KnownManifest, Query, QueryReply, explain, parallel};
use crate::source::{self, Candidate, HookSettings, Kind, ProjectSetting};
use crate::trust::{
    Beside, Covered, CoveredStamp, Hasher, ProjectTrust, TrustMode, Trusted, combined,
    fingerprint_of_own,
};

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
    pub(super) stamp: CoveredStamp,
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) protocol: Protocol,
    pub(super) own: OwnPolicy,
}

/// What is known of a hook that cannot run.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    /// Whether it is meant as a hook, as far as the file itself tells.
    pub(super) is_hook: bool,
    /// The events that it is about, where they are known.
    pub(super) events: Option<Vec<EventName>>,
    /// Which tool calls it is about.
    pub(super) matcher: Option<Matcher>,
    /// What it holds itself to.
    pub(super) own: OwnPolicy,
}

/// A candidate, under the name that it turned out to have, and what it is.
#[derive(Debug, Clone)]
pub(super) struct Examined {
    pub(super) candidate: Candidate,
    /// What its trust covers.
    pub(super) covered: Covered,
    pub(super) finding: Finding,
    /// What is wrong with its manifest.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What is known of it where it cannot run.
    pub(super) about: About,
}

/// Examines candidates: the same way for all of one load.
pub(super) struct Examiner<'a> {
    pub(super) query: Query<'a>,
    pub(super) mode: TrustMode,
    pub(super) trusted: ProjectTrust<'a>,
    /// What the project sets.
    pub(super) settings: &'a HookSettings,
    /// What lies beside the hooks.
    pub(super) surroundings: &'a Surroundings,
    /// Reads the project's files.
    pub(super) hasher: &'a Hasher<'a>,
    /// Reads the user's own: a project does not use up what may be read of them.
    pub(super) own_hasher: &'a Hasher<'a>,
}

/// What is worth remembering.
enum Fresh {
    /// Of an executable that was asked.
    QueryReply(FileStamp, Known),
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
                Some(Fresh::QueryReply(stamp, known)) => cache.put(real_path, stamp, &known),
                Some(Fresh::Manifest(stamp, known)) => {
                    cache.put_manifest(real_path, &stamp, &known);
                }
                None => {}
            }
            settled.push(examined);
        }
        settled
    }

    /// What is known from the cache, or without it: only a manifest hook's directories are opened.
    fn at_once(&self, candidate: &Candidate, cache: &Cache) -> Option<Examined> {
        let finding = match &candidate.kind {
            Kind::Executable(stamp) => {
                let (covered, around) = match self.executable(candidate) {
                    Ok(found) => found,
                    Err(invalid) => return Some(*invalid),
                };
                let known = cache.get(&candidate.real_path, *stamp, around.hash.as_ref())?;
                let stamp = CoveredStamp { own: HookStamp::File(*stamp), beside: around.files };
                let finding = self.of_executable(candidate, &covered, known, stamp);
                return Some(examined(candidate.clone(), covered, finding));
            }
            Kind::Manifest(_) => return self.manifest_at_once(candidate, cache),
            Kind::NotExecutable => Finding::NotExecutable,
            Kind::Disabled => Finding::Disabled,
            Kind::Invalid(why) => Finding::Invalid(why.clone()),
        };
        let covered = self.covered(candidate, OwnPolicy::EXECUTABLE);
        Some(examined(candidate.clone(), covered, finding))
    }

    /// What a manifest says, as long as its directory looks as it did when it was read.
    fn manifest_at_once(&self, candidate: &Candidate, cache: &Cache) -> Option<Examined> {
        let (stamp, exposed) = HookStamp::with_exposed(&candidate.path).ok()?;
        let known = cache.manifest(candidate, &stamp)?;
        let name = manifest::full_name(candidate, &known.manifest);
        let candidate = Candidate { name, ..candidate.clone() };
        let (covered, finding) = self.judge(&candidate, &known, stamp);
        let diagnostics = Vec::from_iter(exposed_files(&candidate, &exposed));
        let about = manifest::about(&known.manifest);
        Some(Examined { candidate, covered, finding, diagnostics, about })
    }

    /// What the trust in a candidate covers, which has this to say of itself.
    fn covered(&self, candidate: &Candidate, own: OwnPolicy) -> Covered {
        let setting = if candidate.layer.needs_trust() {
            self.settings.of_project(&candidate.name, own.into())
        } else {
            ProjectSetting::default()
        };
        let (path, beside) = (candidate.path.clone(), Beside::of(candidate.found()));
        Covered { path, beside, setting }
    }

    /// What the trust in an executable covers; or that it cannot be covered.
    fn executable(&self, candidate: &Candidate) -> Result<(Covered, Around), Box<Examined>> {
        let covered = self.covered(candidate, OwnPolicy::EXECUTABLE);
        match self.surroundings.of(&covered.beside, candidate.directory) {
            Ok(around) => Ok((covered, around)),
            Err(why) => Err(Box::new(examined(candidate.clone(), covered, Finding::Invalid(why)))),
        }
    }

    fn of_executable(
        &self,
        candidate: &Candidate,
        covered: &Covered,
        known: Known,
        stamp: CoveredStamp,
    ) -> Finding {
        let Known { fingerprint, beside, answer } = known;
        let fingerprint = combined(fingerprint, beside.as_ref(), covered.setting);
        if let Some(refusal) = self.refusal(candidate, &fingerprint, &[], &[]) {
            return refusal;
        }
        match answer {
            QueryReply::Subscriptions(subscriptions) => Finding::Ready(Box::new(Ready {
                fingerprint,
                stamp,
                subscriptions,
                protocol: Protocol::Executable,
                own: OwnPolicy::EXECUTABLE,
            })),
            QueryReply::Printed(text) => Finding::Invalid(explain(&text)),
            QueryReply::Failed(why) => Finding::Invalid(why),
        }
    }

    fn examine(&self, candidate: &Candidate) -> (Examined, Option<Fresh>) {
        if let Kind::Manifest(file) = &candidate.kind {
            return self.read_manifest(candidate, file);
        }
        match self.executable(candidate) {
            Err(invalid) => (*invalid, None),
            Ok((covered, around)) => {
                let (finding, fresh) = self.ask(candidate, &covered, around);
                (examined(candidate.clone(), covered, finding), fresh)
            }
        }
    }

    fn hasher(&self, candidate: &Candidate) -> &Hasher<'_> {
        if candidate.layer.needs_trust() { self.hasher } else { self.own_hasher }
    }

    fn ask(
        &self,
        candidate: &Candidate,
        covered: &Covered,
        around: Around,
    ) -> (Finding, Option<Fresh>) {
        let path = &candidate.path;
        let (own, stamp) = match fingerprint_of_own(path, self.hasher(candidate)) {
            Ok(taken) => taken,
            Err(error) => return (unreadable(&error), None),
        };
        let fingerprint = combined(own.clone(), around.hash.as_ref(), covered.setting);
        if let Some(refusal) = self.refusal(candidate, &fingerprint, &[], &[]) {
            return (refusal, None);
        }
        let stamp = CoveredStamp { own: stamp, beside: around.files };
        if !looks_like(covered, &stamp) {
            return (changed(), None);
        }
        let answer = self.query.ask(&candidate.name, candidate.layer, path);
        let known = Known { fingerprint: own, beside: around.hash, answer };
        // What was changed meanwhile may have answered with either content.
        let fresh = match &stamp.own {
            HookStamp::File(file) if looks_like(covered, &stamp) => {
                Some(Fresh::QueryReply(*file, known.clone()))
            }
            HookStamp::File(_) | HookStamp::Directory(_) => None,
        };
        (self.of_executable(candidate, covered, known, stamp), fresh)
    }

    fn read_manifest(&self, candidate: &Candidate, file: &Path) -> (Examined, Option<Fresh>) {
        let taken = fingerprint_of_own(&candidate.path, self.hasher(candidate));
        let manifest::Read { name, manifest, mut diagnostics, about } =
            manifest::read(candidate, file);
        let candidate = Candidate { name, ..candidate.clone() };
        let script = source::script(&candidate.path);
        let mut fresh = None;
        let (covered, finding) = match (manifest, taken) {
            (Err(why), _) => (None, Finding::Invalid(why)),
            (_, Err(error)) => (None, unreadable(&error)),
            (Ok(_), Ok((_, stamp))) if !directory_looks_like(&candidate.path, &stamp) => {
                (None, changed())
            }
            (Ok(manifest), Ok((fingerprint, stamp))) => {
                let known = KnownManifest { manifest, fingerprint, script };
                let (covered, finding) = self.judge(&candidate, &known, stamp.clone());
                fresh = diagnostics.is_empty().then(|| Fresh::Manifest(stamp, Box::new(known)));
                (Some(covered), finding)
            }
        };
        if let Ok((_, exposed)) = HookStamp::with_exposed(&candidate.path) {
            diagnostics.extend(exposed_files(&candidate, &exposed));
        }
        let covered = covered.unwrap_or_else(|| self.covered(&candidate, OwnPolicy::default()));
        (Examined { candidate, covered, finding, diagnostics, about }, fresh)
    }

    fn judge(
        &self,
        candidate: &Candidate,
        known: &KnownManifest,
        stamp: HookStamp,
    ) -> (Covered, Finding) {
        let hook = match manifest::hook(known) {
            Ok(hook) => hook,
            Err(why) => {
                return (self.covered(candidate, OwnPolicy::default()), Finding::Invalid(why));
            }
        };
        let covered = self.covered(candidate, hook.own);
        let around = match self.surroundings.of(&covered.beside, candidate.directory) {
            Ok(around) => around,
            Err(why) => return (covered, Finding::Invalid(why)),
        };
        let own = known.fingerprint.clone();
        let fingerprint = combined(own, around.hash.as_ref(), covered.setting);
        let env = &known.manifest.extensions.env;
        if let Some(refusal) = self.refusal(candidate, &fingerprint, &hook.subscriptions, env) {
            return (covered, refusal);
        }
        let finding = match hook.script {
            manifest::Runnable::Yes(protocol) => Finding::Ready(Box::new(Ready {
                fingerprint,
                stamp: CoveredStamp { own: stamp, beside: around.files },
                subscriptions: hook.subscriptions,
                protocol,
                own: hook.own,
            })),
            manifest::Runnable::NotExecutable => Finding::NotExecutable,
            manifest::Runnable::Missing => Finding::NoScript(hook.subscriptions),
        };
        (covered, finding)
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

/// Whether a file that may not be executed is a program: a script with its `#!`, or a binary. Other files in a hooks
/// directory are no hooks.
fn is_program(path: &Path) -> bool {
    untrusted_file::read_prefix(path, 4)
        .is_ok_and(|bytes| bytes.starts_with(b"#!") || bytes.starts_with(b"\x7fELF"))
}

fn unreadable(error: &std::io::Error) -> Finding {
    Finding::Invalid(format!("cannot be read: {error}"))
}

fn changed() -> Finding {
    Finding::Invalid("was changed while it was looked at".to_owned())
}

fn examined(candidate: Candidate, covered: Covered, finding: Finding) -> Examined {
    let is_hook = !matches!(finding, Finding::NotExecutable) || is_program(&candidate.path);
    let about = About { is_hook, own: OwnPolicy::EXECUTABLE, ..About::default() };
    Examined { candidate, covered, finding, diagnostics: Vec::new(), about }
}

fn looks_like(covered: &Covered, stamp: &CoveredStamp) -> bool {
    CoveredStamp::of(covered).is_ok_and(|now| now == *stamp)
}

fn directory_looks_like(path: &Path, stamp: &HookStamp) -> bool {
    HookStamp::of(path).is_ok_and(|now| now == *stamp)
}

/// The warning for files of a manifest hook of the user's own that others can write (R48).
fn exposed_files(candidate: &Candidate, files: &[PathBuf]) -> Option<Diagnostic> {
    let is_own = !candidate.layer.needs_trust();
    is_own.then(|| exposed(&candidate.path, files, "files of this hook")).flatten()
}
