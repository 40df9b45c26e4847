//! `!COMMAND`: commands that the user runs. The model reads the command and its output with the next message; `!!COMMAND` has the
//! terminal to itself, and the model does not see it.
//!
//! The user typed it, so no hook is asked: hooks guard agents.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use tenter_base::{excerpt, sanitize};
use tenter_commands::git::how;
use tenter_proc::{Invocation, Limits, ProcessEnd, Streams, run_watched};
use tenter_terminal::{FAINT, NOTICE, styled, ui};

use super::Chat;

/// Maximum number of bytes of one command's output that the model reads.
const OUTPUT: usize = 16 * 1024;
/// Maximum number of bytes that are kept of the beginning and of the end of the output.
const KEPT: usize = 1 << 20;
/// Maximum length of a line that is shown as one, in bytes.
const LINE: usize = 64 * 1024;
/// Maximum number of commands that the model reads with one message; older ones are dropped.
const COMMANDS: usize = 10;

/// The text of a command and its output for the model.
pub(super) struct RanCommand(String);

impl RanCommand {
    fn new(command: &str, end: &ProcessEnd, output: &str) -> Self {
        let output = excerpt::ends(output.trim_end(), OUTPUT).into_owned();
        Self(format!("I ran a command, which {}:\n\n$ {command}\n{output}\n", how(end)))
    }
}

/// Returns `message` below what the model reads of commands.
pub(super) fn below_commands(commands: Vec<RanCommand>, message: &str) -> String {
    let mut text: String = commands.into_iter().map(|RanCommand(text)| text + "\n").collect();
    text += message;
    text
}

impl Chat<'_> {
    /// Runs a command in the user's shell.
    pub(super) fn run_command(&mut self, command: &str, is_shared: bool) {
        if command.is_empty() {
            ui::note("Type a command after the exclamation mark: !git status");
            return;
        }
        let mut invocation = self.invocation(command);
        if !is_shared {
            let end = self.dialogue.lend_terminal(|| tenter_proc::interactive(&invocation));
            report(&end);
            return;
        }
        // What asks for input gets none: that is for `!!`.
        invocation.streams = Streams::Merged;
        let began = Instant::now();
        let lines = OutputLines::default();
        let completion = run_watched(&invocation, &self.new_cancel(), &|piece| lines.push(piece));
        lines.end();
        let output = completion.stdout.text();
        report(&completion.end);
        if began.elapsed() > Duration::from_secs(1) {
            ui::note(styled(FAINT, format!("{:.1} s", began.elapsed().as_secs_f64())));
        }
        self.commands.push(RanCommand::new(command, &completion.end, &output));
        if self.commands.len() > COMMANDS {
            self.commands.remove(0);
        }
    }

    fn invocation(&self, command: &str) -> Invocation {
        let env = self.project.env;
        Invocation {
            program: env.text("SHELL").unwrap_or("/bin/sh").into(),
            args: vec!["-c".into(), command.into()],
            cwd: env.cwd.clone(),
            env: self.project.program_environment(),
            limits: Limits { timeout: Duration::MAX, keep: KEPT, ..Limits::default() },
            ..Invocation::default()
        }
    }
}

/// Shows output line by line, as it comes. A command may print what a project contains, so it is sanitized.
#[derive(Default)]
struct OutputLines(RefCell<Vec<u8>>);

impl OutputLines {
    fn push(&self, piece: &[u8]) {
        let mut open = self.0.borrow_mut();
        open.extend_from_slice(piece);
        if let Some(end) = open.iter().rposition(|byte| *byte == b'\n') {
            let rest = open.split_off(end + 1);
            show(&std::mem::replace(&mut *open, rest));
        }
        if open.len() > LINE {
            show(&std::mem::take(&mut *open));
        }
    }

    fn end(self) {
        show(&self.0.into_inner());
    }
}

fn show(output: &[u8]) {
    let text = String::from_utf8_lossy(output);
    if !text.is_empty() {
        ui::out(sanitize(text.trim_end_matches('\n')));
    }
}

/// Says how a command ended, unless it succeeded.
fn report(end: &ProcessEnd) {
    if !end.is_success() {
        ui::note(styled(NOTICE, format!("The command {}.", how(end))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_reads_the_command_its_end_and_a_limited_part_of_its_output() {
        let run_of = |output: &str| RanCommand::new("ls", &ProcessEnd::Exited(2), output);
        let text = below_commands(vec![run_of("a\nb\n"), run_of("")], "What is b?");
        let one = "I ran a command, which ended with code 2:\n\n$ ls\na\nb\n\n";
        assert_eq!(
            text,
            format!("{one}I ran a command, which ended with code 2:\n\n$ ls\n\n\nWhat is b?")
        );
        let long = below_commands(vec![run_of(&"x".repeat(1 << 20))], "");
        assert!(long.len() < OUTPUT + 200);
    }
}
