//! Finds hooks: the candidates in each hooks directory, and its `hooks.toml`.
//!
//! Nothing here starts a program or opens a hook: only names, symlinks, modes and `hooks.toml` are read.

pub(crate) mod beside;
mod entry_point;
mod hooks_toml;
mod scan;

pub use entry_point::{EntryPoint, SCRIPTS, Script, names_no_interpreter, script};
pub use hooks_toml::{HookSettings, Override, ProjectSetting, SETTINGS_FILE};
pub use scan::{Candidate, CandidateKind, check_file_name, manifest_file, scan};
pub(crate) use scan::{MANIFEST_FILE, is_skipped};
