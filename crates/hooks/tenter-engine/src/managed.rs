//! The managed layer: hooks and settings that administrators set for all users of a machine (M1). Only root can change it, so no user,
//! project or agent of a user removes or weakens it.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use tenter_base::privacy::Privacy;
use tenter_protocol::{Diagnostic, Severity};

/// The managed directory, from the root of the file system.
const DIRECTORY: &str = "etc/tenter";
/// The variable with another root of the file system. Only test builds read it.
const TEST_ROOT: &str = "TENTER_TEST_MANAGED_ROOT";
/// The symlink in the directory of a bundle that leads to the version in force.
#[doc(hidden)]
pub const BUNDLE_POINTER: &str = "current";

/// The directory of the managed layer: `/etc/tenter`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedDirectory {
    root: PathBuf,
    path: PathBuf,
}

impl Default for ManagedDirectory {
    fn default() -> Self {
        Self::below(PathBuf::from("/"))
    }
}

// For the programs that use `inspect`.
#[doc(hidden)]
impl ManagedDirectory {
    fn below(root: PathBuf) -> Self {
        Self { path: root.join(DIRECTORY), root }
    }

    /// Returns the directory for a process with these variables. Only a test build looks at them: what root manages does not depend on a
    /// user's environment.
    pub fn from_vars(vars: &[(OsString, OsString)]) -> Self {
        let mut test_root =
            vars.iter().filter(|(name, _)| cfg!(debug_assertions) && name == TEST_ROOT);
        test_root.next().map_or_else(Self::default, |(_, root)| Self::below(PathBuf::from(root)))
    }

    /// Returns the root of the file system, below which other programs have their managed settings, too.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory of the managed hooks.
    pub fn hooks(&self) -> PathBuf {
        self.path.join("hooks")
    }

    /// Returns the directory of the installed bundles.
    pub fn bundles(&self) -> PathBuf {
        self.path.join("bundles")
    }

    /// Returns the directory of the version that is in force of the bundle in `directory`; `None` if none is. Signatures are verified when
    /// a bundle is installed: here, only the owner counts.
    ///
    /// # Errors
    /// Others than root can change it, or the pointer does not lead to a version of the bundle.
    pub fn current_bundle(&self, directory: &Path) -> Result<Option<PathBuf>, Diagnostic> {
        let pointer = directory.join(BUNDLE_POINTER);
        if fs::symlink_metadata(&pointer).is_err_and(|error| is_absent(&error)) {
            return Ok(None);
        }
        let target = fs::read_link(&pointer).ok();
        let is_name = |target: &PathBuf| {
            target.components().count() == 1
                && matches!(target.components().next(), Some(Component::Normal(_)))
        };
        let version = target.filter(is_name).map(|target| directory.join(target));
        let is_directory = |version: &PathBuf| {
            fs::symlink_metadata(version).is_ok_and(|metadata| metadata.is_dir())
        };
        let version = version.filter(is_directory).ok_or_else(|| {
            let message = "the bundle is not used: this does not lead to a directory beside it";
            Diagnostic::new("managed-refused", Severity::Error, message)
                .at(&pointer)
                .help("`sudo tenter bundle update` installs the bundle again")
        })?;
        self.verify(&version)?;
        Ok(Some(version))
    }

    /// Returns the file with the managed settings.
    pub fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// Returns whether the machine has managed hooks or settings, or that is unknown.
    pub fn exists(&self) -> bool {
        !fs::symlink_metadata(&self.path).is_err_and(|error| is_absent(&error))
    }

    /// Returns whether the file or directory at `path` exists.
    ///
    /// # Errors
    /// It exists, and users other than root can change it or replace it.
    pub fn verify(&self, path: &Path) -> Result<bool, Diagnostic> {
        match fs::symlink_metadata(path) {
            Err(error) if is_absent(&error) => Ok(false),
            Ok(_) if self.privacy().is_private(path) => Ok(true),
            _ => Err(refused(path)),
        }
    }

    /// Returns a check for files that belong to root. In a test build, the owner of the test's root counts as root.
    pub(crate) fn privacy(&self) -> Privacy {
        let is_test = cfg!(debug_assertions) && self.root != Path::new("/");
        let owner = fs::metadata(&self.root).ok().filter(|_| is_test);
        Privacy::for_owner(owner.map_or(0, |owner| owner.uid()))
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the error that a file or directory is not used.
fn refused(path: &Path) -> Diagnostic {
    let message = format!(
        "{} is not used: others than root can change it, or a directory above it",
        path.display()
    );
    Diagnostic::new("managed-refused", Severity::Error, message)
        .at(path)
        .help("root must own it and every directory above it, and no other user or group may write them: `chown root:root` and `chmod go-w`")
}
