//! The helper files next to the hooks of each hooks directory, which are part of their trust (R72). They are read once per
//! directory and load.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_base::file_stamp::{self, FileStamp};
use tenter_base::tree::Tree;
use tenter_protocol::{Diagnostic, Severity};

use crate::layout::Root;
use crate::query::Cache;
use crate::source::beside::HELPERS;
use crate::source::{Candidate, CandidateKind};
use crate::trust::{CoveredSiblings, Fingerprint, Hasher};

/// Maximum number of files that one warning names.
const MAX_NAMED: usize = 5;

/// The helper files next to a hook that its trust covers.
#[derive(Debug, Clone, Default)]
pub(super) struct HelperFiles {
    pub(super) files: Arc<[(PathBuf, FileStamp)]>,
    pub(super) hash: Option<Fingerprint>,
}

/// The helper files of each hooks directory, by the index of its root. An error says why they cannot be covered by trust, as the
/// end of a sentence that begins with a hook's name.
pub(super) struct Surroundings(Vec<Result<HelperFiles, String>>);

impl Surroundings {
    /// Reads the helper files of the `candidates` of each root.
    pub(super) fn read(
        roots: &[Root],
        candidates: &[Candidate],
        cache: &mut Cache,
        hasher: &Hasher,
    ) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let mut checks = Vec::new();
        for (directory, root) in roots.iter().enumerate() {
            let in_root = candidates.iter().filter(|candidate| candidate.directory == directory);
            let may_run = |candidate: &&Candidate| match candidate.kind {
                CandidateKind::Executable(_) => true,
                CandidateKind::Manifest(_) => !root.prefix.is_empty(),
                CandidateKind::NotExecutable
                | CandidateKind::Disabled
                | CandidateKind::Invalid(_) => false,
            };
            let first = in_root.into_iter().find(may_run);
            let around = match first {
                None => Ok(HelperFiles::default()),
                Some(_) if !root.layer.needs_trust() => {
                    diagnostics.extend(exposed_helpers(&root.dir));
                    Ok(HelperFiles::default())
                }
                Some(candidate) => {
                    around(&CoveredSiblings::new(candidate.into()), &root.dir, cache, hasher)
                }
            };
            checks.push(around);
        }
        (Self(checks), diagnostics)
    }

    /// Returns the helper files of a hook of the root at `directory`.
    pub(super) fn get(
        &self,
        beside: &CoveredSiblings,
        directory: usize,
    ) -> Result<HelperFiles, String> {
        match beside {
            CoveredSiblings::Nothing => Ok(HelperFiles::default()),
            CoveredSiblings::Helpers(_) | CoveredSiblings::Everything(_) => {
                // Every candidate belongs to one of the roots.
                let helpers = self.0.get(directory).cloned();
                helpers.unwrap_or_else(|| Err("is in no known hooks directory".to_owned()))
            }
        }
    }
}

fn around(
    beside: &CoveredSiblings,
    directory: &Path,
    cache: &mut Cache,
    hasher: &Hasher,
) -> Result<HelperFiles, String> {
    let refuse = |error| refusal(beside, &error);
    let files = beside.tree().map_err(refuse)?.files;
    let digest = file_stamp::digest(&files);
    if let Some(hash) = cache.directory(directory, &digest) {
        return Ok(HelperFiles { files: files.into(), hash: Some(hash) });
    }
    let hash = beside.hash(&files, hasher).map_err(refuse)?;
    if let Some(hash) = &hash {
        cache.put_directory(directory, digest, hash.clone());
    }
    Ok(HelperFiles { files: files.into(), hash })
}

fn refusal(beside: &CoveredSiblings, error: &std::io::Error) -> String {
    match beside {
        CoveredSiblings::Everything(_) => {
            format!(
                "cannot be trusted, because its plugin's hooks directory cannot be checked: {error}"
            )
        }
        CoveredSiblings::Helpers(_) | CoveredSiblings::Nothing => format!(
            "cannot be trusted, because the files beside it cannot be checked: {error}; \
             move it and what it needs into a directory of its own with a HOOK.md"
        ),
    }
}

/// Returns a warning if other users can write helper files of the user's hooks.
fn exposed_helpers(directory: &Path) -> Option<Diagnostic> {
    // An unreadable directory was already reported, and one with too many files does not keep hooks from running.
    let tree = Tree::read(directory, &HELPERS).ok()?;
    exposed(directory, &tree.writable_by_others, "files beside your hooks")
}

/// Returns a warning if other users can write files in `directory` (R48).
pub(super) fn exposed(directory: &Path, files: &[PathBuf], what: &str) -> Option<Diagnostic> {
    if files.is_empty() {
        return None;
    }
    let names: Vec<_> = files.iter().take(MAX_NAMED).map(|file| file.to_string_lossy()).collect();
    let more = match files.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "{what} can be changed by others, since their group or everyone can write them: {}{more}",
        names.join(", ")
    );
    let help = format!("run `chmod -R go-w {}`", directory.display());
    Some(
        Diagnostic::new("hook-writable-by-others", Severity::Warning, message)
            .at(directory)
            .help(help),
    )
}
