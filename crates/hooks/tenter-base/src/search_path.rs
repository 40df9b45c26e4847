//! Programs in `PATH`, and those that are installed with another one.
//!
//! Relative directories of `PATH` are ignored: they would be directories of the project, and so would the programs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// The program that runs confined commands, in the directory of the others. It is optional: they can do it themselves, but start slower.
pub const LAUNCHER: &str = "tenter-launch";

/// Returns the `PATH` of an environment; empty if it has none. Of several the last counts.
pub fn path_variable(env: &[(OsString, OsString)]) -> &OsStr {
    env.iter().rfind(|(name, _)| name == "PATH").map_or(OsStr::new(""), |(_, value)| value)
}

/// Returns the files called `name` in the directories of `path`, in order.
pub fn files(name: impl AsRef<Path>, path: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .map(move |directory| directory.join(name.as_ref()))
        .filter(|file| file.is_file())
}

/// Returns the program called `name` in the `PATH` of `env`: the first file that may be executed.
pub fn program(name: impl AsRef<Path>, env: &[(OsString, OsString)]) -> Option<PathBuf> {
    files(name, path_variable(env)).find(|file| is_executable(file))
}

/// Returns the program called `name` in the directory of `own`, a program whose path may be a symlink.
pub fn program_beside(own: &Path, name: &str) -> Option<PathBuf> {
    program_beside_real(&own.canonicalize().ok()?, name)
}

/// Returns the program called `name` in the directory of `own`, a program whose path has no symlink.
pub fn program_beside_real(own: &Path, name: &str) -> Option<PathBuf> {
    Some(own.with_file_name(name)).filter(|program| program.is_file())
}

/// Returns the program that runs confined commands for `own`, which can do it itself if it was installed without one.
pub fn launcher_of(own: PathBuf) -> PathBuf {
    program_beside(&own, LAUNCHER).unwrap_or(own)
}

/// Returns true if this process may execute the file at `path`.
pub fn is_executable(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn finds_the_first_executable_file_in_absolute_directories() {
        let scratch = tempfile::tempdir().unwrap();
        let file = |directory: &str, mode| {
            let path = scratch.path().join(directory).join("tool");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let (plain, first) = (file("plain", 0o644), file("first", 0o755));
        let second = file("second", 0o755);
        fs::create_dir_all(scratch.path().join("directory/tool")).unwrap();
        let directories = ["directory", "plain", "first", "second"].map(|d| scratch.path().join(d));
        let path = std::env::join_paths(&directories).unwrap();
        let env = [("PATH".into(), "relative".into()), ("PATH".into(), path.clone())];
        assert_eq!(files("tool", &path).collect::<Vec<_>>(), [plain, first.clone(), second]);
        assert_eq!(program("tool", &env), Some(first));
        assert_eq!(program("none", &env), None);
        assert_eq!(program("tool", &[]), None);
    }

    #[test]
    fn a_program_is_its_own_launcher_unless_one_is_installed_with_it() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        let (own, link) = (root.join("tenter"), root.join("bin"));
        fs::write(&own, "").unwrap();
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert_eq!(launcher_of(link.clone()), link);
        let launcher = root.join(LAUNCHER);
        fs::create_dir(&launcher).unwrap();
        assert_eq!(launcher_of(link.clone()), link, "a directory is no program");
        fs::remove_dir(&launcher).unwrap();
        fs::write(&launcher, "").unwrap();
        assert_eq!(launcher_of(link), launcher);
    }
}
