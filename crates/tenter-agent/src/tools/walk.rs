//! Walking a folder as ripgrep does: by the ignore files, never through symbolic links, never into a version store.

use std::ffi::OsStr;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, Walk, WalkBuilder};

use super::ToolError;

/// The folders of version stores.
const STORES: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// The files and folders under `root` in the order of their paths, hidden ones too. `ignore_files` says whether
/// `.gitignore` and its like count; a person's own settings never do, they are in the home folder.
pub fn walk(root: &Path, ignore_files: bool) -> Walk {
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(ignore_files)
        .git_global(false)
        .require_git(false)
        .hidden(false)
        .follow_links(false)
        .current_dir(root)
        .filter_entry(|entry| entry.depth() == 0 || !is_store(entry))
        .sort_by_file_path(Path::cmp);
    builder.build()
}

fn is_store(entry: &DirEntry) -> bool {
    STORES.iter().any(|store| entry.file_name() == OsStr::new(store))
}

/// The matcher of a pattern in which `*` stays within one folder and `**` does not.
pub(crate) fn glob(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let built = GlobBuilder::new(pattern).literal_separator(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| ToolError::new(error.to_string()))
}
