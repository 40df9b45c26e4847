//! Directories that only the user can enter.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

const MODE: u32 = 0o700;

/// Creates the directory at `path`, and its missing parents, with mode 0700. An existing directory is left as it is.
///
/// # Errors
/// A directory cannot be created.
pub fn create(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(MODE).create(path)
}

/// Creates the directory that is to hold the file at `path`, as [`create`] does.
///
/// # Errors
/// A directory cannot be created.
pub fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), create)
}

/// Creates the directory at `path` as [`create`] does, and makes an existing one private.
///
/// # Errors
/// The directory cannot be created, is a symlink, or belongs to another user.
pub fn enforce(path: &Path) -> io::Result<()> {
    create(path)?;
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("{} is not a directory of yours", path.display())));
    }
    if metadata.mode() & 0o777 != MODE {
        fs::set_permissions(path, Permissions::from_mode(MODE))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn new_directories_are_private_and_existing_ones_only_if_enforced() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a/b");
        create(&path).unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o700, 0o700));
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        create(&path).unwrap();
        assert_eq!(mode(&path), 0o755);
        enforce(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
    }

    #[test]
    fn a_symlink_is_not_a_private_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("link");
        std::os::unix::fs::symlink("/tmp", &path).unwrap();
        assert!(enforce(&path).is_err());
    }
}
