//! The tokens of the present work.

use std::collections::HashMap;

/// Number of bytes that are counted as a token until the model says how many there were.
const BYTES_PER_TOKEN: usize = 4;

/// Tokens sent to models and received from them.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    sent: u64,
    received: u64,
    /// Bytes received of responses that are not counted yet, by conversation.
    bytes_by_conversation: HashMap<String, usize>,
}

impl Tokens {
    /// Counts a piece of a response that was received.
    pub(super) fn add_streamed(&mut self, conversation: &str, bytes: usize) {
        match self.bytes_by_conversation.get_mut(conversation) {
            Some(sum) => *sum += bytes,
            None => drop(self.bytes_by_conversation.insert(conversation.to_owned(), bytes)),
        }
    }

    /// Discards or counts the received part of a response.
    pub(super) fn forget_streamed(&mut self, conversation: &str) {
        self.bytes_by_conversation.remove(conversation);
    }

    /// Adds the tokens of a complete response.
    pub(super) fn add_response(
        &mut self,
        conversation: &str,
        tokens_sent: u64,
        tokens_received: u64,
    ) {
        self.forget_streamed(conversation);
        self.sent += tokens_sent;
        self.received += tokens_received;
    }

    /// Returns the tokens in words; `None` if there are none.
    pub(super) fn words(&self) -> Option<String> {
        let tokens = self.bytes_by_conversation.values().sum::<usize>() / BYTES_PER_TOKEN;
        match (self.sent, self.received + tokens as u64) {
            (0, 0) => None,
            (0, received) => Some(format!("{} tokens out", short(received))),
            (sent, received) => Some(format!("{} tokens in, {} out", short(sent), short(received))),
        }
    }
}

/// Returns a number in at most five characters: `950`, `12.3k`.
fn short(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..100_000 => format!("{}.{}k", number / 1000, number % 1000 / 100),
        100_000..1_000_000 => format!("{}k", number / 1000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streamed_text_is_estimated_until_it_is_counted() {
        let mut tokens = Tokens::default();
        assert_eq!(tokens.words(), None);
        tokens.add_streamed("a", 39);
        tokens.add_streamed("a", 1);
        tokens.add_streamed("b", 4);
        assert_eq!(tokens.words().as_deref(), Some("11 tokens out"));
        tokens.forget_streamed("b");
        assert_eq!(tokens.words().as_deref(), Some("10 tokens out"));
        tokens.add_response("a", 12_345, 12);
        assert_eq!(tokens.words().as_deref(), Some("12.3k tokens in, 12 out"));
    }

    #[test]
    fn numbers_are_short() {
        let texts = [999, 1000, 99_999, 100_000, 1_000_000].map(short);
        assert_eq!(texts, ["999", "1.0k", "99.9k", "100k", "1.0M"]);
    }
}
