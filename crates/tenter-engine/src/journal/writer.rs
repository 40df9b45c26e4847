//! Writes the journal as an observer: one line a record, one `write` a line, so that lines of parallel tool calls and of
//! parallel processes do not mix. Trouble with the journal is told once and never stops the agent.

use std::collections::HashMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tenter_protocol::{Diagnostic, Scope, Severity, json};

use super::record::{Record, RecordKind};
use super::redact::Redactor;
use crate::observe::{Change, Decision, HookRun, Observer};

/// Writes every hook run and every decision to `<folder>/<conversation>.jsonl`, mode 0600.
pub struct JournalWriter {
    folder: PathBuf,
    redactor: Redactor,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: HashMap<String, File>,
    trouble: Option<Diagnostic>,
}

impl JournalWriter {
    /// A writer into `folder`, which is made when the first line is written.
    pub fn new(folder: PathBuf, redactor: Redactor) -> Self {
        Self { folder, redactor, state: Mutex::default() }
    }

    /// What kept lines from being written, if anything did since this was last asked.
    pub fn take_trouble(&self) -> Option<Diagnostic> {
        self.state.lock().ok()?.trouble.take()
    }

    fn write(&self, scope: &Scope, record: Record) {
        let line = json::to_line(&self.redacted(record));
        // A poisoned lock means that another thread died while it wrote a line; this one can still be written.
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let root = scope.parent_conversation_id.as_ref().unwrap_or(&scope.conversation_id);
        if let Err(error) = state.append(&self.folder, root, line.as_bytes()) {
            state.trouble = Some(
                Diagnostic::new("journal-not-written", Severity::Warning, format!("the journal could not be written: {error}"))
                    .at(&self.folder)
                    .help("the agent goes on, but what its hooks do is not recorded; check the folder's space and permissions"),
            );
        }
    }

    fn redacted(&self, mut record: Record) -> Record {
        match &mut record.kind {
            RecordKind::Run(run) => {
                run.reason = run.reason.take().map(|reason| self.redactor.text(&reason));
                run.stderr = self.redactor.text(&run.stderr);
                run.rewrite = run.rewrite.take().map(|change| Change {
                    before: self.redactor.value(change.before),
                    after: self.redactor.value(change.after),
                });
            }
            RecordKind::Decision(decision) => {
                decision.reason = decision.reason.take().map(|reason| self.redactor.text(&reason));
            }
        }
        record
    }
}

impl State {
    fn append(&mut self, folder: &Path, conversation: &str, line: &[u8]) -> io::Result<()> {
        if !self.files.contains_key(conversation) {
            let file = open(folder, conversation)?;
            self.files.insert(conversation.to_owned(), file);
        }
        self.files.get_mut(conversation).map_or(Ok(()), |file| file.write_all(line))
    }
}

fn open(folder: &Path, conversation: &str) -> io::Result<File> {
    if !folder.is_dir() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let path = super::reader::path(folder, conversation);
    let mut file =
        OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(&path)?;
    if ends_mid_line(&mut file)? {
        // A process that was killed while it wrote left half a line; ours must not be glued to it.
        file.write_all(b"\n")?;
    }
    Ok(file)
}

fn ends_mid_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

impl Observer for JournalWriter {
    fn hook_ran(&self, run: &HookRun) {
        self.write(&run.scope, Record::from(run));
    }

    fn decided(&self, decision: &Decision) {
        self.write(&decision.scope, Record::from(decision));
    }
}
