//! Runs one program to its end.
use std::io;
use std::path::Path;

use crate::{Cancel, Completion, Invocation};

/// Runs a program to its end and returns what came of it.
pub fn run(_invocation: &Invocation, _cancel: &Cancel) -> Completion {
    unimplemented!()
}

/// A program that was left running.
#[derive(Debug)]
pub struct Background {
    /// Its process id, which is its group's too.
    pub pid: u32,
}

impl Background {
    /// Ends it.
    pub fn end(self) {}
}

/// Starts a program that runs on its own, its output going to `log`.
pub fn start_background(_invocation: &Invocation, _log: &Path) -> io::Result<Background> {
    unimplemented!()
}
