//! Where a registration goes: a host, and the file of the user or of a project.

use std::path::PathBuf;

use crate::Host;
use crate::host::Scope;

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
