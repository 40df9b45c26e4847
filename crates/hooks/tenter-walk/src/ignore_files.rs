//! The ignore files that a search applies: `.ignore`, `.gitignore` and `.git/info/exclude`.
//!
//! They are untrusted (R78): only regular files of bounded size are read, and none above the top directory of the search.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tenter_base::untrusted_file;

/// Maximum size of an ignore file in bytes. A larger one is not applied: compiling a crafted one of twice the size takes
/// longer than a second, and that cannot be cancelled.
const MAX_FILE: u64 = 128 << 10;

/// Maximum size of all ignore files of a search, in bytes. Those beyond it are not applied.
const MAX_ALL: u64 = 16 << 20;

/// The rules of the directory that a walk is in: its own rules and the rules of the directories above it.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    /// From the top down: one per level of the walk, after those above the walk's root.
    directories: Vec<DirectoryRules>,
    bytes_left: u64,
}

/// The rules that one directory adds; empty if it has no ignore file.
#[derive(Debug, Default)]
struct DirectoryRules {
    ignore: Option<Gitignore>,
    gitignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// True if a repository starts here: no `.gitignore` above applies to it.
    is_repository: bool,
}

impl IgnoreRules {
    /// Returns the rules for a walk of `root`, including the rules of the directories above it up to `top`.
    pub(super) fn above(root: &Path, top: &Path) -> Self {
        let mut rules = Self { directories: Vec::new(), bytes_left: MAX_ALL };
        let above = root.ancestors().skip(1).take_while(|directory| directory.starts_with(top));
        let above: Vec<&Path> = above.collect();
        for directory in above.into_iter().rev() {
            rules.enter(directory, |name| directory.join(name).symlink_metadata().is_ok());
        }
        rules
    }

    /// Adds the rules of `directory`; `has` tells whether the directory contains a name.
    pub(super) fn enter(&mut self, directory: &Path, has: impl Fn(&str) -> bool) {
        let mut read = |name: &str| self.read(directory, name);
        let is_repository = has(".git");
        let rules = DirectoryRules {
            ignore: if has(".ignore") { read(".ignore") } else { None },
            gitignore: if has(".gitignore") { read(".gitignore") } else { None },
            exclude: if is_repository { read(".git/info/exclude") } else { None },
            is_repository,
        };
        self.directories.push(rules);
    }

    /// Removes the rules of the directory that was entered last.
    pub(super) fn leave(&mut self) {
        self.directories.pop();
    }

    /// Returns true if `path`, which is in the directory that was entered last, is excluded. As in ripgrep, `.ignore` takes
    /// precedence over `.gitignore`, which takes precedence over `exclude`, and the nearest directory over those above.
    pub(super) fn excludes(&self, path: &Path, is_directory: bool) -> bool {
        let decided = |rules: Option<&Gitignore>| match rules?.matched(path, is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let top =
            self.directories.iter().rposition(|directory| directory.is_repository).unwrap_or(0);
        let repository = || self.directories[top..].iter().rev();
        let ignore =
            self.directories.iter().rev().find_map(|directory| decided(directory.ignore.as_ref()));
        ignore
            .or_else(|| repository().find_map(|directory| decided(directory.gitignore.as_ref())))
            .or_else(|| repository().find_map(|directory| decided(directory.exclude.as_ref())))
            .unwrap_or(false)
    }

    fn read(&mut self, directory: &Path, name: &str) -> Option<Gitignore> {
        let limit = MAX_FILE.min(self.bytes_left);
        let bytes = untrusted_file::read_prefix(&directory.join(name), limit + 1).ok()?;
        self.bytes_left = self.bytes_left.saturating_sub(bytes.len() as u64);
        if bytes.len() as u64 > limit {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut builder = GitignoreBuilder::new(directory);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // An invalid line must not disable the others.
            let _ = builder.add_line(None, line);
        }
        builder.build().ok()
    }
}
