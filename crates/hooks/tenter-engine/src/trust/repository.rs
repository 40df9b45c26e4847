//! Identifies a project across all worktrees of its git repository. Reads `.git` files itself, without running git.
//!
//! A project's `.git` file names its repository, and could name any. So the repository must name the worktree too, in a
//! file that only its owner can have written.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tenter_base::untrusted_file;

/// Maximum length of a `.git`, `commondir` or `gitdir` file in bytes.
const MAX_BYTES: u64 = 8 * 1024;
/// Maximum number of worktrees of a repository.
const MAX_WORKTREES: usize = 64;

/// Returns the path in the main worktree that corresponds to `project`, if `project` is in a linked worktree; of a bare
/// repository, which has no main worktree, the path in the repository's own directory.
pub(super) fn in_main_worktree(project: &Path) -> Option<PathBuf> {
    let project = fs::canonicalize(project).ok()?;
    let top = project.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok())?;
    let main = main_worktree(top)?;
    let within = project.strip_prefix(top).ok()?;
    Some(if within.as_os_str().is_empty() { main } else { main.join(within) })
}

/// Returns the worktrees of the repository that `project` is in, besides its own; as real paths.
pub(crate) fn worktrees(project: &Path) -> Vec<PathBuf> {
    let Some((top, common)) = fs::canonicalize(project).ok().and_then(|it| repository_of(&it))
    else {
        return Vec::new();
    };
    let main = common.parent().filter(|_| !is_bare(&common)).map(Path::to_path_buf);
    let entries = fs::read_dir(common.join("worktrees")).into_iter().flatten();
    let directories = entries.take(MAX_WORKTREES).flatten().filter_map(|entry| {
        let dot_git = entry.path().join(first_line(&entry.path().join("gitdir")).ok()?);
        let worktree = fs::canonicalize(dot_git.parent()?).ok()?;
        // A deleted worktree is still named; something else may be at its path.
        (common_of(&worktree)? == common).then_some(worktree)
    });
    main.into_iter().chain(directories).filter(|worktree| *worktree != top).collect()
}

/// Returns the worktree that `project` is in, and the repository's own directory.
fn repository_of(project: &Path) -> Option<(PathBuf, PathBuf)> {
    let top = project.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok())?;
    let dot_git = top.join(".git");
    let common = if dot_git.is_dir() { fs::canonicalize(&dot_git).ok()? } else { common_of(top)? };
    Some((top.to_path_buf(), common))
}

fn is_bare(common: &Path) -> bool {
    common.file_name() != Some(".git".as_ref())
}

/// Returns the main worktree of the repository that `top` is a linked worktree of; of a bare repository, its own directory.
fn main_worktree(top: &Path) -> Option<PathBuf> {
    let common = common_of(top)?;
    if is_bare(&common) { Some(common) } else { common.parent().map(Path::to_path_buf) }
}

/// Returns the own directory of the repository that `top` is a linked worktree of, if the repository names the worktree, too.
fn common_of(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    let line = first_line(&dot_git).ok()?;
    let git_dir = fs::canonicalize(top.join(line.strip_prefix("gitdir:")?.trim())).ok()?;
    let common =
        fs::canonicalize(git_dir.join(first_line(&git_dir.join("commondir")).ok()?)).ok()?;
    let is_entry_of_common = git_dir.parent() == Some(common.join("worktrees").as_path());
    let directories =
        fs::canonicalize(git_dir.join(first_line(&git_dir.join("gitdir")).ok()?)).ok()?;
    let names_worktree = directories == dot_git;
    let owner = |path: &Path| fs::symlink_metadata(path).ok().map(|metadata| metadata.uid());
    // A deleted worktree is still named; another user may have put something else at its path.
    let has_one_owner = owner(&dot_git) == owner(&git_dir);
    (is_entry_of_common && names_worktree && has_one_owner).then_some(common)
}

fn first_line(path: &Path) -> io::Result<String> {
    let bytes = untrusted_file::read_prefix(path, MAX_BYTES)?;
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    Ok(text.lines().next().unwrap_or_default().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a repository `main` with a linked worktree `linked`, as git writes them.
    fn repository() -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        let entry = base.join("main/.git/worktrees/linked");
        fs::create_dir_all(&entry).unwrap();
        fs::create_dir_all(base.join("linked/sub")).unwrap();
        fs::create_dir_all(base.join("main/sub")).unwrap();
        fs::write(entry.join("commondir"), "../..\n").unwrap();
        fs::write(entry.join("gitdir"), format!("{}\n", base.join("linked/.git").display()))
            .unwrap();
        fs::write(base.join("linked/.git"), format!("gitdir: {}\n", entry.display())).unwrap();
        (scratch, base)
    }

    #[test]
    fn a_linked_worktree_leads_to_the_main_one() {
        let (_scratch, base) = repository();
        assert_eq!(in_main_worktree(&base.join("linked")), Some(base.join("main")));
        assert_eq!(in_main_worktree(&base.join("linked/sub")), Some(base.join("main/sub")));
        assert_eq!(in_main_worktree(&base.join("main")), None);
        assert_eq!(in_main_worktree(&base.join("main/sub")), None);
    }

    #[test]
    fn paths_in_git_files_may_be_relative() {
        let (_scratch, base) = repository();
        fs::write(base.join("linked/.git"), "gitdir: ../main/.git/worktrees/linked\n").unwrap();
        let back = base.join("main/.git/worktrees/linked/gitdir");
        fs::write(back, "../../../../linked/.git\n").unwrap();
        assert_eq!(in_main_worktree(&base.join("linked")), Some(base.join("main")));
    }

    #[test]
    fn worktrees_of_a_bare_repository_share_its_own_directory() {
        let (_scratch, base) = repository();
        fs::rename(base.join("main/.git"), base.join("bare")).unwrap();
        let entry = base.join("bare/worktrees/linked");
        fs::write(base.join("linked/.git"), format!("gitdir: {}\n", entry.display())).unwrap();
        assert_eq!(in_main_worktree(&base.join("linked")), Some(base.join("bare")));
    }

    #[test]
    fn worktrees_are_listed_if_they_and_the_repository_name_each_other() {
        let (_scratch, base) = repository();
        assert_eq!(worktrees(&base.join("main/sub")), [base.join("linked")]);
        assert_eq!(worktrees(&base.join("linked")), [base.join("main")]);
        fs::remove_file(base.join("linked/.git")).unwrap();
        assert_eq!(worktrees(&base.join("main")), Vec::<PathBuf>::new());
        assert_eq!(worktrees(&base), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_directory_that_the_repository_does_not_name_is_no_worktree_of_it() {
        let (_scratch, base) = repository();
        let forged = base.join("forged");
        fs::create_dir(&forged).unwrap();
        fs::copy(base.join("linked/.git"), forged.join(".git")).unwrap();
        assert_eq!(in_main_worktree(&forged), None);
        // A directory that names the repository as its common directory, but is outside the repository.
        let entry = forged.join("entry");
        fs::create_dir(&entry).unwrap();
        fs::write(entry.join("commondir"), base.join("main/.git").to_str().unwrap()).unwrap();
        fs::write(entry.join("gitdir"), forged.join(".git").to_str().unwrap()).unwrap();
        fs::write(forged.join(".git"), "gitdir: entry").unwrap();
        assert_eq!(in_main_worktree(&forged), None);
    }

    #[test]
    fn endless_files_and_fifos_are_not_git_files() {
        let (_scratch, base) = repository();
        let dot_git = base.join("linked/.git");
        for target in ["/dev/zero", "/dev/null"] {
            fs::remove_file(&dot_git).unwrap();
            std::os::unix::fs::symlink(target, &dot_git).unwrap();
            assert_eq!(in_main_worktree(&base.join("linked")), None);
        }
        fs::remove_file(&dot_git).unwrap();
        let mode = 0o644.into();
        rustix::fs::mknodat(rustix::fs::CWD, &dot_git, rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
        assert_eq!(in_main_worktree(&base.join("linked")), None);
    }
}
