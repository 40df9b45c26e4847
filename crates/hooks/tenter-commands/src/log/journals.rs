//! Reads the selected journals as one stream: sessions in the order of their newest records, each in the order of time.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tenter_base::rfc3339;
use tenter_engine::journal::{JournalDirectories, JournalLines, JournalTail, Record, RecordKind};
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::Failure;

use super::selection::{JournalSelection, SessionLine};

/// The time by which a record may be written later than its time, besides the duration of the run, or by which clocks of a file system differ.
const DELAY: Duration = Duration::from_secs(1);

/// The selected journals, and how far they were read.
pub(super) struct Journals {
    directories: JournalDirectories,
    selection: JournalSelection,
    /// By conversation; none where reading failed, so that this is reported once.
    tails: BTreeMap<String, Option<JournalTail>>,
}

/// The records that are read first.
pub(super) struct Newest<'w> {
    /// Maximum number of records, the newest; `None` for all.
    pub(super) limit: Option<NonZeroUsize>,
    /// The earliest time.
    pub(super) since: Option<Timestamp>,
    /// True if [`Journals::read`] is called afterwards.
    pub(super) continues: bool,
    /// Returns whether a line is shown, and whether it counts as a record; `None` if it is not shown.
    pub(super) shows: &'w dyn Fn(&SessionLine) -> Option<IsRecord>,
}

/// True if a line is a record of its own, false if it belongs to the record before it.
pub(super) type IsRecord = bool;

/// The lines that were written since the last read.
#[derive(Default)]
pub(super) struct NewLines {
    /// The session with the newest record last.
    pub(super) lines: Vec<SessionLine>,
    /// The number of lines that were read and selected, whether they are shown or not.
    pub(super) selected_lines: usize,
    /// True if there are journals without records of the time that is shown.
    pub(super) has_older: bool,
    /// Lines that cannot be read.
    pub(super) unreadable: usize,
    /// Journals that end with half a line.
    pub(super) unfinished_journals: usize,
    /// Journals that cannot be read.
    pub(super) findings: Vec<Diagnostic>,
}

impl Journals {
    /// Creates the selected journals in `directories`, unread.
    pub(super) fn new(directories: JournalDirectories, selection: JournalSelection) -> Self {
        Self { directories, selection, tails: BTreeMap::new() }
    }

    pub(super) fn directory(&self) -> &Path {
        self.directories.first()
    }

    pub(super) fn selection(&self) -> &JournalSelection {
        &self.selection
    }

    /// Reads the newest records, from the ends of the journals, the newest journal first. The next call of [`read`](Self::read) continues
    /// where the journals end now.
    pub(super) fn read_newest(&mut self, newest: &Newest) -> Result<NewLines, Failure> {
        let mut news = NewLines::default();
        let mut sessions = BTreeMap::new();
        for (written, name) in self.dated_names()?.into_iter().rev() {
            // No record of this journal, or of an older one, is newer than this.
            let latest = written.map(|time| time + DELAY);
            let is_old = latest
                .zip(newest.since)
                .is_some_and(|(latest, since)| latest < SystemTime::from(since));
            if is_old || newest.has_enough(&sessions, latest) {
                news.has_older |= is_old;
                if !newest.continues {
                    break;
                }
                let mut tail = self.directories.tail(&name);
                // A journal that cannot be read is reported when it is read.
                let _ = tail.skip_to_end();
                self.tails.insert(name, Some(tail));
                continue;
            }
            match self.read_session(&name, newest, &mut news) {
                Ok((records, end)) => {
                    let end = end.unwrap_or_else(|| self.directories.tail(&name));
                    self.tails.insert(name.clone(), Some(end));
                    sessions.insert(name, records);
                }
                Err(SessionError::Journal(error)) => {
                    let path = self.directories.path(&name);
                    news.findings.push(cannot_be_read(&path, &name, &error));
                    self.tails.insert(name, None);
                }
                Err(SessionError::Store(failure)) => return Err(failure),
            }
        }
        news.findings.reverse();
        sort(&mut news.lines);
        Ok(news)
    }

    /// Reads the newest records of a session into `news`. Returns these records, and the end of the journal.
    fn read_session(
        &self,
        name: &str,
        newest: &Newest,
        news: &mut NewLines,
    ) -> Result<(SessionRecords, Option<JournalTail>), SessionError> {
        let mut records = SessionRecords::default();
        let Some(mut journal) = self.directories.newest(name)? else { return Ok((records, None)) };
        let mut blocks = Vec::new();
        while let Some(JournalLines { lines, unreadable, unfinished }) = journal.previous()? {
            news.unreadable += unreadable;
            news.unfinished_journals += usize::from(unfinished);
            let first_written = lines.iter().find_map(|line| written(&line.record));
            let mut selection = Vec::new();
            for line in lines {
                let line = SessionLine { session: name.to_owned(), line };
                if !self.selection.has(&line).map_err(SessionError::Store)? {
                    continue;
                }
                news.selected_lines += 1;
                if let Some(is_record) = (newest.shows)(&line) {
                    records.add(&line.line.record, is_record);
                    selection.push(line);
                }
            }
            blocks.push(selection);
            if newest.is_done(&records, first_written) {
                break;
            }
        }
        news.lines.extend(blocks.into_iter().rev().flatten());
        Ok((records, Some(journal.tail())))
    }

    /// Returns the names of all hooks in the selected journals.
    pub(super) fn hooks(&self) -> Result<BTreeSet<String>, Failure> {
        let mut hooks = BTreeSet::new();
        for name in self.names()? {
            let Ok(Some(mut journal)) = self.directories.newest(&name) else { continue };
            while let Ok(Some(block)) = journal.previous() {
                let records = block.lines.iter();
                hooks.extend(records.flat_map(|line| line.record.kind.hooks().map(str::to_owned)));
            }
        }
        Ok(hooks)
    }

    /// Reads what was written since the last call, also into new journals.
    pub(super) fn read(&mut self) -> Result<NewLines, Failure> {
        let mut news = NewLines::default();
        for name in self.names()? {
            let unread = || Some(self.directories.tail(&name));
            let slot = self.tails.entry(name.clone()).or_insert_with(unread);
            let Some(tail) = slot else { continue };
            match tail.read() {
                Ok(page) => {
                    let lines = page.lines.into_iter();
                    news.lines
                        .extend(lines.map(|line| SessionLine { session: name.clone(), line }));
                    news.unreadable += page.unreadable;
                    news.unfinished_journals += usize::from(page.unfinished);
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
        news.selected_lines = news.lines.len();
        sort(&mut news.lines);
        Ok(news)
    }

    fn names(&self) -> Result<Vec<String>, Failure> {
        Ok(self.dated_names()?.into_iter().map(|(_, name)| name).collect())
    }

    /// Returns the selected journals, the one that was written last at the end. The time of a single one is not looked up.
    fn dated_names(&self) -> Result<Vec<(Option<SystemTime>, String)>, Failure> {
        match &self.selection {
            JournalSelection::All | JournalSelection::Project(_) => {
                let dated = self.directories.dated_conversations();
                let dated = dated.map_err(|error| not_listed(&self.directories, &error))?;
                Ok(dated.into_iter().map(|(time, name)| (Some(time), name)).collect())
            }
            JournalSelection::Conversation(id) | JournalSelection::Subagent { parent: id, .. } => {
                Ok(vec![(None, id.clone())])
            }
        }
    }
}

/// The reason why the records of a session cannot be read.
enum SessionError {
    Journal(std::io::Error),
    Store(Failure),
}

impl From<std::io::Error> for SessionError {
    fn from(error: std::io::Error) -> Self {
        Self::Journal(error)
    }
}

/// The records of one session that are shown.
#[derive(Default)]
struct SessionRecords {
    /// The times of the records, as they are written.
    times: Vec<String>,
    /// The newest time of a line.
    newest: String,
}

impl SessionRecords {
    fn add(&mut self, record: &Record, is_record: IsRecord) {
        if record.time > self.newest {
            self.newest.clone_from(&record.time);
        }
        if is_record {
            self.times.push(record.time.clone());
        }
    }
}

impl Newest<'_> {
    /// Returns whether the sessions that were read have enough records that are newer than `latest`.
    fn has_enough(
        &self,
        sessions: &BTreeMap<String, SessionRecords>,
        latest: Option<SystemTime>,
    ) -> bool {
        let latest = latest.and_then(|time| Timestamp::try_from(time).ok()).map(rfc3339);
        let (Some(limit), Some(latest)) = (self.limit, latest) else { return false };
        let newer = sessions.values().filter(|session| session.newest > latest);
        newer.map(|session| session.times.len()).sum::<usize>() >= limit.get()
    }

    /// Returns whether nothing before the lines of a session that were read is shown. `first_written` is when the first of them was written:
    /// no record before it is newer.
    fn is_done(&self, records: &SessionRecords, first_written: Option<Timestamp>) -> bool {
        let Some(record_time) = first_written else { return false };
        if self.since.is_some_and(|since| record_time < since) {
            return true;
        }
        let Some(limit) = self.limit.filter(|limit| records.times.len() >= limit.get()) else {
            return false;
        };
        let mut times: Vec<&String> = records.times.iter().collect();
        times.sort();
        let oldest = times[times.len() - limit.get()];
        rfc3339(record_time) < *oldest
    }
}

/// Returns the time by which a record was written; `None` if its time cannot be read.
fn written(record: &Record) -> Option<Timestamp> {
    let time: Timestamp = record.time.parse().ok()?;
    let duration = match &record.kind {
        RecordKind::Run(run) => run.duration,
        _ => Duration::ZERO,
    };
    time.checked_add(duration + DELAY).ok()
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

/// Returns the conversations that have a journal.
pub(super) fn all(directories: &JournalDirectories) -> Result<Vec<String>, Failure> {
    directories.conversations().map_err(|error| not_listed(directories, &error))
}

fn not_listed(directories: &JournalDirectories, error: &std::io::Error) -> Failure {
    let all: Vec<String> =
        directories.all().map(|directory| directory.display().to_string()).collect();
    Failure::new(format!("cannot read {}: {error}", all.join(" and ")))
}

fn cannot_be_read(path: &Path, name: &str, error: &std::io::Error) -> Diagnostic {
    let message = format!("cannot read the journal of the conversation {name}: {error}");
    Diagnostic::new("journal-not-read", Severity::Warning, message)
        .at(path)
        .help("check the permissions of the file; the other journals are shown")
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    /// Returns a record that is written `record_time` seconds after the first one, of a run that took so many seconds.
    fn line(session: usize, number: usize, (written, took): (i64, i64)) -> String {
        let time = Timestamp::from_second(1_700_000_000 + written - took).unwrap();
        let (time, padding) = (rfc3339(time), "x".repeat(3000));
        let (milliseconds, hook) = (took * 1000, format!("{session}-{number}"));
        format!(
            r#"{{"v":1,"time":"{time}","conversation_id":"c","event":"before_tool","kind":"run","hook":"{hook}","layer":"user","hash":"{padding}","spelling":"x","duration_ms":{milliseconds},"exit":"exit 0","decision":"none"}}"#
        ) + "\n"
    }

    fn write(directory: &Path, session: usize, records: &[(i64, i64)]) {
        let mut records = records.to_vec();
        records.sort_unstable();
        let lines =
            records.iter().enumerate().map(|(number, record)| line(session, number, *record));
        let path = directory.join(format!("s{session}.jsonl"));
        fs::write(&path, lines.collect::<String>()).unwrap();
        let record_time = records.last().map_or(0, |(record_time, _)| *record_time);
        let modified = Timestamp::from_second(1_700_000_000 + record_time).unwrap();
        File::options().write(true).open(path).unwrap().set_modified(modified.into()).unwrap();
    }

    fn hooks(directory: &Path, limit: usize, since: Option<Timestamp>) -> Vec<String> {
        let mut journals = Journals::new(JournalDirectories::new(directory), JournalSelection::All);
        let shows = |it: &SessionLine| {
            let is_since = since.is_none_or(|since| it.line.record.time >= rfc3339(since));
            is_since.then_some(true)
        };
        let newest =
            Newest { limit: NonZeroUsize::new(limit), since, continues: true, shows: &shows };
        let news = journals.read_newest(&newest).ok().unwrap();
        assert!(journals.read().ok().unwrap().lines.is_empty());
        let hooks = news.lines.iter().flat_map(|it| it.line.record.kind.hooks()).map(str::to_owned);
        hooks.collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn the_newest_records_are_those_at_the_end_of_all(
            sessions in prop::collection::vec(prop::collection::vec((0_i64..500, 0_i64..60), 0..60), 1..5),
            limit in 1_usize..40,
            since in 0_i64..600,
        ) {
            let directory = tempfile::tempdir().unwrap();
            for (session, records) in sessions.iter().enumerate() {
                write(directory.path(), session, records);
            }
            let all = hooks(directory.path(), 0, None);
            let newest = hooks(directory.path(), limit, None);
            prop_assert!(newest.len() >= limit.min(all.len()));
            prop_assert!(all.ends_with(&newest[newest.len() - limit.min(newest.len())..]));
            let since = Timestamp::from_second(1_700_000_000 + since).unwrap();
            let time = |hook: &String| {
                let (session, number) = hook.split_once('-').unwrap();
                let mut records = sessions[session.parse::<usize>().unwrap()].clone();
                records.sort_unstable();
                let (record_time, took) = records[number.parse::<usize>().unwrap()];
                1_700_000_000 + record_time - took
            };
            let recent: Vec<String> = all.into_iter().filter(|hook| time(hook) >= since.as_second()).collect();
            prop_assert_eq!(hooks(directory.path(), 0, Some(since)), recent);
        }
    }
}
