//! Servers as real processes that speak the real protocol, well and badly.

#![expect(clippy::unwrap_used, reason = "tests")]

mod calls;
mod listing;
mod stage;
mod starting;
