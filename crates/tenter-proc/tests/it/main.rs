//! What the crate promises, shown on real processes.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails may panic, and so may what it is made of"
)]

#[cfg(target_os = "linux")]
mod adopted;
mod background;
mod ends;
mod harness;
mod interactive;
#[cfg(target_os = "linux")]
mod leaving;
mod starts;
mod streams;
