//! Finds the candidates in one hooks directory (R10, R13). Entries are inspected but not opened: a FIFO would block, and nothing of an
//! untrusted project may run.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tenter_base::FileStamp;
use tenter_protocol::{Diagnostic, Severity};

use super::SETTINGS_FILE;
use crate::builtin;
use crate::layer::Layer;
use crate::layout::{Root, entries, is_missing};

pub(super) const DISABLED_SUFFIX: &str = ".disable";
const BACKUP_SUFFIXES: [&str; 4] = ["~", ".swp", ".bak", ".orig"];
/// The name of a manifest, in its usual letter case.
pub(crate) const MANIFEST_FILE: &str = "HOOK.md";
/// Maximum number of characters in the name of a hook (R16).
const MAX_NAME_LENGTH: usize = 64;

/// An entry of a hooks directory that is, or may become, a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The full name: the prefix and the file name without `.disable`. The manifest of a manifest hook may change it.
    pub name: String,
    /// Prefix of the names in this directory: empty, or `org/repo/`.
    pub prefix: String,
    /// The layer of the directory.
    pub layer: Layer,
    /// The index of the directory among the roots; lower ones have precedence.
    pub directory: usize,
    /// The path of the entry.
    pub path: PathBuf,
    /// The path without symlinks.
    pub real_path: PathBuf,
    /// The kind.
    pub kind: CandidateKind,
}

/// The kind of a candidate, from its metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateKind {
    /// An executable file.
    Executable(FileStamp),
    /// A directory with this manifest.
    Manifest(PathBuf),
    /// A file that is not executable.
    NotExecutable,
    /// An entry whose name ends in `.disable`.
    Disabled,
    /// An entry that cannot be a hook, and why, as the end of a sentence that begins with its name.
    Invalid(String),
}

/// Returns the candidates in `root`, in byte order of their names. `directory` is the index of `root` among the roots.
pub fn scan(root: &Root, directory: usize) -> (Vec<Candidate>, Vec<Diagnostic>) {
    let entries = entries(&root.dir);
    if entries.as_ref().is_ok_and(Vec::is_empty) {
        return (Vec::new(), Vec::new());
    }
    let result = entries
        .and_then(|entries| Ok((entries, fs::canonicalize(&root.dir)?, fs::metadata(&root.dir)?)));
    let (entries, real_dir, metadata) = match result {
        Ok(result) => result,
        Err(error) => return (Vec::new(), vec![unreadable(&root.dir, &error)]),
    };
    let directory = Directory { root, real_dir, place: directory };
    let mut candidates = Vec::new();
    let mut diagnostics = Vec::from_iter(directory.exposure(&root.dir, &metadata));
    for entry in entries {
        match directory.look_at(&entry) {
            Ok(Some((candidate, warning))) => {
                candidates.push(candidate);
                diagnostics.extend(warning);
            }
            Ok(None) => {}
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    (candidates, diagnostics)
}

/// The directory that is being scanned.
struct Directory<'a> {
    root: &'a Root,
    real_dir: PathBuf,
    place: usize,
}

impl Directory<'_> {
    /// Returns the candidate for `entry`, with a warning if others can change it; `None` for entries that are not hooks.
    fn look_at(
        &self,
        entry: &DirEntry,
    ) -> Result<Option<(Candidate, Option<Diagnostic>)>, Diagnostic> {
        let file_name = entry.file_name();
        if is_skipped(&file_name) {
            return Ok(None);
        }
        let path = entry.path();
        let Some((real_path, metadata)) =
            self.follow(entry).map_err(|error| unfollowable(&path, &error))?
        else {
            return Ok(None);
        };
        let Some(kind) = kind(&file_name, &path, &metadata)? else { return Ok(None) };
        let may_run = matches!(kind, CandidateKind::Executable(_) | CandidateKind::Manifest(_));
        let exposure = may_run.then(|| self.exposure(&path, &metadata)).flatten();
        let name = file_name.to_string_lossy();
        let prefix = self.root.prefix.clone();
        let name = format!("{prefix}{}", name.strip_suffix(DISABLED_SUFFIX).unwrap_or(&name));
        let layer = self.root.layer;
        let candidate =
            Candidate { name, prefix, layer, directory: self.place, path, real_path, kind };
        Ok(Some((candidate, exposure)))
    }

    /// Returns the real path and metadata of an entry; `None` if it was removed meanwhile.
    fn follow(&self, entry: &DirEntry) -> io::Result<Option<(PathBuf, Metadata)>> {
        let path = entry.path();
        let metadata = match fs::metadata(&path) {
            Err(_) if is_missing(&path) => return Ok(None),
            found => found?,
        };
        let is_link = entry.file_type()?.is_symlink();
        let real_path =
            if is_link { fs::canonicalize(&path)? } else { self.real_dir.join(entry.file_name()) };
        Ok(Some((real_path, metadata)))
    }

    /// Returns the warning for a file or directory of the user that others can change (R48).
    fn exposure(&self, path: &Path, metadata: &Metadata) -> Option<Diagnostic> {
        let writable_by_others = metadata.permissions().mode() & 0o022 != 0;
        (writable_by_others && !self.root.layer.needs_trust()).then(|| {
            let what = if metadata.is_dir() { "this hooks directory" } else { "this hook" };
            let message = format!(
                "{what} can be changed by others: it is writable for its group or for everyone"
            );
            let help = format!("run `chmod go-w {}`", path.display());
            Diagnostic::new("hook-writable-by-others", Severity::Warning, message)
                .at(path)
                .help(help)
        })
    }
}

/// Returns whether an entry is skipped: hidden entries, backups of editors, and `hooks.toml`.
pub(crate) fn is_skipped(file_name: &OsStr) -> bool {
    let name = file_name.as_encoded_bytes();
    name.starts_with(b".")
        || name == SETTINGS_FILE.as_bytes()
        || BACKUP_SUFFIXES.iter().any(|suffix| name.ends_with(suffix.as_bytes()))
}

/// Checks that a hook can have this file name.
///
/// # Errors
/// The reason why the hook would not be found or not run, as the end of a sentence that begins with the name.
pub fn check_file_name(name: &str) -> Result<(), String> {
    let length = name.chars().count();
    Err(if name.trim().is_empty() {
        "is empty".to_owned()
    } else if length > MAX_NAME_LENGTH {
        format!("has {length} characters; the maximum is {MAX_NAME_LENGTH}")
    } else if name.contains('/') {
        "holds a /, and names of plugins' hooks are given by their directories".to_owned()
    } else if name.chars().any(char::is_control) {
        "holds a control character".to_owned()
    } else if name.starts_with(builtin::PREFIX) {
        format!("begins with {}, as only what is part of Tenter does", builtin::PREFIX)
    } else if name.starts_with('.') {
        "begins with a dot: hidden files are not hooks".to_owned()
    } else if name.ends_with(DISABLED_SUFFIX) {
        format!("ends in {DISABLED_SUFFIX}: a hook of this name is disabled")
    } else if is_skipped(OsStr::new(name)) {
        "is the name of an editor's backup or of the directory's settings, which are not hooks"
            .to_owned()
    } else {
        return Ok(());
    })
}

fn kind(
    file_name: &OsStr,
    path: &Path,
    metadata: &Metadata,
) -> Result<Option<CandidateKind>, Diagnostic> {
    let manifest = if metadata.is_dir() {
        let Some(manifest) = manifest_file(path).map_err(|error| unreadable(path, &error))? else {
            return Ok(None);
        };
        Some(manifest)
    } else {
        None
    };
    if file_name.as_encoded_bytes().ends_with(DISABLED_SUFFIX.as_bytes()) {
        return Ok(Some(CandidateKind::Disabled));
    }
    if manifest.is_none() && !metadata.is_file() {
        return Err(not_a_file(path, metadata.file_type()));
    }
    if file_name.to_str().is_none() {
        return Ok(Some(CandidateKind::Invalid("has a file name that is not UTF-8".to_owned())));
    }
    if let Some(manifest) = manifest {
        return Ok(Some(CandidateKind::Manifest(manifest)));
    }
    let is_executable = metadata.permissions().mode() & 0o111 != 0;
    Ok(Some(if is_executable {
        CandidateKind::Executable(FileStamp::new(metadata))
    } else {
        CandidateKind::NotExecutable
    }))
}

/// Returns the manifest in the directory of a hook: `HOOK.md`, otherwise the same name in another letter case (R14).
///
/// # Errors
/// The directory cannot be read.
pub fn manifest_file(dir: &Path) -> io::Result<Option<PathBuf>> {
    let preferred = dir.join(MANIFEST_FILE);
    if preferred.symlink_metadata().is_ok() {
        return Ok(Some(preferred));
    }
    let entries = entries(dir)?;
    let manifest = entries.iter().find(|entry| is_manifest_file(&entry.file_name()));
    Ok(manifest.map(DirEntry::path))
}

/// Returns whether this is the name of a manifest: `HOOK.md` in any letter case (R14).
pub(super) fn is_manifest_file(file_name: &OsStr) -> bool {
    file_name.eq_ignore_ascii_case(MANIFEST_FILE)
}

fn unreadable(dir: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new(
        "hooks-folder-unreadable",
        Severity::Error,
        format!("this hooks directory cannot be read: {error}"),
    )
    .at(dir)
    .help("no hook in it runs; make it a directory that you may read")
}

fn unfollowable(path: &Path, error: &io::Error) -> Diagnostic {
    let message = match fs::read_link(path) {
        Ok(target) => format!("this link to {} cannot be followed: {error}", target.display()),
        Err(_) => format!("this cannot be looked at: {error}"),
    };
    Diagnostic::new("hook-link-broken", Severity::Error, message)
        .at(path)
        .help("fix the symlink or remove it; if it is a hook, that hook does not run")
}

fn not_a_file(path: &Path, file_type: FileType) -> Diagnostic {
    let what = if file_type.is_fifo() {
        "a named pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Diagnostic::new(
        "hook-not-a-file",
        Severity::Warning,
        format!("this is {what}, not a hook: it was skipped"),
    )
    .at(path)
    .help("a hook is an executable file; move this out of the hooks directory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_names_of_hooks_that_would_not_be_found_or_run() {
        let long = "x".repeat(65);
        let bad = [
            "",
            " ",
            ".",
            ".hidden",
            "a/b",
            "a\nb",
            "a.disable",
            "a~",
            "a.swp",
            "a.bak",
            "a.orig",
            "hooks.toml",
            "builtin:mine",
            &long,
        ];
        for name in bad {
            assert!(check_file_name(name).is_err(), "{name:?}");
        }
        for name in ["guard", "no-sudo.sh", "größe", "two words", &long[1..]] {
            assert_eq!(check_file_name(name), Ok(()), "{name:?}");
        }
    }
}
