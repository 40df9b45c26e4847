//! Manifests as files, and what no manifest may do to its reader.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene fails")]
#![expect(
    clippy::format_collect,
    clippy::format_push_string,
    reason = "documents are put together as they read"
)]

mod hostile;
mod manifests;
mod random;
mod specification;
