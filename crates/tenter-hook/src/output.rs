//! What the program writes: answers on stdout, and reports on stderr.

use std::io::{self, Write as _};

/// Writes an answer as one line.
pub(crate) fn answer(answer: Option<&str>) {
    if let Some(answer) = answer {
        let mut stdout = io::stdout().lock();
        // The error is ignored: the host does not read the answer.
        let _ = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
    }
}

#[expect(clippy::print_stderr, reason = "this program's own report")]
pub(crate) fn warn(lines: &[String]) {
    for line in lines {
        eprintln!("tenter-hook: {line}");
    }
}
