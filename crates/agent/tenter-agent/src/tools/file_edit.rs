//! `file_edit`: replaces one text in a file.

use std::io::Read;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use tenter_base::FileStamp;
use tenter_protocol::tool_metadata::FileEdit;

use super::error::ToolError;
use super::file_change::FileChangeGuard;
use super::input::NonEmpty;
use super::tool::{ToolContext, ToolEffect, TypedTool};
use super::{regular_file, replacement};

/// Maximum size of a file to edit, in bytes: old and new text are both held in memory.
const MAX_BYTES: u64 = 32 << 20;

pub(crate) struct FileEditTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileEditInput {
    /// The file, relative to the working directory or absolute.
    file_path: NonEmpty,
    /// The text to replace, exactly as it is in the file, without line numbers. It must occur only once unless
    /// `replace_all` is set: include surrounding lines to make it unique.
    old_text: NonEmpty,
    /// The replacement.
    new_text: String,
    /// Replace every occurrence. Default false.
    #[serde(default)]
    replace_all: bool,
}

impl TypedTool for FileEditTool {
    const NAME: &'static str = "file_edit";
    const DESCRIPTION: &'static str = "Replace a text in a file. The text must match exactly and only once, unless \
        `replace_all` is set. Refuses a file that has changed since it was last read.";
    const EFFECT: ToolEffect = ToolEffect::Edits;
    type Input = FileEditInput;
    type Output = FileEdit;

    fn perform(
        &self,
        input: FileEditInput,
        context: &ToolContext<'_>,
    ) -> Result<FileEdit, ToolError> {
        let mut file = FileChangeGuard::new(&input.file_path, context)?;
        let (text, stamp) = read(file.path(), file.display_path())?;
        let replacement =
            replacement::replace(&text, &input.old_text.0, &input.new_text, input.replace_all)
                .map_err(|mismatch| {
                    ToolError::new(format!("{}: {mismatch}", file.display_path()))
                })?;
        // The content that was just read is the one that is replaced, even if the file was recorded differently before.
        file.require_unchanged_since(stamp)?;
        let file_path = file.replace(replacement.text.as_bytes())?;
        Ok(FileEdit {
            file_path,
            edits: replacement.edits,
            replace_all: input.replace_all,
            replaced_count: replacement.count,
        })
    }
}

fn read(path: &Path, display_path: &str) -> Result<(String, FileStamp), ToolError> {
    let (file, metadata) = regular_file::open(path, display_path)?;
    if metadata.len() > MAX_BYTES {
        return Err(ToolError::new(format!(
            "{display_path} is too large to edit ({} bytes); use a command",
            metadata.len()
        )));
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(MAX_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| ToolError::new(format!("{display_path}: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        ToolError::new(format!(
            "{display_path} is not UTF-8 text; editing it would damage it; use a command"
        ))
    })?;
    Ok((text, FileStamp::new(&metadata)))
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Bench;
    use serde_json::json;
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::thread;

    #[test]
    fn a_unique_text_is_replaced_and_its_line_reported() {
        let bench = Bench::new();
        bench.write("a.rs", "fn a() {}\nfn b() {\n}\n");
        let edit = json!({"path": "a.rs", "old_string": "b() {\n}", "new_string": "c() {}"});
        let result = bench.succeed("file_edit", edit);
        assert_eq!(bench.read("a.rs"), "fn a() {}\nfn c() {}\n");
        assert_eq!(
            result.metadata,
            json!({"filePath": "a.rs", "replacedCount": 1, "edits": [
                {"startLine": 2, "endLine": 3, "oldContent": "b() {\n}", "newContent": "c() {}"}]})
            .as_object()
            .cloned()
        );
        assert_eq!(result.text(), "Edited a.rs: 1 replacement at line 2.");
    }

    #[test]
    fn a_text_that_is_not_unique_changes_nothing_unless_replace_all_is_set() {
        let bench = Bench::new();
        bench.write("a", "x\ny\nx\n");
        let error =
            bench.fail("file_edit", json!({"file_path": "a", "old_text": "x", "new_text": "z"}));
        assert!(error.starts_with("a: old_text occurs 2 times, at lines 1, 3"), "{error}");
        assert_eq!(bench.read("a"), "x\ny\nx\n");
        let all = json!({"file_path": "a", "old_text": "x", "new_text": "z", "replace_all": true});
        assert_eq!(
            bench.succeed("file_edit", all).text(),
            "Edited a: 2 replacements at lines 1, 3."
        );
        assert_eq!(bench.read("a"), "z\ny\nz\n");
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_refused() {
        let bench = Bench::new();
        bench.write("a", "one");
        bench.succeed("file_read", json!({"file_path": "a"}));
        bench.write("a", "one more");
        let edit = json!({"file_path": "a", "old_text": "one", "new_text": "two"});
        assert!(
            bench.fail("file_edit", edit.clone()).contains("a has changed since it was last read")
        );
        bench.succeed("file_read", json!({"file_path": "a"}));
        bench.succeed("file_edit", edit);
        bench.succeed(
            "file_edit",
            json!({"file_path": "a", "old_text": "two", "new_text": "three"}),
        );
        assert_eq!(bench.read("a"), "three more");
    }

    #[test]
    fn crlf_line_endings_are_kept() {
        let bench = Bench::new();
        bench.write("dos", "a\r\nb\r\nc\r\n");
        bench.succeed(
            "file_edit",
            json!({"file_path": "dos", "old_text": "a\nb\n", "new_text": "1\n2\n3\n"}),
        );
        assert_eq!(bench.read("dos"), "1\r\n2\r\n3\r\nc\r\n");
    }

    #[test]
    fn binary_and_large_files_are_refused_and_unchanged() {
        let bench = Bench::new();
        bench.write("latin1", b"caf\xe9");
        bench.write("large", "x");
        File::options().write(true).open(bench.path("large")).unwrap().set_len(1 << 30).unwrap();
        fs::create_dir(bench.path("directory")).unwrap();
        symlink("/etc/hosts", bench.path("link")).unwrap();
        let refusal = |path: &str| {
            bench.fail("file_edit", json!({"file_path": path, "old_text": "c", "new_text": "d"}))
        };
        assert!(refusal("latin1").starts_with("latin1 is not UTF-8 text"));
        assert!(refusal("large").starts_with("large is too large to edit"));
        assert_eq!(refusal("directory"), "directory is a directory, not a file");
        assert!(refusal("link").contains("outside the project"));
        assert_eq!(fs::read(bench.path("latin1")).unwrap(), b"caf\xe9");
    }

    #[test]
    fn concurrent_edits_of_one_file_are_all_made() {
        let bench = Bench::new();
        let words: Vec<String> = (0..8).map(|number| format!("<{number}>")).collect();
        bench.write("a", words.join("\n"));
        thread::scope(|scope| {
            for word in &words {
                let (bench, edit) =
                    (&bench, json!({"file_path": "a", "old_text": word, "new_text": "done"}));
                scope.spawn(move || bench.succeed("file_edit", edit));
            }
        });
        assert_eq!(bench.read("a"), ["done"; 8].join("\n"));
    }
}
