//! `glob`: finds files and directories by name.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use tenter_base::rfc3339;
use tenter_protocol::tool_metadata::{Glob, GlobFile};
use tenter_walk::{SkipRules, WalkEntry, walk};

use super::Workspace;
use super::error::{ToolError, check_cancelled};
use super::input::NonEmpty;
use super::tool::{ToolContext, ToolEffect, TypedTool};

/// Maximum number of files in one result.
const MAX_FILES: usize = 100;

pub(crate) struct GlobTool;

/// Returns the matcher of a pattern in which `*` stays within one directory and `**` does not.
pub(super) fn path_matcher(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let result = GlobBuilder::new(pattern).literal_separator(true).build();
    result.map(|glob| glob.compile_matcher()).map_err(|error| ToolError::new(error.to_string()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GlobInput {
    /// The pattern, relative to `path`: `*` stays within one directory, `**/` matches any number of directories, `{a,b}`
    /// is either. For instance `**/*.rs` or `src/*.{js,ts}`.
    pattern: NonEmpty,
    /// The directory to look in. Default: the working directory.
    #[serde(default)]
    path: Option<NonEmpty>,
    /// Also find files that `.gitignore` and the like exclude. Default false.
    #[serde(default)]
    ignore_gitignore: bool,
}

impl TypedTool for GlobTool {
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = "Find files and directories by a pattern of their path, newest first, at most 100. Leaves out \
        what `.gitignore` excludes. To search in files, use `grep`.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = GlobInput;
    type Output = Glob;

    fn perform(&self, input: GlobInput, context: &ToolContext<'_>) -> Result<Glob, ToolError> {
        let workspace = context.workspace;
        let pattern = input.pattern.0;
        if Path::new(&pattern).is_absolute() {
            return Err(ToolError::new(format!(
                "{pattern} is absolute; give the directory as `path` and the rest as `pattern`"
            )));
        }
        let (root, display_path) = workspace.search_root(input.path.as_ref())?;
        if !root.is_dir() {
            return Err(ToolError::new(format!("{display_path} is not a directory")));
        }
        let matcher = path_matcher(pattern.strip_prefix("./").unwrap_or(&pattern))?;
        let all = input.ignore_gitignore;
        let leaving =
            if all { SkipRules::None } else { SkipRules::IgnoreFiles(workspace.top_of(&root)) };
        let mut newest = Newest::default();
        // A directory that cannot be read, or a file that has disappeared, must not hide the others.
        for entry in walk(&root, leaving, context.cancel).flatten() {
            let path = entry.path.strip_prefix(&root).unwrap_or(&entry.path);
            if !path.as_os_str().is_empty() && matcher.is_match(path) {
                newest.extend(MatchedFile::new(entry));
            }
        }
        check_cancelled(context.cancel)?;
        let (files, is_truncated) = newest.finish();
        let files = files.into_iter().map(|file| file.metadata(workspace)).collect();
        Ok(Glob { pattern, path: display_path, files, truncated: is_truncated })
    }
}

/// A file or directory whose path matches.
struct MatchedFile {
    path: PathBuf,
    modification_time: SystemTime,
    size: u64,
    is_directory: bool,
}

impl MatchedFile {
    /// Returns `None` for a file that has disappeared.
    fn new(entry: WalkEntry) -> Option<Self> {
        let metadata = entry.metadata().ok()?;
        Some(Self {
            modification_time: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            size: metadata.len(),
            is_directory: metadata.is_dir(),
            path: entry.path,
        })
    }

    fn metadata(self, workspace: &Workspace) -> GlobFile {
        GlobFile {
            path: workspace.display_path(&self.path),
            size: self.size,
            mod_time: Timestamp::try_from(self.modification_time).map(rfc3339).unwrap_or_default(),
            kind: if self.is_directory { "directory" } else { "file" }.to_owned(),
        }
    }
}

/// The newest of any number of files, in bounded memory.
#[derive(Default)]
struct Newest {
    files: Vec<MatchedFile>,
    dropped: bool,
}

impl Extend<MatchedFile> for Newest {
    fn extend<I: IntoIterator<Item = MatchedFile>>(&mut self, more: I) {
        self.files.extend(more);
        if self.files.len() >= MAX_FILES * 100 {
            self.cut();
        }
    }
}

impl Newest {
    /// Drops all but the newest [`MAX_FILES`] files, in the order of the result.
    fn cut(&mut self) {
        self.files.sort_by(|one, other| {
            (Reverse(one.modification_time), &one.path)
                .cmp(&(Reverse(other.modification_time), &other.path))
        });
        self.dropped |= self.files.len() > MAX_FILES;
        self.files.truncate(MAX_FILES);
    }

    /// Returns the newest files, and whether there were more.
    fn finish(mut self) -> (Vec<MatchedFile>, bool) {
        self.cut();
        (self.files, self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Bench;
    use serde_json::{Value, json};
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::time::{Duration, SystemTime};

    fn found(bench: &Bench, input: Value) -> Vec<String> {
        let metadata = bench.succeed("glob", input).metadata.unwrap();
        let mut paths: Vec<String> = metadata["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["path"].as_str().unwrap().to_owned())
            .collect();
        paths.sort();
        paths
    }

    fn set_age(bench: &Bench, name: &str, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - seconds);
        File::options().append(true).open(bench.path(name)).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn one_star_stays_within_a_directory_and_two_do_not() {
        let bench = Bench::new();
        for name in ["a.rs", "src/b.rs", "src/deep/c.rs", "src/d.toml", ".github/e.rs"] {
            bench.write(name, "");
        }
        assert_eq!(found(&bench, json!({"pattern": "*.rs"})), ["a.rs"]);
        assert_eq!(
            found(&bench, json!({"pattern": "./**/*.rs"})),
            [".github/e.rs", "a.rs", "src/b.rs", "src/deep/c.rs"]
        );
        assert_eq!(
            found(&bench, json!({"pattern": "*.{rs,toml}", "path": "src"})),
            ["src/b.rs", "src/d.toml"]
        );
        assert_eq!(
            found(&bench, json!({"pattern": "src/*"})),
            ["src/b.rs", "src/d.toml", "src/deep"]
        );
    }

    #[test]
    fn the_newest_come_first_with_their_size_and_time() {
        let bench = Bench::new();
        bench.write("old", "1");
        bench.write("new", "22");
        bench.write("middle", "333");
        set_age(&bench, "old", 300);
        set_age(&bench, "middle", 200);
        set_age(&bench, "new", 100);
        let result = bench.succeed("glob", json!({"pattern": "*"}));
        assert_eq!(result.text(), "new\nmiddle\nold");
        assert_eq!(
            result.metadata.unwrap()["files"][0],
            json!({"path": "new", "size": 2, "modTime": "2023-11-14T22:11:40.000Z", "type": "file"})
        );
    }

    #[test]
    fn ignore_files_apply_without_a_repository() {
        let bench = Bench::new();
        bench.write(".gitignore", "target\n*.log\n");
        for name in ["a.log", "a.rs", "target/b.rs", ".git/c.rs"] {
            bench.write(name, "");
        }
        assert_eq!(found(&bench, json!({"pattern": "**/*.{rs,log}"})), ["a.rs"]);
        let all = json!({"pattern": "**/*.{rs,log}", "ignore_gitignore": true});
        assert_eq!(found(&bench, all), ["a.log", "a.rs", "target/b.rs"]);
    }

    #[test]
    fn a_truncated_result_is_marked() {
        let bench = Bench::new();
        for number in 0..101 {
            bench.write(&format!("{number}.txt"), "");
        }
        let result = bench.succeed("glob", json!({"pattern": "*.txt"}));
        let metadata = result.metadata.clone().unwrap();
        assert_eq!(
            (metadata["files"].as_array().unwrap().len(), &metadata["truncated"]),
            (100, &json!(true))
        );
        assert!(result.text().ends_with("(there is more: narrow the pattern or the path)"));
        fs::remove_file(bench.path("0.txt")).unwrap();
        assert_eq!(
            bench.succeed("glob", json!({"pattern": "*.txt"})).metadata.unwrap()["truncated"],
            json!(false)
        );
    }

    #[test]
    fn symlinks_are_shown_but_not_followed() {
        let bench = Bench::new();
        bench.write("real/a", "");
        symlink("/etc", bench.path("door")).unwrap();
        symlink("real", bench.path("inside")).unwrap();
        assert_eq!(found(&bench, json!({"pattern": "**"})), ["door", "inside", "real", "real/a"]);
        assert!(
            bench
                .fail("glob", json!({"pattern": "*", "path": "door"}))
                .contains("outside the project")
        );
    }

    #[test]
    fn invalid_patterns_and_paths_are_refused() {
        let bench = Bench::new();
        bench.write("file", "");
        assert!(bench.fail("glob", json!({"pattern": "a{b"})).contains("a{b"));
        assert!(bench.fail("glob", json!({"pattern": "/etc/*"})).contains("/etc/* is absolute"));
        assert_eq!(
            bench.fail("glob", json!({"pattern": "*", "path": "file"})),
            "file is not a directory"
        );
        assert_eq!(
            bench.fail("glob", json!({"pattern": "*", "path": "gone"})),
            "gone is not a directory"
        );
        assert_eq!(
            bench.succeed("glob", json!({"pattern": "*.zig"})).text(),
            "No file matches *.zig in ."
        );
    }

    #[test]
    fn a_search_can_be_cancelled() {
        let bench = Bench::new();
        bench.cancel.cancel();
        assert_eq!(bench.fail("glob", json!({"pattern": "*"})), "interrupted");
    }
}
