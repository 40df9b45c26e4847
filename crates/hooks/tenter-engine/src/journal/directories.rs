//! The directories that journals are in: Tenter's own, and where hooks in other agents write (B43).

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use tenter_base::destination;

use super::reader::{self, JournalLines, JournalTail, NewestLines};

/// Directories with journals, each of them once. A conversation has its journal in one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalDirectories {
    first: PathBuf,
    others: Vec<PathBuf>,
}

impl JournalDirectories {
    /// Creates the journals in `directory`.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { first: directory.into(), others: Vec::new() }
    }

    /// Adds the journals in `directory`, unless it is one of the directories under another name.
    #[must_use]
    pub fn and(mut self, directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        if !self.all().any(|other| is_same(other, &directory)) {
            self.others.push(directory);
        }
        self
    }

    /// Returns the directory that a user looks at first.
    pub fn first(&self) -> &Path {
        &self.first
    }

    /// Returns all directories.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.first).chain(&self.others).map(PathBuf::as_path)
    }

    /// Returns the file of a conversation's journal. One that does not exist would be in the first directory.
    pub fn path(&self, conversation: &str) -> PathBuf {
        let mut paths = self.all().map(|directory| reader::path(directory, conversation));
        let existing = paths.find(|path| fs::symlink_metadata(path).is_ok());
        existing.unwrap_or_else(|| reader::path(&self.first, conversation))
    }

    /// Returns the conversations that have a journal, oldest first by the time of their last line.
    ///
    /// # Errors
    /// When a directory is there but cannot be read.
    pub fn conversations(&self) -> io::Result<Vec<String>> {
        let dated = self.dated_conversations()?;
        Ok(dated.into_iter().map(|(_, conversation)| conversation).collect())
    }

    /// Returns the conversations that have a journal, with the time at which it was last written, oldest first.
    ///
    /// # Errors
    /// When a directory is there but cannot be read.
    pub fn dated_conversations(&self) -> io::Result<Vec<(SystemTime, String)>> {
        let mut dated = Vec::new();
        for directory in self.all() {
            dated.extend(reader::dated_conversations(directory)?);
        }
        dated.sort();
        if self.others.is_empty() {
            return Ok(dated);
        }
        let mut names = std::collections::BTreeSet::new();
        dated.reverse();
        dated.retain(|(_, id)| names.insert(id.clone()));
        dated.reverse();
        Ok(dated)
    }

    /// Reads the whole journal of a conversation. An incomplete last line counts as unreadable.
    ///
    /// # Errors
    /// As [`JournalTail::read`].
    pub fn read(&self, conversation: &str) -> io::Result<JournalLines> {
        let mut lines = self.tail(conversation).read()?;
        lines.unreadable += usize::from(lines.unfinished);
        Ok(lines)
    }

    /// Returns the lines of a conversation's journal, from its end; `None` if it has no journal.
    ///
    /// # Errors
    /// When the file is there but cannot be read.
    pub fn newest(&self, conversation: &str) -> io::Result<Option<NewestLines>> {
        NewestLines::open(self.path(conversation))
    }

    /// Returns the start of a conversation's journal.
    pub fn tail(&self, conversation: &str) -> JournalTail {
        JournalTail::from_file(self.path(conversation))
    }
}

impl From<&Path> for JournalDirectories {
    fn from(directory: &Path) -> Self {
        Self::new(directory)
    }
}

impl From<&JournalDirectories> for JournalDirectories {
    fn from(directories: &JournalDirectories) -> Self {
        directories.clone()
    }
}

/// Returns whether both paths lead to the same directory, now or once it is created.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity =
        |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let real = |path: &Path| destination(path).unwrap_or_else(|_| path.to_owned());
    identity(one).is_some_and(|one| identity(other) == Some(one)) || real(one) == real(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_of_all_directories_are_found_and_each_directory_counts_once() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = |name: &str| scratch.path().join(name);
        let link = directory("link");
        std::os::unix::fs::symlink("b", &link).unwrap();
        let journals = JournalDirectories::new(directory("a")).and(directory("b"));
        let journals = journals.and(directory("x/../b")).and(&link);
        assert_eq!(journals.conversations().unwrap(), Vec::<String>::new());
        for (name, conversation) in [("a", "one"), ("b", "two")] {
            fs::create_dir(directory(name)).unwrap();
            fs::write(reader::path(&directory(name), conversation), "{}\n").unwrap();
        }
        assert_eq!(journals.all().count(), 2, "{journals:?}");
        assert_eq!(journals.conversations().unwrap().len(), 2);
        assert!(journals.path("two").starts_with(directory("b")));
        assert!(journals.path("new").starts_with(directory("a")));
        assert_eq!(journals.clone().and(&link), journals);
    }
}
