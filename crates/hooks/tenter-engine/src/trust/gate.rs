//! Compares a hook with what was trusted, at load and again right before it runs.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_base::file_stamp::FileStamp;
use tenter_base::privacy::Privacy;
use tenter_proc::{Cancel, Invocation};
use thiserror::Error;

use super::fingerprint::{Covered, CoveredSiblings, CoveredStamp, fingerprint};
use super::hasher::{Fingerprint, Hasher};
use super::private_copy::PrivateCopy;
use crate::hook_policy::FailMode;
use crate::hook_stamp::HookStamp;

/// The age from which on the stamp of files says what was hashed: loading hooks takes less.
const OLD: Duration = Duration::from_secs(10);

/// The trust that project hooks need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrustMode {
    /// They run only if they are trusted (R45).
    #[default]
    Gate,
    /// The user has disabled trust checks (R47).
    All,
}

/// The reason why a hook that was trusted when it was loaded must not run now.
#[derive(Debug, Error)]
pub enum Changed {
    /// Its content differs.
    #[error(
        "it was changed after it was loaded, so it does not run: review it and run `tenter trust`"
    )]
    Content,
    /// Its files cannot be read.
    #[error("it can no longer be read: {0}; if it was changed on purpose, run `tenter trust`")]
    Unreadable(#[from] io::Error),
    /// It was changed while it ran, so something else may have run (R74).
    #[error("its files were changed while it ran, so its reply does not count")]
    WhileRunning,
    /// Others can write the file, and the hook is set to fail closed (R74).
    #[error("others can write {}, so what runs may not be what was trusted; make it and its directories writable for you alone, \
             or set `hooks.allow_shared = true` in your configuration", .0.display())]
    Shared(PathBuf),
}

/// The state that a hook is compared with right before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    covered: Covered,
    stamp: CoveredStamp,
    /// True if its files had not changed for so long that they cannot have changed between hashing and the stamp.
    was_old: bool,
    /// True if it may run if others can write its files, although it is set to fail closed.
    allow_shared: bool,
}

impl Pin {
    /// Pins a hook to the content that its fingerprint covers.
    pub(crate) fn new(covered: Covered, stamp: CoveredStamp, allow_shared: bool) -> Self {
        let age = stamp.newest().map_or(i128::MAX, FileStamp::age_ns);
        let was_old = age >= OLD.as_nanos().cast_signed();
        Self { covered, stamp, was_old, allow_shared }
    }

    /// Returns the stamp of the hook itself.
    pub(crate) fn own(&self) -> &HookStamp {
        &self.stamp.own
    }

    /// Checks that the content still has the fingerprint `trusted_fingerprint`. What others can write runs from a private copy
    /// in the directory `copies`.
    ///
    /// # Errors
    /// It is not, cannot be read, or others can write it and the hook fails closed.
    pub(crate) fn verify(
        &self,
        trusted_fingerprint: &Fingerprint,
        fail: FailMode,
        copies: Option<&Path>,
        cancel: &Cancel,
    ) -> Result<Verified, Changed> {
        let stamp = CoveredStamp::settled(&self.covered)?;
        let shared = shared(&self.covered, &stamp);
        // Unless its files are as they were when they were hashed, others may have been able to write one then, and still have it open.
        let is_private = shared.is_none() && stamp == self.stamp;
        if is_private && self.was_old {
            return Ok(Verified::in_place(&self.covered, stamp));
        }
        let must_be_private = fail == FailMode::Closed && !self.allow_shared;
        if let Some(path) = shared.filter(|_| must_be_private) {
            return Err(Changed::Shared(path));
        }
        if let Some(copies) = copies.filter(|_| !is_private) {
            let copy = PrivateCopy::create(&self.covered, trusted_fingerprint, copies, cancel)?;
            return copy.map(Verified::copied).ok_or(Changed::Content);
        }
        self.compare(trusted_fingerprint, cancel)?;
        if CoveredStamp::read(&self.covered)? != stamp {
            return Err(Changed::Content);
        }
        Ok(Verified::in_place(&self.covered, stamp))
    }

    /// Returns a text that is another one whenever the files were touched; empty if they cannot be read.
    pub(crate) fn stamp_digest(&self) -> String {
        CoveredStamp::read(&self.covered).map(|stamp| stamp.digest()).unwrap_or_default()
    }

    fn compare(&self, trusted_fingerprint: &Fingerprint, cancel: &Cancel) -> Result<(), Changed> {
        let now = fingerprint(&self.covered, &Hasher::new(u64::MAX, cancel))?;
        if now == *trusted_fingerprint { Ok(()) } else { Err(Changed::Content) }
    }
}

/// A hook that was compared with what was trusted right before it runs.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    /// The files that run, and their stamp; none if they need no trust or only the user can change them.
    in_place: Option<(Covered, CoveredStamp)>,
    /// The copy that runs, if others can change the hook.
    copy: Option<PrivateCopy>,
}

impl Verified {
    fn in_place(covered: &Covered, stamp: CoveredStamp) -> Self {
        Self { in_place: Some((covered.clone(), stamp)), copy: None }
    }

    fn copied(copy: PrivateCopy) -> Self {
        Self { in_place: None, copy: Some(copy) }
    }

    /// Lets a program of the hook run from the copy, if there is one.
    pub(crate) fn relocate(&self, invocation: &mut Invocation) {
        if let Some(copy) = &self.copy {
            copy.relocate(invocation);
        }
    }

    /// Checks that nothing has touched the files since: then what ran is what was verified.
    ///
    /// # Errors
    /// Something has, or they cannot be read.
    pub(crate) fn still_holds(&self) -> Result<(), Changed> {
        let Some((covered, stamp)) = &self.in_place else { return Ok(()) };
        match CoveredStamp::read(covered) {
            Ok(now) if now == *stamp => Ok(()),
            _ => Err(Changed::WhileRunning),
        }
    }
}

/// Returns whether others can write or replace a covered file.
pub(crate) fn is_shared(covered: &Covered, stamp: &CoveredStamp) -> bool {
    shared(covered, stamp).is_some()
}

/// Returns the first covered file that others can write or replace.
fn shared(covered: &Covered, stamp: &CoveredStamp) -> Option<PathBuf> {
    let mut privacy = Privacy::default();
    let own: Vec<PathBuf> = match &stamp.own {
        HookStamp::File(_) => vec![covered.path.clone()],
        HookStamp::Directory(files) => {
            files.iter().map(|(name, _)| covered.path.join(name)).collect()
        }
    };
    let directory = match &covered.beside {
        CoveredSiblings::Nothing => Path::new(""),
        CoveredSiblings::Helpers(directory) | CoveredSiblings::Everything(directory) => directory,
    };
    let beside = stamp.beside.iter().map(|(name, _)| directory.join(name));
    own.into_iter().chain(beside).find(|path| !privacy.is_private(path))
}
