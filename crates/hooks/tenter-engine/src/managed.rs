//! The managed layer: hooks and settings that administrators set for all users of a machine (M1). Only root can change it, so no user,
//! project or agent of a user removes or weakens it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tenter_base::privacy::Privacy;
use tenter_protocol::{Diagnostic, Severity};

/// The managed directory, from the root of the file system.
const DIRECTORY: &str = "etc/tenter";
/// The variable with another root of the file system. Only test builds read it.
const TEST_ROOT: &str = "TENTER_TEST_MANAGED_ROOT";

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

    /// The root of the file system, below which other programs have their managed settings, too.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory of the managed hooks.
    pub fn hooks(&self) -> PathBuf {
        self.path.join("hooks")
    }

    /// The file with the managed settings.
    pub fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// Returns whether the machine has managed hooks or settings.
    pub fn exists(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok()
    }

    /// Returns whether the file or directory at `path` exists.
    ///
    /// # Errors
    /// It exists, and users other than root can change it or replace it.
    pub fn verify(&self, path: &Path) -> Result<bool, Diagnostic> {
        match fs::symlink_metadata(path) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(false)
            }
            Ok(_) if self.privacy().is_private(path) => Ok(true),
            _ => Err(refused(path)),
        }
    }

    /// Returns a check for files that belong to root. In a test build, the owner of the test's root counts as root.
    pub(crate) fn privacy(&self) -> Privacy {
        let is_test = cfg!(debug_assertions) && self.root != Path::new("/");
        let owner = fs::metadata(&self.root).ok().filter(|_| is_test);
        Privacy::of_owner(owner.map_or(0, |owner| owner.uid()))
    }
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
