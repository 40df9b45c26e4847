//! Reads the selected journals as one stream: sessions in the order of their newest records, each in the order of time.

use std::collections::BTreeMap;
use std::path::Path;

use tenter_engine::journal::{JournalDirectories, JournalTail};
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::failure::Failure;

use super::selection::{JournalSelection, SessionLine};

/// The selected journals, and how far they were read.
pub(super) struct Journals {
    directories: JournalDirectories,
    selection: JournalSelection,
    /// By conversation; none where reading failed, so that this is reported once.
    tails: BTreeMap<String, Option<JournalTail>>,
}

/// The lines that were written since the last read.
#[derive(Default)]
pub(super) struct NewLines {
    /// The session with the newest record last.
    pub(super) lines: Vec<SessionLine>,
    /// Lines that cannot be read.
    pub(super) unreadable: usize,
    /// Journals that end with half a line.
    pub(super) unfinished: usize,
    /// Journals that cannot be read.
    pub(super) findings: Vec<Diagnostic>,
}

impl Journals {
    /// The selected journals in `directories`, unread.
    pub(super) fn new(directories: JournalDirectories, selection: JournalSelection) -> Self {
        Self { directories, selection, tails: BTreeMap::new() }
    }

    pub(super) fn directory(&self) -> &Path {
        self.directories.first()
    }

    pub(super) fn selection(&self) -> &JournalSelection {
        &self.selection
    }

    /// Reads what was written since the last call, also into new journals.
    pub(super) fn read(&mut self) -> Result<NewLines, Failure> {
        let mut news = NewLines::default();
        for name in self.names()? {
            let unread = || Some(self.directories.tail(&name));
            let slot = self.tails.entry(name.clone()).or_insert_with(unread);
            let Some(tail) = slot else { continue };
            match tail.read() {
                Ok(read) => {
                    let lines = read.lines.into_iter();
                    news.lines
                        .extend(lines.map(|line| SessionLine { session: name.clone(), line }));
                    news.unreadable += read.unreadable;
                    news.unfinished += usize::from(read.unfinished);
                }
                Err(error) => {
                    *slot = None;
                    news.findings.push(cannot_be_read(
                        &self.directories.path(&name),
                        &name,
                        &error,
                    ));
                }
            }
        }
        self.selection.retain(&mut news.lines)?;
        sort(&mut news.lines);
        Ok(news)
    }

    fn names(&self) -> Result<Vec<String>, Failure> {
        match &self.selection {
            JournalSelection::All | JournalSelection::Project(_) => all(&self.directories),
            JournalSelection::Conversation(id) | JournalSelection::Subagent { parent: id, .. } => {
                Ok(vec![id.clone()])
            }
        }
    }
}

/// Sorts by session, the one with the newest record last, and by time within a session. Times are written to the same digits, so they
/// sort as text; of equal times the order of writing stands.
fn sort(lines: &mut [SessionLine]) {
    let mut newest: BTreeMap<String, String> = BTreeMap::new();
    for SessionLine { session, line } in &*lines {
        let time = &line.record.time;
        let latest = newest.entry(session.clone()).or_default();
        if time > latest {
            latest.clone_from(time);
        }
    }
    let key = |it: &SessionLine| {
        (newest.get(&it.session).cloned(), it.session.clone(), it.line.record.time.clone())
    };
    lines.sort_by_cached_key(key);
}

/// The conversations that have a journal.
pub(super) fn all(directories: &JournalDirectories) -> Result<Vec<String>, Failure> {
    directories.conversations().map_err(|error| {
        let all: Vec<String> =
            directories.all().map(|directory| directory.display().to_string()).collect();
        Failure::new(format!("cannot read {}: {error}", all.join(" and ")))
    })
}

fn cannot_be_read(path: &Path, name: &str, error: &std::io::Error) -> Diagnostic {
    let message = format!("cannot read the journal of the conversation {name}: {error}");
    Diagnostic::new("journal-not-read", Severity::Warning, message)
        .at(path)
        .help("check the permissions of the file; the other journals are shown")
}
