//! The two kinds of hooks, as the command line names them.

use clap::ValueEnum;
use tenter_protocol::lifecycle::{ProtocolName, TABLE};

/// The kinds of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A directory with a HOOK.md, a script (unless it has an --action) and tests.
    Manifest,
    /// One executable file.
    Executable,
}

impl Format {
    /// Returns the kind that an event's spelling implies: only executables spell an event `before_tool_call`.
    pub(super) fn implied_by(event: &str) -> Self {
        let is_of = |protocol| TABLE.iter().any(|row| row.spellings(protocol).contains(&event));
        let only_executables = is_of(ProtocolName::Executable) && !is_of(ProtocolName::Manifest);
        if only_executables { Self::Executable } else { Self::Manifest }
    }

    /// Returns the protocol that hooks of this kind speak.
    pub(super) fn protocol(self) -> ProtocolName {
        match self {
            Self::Manifest => ProtocolName::Manifest,
            Self::Executable => ProtocolName::Executable,
        }
    }
}
