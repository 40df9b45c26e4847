//! Ctrl-C and termination: the first signal ends the work in good order, the second ends the process.

use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tenter_proc::Cancel;

use crate::failure::Failure;

/// Throws `cancel` at the first signal. Hooks and tools run in process groups of their own, so the terminal's Ctrl-C
/// reaches Tenter alone, and Tenter ends them.
pub(crate) fn forward(cancel: &Cancel) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Failure::new(format!("signals cannot be handled: {error}")))?;
    let cancel = cancel.clone();
    thread::spawn(move || {
        for _signal in signals.forever() {
            if cancel.is_cancelled() {
                leave();
            }
            cancel.cancel();
        }
    });
    Ok(())
}

#[expect(clippy::exit, reason = "the person asked twice: whatever still runs is left")]
fn leave() {
    std::process::exit(130);
}
