//! The input of a call, in a question about it.

use tenter_base::excerpt::Ends;
use tenter_base::sanitize;

/// Maximum number of characters shown of a tool's input.
const LONGEST_SHOWN: usize = 4000;

/// Returns the whole input, since the user agrees to it; of a long one the two ends, and how much is left out.
pub(super) fn whole(input: &str) -> String {
    let Some(Ends { head, omitted, tail }) = Ends::new(input, LONGEST_SHOWN) else {
        return sanitize(input).into_owned();
    };
    // Sanitized one by one: an escape sequence at the end of the head must not swallow the note.
    format!("{} [… {omitted} bytes omitted …] {}", sanitize(head), sanitize(tail))
}
