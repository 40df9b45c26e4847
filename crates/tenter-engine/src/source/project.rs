//! Which folder is the project (R7). Looks at the file system only: no `git` is run.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

/// The project that the working folder `cwd`, an absolute path, belongs to: the nearest folder from there upwards that
/// has `.kodelet` or `.agents`, not above the git top level and not the home folder; else the git top level; else `cwd`.
///
/// What marks a folder above `cwd` must belong to whoever `cwd` or `home` belongs to: in a folder where everybody may write,
/// such as `/tmp`, anybody could lay down a project around those of others.
pub fn project_root(cwd: &Path, home: &Path) -> PathBuf {
    let owners = [cwd, home].map(|path| fs::metadata(path).ok().map(|found| found.uid()));
    let has = |dir: &Path, name: &str| {
        let mark = dir.join(name);
        // A link is its maker's, whatever it leads to.
        let owner = fs::symlink_metadata(&mark).ok().map(|found| found.uid());
        mark.exists() && (dir == cwd || owners.contains(&owner))
    };
    // A work tree's `.git` is a file, not a folder.
    let git_top = cwd.ancestors().find(|dir| has(dir, ".git"));
    let is_marked = |dir: &Path| {
        [".kodelet", ".agents"].iter().any(|name| has(dir, name) && dir.join(name).is_dir())
    };
    for dir in cwd.ancestors() {
        if is_marked(dir) && !is_same_folder(dir, home) {
            return dir.to_owned();
        }
        if Some(dir) == git_top {
            break;
        }
    }
    git_top.unwrap_or(cwd).to_owned()
}

/// Compares what the paths lead to: `$HOME` is often a link.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    one == other || matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Makes the folders and `.git` files named, and returns the root as seen from `home/work/app/src`.
    fn root_with(made: &[&str]) -> String {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        let home = base.join("home");
        let cwd = home.join("work/app/src");
        fs::create_dir_all(&cwd).unwrap();
        for path in made {
            if let Some(file) = path.strip_suffix('!') {
                fs::write(base.join(file), "gitdir: elsewhere").unwrap();
            } else {
                fs::create_dir_all(base.join(path)).unwrap();
            }
        }
        project_root(&cwd, &home).strip_prefix(&base).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn the_root_is_found_from_the_working_folder_upwards() {
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
        for (made, expected) in table {
            assert_eq!(root_with(made), expected, "{made:?}");
        }
    }

    #[test]
    fn a_file_called_kodelet_marks_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let cwd = scratch.path().join("a/b");
        fs::create_dir_all(&cwd).unwrap();
        fs::write(scratch.path().join("a/.kodelet"), "").unwrap();
        assert_eq!(project_root(&cwd, Path::new("/nowhere")), cwd);
    }

    #[test]
    fn a_home_folder_that_is_reached_by_a_link_is_still_home() {
        let scratch = tempfile::tempdir().unwrap();
        let real = scratch.path().join("real");
        fs::create_dir_all(real.join(".kodelet")).unwrap();
        fs::create_dir_all(real.join("work")).unwrap();
        let link = scratch.path().join("link");
        symlink(&real, &link).unwrap();
        assert_eq!(project_root(&real.join("work"), &link), real.join("work"));
    }
}
