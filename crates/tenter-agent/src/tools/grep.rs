//! `grep`: lines that match a regular expression, with the libraries that ripgrep is made of.

use std::path::Path;

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tenter_proc::Cancel;
use tenter_protocol::tool_metadata::{Grep, GrepFile};

use super::grep_sink::{Found, Interruptible};
use super::input::{Bounded, NonEmpty};
use super::tool::{ToolContext, ToolError, TypedTool, go_on};
use super::{Workspace, regular_file, walk};

/// Files in one answer.
const MAX_FILES: usize = 100;

/// Bytes of text in one answer.
const MAX_BYTES: usize = 50_000;

/// The longest line that is searched, in bytes: a line is held in memory. A file with a longer one is left out.
const MAX_LINE: usize = 16 << 20;

/// The tool.
pub(crate) struct GrepTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The regular expression, in Rust's syntax; it matches within one line.
    pattern: NonEmpty,
    /// The file or folder to search. Default: the project.
    #[serde(default)]
    path: Option<NonEmpty>,
    /// Search only files that match this glob, for instance `*.rs` or `src/**/*.{js,ts}`.
    #[serde(default)]
    include: Option<NonEmpty>,
    /// Do not tell upper from lower case. Default false.
    #[serde(default)]
    ignore_case: bool,
    /// Take the pattern as plain text. Default false.
    #[serde(default)]
    fixed_strings: bool,
    /// Lines to show before and after each match. Default 0.
    #[serde(default)]
    surround_lines: Option<Bounded<0, 10>>,
    /// Files to show at most. Default 100.
    #[serde(default)]
    max_results: Option<Bounded<1, { MAX_FILES as u64 }>>,
}

impl TypedTool for GrepTool {
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = "Search in files with a regular expression; shows the lines that match. Leaves out what \
        `.gitignore` excludes, and binary files. To find files by name, use `glob`.";
    type Input = Input;
    type Output = Grep;

    fn perform(&self, input: Input, context: &ToolContext<'_>) -> Result<Grep, ToolError> {
        let workspace = context.workspace;
        let root = workspace.resolve_to_read(input.path.as_ref().map_or("", |path| &path.0))?;
        let shown = workspace.shown(&root);
        if !root.exists() {
            return Err(ToolError::new(format!("there is no file or folder {shown}")));
        }
        let mut search = Search::new(&input, workspace, context.cancel)?;
        search.run(&root)?;
        Ok(Grep {
            pattern: input.pattern.0,
            path: shown,
            include: input.include.map(|include| include.0).unwrap_or_default(),
            results: search.results,
            truncated: search.truncated,
        })
    }
}

/// A search under way.
struct Search<'a> {
    matcher: RegexMatcher,
    include: Option<GlobMatcher>,
    searcher: Searcher,
    max_files: usize,
    workspace: &'a Workspace,
    cancel: &'a Cancel,
    bytes_left: usize,
    results: Vec<GrepFile>,
    truncated: bool,
}

impl<'a> Search<'a> {
    fn new(input: &Input, workspace: &'a Workspace, cancel: &'a Cancel) -> Result<Self, ToolError> {
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
            cancel,
            bytes_left: MAX_BYTES,
            results: Vec::new(),
            truncated: false,
        })
    }

    fn run(&mut self, root: &Path) -> Result<(), ToolError> {
        // A folder that cannot be read must not hide the others.
        for entry in walk::walk(root, true).flatten() {
            go_on(self.cancel)?;
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if is_file && self.includes(root, entry.path()) {
                self.search(entry.path())?;
            }
            if self.truncated {
                break;
            }
        }
        Ok(())
    }

    /// Whether the file is to be searched; one that the model named itself always is.
    fn includes(&self, root: &Path, path: &Path) -> bool {
        let inside = path.strip_prefix(root).unwrap_or(path);
        let named = inside.as_os_str().is_empty();
        named || self.include.as_ref().is_none_or(|include| include.is_match(inside))
    }

    fn search(&mut self, path: &Path) -> Result<(), ToolError> {
        let shown = self.workspace.shown(path);
        let Ok((file, _)) = regular_file::open(path, &shown) else { return Ok(()) };
        let mut found = Found::new(shown.len(), self.bytes_left);
        let reader = Interruptible { file, cancel: self.cancel };
        let searched = self.searcher.search_reader(&self.matcher, reader, &mut found);
        go_on(self.cancel)?;
        // A file that cannot be read to its end must not hide the others either.
        if searched.is_err() || found.binary || found.lines.is_empty() {
            return Ok(());
        }
        if self.results.len() == self.max_files {
            self.truncated = true;
            return Ok(());
        }
        self.bytes_left = found.bytes_left;
        self.truncated = found.full;
        self.results.push(GrepFile { file_path: shown, matches: found.lines });
        Ok(())
    }
}

fn matcher(input: &Input) -> Result<RegexMatcher, ToolError> {
    if input.pattern.0.contains('\n') {
        return Err(ToolError::new(
            "the pattern has a line break; a match is always within one line",
        ));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(input.ignore_case)
        .fixed_strings(input.fixed_strings)
        .line_terminator(Some(b'\n'));
    builder.build(&input.pattern.0).map_err(|error| {
        let help = "set fixed_strings to search for plain text";
        ToolError::new(format!("the pattern is no regular expression: {error}; {help}"))
    })
}

/// A glob without a slash is about the file's name, wherever the file is.
fn include_glob(include: &str) -> Result<GlobMatcher, ToolError> {
    if include.contains('/') {
        walk::glob(include.trim_start_matches("./"))
    } else {
        walk::glob(&format!("**/{include}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Interruptible;
    use crate::tools::testing::Bench;
    use serde_json::{Value, json};
    use std::fs::File;
    use std::io::Read;
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
    fn case_plain_text_and_files_can_be_chosen() {
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
    fn surrounding_lines_are_shown_as_such() {
        let bench = project();
        let found = text(&bench, json!({"pattern": "Two", "surround_lines": 1}));
        assert_eq!(found, "b.txt-1-one\nb.txt:2:Two two\nb.txt-3-three");
    }

    #[test]
    fn ignore_files_count_also_where_there_is_no_version_store() {
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
    fn binary_files_links_and_pipes_are_passed_over() {
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
    fn the_answer_is_capped_by_files_and_by_bytes() {
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
    fn a_file_with_a_line_beyond_measure_does_not_hide_the_others() {
        let bench = Bench::new();
        bench.write("a", "x".repeat((16 << 20) + 1));
        bench.write("b", "x\n");
        assert_eq!(text(&bench, json!({"pattern": "^x$"})), "b:1:x");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let bench = project();
        let error = bench.fail("grep", json!({"pattern": "a("}));
        assert!(error.contains("unclosed group") && error.contains("fixed_strings"), "{error}");
        assert!(
            bench.fail("grep", json!({"pattern": "a\nb"})).contains("the pattern has a line break")
        );
        assert!(bench.fail("grep", json!({"pattern": "a", "include": "{"})).contains('{'));
        assert_eq!(
            bench.fail("grep", json!({"pattern": "a", "path": "gone"})),
            "there is no file or folder gone"
        );
        assert!(
            bench
                .fail("grep", json!({"pattern": "root", "path": "/etc/passwd"}))
                .contains("outside the project")
        );
    }

    #[test]
    fn a_search_can_be_interrupted_between_files_and_within_one() {
        let bench = project();
        let file = File::open(bench.path("b.txt")).unwrap();
        let mut reader = Interruptible { file, cancel: &bench.cancel };
        assert_eq!(reader.read(&mut [0; 4]).unwrap(), 4);
        bench.cancel.cancel();
        assert!(reader.read(&mut [0; 4]).is_err());
        assert_eq!(bench.fail("grep", json!({"pattern": "two"})), "interrupted");
    }
}
