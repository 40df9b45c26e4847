//! Manifests as files, and what no manifest may do to its reader.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene fails")]

mod hostile;
mod manifests;
mod random;
mod specification;
