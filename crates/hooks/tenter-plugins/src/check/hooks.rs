//! Checks that the hooks of a plugin are found and can start. Only their first lines are read.

use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;
use tenter_engine::Layer;
use tenter_engine::layout::{HOOKS, Root};
use tenter_engine::source::{Candidate, CandidateKind, Script, check_file_name, scan, script};
use tenter_protocol::{Diagnostic, Severity};

/// Maximum number of bytes read of a first line.
const FIRST_LINE: u64 = 512;
/// The first bytes of compiled programs.
const PROGRAMS: [&[u8]; 4] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"];

/// Reports what is wrong with the hooks in the plugin's directory `hooks`; `paths` are the files that git publishes.
pub(super) fn check(plugin: &Path, paths: &[PathBuf]) -> Vec<Diagnostic> {
    let root = Root::new(Layer::ProjectPlugin, plugin.join(HOOKS.directory));
    let (candidates, mut findings) = scan(&root, 0);
    findings.extend(candidates.iter().filter_map(one));
    findings.extend(candidates.iter().filter_map(name));
    let programs = candidates.iter().flat_map(needed);
    // A symlink to a directory is published as a symlink, and the content of the directory at its own path.
    let is_published = |path: &PathBuf| paths.iter().any(|directory| path.starts_with(directory));
    findings.extend(programs.filter(|path| !is_published(path)).map(left_out));
    findings
}

fn one(candidate: &Candidate) -> Option<Diagnostic> {
    let path = &candidate.path;
    let begins = untrusted_file::read_prefix(path, FIRST_LINE).unwrap_or_default();
    let is_script = begins.starts_with(b"#!");
    let (id, message, help) = match &candidate.kind {
        CandidateKind::Executable(_)
            if !is_script && !PROGRAMS.iter().any(|mark| begins.starts_with(mark)) =>
        {
            (
                "hook-no-interpreter",
                "this is executable, but it is neither a program nor a script with a #! line"
                    .to_owned(),
                "add a first line such as `#!/bin/sh`, or run chmod -x if it is not a hook"
                    .to_owned(),
            )
        }
        CandidateKind::Executable(_)
            if is_script
                && begins
                    .split(|byte| *byte == b'\n')
                    .next()
                    .is_some_and(|line| line.ends_with(b"\r")) =>
        {
            (
                "hook-line-ends",
                "this has Windows line endings, so its interpreter is not found".to_owned(),
                "save it with Unix line endings".to_owned(),
            )
        }
        CandidateKind::NotExecutable if is_script => (
            "hook-not-executable",
            "this looks like a script but is not executable, so it is not a hook".to_owned(),
            format!(
                "run chmod +x {}; remove the #! line of a file that is not a hook",
                path.display()
            ),
        ),
        CandidateKind::Disabled => (
            "hook-disabled",
            "this is installed but never runs, because its name ends in .disable".to_owned(),
            "remove .disable from the name, or remove the file".to_owned(),
        ),
        CandidateKind::Invalid(why) => {
            ("hook-invalid", format!("this {why}"), "rename it".to_owned())
        }
        _ => return None,
    };
    let severity = if id == "hook-disabled" { Severity::Warning } else { Severity::Error };
    Some(Diagnostic::new(id, severity, message).at(path).help(help))
}

/// Reports an invalid name.
fn name(candidate: &Candidate) -> Option<Diagnostic> {
    if !matches!(candidate.kind, CandidateKind::Executable(_) | CandidateKind::Manifest(_)) {
        return None;
    }
    let why = check_file_name(&candidate.name).err()?;
    let message = format!("a hook cannot have the name {:?}: it {why}", candidate.name);
    Some(Diagnostic::new("hook-name", Severity::Error, message).at(&candidate.path))
}

/// Returns the files that a hook needs.
fn needed(candidate: &Candidate) -> Vec<PathBuf> {
    match &candidate.kind {
        CandidateKind::Executable(_) => vec![candidate.path.clone()],
        CandidateKind::Manifest(manifest) => match script(&candidate.path) {
            Script::Entry(entry) => vec![manifest.clone(), entry.path],
            Script::NotExecutable(_) | Script::Missing => vec![manifest.clone()],
        },
        CandidateKind::NotExecutable | CandidateKind::Disabled | CandidateKind::Invalid(_) => {
            Vec::new()
        }
    }
}

fn left_out(path: PathBuf) -> Diagnostic {
    let message = "git ignores this, so it is not installed with the plugin";
    Diagnostic::new("hook-left-out", Severity::Error, message)
        .at(path)
        .help("remove it from .gitignore")
}
