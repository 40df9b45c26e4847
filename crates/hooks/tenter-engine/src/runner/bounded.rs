//! Limits the text of hooks in records and messages. The beginning and the end are kept, because the end usually names the cause
//! of a failure. Replies are never cut.

use tenter_base::excerpt;

/// Maximum number of bytes kept. With the note about the omitted part, the text still fits into a record.
const MAX_BYTES: usize = 16_000;

/// Returns `text`, or its two ends with the number of bytes omitted between them.
pub(super) fn bound(text: String) -> String {
    if text.len() <= MAX_BYTES { text } else { excerpt::ends(&text, MAX_BYTES).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_keeps_its_two_ends() {
        assert_eq!(bound("é".repeat(MAX_BYTES / 2)), "é".repeat(MAX_BYTES / 2));
        let cut = bound(format!("a{}z", "é".repeat(MAX_BYTES)));
        assert!(cut.starts_with("aé") && cut.ends_with("éz"), "{cut}");
        assert!(cut.contains("bytes omitted") && cut.len() < MAX_BYTES + 64, "{}", cut.len());
    }
}
