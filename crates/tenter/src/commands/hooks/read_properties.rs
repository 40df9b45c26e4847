//! `tenter hooks read-properties`: what a manifest says, as data. Read as a run reads it (R16).

use std::path::PathBuf;

use tenter_protocol::front_matter::Rules;
use tenter_protocol::manifest::format;

use super::manifest_file::ManifestFile;
use crate::commands::Done;
use crate::failure::Exit;
use crate::ui;

/// Print what a HOOK.md says, as JSON, with the defaults for what it leaves out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A hook's folder or its HOOK.md.
    path: PathBuf,
}

/// Does it.
pub(super) fn run(args: &Args) -> Done {
    let (manifest, findings) = ManifestFile::must_be_at(&args.path)?.read(Rules::Tolerant);
    ui::diagnostics(&findings);
    let Some(manifest) = manifest else { return Ok(Exit::Failed) };
    let properties = format::properties(&manifest);
    ui::out(serde_json::to_string_pretty(&properties).unwrap_or_default());
    Ok(Exit::Done)
}
