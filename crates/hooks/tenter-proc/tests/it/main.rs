//! Tests of the crate with real processes.

#![expect(clippy::unwrap_used, reason = "tests")]

#[cfg(target_os = "linux")]
mod adopted;
mod background;
mod dialogue;
mod ends;
mod harness;
mod interactive;
#[cfg(target_os = "linux")]
mod leaving;
mod starts;
mod streams;
