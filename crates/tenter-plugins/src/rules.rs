//! What a plugin may hold, checked on its list of files before any of them is read. Every violation is told, not the first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tenter_engine::layout::DIRECTORIES;
use tenter_protocol::{Diagnostic, Severity};
use unicode_normalization::UnicodeNormalization as _;

/// How the names of files begin that come along from the plugin's top folder.
const PAPERS: [&str; 5] = ["README", "LICENSE", "LICENCE", "COPYING", "NOTICE"];

/// Files and links at most.
pub(crate) const MOST_FILES: usize = 10_000;
/// Bytes of one file at most.
pub(crate) const LARGEST_FILE: u64 = 10 << 20;
/// Bytes of all files at most.
pub(crate) const LARGEST_PLUGIN: u64 = 50 << 20;
/// Folders in folders at most.
const DEEPEST: usize = 32;
/// Bytes of a link's target at most.
const LONGEST_TARGET: u64 = 4096;
/// Violations that are told at most: a repository of ten thousand bad names has one trouble, not ten thousand.
const MOST_FINDINGS: usize = 20;

/// Something that a plugin's source lists.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Its path in the plugin.
    pub(crate) path: Vec<u8>,
    /// What it is.
    pub(crate) kind: Kind,
    /// Bytes of it; of a link, of its target.
    pub(crate) size: u64,
}

/// What something in a plugin's source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File {
        executable: bool,
    },
    Link,
    Submodule,
    /// A pipe, a socket, a device.
    Other,
}

/// Whether a file of the plugin's top folder comes along.
pub(crate) fn is_paper(name: &[u8]) -> bool {
    PAPERS.iter().any(|paper| name.starts_with(paper.as_bytes())) && !name.contains(&b'/')
}

/// Everything that is wrong with a list of files.
pub(crate) fn check(found: &[Found]) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = found.iter().filter_map(check_one).collect();
    findings.extend(clashes(found));
    findings.extend(too_much(found));
    let left = findings.len().saturating_sub(MOST_FINDINGS);
    if left > 0 {
        findings.truncate(MOST_FINDINGS);
        findings.push(refused("plugin-more-findings", format!("and {left} more of the kind")));
    }
    findings
}

/// A reason to refuse a plugin.
pub(crate) fn refused(id: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(id, Severity::Error, message)
}

/// A path as a message may hold it: on one line, whatever its name is made of.
pub(crate) fn shown(path: &[u8]) -> PathBuf {
    let text = String::from_utf8_lossy(path);
    if text.chars().any(forges) {
        text.escape_debug().to_string().into()
    } else {
        text.into_owned().into()
    }
}

/// Whether a character moves what stands beside it: a control character, or one that turns the direction of text.
fn forges(character: char) -> bool {
    let turns_text = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns_text
}

fn check_one(found: &Found) -> Option<Diagnostic> {
    let finding =
        bad_path(&found.path).map(|(id, why)| refused(id, why)).or_else(|| bad_kind(found))?;
    Some(finding.at(shown(&found.path)))
}

fn bad_path(path: &[u8]) -> Option<(&'static str, &'static str)> {
    let Ok(text) = std::str::from_utf8(path) else {
        return Some(("plugin-name-not-utf8", "this name is not UTF-8"));
    };
    let mut parts = text.split('/');
    if text.chars().any(forges) {
        Some((
            "plugin-name-control",
            "this name holds a control character, with which listings can be forged",
        ))
    } else if parts.clone().count() > DEEPEST + 1 {
        Some(("plugin-path-deep", "this lies deeper than 32 folders"))
    } else if parts.clone().any(|part| part.is_empty() || part == "." || part == "..") {
        Some(("plugin-path-leaves", "this path leads elsewhere than it says"))
    } else if parts.any(is_git) {
        Some((
            "plugin-holds-git",
            "git would take this for a repository, and run what its configuration names",
        ))
    } else if DIRECTORIES.contains(&text) {
        Some(("plugin-no-folder", "this must be a folder"))
    } else {
        None
    }
}

/// Whether some file system takes this name for `.git`: in any letter case, with dots or spaces behind it, with characters
/// in it that do not show, or by the short name that Windows gives it.
fn is_git(part: &str) -> bool {
    let is_invisible = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let visible: String = part.chars().filter(|c| !is_invisible(*c)).collect();
    let name = visible.to_lowercase();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name == ".git" || name == "git~1"
}

fn bad_kind(found: &Found) -> Option<Diagnostic> {
    match found.kind {
        Kind::Submodule => Some(
            refused("plugin-submodule", "this is a submodule, and plugins come without")
                .help("its author can put the files themselves there"),
        ),
        Kind::Other => {
            Some(refused("plugin-no-file", "this is neither a file nor a folder nor a link"))
        }
        Kind::Link if found.size > LONGEST_TARGET => {
            Some(refused("plugin-link-long", "this link's target is too long"))
        }
        Kind::File { .. } if found.size > LARGEST_FILE => {
            let (size, most) = (mib(found.size), LARGEST_FILE >> 20);
            Some(refused(
                "plugin-file-large",
                format!("this file has {size} MiB; {most} are the most"),
            ))
        }
        Kind::File { .. } | Kind::Link => None,
    }
}

fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

fn too_much(found: &[Found]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if found.len() > MOST_FILES {
        let message = format!("it holds more than {MOST_FILES} files");
        findings.push(refused("plugin-many-files", message));
    }
    let total = found.iter().fold(0_u64, |sum, one| sum.saturating_add(one.size));
    if total > LARGEST_PLUGIN {
        let (size, most) = (mib(total), LARGEST_PLUGIN >> 20);
        findings.push(refused(
            "plugin-large",
            format!("its files have {size} MiB together; {most} are the most"),
        ));
    }
    findings
}

/// Paths that are one path on a file system that does not tell letter cases or forms of a letter apart, and paths that are
/// both a file and a folder.
fn clashes(found: &[Found]) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    let mut told = BTreeSet::new();
    let mut findings = Vec::new();
    for path in found.iter().filter_map(|one| std::str::from_utf8(&one.path).ok()) {
        for (prefix, is_folder) in prefixes(path) {
            let folded = folded(prefix);
            let &mut (earlier, was_folder) =
                seen.entry(folded.clone()).or_insert((prefix, is_folder));
            let is_same = earlier == prefix && is_folder && was_folder;
            let is_first = std::ptr::eq(earlier, prefix);
            if !is_same && !is_first && told.insert(folded) {
                let message =
                    format!("this and {earlier:?} are one name where letter case does not count");
                findings.push(refused("plugin-name-clash", message).at(shown(prefix.as_bytes())));
            }
        }
    }
    findings
}

/// The folders of a path and the path itself, and whether each is a folder.
fn prefixes(path: &str) -> impl Iterator<Item = (&str, bool)> {
    let folders = path.match_indices('/').map(|(at, _)| (&path[..at], true));
    folders.chain([(path, false)])
}

fn folded(path: &str) -> String {
    let lower: String = path.nfc().flat_map(char::to_lowercase).collect();
    lower.nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> Vec<Found> {
        let kind = Kind::File { executable: false };
        paths.iter().map(|path| Found { path: path.as_bytes().to_vec(), kind, size: 1 }).collect()
    }

    fn ids(found: &[Found]) -> Vec<&'static str> {
        check(found).iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn usual_plugins_are_taken() {
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
    fn paths_that_mean_something_else_somewhere_are_refused() {
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
        let found = Found { path: vec![b'h', 0xff], ..files(&["x"]).remove(0) };
        assert_eq!(ids(&[found]), ["plugin-name-not-utf8"]);
    }

    #[test]
    fn names_that_are_one_name_elsewhere_clash() {
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
    fn too_much_is_refused_before_anything_is_read() {
        let mut found = files(&["hooks/a"]);
        found[0].size = LARGEST_FILE + 1;
        assert_eq!(ids(&found), ["plugin-file-large"]);
        let six: Vec<String> = (0..6).map(|number| format!("hooks/{number}")).collect();
        let mut found = files(&six.iter().map(String::as_str).collect::<Vec<_>>());
        for one in &mut found {
            one.size = LARGEST_FILE;
        }
        assert_eq!(ids(&found), ["plugin-large"]);
        let many: Vec<String> = (0..=MOST_FILES).map(|number| format!("hooks/{number}")).collect();
        assert_eq!(
            ids(&files(&many.iter().map(String::as_str).collect::<Vec<_>>())),
            ["plugin-many-files"]
        );
    }

    #[test]
    fn every_violation_is_told_up_to_a_limit() {
        assert_eq!(ids(&files(&["hooks/../a", "hooks/b\n", "hooks/.git/c"])).len(), 3);
        let many: Vec<String> = (0..100).map(|number| format!("hooks/{number}\n")).collect();
        let told = ids(&files(&many.iter().map(String::as_str).collect::<Vec<_>>()));
        assert_eq!((told.len(), told[MOST_FINDINGS]), (MOST_FINDINGS + 1, "plugin-more-findings"));
    }
}
