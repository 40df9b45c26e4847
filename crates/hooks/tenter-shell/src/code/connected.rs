//! Programs with a connection to another machine that start a shell, or run what they read.

use super::taint::opens_socket;
use super::{CodeCall, CodeReader};

const SHELLS: [&str; 7] = ["bash", "cmd", "cmd.exe", "dash", "ksh", "sh", "zsh"];

impl CodeReader<'_> {
    /// Notes that a program runs what it downloads, if it has a connection, and starts a shell that waits for commands or runs what it reads.
    pub(super) fn connect_shells(&mut self) {
        let runs = self.facts.runs_input || self.facts.calls.iter().any(waits);
        self.facts.runs_download |= runs && opens_socket(self.text);
    }
}

/// Checks whether a call starts a shell that waits for commands: `sh -i`, `sh <&3`.
fn waits(call: &CodeCall) -> bool {
    let words: Option<Vec<&str>> = match call {
        CodeCall::Script(script) => Some(script.split_whitespace().collect()),
        CodeCall::Words(words) => words.iter().map(Option::as_deref).collect(),
        _ => None,
    };
    let words = words.unwrap_or_default();
    let Some((first, rest)) = words.split_first() else { return false };
    let is_option = |word: &&str| {
        matches!(*word, "-i" | "-l" | "-s" | "-il" | "-li") || word.contains(['<', '>'])
    };
    SHELLS.contains(&first.rsplit('/').next().unwrap_or_default()) && rest.iter().all(is_option)
}
