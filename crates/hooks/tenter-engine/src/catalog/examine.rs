//! Examines candidates: first their content, then their trust, then their reply to the query for events. In this order nothing
//! untrusted ever runs (R11).

use std::path::{Path, PathBuf};
use std::{fs, io};

use tenter_base::{FileStamp, KnownTree, file_stamp, untrusted_file};
use tenter_protocol::Diagnostic;
use tenter_protocol::executable::{Announcement, Subscription};

use super::manifest;
use super::outline::{HookOutline, Requested};
use super::policy::OwnPolicy;
use super::surroundings::{HelperFiles, Surroundings, exposed};
use crate::hook::{HookKind, HookOptions, RuntimeHook};
use crate::hook_stamp::HookStamp;
use crate::layer::Layer;
use crate::matcher::HookRules;
use crate::query::{Cache, Known, KnownManifest, Query, QueryReply, explain, parallel};
use crate::source::{self, Candidate, CandidateKind, HookSettings, ProjectSetting};
use crate::trust::{
    self, Covered, CoveredSiblings, CoveredStamp, Fingerprint, Hasher, PrivateCopy, ProjectTrust,
    TrustMode, Trusted, combine, fingerprint_of_own,
};

/// Number of candidates that are examined in parallel.
const AT_ONCE: usize = 8;

/// The result of examining a candidate.
#[derive(Debug, Clone)]
pub(super) enum Examination {
    /// A hook that can run.
    Ready(Box<Ready>),
    /// An untrusted hook, which was not queried. The events of a manifest are known nevertheless.
    NotTrusted {
        fingerprint: Fingerprint,
        previous: Option<Trusted>,
        subscriptions: Vec<Subscription>,
        requests: Box<Requested>,
    },
    NotExecutable,
    /// A valid manifest without a script or what replaces one.
    NoScript(Vec<Subscription>),
    Disabled,
    /// A hook that cannot run. The text says why, as the end of a sentence that begins with its name.
    Invalid(String),
}

/// A hook that can run.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    pub(super) fingerprint: Fingerprint,
    pub(super) stamp: CoveredStamp,
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) kind: HookKind,
    pub(super) options: Box<HookOptions>,
    pub(super) runtime: Option<RuntimeHook>,
    pub(super) own: OwnPolicy,
}

/// A candidate with its final name, and the result of examining it.
#[derive(Debug, Clone)]
pub(super) struct Examined {
    pub(super) candidate: Candidate,
    /// The content that its trust covers.
    pub(super) covered: Covered,
    pub(super) finding: Examination,
    /// Diagnostics of its manifest.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The known parts of the hook, used if it cannot run.
    pub(super) about: HookOutline,
}

/// Examines the candidates of one load.
pub(super) struct Examiner<'a> {
    pub(super) query: Query<'a>,
    pub(super) mode: TrustMode,
    pub(super) project_trust: ProjectTrust<'a>,
    /// The settings of the project.
    pub(super) settings: &'a HookSettings,
    /// The helper files next to the hooks.
    pub(super) surroundings: &'a Surroundings,
    /// Hashes the project's files.
    pub(super) hasher: &'a Hasher<'a>,
    /// Hashes the user's files. Its limits are separate, so that a project cannot exhaust them.
    pub(super) own_hasher: &'a Hasher<'a>,
}

/// Checks whether a file is really outside of a directory.
fn leads_out(file: &Path, directory: &Path) -> bool {
    fs::canonicalize(file).is_ok_and(|real| !real.starts_with(directory))
}

/// A result to be cached.
enum Fresh {
    /// The reply of an executable.
    QueryReply(FileStamp, Known),
    /// The content of a manifest.
    Manifest(HookStamp, Box<KnownManifest>),
    /// The names in the directory of a cached manifest.
    Tree(KnownTree),
}

impl Examiner<'_> {
    /// Examines all candidates. Those that are not in the cache are queried in parallel, so that a hanging one does not delay the
    /// others; their replies are cached.
    pub(super) fn examine_all(
        &self,
        candidates: Vec<Candidate>,
        cache: &mut Cache,
    ) -> Vec<Examined> {
        let mut settled = Vec::with_capacity(candidates.len());
        let mut open = Vec::new();
        // Users can write the cache: nothing in it decides about a managed hook.
        let no_cache = Cache::open(None);
        for candidate in candidates {
            let is_managed = candidate.layer == Layer::Managed;
            match self.at_once(&candidate, if is_managed { &no_cache } else { cache }) {
                Some(both) => settled.push(both),
                None => open.push(candidate),
            }
        }
        settled.extend(parallel::map(&open, AT_ONCE, |candidate| self.examine(candidate)));
        let keep = |(examined, fresh): (Examined, Option<Fresh>)| {
            let fresh = fresh.filter(|_| examined.candidate.layer != Layer::Managed);
            let real_path = &examined.candidate.real_path;
            match fresh {
                Some(Fresh::QueryReply(stamp, facts)) => cache.put(real_path, stamp, &facts),
                Some(Fresh::Manifest(stamp, facts)) => {
                    cache.put_manifest(real_path, &stamp, &facts);
                }
                Some(Fresh::Tree(tree)) => cache.put_tree(real_path, tree),
                None => {}
            }
            examined
        };
        settled.into_iter().map(keep).collect()
    }

    /// Examines a candidate with the cache, opening only the directories of a manifest hook.
    fn at_once(&self, candidate: &Candidate, cache: &Cache) -> Option<(Examined, Option<Fresh>)> {
        let finding = match &candidate.kind {
            CandidateKind::Executable(stamp) => {
                let (covered, around) = match self.executable(candidate) {
                    Ok(both) => both,
                    Err(invalid) => return Some((*invalid, None)),
                };
                let entry = cache.get(&candidate.real_path, *stamp, around.hash.as_ref())?;
                let stamp = CoveredStamp { own: HookStamp::File(*stamp), beside: around.files };
                let finding = self.examine_executable(candidate, &covered, entry, stamp);
                return Some((build_examined(candidate.clone(), covered, finding), None));
            }
            CandidateKind::Manifest(_) => return self.manifest_at_once(candidate, cache),
            CandidateKind::NotExecutable => Examination::NotExecutable,
            CandidateKind::Disabled => Examination::Disabled,
            CandidateKind::Invalid(why) => Examination::Invalid(why.clone()),
        };
        let covered = self.covered(candidate, OwnPolicy::EXECUTABLE);
        Some((build_examined(candidate.clone(), covered, finding), None))
    }

    /// Returns the cached manifest if its directory is unchanged.
    fn manifest_at_once(
        &self,
        candidate: &Candidate,
        cache: &Cache,
    ) -> Option<(Examined, Option<Fresh>)> {
        let earlier = cache.tree(&candidate.real_path);
        let unchanged = earlier.and_then(|tree| tree.look_again(&candidate.path));
        let (tree, names) = if let Some(tree) = unchanged {
            (tree, None)
        } else {
            let time = file_stamp::now_ns();
            let tree = HookStamp::tree(&candidate.path).ok()?;
            let names = KnownTree::new(&tree, time);
            (tree, names)
        };
        let (stamp, exposed) = (HookStamp::Directory(tree.files), tree.writable_by_others);
        let entry = cache.manifest(candidate, &stamp)?;
        let name = manifest::full_name(candidate, &entry.manifest);
        let candidate = Candidate { name, ..candidate.clone() };
        let (covered, finding) = self.judge(&candidate, &entry, stamp);
        let diagnostics = Vec::from_iter(exposed_files(&candidate, &exposed));
        let about = manifest::about(&entry.manifest);
        let examined = Examined { candidate, covered, finding, diagnostics, about };
        Some((examined, names.map(Fresh::Tree)))
    }

    /// Returns what the trust in a candidate covers, given its own policy.
    fn covered(&self, candidate: &Candidate, own: OwnPolicy) -> Covered {
        let setting = if candidate.layer.needs_trust() {
            self.settings.project_setting(&candidate.name, own.into())
        } else {
            ProjectSetting::default()
        };
        let (path, beside) = (candidate.path.clone(), CoveredSiblings::new(candidate.into()));
        Covered { path, beside, setting }
    }

    /// Returns what the trust in an executable covers, or why that cannot be determined.
    fn executable(&self, candidate: &Candidate) -> Result<(Covered, HelperFiles), Box<Examined>> {
        let covered = self.covered(candidate, OwnPolicy::EXECUTABLE);
        match self.surroundings.get(&covered.beside, candidate.directory) {
            Ok(around) => Ok((covered, around)),
            Err(why) => {
                Err(Box::new(build_examined(candidate.clone(), covered, Examination::Invalid(why))))
            }
        }
    }

    fn examine_executable(
        &self,
        candidate: &Candidate,
        covered: &Covered,
        facts: Known,
        stamp: CoveredStamp,
    ) -> Examination {
        let Known { fingerprint, beside, answer } = facts;
        let fingerprint = combine(fingerprint, beside.as_ref(), covered.setting);
        if let Some(refusal) = self.refusal(candidate, &fingerprint, &[], Requested::default()) {
            return refusal;
        }
        match answer {
            QueryReply::Announced(Announcement { subscriptions, serves }) => {
                Examination::Ready(Box::new(Ready {
                    fingerprint,
                    stamp,
                    subscriptions,
                    kind: HookKind::Executable,
                    options: Box::default(),
                    runtime: serves.then(RuntimeHook::executable),
                    own: OwnPolicy::EXECUTABLE,
                }))
            }
            QueryReply::Printed(text) => Examination::Invalid(explain(&text)),
            QueryReply::Failed(why) => Examination::Invalid(why),
        }
    }

    fn examine(&self, candidate: &Candidate) -> (Examined, Option<Fresh>) {
        if let CandidateKind::Manifest(file) = &candidate.kind {
            return self.read_manifest(candidate, file);
        }
        match self.executable(candidate) {
            Err(invalid) => (*invalid, None),
            Ok((covered, around)) => {
                let (finding, fresh) = self.ask(candidate, &covered, around);
                (build_examined(candidate.clone(), covered, finding), fresh)
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
        around: HelperFiles,
    ) -> (Examination, Option<Fresh>) {
        let path = &candidate.path;
        let is_gated = candidate.layer.needs_trust() && self.mode == TrustMode::Gate;
        if is_gated && let Err(error) = CoveredStamp::settled(covered) {
            return (unreadable(&error), None);
        }
        let (own, stamp) = match fingerprint_of_own(path, self.hasher(candidate)) {
            Ok(hashed) => hashed,
            Err(error) => return (unreadable(&error), None),
        };
        let fingerprint = combine(own.clone(), around.hash.as_ref(), covered.setting);
        if let Some(refusal) = self.refusal(candidate, &fingerprint, &[], Requested::default()) {
            return (refusal, None);
        }
        let stamp = CoveredStamp { own: stamp, beside: around.files };
        if !looks_like(covered, &stamp) {
            return (changed(), None);
        }
        let runs = match is_gated.then(|| self.private_copy(covered, &stamp, &fingerprint)) {
            Some(Err(error)) => return (unreadable(&error), None),
            Some(Ok(copy)) => copy,
            None => None,
        };
        let copy_path = runs.as_ref().map(|copy| copy.locate(path));
        let answer =
            self.query.ask(&candidate.name, candidate.layer, copy_path.as_deref().unwrap_or(path));
        if is_gated && copy_path.is_none() && !looks_like(covered, &stamp) {
            return (changed(), None);
        }
        let entry = Known { fingerprint: own, beside: around.hash, answer };
        // A file that changed meanwhile may have replied with either content.
        let fresh = match &stamp.own {
            HookStamp::File(file) if looks_like(covered, &stamp) => {
                Some(Fresh::QueryReply(*file, entry.clone()))
            }
            HookStamp::File(_) | HookStamp::Directory(_) => None,
        };
        (self.examine_executable(candidate, covered, entry, stamp), fresh)
    }

    /// Returns the copy of a trusted hook that others can change: only that may run (R74).
    fn private_copy(
        &self,
        covered: &Covered,
        stamp: &CoveredStamp,
        fingerprint: &Fingerprint,
    ) -> io::Result<Option<PrivateCopy>> {
        let copies = self.query.environment.copies().filter(|_| trust::is_shared(covered, stamp));
        let Some(copies) = copies else { return Ok(None) };
        let copy = PrivateCopy::create(covered, fingerprint, &copies, self.query.cancel)?;
        copy.map_or_else(|| Err(io::Error::other("it was changed")), |copy| Ok(Some(copy)))
    }

    fn read_manifest(&self, candidate: &Candidate, file: &Path) -> (Examined, Option<Fresh>) {
        let hashed = fingerprint_of_own(&candidate.path, self.hasher(candidate));
        let manifest::Read { name, manifest, mut diagnostics, about } =
            manifest::read(candidate, file);
        // A link of a project must not show lines of the user's own files.
        if candidate.layer.needs_trust() && leads_out(file, &candidate.real_path) {
            for finding in &mut diagnostics {
                finding.span = None;
            }
        }
        let candidate = Candidate { name, ..candidate.clone() };
        let script = source::script(&candidate.path);
        let mut fresh = None;
        let (covered, finding) = match (manifest, hashed) {
            (Err(why), _) => (None, Examination::Invalid(why)),
            (_, Err(error)) => (None, unreadable(&error)),
            (Ok(_), Ok((_, stamp))) if !directory_looks_like(&candidate.path, &stamp) => {
                (None, changed())
            }
            (Ok(manifest), Ok((fingerprint, stamp))) => {
                let rules = HookRules::new(&manifest.extensions.rules);
                let entry = KnownManifest { manifest, rules, fingerprint, script };
                let (covered, finding) = self.judge(&candidate, &entry, stamp.clone());
                fresh = diagnostics.is_empty().then(|| Fresh::Manifest(stamp, Box::new(entry)));
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
        facts: &KnownManifest,
        stamp: HookStamp,
    ) -> (Covered, Examination) {
        let hook = match manifest::hook(facts) {
            Ok(hook) => hook,
            Err(why) => {
                return (self.covered(candidate, OwnPolicy::default()), Examination::Invalid(why));
            }
        };
        let covered = self.covered(candidate, hook.own);
        let around = match self.surroundings.get(&covered.beside, candidate.directory) {
            Ok(around) => around,
            Err(why) => return (covered, Examination::Invalid(why)),
        };
        let own = facts.fingerprint.clone();
        let fingerprint = combine(own, around.hash.as_ref(), covered.setting);
        let requests = Requested::by(&facts.manifest.extensions);
        if let Some(refusal) = self.refusal(candidate, &fingerprint, &hook.subscriptions, requests)
        {
            return (covered, refusal);
        }
        let finding = match hook.script {
            manifest::Runnable::Yes(kind) => Examination::Ready(Box::new(Ready {
                fingerprint,
                stamp: CoveredStamp { own: stamp, beside: around.files },
                subscriptions: hook.subscriptions,
                kind,
                options: hook.options,
                runtime: hook.runtime,
                own: hook.own,
            })),
            manifest::Runnable::NotExecutable => Examination::NotExecutable,
            manifest::Runnable::Missing => Examination::NoScript(hook.subscriptions),
        };
        (covered, finding)
    }

    /// Returns the result for a hook that must not be queried (R45).
    fn refusal(
        &self,
        candidate: &Candidate,
        fingerprint: &Fingerprint,
        subscriptions: &[Subscription],
        requests: Requested,
    ) -> Option<Examination> {
        let is_open = !candidate.layer.needs_trust() || self.mode == TrustMode::All;
        if is_open || self.project_trust.is_trusted(&candidate.name, fingerprint) {
            return None;
        }
        let previous = self.project_trust.previous(&candidate.name, &candidate.path).cloned();
        let (fingerprint, subscriptions) = (fingerprint.clone(), subscriptions.to_vec());
        let requests = Box::new(requests);
        Some(Examination::NotTrusted { fingerprint, previous, subscriptions, requests })
    }
}

/// Returns whether a file that is not executable is a program: a script with a `#!` line, or a binary. Other files in a hooks directory
/// are not hooks.
fn is_program(path: &Path) -> bool {
    untrusted_file::read_prefix(path, 4)
        .is_ok_and(|bytes| bytes.starts_with(b"#!") || bytes.starts_with(b"\x7fELF"))
}

fn unreadable(error: &std::io::Error) -> Examination {
    Examination::Invalid(format!("cannot be read: {error}"))
}

fn changed() -> Examination {
    Examination::Invalid("was changed while it was looked at".to_owned())
}

fn build_examined(candidate: Candidate, covered: Covered, finding: Examination) -> Examined {
    let is_hook = !matches!(finding, Examination::NotExecutable) || is_program(&candidate.path);
    let about = HookOutline { is_hook, own: OwnPolicy::EXECUTABLE, ..HookOutline::default() };
    Examined { candidate, covered, finding, diagnostics: Vec::new(), about }
}

fn looks_like(covered: &Covered, stamp: &CoveredStamp) -> bool {
    CoveredStamp::read(covered).is_ok_and(|now| now == *stamp)
}

fn directory_looks_like(path: &Path, stamp: &HookStamp) -> bool {
    HookStamp::read(path).is_ok_and(|now| now == *stamp)
}

/// Returns a warning if other users can write files of a user's manifest hook (R48).
fn exposed_files(candidate: &Candidate, files: &[PathBuf]) -> Option<Diagnostic> {
    let is_own = !candidate.layer.needs_trust();
    is_own.then(|| exposed(&candidate.path, files, "files of this hook")).flatten()
}
