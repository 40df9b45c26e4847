//! A command on its way: after expansion, and with its arguments sorted.

use crate::field::Field;
use crate::flags::Arguments;
use crate::tables::{self, Program, Style};

use super::redirections::Redirected;

/// A command after expansion.
#[derive(Debug, Default, Clone)]
pub(super) struct Call {
    pub(super) argv: Vec<Field>,
    pub(super) env: Vec<(String, Field)>,
    pub(super) text: String,
    pub(super) redirected: Redirected,
}

/// A command whose facts were kept.
#[derive(Debug)]
pub(super) struct Emitted {
    pub(super) index: usize,
    pub(super) program: String,
    pub(super) has_path: bool,
    pub(super) is_program_certain: bool,
    pub(super) row: Option<&'static Program>,
    pub(super) subcommand_row: Option<&'static Program>,
    pub(super) subcommand: Option<String>,
    /// A layer of the scope is open for the command's working directory.
    pub(super) has_layer: bool,
    pub(super) arguments: Arguments,
}

impl Emitted {
    /// The row that describes the operands.
    pub(super) fn operand_row(&self) -> Option<&'static Program> {
        self.subcommand_row.or(self.row.filter(|row| !row.has_subcommands))
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &'static Program> {
        self.row.into_iter().chain(self.subcommand_row)
    }
}

impl Call {
    pub(super) fn args(&self) -> &[Field] {
        self.argv.get(1..).unwrap_or_default()
    }

    /// The operands of a command.
    pub(super) fn operands<'a>(&'a self, emitted: &'a Emitted) -> impl Iterator<Item = &'a Field> {
        emitted.arguments.operands.iter().filter_map(|index| self.args().get(*index))
    }
}

impl Emitted {
    pub(super) fn sort_with_subcommand(&mut self, args: &[Field]) {
        let Some(row) = self.row else { return };
        let style = if row.style == Style::Single { Style::Single } else { Style::Posix };
        let global = Program { style, ..*row };
        let mut first = Arguments::sort(args, Some(&global));
        // `cargo +nightly publish`
        let is_toolchain = |at: &usize| args[*at].text.starts_with('+');
        let Some(at) = first.operands.iter().copied().find(|at| !is_toolchain(at)) else {
            self.arguments = first;
            return;
        };
        first.flags.retain(|flag| flag.arg < at);
        let name = &args[at].text;
        self.subcommand = Some(name.clone());
        self.subcommand_row = tables::subcommand(row.name, name);
        let default = Program { name: "", ..tables::GNU };
        let rest = Arguments::sort(&args[at + 1..], Some(self.subcommand_row.unwrap_or(&default)));
        let offset = at + 1;
        first.flags.extend(rest.flags.into_iter().map(|mut flag| {
            flag.arg += offset;
            flag
        }));
        first.operands = rest.operands.into_iter().map(|index| index + offset).collect();
        first.dashes = rest.dashes;
        self.arguments = first;
    }
}
