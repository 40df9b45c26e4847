//! Inserts into a text and cuts from it.

use std::ops::Range;

/// Text that is inserted at a position.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Insertion {
    /// The position, in bytes.
    pub(super) at: usize,
    /// The text.
    pub(super) text: String,
}

/// Applies insertions. Returns the text, and the ranges in it that are new.
pub(super) fn insert(text: &str, mut insertions: Vec<Insertion>) -> (String, Vec<Range<usize>>) {
    insertions.sort_by_key(|insertion| insertion.at); // stable
    let (mut after, mut ranges, mut done) = (String::new(), Vec::new(), 0);
    for Insertion { at, text: new } in insertions {
        after += &text[done..at];
        ranges.push(after.len()..after.len() + new.len());
        after += &new;
        done = at;
    }
    (after + &text[done..], ranges)
}

/// Cuts ranges, which may touch and overlap.
pub(super) fn cut(text: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_by_key(|range| range.start);
    let (mut after, mut done) = (String::new(), 0);
    for range in ranges {
        after += &text[done..range.start.max(done)];
        done = done.max(range.end);
    }
    after + &text[done..]
}

/// Cuts ranges that were recorded; `None` if they do not fit the text.
pub(super) fn undo(text: &str, ranges: &[(usize, usize)]) -> Option<String> {
    let fits = |(start, end): &(usize, usize)| start <= end && text.get(*start..*end).is_some();
    let ranges: Vec<Range<usize>> = ranges
        .iter()
        .map(|range| fits(range).then_some(range.0..range.1))
        .collect::<Option<_>>()?;
    Some(cut(text, ranges))
}
