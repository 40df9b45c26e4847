//! Reads the transcripts of all agents, each call once.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use jiff::Timestamp;

use crate::collector::{CallCollector, ReadCounts};
use crate::places::HostPlaces;
use crate::readers::{self, TranscriptReader};
use crate::recorded::RecordedCall;

/// Minimum length of an id that no other session uses. Shorter ones, such as `call_0`, are numbers within a session.
const MIN_UNIQUE_ID: usize = 20;

/// What is read.
#[derive(Debug, Clone, Copy)]
pub struct ScanOptions<'s> {
    /// Where agents keep their transcripts.
    pub places: &'s HostPlaces,
    /// The ids of the agents; empty for all.
    pub hosts: &'s [String],
    /// Earlier calls are not read.
    pub since: Option<Timestamp>,
}

/// The counts of each agent that has transcripts.
pub type HostCounts = BTreeMap<&'static str, ReadCounts>;

/// Passes the calls of all transcripts to `sink`, each once. Calls without a time count as recent.
pub fn scan(options: ScanOptions<'_>, sink: &mut dyn FnMut(RecordedCall)) -> HostCounts {
    let is_chosen = |reader: &&&dyn TranscriptReader| {
        options.hosts.is_empty() || options.hosts.iter().any(|host| host == reader.host())
    };
    let mut counts = HostCounts::new();
    for reader in readers::ALL.iter().filter(is_chosen) {
        let files = reader.files(options.places);
        if !files.is_empty() {
            let files = files.iter().map(|file| &**file);
            counts.insert(reader.host(), scan_files(*reader, files, options.since, sink));
        }
    }
    counts
}

/// Passes the calls of these transcripts to `sink`, each once.
pub fn scan_files<'f>(
    reader: &dyn TranscriptReader,
    files: impl Iterator<Item = &'f Path>,
    since: Option<Timestamp>,
    sink: &mut dyn FnMut(RecordedCall),
) -> ReadCounts {
    let mut seen = HashSet::new();
    let (mut calls, mut repeated) = (0, 0);
    let mut counts = ReadCounts::default();
    let mut pass = |call: RecordedCall| {
        if since.zip(call.time).is_some_and(|(since, time)| time < since) {
            return;
        }
        if seen.insert(identity(&call)) {
            calls += 1;
            sink(call);
        } else {
            repeated += 1;
        }
    };
    for file in files.filter(|file| since.is_none_or(|since| may_be_newer(file, since))) {
        let mut collector = CallCollector::new(&mut counts, &mut pass);
        let result = reader.read(file, &mut collector);
        collector.finish();
        match result {
            Ok(()) => counts.files += 1,
            Err(error) => {
                let file = file.to_string_lossy().into_owned();
                counts.unreadable_files.insert(file, error.to_string());
            }
        }
    }
    (counts.calls, counts.repeated) = (calls, repeated);
    counts
}

/// Returns whether a file may contain calls after this time: it was written since.
fn may_be_newer(file: &Path, since: Timestamp) -> bool {
    let modified = fs::metadata(file).and_then(|data| data.modified()).ok();
    modified.and_then(|time| Timestamp::try_from(time).ok()).is_none_or(|time| time >= since)
}

/// Returns a number that all records of one call share: in forks, in resumed sessions, and where a line is doubled.
fn identity(call: &RecordedCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    let id = call.native.id.as_deref().unwrap_or_default();
    id.hash(&mut hasher);
    if id.len() < MIN_UNIQUE_ID {
        (&call.session, &call.agent).hash(&mut hasher);
    }
    if id.is_empty() {
        call.line.hash(&mut hasher);
    }
    call.native.tool.hash(&mut hasher);
    tenter_protocol::json::to_string(&call.native.input).hash(&mut hasher);
    hasher.finish()
}
