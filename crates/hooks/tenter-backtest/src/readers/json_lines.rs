//! Reads JSON lines within limits: a line that is too long is skipped without being kept.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::StreamingDecoder;
use serde_json::Value;
use tenter_base::untrusted_file;

use super::TranscriptSession;

/// Maximum length of a line, in bytes. Results of tools with images are a few mebibytes.
pub(super) const MAX_LINE: usize = 16 << 20;

/// Maximum number of bytes that are read of a compressed file after it is decompressed.
const MAX_DECOMPRESSED: u64 = 4 << 30;

/// Reads a line of a transcript.
pub(super) type LineReader = fn(&mut TranscriptSession<'_, '_>, &Value);

/// Passes each line of a transcript, which may be compressed, to `read_line`; the first one has the number 1.
///
/// # Errors
/// The file cannot be read, or is not a regular file.
pub(super) fn read(
    session: &mut TranscriptSession<'_, '_>,
    read_line: LineReader,
) -> io::Result<()> {
    let file = &session.file;
    let open = untrusted_file::open(file)?;
    let reader: Box<dyn Read> = if file.extension().is_some_and(|extension| extension == "zst") {
        let decoder = StreamingDecoder::new(BufReader::new(open)).map_err(io::Error::other)?;
        Box::new(decoder.take(MAX_DECOMPRESSED))
    } else {
        Box::new(open)
    };
    let mut lines =
        Lines { reader: BufReader::with_capacity(64 << 10, reader), buffer: Vec::new() };
    for number in 1.. {
        match lines.next()? {
            NextLine::End => break,
            NextLine::TooLong => session.calls.counts.long_lines += 1,
            NextLine::Line(bytes) if bytes.trim_ascii().is_empty() => {}
            NextLine::Line(bytes) => match serde_json::from_slice(bytes) {
                Ok(value) => {
                    session.line = number;
                    read_line(session, &value);
                }
                Err(_) => session.calls.counts.unreadable_lines += 1,
            },
        }
    }
    Ok(())
}

/// The lines of a file.
struct Lines<R> {
    reader: BufReader<R>,
    buffer: Vec<u8>,
}

/// The next line of a file.
enum NextLine<'l> {
    End,
    TooLong,
    Line(&'l [u8]),
}

impl<R: Read> Lines<R> {
    fn next(&mut self) -> io::Result<NextLine<'_>> {
        self.buffer.clear();
        let limit = MAX_LINE as u64 + 1;
        let length = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer)?;
        if length == 0 {
            return Ok(NextLine::End);
        }
        if length > MAX_LINE && self.buffer.last() != Some(&b'\n') {
            self.buffer = Vec::new();
            self.reader.skip_until(b'\n')?;
            return Ok(NextLine::TooLong);
        }
        Ok(NextLine::Line(&self.buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let mut text = vec![b'x'; MAX_LINE + 5];
        text.extend(b"\n[1]\n[2]");
        let mut lines = Lines { reader: BufReader::new(text.as_slice()), buffer: Vec::new() };
        assert!(matches!(lines.next().unwrap(), NextLine::TooLong));
        assert!(matches!(lines.next().unwrap(), NextLine::Line(b"[1]\n")));
        assert!(matches!(lines.next().unwrap(), NextLine::Line(b"[2]")));
        assert!(matches!(lines.next().unwrap(), NextLine::End));
    }
}
