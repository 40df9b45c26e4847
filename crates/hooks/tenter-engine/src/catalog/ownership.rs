//! Files of managed hooks, which only root may change (M1).

use std::io;
use std::path::{Path, PathBuf};

use tenter_base::tree::{Tree, TreeRules};

use crate::hook_stamp::MAX_FILES;
use crate::managed::ManagedDirectory;
use crate::source::{Candidate, CandidateKind};

/// Makes a candidate invalid if others than root can change a file of it.
pub(super) fn examine(managed: &ManagedDirectory, candidate: &mut Candidate) {
    let mut privacy = managed.privacy();
    let why = match files(&candidate.path) {
        Err(error) => format!("cannot be read: {error}"),
        Ok(files) => match files.iter().find(|file| !privacy.is_private(file)) {
            None => return,
            Some(file) => {
                format!("is managed, but {} can be changed by others than root", file.display())
            }
        },
    };
    candidate.kind = CandidateKind::Invalid(why);
}

/// Returns the files of the hook at `path`: its file, or all in its directory.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let tree = Tree::read(path, &TreeRules::all(MAX_FILES))?;
    Ok(tree.files.into_iter().map(|(file, _)| path.join(file)).collect())
}
