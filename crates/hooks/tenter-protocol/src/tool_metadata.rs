//! The typed metadata of tool results, one struct per `metadataType`, and its text for the model.
//!
//! The text depends on the metadata only, so that a hook that rewrites the metadata rewrites what the model, the terminal, the
//! store and the JSON stream show (R25).

mod changed_files;
mod mcp;

use std::fmt::Write as _;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Object;
use crate::confinement::ConfinedFact;

pub use changed_files::{ChangeKind, ChangedFile, ChangedFiles};
pub use mcp::{Mcp, McpImage};

/// Metadata of one kind.
pub trait Metadata: Serialize + DeserializeOwned {
    /// The `metadataType` on the wire.
    const TYPE: &'static str;
    /// The fields that [`text`](Self::text) depends on: metadata without any of them is not of this kind (R64).
    const MAIN: &'static [&'static str];

    /// Returns the text for the model; may be empty.
    fn text(&self) -> String;
}

macro_rules! metadata_types {
    ($($kind:ident),+ $(,)?) => {
        /// Every `metadataType` of Tenter's own tools.
        pub const TYPES: &[&str] = &[$($kind::TYPE),+];

        fn known_text(metadata_type: &str, metadata: &Value) -> Option<String> {
            match metadata_type {
                $($kind::TYPE if $kind::MAIN.iter().any(|field| metadata.get(field).is_some()) => {
                    serde_json::from_value::<$kind>(metadata.clone()).ok().map(|metadata| metadata.text())
                })+
                _ => None,
            }
        }
    };
}

metadata_types!(
    Bash,
    BashBackground,
    FileRead,
    FileWrite,
    FileEdit,
    Grep,
    Glob,
    Todo,
    Subagent,
    Skill,
    Mcp,
    Blocked
);

/// Returns the text of a result's metadata for the model. Metadata of an unknown kind, or that does not have the shape of its
/// kind, is shown as JSON.
pub(crate) fn text(kind: Option<&str>, metadata: Object) -> Option<String> {
    let metadata = Value::Object(metadata);
    let text = kind.and_then(|kind| known_text(kind, &metadata));
    let text = text.unwrap_or_else(|| metadata.to_string());
    (!text.is_empty()).then_some(text)
}

/// A command that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Bash {
    /// The command line.
    pub command: String,
    /// Its exit code, if it is known; 128 plus the signal number if it was killed by a signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// stdout and stderr, interleaved; head and tail if there was too much.
    pub output: String,
    /// Duration in nanoseconds, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_time: Option<u64>,
    /// Its working directory.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub working_dir: String,
    /// Number of bytes omitted from the middle of the output.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped_bytes: u64,
    /// The confinement under which it ran, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confined: Option<ConfinedFact>,
    /// The files of the project that changed while it ran, where git says it; only for hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<ChangedFiles>,
}

impl Metadata for Bash {
    const TYPE: &'static str = "bash";
    const MAIN: &'static [&'static str] = &["output"];
    fn text(&self) -> String {
        self.output.clone()
    }
}

/// A command that runs in the background.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BashBackground {
    /// The command line.
    pub command: String,
    /// The process id, which is also its process group.
    pub pid: u32,
    /// The file with its stdout and stderr.
    pub log_path: String,
    /// Start time in RFC 3339, in UTC.
    pub start_time: String,
}

impl Metadata for BashBackground {
    const TYPE: &'static str = "bash_background";
    const MAIN: &'static [&'static str] = &["pid", "logPath"];
    fn text(&self) -> String {
        format!(
            "Started in the background: process {}, output in {}. To end it: kill -- -{}",
            self.pid, self.log_path, self.pid
        )
    }
}

/// A part of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileRead {
    /// The file.
    pub file_path: String,
    /// The number of the first line, from 1.
    pub offset: u64,
    /// Maximum number of lines requested.
    pub line_limit: u64,
    /// The lines, without line endings.
    pub lines: Vec<String>,
    /// True if more lines follow.
    pub truncated: bool,
    /// Number of lines that follow; 0 if they were not counted because the file is too large.
    #[serde(skip_serializing_if = "is_zero")]
    pub remaining_lines: u64,
}

impl Metadata for FileRead {
    const TYPE: &'static str = "file_read";
    const MAIN: &'static [&'static str] = &["lines"];
    fn text(&self) -> String {
        let mut text = String::new();
        for (number, line) in (self.offset.max(1)..).zip(&self.lines) {
            let _ = writeln!(text, "{number}\t{line}");
        }
        if self.truncated {
            let next = self.offset.max(1) + self.lines.len() as u64;
            let count = (self.remaining_lines > 0).then(|| format!("{} ", self.remaining_lines));
            let count = count.unwrap_or_default();
            let _ = writeln!(text, "({count}more lines; continue with offset {next})");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// A file that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileWrite {
    /// The file.
    pub file_path: String,
    /// Its content.
    pub content: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Metadata for FileWrite {
    const TYPE: &'static str = "file_write";
    const MAIN: &'static [&'static str] = &["filePath", "size"];
    fn text(&self) -> String {
        format!("Wrote {} ({} bytes).", self.file_path, self.size)
    }
}

/// Replacements in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileEdit {
    /// The file.
    pub file_path: String,
    /// The replacements.
    pub edits: Vec<Edit>,
    /// True if all occurrences were to be replaced.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replace_all: bool,
    /// Number of replacements.
    pub replaced_count: u64,
}

/// One replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Edit {
    /// First line of the replaced text in the old file, from 1.
    pub start_line: u64,
    /// Last line of the replaced text.
    pub end_line: u64,
    /// The replaced text.
    pub old_content: String,
    /// The new text.
    pub new_content: String,
}

impl Metadata for FileEdit {
    const TYPE: &'static str = "file_edit";
    const MAIN: &'static [&'static str] = &["filePath", "edits"];
    fn text(&self) -> String {
        let lines: Vec<String> =
            self.edits.iter().map(|edit| edit.start_line.to_string()).collect();
        let noun =
            if self.edits.len() == 1 { "replacement at line" } else { "replacements at lines" };
        format!("Edited {}: {} {noun} {}.", self.file_path, self.replaced_count, lines.join(", "))
    }
}

/// The matches of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Grep {
    /// The pattern.
    pub pattern: String,
    /// The file or directory that was searched.
    pub path: String,
    /// The glob that selected the files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub include: String,
    /// The files with matches.
    pub results: Vec<GrepFile>,
    /// True if results were omitted.
    pub truncated: bool,
}

/// The matches in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GrepFile {
    /// The file.
    pub file_path: String,
    /// The lines, in order.
    pub matches: Vec<GrepLine>,
}

/// A matching line or a context line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GrepLine {
    /// The line number, from 1.
    pub line_number: u64,
    /// The line, without its line ending.
    pub content: String,
    /// True if it is a context line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_context: bool,
}

impl Metadata for Grep {
    const TYPE: &'static str = "grep_tool";
    const MAIN: &'static [&'static str] = &["results"];
    fn text(&self) -> String {
        if self.results.is_empty() {
            let part = if self.truncated { "the part that was searched of " } else { "" };
            return format!("No match for {} in {part}{}", self.pattern, self.path);
        }
        let mut text = String::new();
        for file in &self.results {
            for line in &file.matches {
                let mark = if line.is_context { '-' } else { ':' };
                let _ = writeln!(
                    text,
                    "{}{mark}{}{mark}{}",
                    file.file_path, line.line_number, line.content
                );
            }
        }
        if self.truncated {
            text.push_str("(there is more: narrow the pattern or the path)");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// Files whose names match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Glob {
    /// The pattern.
    pub pattern: String,
    /// The directory that was searched.
    pub path: String,
    /// The files, newest first.
    pub files: Vec<GlobFile>,
    /// True if results were omitted.
    pub truncated: bool,
}

/// A file or directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GlobFile {
    /// The path.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in RFC 3339, in UTC.
    pub mod_time: String,
    /// `file` or `directory`.
    #[serde(rename = "type")]
    pub kind: String,
}

impl Metadata for Glob {
    const TYPE: &'static str = "glob_tool";
    const MAIN: &'static [&'static str] = &["files"];
    fn text(&self) -> String {
        if self.files.is_empty() {
            return format!("No file matches {} in {}", self.pattern, self.path);
        }
        let mut paths: Vec<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        if self.truncated {
            paths.push("(there is more: narrow the pattern or the path)");
        }
        paths.join("\n")
    }
}

/// The to-do list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Todo {
    /// `read` or `write`.
    pub action: String,
    /// The list.
    pub todo_list: Vec<TodoItem>,
    /// Counts by status.
    pub statistics: TodoStatistics,
}

/// An item of a to-do list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TodoItem {
    /// Its number in the list, from 1.
    pub id: String,
    /// The task.
    pub content: String,
    /// `pending`, `in_progress`, `completed` or `canceled`.
    pub status: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
}

/// The items of a to-do list, counted by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TodoStatistics {
    /// All items.
    pub total: u64,
    /// Completed items.
    pub completed: u64,
    /// Items in progress.
    pub in_progress: u64,
    /// Items not started.
    pub pending: u64,
}

impl Metadata for Todo {
    const TYPE: &'static str = "todo";
    const MAIN: &'static [&'static str] = &["todoList"];
    fn text(&self) -> String {
        if self.todo_list.is_empty() {
            return "The to-do list is empty.".to_owned();
        }
        let lines: Vec<String> = self
            .todo_list
            .iter()
            .map(|item| {
                format!("{}. [{}] {} ({})", item.id, item.status, item.content, item.priority)
            })
            .collect();
        lines.join("\n")
    }
}

/// The answer of a subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Subagent {
    /// The question.
    pub question: String,
    /// Its last response.
    pub response: String,
    /// The id of its conversation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub conversation_id: String,
}

impl Metadata for Subagent {
    const TYPE: &'static str = "subagent";
    const MAIN: &'static [&'static str] = &["response"];
    fn text(&self) -> String {
        self.response.clone()
    }
}

/// A skill that was loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Skill {
    /// Its name.
    pub skill_name: String,
    /// Its directory.
    pub directory: String,
    /// Its instructions.
    pub instructions: String,
    /// The other files in its directory, relative to it.
    pub files: Vec<String>,
    /// True if files were omitted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Metadata for Skill {
    const TYPE: &'static str = "skill";
    const MAIN: &'static [&'static str] = &["instructions"];
    fn text(&self) -> String {
        let mut text = format!(
            "The skill {}. Its directory is {}; paths in it are relative to that directory.\n\n{}\n",
            self.skill_name, self.directory, self.instructions
        );
        if !self.files.is_empty() {
            text.push_str("\nOther files in the directory:\n");
        }
        self.files.iter().for_each(|file| text.extend(["- ", file, "\n"]));
        if self.truncated {
            text.push_str("(there are more)");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// A call that a hook or the user blocked. Its keys are in snake case, as in the documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Blocked {
    /// The tool that did not run.
    pub tool_name: String,
    /// The reason.
    pub reason: String,
}

impl Metadata for Blocked {
    const TYPE: &'static str = "blocked";
    const MAIN: &'static [&'static str] = &["reason"];
    fn text(&self) -> String {
        String::new() // The error of a blocked result has the reason.
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests;
