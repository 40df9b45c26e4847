//! Reads lines of any length from files of any size, holding only part of a line in memory.

use std::io::{self, BufRead};

use tenter_base::excerpt;

/// Maximum number of characters of a line that are shown.
const MAX_CHARS: usize = 2000;

/// Maximum number of bytes of a line that are kept: enough for [`MAX_CHARS`] characters.
const MAX_BYTES: usize = MAX_CHARS * 4;

/// The beginning of a line, and its length in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LinePrefix {
    beginning: Vec<u8>,
    length: u64,
    /// The line continues beyond what was read.
    is_cut: bool,
}

impl LinePrefix {
    /// Creates a line that is already in memory, with or without its line ending.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut line = Self::default();
        line.add(bytes.strip_suffix(b"\n").unwrap_or(bytes));
        line
    }

    fn add(&mut self, part: &[u8]) {
        let room = MAX_BYTES.saturating_sub(self.beginning.len());
        self.beginning.extend_from_slice(&part[..part.len().min(room)]);
        self.length += part.len() as u64;
    }

    /// Returns the same line, marked as not read to its end.
    pub(crate) fn cut(self) -> Self {
        Self { is_cut: true, ..self }
    }

    /// Returns the text without the line ending. Invalid UTF-8 is replaced; a line that is too long is cut and marked.
    pub(crate) fn display(&self) -> String {
        let whole = self.length == self.beginning.len() as u64 && !self.is_cut;
        let bytes = if whole {
            self.beginning.strip_suffix(b"\r").unwrap_or(&self.beginning)
        } else {
            &self.beginning
        };
        let text = String::from_utf8_lossy(bytes);
        let prefix = excerpt::prefix(&text, MAX_CHARS);
        if whole && prefix.len() == text.len() {
            return text.into_owned();
        }
        let bound = if self.is_cut { "at least " } else { "" };
        format!("{prefix}… (cut: the line has {bound}{} bytes)", self.length)
    }
}

/// Reads the next line; `None` at the end.
pub(crate) fn next(reader: &mut impl BufRead) -> io::Result<Option<LinePrefix>> {
    let mut line = LinePrefix::default();
    let exists = walk(reader, |part| line.add(part))?;
    Ok(exists.then_some(line))
}

/// Skips the next line; `false` at the end.
pub(crate) fn skip(reader: &mut impl BufRead) -> io::Result<bool> {
    walk(reader, |_| {})
}

/// Passes the parts of the next line, without its ending, to `part`.
fn walk(reader: &mut impl BufRead, mut part: impl FnMut(&[u8])) -> io::Result<bool> {
    let mut exists = false;
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if buffer.is_empty() {
            return Ok(exists);
        }
        exists = true;
        // On a slice this is a fast search for the line ending.
        let mut rest = buffer;
        let length = rest.skip_until(b'\n')?;
        let (text, has_ended) = match buffer[..length].strip_suffix(b"\n") {
            Some(text) => (text, true),
            None => (&buffer[..length], false),
        };
        part(text);
        reader.consume(length);
        if has_ended {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    fn all(bytes: &[u8], buffer: usize) -> Vec<String> {
        let mut reader = BufReader::with_capacity(buffer, bytes);
        std::iter::from_fn(|| next(&mut reader).unwrap()).map(|line| line.display()).collect()
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library_for_any_buffer_size(text in "[a\r\né]{0,40}", buffer in 1_usize..9) {
            // `str::lines` keeps a lone `\r` at the end of a text; here it counts as part of a line ending.
            prop_assume!(!text.ends_with('\r'));
            let expected: Vec<&str> = text.lines().collect();
            prop_assert_eq!(all(text.as_bytes(), buffer), expected);
        }

        #[test]
        fn skipping_consumes_as_much_as_reading(text in "[ab\n]{0,40}", buffer in 1_usize..9) {
            let mut reader = BufReader::with_capacity(buffer, text.as_bytes());
            let mut count = 0;
            while skip(&mut reader).unwrap() {
                count += 1;
            }
            prop_assert_eq!(count, text.lines().count());
        }
    }

    #[test]
    fn a_long_line_is_cut_and_its_length_reported() {
        let line = LinePrefix::new("é".repeat(3000).as_bytes());
        let text = line.display();
        assert!(text.starts_with(&"é".repeat(MAX_CHARS)), "{text}");
        assert!(text.ends_with("é… (cut: the line has 6000 bytes)"), "{text}");
        assert_eq!(
            LinePrefix::new("é".repeat(MAX_CHARS).as_bytes()).display(),
            "é".repeat(MAX_CHARS)
        );
    }

    #[test]
    fn only_the_beginning_of_a_long_line_is_kept_in_memory() {
        let line = LinePrefix::new(&vec![b'x'; 1 << 20]);
        assert_eq!((line.beginning.len(), line.length), (MAX_BYTES, 1 << 20));
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(LinePrefix::new(b"a\xffb\r\n").display(), "a\u{fffd}b");
    }
}
