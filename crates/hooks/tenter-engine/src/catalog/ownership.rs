//! Files of managed hooks, which only root may change (M1).

use std::path::{Path, PathBuf};
use std::{fs, io};

use tenter_base::tree::{Tree, TreeRules};

use crate::hook_stamp::MAX_FILES;
use crate::managed::ManagedDirectory;
use crate::source::{Candidate, CandidateKind};

/// Makes a candidate invalid if others than root can change a file of it, or a file of it is outside of the bundle `within`.
pub(super) fn examine(
    managed: &ManagedDirectory,
    within: Option<&Path>,
    candidate: &mut Candidate,
) {
    let mut privacy = managed.privacy();
    let why = match files(&candidate.path) {
        Err(error) => format!("cannot be read: {error}"),
        Ok(files) => {
            let is_exposed = |file: &&PathBuf| !privacy.is_private(file);
            if let Some(file) = files.iter().find(is_exposed) {
                format!("is managed, but {} can be changed by others than root", file.display())
            } else if let Some(file) = files.iter().find(|file| is_outside(file, within)) {
                format!("belongs to a bundle, but {} leads out of it", file.display())
            } else {
                return;
            }
        }
    };
    candidate.kind = CandidateKind::Invalid(why);
}

fn is_outside(file: &Path, within: Option<&Path>) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    within.is_some_and(|within| match (real(file), real(within)) {
        (Some(file), Some(within)) => !file.starts_with(within),
        _ => true,
    })
}

/// Returns the files of the hook at `path`: its file, or all in its directory.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let tree = Tree::read(path, &TreeRules::all(MAX_FILES))?;
    Ok(tree.files.into_iter().map(|(file, _)| path.join(file)).collect())
}
