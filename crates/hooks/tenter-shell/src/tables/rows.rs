//! Rows of the tables: a program, and then only what is special about it.

use super::{GNU, Interpreter, Program, Run, Style};
use crate::facts::Class;

/// Creates the row of a program or of its subcommand, as [`GNU`] has it.
pub(super) const fn program(name: &'static str) -> Program {
    like(GNU, name)
}

/// Creates the row of a program or of its subcommand, as `row` has it.
pub(super) const fn like(row: Program, name: &'static str) -> Program {
    Program { name, ..row }
}

impl Program {
    pub(super) const fn style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    pub(super) const fn options(self, options: &'static str) -> Self {
        Self { options, ..self }
    }

    pub(super) const fn with_subcommands(self) -> Self {
        Self { has_subcommands: true, ..self }
    }

    pub(super) const fn prefix(self, prefix: &'static str) -> Self {
        Self { prefix, ..self }
    }

    pub(super) const fn directory(self, directory: &'static str) -> Self {
        Self { directory, ..self }
    }

    pub(super) const fn paths(self, paths: &'static [&'static str]) -> Self {
        Self { paths, ..self }
    }

    pub(super) const fn recursive(self, recursive: &'static str) -> Self {
        Self { recursive, ..self }
    }

    pub(super) const fn runs(self, runs: &'static [Run]) -> Self {
        Self { runs, ..self }
    }

    pub(super) const fn classes(self, classes: &'static [(Class, &'static str)]) -> Self {
        Self { classes, ..self }
    }

    pub(super) const fn interpreter(self, interpreter: Interpreter) -> Self {
        Self { interpreter: Some(interpreter), ..self }
    }
}
