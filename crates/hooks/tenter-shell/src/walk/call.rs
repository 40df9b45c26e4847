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
    /// The row of the subcommand's subcommand, and the index of its argument.
    pub(super) nested_row: Option<&'static Program>,
    pub(super) nested: Option<usize>,
    pub(super) subcommand: Option<String>,
    /// A layer of the scope is open for the command's working directory.
    pub(super) has_layer: bool,
    pub(super) arguments: Arguments,
}

impl Emitted {
    /// Returns the row that describes the operands.
    pub(super) fn operand_row(&self) -> Option<&'static Program> {
        let row = self.nested_row.or(self.subcommand_row).or(self.row);
        row.filter(|row| !row.has_subcommands)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &'static Program> {
        self.row.into_iter().chain(self.subcommand_row).chain(self.nested_row)
    }
}

impl Call {
    pub(super) fn args(&self) -> &[Field] {
        self.argv.get(1..).unwrap_or_default()
    }

    /// Returns the operands of a command.
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
        // `cargo +nightly publish`, `docker container run`.
        let is_before = |at: &usize| {
            let word = args[*at].text.as_str();
            word.starts_with('+') || (word == row.prefix && !word.is_empty())
        };
        let Some(at) = first.operands.iter().copied().find(|at| !is_before(at)) else {
            self.arguments = first;
            return;
        };
        first.flags.retain(|flag| flag.arg < at);
        let name = &args[at].text;
        self.subcommand = Some(name.clone());
        self.subcommand_row = tables::subcommand(row.name, name);
        let offset = at + 1;
        let rest = &args[offset..];
        // `terraform init -from-module=…`
        let style = if row.style == Style::Single { Style::Single } else { Style::Gnu };
        let default = Program { name: "", style, ..tables::GNU };
        let row = self.subcommand_row.unwrap_or(&default);
        if !row.has_subcommands {
            first.append(Arguments::sort(rest, Some(row)), offset);
            self.arguments = first;
            return;
        }
        // `docker compose -f file exec …`.
        let mut own = Arguments::sort(rest, Some(&Program { style: Style::Posix, ..*row }));
        let nested = own.operands.first().copied();
        own.flags.retain(|flag| nested.is_none_or(|nested| flag.arg < nested));
        own.operands.clear();
        first.append(own, offset);
        if let Some(nested) = nested {
            self.nested = Some(nested + offset);
            self.nested_row = tables::nested(row, &rest[nested].text);
            let row = self.nested_row.unwrap_or(&default);
            let inner = Arguments::sort(&rest[nested + 1..], Some(row));
            first.append(inner, offset + nested + 1);
        }
        self.arguments = first;
    }
}
