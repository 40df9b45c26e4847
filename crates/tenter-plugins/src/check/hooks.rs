//! Whether the hooks of a plugin will be found and can be started. Only their first lines are read.

use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;
use tenter_engine::hook::Layer;
use tenter_engine::layout::{HOOKS, Root};
use tenter_engine::source::{Candidate, Kind, Script, check_file_name, scan, script};
use tenter_protocol::{Diagnostic, Severity};

/// Bytes of a first line that are looked at.
const FIRST_LINE: u64 = 512;
/// How programs begin that need nothing to run them.
const PROGRAMS: [&[u8]; 4] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"];

/// What is wrong with the hooks in the plugin's folder `hooks`, given the files that are to be published.
pub(super) fn check(plugin: &Path, published: &[PathBuf]) -> Vec<Diagnostic> {
    let root = Root::new(Layer::ProjectPlugin, plugin.join(HOOKS.directory));
    let (candidates, mut findings) = scan(&root, 0);
    findings.extend(candidates.iter().filter_map(one));
    findings.extend(candidates.iter().filter_map(name));
    let needed = candidates.iter().flat_map(needed);
    // A link to a folder is published as itself, and what is in the folder where it lies.
    let is_published = |path: &PathBuf| published.iter().any(|known| path.starts_with(known));
    findings.extend(needed.filter(|path| !is_published(path)).map(left_out));
    findings
}

fn one(candidate: &Candidate) -> Option<Diagnostic> {
    let path = &candidate.path;
    let begins = untrusted_file::read_prefix(path, FIRST_LINE).unwrap_or_default();
    let is_script = begins.starts_with(b"#!");
    let (id, message, help) = match &candidate.kind {
        Kind::Executable(_) if !is_script && !PROGRAMS.iter().any(|mark| begins.starts_with(mark)) => (
            "hook-no-interpreter",
            "this may be executed, but neither is it a program nor does its first line name one".to_owned(),
            "begin it with a line such as `#!/bin/sh`, or chmod -x what is no hook".to_owned(),
        ),
        Kind::Executable(_) if is_script && begins.split(|byte| *byte == b'\n').next().is_some_and(|line| line.ends_with(b"\r")) => (
            "hook-line-ends",
            "its lines end as those of Windows, so its interpreter is not found".to_owned(),
            "save it with plain line ends".to_owned(),
        ),
        Kind::NotExecutable if is_script => (
            "hook-not-executable",
            "this begins like a script and may not be executed, so it is no hook".to_owned(),
            format!("chmod +x {}; a file that only helps other hooks needs no #! line", path.display()),
        ),
        Kind::Disabled => (
            "hook-disabled",
            "this comes along and never runs, by its name".to_owned(),
            "take .disable off its name, or leave it out".to_owned(),
        ),
        Kind::Invalid(why) => ("hook-invalid", format!("this {why}"), "give it another name".to_owned()),
        _ => return None,
    };
    let severity = if id == "hook-disabled" { Severity::Warning } else { Severity::Error };
    Some(Diagnostic::new(id, severity, message).at(path).help(help))
}

/// The finding that a hook cannot have its name.
fn name(candidate: &Candidate) -> Option<Diagnostic> {
    if !matches!(candidate.kind, Kind::Executable(_) | Kind::Manifest(_)) {
        return None;
    }
    let why = check_file_name(&candidate.name).err()?;
    let message = format!("a hook cannot have the name {:?}: it {why}", candidate.name);
    Some(Diagnostic::new("hook-name", Severity::Error, message).at(&candidate.path))
}

/// The files without which a hook is none.
fn needed(candidate: &Candidate) -> Vec<PathBuf> {
    match &candidate.kind {
        Kind::Executable(_) => vec![candidate.path.clone()],
        Kind::Manifest(manifest) => match script(&candidate.path) {
            Script::Entry(entry) => vec![manifest.clone(), entry.path],
            Script::NotExecutable(_) | Script::Missing => vec![manifest.clone()],
        },
        Kind::NotExecutable | Kind::Disabled | Kind::Invalid(_) => Vec::new(),
    }
}

fn left_out(path: PathBuf) -> Diagnostic {
    let message = "git leaves this out, so nobody who installs the plugin gets it";
    Diagnostic::new("hook-left-out", Severity::Error, message)
        .at(path)
        .help("take it out of .gitignore")
}
