//! The model server, with a client that shares no code with it.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its support code")]

mod faults;
mod lenient;
mod streams;
