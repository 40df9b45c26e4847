//! The ids of calls, which say which reply they belong to.

/// Returns the part of a call's id that identifies the reply and the call in it: `0003a`, `0003b`, …, `0003z`, `0003za`, ….
pub(super) fn call_tag(serial: usize, call: usize) -> String {
    let letter = (b'a'..=b'z').nth(call % 26).map_or('a', char::from);
    format!("{serial:04}{}{letter}", "z".repeat(call / 26))
}

/// Returns the number of the reply that a call belongs to, from its id; `None` if the id is not from this server.
pub(super) fn serial_of(call_id: &str) -> Option<usize> {
    let tag = call_id.rsplit(['_', '-']).next()?;
    let digits = tag.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    if digits.len() < 4 || digits.len() == tag.len() { None } else { digits.parse().ok() }
}
