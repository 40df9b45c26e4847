//! Finds slow hooks and timeouts in the journal. Only runs of a hook's current content count.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use tenter_engine::RunEnd;
use tenter_engine::hook::{Fingerprint, Hook};
use tenter_engine::journal::{self, RecordKind};
use tenter_protocol::{Diagnostic, Severity};

/// Maximum median duration of a hook that the agent waits for.
const MAX_MEDIAN: Duration = Duration::from_secs(1);

/// The runs of all hooks, by name and content.
#[derive(Default)]
pub(super) struct History(HashMap<(String, Fingerprint), Runs>);

#[derive(Default)]
struct Runs {
    durations: Vec<Duration>,
    timed_out: usize,
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
            Err(error) => unread.push(unreadable(directory, &error)),
        }
        (history, unread)
    }

    fn add(&mut self, directory: &Path, conversation: &str) -> Result<(), Diagnostic> {
        let read = journal::read(directory, conversation)
            .map_err(|error| unreadable(directory, &error))?;
        for line in read.lines {
            if let RecordKind::Run(run) = line.record.kind {
                let runs = self.0.entry((run.hook, Fingerprint(run.hash))).or_default();
                runs.durations.push(Duration::from_millis(run.duration_ms));
                runs.timed_out += usize::from(run.end == RunEnd::TimedOut);
            }
        }
        Ok(())
    }

    /// Returns warnings about the runs of a hook.
    pub(super) fn warnings(&self, hook: &Hook) -> Vec<Diagnostic> {
        let key = (hook.name.clone(), hook.fingerprint.clone());
        let Some(runs) = self.0.get(&key) else { return Vec::new() };
        let median = runs.median();
        let timeout = hook.policy.timeout;
        let warning = |id, message: String, help: &str| {
            Diagnostic::new(id, Severity::Warning, message).at(&hook.path).help(help)
        };
        let count = runs.durations.len();
        let mut findings = Vec::new();
        if runs.timed_out > 0 {
            let message =
                format!("the hook {} timed out in {} of {count} runs", hook.name, runs.timed_out);
            findings.push(warning(
                "hook-timed-out",
                message,
                "raise its timeout, or make it faster",
            ));
        }
        if median > timeout {
            let message = format!(
                "the timeout of the hook {} is {} ms, but half of its {count} runs took {} ms or more",
                hook.name,
                timeout.as_millis(),
                median.as_millis()
            );
            findings.push(warning("hook-timeout-short", message, "raise its timeout"));
        } else if median > MAX_MEDIAN && !hook.policy.asynchronous {
            let message = format!(
                "the hook {} is slow: half of its {count} runs took {} ms or more, and the agent waited",
                hook.name,
                median.as_millis()
            );
            findings.push(warning(
                "hook-slow",
                message,
                "make it faster, narrow its matcher, or let it run with `async: true`",
            ));
        }
        findings
    }
}

impl Runs {
    /// Returns the upper median.
    fn median(&self) -> Duration {
        let mut sorted = self.durations.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

fn unreadable(directory: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!("cannot read the journal: {error}");
    Diagnostic::new("journal-not-read", Severity::Warning, message).at(directory)
}
