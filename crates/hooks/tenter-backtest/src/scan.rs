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

/// The selection of calls that are read.
#[derive(Debug, Clone, Copy)]
pub struct ScanOptions<'s> {
    /// The places of transcripts.
    pub places: &'s HostPlaces,
    /// The ids of the agents; empty for all.
    pub hosts: &'s [String],
    /// Earlier calls are not read.
    pub since: Option<Timestamp>,
    /// The number of calls after which no further transcript is read, the newest ones first.
    pub max_calls: Option<u64>,
}

/// The counts of each agent that has transcripts.
pub type HostCounts = BTreeMap<&'static str, ReadCounts>;

/// Passes the calls of all transcripts to `sink`, each once. Calls without a time count as recent.
pub fn scan(options: ScanOptions<'_>, sink: &mut dyn FnMut(RecordedCall)) -> HostCounts {
    let ScanOptions { places, hosts, since, max_calls } = options;
    let is_chosen = |reader: &&TranscriptReader| {
        let is_default = hosts.is_empty() && !reader.is_second_choice;
        is_default || hosts.iter().any(|host| host == reader.host)
    };
    let readers = readers::ALL.iter().filter(is_chosen);
    let files = readers.flat_map(|reader| {
        (reader.files)(places).into_iter().map(move |file| (reader, modified(&file), file))
    });
    let mut files: Vec<_> = files.collect();
    if max_calls.is_some() {
        files.sort_by_key(|(_, modified, _)| std::cmp::Reverse(*modified));
    }
    let mut counts = HostCounts::new();
    let mut calls = CallFilter { since, identities: HashSet::new(), passes: 0, sink };
    for (reader, modified, file) in files {
        let host_counts = counts.entry(reader.host).or_default();
        let is_old = since.is_some_and(|since| modified.is_some_and(|time| time < since));
        if !is_old && max_calls.is_none_or(|max| calls.passes < max) {
            calls.read(reader, &file, host_counts);
        }
    }
    counts
}

/// Returns the time of the last change of a file.
fn modified(file: &Path) -> Option<Timestamp> {
    let modified = fs::metadata(file).and_then(|data| data.modified()).ok()?;
    Timestamp::try_from(modified).ok()
}

/// Passes each call on once.
struct CallFilter<'c> {
    since: Option<Timestamp>,
    /// The identities of the calls so far.
    identities: HashSet<u64>,
    passes: u64,
    sink: &'c mut dyn FnMut(RecordedCall),
}

impl CallFilter<'_> {
    fn read(&mut self, reader: &TranscriptReader, file: &Path, counts: &mut ReadCounts) {
        let (mut passes, mut repetitions) = (0, 0);
        let mut pass = |call: RecordedCall| {
            if self.since.zip(call.time).is_some_and(|(since, time)| time < since) {
                return;
            }
            if self.identities.insert(identity(&call)) {
                passes += 1;
                (self.sink)(call);
            } else {
                repetitions += 1;
            }
        };
        let mut collector = CallCollector::new(counts, &mut pass);
        let result = reader.read(file, &mut collector);
        collector.finish();
        counts.calls += passes;
        counts.repeated += repetitions;
        self.passes += passes;
        match result {
            Ok(()) => counts.files += 1,
            Err(error) => {
                let file = file.to_string_lossy().into_owned();
                counts.unreadable_files.insert(file, error.to_string());
            }
        }
    }
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
    call.host.hash(&mut hasher);
    call.native.tool.hash(&mut hasher);
    tenter_protocol::json::to_string(&call.native.input).hash(&mut hasher);
    hasher.finish()
}
