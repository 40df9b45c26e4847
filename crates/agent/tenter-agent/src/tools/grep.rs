//! `grep`: finds lines that match a regular expression, with ripgrep's libraries.

use std::path::Path;

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tenter_proc::Cancel;
use tenter_protocol::tool_metadata::{Grep, GrepFile};
use tenter_walk::{SkipRules, walk};

use super::budget::ReadBudget;
use super::error::{ToolError, check_cancelled};
use super::glob::path_matcher;
use super::grep_sink::FileMatches;
use super::input::{Bounded, NonEmpty};
use super::tool::{ToolContext, ToolEffect, TypedTool};
use super::{Workspace, regular_file};

/// Maximum number of files in one result.
const MAX_FILES: usize = 100;

/// Maximum text in one result, in bytes.
const MAX_BYTES: usize = 50_000;

/// Maximum length of a line that is searched, in bytes. A line is held in memory, and its search cannot be cancelled. A
/// file with a longer one is skipped.
const MAX_LINE: usize = 2 << 20;

/// Maximum size of a compiled pattern, in bytes: the larger it is, the longer the search of a line takes.
const MAX_PATTERN: usize = 2 << 20;

/// Maximum number of bytes read by one call.
const MAX_READ: u64 = 4 << 30;

pub(crate) struct GrepTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepInput {
    /// The regular expression, in Rust's syntax; it matches within one line.
    pattern: NonEmpty,
    /// The file or directory to search. Default: the working directory.
    #[serde(default)]
    path: Option<NonEmpty>,
    /// Search only files that match this glob, for instance `*.rs` or `src/**/*.{js,ts}`.
    #[serde(default)]
    include: Option<NonEmpty>,
    /// Ignore case. Default false.
    #[serde(default)]
    ignore_case: bool,
    /// Treat the pattern as plain text. Default false.
    #[serde(default)]
    fixed_strings: bool,
    /// Number of lines to show before and after each match. Default 0.
    #[serde(default)]
    surround_lines: Option<Bounded<0, 10>>,
    /// Maximum number of files to show. Default 100.
    #[serde(default)]
    max_results: Option<Bounded<1, { MAX_FILES as u64 }>>,
}

impl TypedTool for GrepTool {
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = "Search in files with a regular expression; shows the lines that match. Leaves out what \
        `.gitignore` excludes, and binary files. To find files by name, use `glob`.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = GrepInput;
    type Output = Grep;

    fn perform(&self, input: GrepInput, context: &ToolContext<'_>) -> Result<Grep, ToolError> {
        let workspace = context.workspace;
        let (root, display_path) = workspace.search_root(input.path.as_ref())?;
        if !root.exists() {
            return Err(ToolError::new(format!("there is no file or directory {display_path}")));
        }
        let budget = ReadBudget::new(MAX_READ, context.cancel);
        let mut search = GrepSearch::new(&input, workspace, &budget)?;
        search.run(&root, context.cancel)?;
        Ok(Grep {
            pattern: input.pattern.0,
            path: display_path,
            include: input.include.map(|include| include.0).unwrap_or_default(),
            results: search.results,
            truncated: search.truncated,
        })
    }
}

/// A search in progress.
struct GrepSearch<'a> {
    matcher: RegexMatcher,
    include: Option<GlobMatcher>,
    searcher: Searcher,
    max_files: usize,
    workspace: &'a Workspace,
    budget: &'a ReadBudget<'a>,
    bytes_left: usize,
    results: Vec<GrepFile>,
    truncated: bool,
}

impl<'a> GrepSearch<'a> {
    fn new(
        input: &GrepInput,
        workspace: &'a Workspace,
        budget: &'a ReadBudget<'a>,
    ) -> Result<Self, ToolError> {
        let surround = input.surround_lines.map_or(0, Bounded::as_usize);
        let max_files = input.max_results.map_or(MAX_FILES, Bounded::as_usize);
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_LINE))
            .before_context(surround)
            .after_context(surround)
            .build();
        Ok(Self {
            matcher: matcher(input)?,
            include: input.include.as_ref().map(|include| include_glob(&include.0)).transpose()?,
            searcher,
            max_files,
            workspace,
            budget,
            bytes_left: MAX_BYTES,
            results: Vec::new(),
            truncated: false,
        })
    }

    fn run(&mut self, root: &Path, cancel: &Cancel) -> Result<(), ToolError> {
        // A directory that cannot be read must not hide the others.
        let skip = SkipRules::IgnoreFiles(self.workspace.top_of(root));
        for entry in walk(root, skip, cancel).flatten() {
            if entry.kind.is_file() && self.includes(root, &entry.path) {
                self.search(&entry.path);
            }
            if self.truncated {
                break;
            }
        }
        check_cancelled(cancel)
    }

    /// Returns whether to search the file. A file that the model named itself is always searched.
    fn includes(&self, root: &Path, path: &Path) -> bool {
        let inside = path.strip_prefix(root).unwrap_or(path);
        let is_root = inside.as_os_str().is_empty();
        is_root || self.include.as_ref().is_none_or(|include| include.is_match(inside))
    }

    fn search(&mut self, path: &Path) {
        let display_path = self.workspace.display_path(path);
        let Ok((file, _)) = regular_file::open(path, &display_path) else { return };
        let mut matches = FileMatches::new(display_path.len(), self.bytes_left);
        let reader = self.budget.open(file);
        let result = self.searcher.search_reader(&self.matcher, reader, &mut matches);
        self.truncated = self.budget.is_spent();
        // Nor must a file that cannot be read to its end.
        if result.is_err() || matches.binary || matches.lines.is_empty() {
            return;
        }
        if self.results.len() == self.max_files {
            self.truncated = true;
            return;
        }
        self.bytes_left = matches.bytes_left;
        self.truncated |= matches.full;
        self.results.push(GrepFile { file_path: display_path, matches: matches.lines });
    }
}

fn matcher(input: &GrepInput) -> Result<RegexMatcher, ToolError> {
    if input.pattern.0.contains('\n') {
        return Err(ToolError::new(
            "the pattern has a line break; a match is always within one line",
        ));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(input.ignore_case)
        .fixed_strings(input.fixed_strings)
        .size_limit(MAX_PATTERN)
        .line_terminator(Some(b'\n'));
    builder.build(&input.pattern.0).map_err(|error| {
        let help = "set fixed_strings to search for plain text";
        ToolError::new(format!("the pattern cannot be used: {error}; {help}"))
    })
}

/// Returns a glob without a slash matches the file's name in any directory.
fn include_glob(include: &str) -> Result<GlobMatcher, ToolError> {
    if include.contains('/') {
        path_matcher(include.trim_start_matches("./"))
    } else {
        path_matcher(&format!("**/{include}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{GrepInput, GrepSearch};
    use crate::tools::budget::ReadBudget;
    use crate::tools::testing::Bench;
    use serde_json::{Value, json};
    use std::os::unix::fs::symlink;

    fn text(bench: &Bench, input: Value) -> String {
        bench.succeed("grep", input).text()
    }

    fn project() -> Bench {
        let bench = Bench::new();
        bench.write("b.txt", "one\nTwo two\nthree\r\n");
        bench.write("a/x.rs", "fn two() {}\n");
        bench.write("a-b.rs", "let a.b = 2;\n");
        bench.write(".hidden/c.txt", "two\n");
        bench
    }

    #[test]
    fn lines_are_found_in_the_order_of_their_paths() {
        let bench = project();
        assert_eq!(
            text(&bench, json!({"pattern": "two"})),
            ".hidden/c.txt:1:two\na/x.rs:1:fn two() {}\nb.txt:2:Two two"
        );
        let metadata = bench.succeed("grep", json!({"pattern": "^o", "path": "b.txt"})).metadata;
        assert_eq!(
            metadata,
            json!({"pattern": "^o", "path": "b.txt", "truncated": false, "results": [
                {"filePath": "b.txt", "matches": [{"lineNumber": 1, "content": "one"}]}]})
            .as_object()
            .cloned()
        );
        assert_eq!(text(&bench, json!({"pattern": "nowhere"})), "No match for nowhere in .");
    }

    #[test]
    fn case_plain_text_and_files_can_be_selected() {
        let bench = project();
        assert_eq!(
            text(&bench, json!({"pattern": "^TWO", "ignore_case": true, "include": "*.txt"})),
            ".hidden/c.txt:1:two\nb.txt:2:Two two"
        );
        assert_eq!(
            text(&bench, json!({"pattern": "a.b", "fixed_strings": true})),
            "a-b.rs:1:let a.b = 2;"
        );
        assert_eq!(
            text(&bench, json!({"pattern": "two", "include": "a/**/*.rs"})),
            "a/x.rs:1:fn two() {}"
        );
        assert_eq!(
            text(&bench, json!({"pattern": "two", "path": "a", "include": "*.{md,rs}"})),
            "a/x.rs:1:fn two() {}"
        );
    }

    #[test]
    fn surrounding_lines_are_marked() {
        let bench = project();
        let lines = text(&bench, json!({"pattern": "Two", "surround_lines": 1}));
        assert_eq!(lines, "b.txt-1-one\nb.txt:2:Two two\nb.txt-3-three");
    }

    #[test]
    fn ignore_files_apply_without_a_repository() {
        let bench = project();
        bench.write(".gitignore", "*.log\n/target\n");
        bench.write("a/.ignore", "x.rs\n");
        for name in ["new.log", "target/y.rs", ".git/config"] {
            bench.write(name, "two\n");
        }
        assert_eq!(text(&bench, json!({"pattern": "two"})), ".hidden/c.txt:1:two\nb.txt:2:Two two");
        assert_eq!(
            text(&bench, json!({"pattern": "two", "path": "new.log"})),
            "new.log:1:two",
            "it was named"
        );
    }

    #[test]
    fn binary_files_symlinks_and_pipes_are_skipped() {
        let bench = Bench::new();
        bench.write("binary", format!("two\n{}\0two\n", "x\n".repeat(100_000)));
        bench.write("text", "two\n");
        symlink("text", bench.path("link")).unwrap();
        symlink("/etc", bench.path("door")).unwrap();
        bench.make_pipe("pipe");
        assert_eq!(text(&bench, json!({"pattern": "two"})), "text:1:two");
        assert_eq!(
            text(&bench, json!({"pattern": "two", "path": "pipe"})),
            "No match for two in pipe"
        );
    }

    #[test]
    fn the_result_is_limited_in_files_and_in_bytes() {
        let bench = Bench::new();
        for number in 0..5 {
            bench.write(&format!("{number}.txt"), "match\n");
        }
        bench.write("z/large", "another\n".repeat(100_000));
        bench.write("z/wide", format!("needle{}\n", "x".repeat(1 << 20)));
        let three =
            bench.succeed("grep", json!({"pattern": "match", "max_results": 3})).metadata.unwrap();
        assert_eq!(
            (three["results"].as_array().unwrap().len(), &three["truncated"]),
            (3, &json!(true))
        );
        let five =
            bench.succeed("grep", json!({"pattern": "match", "max_results": 5})).metadata.unwrap();
        assert_eq!(
            (five["results"].as_array().unwrap().len(), &five["truncated"]),
            (5, &json!(false))
        );
        let large = bench.succeed("grep", json!({"pattern": "another"})).text();
        assert!(
            large.len() < 80_000
                && large.ends_with("(there is more: narrow the pattern or the path)")
        );
        let wide = text(&bench, json!({"pattern": "needle"}));
        assert!(wide.len() < 2500 && wide.ends_with("(cut: the line has 1048582 bytes)"), "{wide}");
    }

    #[test]
    fn a_file_with_an_oversized_line_does_not_hide_the_others() {
        let bench = Bench::new();
        bench.write("a", "x".repeat((2 << 20) + 1));
        bench.write("b", "x\n");
        assert_eq!(text(&bench, json!({"pattern": "^x$"})), "b:1:x");
    }

    #[test]
    fn invalid_patterns_and_paths_are_refused() {
        let bench = project();
        let error = bench.fail("grep", json!({"pattern": "a("}));
        assert!(error.contains("unclosed group") && error.contains("fixed_strings"), "{error}");
        assert!(
            bench.fail("grep", json!({"pattern": "a\nb"})).contains("the pattern has a line break")
        );
        assert!(bench.fail("grep", json!({"pattern": "a", "include": "{"})).contains('{'));
        assert_eq!(
            bench.fail("grep", json!({"pattern": "a", "path": "gone"})),
            "there is no file or directory gone"
        );
        assert!(
            bench
                .fail("grep", json!({"pattern": "root", "path": "/etc/passwd"}))
                .contains("outside the project")
        );
    }

    #[test]
    fn a_search_can_be_cancelled() {
        let bench = project();
        bench.cancel.cancel();
        assert_eq!(bench.fail("grep", json!({"pattern": "two"})), "interrupted");
    }

    #[test]
    fn a_search_stops_at_its_read_limit_and_reports_it() {
        let bench = project();
        bench.write("z.txt", "two\n");
        let input: GrepInput = serde_json::from_value(json!({"pattern": "two"})).unwrap();
        let searched_with = |bytes| {
            let budget = ReadBudget::new(bytes, &bench.cancel);
            let mut search = GrepSearch::new(&input, &bench.workspace, &budget).unwrap();
            search.run(bench.workspace.project(), &bench.cancel).unwrap();
            (search.results.len(), search.truncated)
        };
        assert_eq!(searched_with(1000), (4, false));
        assert_eq!(
            searched_with(20),
            (2, true),
            "the first file has 4 bytes, the second and third 13 each"
        );
    }

    #[test]
    fn a_pattern_that_would_take_too_long_is_refused() {
        let error = project().fail("grep", json!({"pattern": r"(\w{1,50}){40}!"}));
        assert!(error.contains("size limit"), "{error}");
    }

    #[test]
    fn ignore_files_are_untrusted_and_none_above_the_project_applies() {
        let bench = project();
        std::fs::write(bench.directory.path().join(".gitignore"), "*.txt\n").unwrap();
        std::fs::write(bench.directory.path().join(".ignore"), "*.txt\n").unwrap();
        symlink("/dev/zero", bench.path(".ignore")).unwrap();
        bench.make_pipe(".gitignore");
        bench.write("a/.ignore", "x.rs\n".repeat(100_000));
        bench.write(".hidden/.ignore", "\u{feff}c.txt\n");
        bench.write(".git/info/exclude", "b.txt\n");
        assert_eq!(text(&bench, json!({"pattern": "two"})), "a/x.rs:1:fn two() {}");
        bench.write("a/.ignore", "*\n!y.rs\n");
        bench.write("a/y.rs", "two");
        assert_eq!(text(&bench, json!({"pattern": "two"})), "a/y.rs:1:two");
        bench.write("a/sub/z.rs", "two");
        assert_eq!(
            text(&bench, json!({"pattern": "two", "path": "a/sub"})),
            "No match for two in a/sub",
            "the rules of the directories above count, up to the project"
        );
    }

    #[test]
    fn a_nested_repository_uses_its_own_gitignore() {
        let bench = project();
        bench.write(".gitignore", "*.rs\n");
        bench.write("inner/.git/HEAD", "");
        bench.write("inner/kept.rs", "two\n");
        bench.write("inner/dropped.rs", "two\n");
        bench.write("inner/.gitignore", "dropped.rs\n");
        assert_eq!(
            text(&bench, json!({"pattern": "two", "include": "*.rs"})),
            "inner/kept.rs:1:two"
        );
    }
}
