//! Private copies of hooks whose files other users can write (R74): what was hashed is what runs, since only the user can change
//! the copy.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use tenter_base::{private_dir, replace_file, untrusted_file};
use tenter_proc::{Cancel, Invocation};

use super::fingerprint::{Covered, CoveredSiblings, CoveredStamp, fingerprint};
use super::hasher::{Fingerprint, Hasher, MAX_HOOK_BYTES, changed};
use crate::hook_stamp::HookStamp;

/// Maximum number of copies that are kept.
const MAX_COPIES: usize = 64;
/// The variable with the directory of a hook's files.
const HOOK_DIR: &str = "TENTER_HOOK_DIR";

/// A copy of everything that a hook's trust covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrivateCopy {
    /// The directory that was copied: the one that contains the hook.
    original: PathBuf,
    /// The copy of that directory.
    copy: PathBuf,
}

impl PrivateCopy {
    /// Returns the copy of a hook with the fingerprint `trusted_fingerprint`, in the directory `copies`. It is made if there is none.
    ///
    /// # Errors
    /// The hook is not the one that was trusted, or cannot be copied.
    pub(crate) fn create(
        covered: &Covered,
        trusted_fingerprint: &Fingerprint,
        copies: &Path,
        cancel: &Cancel,
    ) -> io::Result<Option<Self>> {
        let original = covered.path.parent().unwrap_or(Path::new("/")).to_owned();
        let is_trusted = |copy: &Path| {
            let files = fingerprint(&moved(covered, copy), &Hasher::new(u64::MAX, cancel));
            files.is_ok_and(|files| files == *trusted_fingerprint)
        };
        // It changes when the hook does, so the content of the hook itself is compared as well.
        if fingerprint(covered, &Hasher::new(u64::MAX, cancel))? != *trusted_fingerprint {
            return Ok(None);
        }
        let copy = copies.join(&trusted_fingerprint.0);
        if !is_trusted(&copy) {
            private_dir::enforce(copies)?;
            let new = copies.join(replace_file::temporary_name()?);
            let result = make(covered, &new).and_then(|()| {
                // Someone may have changed the hook while it was copied.
                if is_trusted(&new) { replace(&new, &copy, copies) } else { Err(changed()) }
            });
            if result.is_err() {
                let _ = fs::remove_dir_all(&new);
            }
            result?;
            prune(copies, &copy);
        }
        Ok(Some(Self { original, copy }))
    }

    /// Returns the path of a file of the hook, in the copy.
    pub(crate) fn locate(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.original) {
            Ok(name) if name.as_os_str().is_empty() => self.copy.clone(),
            Ok(name) => self.copy.join(name),
            Err(_) => path.to_owned(),
        }
    }

    /// Lets a program of the hook run from the copy.
    pub(crate) fn relocate(&self, invocation: &mut Invocation) {
        let is_of_hook = |path: &Path| path.is_absolute() && path.starts_with(&self.original);
        invocation.program = self.locate(&invocation.program);
        for arg in &mut invocation.args {
            if is_of_hook(Path::new(arg)) {
                *arg = self.locate(Path::new(arg)).into();
            }
        }
        if is_of_hook(&invocation.cwd) {
            invocation.cwd = self.locate(&invocation.cwd);
        }
        for (_, value) in invocation.env.iter_mut().filter(|(name, _)| name == HOOK_DIR) {
            *value = self.locate(Path::new(value)).into();
        }
    }
}

/// Returns the content that trust in the copy in `directory` covers.
fn moved(covered: &Covered, directory: &Path) -> Covered {
    let name = covered.path.file_name().unwrap_or_default();
    let beside = match covered.beside {
        CoveredSiblings::Nothing => CoveredSiblings::Nothing,
        CoveredSiblings::Helpers(_) => CoveredSiblings::Helpers(directory.to_owned()),
        CoveredSiblings::Everything(_) => CoveredSiblings::Everything(directory.to_owned()),
    };
    Covered { path: directory.join(name), beside, setting: covered.setting }
}

/// Copies everything that is covered to the new directory `new`.
fn make(covered: &Covered, new: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(new)?;
    let stamp = CoveredStamp::read(covered)?;
    let original = covered.path.parent().unwrap_or(Path::new("/"));
    let name = Path::new(covered.path.file_name().unwrap_or_default());
    let own: Vec<(PathBuf, bool)> = match &stamp.own {
        HookStamp::File(stamp) => vec![(name.to_owned(), stamp.is_executable())],
        HookStamp::Directory(files) => {
            files.iter().map(|(file, stamp)| (name.join(file), stamp.is_executable())).collect()
        }
    };
    let beside = stamp.beside.iter().map(|(file, stamp)| (file.clone(), stamp.is_executable()));
    let mut budget = MAX_HOOK_BYTES;
    for (file, is_executable) in own.into_iter().chain(beside) {
        let target = new.join(&file);
        if target.exists() {
            continue;
        }
        if let Some(directory) = target.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        let mode = if is_executable { 0o700 } else { 0o600 };
        let mut to = File::options().write(true).create_new(true).mode(mode).open(&target)?;
        let mut from = io::Read::take(untrusted_file::open(&original.join(&file))?, budget);
        budget -= io::copy(&mut from, &mut to)?;
    }
    Ok(())
}

/// Gives the copy `new` its name. Another process may have made the same one.
fn replace(new: &Path, copy: &Path, copies: &Path) -> io::Result<()> {
    let aside = copies.join(replace_file::temporary_name()?);
    if fs::rename(copy, &aside).is_ok() {
        let _ = fs::remove_dir_all(&aside);
    }
    fs::rename(new, copy)
}

/// Removes the oldest copies but `newest`, if there are too many.
fn prune(copies: &Path, newest: &Path) {
    let Ok(entries) = fs::read_dir(copies) else { return };
    let mut files: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.path() != newest)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let surplus = (files.len() + 1).saturating_sub(MAX_COPIES);
    for (_, path) in files.into_iter().take(surplus) {
        let _ = fs::remove_dir_all(path);
    }
}
