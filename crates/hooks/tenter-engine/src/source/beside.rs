//! The helper files of a hooks directory: files that an executable may source, import or call by its own directory (R72).

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_base::tree::TreeRules;

use super::scan::{DISABLED_SUFFIX, is_manifest_file, is_skipped, manifest_file};

/// Maximum number of helper files in a hooks directory.
pub(crate) const MAX_HELPERS: usize = 200;
/// Maximum size of all helper files of a hooks directory, in bytes.
pub(crate) const MAX_HELPER_BYTES: u64 = 10 << 20;

/// The helper files of a hooks directory: everything but hooks, settings, backups, documentation, logs and caches.
pub(crate) const HELPERS: TreeRules =
    TreeRules { files: MAX_HELPERS, skip_broken: true, counts: is_helper };

fn is_helper(path: &Path, within: &Path, metadata: &Metadata) -> bool {
    let is_at_top = within.components().count() == 1;
    let kind = metadata.file_type();
    (kind.is_file() || kind.is_dir())
        && !is_ignored(within)
        && !(is_at_top && is_hook(path, metadata))
}

fn is_ignored(within: &Path) -> bool {
    let Some(file_name) = within.file_name() else { return false };
    let name = file_name.as_encoded_bytes();
    let is_document =
        name.starts_with(b"README") || (name.ends_with(b".md") && !is_manifest_file(file_name));
    is_skipped(file_name) || is_document || name.ends_with(b".log") || name == b"__pycache__"
}

/// Returns whether the entry of a hooks directory is a hook, which has a fingerprint of its own.
fn is_hook(path: &Path, metadata: &Metadata) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(DISABLED_SUFFIX.as_bytes())
        || if metadata.is_dir() {
            manifest_file(path).is_ok_and(|manifest| manifest.is_some())
        } else {
            metadata.permissions().mode() & 0o111 != 0
        }
}

/// Returns the path with `.disable` removed from its first component.
pub(crate) fn as_enabled(within: &Path) -> PathBuf {
    let mut parts = within.components();
    let Some(top) = parts.next().and_then(|top| top.as_os_str().to_str()) else {
        return within.to_owned();
    };
    Path::new(top.strip_suffix(DISABLED_SUFFIX).unwrap_or(top)).join(parts.as_path())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::super::SETTINGS_FILE;
    use super::*;
    use tenter_base::tree::Tree;

    #[test]
    fn helpers_exclude_hooks_settings_documents_and_caches() {
        let scratch = tempfile::tempdir().unwrap();
        let put = |name: &str, mode: u32| {
            let path = scratch.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        };
        for hook in ["guard", "old.disable", "manifest/HOOK.md", "manifest/scripts/lib.sh"] {
            put(hook, 0o755);
        }
        for other in [
            SETTINGS_FILE,
            "README",
            "README.txt",
            "notes.md",
            "audit.log",
            ".hidden",
            "lib.sh~",
            "__pycache__/lib.pyc",
            ".git/config",
            "lib/README.md",
            "lib/debug.log",
        ] {
            put(other, 0o644);
        }
        let helpers = ["data.json", "lib/deep/more.py", "lib/tool", "lib.sh"];
        for helper in helpers {
            put(helper, 0o644);
        }
        put("lib/tool", 0o755);
        std::os::unix::fs::symlink("nowhere", scratch.path().join("dangling")).unwrap();
        let tree = Tree::read(scratch.path(), &HELPERS).unwrap();
        let names: Vec<&str> = tree.files.iter().map(|(path, _)| path.to_str().unwrap()).collect();
        assert_eq!(names, helpers);
    }

    #[test]
    fn there_may_be_two_hundred_helpers() {
        let scratch = tempfile::tempdir().unwrap();
        for index in 0..MAX_HELPERS {
            fs::write(scratch.path().join(index.to_string()), "").unwrap();
        }
        assert_eq!(Tree::read(scratch.path(), &HELPERS).unwrap().files.len(), MAX_HELPERS);
        fs::write(scratch.path().join("one-more"), "").unwrap();
        assert!(Tree::read(scratch.path(), &HELPERS).is_err());
    }

    #[test]
    fn a_disabled_entry_counts_under_its_name() {
        for (within, expected) in
            [("a.disable/b.disable", "a/b.disable"), ("a/b", "a/b"), ("a.disable", "a")]
        {
            assert_eq!(as_enabled(Path::new(within)), Path::new(expected));
        }
    }
}
