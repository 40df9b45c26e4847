//! Commands with a known effect (R84): what they do with any of the options and operands that are listed here.
//!
//! Unlike the other tables, this one is complete on purpose: an option that is not listed may do anything.

mod builds;
mod cloud;
mod git;
mod machine;

use Operands::Any;
use UseKind::{Builds, Reads};

/// The effect of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseKind {
    /// It only reads, on this machine or another.
    Reads,
    /// It runs what the project's files say: it builds, tests or formats the project.
    Builds,
}

/// The operands that a command may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operands {
    Any,
    Nothing,
    /// Any without this text, in any case.
    Without(&'static str),
}

/// Commands with the same options.
pub(crate) struct Uses {
    /// Programs with their subcommands.
    pub(crate) names: &'static [&'static str],
    pub(crate) kind: UseKind,
    /// The options as in the other tables; `-#` is a number after a dash.
    pub(crate) options: &'static str,
    pub(crate) operands: Operands,
    /// The options after `--`, which are for another program.
    pub(crate) after: &'static str,
}

/// Commands that read, with any operands.
const READS: Uses = Uses { names: &[], kind: Reads, options: "", operands: Any, after: "" };

/// Commands that build the project.
const BUILDS: Uses = Uses { kind: Builds, ..READS };

/// Returns the commands with a known effect.
pub(crate) fn all() -> impl Iterator<Item = &'static Uses> {
    [machine::USES, git::USES, builds::USES, cloud::USES].into_iter().flatten()
}
