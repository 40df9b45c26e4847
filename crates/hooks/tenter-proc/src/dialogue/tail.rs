//! The end of a stream, in bounded memory.

use std::collections::VecDeque;

/// The last bytes of a stream.
pub(super) struct Tail {
    max: usize,
    bytes: VecDeque<u8>,
    total: u64,
}

impl Tail {
    /// Keeps the last `max` bytes.
    pub(super) fn new(max: usize) -> Self {
        Self { max, bytes: VecDeque::new(), total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.max)..];
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(self.max);
        self.bytes.drain(..excess);
        self.bytes.extend(bytes);
    }

    /// Returns the number of bytes of the stream so far.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the text after the first `position` bytes, as far as it is kept. Invalid UTF-8 is replaced.
    pub(super) fn since(&self, position: u64) -> String {
        let length = usize::try_from(self.total.saturating_sub(position)).unwrap_or(usize::MAX);
        let skip = self.bytes.len().saturating_sub(length);
        let bytes: Vec<u8> = self.bytes.iter().skip(skip).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_and_knows_positions() {
        let mut tail = Tail::new(8);
        tail.push(b"first\n");
        let position = tail.total();
        assert_eq!(tail.since(position), "");
        tail.push(b"two\n");
        assert_eq!(tail.since(position), "two\n");
        assert_eq!(tail.since(0), "rst\ntwo\n".get(0..8).unwrap());
        tail.push(b"0123456789");
        assert_eq!((tail.since(position), tail.total()), ("23456789".to_owned(), 20));
    }
}
