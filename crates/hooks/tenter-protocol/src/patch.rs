//! Patches in the format of `apply_patch`, by which several agents edit files: which files a patch touches, and how (B10).
//!
//! Only the lines that name files are read, and those with spaces around them too: a guard has to see every file that an agent
//! may touch. What cannot be read as a patch may do anything, so it may also add a file.
//!
//! ```
//! use tenter_protocol::patch::{FileChange, Patch};
//!
//! let patch = Patch::parse("*** Begin Patch\n*** Add File: a.txt\n+text\n*** End Patch");
//! assert_eq!((patch.files[0].path, patch.files[0].change), ("a.txt", FileChange::Add));
//! assert!(patch.may_add_file());
//! ```

use serde_json::Value;

use crate::Object;

/// The field of a `file_edit` input that contains a patch.
pub const FIELD: &str = "patch";

/// The lines that name a file.
const HEADERS: [(&str, FileChange); 3] = [
    ("*** Add File:", FileChange::Add),
    ("*** Update File:", FileChange::Update),
    ("*** Delete File:", FileChange::Delete),
];
/// The line below `*** Update File:` that gives the file another path.
const MOVE: &str = "*** Move to:";
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
/// The beginnings of other lines that are part of the format.
const OTHERS: [&str; 4] = [BEGIN, END, "*** End of File", "*** Environment ID:"];
/// The beginning of every line with a meaning.
const MARK: &str = "***";

/// A patch, as far as it names files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch<'p> {
    /// The files that it touches, in order. A file that is moved is deleted, and added under its new path.
    pub files: Vec<PatchedFile<'p>>,
    /// True if the text is a patch.
    pub is_valid: bool,
}

/// A file that a patch touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchedFile<'p> {
    /// Its path as written.
    pub path: &'p str,
    /// The change.
    pub change: FileChange,
    /// The lines that are added, without their mark.
    pub added_lines: String,
    /// The lines that are removed, without their mark.
    pub removed_lines: String,
}

/// The change of a file by a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// Creates it.
    Add,
    /// Changes its text.
    Update,
    /// Deletes it.
    Delete,
}

impl<'p> Patch<'p> {
    /// Returns the patch in the input of a `file_edit` call; `None` if there is none. A patch that is not text is not valid.
    pub fn from_input(input: &'p Object) -> Option<Self> {
        match input.get(FIELD)? {
            Value::Null => None,
            Value::String(text) => Some(Self::parse(text)),
            _ => Some(Self { files: Vec::new(), is_valid: false }),
        }
    }

    /// Reads a patch.
    pub fn parse(text: &'p str) -> Self {
        let mut files: Vec<PatchedFile<'p>> = Vec::new();
        let (mut begins, mut ends, mut is_known) = (false, false, true);
        for line in text.lines() {
            let header = line.trim();
            if let Some(file) = named_file(header) {
                files.push(file);
            } else if let Some(path) = header.strip_prefix(MOVE) {
                if let Some(file) = files.last_mut() {
                    file.change = FileChange::Delete;
                }
                files.push(PatchedFile::new(path.trim(), FileChange::Add));
            } else {
                if let Some(file) = files.last_mut() {
                    file.read(line);
                }
                begins |= header == BEGIN;
                ends |= header == END;
                let is_other = OTHERS.iter().any(|header| line.starts_with(header));
                is_known &= is_other || !line.starts_with(MARK);
            }
        }
        let are_named = !files.is_empty() && files.iter().all(|file| !file.path.is_empty());
        Self { files, is_valid: begins && ends && is_known && are_named }
    }

    /// Returns true if it may create a file, also if it is not valid.
    pub fn may_add_file(&self) -> bool {
        !self.is_valid || self.files.iter().any(|file| file.change == FileChange::Add)
    }
}

impl<'p> PatchedFile<'p> {
    fn new(path: &'p str, change: FileChange) -> Self {
        Self { path, change, added_lines: String::new(), removed_lines: String::new() }
    }

    fn read(&mut self, line: &str) {
        let (text, lines) = match line.split_at_checked(1) {
            Some(("+", text)) => (text, &mut self.added_lines),
            Some(("-", text)) => (text, &mut self.removed_lines),
            _ => return,
        };
        lines.push_str(text);
        lines.push('\n');
    }
}

fn named_file(header: &str) -> Option<PatchedFile<'_>> {
    HEADERS.iter().find_map(|(mark, change)| {
        let path = header.strip_prefix(mark)?.trim();
        Some(PatchedFile::new(path, *change))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::FileChange::{Add, Delete, Update};
    use super::*;

    fn files(text: &str) -> Vec<(&str, FileChange)> {
        Patch::parse(text).files.iter().map(|file| (file.path, file.change)).collect()
    }

    fn frame(body: &str) -> String {
        format!("*** Begin Patch\n{body}*** End Patch\n")
    }

    #[test]
    fn every_file_of_a_patch_is_found() {
        let text = frame(
            "*** Add File: new dir/a.txt\n+*** Add File: no\n*** Update File: b.rs\n*** Move to: c.rs\n@@ fn x()\n-old\n+new\n \
             context\n*** End of File\n*** Update File: d\n@@\n-*** Delete File: no\n+y\n*** Delete File: e\n",
        );
        let expected =
            [("new dir/a.txt", Add), ("b.rs", Delete), ("c.rs", Add), ("d", Update), ("e", Delete)];
        assert_eq!(files(&text), expected);
        assert!(Patch::parse(&text).is_valid);
    }

    #[test]
    fn only_a_patch_that_adds_a_file_may_add_one() {
        let may_add = |body: &str| Patch::parse(&frame(body)).may_add_file();
        assert!(may_add("*** Add File: a\n+x\n"));
        assert!(may_add("*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n"));
        assert!(!may_add("*** Update File: a\n@@\n-x\n+y\n"));
        assert!(!may_add("*** Delete File: a\n"));
    }

    #[test]
    fn what_is_not_a_patch_may_add_a_file() {
        for text in [
            "",
            "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
            "*** Update File: a\n@@\n-x\n+y\n",
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n",
            "*** Begin Patch\n*** End Patch\n",
            "*** Begin Patch\n*** Copy File: a\n*** Update File: b\n@@\n-x\n+y\n*** End Patch",
            "*** Begin Patch\n*** Update File:\n@@\n-x\n+y\n*** End Patch",
        ] {
            let patch = Patch::parse(text);
            assert!(!patch.is_valid && patch.may_add_file(), "{text:?}");
        }
        assert_eq!(files("*** Update File: a\n"), [("a", Update)], "its files are found anyway");
        let of = |input: Value| Patch::from_input(input.as_object().unwrap()).map(|it| it.is_valid);
        assert_eq!(of(json!({"patch": ["*** Begin Patch"]})), Some(false));
        assert_eq!((of(json!({"patch": null})), of(json!({}))), (None, None));
    }

    #[test]
    fn headers_in_spaces_and_with_other_line_ends_count() {
        let text =
            "<<'EOF'\r\n *** Begin Patch \r\n\t*** Add File:  a \r\n+x\r\n*** End Patch\r\nEOF\r\n";
        assert_eq!(files(text), [("a", Add)]);
        assert!(Patch::parse(text).is_valid);
    }

    fn change() -> impl Strategy<Value = FileChange> {
        prop_oneof![Just(Add), Just(Update), Just(Delete)]
    }

    proptest! {
        #[test]
        fn the_files_of_a_written_patch_are_read(
            written in proptest::collection::vec(("[a-z][a-z /.*+-]{0,8}[a-z]", change(), "[^\\r\\n]{0,20}"), 1..6),
        ) {
            let mut body = String::new();
            for (path, change, line) in &written {
                let (mark, _) = HEADERS.iter().find(|(_, of)| of == change).unwrap();
                let lines = match change {
                    Add => format!("+{line}\n"),
                    Update => format!("@@\n-{line}\n+{line}\n"),
                    Delete => String::new(),
                };
                body.extend([mark, " ", path, "\n", &lines]);
            }
            let text = frame(&body);
            let patch = Patch::parse(&text);
            let expected: Vec<_> = written.iter().map(|(path, change, _)| (path.as_str(), *change)).collect();
            prop_assert_eq!(files(&text), expected);
            prop_assert!(patch.is_valid);
            prop_assert_eq!(patch.may_add_file(), written.iter().any(|(_, change, _)| *change == Add));
        }

        #[test]
        fn any_text_is_read_and_its_headers_are_found(before in ".{0,40}", path in "[a-z]{1,8}", after in ".{0,40}") {
            let text = format!("{before}\n*** Add File: {path}\n{after}");
            let patch = Patch::parse(&text);
            prop_assert!(patch.files.iter().any(|file| file.path == path && file.change == Add));
            prop_assert!(patch.may_add_file());
        }
    }
}
