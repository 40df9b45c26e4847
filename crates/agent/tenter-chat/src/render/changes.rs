//! The changes that tool calls make in files, as diffs.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_protocol::tool_metadata::{FileEdit, FileWrite, Metadata};
use tenter_protocol::{Scope, ToolCall, ToolResult};
use tenter_terminal::text::{CodeLanguage, diff};
use tenter_terminal::ui;

/// Maximum size of a file, in bytes, whose changes are shown.
const LARGEST_DIFFED: u64 = 1024 * 1024;

/// The files that open calls are about to change.
pub(super) struct FileChanges {
    project: PathBuf,
    /// The path and the previous contents, by conversation and call id.
    before: HashMap<(String, String), (String, String)>,
}

impl FileChanges {
    pub(super) fn new(project: &Path) -> Self {
        Self { project: project.to_owned(), before: HashMap::new() }
    }

    /// Notes a call that is about to run.
    pub(super) fn open(&mut self, scope: &Scope, call: &ToolCall) {
        if let Some(before) = self.file_before(call) {
            self.before.insert(key(scope, &call.id), before);
        }
    }

    /// Returns the diff of the file that a call changed; no lines if it changed none, or the file is too large.
    pub(super) fn close(
        &mut self,
        scope: &Scope,
        call_id: &str,
        result: &ToolResult,
    ) -> Vec<String> {
        let before = self.before.remove(&key(scope, call_id));
        self.changes(before.as_ref(), result).unwrap_or_default()
    }

    /// Returns the path and the contents of the file that a call writes; empty contents for a new file, `None` for a large or
    /// special one.
    fn file_before(&self, call: &ToolCall) -> Option<(String, String)> {
        let path = call.input.get("file_path").and_then(Value::as_str)?;
        if !["file_write", "file_edit"].contains(&call.name.as_str()) {
            return None;
        }
        let file = self.project.join(path);
        match fs::metadata(&file) {
            Ok(metadata) if metadata.is_file() && metadata.len() <= LARGEST_DIFFED => {
                Some((path.to_owned(), fs::read_to_string(file).ok()?))
            }
            Ok(_) => None,
            Err(_) => Some((path.to_owned(), String::new())),
        }
    }

    fn changes(
        &self,
        before: Option<&(String, String)>,
        result: &ToolResult,
    ) -> Option<Vec<String>> {
        let is_file = |path: &str| before.filter(|(file, _)| self.is_same(file, path));
        if let Some(edit) = metadata::<FileEdit>(result) {
            let before = is_file(&edit.file_path);
            let after = before.and_then(|(_, text)| Some((text, diff::edited(text, &edit)?)));
            return Some(match after {
                Some((before, after)) => {
                    diff::render_files(before, &after, language(&edit.file_path), ui::columns())
                }
                None => diff::render_edit(&edit, ui::columns()),
            });
        }
        let file_write = metadata::<FileWrite>(result)?;
        let (_, before) = is_file(&file_write.file_path)?;
        let language = language(&file_write.file_path);
        Some(diff::render_files(before, &file_write.content, language, ui::columns()))
    }

    /// Checks whether two paths are one file. A hook may have changed the path of a call.
    fn is_same(&self, one: &str, other: &str) -> bool {
        self.project.join(one) == self.project.join(other)
    }
}

fn language(path: &str) -> Option<&'static CodeLanguage> {
    CodeLanguage::from_file(Path::new(path))
}

fn key(scope: &Scope, call_id: &str) -> (String, String) {
    (scope.conversation_id.clone(), call_id.to_owned())
}

/// Returns the metadata of a result, if it is of this type.
fn metadata<M: Metadata>(result: &ToolResult) -> Option<M> {
    let is_kind = !result.is_failure() && result.metadata_type.as_deref() == Some(M::TYPE);
    let metadata = result.metadata.clone().filter(|_| is_kind)?;
    serde_json::from_value(Value::Object(metadata)).ok()
}
