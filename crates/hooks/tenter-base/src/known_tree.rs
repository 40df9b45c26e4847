//! Looks at a tree again without reading its directories: as long as none of them changed, they have the same entries.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file_stamp::FileStamp;
use crate::tree::Tree;

/// The names in a tree, and the stamps of its directories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownTree {
    directories: Vec<(String, FileStamp)>,
    files: Vec<String>,
}

impl KnownTree {
    /// Creates what is known of a tree that was read at `time`, as [`now_ns`](crate::file_stamp::now_ns) returns it, or after it. Returns `None`
    /// if a directory had changed a moment before, or if a name is not UTF-8.
    pub fn new(tree: &Tree, time: i128) -> Option<Self> {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let directories = tree.directories.iter().map(|(path, stamp)| {
            Some((text(path)?, *stamp)).filter(|(_, stamp)| stamp.is_settled_at(time))
        });
        Some(Self {
            directories: directories.collect::<Option<_>>()?,
            files: tree.files.iter().map(|(path, _)| text(path)).collect::<Option<_>>()?,
        })
    }

    /// Returns the tree in `directory` as it is now; `None` if a directory of it changed, or a file is missing.
    pub fn look_again(&self, directory: &Path) -> Option<Tree> {
        let mut tree = Tree::default();
        for (name, earlier) in &self.directories {
            let metadata = fs::metadata(directory.join(name)).ok()?;
            let stamp = FileStamp::new(&metadata);
            if stamp != *earlier {
                return None;
            }
            tree.add_directory(PathBuf::from(name), stamp);
        }
        for name in &self.files {
            let metadata = fs::metadata(directory.join(name)).ok()?;
            if metadata.is_dir() {
                return None;
            }
            tree.add_file(PathBuf::from(name), FileStamp::new(&metadata));
        }
        tree.sort();
        Some(tree)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::file_stamp::now_ns;
    use crate::tree::TreeRules;

    fn read(directory: &Path) -> Tree {
        Tree::read(directory, &TreeRules::all(100)).unwrap()
    }

    /// Creates a tree, and what is known of it once its directories have not changed for long enough.
    fn create(scratch: &Path) -> KnownTree {
        fs::create_dir_all(scratch.join("hook/scripts")).unwrap();
        fs::create_dir(scratch.join("elsewhere")).unwrap();
        fs::write(scratch.join("elsewhere/file"), "a").unwrap();
        fs::write(scratch.join("hook/HOOK.md"), "a").unwrap();
        fs::write(scratch.join("hook/scripts/run"), "a").unwrap();
        symlink("../elsewhere", scratch.join("hook/linked")).unwrap();
        symlink("../elsewhere/file", scratch.join("hook/link")).unwrap();
        fs::set_permissions(scratch.join("hook/HOOK.md"), Permissions::from_mode(0o666)).unwrap();
        let tree = read(&scratch.join("hook"));
        assert_eq!(KnownTree::new(&tree, now_ns()), None, "its directories have just changed");
        // File systems count time in steps: what changes next must have another time.
        let newest = tree.directories.iter().map(|(_, stamp)| stamp.changed_ns()).max();
        let probe = scratch.join("probe");
        let latest = || {
            fs::write(&probe, "").unwrap();
            Some(FileStamp::new(&fs::metadata(&probe).unwrap()).changed_ns())
        };
        while latest() <= newest {
            std::thread::yield_now();
        }
        KnownTree::new(&tree, now_ns() + 10_000_000_000).unwrap()
    }

    #[test]
    fn a_tree_whose_directories_did_not_change_is_the_same_as_if_it_were_read() {
        let scratch = tempfile::tempdir().unwrap();
        let (names, hook) = (create(scratch.path()), scratch.path().join("hook"));
        let first = names.look_again(&hook).unwrap();
        assert_eq!(first, read(&hook));
        assert_eq!(first.writable_by_others, [Path::new("HOOK.md")]);
        fs::write(hook.join("scripts/run"), "longer").unwrap();
        let second = names.look_again(&hook).unwrap();
        assert_eq!(second, read(&hook));
        assert_ne!(first, second);
    }

    #[test]
    fn each_change_of_a_directory_is_seen() {
        type Change = fn(&Path);
        let changes: [(&str, Change); 9] = [
            ("a new file", |at| fs::write(at.join("hook/new"), "").unwrap()),
            ("a new file below", |at| fs::write(at.join("hook/scripts/new"), "").unwrap()),
            ("a new file in a linked directory", |at| {
                fs::write(at.join("elsewhere/new"), "").unwrap();
            }),
            ("a removed file", |at| fs::remove_file(at.join("hook/scripts/run")).unwrap()),
            ("a renamed file", |at| {
                fs::rename(at.join("hook/HOOK.md"), at.join("hook/hook.md")).unwrap();
            }),
            ("another link", |at| {
                fs::remove_file(at.join("hook/link")).unwrap();
                symlink("scripts/run", at.join("hook/link")).unwrap();
            }),
            ("a directory instead of a linked file", |at| {
                fs::rename(at.join("elsewhere/file"), at.join("moved")).unwrap();
                fs::create_dir(at.join("elsewhere/file")).unwrap();
            }),
            ("other rights", |at| {
                fs::set_permissions(at.join("hook/scripts"), Permissions::from_mode(0o777))
                    .unwrap();
            }),
            ("another directory of its name", |at| {
                fs::rename(at.join("hook"), at.join("old")).unwrap();
                fs::create_dir(at.join("hook")).unwrap();
                File::create(at.join("hook/HOOK.md")).unwrap();
            }),
        ];
        for (what, change) in changes {
            let scratch = tempfile::tempdir().unwrap();
            let names = create(scratch.path());
            change(scratch.path());
            assert_eq!(names.look_again(&scratch.path().join("hook")), None, "{what}");
        }
    }
}
