//! Writes the journal as an observer: one line a record, one `write` a line, so that lines of parallel tool calls and of
//! parallel processes do not mix. An error with the journal is reported once and never stops the agent.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tenter_base::private_dir;
use tenter_protocol::{Diagnostic, Scope, Severity, json};

use super::record::Record;
use super::redact::Redactor;
use crate::observe::{AskAnswer, CallPermission, Decision, HookRun, Notice, Observer};

/// The interval at which the end of a journal is looked at that does not end with a whole line.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum number of times that it is looked at. A writer that is not done by then was killed.
const MAX_LOOKS: usize = 20;

/// The journal of one conversation.
struct Journal {
    file: File,
    /// The length, in bytes, at which it last ended with a whole line.
    whole: u64,
}

/// Writes every hook run and every decision to `<directory>/<conversation>.jsonl`, mode 0600.
pub struct JournalWriter {
    directory: PathBuf,
    redactor: Redactor,
    /// The project that the records are of.
    project: Option<String>,
    state: Mutex<JournalState>,
}

#[derive(Default)]
struct JournalState {
    files: HashMap<String, Journal>,
    /// True if a line was lost before: only the first error is reported.
    lost: bool,
    trouble: Option<Diagnostic>,
}

impl JournalWriter {
    /// Creates a writer into `directory`, which is created when the first line is written.
    pub fn new(directory: PathBuf, redactor: Redactor) -> Self {
        Self { directory, redactor, project: None, state: Mutex::default() }
    }

    /// Returns the same writer, whose records name their project.
    #[must_use]
    pub fn for_project(self, root: &Path) -> Self {
        Self { project: Some(root.to_string_lossy().into_owned()), ..self }
    }

    /// Returns the reason why a line could not be written, if one could not. Returned once, even if more lines are lost.
    pub fn take_trouble(&self) -> Option<Diagnostic> {
        self.state().trouble.take()
    }

    fn write(&self, scope: &Scope, record: Record) {
        let line = json::to_line(&Record { project: self.project.clone(), ..record });
        let root = scope.parent_conversation_id.as_ref().unwrap_or(&scope.conversation_id);
        let mut state = self.state();
        if let Err(error) = state.append(&self.directory, root, line)
            && !std::mem::replace(&mut state.lost, true)
        {
            state.trouble = Some(not_written(&self.directory, &error));
        }
    }

    fn state(&self) -> MutexGuard<'_, JournalState> {
        // A poisoned lock means that another thread died while it wrote a line; this one can still be written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_written(directory: &Path, error: &io::Error) -> Diagnostic {
    let message = format!("the journal could not be written: {error}");
    Diagnostic::new("journal-not-written", Severity::Warning, message).at(directory).help(
        "the agent continues, but hook runs are not recorded; check the directory's free space and permissions",
    )
}

impl JournalState {
    fn append(&mut self, directory: &Path, conversation: &str, line: String) -> io::Result<()> {
        if let Some(journal) = self.files.get_mut(conversation) {
            return journal.append(line);
        }
        let journal = Journal { file: open(directory, conversation)?, whole: 0 };
        self.files.entry(conversation.to_owned()).or_insert(journal).append(line)
    }
}

impl Journal {
    fn append(&mut self, mut line: String) -> io::Result<()> {
        let mut length = self.file.metadata()?.len();
        let is_cut = length != self.whole && self.ends_mid_line(length)?;
        if is_cut {
            // One process after another looks at the end again, so that only one of them repairs it.
            self.lock();
            length = self.settled_length()?;
            if self.ends_mid_line(length)? {
                // A process that was killed, or this one when the disk was full, left half a line: start a new one.
                line.insert(0, '\n');
            }
        }
        let result = self.file.write_all(line.as_bytes());
        if is_cut {
            let _ = self.file.unlock();
        }
        result?;
        // If other processes wrote meanwhile, the file is longer and is checked again.
        self.whole = length + line.len() as u64;
        Ok(())
    }

    /// Waits for the lock that a process holds while it repairs the end of the journal, for a short time.
    fn lock(&self) {
        for _ in 0..MAX_LOOKS {
            if self.file.try_lock().is_ok() {
                return;
            }
            thread::sleep(LOOK_INTERVAL);
        }
    }

    /// Returns the length of the journal once it ends with a whole line, or no longer grows: another process may be writing a line.
    fn settled_length(&self) -> io::Result<u64> {
        let mut length = self.file.metadata()?.len();
        for _ in 0..MAX_LOOKS {
            if !self.ends_mid_line(length)? {
                break;
            }
            thread::sleep(LOOK_INTERVAL);
            let now = self.file.metadata()?.len();
            if now == length {
                break;
            }
            length = now;
        }
        Ok(length)
    }

    fn ends_mid_line(&self, length: u64) -> io::Result<bool> {
        let Some(end) = length.checked_sub(1) else { return Ok(false) };
        let mut last = [0];
        self.file.read_exact_at(&mut last, end)?;
        Ok(last != *b"\n")
    }
}

fn open(directory: &Path, conversation: &str) -> io::Result<File> {
    if !directory.is_dir() {
        private_dir::create(directory)?;
    }
    let path = super::reader::path(directory, conversation);
    OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(&path)
}

impl Observer for JournalWriter {
    fn hook_missing(&self, run: &HookRun) {
        self.hook_ran(run);
    }

    fn hook_ran(&self, run: &HookRun) {
        self.write(&run.scope, Record::from(self.redactor.observation(run)));
    }

    fn decided(&self, decision: &Decision) {
        self.write(&decision.scope, Record::from(self.redactor.observation(decision)));
    }

    fn ask_answered(&self, answer: &AskAnswer) {
        self.write(&answer.scope, Record::from(self.redactor.observation(answer)));
    }

    fn permission_decided(&self, decided: &CallPermission) {
        self.write(&decided.scope, Record::from(self.redactor.observation(decided)));
    }

    fn noticed(&self, notice: &Notice) {
        self.write(&notice.scope, Record::from(self.redactor.observation(notice)));
    }
}
