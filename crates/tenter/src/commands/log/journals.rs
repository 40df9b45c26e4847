//! The journals that are looked at, as one stream in the order of time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tenter_engine::journal::{self, Line, Tail};
use tenter_protocol::{Diagnostic, Severity};

use super::whose::Whose;
use crate::failure::Failure;

/// The journals that are looked at, and how far they were read.
pub(super) struct Journals {
    folder: PathBuf,
    whose: Whose,
    /// By conversation; none where reading failed, so that this is told once.
    tails: BTreeMap<String, Option<Tail>>,
}

/// What was written since the last look.
#[derive(Default)]
pub(super) struct News {
    /// In the order of time.
    pub(super) lines: Vec<Line>,
    /// Lines that cannot be read.
    pub(super) unreadable: usize,
    /// Journals that end with half a line.
    pub(super) unfinished: usize,
    /// Journals that cannot be read.
    pub(super) findings: Vec<Diagnostic>,
}

impl Journals {
    /// The journals in `folder` that hold what is asked for, unread.
    pub(super) fn new(folder: PathBuf, whose: Whose) -> Self {
        Self { folder, whose, tails: BTreeMap::new() }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn whose(&self) -> &Whose {
        &self.whose
    }

    /// What was written since the last look, also into journals that were not there then.
    pub(super) fn read(&mut self) -> Result<News, Failure> {
        let names = match &self.whose {
            Whose::All => all(&self.folder)?,
            Whose::Conversation(id) | Whose::Subagent { parent: id, .. } => vec![id.clone()],
        };
        let mut news = News::default();
        for name in names {
            let unread = || Some(Tail::new(&self.folder, &name));
            let slot = self.tails.entry(name.clone()).or_insert_with(unread);
            let Some(tail) = slot else { continue };
            match tail.read() {
                Ok(read) => {
                    news.lines.extend(read.lines);
                    news.unreadable += read.unreadable;
                    news.unfinished += usize::from(read.unfinished);
                }
                Err(error) => {
                    *slot = None;
                    news.findings.push(cannot_be_read(&self.folder, &name, &error));
                }
            }
        }
        if let Whose::Subagent { id, .. } = &self.whose {
            news.lines.retain(|line| line.record.conversation_id == *id);
        }
        // Times are written to the same digits, so they sort as text; of equal times the order of writing stands.
        news.lines.sort_by(|one, other| one.record.time.cmp(&other.record.time));
        Ok(news)
    }
}

/// The conversations that have a journal.
pub(super) fn all(folder: &Path) -> Result<Vec<String>, Failure> {
    journal::conversations(folder)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", folder.display())))
}

fn cannot_be_read(folder: &Path, name: &str, error: &std::io::Error) -> Diagnostic {
    let message = format!("the journal of the conversation {name} cannot be read: {error}");
    Diagnostic::new("journal-not-read", Severity::Warning, message)
        .at(folder)
        .help("check the permissions of the file; the other journals are shown")
}
