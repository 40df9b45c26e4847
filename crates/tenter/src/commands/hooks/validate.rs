//! `tenter hooks validate`: checks manifests by every rule of the specification (R16), and what they start, if anything (R15).

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tenter_protocol::manifest::front_matter::Rules;
use tenter_protocol::{Diagnostic, Severity};

use super::manifest_file::ManifestFile;
use crate::commands::Done;
use crate::failure::{Exit, Failure};
use crate::sanitize::sanitize;
use crate::ui;

/// Check HOOK.md files by every rule of the specification, and the scripts beside them.
///
/// The exit code is 1 where there is an error. When they run, hooks are read more tolerantly.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A hook's folder, a HOOK.md, or a folder of hooks, all of which are checked.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Take warnings for errors.
    #[arg(long)]
    strict: bool,
    /// Print the findings as JSON.
    #[arg(long)]
    json: bool,
}

/// What was found of one hook. The fields are those of the JSON form.
#[derive(Serialize)]
struct Checked {
    path: PathBuf,
    valid: bool,
    diagnostics: Vec<Diagnostic>,
}

/// Does it.
pub(super) fn run(args: &Args) -> Done {
    let mut checked = Vec::new();
    for path in &args.paths {
        checked.extend(check_all(path, args.strict)?);
    }
    if args.json {
        ui::out(serde_json::to_string_pretty(&checked).unwrap_or_default());
    } else {
        checked.iter().for_each(print);
    }
    let is_valid = checked.iter().all(|hook| hook.valid);
    Ok(if is_valid { Exit::Done } else { Exit::Failed })
}

/// What is wrong with the manifest hooks in a folder of hooks; nothing where there is no such folder.
pub(crate) fn findings_in(hooks: &Path) -> Result<Vec<Diagnostic>, Failure> {
    if !hooks.is_dir() {
        return Ok(Vec::new());
    }
    let checked = manifests_in(hooks)?.into_iter().map(|manifest| check(manifest, true));
    Ok(checked.flat_map(|hook| hook.diagnostics).collect())
}

fn print(hook: &Checked) {
    hook.diagnostics.iter().for_each(ui::diagnostic);
    if hook.valid {
        ui::out(format!("Valid hook: {}", sanitize(&hook.path.to_string_lossy())));
    }
}

/// Checks what `path` names: one hook, or every hook in a folder of hooks.
fn check_all(path: &Path, strict: bool) -> Result<Vec<Checked>, Failure> {
    if let Some(manifest) = ManifestFile::at(path)? {
        return Ok(vec![check(manifest, strict)]);
    }
    let manifests = manifests_in(path)?;
    if manifests.is_empty() {
        let missing = Diagnostic::new(
            "manifest-missing",
            Severity::Error,
            "there is no HOOK.md, neither here nor one folder down",
        );
        let missing = missing.at(path).help("`tenter hooks new NAME` writes a hook");
        let diagnostics = vec![missing];
        return Ok(vec![Checked { path: path.to_owned(), valid: false, diagnostics }]);
    }
    Ok(manifests.into_iter().map(|manifest| check(manifest, strict)).collect())
}

/// The manifests in the folders of a folder of hooks, by name; hidden ones are nobody's hooks (R10).
fn manifests_in(folder: &Path) -> Result<Vec<ManifestFile>, Failure> {
    let failed = |error| Failure::new(format!("{} cannot be read: {error}", folder.display()));
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden && entry.path().is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    let manifests: Result<Vec<_>, _> =
        folders.iter().map(|folder| ManifestFile::at(folder)).collect();
    Ok(manifests?.into_iter().flatten().collect())
}

fn check(manifest: ManifestFile, strict: bool) -> Checked {
    let (_, mut diagnostics) = manifest.read(Rules::Strict);
    diagnostics.extend(manifest.check_script());
    let worst_allowed = if strict { Severity::Info } else { Severity::Warning };
    let valid = diagnostics.iter().all(|finding| finding.severity <= worst_allowed);
    Checked { path: manifest.named, valid, diagnostics }
}
