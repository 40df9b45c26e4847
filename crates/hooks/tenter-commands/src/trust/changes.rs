//! Shows the changes of hooks since they were trusted, file by file. A file that several hooks share is shown once, with their names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tenter_base::{excerpt, visible};
use tenter_engine::inspect::Untrusted;
use tenter_engine::trust::{Contents, Data, FileContent, TrustedFileChange};
use tenter_terminal::text::diff;
use tenter_terminal::{FAINT, HEADING, styled, ui};

use crate::project::TrustContext;
use crate::shipped_guards;

/// Maximum number of lines of a file that are shown before it is trusted.
const SHOWN_LINES: usize = 1000;

/// The length of the diff of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// The first lines.
    Short,
    /// Everything.
    Full,
}

impl Length {
    /// Returns the maximum number of lines per file.
    fn lines(self) -> usize {
        match self {
            Self::Short => 60,
            Self::Full => 5000,
        }
    }
}

/// A file and what changed in it, by its path.
type ChangesByFile<'h> = BTreeMap<PathBuf, (TrustedFileChange, Vec<&'h str>)>;

/// The description of a hook that is a guard as this program ships it.
pub(super) const SHIPPED: &str =
    concat!("the guard of Tenter ", env!("CARGO_PKG_VERSION"), ", unchanged");

/// Returns whether a hook is a guard of this program, with the same text and without other files.
pub(super) fn is_shipped_guard(hook: &Untrusted) -> bool {
    let Ok((fingerprint, contents)) = Contents::read(&hook.covered) else { return false };
    let is_guard_file = |(path, file): (&str, &FileContent)| {
        let Data::Text(text) = &file.data else { return false };
        path == format!("{}/HOOK.md", hook.name) && shipped_guards::is_shipped(&hook.name, text)
    };
    fingerprint == hook.fingerprint && contents.files().all(is_guard_file)
}

/// Returns the first lines of what changed in those `hooks` that were trusted with another content.
pub(super) fn short(context: TrustContext, hooks: &[Untrusted]) -> Vec<String> {
    changed_lines(context, hooks, Length::Short)
}

/// Returns all that changed in those `hooks` that were trusted with another content.
pub(super) fn full(context: TrustContext, hooks: &[Untrusted]) -> Vec<String> {
    changed_lines(context, hooks, Length::Full)
}

fn changed_lines(context: TrustContext, hooks: &[Untrusted], length: Length) -> Vec<String> {
    let mut text = Vec::new();
    for (path, (change, names)) in by_file(context, hooks) {
        let of = visible(&names.join(", ")).into_owned();
        let path = path.strip_prefix(context.root).unwrap_or(&path);
        let path = visible(&path.to_string_lossy()).into_owned();
        text.push(format!(
            "  {} {}",
            styled(HEADING, format!("--- {path}")),
            styled(FAINT, format!("({of})"))
        ));
        text.extend(lines(&change, length));
    }
    text
}

fn by_file<'h>(context: TrustContext, hooks: &'h [Untrusted]) -> ChangesByFile<'h> {
    let mut files = ChangesByFile::new();
    for hook in hooks {
        for change in compare_hook(context, hook) {
            let path = hook.path.with_file_name(&change.name);
            files.entry(path).or_insert_with(|| (change, Vec::new())).1.push(&hook.name);
        }
    }
    files
}

/// Returns the changed files of a hook; empty if it is new, or if what was trusted was not kept.
fn compare_hook(context: TrustContext, hook: &Untrusted) -> Vec<TrustedFileChange> {
    let before = hook.previous.as_ref().and_then(|previous| context.store.kept(&previous.hash));
    let (Some(before), Some(now)) = (before, contents(hook)) else { return Vec::new() };
    before.changes_to(&now)
}

/// Returns everything that would run. `None`, with a note, if it changed since the question.
fn contents(hook: &Untrusted) -> Option<Contents> {
    let why = match Contents::read(&hook.covered) {
        Ok((fingerprint, contents)) if fingerprint == hook.fingerprint => return Some(contents),
        Ok(_) => "changed just now; look at it again before you trust it".to_owned(),
        Err(error) => format!("cannot read it: {error}"),
    };
    ui::note(format!("  {} {why}", visible(&hook.name)));
    None
}

/// Returns the lines of every file of these hooks, once; of guards of this program only that they are such.
pub(super) fn view(hooks: &[Untrusted]) -> Vec<String> {
    let mut files = BTreeMap::new();
    let mut lines = Vec::new();
    for hook in hooks {
        if is_shipped_guard(hook) {
            lines.push(format!("{}: {SHIPPED}", visible(&hook.name)));
            continue;
        }
        for (name, file) in contents(hook).iter().flat_map(Contents::files) {
            files.entry(hook.path.with_file_name(name)).or_insert_with(|| file.clone());
        }
    }
    for (path, file) in files {
        lines.push(heading(&path));
        match file.data {
            Data::Text(text) => lines.extend(text_lines(&text)),
            Data::Digest(hash) => {
                lines.push(format!("not text, or too long to show; SHA-256 {hash}"));
            }
        }
    }
    lines
}

/// Returns the heading above a file.
pub(super) fn heading(path: &Path) -> String {
    styled(HEADING, format!("--- {}", visible(&path.to_string_lossy())))
}

/// Returns the lines of a text, sanitised.
pub(super) fn text_lines(text: &str) -> Vec<String> {
    let (lines, rest) = excerpt::first_lines(text, SHOWN_LINES);
    let more =
        (rest > 0).then(|| format!("… {rest} more lines: read the file before you trust it"));
    lines.map(|line| visible(line).into_owned()).chain(more).collect()
}

fn lines(change: &TrustedFileChange, length: Length) -> Vec<String> {
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
            lines.extend(diff::render_trusted(before, after, length.lines()));
        }
        _ => lines.push("    the content changed; it is not text, or too long to show".to_owned()),
    }
    lines
}

/// Returns the text of a file, which is empty if the file is missing; `None` if it is not text.
fn text(file: Option<&FileContent>) -> Option<&str> {
    match file.map(|file| &file.data) {
        None => Some(""),
        Some(Data::Text(text)) => Some(text),
        Some(Data::Digest(_)) => None,
    }
}
