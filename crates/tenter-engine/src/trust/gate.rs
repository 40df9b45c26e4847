//! Compares a hook with what was trusted, at load and again right before it runs.

use std::io;
use std::path::{Path, PathBuf};

use tenter_base::privacy::Privacy;
use tenter_proc::Cancel;
use thiserror::Error;

use super::fingerprint::{Beside, Covered, CoveredStamp, fingerprint};
use super::hasher::{Fingerprint, Hasher};
use crate::hook_policy::FailMode;
use crate::hook_stamp::HookStamp;

/// Whether project hooks need to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrustMode {
    /// They run only if they are trusted (R45).
    #[default]
    Gate,
    /// The user has disabled trust checks (R47).
    All,
}

/// Why a hook that was trusted when it was loaded must not run now.
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
    /// Others can write the file, and the hook is set to fail closed (R74).
    #[error("others can write {}, so what runs may not be what was trusted; make it and its directories writable for you alone, \
             or set `hooks.allow_shared = true` in your configuration", .0.display())]
    Shared(PathBuf),
}

/// What a hook is compared with right before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    covered: Covered,
    stamp: CoveredStamp,
    /// Whether only the user and root could write its files when they were hashed: others may still have one open.
    was_private: bool,
    /// Whether it may run if others can write its files, although it is set to fail closed.
    allow_shared: bool,
}

impl Pin {
    /// Pins a hook to the content that its fingerprint covers.
    pub(crate) fn new(
        covered: Covered,
        stamp: CoveredStamp,
        allow_shared: bool,
        privacy: &mut Privacy,
    ) -> Self {
        let was_private = shared(&covered, &stamp, privacy).is_none();
        Self { covered, stamp, was_private, allow_shared }
    }

    /// Checks that the content is still that of `trusted`, the hook's fingerprint.
    ///
    /// # Errors
    /// It is not, cannot be read, or others can write it and the hook fails closed.
    pub(crate) fn verify(
        &self,
        trusted: &Fingerprint,
        fail: FailMode,
        cancel: &Cancel,
    ) -> Result<(), Changed> {
        let now = CoveredStamp::of(&self.covered)?;
        let shared = shared(&self.covered, &now, &mut Privacy::default());
        if self.was_private && shared.is_none() && now == self.stamp {
            return Ok(());
        }
        let must_be_private = fail == FailMode::Closed && !self.allow_shared;
        if let Some(path) = shared.filter(|_| must_be_private) {
            return Err(Changed::Shared(path));
        }
        self.compare(trusted, cancel)
    }

    fn compare(&self, trusted: &Fingerprint, cancel: &Cancel) -> Result<(), Changed> {
        let now = fingerprint(&self.covered, &Hasher::new(u64::MAX, cancel))?;
        if now == *trusted { Ok(()) } else { Err(Changed::Content) }
    }
}

/// The first covered file that others can write or replace.
fn shared(covered: &Covered, stamp: &CoveredStamp, privacy: &mut Privacy) -> Option<PathBuf> {
    let own: Vec<PathBuf> = match &stamp.own {
        HookStamp::File(_) => vec![covered.path.clone()],
        HookStamp::Directory(files) => {
            files.iter().map(|(name, _)| covered.path.join(name)).collect()
        }
    };
    let directory = match &covered.beside {
        Beside::Nothing => Path::new(""),
        Beside::Helpers(directory) | Beside::Everything(directory) => directory,
    };
    let beside = stamp.beside.iter().map(|(name, _)| directory.join(name));
    own.into_iter().chain(beside).find(|path| !privacy.is_private(path))
}
