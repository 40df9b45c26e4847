//! Finds the parts of a file that hold data: a sparse file may be far longer than its data.

use std::fs::File;
use std::ops::Range;

use rustix::fs::{SeekFrom, seek};

/// Maximum number of parts that are looked at. What follows counts as data.
const MAX_PARTS: usize = 10_000;

/// Returns the position of the first data at or after `offset`; `None` if there is none. Where the file system does not know,
/// everything is data.
pub(crate) fn next(file: &File, offset: u64) -> Option<u64> {
    match seek(file, SeekFrom::Data(offset)) {
        Ok(data) => Some(data.max(offset)),
        Err(rustix::io::Errno::NXIO) => None,
        Err(_) => Some(offset),
    }
}

/// Returns the position in `range` from which on there are at most `most` bytes of data.
pub(crate) fn start_of_last(file: &File, range: Range<u64>, most: u64) -> u64 {
    if range.end.saturating_sub(range.start) <= most {
        return range.start;
    }
    let mut remaining = most;
    for part in parts(file, range.clone()).into_iter().rev() {
        let length = part.end - part.start;
        if length > remaining {
            return part.end - remaining;
        }
        remaining -= length;
    }
    range.start
}

/// Returns the parts of `range` that hold data.
fn parts(file: &File, range: Range<u64>) -> Vec<Range<u64>> {
    let mut parts = Vec::new();
    let mut offset = range.start;
    while let Some(start) = next(file, offset).filter(|start| *start < range.end) {
        let hole = seek(file, SeekFrom::Hole(start)).ok().filter(|hole| *hole > start);
        let is_last = parts.len() + 1 >= MAX_PARTS;
        let end = hole.filter(|_| !is_last).map_or(range.end, |hole| hole.min(range.end));
        parts.push(start..end);
        offset = end;
        if offset >= range.end {
            break;
        }
    }
    parts
}
