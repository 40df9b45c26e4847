//! A program that has the terminal to itself until it ends, such as an editor. It is not supervised: the person is there.

use std::time::Duration;

use crate::deadline::Deadline;
use crate::supervise::start_patiently;
use crate::{Cancel, End, Invocation, os};

/// Runs a program where we run ourselves, as a shell does: it reads and writes what we read and write, the terminal's keys
/// reach it, and it may take as long as it likes. The calling thread waits for it.
///
/// If the invocation has a `stdin`, the program reads that instead of the terminal, as a pager does; it may end before it has read all
/// of it. `streams` and `limits` mean nothing here. A Ctrl-C reaches us as well, and whoever calls this
/// says what becomes of it.
pub fn interactive(invocation: &Invocation) -> End {
    let without_end = Deadline::after(Duration::MAX);
    match start_patiently(without_end, &Cancel::new(), || os::start_beside_us(invocation)) {
        Ok(mut program) => {
            os::feed(&mut program, &invocation.stdin);
            os::wait_for_end(program)
        }
        Err(error) => End::NotStarted(error),
    }
}
