//! What the model server promises to its clients and to those who read what they sent.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails may panic, and so may what it is made of"
)]

mod client;
mod lenient;
mod speech;
mod strict;
mod whole;
