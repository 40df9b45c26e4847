//! Supervised child processes.
//!
//! A child of Tenter's is someone else's program: it may hang, flood, fork, lie and die. [`run`] starts it in a process
//! group of its own, feeds and drains its pipes at once, holds it to a deadline, and returns what came of it with the
//! output so far, whatever happened (RESOLUTIONS section E).
//!
//! This crate knows nothing of hooks, tools or JSON, and reads neither environment nor settings: everything comes in with
//! the [`Invocation`].

mod cancel;
mod capture;
mod completion;
mod invocation;
mod supervise;

#[cfg(unix)]
#[path = "unix.rs"]
mod os;

pub use cancel::Cancel;
pub use capture::Captured;
pub use completion::{Completion, End};
pub use invocation::{Invocation, Limits, Streams};
pub use supervise::{Background, run, start_background};
