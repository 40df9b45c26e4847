//! Reads a journal in pages, from its end: a page costs as much in a long journal as in a short one. Places are offsets in the file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use tenter_base::untrusted_file;
use tenter_engine::journal::{self, Record};

use crate::filter::{Filter, FilterReader, FilteredLine};

/// Number of bytes that are read at once.
const BLOCK: u64 = 256 << 10;
/// Maximum length of a line that is searched for its beginning, in bytes.
const LONGEST_LINE: usize = 4 << 20;
/// Maximum number of new bytes that are read at once.
const LONGEST_NEWS: u64 = 4 << 20;

/// Records of a journal, in the order in which they were written.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    pub(crate) records: Vec<Record>,
    /// The end of older records, if there may be any.
    pub(crate) older: Option<u64>,
    /// True if the time limit ended the search before the slice was full.
    pub(crate) is_cut: bool,
    /// The start of newer records.
    pub(crate) end: u64,
    /// Number of lines that cannot be read.
    pub(crate) unreadable: usize,
}

/// A query for records of a journal.
pub(crate) struct JournalQuery<'f> {
    pub(crate) filter: &'f Filter,
    /// Maximum number of records.
    pub(crate) count: usize,
    /// Maximum duration of the search.
    pub(crate) limit: Duration,
}

/// Returns the newest records of a query that begin before `end`; of the whole journal without it.
///
/// # Errors
/// When the journal is there but cannot be read.
pub(crate) fn newest(path: &Path, end: Option<u64>, query: &JournalQuery<'_>) -> io::Result<Slice> {
    let clock = Instant::now();
    let length = journal::length(path)?;
    let end = end.map_or(length, |end| end.min(length));
    let mut slice = Slice { end, ..Slice::default() };
    if end == 0 {
        return Ok(slice);
    }
    let mut file = untrusted_file::open(path)?;
    let reader = query.filter.reader();
    // Everything from here to `end` was read, except for `head`, the rest of a line whose beginning was not.
    let mut start = end;
    let mut head = Vec::new();
    while start > 0 {
        if clock.elapsed() >= query.limit {
            slice.is_cut = true;
            slice.older = Some(start + head.len() as u64);
            break;
        }
        let from = start.saturating_sub(BLOCK);
        let mut block = read(&mut file, from, start - from)?;
        block.append(&mut head);
        start = from;
        let first = if from == 0 { Some(0) } else { block.iter().position(|b| *b == b'\n') };
        let Some(first) = first.map(|at| if from == 0 { 0 } else { at + 1 }) else {
            head = if block.len() > LONGEST_LINE { Vec::new() } else { block };
            continue;
        };
        if let Some(older) =
            slice.take_backwards(&block[first..], from + first as u64, (&reader, query.count))
        {
            slice.older = (older > 0).then_some(older);
            break;
        }
        block.truncate(first);
        head = block;
    }
    slice.records.reverse();
    Ok(slice)
}

/// Returns the records of a query that were written after `start`.
///
/// # Errors
/// When the journal is there but cannot be read. [`io::ErrorKind::InvalidInput`] if it is shorter than that: it is another one.
pub(crate) fn since(path: &Path, start: u64, filter: &Filter) -> io::Result<Slice> {
    let length = journal::length(path)?;
    let mut slice = Slice { end: start, ..Slice::default() };
    if length < start {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if length == start {
        return Ok(slice);
    }
    let reader = filter.reader();
    let news = read(&mut untrusted_file::open(path)?, start, (length - start).min(LONGEST_NEWS))?;
    for piece in news.split_inclusive(|byte| *byte == b'\n') {
        match reader.read(piece.trim_ascii()) {
            FilteredLine::Chosen(record) => slice.records.push(*record),
            _ if is_incomplete(piece) => break,
            FilteredLine::Unreadable => slice.unreadable += usize::from(piece.len() > 1),
            FilteredLine::Other => {}
        }
        slice.end += piece.len() as u64;
    }
    Ok(slice)
}

impl Slice {
    /// Adds the records of the query in `lines`, the last first. Returns where the first of them begins if there are enough now.
    fn take_backwards(
        &mut self,
        lines: &[u8],
        at: u64,
        (reader, count): (&FilterReader<'_>, usize),
    ) -> Option<u64> {
        let mut end = lines.len();
        while end > 0 {
            let before = lines[..end - 1].iter().rposition(|byte| *byte == b'\n');
            let begin = before.map_or(0, |newline| newline + 1);
            let line = &lines[begin..end];
            match reader.read(line.trim_ascii()) {
                FilteredLine::Chosen(record) => self.records.push(*record),
                // It is read again once it is complete.
                _ if is_incomplete(line) => self.end = at + begin as u64,
                FilteredLine::Other => {}
                FilteredLine::Unreadable => self.unreadable += usize::from(line.len() > 1),
            }
            if self.records.len() >= count {
                return Some(at + begin as u64);
            }
            end = begin;
        }
        None
    }
}

/// Returns true if a line is being written. One that is whole but for its newline is complete.
fn is_incomplete(line: &[u8]) -> bool {
    !line.ends_with(b"\n") && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err()
}

fn read(file: &mut File, from: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn line(number: usize, padding: usize) -> String {
        let tool = if number.is_multiple_of(10) { "bash" } else { "glob" };
        let padding = "é".repeat(padding);
        format!(
            "{{\"v\":1,\"time\":\"{number}\",\"conversation_id\":\"c\",\"event\":\"before_tool\",\"tool_name\":\"{tool}\",\"kind\":\"new\",\"text\":\"{padding}\"}}\n"
        )
    }

    fn times(slice: &Slice) -> Vec<usize> {
        slice.records.iter().map(|record| record.time.parse().unwrap()).collect()
    }

    /// Returns all records of the query, page by page, from the newest page.
    fn pages(path: &Path, query: &JournalQuery<'_>) -> Vec<Vec<usize>> {
        let mut pages = Vec::new();
        let mut end = None;
        loop {
            let slice = newest(path, end, query).unwrap();
            pages.push(times(&slice));
            match slice.older {
                Some(older) => end = Some(older),
                None => return pages,
            }
        }
    }

    #[test]
    fn a_journal_is_read_backwards_in_pages_of_any_size() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.jsonl");
        for padding in [0, 300, 200_000] {
            let count = if padding > 1000 { 20 } else { 3000 };
            let text: String = (0..count).map(|number| line(number, padding)).collect();
            fs::write(&path, format!("{text}{{\"v\":1,\"ti")).unwrap();
            let limit = Duration::from_mins(1);
            for page in [7, 100] {
                let all = Filter::default();
                let result = pages(&path, &JournalQuery { filter: &all, count: page, limit });
                assert!(result.iter().all(|records| records.len() <= page), "{padding}");
                let positions: Vec<usize> = result.into_iter().rev().flatten().collect();
                assert_eq!(positions, (0..count).collect::<Vec<_>>(), "{padding} {page}");
            }
            let bash = Filter { tool: "Shell".to_owned(), ..Filter::default() };
            let result =
                newest(&path, None, &JournalQuery { filter: &bash, count: 2, limit }).unwrap();
            assert_eq!(times(&result), [count - 20, count - 10]);
            assert_eq!((result.end, result.unreadable), (text.len() as u64, 0));
        }
    }

    #[test]
    fn a_search_that_takes_too_long_can_be_continued() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.jsonl");
        fs::write(&path, (0..3000).map(|number| line(number, 300)).collect::<String>()).unwrap();
        let nothing = Filter { search: "NOWHERE".to_owned(), ..Filter::default() };
        let query = JournalQuery { filter: &nothing, count: 5, limit: Duration::ZERO };
        let slice = newest(&path, None, &query).unwrap();
        assert!(slice.is_cut && slice.older.is_some());
        let query = JournalQuery { limit: Duration::from_mins(1), ..query };
        let slice = newest(&path, slice.older, &query).unwrap();
        assert!(!slice.is_cut && slice.older.is_none() && slice.records.is_empty());
    }

    #[test]
    fn new_records_are_read_once_they_are_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.jsonl");
        let all = Filter::default();
        assert_eq!(since(&path, 0, &all).unwrap().end, 0);
        let half = line(2, 0);
        fs::write(&path, format!("{}broken\n{}", line(1, 0), &half[..20])).unwrap();
        let first = since(&path, 0, &all).unwrap();
        assert_eq!((times(&first), first.unreadable), (vec![1], 1));
        assert!(since(&path, first.end, &all).unwrap().records.is_empty());
        fs::write(&path, format!("{}broken\n{half}", line(1, 0))).unwrap();
        assert_eq!(times(&since(&path, first.end, &all).unwrap()), [2]);
        fs::write(&path, "").unwrap();
        let error = since(&path, first.end, &all).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
