//! Servers as real processes that speak the real protocol, well and badly.

#![expect(clippy::unwrap_used, reason = "tests")]

mod calls;
mod http;
mod listing;
mod real;
mod stage;
mod starting;
