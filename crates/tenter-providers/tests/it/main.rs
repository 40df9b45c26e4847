//! Models over a real loopback connection, against a server that speaks all four formats and looks every request over.

#![expect(clippy::unwrap_used, reason = "tests")]

mod faults;
mod limits;
mod llama;
mod responses;
mod setup;
mod trust;
