//! Patches on the standard input of a command, or in its argument: the files that they change.

use crate::facts::PathOp;
use crate::field::Field;
use crate::reader::{Context, Reader};

use super::call::{Call, Emitted};

/// Maximum number of files of one patch; so many paths are a limit.
const MAX_FILES: usize = 2 * crate::limits::MAX_PATHS;

impl Reader<'_> {
    /// Keeps the files that a patch changes: `apply_patch`, `git apply`, `patch`.
    pub(super) fn patched_files(&mut self, call: &Call, emitted: &Emitted, context: &Context) {
        let is_git = emitted.subcommand.as_deref() == Some("apply");
        let text = match emitted.program.as_str() {
            "apply_patch" | "applypatch" => call.operands(emitted).next().cloned(),
            "git" if is_git && !emitted.arguments.has("--check --stat --numstat --summary") => None,
            "patch" if !emitted.arguments.has("--dry-run") => None,
            _ => return,
        };
        let text = text.or_else(|| context.stdin.as_ref()?.text.clone());
        let Some(text) = text else { return };
        for (file, op) in files(&text.text) {
            self.touch(&Field { is_glob: false, ..text.with_text(file) }, op, Some(emitted.index));
        }
    }
}

/// Returns the files in a patch, and what happens to them.
fn files(patch: &str) -> Vec<(&str, PathOp)> {
    const STARTS: [(&str, PathOp); 6] = [
        ("*** Add File: ", PathOp::Write),
        ("*** Update File: ", PathOp::Write),
        ("*** Move to: ", PathOp::Write),
        ("*** Delete File: ", PathOp::Delete),
        ("+++ ", PathOp::Write),
        ("--- ", PathOp::Write),
    ];
    let files = patch.lines().filter_map(|line| {
        let (start, op) = STARTS.iter().find(|(start, _)| line.starts_with(start))?;
        let name = line[start.len()..].split('\t').next().unwrap_or_default().trim();
        // The first directory of a difference is a prefix.
        let is_difference = matches!(*start, "+++ " | "--- ");
        let short = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
        Some((short.filter(|_| is_difference).unwrap_or(name), *op))
    });
    files.filter(|(name, _)| !matches!(*name, "" | "/dev/null")).take(MAX_FILES).collect()
}
