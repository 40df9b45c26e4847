//! What is known about programs: options, paths, and other programs that they run (C6).
//!
//! One row is one program, or one of its subcommands (`git push`). To add a program, add a row, and a command with its facts to
//! `tests/programs.txt`: a test fails for a row without an example.

mod shell;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::facts::{Class, Language};

/// A row of the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    /// The name, and that of a subcommand after a blank.
    pub(crate) name: &'static str,
    pub(crate) style: Style,
    /// The options, separated by blanks: `-f`, `--file=` with a value, `--color?` with a value in the same argument only.
    pub(crate) options: &'static str,
    /// The first operand is a subcommand, after the options above.
    pub(crate) has_subcommands: bool,
    pub(crate) paths: &'static [&'static str],
    /// The options with which the paths are touched recursively, or `always`.
    pub(crate) recursive: &'static str,
    pub(crate) runs: &'static [Run],
    /// What the program does with data, and when: `if -d --decode`.
    pub(crate) classes: &'static [(Class, &'static str)],
    pub(crate) interpreter: Option<Interpreter>,
}

/// How an interpreter gets its program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interpreter {
    /// `None` for a shell.
    pub(crate) language: Option<Language>,
    /// The options whose value is a program. That of a shell is its first operand.
    pub(crate) inline: &'static str,
    /// The options with which the operands and the standard input are no program.
    pub(crate) no_program: &'static str,
    /// The options with which the standard input is the program although there are operands.
    pub(crate) stdin: &'static str,
}

/// How a program's options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Options and operands in any order, long options can be abbreviated.
    Gnu,
    /// Options end at the first operand.
    Posix,
    /// Long options with a single dash: `find -name`.
    Single,
    /// `key=value`: `dd of=…`.
    Keys,
    /// The first argument is letters without a dash: `tar xzf`.
    Dashless,
}

/// What a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// The operands from this one on are a command.
    Words(usize),
    /// As [`Words`](Self::Words), after assignments: `env A=b command`.
    Environment,
    /// The operands from this one on, joined, are a script.
    Script(usize),
    /// The values of these options are scripts.
    Option(&'static str),
    /// The operands from this one on, joined, are a script on another machine.
    Remote(usize),
}

/// A program without options, to build rows from.
pub(crate) const GNU: Program = Program {
    name: "",
    style: Style::Gnu,
    options: "",
    has_subcommands: false,
    paths: &[],
    recursive: "",
    runs: &[],
    classes: &[],
    interpreter: None,
};

/// A program that runs the command in its operands.
pub(crate) const WRAPPER: Program = Program { style: Style::Posix, runs: &[Run::Words(0)], ..GNU };

/// All tables.
const TABLES: &[&[Program]] = &[shell::PROGRAMS];

/// The rows by program and subcommand.
static INDEX: LazyLock<HashMap<(&'static str, &'static str), &'static Program>> =
    LazyLock::new(|| {
        let rows = TABLES.iter().flat_map(|table| table.iter());
        rows.map(|row| (row.name.split_once(' ').unwrap_or((row.name, "")), row)).collect()
    });

/// The row of a program, or that of its family: `python3.11` is `python`, `mkfs.ext4` is `mkfs`.
pub(crate) fn find(name: &str) -> Option<&'static Program> {
    let unversioned =
        || name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let family = || name.split_once('.').map_or(name, |(family, _)| family);
    program(name).or_else(|| program(unversioned())).or_else(|| program(family()))
}

/// The row of a program with exactly this name.
fn program(name: &str) -> Option<&'static Program> {
    INDEX.get(&(name, "")).copied()
}

/// The row of a program's subcommand.
pub(crate) fn subcommand(program: &str, subcommand: &str) -> Option<&'static Program> {
    INDEX.get(&(program, subcommand)).copied()
}
