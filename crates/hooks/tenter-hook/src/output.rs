//! The output of the program: answers on stdout, and reports on stderr.

use std::io::{self, Write as _};

/// Writes an answer as one line.
///
/// # Errors
/// The host does not read it, or it is redirected to a file that cannot be written.
pub(crate) fn answer(answer: Option<&str>) -> io::Result<()> {
    let Some(answer) = answer else { return Ok(()) };
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{answer}")?;
    stdout.flush()
}

/// Writes reports to stderr.
pub(crate) fn warn(lines: &[String]) {
    for line in lines {
        // Without stderr, the answer is still valid.
        let _ = writeln!(io::stderr(), "tenter-hook: {line}");
    }
}
