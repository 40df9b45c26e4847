//! Context files: what a project or a person wants every agent to know.
//!
//! A project's file must be in the project: a link that leads out of it is refused, because what it leads to would be sent
//! to a provider. A file is read once, however many names it has, and not beyond its limit.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};

use super::PromptSection;

/// Bytes of a file that are read.
const LIMIT: u64 = 64 * 1024;

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// What is wrong with files.
    pub(super) findings: Vec<Diagnostic>,
    seen: BTreeSet<PathBuf>,
}

impl Context {
    /// A person's own file as a section.
    pub(super) fn of_person(&mut self, file: &Path) -> Option<PromptSection> {
        let text = self.read(file)?;
        section("the user's instructions for all projects", file, &text)
    }

    /// A file of the project at `project` as a section.
    pub(super) fn of_project(&mut self, file: &Path, project: &Path) -> Option<PromptSection> {
        let real = file.canonicalize().ok();
        let root = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        if real.is_some_and(|real| !real.starts_with(root)) {
            let message = "the file is a link that leads out of the project; it is not read";
            self.findings.push(
                Diagnostic::new("context-file-outside", Severity::Warning, message)
                    .at(file)
                    .help("put the text itself into the project"),
            );
            return None;
        }
        let text = self.read(file)?;
        section("the project's instructions", file, &text)
    }

    /// The text of a file that was not read before; one that does not exist has none.
    pub(super) fn read(&mut self, file: &Path) -> Option<String> {
        let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        if !self.seen.insert(real) {
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
                Some(format!("{text}\n[The rest of this file is left out.]"))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!("the file cannot be read, and is left out: {error}");
                let finding =
                    Diagnostic::new("context-file-unreadable", Severity::Warning, message);
                self.findings.push(finding.at(file));
                None
            }
        }
    }
}

/// The text, and whether there is more of it.
fn read_up_to_limit(file: &Path) -> io::Result<(String, bool)> {
    let mut bytes = untrusted_file::read_prefix(file, LIMIT + 1)?;
    let cut = bytes.len() as u64 > LIMIT;
    if cut {
        bytes.pop();
        // A character that the limit cuts in two is left out, too.
        let whole = bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
        bytes.truncate(bytes.len() - whole);
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), cut))
}

/// A file's text with what it is and where it comes from. A file without text is no section.
fn section(what: &str, file: &Path, text: &str) -> Option<PromptSection> {
    let text = text.trim_end();
    (!text.is_empty()).then(|| PromptSection {
        kind: "instructions",
        from: Some(file.display().to_string()),
        text: format!("({what})\n\n{text}"),
    })
}
