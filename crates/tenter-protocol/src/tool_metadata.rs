//! The typed metadata of tool results, one struct per `metadataType`, and the text that a model reads of each.
//!
//! The text is made from the metadata and nothing else, so that a hook that rewrites the metadata rewrites what the
//! model, the terminal, the store and the JSON stream say, all at once (R25).

use std::fmt::Write as _;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ToolResult;

/// Metadata of one kind.
pub trait Metadata: Serialize + DeserializeOwned {
    /// The `metadataType` on the wire.
    const TYPE: &'static str;
    /// The fields that [`text`](Self::text) is made of: metadata with none of them is not of this kind (R64).
    const MAIN: &'static [&'static str];

    /// What the model reads; empty when there is nothing to read.
    fn text(&self) -> String;
}

macro_rules! metadata_types {
    ($($kind:ident),+ $(,)?) => {
        /// Every `metadataType` that Tenter's own tools write.
        pub const TYPES: &[&str] = &[$($kind::TYPE),+];

        fn known_text(metadata_type: &str, metadata: &Value) -> Option<String> {
            match metadata_type {
                $($kind::TYPE if $kind::MAIN.iter().any(|field| metadata.get(field).is_some()) => {
                    serde_json::from_value::<$kind>(metadata.clone()).ok().map(|known| known.text())
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
    Blocked
);

/// What the model reads of a result's metadata. Metadata of a kind that Tenter does not know, or that a hook left in
/// another shape than its kind has, is shown as JSON rather than lost.
pub(crate) fn text(result: &ToolResult) -> Option<String> {
    let metadata = Value::Object(result.metadata.clone()?);
    let known = result.metadata_type.as_deref().and_then(|kind| known_text(kind, &metadata));
    let text = known.unwrap_or_else(|| metadata.to_string());
    (!text.is_empty()).then_some(text)
}

/// A command that ran to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Bash {
    /// The command line.
    pub command: String,
    /// Its exit code; 128 plus the signal's number when a signal ended it.
    pub exit_code: i32,
    /// stdout and stderr as they came, head and tail when there was too much.
    pub output: String,
    /// Nanoseconds from start to end.
    pub execution_time: u64,
    /// Where it ran.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub working_dir: String,
    /// Bytes of output that were dropped from the middle.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped_bytes: u64,
}

impl Metadata for Bash {
    const TYPE: &'static str = "bash";
    const MAIN: &'static [&'static str] = &["output"];
    fn text(&self) -> String {
        self.output.clone()
    }
}

/// A command that was started and left running.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BashBackground {
    /// The command line.
    pub command: String,
    /// The process id, which is also its process group.
    pub pid: u32,
    /// The file that its stdout and stderr go to.
    pub log_path: String,
    /// RFC 3339 in UTC.
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
    /// How many lines were asked for at most.
    pub line_limit: u64,
    /// The lines, without their ends.
    pub lines: Vec<String>,
    /// Whether the file goes on.
    pub truncated: bool,
    /// How many lines follow. Left out where they were not counted, because the file is too large.
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
            let left = (self.remaining_lines > 0).then(|| format!("{} ", self.remaining_lines));
            let left = left.unwrap_or_default();
            let _ = writeln!(text, "({left}more lines; continue with offset {next})");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// A file that was written whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileWrite {
    /// The file.
    pub file_path: String,
    /// What it holds now.
    pub content: String,
    /// Bytes written.
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
    /// Each replacement.
    pub edits: Vec<Edit>,
    /// Whether all occurrences were asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replace_all: bool,
    /// How many were replaced.
    pub replaced_count: u64,
}

/// One replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Edit {
    /// First line of the replaced text, from 1, in the file as it was.
    pub start_line: u64,
    /// Last line of the replaced text.
    pub end_line: u64,
    /// The replaced text.
    pub old_content: String,
    /// What stands there now.
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

/// Lines that a pattern was found in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Grep {
    /// The pattern.
    pub pattern: String,
    /// Where it was looked for.
    pub path: String,
    /// Which files were looked at.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub include: String,
    /// One entry per file.
    pub results: Vec<GrepFile>,
    /// Whether there was more.
    pub truncated: bool,
}

/// The lines of one file that a pattern was found in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GrepFile {
    /// The file.
    pub file_path: String,
    /// The lines, in order.
    pub matches: Vec<GrepLine>,
}

/// One line, found or shown for its surroundings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GrepLine {
    /// From 1.
    pub line_number: u64,
    /// Without its end.
    pub content: String,
    /// Whether it is there only for its surroundings.
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
    /// Where it was looked for.
    pub path: String,
    /// The files, newest first.
    pub files: Vec<GlobFile>,
    /// Whether there was more.
    pub truncated: bool,
}

/// One file or folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GlobFile {
    /// The path.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// RFC 3339 in UTC.
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
    /// The list as it stands.
    pub todo_list: Vec<TodoItem>,
    /// How far it is done.
    pub statistics: TodoStatistics,
}

/// One thing to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TodoItem {
    /// Its number in the list, from 1.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// `pending`, `in_progress`, `completed` or `canceled`.
    pub status: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
}

/// How far a to-do list is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TodoStatistics {
    /// All entries.
    pub total: u64,
    /// Done.
    pub completed: u64,
    /// Under way.
    pub in_progress: u64,
    /// Not begun.
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

/// What a subagent answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Subagent {
    /// What it was asked.
    pub question: String,
    /// Its last text.
    pub response: String,
    /// Its conversation.
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
    /// Its folder.
    pub directory: String,
    /// What it says.
    pub instructions: String,
    /// The other files of its folder, relative to it.
    pub files: Vec<String>,
    /// Whether the folder holds more files than these.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Metadata for Skill {
    const TYPE: &'static str = "skill";
    const MAIN: &'static [&'static str] = &["instructions"];
    fn text(&self) -> String {
        let mut text = format!(
            "The skill {}. Its folder is {}; paths in it are relative to that folder.\n\n{}\n",
            self.skill_name, self.directory, self.instructions
        );
        if !self.files.is_empty() {
            text.push_str("\nThe folder's other files:\n");
        }
        self.files.iter().for_each(|file| text.extend(["- ", file, "\n"]));
        if self.truncated {
            text.push_str("(there are more)");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// A call that a hook blocked. Its keys are in snake case, as the documents have them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Blocked {
    /// The tool that did not run.
    pub tool_name: String,
    /// Why.
    pub reason: String,
}

impl Metadata for Blocked {
    const TYPE: &'static str = "blocked";
    const MAIN: &'static [&'static str] = &["reason"];
    fn text(&self) -> String {
        String::new() // The error of a blocked result says all there is.
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests;
