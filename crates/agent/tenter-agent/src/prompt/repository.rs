//! The git state of a directory, read from its files without running git.

use std::fmt;
use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;

/// Maximum number of bytes read of git's files; only the first line matters.
const HEAD: u64 = 4096;

/// The git state of a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Repository {
    /// Not the top directory of a repository.
    None,
    /// A repository with a detached or unreadable head.
    Detached,
    /// A repository on this branch.
    Branch(String),
}

impl Repository {
    /// Reads the state of `directory`.
    pub(super) fn read(directory: &Path) -> Self {
        let dot_git = directory.join(".git");
        if !dot_git.exists() {
            return Self::None;
        }
        let head = first_line(&git_directory(directory, dot_git).join("HEAD"));
        let branch = head.as_deref().and_then(|line| line.strip_prefix("ref: refs/heads/"));
        branch.map_or(Self::Detached, |branch| Self::Branch(branch.to_owned()))
    }
}

// In a linked worktree or a submodule, `.git` is a file that contains the path of the git directory.
fn git_directory(directory: &Path, dot_git: PathBuf) -> PathBuf {
    let line = first_line(&dot_git);
    let elsewhere = line.as_deref().and_then(|line| line.strip_prefix("gitdir: "));
    elsewhere.map_or(dot_git, |path| directory.join(path))
}

fn first_line(path: &Path) -> Option<String> {
    untrusted_file::first_line(path, HEAD).ok().map(|line| line.trim_end().to_owned())
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("the project directory is not the top of a repository"),
            Self::Detached => f.write_str("a repository, not on a branch"),
            Self::Branch(branch) => write!(f, "a repository, on the branch {branch}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_branch_is_in_head() {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path();
        assert_eq!(Repository::read(project), Repository::None);
        fs::create_dir(project.join(".git")).unwrap();
        assert_eq!(Repository::read(project), Repository::Detached);
        write(&project.join(".git/HEAD"), "ref: refs/heads/fix/it\n");
        assert_eq!(Repository::read(project), Repository::Branch("fix/it".into()));
        write(&project.join(".git/HEAD"), "3b18e512dba79e4c8300dd08aeb37f8e728b8dad\n");
        assert_eq!(Repository::read(project), Repository::Detached);
    }

    #[test]
    fn a_linked_worktree_refers_to_its_head() {
        let directory = tempfile::tempdir().unwrap();
        write(&directory.path().join("main/.git/worktrees/side/HEAD"), "ref: refs/heads/side\n");
        write(&directory.path().join("side/.git"), "gitdir: ../main/.git/worktrees/side\n");
        let repository = Repository::read(&directory.path().join("side"));
        assert_eq!(repository, Repository::Branch("side".into()));
    }
}
