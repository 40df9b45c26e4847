//! The standard input of commands: whether they run it, and whether an agent can send it after the call.

use std::collections::BTreeSet;

use crate::facts::{Language, Stdin};
use crate::reader::{Context, Input, Reader};
use crate::tables::{self, Inline, Program, Run};

use super::call::{Call, Emitted};
use super::sql::inline_sql;

/// The programs that start a shell if they have at most this number of operands.
const SHELL_STARTERS: [(&str, usize); 9] = [
    ("chroot", 1),
    ("doas", 0),
    ("nsenter", 0),
    ("runuser", 1),
    ("screen", 0),
    ("script", 1),
    ("su", 1),
    ("sudo", 0),
    ("unshare", 0),
];
/// The options with which a starter of shells runs a command, or nothing.
const NO_SHELL: &str = "-c --command -v -k -K -V --list --validate --version --help -ls -X";

impl Reader<'_> {
    /// Checks whether a command takes commands that may be sent after the call, and that no hook sees.
    pub(super) fn waits_for_unseen_input(
        &self,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> bool {
        self.surroundings.unseen_input
            && (self.runs_stdin[emitted.index] || is_interactive(call, emitted))
            && context.stdin.as_deref().is_none_or(|input| self.is_passed_on(input))
    }

    /// Checks whether an input may come through from the agent: `cat | sh`.
    fn is_passed_on(&self, input: &Input) -> bool {
        let mut pending = BTreeSet::new();
        let mut from = Some(&input.stdin).filter(|_| input.text.is_none());
        let mut index = self.facts.commands.len();
        loop {
            if let Some(Stdin::Commands(commands)) = from {
                // Only those before the command, so that this ends.
                pending.extend(commands.iter().filter(|command| **command < index));
            }
            let Some(command) = pending.pop_last() else { return false };
            index = command;
            let command = &self.facts.commands[index];
            from = command.stdin_from.as_ref().filter(|_| command.operands.is_empty());
            if command.operands.is_empty() && from.is_none() {
                return true;
            }
        }
    }
}

/// Checks whether a command takes commands although it has a program, or starts a shell: `python3 -i x.py`, `gdb a.out`, `sudo -s`.
fn is_interactive(call: &Call, emitted: &Emitted) -> bool {
    let arguments = &emitted.arguments;
    let debugs = |row: &Program| row.runs.iter().any(|run| matches!(run, Run::Debugs(_)));
    if emitted.rows().any(debugs) {
        return !arguments.has("-batch --batch -b");
    }
    let language = emitted.operand_row().and_then(|row| row.interpreter?.language);
    if matches!(language, Some(Language::Python | Language::Node)) {
        return arguments.has("-i");
    }
    let mut starters = SHELL_STARTERS.iter().filter(|(program, _)| emitted.program == *program);
    let operands = call.operands(emitted).count();
    starters.any(|(_, most)| operands <= *most) && !arguments.has(NO_SHELL)
}

/// Checks whether a command runs its standard input.
pub(super) fn runs_stdin(call: &Call, emitted: &Emitted) -> bool {
    let is_sql = |row: &Program| {
        row.runs.iter().any(|run| match run {
            Run::Sql(client) => {
                inline_sql(*client, call, emitted).is_empty()
                    && !emitted.arguments.has(client.files)
            }
            _ => false,
        })
    };
    if emitted.operand_row().is_some_and(is_sql) {
        return true;
    }
    let Some(interpreter) = emitted.operand_row().and_then(|row| row.interpreter) else {
        return false;
    };
    let arguments = &emitted.arguments;
    let (names, has_program) = match interpreter.inline {
        Inline::Values(names) | Inline::OperandWith(names) => (names, false),
        Inline::ValuesOrOperand(names) => (names, call.operands(emitted).any(|it| it.text != "-")),
    };
    if arguments.values(names).any(|(value, _)| value.text == "-") {
        return true;
    }
    // `awk -f -`.
    if interpreter.language == Some(Language::Awk)
        && arguments.values(interpreter.module).any(|(file, _)| is_stdin(&file.text))
    {
        return true;
    }
    if interpreter.stdin == tables::NO_FILES {
        return false;
    }
    let has_no_program = arguments.has(interpreter.no_program) && !arguments.has("+n");
    if has_no_program || has_program || arguments.has(names) || arguments.has(interpreter.module) {
        return false;
    }
    let first = call.operands(emitted).next().map(|operand| operand.text.as_str());
    interpreter.stdin == "*" || arguments.has(interpreter.stdin) || first.is_none_or(is_stdin)
}

/// Checks whether a file is the standard input.
pub(super) fn is_stdin(file: &str) -> bool {
    matches!(file, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}
