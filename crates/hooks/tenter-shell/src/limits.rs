//! Limits of what is read. They are counts, never times, so that the same text always gives the same facts (C5).

/// Maximum number of bytes of a text; the rest is not read.
pub const MAX_BYTES: usize = 64 * 1024;

/// Maximum number of bytes of a text with its here-documents, whose bodies do not count in [`MAX_BYTES`].
pub const MAX_HEREDOC_BYTES: usize = 1024 * 1024;

/// Maximum number of paths in the facts.
pub const MAX_PATHS: usize = 512;

/// Maximum number of paths in the facts that are patterns or not known.
pub const MAX_OPEN_PATHS: usize = 128;

/// Maximum nesting of substitutions, blocks and scripts in scripts.
pub const MAX_DEPTH: usize = 32;

/// Maximum number of commands in the facts.
pub const MAX_COMMANDS: usize = 512;

/// Maximum number of words of a command.
pub const MAX_WORDS: usize = 2048;

/// Maximum number of redirections of a text.
pub const MAX_REDIRECTIONS: usize = 1024;

/// Maximum number of here-documents of a text.
pub const MAX_HEREDOCS: usize = 64;

/// Maximum number of words that braces make of one word.
pub const MAX_BRACES: usize = 64;

/// Maximum number of bytes that are made by expansions.
pub(crate) const MAX_EXPANDED: usize = 2 * MAX_BYTES;

/// Maximum number of steps while the tree is read: functions can call functions.
pub(crate) const MAX_STEPS: usize = 16 * 1024;

/// Maximum number of bytes of one value.
pub(crate) const MAX_VALUE: usize = 16 * 1024;

/// Returns the part of a text that is read, and whether it was cut.
pub(crate) fn cut(text: &str) -> (&str, bool) {
    (start(text, MAX_BYTES), text.len() > MAX_BYTES)
}

/// Returns the first bytes of a text, at most this many.
pub(crate) fn start(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}
