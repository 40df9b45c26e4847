//! The events of a dialogue for its caller.

use crate::ProcessEnd;

/// Receives what a program writes, in order, on the thread of the dialogue, which must not wait.
pub trait DialogueListener: Send {
    /// Receives a line that the program wrote; the line break is not part of it.
    fn line(&mut self, line: &[u8]);

    /// Receives that the program wrote more than the limit without a line break. The rest of the line is skipped.
    fn line_too_long(&mut self);

    /// Receives the end of the dialogue, of which no process is left. Called once, as the last.
    fn ended(&mut self, end: DialogueEnd);
}

impl<L: DialogueListener + ?Sized> DialogueListener for Box<L> {
    fn line(&mut self, line: &[u8]) {
        (**self).line(line);
    }

    fn line_too_long(&mut self) {
        (**self).line_too_long();
    }

    fn ended(&mut self, end: DialogueEnd) {
        (**self).ended(end);
    }
}

/// The end of a dialogue.
#[derive(Debug)]
pub enum DialogueEnd {
    /// The program ended by itself.
    Process(ProcessEnd),
    /// The program closed its stdout and was killed.
    StdoutClosed,
    /// The program was killed by [`kill`](super::Dialogue::kill), or because it was still running after [`close`](super::Dialogue::close).
    Killed,
}
