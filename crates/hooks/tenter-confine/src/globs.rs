//! Expands globs to the paths that exist: the kernel takes paths, not patterns.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::listings::Listings;

/// Maximum number of directory entries that one expansion reads.
const MAX_ENTRIES: usize = 20_000;
/// Maximum depth of `**` below its directory.
const MAX_DEPTH: usize = 6;
/// Directories that `**` does not enter: large, and made by tools.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// The paths that globs match.
#[derive(Debug)]
pub(crate) struct Expansion<'a> {
    /// The paths that exist.
    pub(crate) paths: Vec<PathBuf>,
    listings: &'a Listings,
    entries: usize,
}

impl<'a> Expansion<'a> {
    /// Creates an expansion without paths.
    pub(crate) fn new(listings: &'a Listings) -> Self {
        Self { paths: Vec::new(), listings, entries: 0 }
    }

    /// Adds what `pattern`, an absolute path, matches. A last `**` is the directory before it.
    pub(crate) fn add(&mut self, pattern: &Path) {
        let Ok(pattern) = pattern.strip_prefix("/") else { return };
        let components: Vec<&OsStr> = pattern.iter().collect();
        self.descend(Path::new("/"), &components);
    }

    /// Adds the files in `directory`, at any depth within limits, that match one of `names`: relative globs without `**`.
    pub(crate) fn add_anywhere(&mut self, directory: &Path, names: &[&str]) {
        let names: Vec<Vec<&OsStr>> =
            names.iter().map(|name| Path::new(name).iter().collect()).collect();
        self.walk(directory, &names, 0);
    }

    /// Returns true if a limit ended the search.
    pub(crate) fn is_truncated(&self) -> bool {
        self.entries >= MAX_ENTRIES
    }

    fn descend(&mut self, base: &Path, components: &[&OsStr]) {
        let Some((first, rest)) = components.split_first() else {
            if self.listings.has(base) {
                self.paths.push(base.to_owned());
            }
            return;
        };
        if !self.listings.may_have(base) {
            return;
        }
        if *first == "**" {
            if rest.is_empty() {
                self.descend(base, rest);
            } else {
                self.walk(base, &[rest.to_vec()], 0);
            }
        } else if is_pattern(first) {
            for name in self.entries(base) {
                if matches(first.as_bytes(), name.as_bytes()) {
                    self.descend(&base.join(name), rest);
                }
            }
        } else {
            self.descend(&base.join(first), rest);
        }
    }

    fn walk(&mut self, directory: &Path, patterns: &[Vec<&OsStr>], depth: usize) {
        for pattern in patterns.iter().filter(|pattern| pattern.len() > 1) {
            self.descend(directory, pattern);
        }
        for name in self.entries(directory) {
            let path = directory.join(&name);
            let is_match = |pattern: &Vec<&OsStr>| matches(pattern[0].as_bytes(), name.as_bytes());
            if patterns.iter().any(|pattern| pattern.len() == 1 && is_match(pattern)) {
                self.paths.push(path);
                continue;
            }
            let is_skipped = SKIPPED.iter().any(|name_to_skip| name == *name_to_skip);
            let is_directory = || fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir());
            if depth < MAX_DEPTH && !is_skipped && !self.is_truncated() && is_directory() {
                self.walk(&path, patterns, depth + 1);
            }
        }
    }

    fn entries(&mut self, directory: &Path) -> Vec<std::ffi::OsString> {
        let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
        let rest = MAX_ENTRIES.saturating_sub(self.entries);
        let names: Vec<_> = entries.flatten().take(rest).map(|entry| entry.file_name()).collect();
        self.entries += names.len();
        names
    }
}

fn is_pattern(component: &OsStr) -> bool {
    component.as_bytes().iter().any(|byte| matches!(byte, b'*' | b'?'))
}

/// Returns true if `pattern`, with `*` and `?`, matches `name`.
pub(crate) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, name)
                || name.split_first().is_some_and(|(_, tail)| matches(pattern, tail))
        }
        (Some((b'?', rest)), Some((_, tail))) => matches(rest, tail),
        (Some((first, rest)), Some((byte, tail))) => first == byte && matches(rest, tail),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_within_a_name() {
        for (pattern, name, expected) in [
            ("*.pem", "server.pem", true),
            ("*.pem", "server.pem.pub", false),
            (".env*", ".env.local", true),
            ("id_?sa", "id_rsa", true),
            ("*", "", true),
            ("a", "b", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn globs_become_the_paths_that_exist() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for path in ["a/.env", "a/b/.env", "a/b/key.pem", "node_modules/x/.env", "c/.ssh/id_rsa"] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "").unwrap();
        }
        let expand = |pattern: &str| {
            let listings = Listings::new([root.to_owned()]);
            let mut expansion = Expansion::new(&listings);
            expansion.add(&root.join(pattern));
            expansion.paths.sort();
            let relative = expansion.paths.iter().map(|path| path.strip_prefix(root).unwrap());
            relative.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(expand("**/.env"), ["a/.env", "a/b/.env"]);
        assert_eq!(expand("*/.ssh/**"), ["c/.ssh"]);
        assert_eq!(expand("a/b/*.pem"), ["a/b/key.pem"]);
        assert_eq!(expand("missing"), Vec::<String>::new());
        let listings = Listings::default();
        let mut anywhere = Expansion::new(&listings);
        anywhere.add_anywhere(root, &[".ssh/id_*", "*.pem"]);
        anywhere.paths.sort();
        assert_eq!(anywhere.paths, [root.join("a/b/key.pem"), root.join("c/.ssh/id_rsa")]);
    }
}
