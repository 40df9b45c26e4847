//! `file_read`: reads part of a text file, by lines.

use std::io::{BufRead, BufReader};

use schemars::JsonSchema;
use serde::Deserialize;
use tenter_base::FileStamp;
use tenter_protocol::tool_metadata::FileRead;

use super::budget::{BudgetedFile, ReadBudget};
use super::error::{ToolError, check_cancelled};
use super::input::{Bounded, NonEmpty};
use super::tool::{ToolContext, ToolEffect, TypedTool};
use super::{lines, regular_file};

/// Maximum number of lines in one result.
const MAX_LINES: u64 = 2000;

/// Maximum text in one result, in bytes.
const MAX_BYTES: usize = 100_000;

/// Maximum number of bytes read by one call. Lines beyond that are neither shown nor counted.
const MAX_READ: u64 = 256 << 20;

/// Number of bytes at the start of a file that are searched for a NUL byte, the sign of a binary file.
const SNIFFED: usize = 8192;

pub(crate) struct FileReadTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileReadInput {
    /// The file, relative to the working directory or absolute.
    file_path: NonEmpty,
    /// The first line to read, from 1. Default 1.
    #[serde(default)]
    offset: Option<Bounded<1, { u64::MAX }>>,
    /// Maximum number of lines to read. Default 2000.
    #[serde(default)]
    line_limit: Option<Bounded<1, MAX_LINES>>,
}

impl TypedTool for FileReadTool {
    const NAME: &'static str = "file_read";
    const DESCRIPTION: &'static str = "Read a text file, with line numbers. At most 2000 lines or 100 kB at a time; continue \
        with `offset` if the result says that there is more.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = FileReadInput;
    type Output = FileRead;

    fn perform(
        &self,
        input: FileReadInput,
        context: &ToolContext<'_>,
    ) -> Result<FileRead, ToolError> {
        let workspace = context.workspace;
        let path = workspace.resolve_to_read(&input.file_path.0)?;
        let display_path = workspace.display_path(&path);
        let (file, metadata) = regular_file::open(&path, &display_path)?;
        let mut part = FileRead {
            file_path: display_path,
            offset: input.offset.map_or(1, Bounded::get),
            line_limit: input.line_limit.map_or(MAX_LINES, Bounded::get),
            ..FileRead::default()
        };
        let budget = ReadBudget::new(MAX_READ, context.cancel);
        let reader = BufReader::with_capacity(SNIFFED * 8, budget.open(file));
        let result = read_part(reader, &mut part, &budget);
        check_cancelled(context.cancel).and(result)?;
        workspace.seen().record(path, FileStamp::new(&metadata));
        Ok(part)
    }
}

fn read_part(
    mut reader: BufReader<BudgetedFile<'_>>,
    part: &mut FileRead,
    budget: &ReadBudget,
) -> Result<(), ToolError> {
    refuse_binary(&mut reader, &part.file_path)?;
    let before = skip_lines(&mut reader, part.offset - 1)?;
    take_lines(&mut reader, part, budget)?;
    if part.lines.is_empty() && part.offset > 1 {
        return Err(no_such_line(part.offset, before, budget));
    }
    let remaining = skip_lines(&mut reader, u64::MAX)?;
    part.truncated = remaining > 0 || budget.is_spent();
    // Without having read the whole file, the number of lines is not known.
    part.remaining_lines = if budget.is_spent() { 0 } else { remaining };
    Ok(())
}

fn no_such_line(offset: u64, before: u64, budget: &ReadBudget) -> ToolError {
    ToolError::new(if budget.is_spent() {
        format!(
            "line {offset} is not in the first {} MiB, the limit of one call; use a command, such as `sed -n`",
            MAX_READ >> 20
        )
    } else {
        format!("offset {offset} is past the end: the file has {before} lines")
    })
}

fn refuse_binary(reader: &mut impl BufRead, display_path: &str) -> Result<(), ToolError> {
    let buffer = reader.fill_buf().map_err(unreadable)?;
    if buffer.iter().take(SNIFFED).any(|byte| *byte == 0) {
        return Err(ToolError::new(format!(
            "{display_path} is a binary file; inspect it with a command, such as `file` or `xxd`"
        )));
    }
    Ok(())
}

/// Skips `count` lines, or as many as there are, and returns how many it skipped.
fn skip_lines(reader: &mut impl BufRead, count: u64) -> Result<u64, ToolError> {
    let mut position = 0;
    while position < count && lines::skip(reader).map_err(unreadable)? {
        position += 1;
    }
    Ok(position)
}

/// Reads lines until one of the limits is reached.
fn take_lines(
    reader: &mut impl BufRead,
    part: &mut FileRead,
    budget: &ReadBudget,
) -> Result<(), ToolError> {
    let mut bytes = 0;
    while (part.lines.len() as u64) < part.line_limit && bytes < MAX_BYTES {
        let Some(line) = lines::next(reader).map_err(unreadable)? else { break };
        let is_cut = budget.is_spent() && reader.fill_buf().is_ok_and(<[u8]>::is_empty);
        let line = if is_cut { line.cut().display() } else { line.display() };
        bytes += line.len() + 1;
        part.lines.push(line);
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "passed to map_err")]
fn unreadable(error: std::io::Error) -> ToolError {
    ToolError::new(format!("the file cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Bench;
    use serde_json::json;
    use std::fs;
    use std::fs::File;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn part_of_a_file_is_read_with_line_numbers() {
        let bench = Bench::new();
        bench.write("a.txt", "one\ntwo\r\nthree\nfour\n");
        let result =
            bench.succeed("file_read", json!({"file_path": "a.txt", "offset": 2, "line_limit": 2}));
        assert_eq!(
            result.metadata,
            json!({"filePath": "a.txt", "offset": 2, "lineLimit": 2, "lines": ["two", "three"], "truncated": true,
                   "remainingLines": 1})
            .as_object()
            .cloned()
        );
        assert_eq!(result.text(), "2\ttwo\n3\tthree\n(1 more lines; continue with offset 4)");
    }

    #[test]
    fn aliases_of_fields_mean_the_same() {
        let bench = Bench::new();
        bench.write("a.txt", "one\ntwo\n");
        let text =
            bench.succeed("file_read", json!({"path": bench.path("a.txt"), "limit": 1})).text();
        assert_eq!(text, "1\tone\n(1 more lines; continue with offset 2)");
    }

    #[test]
    fn an_empty_file_is_read_and_an_offset_past_the_end_is_an_error() {
        let bench = Bench::new();
        bench.write("empty", "");
        bench.write("two", "1\n2");
        assert_eq!(bench.succeed("file_read", json!({"file_path": "empty"})).text(), "(no output)");
        assert_eq!(
            bench.fail("file_read", json!({"file_path": "two", "offset": 3})),
            "offset 3 is past the end: the file has 2 lines"
        );
    }

    #[test]
    fn anything_but_a_regular_file_is_refused_without_being_opened() {
        let bench = Bench::new();
        fs::create_dir(bench.path("directory")).unwrap();
        bench.make_pipe("pipe");
        let _socket = UnixListener::bind(bench.path("socket")).unwrap();
        let refusal = |path: &str| bench.fail("file_read", json!({"file_path": path}));
        assert_eq!(refusal("directory"), "directory is a directory, not a file");
        assert_eq!(refusal("pipe"), "pipe is a named pipe, not a file");
        assert_eq!(refusal("socket"), "socket is a socket, not a file");
        assert!(refusal("gone").starts_with("gone: No such file"), "{}", refusal("gone"));
        assert!(refusal("directory/pipe/x").starts_with("directory/pipe/x: "));
    }

    #[test]
    fn binary_files_are_refused_and_invalid_utf8_is_replaced() {
        let bench = Bench::new();
        bench.write("binary", b"ELF\0\x01");
        bench.write("latin1", b"caf\xe9\n");
        assert!(
            bench
                .fail("file_read", json!({"file_path": "binary"}))
                .contains("binary is a binary file")
        );
        assert_eq!(
            bench.succeed("file_read", json!({"file_path": "latin1"})).text(),
            "1\tcaf\u{fffd}"
        );
    }

    #[test]
    fn the_result_is_limited_in_lines_and_in_bytes() {
        let bench = Bench::new();
        bench.write("many", "x\n".repeat(5000));
        bench.write("wide", format!("{}\n", "y".repeat(999)).repeat(300));
        let many = bench.succeed("file_read", json!({"file_path": "many"})).metadata.unwrap();
        assert_eq!(
            (many["lines"].as_array().unwrap().len(), &many["remainingLines"]),
            (2000, &json!(3000))
        );
        let wide = bench.succeed("file_read", json!({"file_path": "wide"})).metadata.unwrap();
        assert_eq!(
            (wide["lines"].as_array().unwrap().len(), &wide["remainingLines"]),
            (100, &json!(200))
        );
    }

    #[test]
    fn a_huge_file_of_one_line_is_read_in_bounded_memory() {
        let bench = Bench::new();
        bench.write("huge", "x".repeat(10_000));
        File::options().write(true).open(bench.path("huge")).unwrap().set_len(1 << 30).unwrap();
        let result = bench.succeed("file_read", json!({"file_path": "huge"}));
        assert!(result.text().len() < 3000);
        assert!(
            result.text().contains("(cut: the line has at least 268435456 bytes)"),
            "{}",
            result.text()
        );
    }

    #[test]
    fn a_sparse_file_of_terabytes_is_read_up_to_a_limit() {
        let bench = Bench::new();
        bench.write("huge", "line\n".repeat(3000));
        File::options().write(true).open(bench.path("huge")).unwrap().set_len(1 << 43).unwrap();
        let text = bench.succeed("file_read", json!({"file_path": "huge", "line_limit": 2})).text();
        assert_eq!(text, "1\tline\n2\tline\n(more lines; continue with offset 3)");
        let error = bench.fail("file_read", json!({"file_path": "huge", "offset": 9000}));
        assert!(error.starts_with("line 9000 is not in the first 256 MiB"), "{error}");
    }

    #[test]
    fn reading_can_be_cancelled() {
        let bench = Bench::new();
        bench.write("many", "x\n".repeat(5000));
        bench.cancel.cancel();
        assert_eq!(
            bench.fail("file_read", json!({"file_path": "many", "offset": 4000})),
            "interrupted"
        );
    }

    #[test]
    fn symlinks_do_not_lead_out_of_the_project() {
        let bench = Bench::new();
        symlink("/etc/passwd", bench.path("link")).unwrap();
        for path in ["link", "../x", "/etc/passwd"] {
            let error = bench.fail("file_read", json!({"file_path": path}));
            assert!(
                error.contains("outside the project") && error.contains("--add-dir"),
                "{error}"
            );
        }
    }
}
