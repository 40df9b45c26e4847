//! Manifests: examples, expected diagnostics, hostile and random input.

#![expect(clippy::unwrap_used, reason = "a test whose setup fails must fail")]
#![expect(
    clippy::format_collect,
    clippy::format_push_string,
    reason = "documents are built piece by piece"
)]

mod hostile;
mod manifests;
mod random;
mod settings;
mod specification;
