//! Finds hooks where Tenter does not look for them: one level too deep, and in a directory that is not read.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_engine::layout::HOOKS;
use tenter_engine::source;
use tenter_protocol::{Diagnostic, Severity};

use crate::project::Project;

/// Maximum number of entries of a directory that are looked at.
const MAX_ENTRIES: usize = 1000;
/// Maximum number of hooks that one warning names.
const MAX_NAMED: usize = 5;

pub(super) fn examine(project: &Project) -> Vec<Diagnostic> {
    let (roots, _) = project.layout.roots(&HOOKS);
    let paths: Vec<PathBuf> = roots.into_iter().map(|root| root.dir).collect();
    let too_deep = paths.iter().flat_map(|path| directories(path)).filter_map(too_deep);
    too_deep.chain(unread(project, &paths)).collect()
}

/// Returns the warning about hooks in a directory that is no hook itself.
fn too_deep(directory: PathBuf) -> Option<Diagnostic> {
    if is_hook(&directory) {
        return None;
    }
    let hooks = hooks_in(&directory);
    let first = hooks.first()?;
    let message = format!("hooks are one level too deep, so they do not run: {}", named(&hooks));
    let parent = directory.parent().unwrap_or(&directory);
    let help = format!(
        "link each hook into {}: ln -s {} {}",
        parent.display(),
        first.display(),
        parent.display()
    );
    let finding = Diagnostic::new("hooks-too-deep", Severity::Warning, message);
    Some(finding.at(directory).help(help))
}

/// Returns the warnings about hooks in directories of the home directory that only projects have.
fn unread(project: &Project, paths: &[PathBuf]) -> Vec<Diagnostic> {
    let layout = &project.layout;
    let real = |path: &Path| fs::canonicalize(path).ok();
    let names = layout.names.resources.iter();
    let places = names.map(|name| layout.home.join(name).join(HOOKS.directory));
    let is_read = |place: &PathBuf| paths.iter().any(|path| real(path) == real(place));
    let places = places.filter(|place| place.is_dir() && !is_read(place));
    let warning = |place: PathBuf| {
        let deep = directories(&place).into_iter().flat_map(|directory| hooks_in(&directory));
        let hooks: Vec<PathBuf> = hooks_in(&place).into_iter().chain(deep).collect();
        let target = layout.new_for_user(&HOOKS);
        let message = format!(
            "Tenter does not read this directory, so its hooks do not run: {}",
            named(&hooks)
        );
        let help = format!("move each hook into {}", target.display());
        let finding = Diagnostic::new("hooks-not-read", Severity::Warning, message);
        (!hooks.is_empty()).then(|| finding.at(place).help(help))
    };
    places.filter_map(warning).collect()
}

fn hooks_in(directory: &Path) -> Vec<PathBuf> {
    directories(directory).into_iter().filter(|directory| is_hook(directory)).collect()
}

fn is_hook(directory: &Path) -> bool {
    source::manifest_file(directory).is_ok_and(|manifest| manifest.is_some())
}

/// Returns the subdirectories of a directory by name, without hidden ones.
fn directories(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().take(MAX_ENTRIES).flatten();
    let visible_entries =
        entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let mut files: Vec<PathBuf> =
        visible_entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    files.sort();
    files
}

fn named(hooks: &[PathBuf]) -> String {
    let names = hooks.iter().filter_map(|hook| hook.file_name()).take(MAX_NAMED);
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    match hooks.len().saturating_sub(MAX_NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
