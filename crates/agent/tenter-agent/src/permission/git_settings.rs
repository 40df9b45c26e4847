//! The settings of a repository, as far as they can make a reading `git` start a program.
//!
//! `git status` starts the program in `core.fsmonitor`, and the hook `post-index-change`. A repository that was unpacked, not cloned,
//! may bring both. So `git` runs without a question only if all settings of the repository are known to start nothing.

use std::fs;
use std::path::Path;

use tenter_base::untrusted_file;

/// Maximum size of a file of settings, in bytes.
const MAX_SIZE: u64 = 64 << 10;
/// The settings that start no program, as `section.key`.
const HARMLESS: &[&str] = tenter_base::words!(
    "core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase
     core.precomposeunicode core.symlinks core.autocrlf core.eol
     remote.url remote.pushurl remote.fetch remote.tagopt remote.prune
     branch.remote branch.merge branch.rebase branch.description branch.vscode-merge-base
     user.name user.email user.signingkey init.defaultbranch pull.rebase pull.ff
     push.default push.autosetupremote submodule.url submodule.active"
);

/// Returns whether reading commands of `git` start no program in the repository whose top directory is `top`.
pub(super) fn start_no_program(top: &Path) -> bool {
    let git = top.join(".git");
    let is_absent = |name: &str| fs::symlink_metadata(git.join(name)).is_err();
    is_absent("hooks/post-index-change")
        && is_absent("config.worktree")
        && is_absent("commondir")
        && untrusted_file::read_no_follow(&git.join("config"), MAX_SIZE)
            .is_ok_and(|bytes| String::from_utf8(bytes).is_ok_and(|text| is_harmless(&text)))
}

/// Returns whether all settings of a file are harmless. A line that is continued or quoted in an unusual way is not.
fn is_harmless(text: &str) -> bool {
    let mut section = String::new();
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['#', ';']))
        .all(|line| {
            if let Some(header) = line.strip_prefix('[') {
                let Some(header) = header.strip_suffix(']') else { return false };
                let name = header.split(' ').next().unwrap_or_default();
                section = name.to_ascii_lowercase() + ".";
                return HARMLESS.iter().any(|key| key.starts_with(&section));
            }
            let key = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
            HARMLESS.contains(&(section.clone() + &key).as_str()) && !line.ends_with('\\')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\
                         \turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                         [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn only_known_settings_are_harmless() {
        assert!(is_harmless(USUAL) && is_harmless(""));
        for line in [
            "[core]\n\tfsmonitor = touch x",
            "[core] fsmonitor = touch x",
            "[CORE]\n\tFsMonitor = touch x",
            "fsmonitor = touch x",
            "[core]\n\tpager = less",
            "[include]\n\tpath = x",
            "[diff \"x\"]\n\ttextconv = touch x",
            "[filter \"x\"]\n\tclean = touch x",
            "[core]\n\tbare = false \\\n\tfsmonitor = x",
            "[alias]\n\tlog = !touch x",
            "[core]]\n\tbare = false",
        ] {
            assert!(!is_harmless(&format!("{USUAL}{line}\n")), "{line}");
        }
    }

    #[test]
    fn a_hook_that_reading_commands_start_is_a_program() {
        let scratch = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = scratch.path().join(".git").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert!(!start_no_program(scratch.path()), "its settings are missing");
        write("config", USUAL);
        write("hooks/pre-commit", "");
        assert!(start_no_program(scratch.path()));
        write("hooks/post-index-change", "");
        assert!(!start_no_program(scratch.path()));
    }
}
