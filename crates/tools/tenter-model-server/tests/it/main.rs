//! The model server, with clients that share no code with it.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its support code")]

mod client;
mod lenient;
mod speech;
mod strict;
mod whole;
