//! Checks which files a plugin contains before any of them is read, and reports every violation, not only the first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tenter_engine::layout::DIRECTORIES;
use tenter_protocol::{Diagnostic, Severity};
use unicode_normalization::UnicodeNormalization as _;

/// Prefixes of the files that are installed from the top directory.
const PAPERS: [&str; 5] = ["README", "LICENSE", "LICENCE", "COPYING", "NOTICE"];

/// Maximum number of files and symlinks.
pub(crate) const MOST_FILES: usize = 10_000;
/// Maximum size of one file, in bytes.
pub(crate) const LARGEST_FILE: u64 = 10 << 20;
/// Maximum size of all files, in bytes.
pub(crate) const LARGEST_PLUGIN: u64 = 50 << 20;
/// Maximum depth of directories.
const DEEPEST: usize = 32;
/// Maximum length of the target of a symlink, in bytes.
const LONGEST_TARGET: u64 = 4096;
/// Maximum number of violations that are reported.
const MOST_FINDINGS: usize = 20;

/// A file in the list of a plugin's source.
#[derive(Debug, Clone)]
pub(crate) struct FoundFile {
    /// The path in the plugin.
    pub(crate) path: Vec<u8>,
    /// The kind.
    pub(crate) kind: FileKind,
    /// The size in bytes; for a symlink, of its target.
    pub(crate) size: u64,
}

/// The kind of a file in a plugin's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    File {
        executable: bool,
    },
    Link,
    Submodule,
    /// A pipe, a socket, a device.
    Other,
}

/// Returns true if a file of the top directory is installed.
pub(crate) fn is_paper(name: &[u8]) -> bool {
    PAPERS.iter().any(|paper| name.starts_with(paper.as_bytes())) && !name.contains(&b'/')
}

/// Reports everything that is wrong with a list of files.
pub(crate) fn check(files: &[FoundFile]) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = files.iter().filter_map(check_one).collect();
    findings.extend(clashes(files));
    findings.extend(too_much(files));
    let surplus = findings.len().saturating_sub(MOST_FINDINGS);
    if surplus > 0 {
        findings.truncate(MOST_FINDINGS);
        findings.push(refused("plugin-more-findings", format!("and {surplus} more")));
    }
    findings
}

/// Returns a reason to reject a plugin.
pub(crate) fn refused(id: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(id, Severity::Error, message)
}

/// Returns a path for a message, with characters escaped that could forge other lines.
pub(crate) fn shown(path: &[u8]) -> PathBuf {
    let text = String::from_utf8_lossy(path);
    if text.chars().any(forges) {
        text.escape_debug().to_string().into()
    } else {
        text.into_owned().into()
    }
}

/// Returns true if a character can forge a listing: a control character, or one that changes the direction of text.
fn forges(character: char) -> bool {
    let turns_text = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns_text
}

fn check_one(file: &FoundFile) -> Option<Diagnostic> {
    let finding =
        bad_path(&file.path).map(|(id, why)| refused(id, why)).or_else(|| bad_kind(file))?;
    Some(finding.at(shown(&file.path)))
}

fn bad_path(path: &[u8]) -> Option<(&'static str, &'static str)> {
    let Ok(text) = std::str::from_utf8(path) else {
        return Some(("plugin-name-not-utf8", "this name is not UTF-8"));
    };
    let mut parts = text.split('/');
    if text.chars().any(forges) {
        Some((
            "plugin-name-control",
            "this name contains a control character, which can forge listings",
        ))
    } else if parts.clone().count() > DEEPEST + 1 {
        Some(("plugin-path-deep", "this is deeper than 32 directories"))
    } else if parts.clone().any(|part| part.is_empty() || part == "." || part == "..") {
        Some(("plugin-path-leaves", "this path is not normalized: it could lead elsewhere"))
    } else if parts.any(is_git) {
        Some((
            "plugin-holds-git",
            "git would treat this as a repository and run programs that its configuration names",
        ))
    } else if DIRECTORIES.contains(&text) {
        Some(("plugin-no-folder", "this must be a directory"))
    } else {
        None
    }
}

/// Returns true if some file system treats this name as `.git`: in any letter case, with dots or spaces after it, with
/// invisible characters, or as the short name of Windows.
fn is_git(part: &str) -> bool {
    let is_invisible = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let visible: String = part.chars().filter(|c| !is_invisible(*c)).collect();
    let name = visible.to_lowercase();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name == ".git" || name == "git~1"
}

fn bad_kind(file: &FoundFile) -> Option<Diagnostic> {
    match file.kind {
        FileKind::Submodule => Some(
            refused("plugin-submodule", "this is a submodule, which plugins cannot contain")
                .help("add the files themselves to the plugin"),
        ),
        FileKind::Other => {
            Some(refused("plugin-no-file", "this is neither a file nor a directory nor a symlink"))
        }
        FileKind::Link if file.size > LONGEST_TARGET => {
            Some(refused("plugin-link-long", "the target of this symlink is too long"))
        }
        FileKind::File { .. } if file.size > LARGEST_FILE => {
            let (size, most) = (mib(file.size), LARGEST_FILE >> 20);
            Some(refused(
                "plugin-file-large",
                format!("this file has {size} MiB; the limit is {most} MiB"),
            ))
        }
        FileKind::File { .. } | FileKind::Link => None,
    }
}

fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

fn too_much(files: &[FoundFile]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if files.len() > MOST_FILES {
        let message = format!("the plugin contains more than {MOST_FILES} files");
        findings.push(refused("plugin-many-files", message));
    }
    let total = files.iter().fold(0_u64, |sum, one| sum.saturating_add(one.size));
    if total > LARGEST_PLUGIN {
        let (size, most) = (mib(total), LARGEST_PLUGIN >> 20);
        findings.push(refused(
            "plugin-large",
            format!("the plugin has {size} MiB; the limit is {most} MiB"),
        ));
    }
    findings
}

/// Reports paths that are the same on a file system that ignores letter case or Unicode normalization, and paths that are both a
/// file and a directory.
fn clashes(files: &[FoundFile]) -> Vec<Diagnostic> {
    let mut first_spellings: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    let mut names = BTreeSet::new();
    let mut findings = Vec::new();
    for path in files.iter().filter_map(|one| std::str::from_utf8(&one.path).ok()) {
        for (prefix, is_directory) in prefixes(path) {
            let folded = fold(prefix);
            let &mut (earlier, was_directory) =
                first_spellings.entry(folded.clone()).or_insert((prefix, is_directory));
            let is_same = earlier == prefix && is_directory && was_directory;
            let is_first = std::ptr::eq(earlier, prefix);
            if !is_same && !is_first && names.insert(folded) {
                let message = format!(
                    "this and {earlier:?} are the same name on a case-insensitive file system"
                );
                findings.push(refused("plugin-name-clash", message).at(shown(prefix.as_bytes())));
            }
        }
    }
    findings
}

/// Returns the directories of a path and the path itself, and whether each is a directory.
fn prefixes(path: &str) -> impl Iterator<Item = (&str, bool)> {
    let directories = path.match_indices('/').map(|(at, _)| (&path[..at], true));
    directories.chain([(path, false)])
}

fn fold(path: &str) -> String {
    let lower: String = path.nfc().flat_map(char::to_lowercase).collect();
    lower.nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> Vec<FoundFile> {
        let kind = FileKind::File { executable: false };
        paths
            .iter()
            .map(|path| FoundFile { path: path.as_bytes().to_vec(), kind, size: 1 })
            .collect()
    }

    fn ids(files: &[FoundFile]) -> Vec<&'static str> {
        check(files).iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn accepts_ordinary_plugins() {
        let paths = [
            "hooks/guard",
            "hooks/lib/a.sh",
            "hooks/lib/b.sh",
            "skills/größe/SKILL.md",
            "README.md",
        ];
        assert_eq!(ids(&files(&paths)), [] as [&str; 0]);
    }

    #[test]
    fn rejects_paths_that_are_ambiguous_on_some_system() {
        let table = [
            ("hooks/../../x", "plugin-path-leaves"),
            ("hooks//x", "plugin-path-leaves"),
            ("/etc/x", "plugin-path-leaves"),
            ("hooks/./x", "plugin-path-leaves"),
            ("hooks/a\nb", "plugin-name-control"),
            ("hooks/\u{1b}[2J", "plugin-name-control"),
            ("recipes/\u{202e}dm.evil", "plugin-name-control"),
            (
                "hooks/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a",
                "plugin-path-deep",
            ),
            ("hooks/.git/config", "plugin-holds-git"),
            ("hooks/.GIT/config", "plugin-holds-git"),
            ("hooks/.gi\u{200c}t/config", "plugin-holds-git"),
            ("hooks/git~1/config", "plugin-holds-git"),
            ("hooks/.git . /config", "plugin-holds-git"),
            ("hooks/.git::$INDEX_ALLOCATION/config", "plugin-holds-git"),
            ("hooks", "plugin-no-folder"),
        ];
        for (path, id) in table {
            assert_eq!(ids(&files(&[path])), [id], "{path:?}");
        }
        let file = FoundFile { path: vec![b'h', 0xff], ..files(&["x"]).remove(0) };
        assert_eq!(ids(&[file]), ["plugin-name-not-utf8"]);
    }

    #[test]
    fn rejects_names_that_clash_on_some_system() {
        for paths in [
            ["hooks/guard", "hooks/Guard"],
            ["hooks/lib/a", "hooks/LIB/b"],
            ["hooks/gr\u{fc}n", "hooks/gru\u{308}n"],
            ["hooks/lib", "hooks/lib/a"],
            ["hooks/a", "hooks/a"],
        ] {
            assert_eq!(ids(&files(&paths)), ["plugin-name-clash"], "{paths:?}");
        }
    }

    #[test]
    fn rejects_plugins_that_are_too_large() {
        let mut large = files(&["hooks/a"]);
        large[0].size = LARGEST_FILE + 1;
        assert_eq!(ids(&large), ["plugin-file-large"]);
        let six: Vec<String> = (0..6).map(|number| format!("hooks/{number}")).collect();
        let mut large = files(&six.iter().map(String::as_str).collect::<Vec<_>>());
        for one in &mut large {
            one.size = LARGEST_FILE;
        }
        assert_eq!(ids(&large), ["plugin-large"]);
        let many: Vec<String> = (0..=MOST_FILES).map(|number| format!("hooks/{number}")).collect();
        assert_eq!(
            ids(&files(&many.iter().map(String::as_str).collect::<Vec<_>>())),
            ["plugin-many-files"]
        );
    }

    #[test]
    fn reports_every_violation_up_to_a_limit() {
        assert_eq!(ids(&files(&["hooks/../a", "hooks/b\n", "hooks/.git/c"])).len(), 3);
        let many: Vec<String> = (0..100).map(|number| format!("hooks/{number}\n")).collect();
        let diagnostics = ids(&files(&many.iter().map(String::as_str).collect::<Vec<_>>()));
        assert_eq!(
            (diagnostics.len(), diagnostics[MOST_FINDINGS]),
            (MOST_FINDINGS + 1, "plugin-more-findings")
        );
    }
}
