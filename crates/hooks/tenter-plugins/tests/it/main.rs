//! Plugins from real repositories, in real directories.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene fails")]

mod discovery;
mod dying;
mod hostile;
mod installing;
mod scene;
mod sources;
