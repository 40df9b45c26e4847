//! Shows the changes of hooks since they were trusted, file by file. A file that several hooks share is shown once, with their names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tenter_base::excerpt;
use tenter_base::sanitize::visible;
use tenter_engine::inspect::Untrusted;
use tenter_engine::trust::{Contents, Data, FileChange, FileContent};
use tenter_terminal::text::diff;
use tenter_terminal::ui::{self, FAINT, HEADING, styled};

use crate::project::TrustContext;

/// Maximum number of lines of a file that are shown before it is trusted.
const SHOWN_LINES: usize = 1000;

/// The length of the diff of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// The first lines.
    Short,
    /// Everything.
    Full,
}

impl Length {
    /// Maximum number of lines per file.
    fn lines(self) -> usize {
        match self {
            Self::Short => 60,
            Self::Full => 5000,
        }
    }
}

/// A file and what changed in it, by its path.
type ChangesByFile<'h> = BTreeMap<PathBuf, (FileChange, Vec<&'h str>)>;

/// Shows what changed in those `hooks` that were trusted with another content.
pub(super) fn show(context: TrustContext, hooks: &[Untrusted], length: Length) {
    for (path, (change, names)) in by_file(context, hooks) {
        let of = visible(&names.join(", ")).into_owned();
        let path = path.strip_prefix(context.root).unwrap_or(&path);
        let path = visible(&path.to_string_lossy()).into_owned();
        ui::note(format!(
            "  {} {}",
            styled(HEADING, format!("--- {path}")),
            styled(FAINT, format!("({of})"))
        ));
        lines(&change, length).iter().for_each(ui::note);
    }
}

fn by_file<'h>(context: TrustContext, hooks: &'h [Untrusted]) -> ChangesByFile<'h> {
    let mut files = ChangesByFile::new();
    for hook in hooks {
        for change in of_hook(context, hook) {
            let path = hook.path.with_file_name(&change.name);
            files.entry(path).or_insert_with(|| (change, Vec::new())).1.push(&hook.name);
        }
    }
    files
}

/// The changed files of a hook; empty if it is new, or if what was trusted was not kept.
fn of_hook(context: TrustContext, hook: &Untrusted) -> Vec<FileChange> {
    let before = hook.previous.as_ref().and_then(|trusted| context.store.kept(&trusted.hash));
    let (Some(before), Some(now)) = (before, contents(hook)) else { return Vec::new() };
    before.changes_to(&now)
}

/// Everything that would run. `None`, with a note, if it changed since the question.
fn contents(hook: &Untrusted) -> Option<Contents> {
    let why = match Contents::read(&hook.covered) {
        Ok((fingerprint, contents)) if fingerprint == hook.fingerprint => return Some(contents),
        Ok(_) => "changed just now; look at it again before you trust it".to_owned(),
        Err(error) => format!("cannot read it: {error}"),
    };
    ui::note(format!("  {} {why}", visible(&hook.name)));
    None
}

/// Shows every file of these hooks, once.
pub(super) fn view(hooks: &[Untrusted]) {
    let mut files = BTreeMap::new();
    for hook in hooks {
        for (name, file) in contents(hook).iter().flat_map(Contents::files) {
            files.entry(hook.path.with_file_name(name)).or_insert_with(|| file.clone());
        }
    }
    for (path, file) in files {
        heading(&path);
        match file.data {
            Data::Text(text) => show_text(&text),
            Data::Digest(hash) => {
                ui::note(format!("not text, or too long to show; SHA-256 {hash}"));
            }
        }
    }
}

/// The heading above a file.
pub(super) fn heading(path: &Path) {
    ui::note(styled(HEADING, format!("--- {}", visible(&path.to_string_lossy()))));
}

/// Shows a text, line by line.
pub(super) fn show_text(text: &str) {
    let (lines, left) = excerpt::first_lines(text, SHOWN_LINES);
    lines.for_each(|line| ui::note(visible(line)));
    if left > 0 {
        ui::note(format!("… {left} more lines: read the file before you trust it"));
    }
}

fn lines(change: &FileChange, length: Length) -> Vec<String> {
    let mut lines = Vec::new();
    match (&change.before, &change.after) {
        (None, Some(_)) => lines.push("    new file".to_owned()),
        (Some(_), None) => lines.push("    removed".to_owned()),
        (Some(before), Some(after)) if before.executable != after.executable => {
            let what = if after.executable { "can" } else { "cannot" };
            lines.push(format!("    it {what} be executed now"));
        }
        _ => {}
    }
    match (text(change.before.as_ref()), text(change.after.as_ref())) {
        (Some(before), Some(after)) => {
            lines.extend(diff::of_trusted(before, after, length.lines()));
        }
        _ => lines.push("    the content changed; it is not text, or too long to show".to_owned()),
    }
    lines
}

/// The text of a file, which is empty if the file is missing; `None` if it is not text.
fn text(file: Option<&FileContent>) -> Option<&str> {
    match file.map(|file| &file.data) {
        None => Some(""),
        Some(Data::Text(text)) => Some(text),
        Some(Data::Digest(_)) => None,
    }
}
