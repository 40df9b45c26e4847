//! Interactive programs, such as an editor. They own the terminal until they end and are not supervised: the user is there.

use std::io;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::supervise::start_with_retry;
use crate::{Cancel, Invocation, ProcessEnd, os};

/// Runs a program in the foreground, like a shell: it inherits stdin, stdout and stderr, receives the terminal's keys, and has
/// no timeout. Blocks until the program ends.
///
/// If the invocation has a `stdin`, the program reads that instead of the terminal, like a pager; it need not read all of it.
/// `streams` and `limits` are ignored. Ctrl-C also reaches this process; handling it is up to the caller.
pub fn interactive(invocation: &Invocation) -> ProcessEnd {
    let never = Deadline::after(Duration::MAX);
    match start_with_retry(never, &Cancel::new(), || os::start_in_foreground(invocation)) {
        Ok(mut program) => {
            os::feed(&mut program, &invocation.stdin);
            os::wait_for_end(program)
        }
        Err(error) => ProcessEnd::NotStarted(error),
    }
}

/// Replaces this process by a program, which inherits stdin, stdout and stderr. Returns only if that fails. `stdin`, `streams` and
/// `limits` of the invocation are ignored.
pub fn replace_process(invocation: &Invocation) -> io::Error {
    os::replace_process(invocation)
}
