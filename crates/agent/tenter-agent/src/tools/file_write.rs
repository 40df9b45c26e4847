//! `file_write`: creates or replaces a whole text file.

use schemars::JsonSchema;
use serde::Deserialize;
use tenter_protocol::tool_metadata::FileWrite;

use super::error::ToolError;
use super::file_change::FileChangeGuard;
use super::input::NonEmpty;
use super::tool::{ToolContext, ToolEffect, TypedTool};

pub(crate) struct FileWriteTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileWriteInput {
    /// The file, relative to the working directory or absolute. Missing directories are created.
    file_path: NonEmpty,
    /// The whole content.
    text: String,
}

impl TypedTool for FileWriteTool {
    const NAME: &'static str = "file_write";
    const DESCRIPTION: &'static str = "Write a whole text file; one that is there is replaced. To change a part of a file, use \
        `file_edit`. Refuses a file that has changed since it was last read.";
    const EFFECT: ToolEffect = ToolEffect::Edits;
    type Input = FileWriteInput;
    type Output = FileWrite;

    fn perform(
        &self,
        input: FileWriteInput,
        context: &ToolContext<'_>,
    ) -> Result<FileWrite, ToolError> {
        let file = FileChangeGuard::new(&input.file_path, context)?;
        let file_path = file.replace(input.text.as_bytes())?;
        Ok(FileWrite { file_path, size: input.text.len() as u64, content: input.text })
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Bench;
    use serde_json::json;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn missing_parent_directories_are_created() {
        let bench = Bench::new();
        let result = bench.succeed("file_write", json!({"path": "a/b/c.txt", "content": "hello"}));
        assert_eq!(bench.read("a/b/c.txt"), "hello");
        assert_eq!(
            result.metadata,
            json!({"filePath": "a/b/c.txt", "content": "hello", "size": 5}).as_object().cloned()
        );
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_leaves_nothing_behind() {
        let bench = Bench::new();
        bench.write("run.sh", "old");
        fs::set_permissions(bench.path("run.sh"), Permissions::from_mode(0o750)).unwrap();
        bench.succeed("file_write", json!({"file_path": "run.sh", "text": ""}));
        assert_eq!(
            fs::metadata(bench.path("run.sh")).unwrap().permissions().mode() & 0o7777,
            0o750
        );
        assert_eq!(bench.read("run.sh"), "");
        assert_eq!(bench.names(), ["run.sh"]);
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_refused_until_it_is_read_again() {
        let bench = Bench::new();
        bench.write("a", "one");
        bench.succeed("file_read", json!({"file_path": "a"}));
        bench.write("a", "other");
        let write = json!({"file_path": "a", "text": "mine"});
        let error = bench.fail("file_write", write.clone());
        assert_eq!(
            error,
            "a has changed since it was last read; read it again, then repeat the call"
        );
        assert_eq!(bench.read("a"), "other");
        bench.succeed("file_read", json!({"file_path": "a"}));
        bench.succeed("file_write", write);
        assert_eq!(bench.read("a"), "mine");
    }

    #[test]
    fn own_writes_do_not_count_as_changes_but_those_of_others_do() {
        let bench = Bench::new();
        bench.succeed("file_write", json!({"file_path": "a", "text": "1"}));
        bench.succeed("file_write", json!({"file_path": "./a", "text": "2"}));
        bench.write("a", "theirs");
        assert!(
            bench
                .fail("file_write", json!({"file_path": "a", "text": "3"}))
                .contains("has changed")
        );
    }

    #[test]
    fn a_file_that_was_never_read_or_was_deleted_may_be_written() {
        let bench = Bench::new();
        bench.write("a", "one");
        bench.succeed("file_write", json!({"file_path": "a", "text": "two"}));
        fs::remove_file(bench.path("a")).unwrap();
        bench.succeed("file_write", json!({"file_path": "a", "text": "three"}));
        assert_eq!(bench.read("a"), "three");
    }

    #[test]
    fn directories_protected_files_and_paths_outside_are_refused() {
        let bench = Bench::new();
        fs::create_dir(bench.path("directory")).unwrap();
        bench.write("protected", "old");
        fs::set_permissions(bench.path("protected"), Permissions::from_mode(0o444)).unwrap();
        bench.write("file", "");
        symlink("/tmp", bench.path("door")).unwrap();
        let refusal =
            |path: &str| bench.fail("file_write", json!({"file_path": path, "text": "x"}));
        assert_eq!(refusal("directory"), "directory is a directory, not a file");
        assert_eq!(refusal("protected"), "protected is write-protected");
        assert!(refusal("door/tenter-test").contains("outside the project"));
        assert!(refusal("file/below").starts_with("file/below: "));
        assert_eq!(bench.read("protected"), "old");
    }

    #[test]
    fn a_symlink_inside_the_project_stays_a_symlink() {
        let bench = Bench::new();
        bench.write("real", "old");
        symlink("real", bench.path("link")).unwrap();
        let result = bench.succeed("file_write", json!({"file_path": "link", "text": "new"}));
        assert_eq!(bench.read("real"), "new");
        assert!(fs::symlink_metadata(bench.path("link")).unwrap().is_symlink());
        assert_eq!(result.metadata.unwrap()["filePath"], json!("real"));
    }

    #[test]
    fn an_input_that_does_not_fit_names_the_field() {
        let bench = Bench::new();
        assert_eq!(
            bench.fail("file_write", json!({"file_path": "a"})),
            "the input does not fit: missing field `text`"
        );
        assert!(
            bench
                .fail("file_write", json!({"file_path": "", "text": ""}))
                .contains("file_path: must not be empty")
        );
    }
}
