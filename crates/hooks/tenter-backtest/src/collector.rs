//! Joins the calls of a transcript with their results, and counts what cannot be read.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use tenter_base::one_line;

use crate::recorded::{CallEnd, RecordedCall};

/// Maximum number of calls that wait for their result.
const MAX_PENDING: usize = 4096;
/// Maximum number of unknown kinds of records that are named.
const MAX_KINDS: usize = 64;
/// Maximum length of the name of a kind, in characters.
const MAX_KIND_NAME: usize = 60;

/// The kind of records that name none.
const UNNAMED: &str = "without a type";

/// The counts of what was read and of what was not understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReadCounts {
    /// Files that were read.
    pub files: u64,
    /// Files that cannot be read, each with the reason.
    pub unreadable_files: BTreeMap<String, String>,
    /// Calls, each once.
    pub calls: u64,
    /// Further records of the same calls: forks, resumed sessions, retries.
    pub repeated: u64,
    /// Lines that are no JSON; the last line of a file is one while the agent writes it.
    pub unreadable_lines: u64,
    /// Lines that are too long to be read.
    pub long_lines: u64,
    /// Kinds of records that this version does not know, with their numbers.
    pub unknown: BTreeMap<String, u64>,
}

impl ReadCounts {
    /// Counts a record of an unknown kind.
    pub fn add_unknown(&mut self, kind: &str) {
        let kind = if kind.is_empty() { UNNAMED } else { kind };
        let kind = one_line(kind, MAX_KIND_NAME);
        if self.unknown.len() < MAX_KINDS || self.unknown.contains_key(&kind) {
            *self.unknown.entry(kind).or_default() += 1;
        } else {
            *self.unknown.entry("others".to_owned()).or_default() += 1;
        }
    }
}

/// Collects the calls of one transcript: each waits for its result and is then passed on.
pub struct CallCollector<'c> {
    /// The counts of the agent.
    pub counts: &'c mut ReadCounts,
    sink: &'c mut dyn FnMut(RecordedCall),
    /// The calls without a result, by their order.
    pending: BTreeMap<u64, RecordedCall>,
    /// The places of pending calls, by id.
    places: HashMap<String, u64>,
    next: u64,
}

impl<'c> CallCollector<'c> {
    /// Creates a collector that passes calls to `sink`.
    pub fn new(counts: &'c mut ReadCounts, sink: &'c mut dyn FnMut(RecordedCall)) -> Self {
        let (pending, places) = Default::default();
        Self { counts, sink, pending, places, next: 0 }
    }

    /// Adds a call. A later record of a call that has no result yet replaces it.
    pub fn begin(&mut self, call: RecordedCall) {
        let Some(id) = call.native.id.clone() else { return (self.sink)(call) };
        let place = *self.places.entry(id).or_insert(self.next);
        self.next += 1;
        self.pending.insert(place, call);
        if self.pending.len() > MAX_PENDING
            && let Some((_, oldest)) = self.pending.pop_first()
        {
            self.pass_on(oldest);
        }
    }

    /// Adds the end of a call.
    pub fn end(&mut self, id: &str, end: CallEnd) {
        let place = self.places.get(id).copied();
        if let Some(mut call) = place.and_then(|place| self.pending.remove(&place)) {
            let is_approved = call.end == CallEnd::Approved && end == CallEnd::Succeeded;
            call.end = if is_approved { CallEnd::Approved } else { end };
            self.pass_on(call);
        }
    }

    /// Marks a call that waits for its result as allowed by the user.
    pub fn approve(&mut self, id: &str) {
        if let Some(call) = self.places.get(id).and_then(|place| self.pending.get_mut(place)) {
            call.end = CallEnd::Approved;
        }
    }

    /// Returns the last call of this tool that waits for its result.
    pub fn last_pending(&mut self, tool: &str) -> Option<&mut RecordedCall> {
        self.pending.values_mut().rev().find(|call| call.native.tool == tool)
    }

    /// Passes the calls on that have no result, and is ready for another transcript.
    pub fn finish(&mut self) {
        while let Some((_, call)) = self.pending.pop_first() {
            self.pass_on(call);
        }
    }

    fn pass_on(&mut self, call: RecordedCall) {
        if let Some(id) = &call.native.id {
            self.places.remove(id);
        }
        (self.sink)(call);
    }
}
