//! Finds the project root (R89). Looks only at the file system: `git` is not run.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::DirectoryNames;

/// Returns the root of the project that the working directory `cwd`, an absolute path, belongs to: the nearest directory from
/// `cwd` upwards that contains `.kodelet` or `.agents`, up to the git top level and except the home directory; otherwise the git
/// top level; otherwise `cwd`.
///
/// In a directory above `cwd`, only `.git`, `.kodelet` and `.agents` that the owner of `cwd` or of `home` owns count: in a
/// directory that everyone can write, such as `/tmp`, anyone could put a project around the projects of others.
pub fn project_root(cwd: &Path, home: &Path) -> PathBuf {
    DirectoryNames::default().project_root(cwd, home)
}

/// As [`project_root`], with other names for `.kodelet` and `.agents`.
pub(crate) fn find_project_root(cwd: &Path, home: &Path, markers: &[String]) -> PathBuf {
    let marks = Marks::new(cwd, home, markers);
    let git_top = marks.git_top();
    for dir in cwd.ancestors() {
        if marks.has_resources(dir) && !is_same_directory(dir, home) {
            return dir.to_owned();
        }
        if Some(dir) == git_top {
            break;
        }
    }
    git_top.unwrap_or(cwd).to_owned()
}

/// The marks of projects, looked up in a directory and those above it.
pub(crate) struct Marks<'a> {
    start: &'a Path,
    names: &'a [String],
    /// The owners of marks that count.
    owners: [Option<u32>; 2],
}

impl<'a> Marks<'a> {
    pub(crate) fn new(start: &'a Path, home: &Path, names: &'a [String]) -> Self {
        let owners =
            [start, home].map(|path| fs::metadata(path).ok().map(|metadata| metadata.uid()));
        Self { start, names, owners }
    }

    pub(crate) fn has(&self, dir: &Path, name: &str) -> bool {
        let mark = dir.join(name);
        // The owner of a symlink counts, not the owner of its target.
        let Ok(file) = fs::symlink_metadata(&mark) else { return false };
        let counts = dir == self.start || self.owners.contains(&Some(file.uid()));
        counts && (!file.is_symlink() || mark.exists())
    }

    /// Returns the top of the git repository. The `.git` of a further working tree is a file.
    pub(crate) fn git_top(&self) -> Option<&'a Path> {
        self.start.ancestors().find(|dir| self.has(dir, ".git"))
    }

    pub(crate) fn has_resources(&self, dir: &Path) -> bool {
        self.names.iter().any(|name| self.has(dir, name) && dir.join(name).is_dir())
    }
}

/// Compares the targets of the paths: `$HOME` is often a symlink.
pub(crate) fn is_same_directory(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    one == other || matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates these directories, and files for names that end in `!`; returns the root for `home/work/app/src`.
    fn root_with(marks: &[&str]) -> String {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        let home = base.join("home");
        let cwd = home.join("work/app/src");
        fs::create_dir_all(&cwd).unwrap();
        for path in marks {
            if let Some(file) = path.strip_suffix('!') {
                fs::write(base.join(file), "gitdir: elsewhere").unwrap();
            } else {
                fs::create_dir_all(base.join(path)).unwrap();
            }
        }
        project_root(&cwd, &home).strip_prefix(&base).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn finds_the_root_from_the_working_directory_upwards() {
        let table: [(&[&str], &str); 13] = [
            (&[], "home/work/app/src"),
            (&["home/work/app/.git"], "home/work/app"),
            (&["home/work/app/.git!"], "home/work/app"),
            (&["home/work/app/.kodelet"], "home/work/app"),
            (&["home/work/app/.agents"], "home/work/app"),
            (&["home/work/app/.kodelet", "home/work/app/src/.agents"], "home/work/app/src"),
            (&["home/work/app/.git", "home/work/app/src/.kodelet"], "home/work/app/src"),
            (&["home/work/app/.git", "home/work/.kodelet"], "home/work/app"),
            (&["home/work/.git", "home/work/app/.kodelet"], "home/work/app"),
            (&["home/work/.kodelet"], "home/work"),
            (&["home/.kodelet", "home/.agents"], "home/work/app/src"),
            (&["home/.kodelet", "home/.git"], "home"),
            (&["home/.kodelet", "home/work/.git"], "home/work"),
        ];
        for (marks, expected) in table {
            assert_eq!(root_with(marks), expected, "{marks:?}");
        }
    }

    #[test]
    fn a_file_called_kodelet_marks_no_project() {
        let scratch = tempfile::tempdir().unwrap();
        let cwd = scratch.path().join("a/b");
        fs::create_dir_all(&cwd).unwrap();
        fs::write(scratch.path().join("a/.kodelet"), "").unwrap();
        assert_eq!(project_root(&cwd, Path::new("/nowhere")), cwd);
    }

    #[test]
    fn a_symlink_marks_a_project_unless_it_dangles() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        let cwd = base.join("a/b");
        fs::create_dir_all(&cwd).unwrap();
        symlink("../resources", base.join("a/.kodelet")).unwrap();
        assert_eq!(project_root(&cwd, Path::new("/nowhere")), cwd);
        fs::create_dir(base.join("resources")).unwrap();
        assert_eq!(project_root(&cwd, Path::new("/nowhere")), base.join("a"));
    }

    #[test]
    fn a_home_directory_behind_a_symlink_is_still_the_home_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let real = scratch.path().join("real");
        fs::create_dir_all(real.join(".kodelet")).unwrap();
        fs::create_dir_all(real.join("work")).unwrap();
        let link = scratch.path().join("link");
        symlink(&real, &link).unwrap();
        assert_eq!(project_root(&real.join("work"), &link), real.join("work"));
    }
}
