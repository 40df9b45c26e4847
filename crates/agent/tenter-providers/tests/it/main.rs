//! Models over a loopback connection, against a test server that implements all four APIs and checks every request.

#![expect(clippy::unwrap_used, reason = "tests")]

mod faults;
mod limits;
mod llama;
mod responses;
mod setup;
mod trust;
