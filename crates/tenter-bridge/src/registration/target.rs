//! Where a registration goes: a host, and the file of the user or of a project.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Host;

/// For whom a registration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For the user, in every project.
    User,
    /// For the user, in one project.
    Personal,
    /// For everybody who works on one project.
    Shared,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::User, Self::Personal, Self::Shared];

    /// The name in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Personal => "personal",
            Self::Shared => "shared",
        }
    }
}

/// A host, and one of the files that it reads.
#[derive(Debug, Clone)]
pub struct Target {
    /// The host.
    pub host: &'static Host,
    /// For whom the file is.
    pub scope: Scope,
    /// The file, or the directory of the files that are the bridge's own.
    pub file: PathBuf,
    /// The file with the hashes of trusted handlers, if the host demands them.
    pub(super) trust_file: Option<PathBuf>,
}
