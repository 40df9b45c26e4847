//! What a hook wrote, at a length that a person, a model and a record can bear: its beginning and its end, where the cause
//! stands. An answer is never cut: where it counts, it counts as it was written.

/// Bytes that are kept; with the note of what was left out it is still short enough for a record.
const LONGEST: usize = 16_000;

/// `text`, or its two ends and how much was left out between them.
pub(super) fn bounded(text: String) -> String {
    bounded_to(LONGEST, text)
}

/// `text`, or its first and its last `longest / 2` bytes and how much was left out between them.
pub(super) fn bounded_to(longest: usize, text: String) -> String {
    if text.len() <= longest {
        return text;
    }
    let head = &text[..text.floor_char_boundary(longest / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - longest / 2)..];
    let missing = text.len() - head.len() - tail.len();
    format!("{head} [… {missing} bytes left out …] {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_stays_and_long_text_keeps_its_two_ends() {
        assert_eq!(bounded("é".repeat(LONGEST / 2)), "é".repeat(LONGEST / 2));
        let cut = bounded(format!("a{}z", "é".repeat(LONGEST)));
        assert!(cut.starts_with("aé") && cut.ends_with("éz"), "{cut}");
        assert!(cut.contains("bytes left out") && cut.len() < LONGEST + 64, "{}", cut.len());
    }
}
