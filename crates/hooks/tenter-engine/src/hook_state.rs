//! The private directories of hooks: one for each hook and project, outside the project (R72).

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tenter_base::{hex, private_dir};

use crate::layer::Layer;

/// The environment variable with the path of the directory.
pub(crate) const VARIABLE: &str = "TENTER_HOOK_STATE";
/// Maximum number of characters of the hook's name in the directory's name.
const MAX_NAME: usize = 40;
/// Length of the hash in the directory's name.
const HASH: usize = 16;

/// The hook and project that a directory belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookOwner<'a> {
    pub(crate) project: &'a Path,
    pub(crate) layer: Layer,
    pub(crate) name: &'a str,
}

impl HookOwner<'_> {
    /// Returns the name of files and directories of the hook: the hook's name, and a hash that is different for other projects and layers.
    pub(crate) fn file_name(self) -> String {
        let Self { project, layer, name } = self;
        let mut hasher = Sha256::new();
        for part in [project.as_os_str().as_encoded_bytes(), layer.as_str().as_bytes()] {
            hasher.update(part);
            hasher.update([0]);
        }
        let hash = hex(&hasher.chain_update(name).finalize());
        let plain = |one: char| if one.is_ascii_alphanumeric() || one == '_' { one } else { '-' };
        let name: String = name.chars().take(MAX_NAME).map(plain).collect();
        format!("{name}-{}", &hash[..HASH])
    }
}

/// Returns the directory of `owner` in `root` and creates it if it is missing.
///
/// # Errors
/// The directory cannot be created, or the path is not a directory.
pub(crate) fn directory(root: &Path, owner: HookOwner<'_>) -> io::Result<PathBuf> {
    let path = root.join(owner.file_name());
    private_dir::enforce(&path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    #[test]
    fn every_hook_has_its_own_private_directory_per_project() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("state/hooks");
        let of = |project: &str, layer, name| {
            let owner = HookOwner { project: Path::new(project), layer, name };
            let path = directory(&root, owner).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
            assert_eq!(path.parent(), Some(root.as_path()));
            assert_eq!(directory(&root, owner).unwrap(), path, "the next time it is the same");
            path
        };
        let long = "x".repeat(300);
        let directories = BTreeSet::from([
            of("/a", Layer::Project, "guard"),
            of("/b", Layer::Project, "guard"),
            of("/a", Layer::User, "guard"),
            of("/a", Layer::ProjectPlugin, "acme/guards/guard"),
            of("/a", Layer::Project, "acme-guards-guard"),
            of("/a", Layer::Project, ".."),
            of("/a", Layer::Project, &long),
        ]);
        assert_eq!(directories.len(), 7);
    }

    #[test]
    fn an_accessible_directory_is_made_private_and_a_symlink_is_rejected() {
        let scratch = tempfile::tempdir().unwrap();
        let owner = HookOwner { project: Path::new("/a"), layer: Layer::User, name: "guard" };
        let path = directory(scratch.path(), owner).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        directory(scratch.path(), owner).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("/tmp", &path).unwrap();
        assert!(directory(scratch.path(), owner).is_err());
    }
}
