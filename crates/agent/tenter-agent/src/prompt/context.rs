//! Context files: instructions for every agent, from the project or the user.
//!
//! A project's file must be inside the project: a symlink that leads outside is refused, because its content would be
//! sent to a provider. A file is read once, even if it has several names, and only up to a limit.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};

use super::PromptSection;

/// Maximum number of bytes read of a file.
const LIMIT: u64 = 64 * 1024;

/// The files read so far.
#[derive(Debug, Default)]
pub(super) struct ContextFiles {
    /// Diagnostics about the files.
    pub(super) findings: Vec<Diagnostic>,
    paths: BTreeSet<PathBuf>,
}

impl ContextFiles {
    /// Reads a context file of the user as a section.
    pub(super) fn user_file(&mut self, file: &Path) -> Option<PromptSection> {
        let text = self.read(file)?;
        section("the user's instructions for all projects", file, &text)
    }

    /// Reads a context file of the project at `project` as a section.
    pub(super) fn project_file(&mut self, file: &Path, project: &Path) -> Option<PromptSection> {
        let real = file.canonicalize().ok();
        let root = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        if real.is_some_and(|real| !real.starts_with(root)) {
            let message = "the file is a symlink that leads out of the project; it is not read";
            self.findings.push(
                Diagnostic::new("context-file-outside", Severity::Warning, message)
                    .at(file)
                    .help("replace the symlink by the text itself"),
            );
            return None;
        }
        let text = self.read(file)?;
        section("the project's instructions", file, &text)
    }

    /// Reads a file that was not read before; `None` if it does not exist.
    pub(super) fn read(&mut self, file: &Path) -> Option<String> {
        let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        if !self.paths.insert(real) {
            return None;
        }
        match read_up_to_limit(file) {
            Ok((text, false)) => Some(text),
            Ok((text, true)) => {
                let message = format!("only the first {} KiB of the file are read", LIMIT / 1024);
                self.findings.push(
                    Diagnostic::new("context-file-cut", Severity::Warning, message)
                        .at(file)
                        .help("make it shorter: all of it is sent with every request"),
                );
                Some(format!("{text}\n[The rest of this file is omitted.]"))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!("cannot read the file, so it is omitted: {error}");
                let finding =
                    Diagnostic::new("context-file-unreadable", Severity::Warning, message);
                self.findings.push(finding.at(file));
                None
            }
        }
    }
}

/// Returns the text, and whether the file is longer.
fn read_up_to_limit(file: &Path) -> io::Result<(String, bool)> {
    let mut bytes = untrusted_file::read_prefix(file, LIMIT + 1)?;
    let cut = bytes.len() as u64 > LIMIT;
    if cut {
        bytes.pop();
        // A character that the limit cuts in two is dropped too.
        let whole = bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
        bytes.truncate(bytes.len() - whole);
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), cut))
}

/// Returns the text of a file as a section with its kind and path; `None` if it is empty.
fn section(what: &str, file: &Path, text: &str) -> Option<PromptSection> {
    let text = text.trim_end();
    (!text.is_empty()).then(|| PromptSection {
        kind: "instructions",
        from: Some(file.display().to_string()),
        text: format!("({what})\n\n{text}"),
    })
}
