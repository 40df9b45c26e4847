//! A check of the resources that an event needs. Without file descriptors or memory, hooks could not be read, and a guard that cannot be
//! read must not count as one that does not exist (R83).

use std::fs::File;
use std::io;

/// Number of file descriptors that are needed at once to find hooks and read them.
const FILES: usize = 5;
/// Memory that is needed besides the payload, in bytes.
const MEMORY: usize = 8 << 20;
/// Maximum number of copies of the payload at once.
const COPIES: usize = 8;

/// Returns what is missing for an event with a payload of this size, as a sentence without its full stop; `None` if nothing is.
pub(crate) fn missing(payload: usize) -> Option<String> {
    let files = files().err().map(|error| format!("files cannot be opened: {error}"));
    let memory = || memory(payload).err().map(|error| error.to_string());
    let what = files.or_else(memory)?;
    Some(format!("tenter-hook cannot look at this: {what}"))
}

fn files() -> io::Result<()> {
    let files = File::open("/dev/null").and_then(|first| {
        // A copy takes a descriptor, too, and less time.
        let copies: io::Result<Vec<File>> = (1..FILES).map(|_| first.try_clone()).collect();
        copies.map(drop)
    });
    match files {
        // Only a shortage counts: a system without the device has descriptors.
        Err(error) if is_shortage(&error) => Err(error),
        _ => Ok(()),
    }
}

fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errors = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    errors.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn memory(payload: usize) -> Result<(), std::collections::TryReserveError> {
    let mut reserve = Vec::<u8>::new();
    reserve.try_reserve_exact(MEMORY + payload.saturating_mul(COPIES))
}
