//! What the journal tells of hooks as they are now: which are slow, and which are cut off. Runs of what a hook once was do
//! not count.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use tenter_engine::RunEnd;
use tenter_engine::hook::{Fingerprint, Hook};
use tenter_engine::journal::{self, RecordKind};
use tenter_protocol::{Diagnostic, Severity};

/// A hook that everybody waits for may take this long in the middle of its runs.
const PATIENCE: Duration = Duration::from_secs(1);

/// The runs of every hook, by name and content.
#[derive(Default)]
pub(super) struct History(HashMap<(String, Fingerprint), Runs>);

#[derive(Default)]
struct Runs {
    durations: Vec<Duration>,
    cut_off: usize,
}

impl History {
    /// Reads every journal in `directory`; unreadable files are reported.
    pub(super) fn read(directory: &Path) -> (Self, Vec<Diagnostic>) {
        let mut history = Self::default();
        let mut unread = Vec::new();
        match journal::conversations(directory) {
            Ok(conversations) => {
                for conversation in conversations {
                    unread.extend(history.add(directory, &conversation).err());
                }
            }
            Err(error) => unread.push(not_read(directory, &error)),
        }
        (history, unread)
    }

    fn add(&mut self, directory: &Path, conversation: &str) -> Result<(), Diagnostic> {
        let read =
            journal::read(directory, conversation).map_err(|error| not_read(directory, &error))?;
        for line in read.lines {
            if let RecordKind::Run(run) = line.record.kind {
                let runs = self.0.entry((run.hook, Fingerprint(run.hash))).or_default();
                runs.durations.push(Duration::from_millis(run.duration_ms));
                runs.cut_off += usize::from(run.end == RunEnd::TimedOut);
            }
        }
        Ok(())
    }

    /// What the record says against a hook.
    pub(super) fn of(&self, hook: &Hook) -> Vec<Diagnostic> {
        let key = (hook.name.clone(), hook.fingerprint.clone());
        let Some(runs) = self.0.get(&key) else { return Vec::new() };
        let median = runs.median();
        let timeout = hook.policy.timeout;
        let told = |id, message: String, help: &str| {
            Diagnostic::new(id, Severity::Warning, message).at(&hook.path).help(help)
        };
        let count = runs.durations.len();
        let mut findings = Vec::new();
        if runs.cut_off > 0 {
            let message =
                format!("the hook {} timed out in {} of {count} runs", hook.name, runs.cut_off);
            findings.push(told("hook-timed-out", message, "give it more time, or less to do"));
        }
        if median > timeout {
            let message = format!(
                "the hook {} has {} ms, and half of its {count} runs took {} ms or more",
                hook.name,
                timeout.as_millis(),
                median.as_millis()
            );
            findings.push(told("hook-timeout-short", message, "raise its timeout"));
        } else if median > PATIENCE && !hook.policy.asynchronous {
            let message = format!(
                "the hook {} is slow: half of its {count} runs took {} ms or more, and the agent waited",
                hook.name,
                median.as_millis()
            );
            findings.push(told(
                "hook-slow",
                message,
                "make it faster, narrow its matcher, or let it run with `async: true`",
            ));
        }
        findings
    }
}

impl Runs {
    /// The upper one of the two in the middle.
    fn median(&self) -> Duration {
        let mut sorted = self.durations.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

fn not_read(directory: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!("the journal cannot be read: {error}");
    Diagnostic::new("journal-not-read", Severity::Warning, message).at(directory)
}
