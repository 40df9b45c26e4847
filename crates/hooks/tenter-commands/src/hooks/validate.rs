//! `tenter hooks validate`: checks manifests against every rule of the specification (R16), their scripts (R15), and
//! executable hooks. Without a path, it checks every hook found and the `hooks.toml` files.

mod executable;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tenter_base::{untrusted_file, visible};
use tenter_engine::Layer;
use tenter_engine::inspect::{Catalog, Environment};
use tenter_engine::layout::{HOOKS, Root};
use tenter_engine::source::{self, Candidate, CandidateKind};
use tenter_proc::Cancel;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{CommandResult, Exit, Failure, ui};

use super::manifest_file::ManifestFile;
use super::{script_check, scripts};
use crate::project::Project;

/// Check hooks against every rule of the specification.
///
/// Exits with 1 if there is an error. Untrusted executables are not run, so they are not checked. The rules are stricter than
/// those for running hooks.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A hook directory, a HOOK.md, an executable, or a directory of hooks [default: all hooks].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,
    /// Print the diagnostics as JSON.
    #[arg(long)]
    json: bool,
}

/// The result for one hook, with the fields of the JSON form.
#[derive(Serialize)]
struct Checked {
    path: PathBuf,
    /// `null` if nothing is wrong, but the hook was not asked for its events.
    valid: Option<bool>,
    diagnostics: Vec<Diagnostic>,
}

/// Runs the command. `open` opens the project, which only executable hooks need.
pub(super) fn run<'e>(
    open: &dyn Fn() -> Result<Project<'e>, Failure>,
    environment: &Environment,
    args: &Args,
) -> CommandResult {
    let mut checker = Checker { open, loaded: None, environment, strict: args.strict };
    let mut checks = Vec::new();
    for path in &args.paths {
        checks.extend(checker.at(path)?);
    }
    if args.paths.is_empty() {
        checks = checker.everything()?;
    }
    if args.json {
        ui::json(&checks);
    } else if checks.is_empty() {
        ui::note("There are no hooks. To create one, run `tenter hooks new NAME`.");
    } else {
        checks.iter().for_each(print);
    }
    let is_valid = checks.iter().all(|hook| hook.valid != Some(false));
    Ok(if is_valid { Exit::Done } else { Exit::Failed })
}

/// Checks hooks for one run of the command.
struct Checker<'a, 'e> {
    open: &'a dyn Fn() -> Result<Project<'e>, Failure>,
    loaded: Option<Loaded<'e>>,
    /// The environment in which interpreters are looked up.
    environment: &'a Environment,
    strict: bool,
}

/// The project and its hooks, loaded when the first executable hook is checked.
struct Loaded<'e> {
    project: Project<'e>,
    catalog: Catalog,
}

impl<'e> Loaded<'e> {
    fn new(open: &dyn Fn() -> Result<Project<'e>, Failure>) -> Result<Self, Failure> {
        let mut project = open()?;
        let catalog = project.load(&Cancel::new());
        Ok(Self { project, catalog })
    }
}

impl<'e> Checker<'_, 'e> {
    fn loaded(&mut self) -> Result<&Loaded<'e>, Failure> {
        let state = self.loaded.take().map_or_else(|| Loaded::new(self.open), Ok)?;
        Ok(self.loaded.insert(state))
    }

    /// Checks what `path` names: one hook, or every hook in a directory of hooks.
    fn at(&mut self, path: &Path) -> Result<Vec<Checked>, Failure> {
        if path.is_file() && !ManifestFile::has_manifest_name(path) {
            return Ok(vec![self.executable(path)?]);
        }
        if let Some(manifest) = ManifestFile::at(path)? {
            return Ok(vec![self.manifest(manifest)]);
        }
        let manifests = manifests_in(path)?.into_iter();
        let mut checks: Vec<Checked> = manifests.map(|manifest| self.manifest(manifest)).collect();
        let root = Root::new(Layer::User, path);
        let (candidates, _) = source::scan(&root, 0);
        for candidate in candidates {
            checks.extend(self.program(&candidate)?);
        }
        if checks.is_empty() {
            checks.push(self.report(path, vec![nothing_at(path)]));
        }
        Ok(checks)
    }

    /// Checks every hook of every layer.
    fn everything(&mut self) -> Result<Vec<Checked>, Failure> {
        let (roots, mut findings) = self.loaded()?.project.layout.roots(&HOOKS);
        let mut checks = Vec::new();
        for root in &roots {
            let (candidates, problems) = source::scan(root, 0);
            findings.extend(problems);
            for candidate in candidates {
                match candidate.kind {
                    CandidateKind::Manifest(file) => {
                        let manifest = ManifestFile { file, path: candidate.path };
                        checks.push(self.manifest(manifest));
                    }
                    _ => checks.extend(self.program(&candidate)?),
                }
            }
        }
        let is_of_settings = |finding: &&Diagnostic| {
            finding.id.starts_with("hooks-toml") || finding.id == "hook-setting-names-nothing"
        };
        findings.extend(self.loaded()?.project.findings().filter(is_of_settings).cloned());
        for finding in findings {
            let path = finding.path.clone().unwrap_or_default();
            checks.push(self.report(&path, vec![finding]));
        }
        Ok(checks)
    }

    /// Checks a candidate that is not a directory. A script that is not executable is a warning; other files in a hooks
    /// directory are ignored.
    fn program(&mut self, candidate: &Candidate) -> Result<Option<Checked>, Failure> {
        match &candidate.kind {
            CandidateKind::Executable(_) => self.executable(&candidate.path).map(Some),
            CandidateKind::Invalid(why) => {
                let finding = Diagnostic::new("hook-invalid", Severity::Error, format!("it {why}"));
                Ok(Some(self.report(&candidate.path, vec![finding.at(&candidate.path)])))
            }
            CandidateKind::NotExecutable if is_script(&candidate.path) => {
                let message = "the script is not executable, so it is not a hook";
                let help = format!("run chmod +x {}", candidate.path.display());
                let finding = Diagnostic::new("executable-hook", Severity::Warning, message);
                let finding = finding.at(&candidate.path).help(help);
                Ok(Some(self.report(&candidate.path, vec![finding])))
            }
            CandidateKind::NotExecutable | CandidateKind::Disabled | CandidateKind::Manifest(_) => {
                Ok(None)
            }
        }
    }

    /// Checks a manifest hook, including the text of its script.
    fn manifest(&self, manifest: ManifestFile) -> Checked {
        let script = scripts::entry_of(manifest.directory());
        let text = script.map(|script| script_check::check(&script, self.environment));
        check(manifest, text.unwrap_or_default(), self.strict)
    }

    fn executable(&mut self, path: &Path) -> Result<Checked, Failure> {
        let Loaded { project, catalog } = self.loaded()?;
        let findings = executable::check(path, project, catalog);
        Ok(self.report(path, findings))
    }

    fn report(&self, path: &Path, diagnostics: Vec<Diagnostic>) -> Checked {
        Checked::new(path.to_owned(), diagnostics, self.strict)
    }
}

impl Checked {
    fn new(path: PathBuf, diagnostics: Vec<Diagnostic>, strict: bool) -> Self {
        let worst_allowed = if strict { Severity::Info } else { Severity::Warning };
        let is_valid = diagnostics.iter().all(|finding| finding.severity <= worst_allowed);
        let is_unchecked = diagnostics.iter().any(|finding| finding.id == executable::NOT_CHECKED);
        let valid = (!is_valid || !is_unchecked).then_some(is_valid);
        Self { path, valid, diagnostics }
    }
}

fn nothing_at(path: &Path) -> Diagnostic {
    let message = "no hook found: no HOOK.md here or in a subdirectory, and no executable";
    Diagnostic::new("manifest-missing", Severity::Error, message)
        .at(path)
        .help("to create a hook, run `tenter hooks new NAME`")
}

/// Checks whether a file begins with `#!`.
fn is_script(path: &Path) -> bool {
    untrusted_file::read_prefix(path, 2).is_ok_and(|bytes| bytes == b"#!")
}

/// Returns the diagnostics of the manifest hooks in a hooks directory, which may be missing.
pub fn findings_in(hooks: &Path) -> Result<Vec<Diagnostic>, Failure> {
    if !hooks.is_dir() {
        return Ok(Vec::new());
    }
    let result = manifests_in(hooks)?.into_iter().map(|manifest| check(manifest, Vec::new(), true));
    Ok(result.flat_map(|hook| hook.diagnostics).collect())
}

fn print(hook: &Checked) {
    hook.diagnostics.iter().for_each(ui::diagnostic);
    let outcome = match hook.valid {
        Some(true) => "Valid hook",
        None => "Not checked",
        Some(false) => return,
    };
    ui::out(format!("{outcome}: {}", visible(&hook.path.to_string_lossy())));
}

/// Returns the manifests in the subdirectories of a hooks directory, sorted by name. Hidden ones are skipped (R10).
fn manifests_in(directory: &Path) -> Result<Vec<ManifestFile>, Failure> {
    let failure = |error| Failure::new(format!("cannot read {}: {error}", directory.display()));
    let mut directories = Vec::new();
    for entry in fs::read_dir(directory).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden && entry.path().is_dir() {
            directories.push(entry.path());
        }
    }
    directories.sort();
    let manifests: Result<Vec<_>, _> =
        directories.iter().map(|directory| ManifestFile::at(directory)).collect();
    Ok(manifests?.into_iter().flatten().collect())
}

/// Checks a manifest hook; `text_diagnostics` are the diagnostics of its script's text.
fn check(manifest: ManifestFile, text_diagnostics: Vec<Diagnostic>, strict: bool) -> Checked {
    let (_, mut diagnostics) = manifest.read(Strictness::Strict);
    diagnostics.extend(manifest.check_script());
    diagnostics.extend(text_diagnostics);
    Checked::new(manifest.path, diagnostics, strict)
}
