//! Requests over a loopback connection.

#![expect(clippy::unwrap_used, reason = "tests")]

mod post;
