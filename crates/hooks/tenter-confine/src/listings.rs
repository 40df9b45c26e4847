//! Listings of a few directories, read once: a look-up of each of some hundred names takes longer.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Maximum number of names in a directory that is listed.
const MAX_NAMES: usize = 1_000;

/// Directories whose names are known once they are needed.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    directories: Vec<Listing>,
}

#[derive(Debug)]
struct Listing {
    directory: PathBuf,
    /// The names in lower case, because a file system may ignore case; `None` if the directory cannot be read or has too many.
    names: OnceCell<Option<HashSet<Vec<u8>>>>,
}

impl Listings {
    /// Creates listings of these directories.
    pub(crate) fn new(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        let listing = |directory| Listing { directory, names: OnceCell::new() };
        Self { directories: directories.into_iter().map(listing).collect() }
    }

    /// Returns true if something exists at the absolute path `path`, even a dangling symlink.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.may_have(path) && fs::symlink_metadata(path).is_ok()
    }

    /// Returns false only if nothing exists at the absolute path `path`.
    pub(crate) fn may_have(&self, path: &Path) -> bool {
        self.directories.iter().all(|listing| listing.may_have(path))
    }
}

impl Listing {
    fn may_have(&self, path: &Path) -> bool {
        let Ok(rest) = path.strip_prefix(&self.directory) else { return true };
        let Some(name) = rest.iter().next() else { return true };
        let names = self.names.get_or_init(|| names_in(&self.directory));
        let name = name.as_bytes();
        let is_listed = |names: &HashSet<Vec<u8>>| names.contains(&name.to_ascii_lowercase());
        name == b".." || !name.is_ascii() || names.as_ref().is_none_or(is_listed)
    }
}

fn names_in(directory: &Path) -> Option<HashSet<Vec<u8>>> {
    let mut names = HashSet::new();
    for entry in fs::read_dir(directory).ok()? {
        names.insert(entry.ok()?.file_name().as_bytes().to_ascii_lowercase());
        if names.len() > MAX_NAMES {
            return None;
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_listed_does_not_exist() {
        let directory = tempfile::tempdir().unwrap();
        let root = &directory.path().join("root");
        fs::create_dir_all(root.join(".Config")).unwrap();
        std::os::unix::fs::symlink("missing", root.join("dangling")).unwrap();
        let listings = Listings::new([root.to_owned(), root.join("unreadable")]);
        for (path, may_have, has) in [
            (".Config", true, true),
            (".config", true, false),
            (".config/x", true, false),
            (".aws", false, false),
            (".aws/credentials", false, false),
            ("dangling", true, true),
            ("ü", true, false),
            ("../x", true, false),
            ("unreadable/x", false, false),
        ] {
            assert_eq!(listings.may_have(&root.join(path)), may_have, "{path}");
            assert_eq!(listings.has(&root.join(path)), has, "{path}");
        }
        assert!(listings.may_have(Path::new("/elsewhere")));
        assert!(Listings::default().may_have(root));
    }
}
