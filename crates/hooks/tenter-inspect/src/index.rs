//! An index of all journals: a summary of each session, and the figures of each run. It reads only what was written since the last
//! call, within a time limit, the newest sessions first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use jiff::SignedDuration;
use tenter_base::untrusted_file;
use tenter_engine::journal::{self, JournalDirectories};
use tenter_engine::{DecisionKind, Timestamp};

use crate::figures::{AnswerKind, QuestionAnswer, Run};
use crate::file_data;
use crate::line::Line;
use crate::names::{NameId, Names};

/// Number of bytes that are read at once.
const BLOCK: u64 = 1 << 20;
/// Maximum number of bytes that are read of one journal at a time, the newest. Holes of the file do not count.
const MAX_NEWS: u64 = 256 << 20;
/// Number of bytes between two places at which a long journal is searched for the first records since a time.
const SEARCH_STEP: u64 = 64 << 10;
/// The time by which a record may be written after its time: more than any hook may run.
const MAX_RUN: SignedDuration = SignedDuration::from_hours(1);

/// An index of journals.
#[derive(Debug)]
pub struct JournalIndex {
    journals: JournalDirectories,
    names: Names,
    sessions: BTreeMap<String, IndexedSession>,
    /// Sessions whose journal could not be read, and why.
    failures: BTreeMap<String, String>,
    /// The time before which records need not be read.
    since: Option<Timestamp>,
}

/// The progress of reading the journals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Number of bytes that were read.
    pub bytes_read: u64,
    /// Number of bytes in all journals.
    pub total: u64,
}

impl Progress {
    /// Returns true if everything is read, except for an incomplete last line.
    pub fn is_complete(self) -> bool {
        self.bytes_read >= self.total
    }
}

#[derive(Debug, Default)]
struct IndexedSession {
    /// Number of bytes that were read.
    offset: u64,
    /// The end of an incomplete last line.
    unfinished_length: u64,
    /// True if older lines were not read, because there were more than [`MAX_NEWS`] bytes.
    is_cut: bool,
    summary: Summary,
    runs: Vec<IndexedRun>,
    answers: Vec<IndexedAnswer>,
}

#[derive(Debug, Default)]
struct Summary {
    first: String,
    last: String,
    records: usize,
    denials: usize,
    failures: usize,
    unreadable: usize,
    projects: BTreeSet<NameId>,
    hosts: BTreeSet<NameId>,
    tools: BTreeSet<NameId>,
    hooks: BTreeSet<NameId>,
    decisions: BTreeSet<DecisionKind>,
}

#[derive(Debug, Clone, Copy)]
struct IndexedRun {
    at: Timestamp,
    project: NameId,
    hook: NameId,
    hash: NameId,
    /// The rule that the call fits; the empty name if none does.
    rule: NameId,
    duration_ms: u32,
    decision: DecisionKind,
    would_stop: bool,
    timed_out: bool,
    awaited: bool,
}

#[derive(Debug, Clone, Copy)]
struct IndexedAnswer {
    at: Timestamp,
    project: NameId,
    hook: NameId,
    answer: AnswerKind,
}

/// A session, as far as its journal was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session<'i> {
    /// The id of its conversation.
    pub id: &'i str,
    /// The agents that its records are of; one, unless ids collide.
    pub hosts: Vec<&'i str>,
    /// The projects that its records are of; usually one.
    pub projects: Vec<&'i str>,
    /// The tools that its records are of.
    pub tools: Vec<&'i str>,
    /// The hooks that ran in it.
    pub hooks: Vec<&'i str>,
    /// The decisions of hooks in it.
    pub decisions: &'i BTreeSet<DecisionKind>,
    /// The time of its first record, in RFC 3339; empty if there is none.
    pub first: &'i str,
    /// The time of its newest record.
    pub last: &'i str,
    /// Number of records.
    pub records: usize,
    /// Number of hook runs.
    pub runs: usize,
    /// Number of events that hooks denied.
    pub denials: usize,
    /// Number of hook runs that failed.
    pub failures: usize,
    /// Number of lines that cannot be read.
    pub unreadable: usize,
}

impl JournalIndex {
    /// Creates an index of `journals`, of which nothing is read yet.
    pub fn new(journals: impl Into<JournalDirectories>) -> Self {
        Self {
            journals: journals.into(),
            names: Names::default(),
            sessions: BTreeMap::new(),
            failures: BTreeMap::new(),
            since: None,
        }
    }

    /// Returns the same index, which need not contain older records than `since`.
    #[must_use]
    pub fn since(self, since: Option<Timestamp>) -> Self {
        Self { since, ..self }
    }

    /// Reads what was written since the last call, for at most `limit`, the newest sessions first. A journal that is deleted leaves the
    /// index; one that cannot be read is in [`failed`](Self::failed).
    ///
    /// # Errors
    /// When a directory is there but cannot be read.
    pub fn advance(&mut self, limit: Option<Duration>) -> io::Result<Progress> {
        let start = Instant::now();
        let dated = self.journals.dated_conversations()?;
        let since = self.since.and_then(|since| since.checked_sub(MAX_RUN).ok());
        let is_recent = |mtime: SystemTime| since.is_none_or(|since| mtime >= since.into());
        let recent = dated.into_iter().rev().filter(|(mtime, _)| is_recent(*mtime));
        let ids: Vec<String> = recent.map(|(_, id)| id).collect();
        let present: BTreeSet<&String> = ids.iter().collect();
        self.sessions.retain(|id, _| present.contains(id));
        self.failures.clear();
        let mut progress = Progress::default();
        for id in ids {
            let path = self.journals.path(&id);
            let session = self.sessions.entry(id.clone()).or_default();
            let mut is_late = || limit.is_some_and(|limit| start.elapsed() >= limit);
            match session.advance(&path, (&mut self.names, since), &mut is_late) {
                Ok(count) => {
                    progress.bytes_read += count.bytes_read;
                    progress.total += count.total;
                }
                Err(error) => {
                    self.failures.insert(id, error.to_string());
                }
            }
        }
        Ok(progress)
    }

    /// Returns the sessions whose journal could not be read, and why.
    pub fn failed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.failures.iter().map(|(id, why)| (id.as_str(), why.as_str()))
    }

    /// Returns the sessions with a journal that was read in part: only its newest records.
    pub fn cut(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().filter(|(_, session)| session.is_cut).map(|(id, _)| id.as_str())
    }

    /// Returns all sessions, the one with the newest record first.
    pub fn sessions(&self) -> Vec<Session<'_>> {
        let mut all: Vec<Session<'_>> =
            self.sessions.iter().map(|(id, indexed)| self.session(id, indexed)).collect();
        all.sort_by(|one, other| other.last.cmp(one.last).then_with(|| one.id.cmp(other.id)));
        all
    }

    /// Returns every run in the journals, as far as they are read.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        self.sessions.values().flat_map(|session| &session.runs).map(|run| self.run(run))
    }

    /// Returns the runs of a project.
    pub fn runs_of(&self, project: &str) -> impl Iterator<Item = Run<'_>> {
        let project = self.names.find(project);
        let runs = self.sessions.values().flat_map(|session| &session.runs);
        runs.filter(move |run| Some(run.project) == project).map(|run| self.run(run))
    }

    /// Returns every answer to a question of a hook.
    pub fn answers(&self) -> impl Iterator<Item = QuestionAnswer<'_>> {
        let answers = self.sessions.values().flat_map(|session| &session.answers);
        answers.map(|answer| self.answer(answer))
    }

    /// Returns the answers in a project.
    pub fn answers_of(&self, project: &str) -> impl Iterator<Item = QuestionAnswer<'_>> {
        let project = self.names.find(project);
        let answers = self.sessions.values().flat_map(|session| &session.answers);
        let is_of_project = move |answer: &&IndexedAnswer| Some(answer.project) == project;
        answers.filter(is_of_project).map(|answer| self.answer(answer))
    }

    fn answer(&self, answer: &IndexedAnswer) -> QuestionAnswer<'_> {
        QuestionAnswer { at: answer.at, hook: self.names.text(answer.hook), answer: answer.answer }
    }

    fn session<'i>(&'i self, id: &'i str, indexed: &'i IndexedSession) -> Session<'i> {
        let summary = &indexed.summary;
        let texts = |ids: &BTreeSet<NameId>| {
            ids.iter().map(|id| self.names.text(*id)).filter(|text| !text.is_empty()).collect()
        };
        Session {
            id,
            hosts: texts(&summary.hosts),
            projects: texts(&summary.projects),
            tools: texts(&summary.tools),
            hooks: texts(&summary.hooks),
            decisions: &summary.decisions,
            first: &summary.first,
            last: &summary.last,
            records: summary.records,
            runs: indexed.runs.len(),
            denials: summary.denials,
            failures: summary.failures,
            unreadable: summary.unreadable,
        }
    }

    fn run(&self, run: &IndexedRun) -> Run<'_> {
        Run {
            at: run.at,
            hook: self.names.text(run.hook),
            hash: self.names.text(run.hash),
            rule: self.names.text(run.rule),
            duration: Duration::from_millis(run.duration_ms.into()),
            decision: run.decision,
            would_stop: run.would_stop,
            timed_out: run.timed_out,
            awaited: run.awaited,
        }
    }
}

impl IndexedSession {
    /// Reads on, until `is_late`.
    fn advance(
        &mut self,
        path: &Path,
        (names, since): (&mut Names, Option<Timestamp>),
        is_late: &mut impl FnMut() -> bool,
    ) -> io::Result<Progress> {
        let length = journal::length(path)?;
        if length < self.offset {
            *self = Self::default(); // it was deleted and created again
        }
        if length > self.offset && length != self.unfinished_length {
            let mut file = untrusted_file::open(path)?;
            self.skip_old(&mut file, length)?;
            if let Some(since) = since.filter(|_| self.offset == 0) {
                self.offset = start_of_records(&mut file, length, since)?;
            }
            while self.offset < length && !is_late() {
                if !self.block(&mut file, length, names)? {
                    break;
                }
            }
        }
        let offset = if self.unfinished_length == length { length } else { self.offset };
        Ok(Progress { bytes_read: offset, total: length })
    }

    /// Continues with the newest part if there is too much to read, at the beginning of a line.
    fn skip_old(&mut self, file: &mut File, length: u64) -> io::Result<()> {
        let start = file_data::start_of_last(file, self.offset..length, MAX_NEWS);
        if start > self.offset {
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = Vec::new();
            file.take(BLOCK).read_to_end(&mut bytes)?;
            let newline = bytes.iter().position(|byte| *byte == b'\n');
            self.offset = start + newline.map_or(0, |newline| newline as u64 + 1);
            self.is_cut = true;
        }
        Ok(())
    }

    /// Reads a block of lines. Returns false at an incomplete last line.
    fn block(&mut self, file: &mut File, length: u64, names: &mut Names) -> io::Result<bool> {
        self.offset = file_data::next(file, self.offset).unwrap_or(length);
        if self.offset >= length {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.offset))?;
        file.take(BLOCK).read_to_end(&mut bytes)?;
        let is_end = self.offset + bytes.len() as u64 >= length;
        let length = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) if !is_end => newline + 1,
            // A line longer than a block is no record; it is counted once for each block.
            _ => bytes.len(),
        };
        let mut position = 0;
        for piece in bytes[..length].split_inclusive(|byte| *byte == b'\n') {
            let content = piece.trim_ascii();
            match Line::read(content) {
                Some(line) => self.add(&line, names),
                None if content.is_empty() => {}
                None if is_end && !piece.ends_with(b"\n") => {
                    self.offset += position as u64;
                    self.unfinished_length = self.offset + piece.len() as u64;
                    return Ok(false);
                }
                None => self.summary.unreadable += 1,
            }
            position += piece.len();
        }
        self.offset += position as u64;
        Ok(!bytes.is_empty())
    }

    fn add(&mut self, line: &Line<'_>, names: &mut Names) {
        let summary = &mut self.summary;
        summary.records += 1;
        // Records of parallel hooks are written when these end.
        if summary.first.is_empty() || *line.time < *summary.first {
            line.time.as_ref().clone_into(&mut summary.first);
        }
        if *line.time > *summary.last {
            line.time.as_ref().clone_into(&mut summary.last);
        }
        let project = names.id(&line.project);
        summary.projects.insert(project);
        summary.hosts.insert(names.id(line.host()));
        summary.tools.insert(names.id(&line.tool_name));
        summary.hooks.insert(names.id(&line.hook));
        let decision = line.decision();
        summary.decisions.extend(decision);
        summary.denials += usize::from(line.is_decision() && decision == Some(DecisionKind::Deny));
        let Ok(at) = line.time.parse() else { return };
        if let Some(answer) = line.answer() {
            self.answers.push(IndexedAnswer { at, project, hook: names.id(&line.hook), answer });
        }
        let Some(decision) = decision.filter(|_| line.is_run()) else { return };
        self.summary.failures += usize::from(decision == DecisionKind::Failed);
        self.runs.push(IndexedRun {
            at,
            project,
            hook: names.id(&line.hook),
            hash: names.id(&line.hash),
            rule: names.id(line.rule.as_ref().map_or("", |rule| &rule.name)),
            duration_ms: u32::try_from(line.duration_ms).unwrap_or(u32::MAX),
            decision,
            would_stop: line.would_stop(),
            timed_out: line.exit == "timed out",
            awaited: !line.asynchronous,
        });
    }
}

/// Returns the start of a line before which every record is older than `since`. Records are written in the order in which they end.
fn start_of_records(file: &mut File, length: u64, since: Timestamp) -> io::Result<u64> {
    let (mut start, mut end) = (0, length);
    while end - start > SEARCH_STEP {
        let middle = start + (end - start) / 2;
        match first_record(file, middle)? {
            Some((line, time)) if time < since && line < end => start = line,
            _ => end = middle,
        }
    }
    Ok(start)
}

/// Returns the start and the time of the first record that begins after a position, if there is one nearby.
fn first_record(file: &mut File, position: u64) -> io::Result<Option<(u64, Timestamp)>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(position))?;
    file.take(SEARCH_STEP).read_to_end(&mut bytes)?;
    let mut line = position;
    for (index, piece) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        // The first piece is the end of a line.
        let record = Line::read(piece.trim_ascii()).filter(|_| index > 0);
        if let Some(time) = record.and_then(|record| record.time.parse().ok()) {
            return Ok(Some((line, time)));
        }
        line += piece.len() as u64;
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
