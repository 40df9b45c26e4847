//! The bridge, tested through its public interface.

#![expect(clippy::unwrap_used, reason = "tests")]

mod answers;
mod guide;
mod payloads;
mod registration;
mod settings;
