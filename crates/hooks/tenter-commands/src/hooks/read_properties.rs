//! `tenter hooks read-properties`: the fields of a manifest as JSON, read with the tolerant rules (R16).

use std::path::PathBuf;

use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format;
use tenter_terminal::{CommandResult, Exit, ui};

use super::manifest_file::ManifestFile;

/// Print the fields of a HOOK.md as JSON, with defaults.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A hook directory or its HOOK.md.
    path: PathBuf,
}

pub(super) fn run(args: &Args) -> CommandResult {
    let (manifest, findings) = ManifestFile::required_at(&args.path)?.read(Strictness::Tolerant);
    ui::diagnostics(&findings);
    let Some(manifest) = manifest else { return Ok(Exit::Failed) };
    let properties = format::properties(&manifest);
    ui::json(&properties);
    Ok(Exit::Done)
}
