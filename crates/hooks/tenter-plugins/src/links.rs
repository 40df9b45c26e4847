//! Checks that the symlinks of a plugin lead to files that are installed with it (R55).
//!
//! A symlink is followed as the operating system does, through other symlinks: a harmless target may lead outside through another
//! symlink.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tenter_protocol::Diagnostic;

use crate::content::{Content, TreeEntry};
use crate::rules::{MOST_FILES, refused, shown};

/// Maximum number of symlinks in one path, as in the kernel.
const MOST_HOPS: usize = 40;
/// Maximum number of path components that are followed for one symlink.
const MOST_PARTS: usize = 400;

/// Reports symlinks that lead elsewhere; if there are none, whether they form an endless tree.
pub(crate) fn check(content: &Content) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut ends = BTreeMap::new();
    for (path, entry) in &content.0 {
        let TreeEntry::Link { target } = entry else { continue };
        match follow(content, path) {
            Ok(end) => {
                ends.insert(path.as_str(), end);
            }
            Err((id, why)) => {
                let message = format!("this symlink to {target:?} {why}");
                findings.push(refused(id, message).at(shown(path.as_bytes())));
            }
        }
    }
    if findings.is_empty() && !ends.is_empty() && is_endless(content, &ends) {
        let message = format!(
            "its symlinks to directories form a loop or multiply to more than {MOST_FILES} files"
        );
        findings.push(refused("plugin-links-endless", message));
    }
    findings
}

/// Returns true if a walk that follows symlinks finds more files than a plugin may have: a symlink to a parent directory
/// never ends, and a few in each of a few directories multiply.
fn is_endless(content: &Content, ends: &BTreeMap<&str, String>) -> bool {
    let inside = inside(content);
    let mut open = vec![""];
    let mut count = 0;
    while let Some(directory) = open.pop() {
        for path in inside.get(directory).into_iter().flatten() {
            count += usize::from(content.0.contains_key(*path));
            if count > MOST_FILES {
                return true;
            }
            open.push(ends.get(path).map_or(path, String::as_str));
        }
    }
    false
}

/// Returns the entries of each directory.
fn inside(content: &Content) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut inside: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in content.0.keys() {
        let directories = path.match_indices('/').map(|(at, _)| &path[..at]);
        let mut directory = "";
        for next in directories.chain([path.as_str()]) {
            inside.entry(directory).or_default().insert(next);
            directory = next;
        }
    }
    inside
}

/// The id of a diagnostic, and why a symlink is rejected, as the end of a sentence that begins with it.
type LinkFault = (&'static str, &'static str);

const OUTSIDE: LinkFault = ("plugin-link-leaves", "leaves the plugin");
const CIRCLE: LinkFault = ("plugin-link-loops", "leads in a circle");
const TOO_LONG: LinkFault = ("plugin-link-long", "has too many path components");
const NOWHERE: LinkFault = ("plugin-link-dangles", "leads to nothing that is installed");

/// Returns the path that the symlink at `path` leads to.
fn follow(content: &Content, path: &str) -> Result<String, LinkFault> {
    let mut rest: VecDeque<&str> = path.split('/').collect();
    let mut at: Vec<&str> = Vec::new();
    let (mut hops, mut parts) = (0, 0);
    while let Some(part) = rest.pop_front() {
        parts += 1;
        if parts > MOST_PARTS {
            return Err(TOO_LONG);
        }
        let here = at.join("/");
        if !is_directory(content, &here) {
            return Err(NOWHERE);
        }
        match part {
            "" | "." => continue,
            ".." => {
                at.pop().ok_or(OUTSIDE)?;
                continue;
            }
            part => at.push(part),
        }
        let Some(TreeEntry::Link { target }) = content.0.get(&at.join("/")) else { continue };
        hops += 1;
        if target.starts_with('/') {
            return Err(OUTSIDE);
        }
        if hops > MOST_HOPS {
            return Err(CIRCLE);
        }
        at.pop();
        target.rsplit('/').for_each(|part| rest.push_front(part));
    }
    let end = at.join("/");
    let is_installed = content.0.contains_key(&end) || is_directory(content, &end);
    if is_installed { Ok(end) } else { Err(NOWHERE) }
}

/// Returns true if there is a directory at `path`: one with entries.
fn is_directory(content: &Content, path: &str) -> bool {
    let inside = format!("{path}/");
    let mut next = content.0.range(inside.clone()..);
    path.is_empty() || next.next().is_some_and(|(next, _)| next.starts_with(&inside))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn content(links: &[(&str, &str)]) -> Content {
        let mut content = Content::default();
        for path in ["hooks/lib/a", "skills/x/SKILL.md"] {
            let entry = TreeEntry::File { bytes: Vec::new(), executable: false };
            content.0.insert(path.to_owned(), entry);
        }
        for (path, target) in links {
            content.0.insert((*path).to_owned(), TreeEntry::Link { target: (*target).to_owned() });
        }
        content
    }

    fn ids(links: &[(&str, &str)]) -> Vec<&'static str> {
        check(&content(links)).iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn accepts_symlinks_within_a_plugin() {
        let links = [
            ("hooks/a", "lib/a"),
            ("hooks/b", "a"),
            ("hooks/lib2", "lib"),
            ("hooks/c", "./lib2/a"),
            ("hooks/d", "../skills/x/SKILL.md"),
        ];
        assert_eq!(ids(&links), [] as [&str; 0]);
    }

    #[test]
    fn rejects_symlinks_that_leave_loop_or_dangle() {
        for (target, id) in [
            ("/etc/passwd", "plugin-link-leaves"),
            ("../../x", "plugin-link-leaves"),
            ("../../../hooks/lib/a", "plugin-link-leaves"),
            ("a", "plugin-link-loops"),
            ("nothing", "plugin-link-dangles"),
            ("../src/tool", "plugin-link-dangles"),
            ("nothing/../lib/a", "plugin-link-dangles"),
            ("lib/a/../a", "plugin-link-dangles"),
        ] {
            assert_eq!(ids(&[("hooks/a", target)]), [id], "{target:?}");
        }
    }

    #[test]
    fn rejects_symlinks_that_never_end_or_multiply() {
        assert_eq!(ids(&[("hooks/lib/all", "..")]), ["plugin-links-endless"]);
        assert_eq!(
            ids(&[("hooks/lib/x", "../../skills/x"), ("skills/x/h", "../../hooks")]),
            ["plugin-links-endless"]
        );
        // Ten links in each of eight directories to the next one: ten million ways to the last.
        let way = |depth: usize, link: usize| {
            (format!("hooks/d{depth}/l{link}"), format!("../d{}", depth + 1))
        };
        let mut links: Vec<(String, String)> =
            (0..8).flat_map(|depth| (0..10).map(move |link| way(depth, link))).collect();
        links.push(("hooks/d8/a".into(), "../lib/a".into()));
        let borrowed: Vec<(&str, &str)> =
            links.iter().map(|(path, to)| (path.as_str(), to.as_str())).collect();
        assert_eq!(ids(&borrowed), ["plugin-links-endless"]);
        assert_eq!(ids(&borrowed[60..]), [] as [&str; 0], "a thousand ways are not too many");
        let slow = "./".repeat(MOST_PARTS) + "lib/a";
        assert_eq!(ids(&[("hooks/a", &slow)]), ["plugin-link-long"]);
    }

    #[test]
    fn detects_a_symlink_that_leaves_through_another() {
        // By its text the second stays inside; through the first it does not.
        let links = [("hooks/deep/er/up", "../../../skills"), ("hooks/deep/er/out", "up/../../x")];
        assert_eq!(ids(&links), ["plugin-link-leaves"]);
    }

    proptest! {
        /// Accepts a symlink if and only if it stays inside on a real file system.
        #[test]
        fn symlinks_are_followed_as_the_system_does(targets in proptest::collection::vec("(\\.\\./|lib/|a/|l[0-3]/|hooks/|skills/){0,3}(a|l[0-3]|lib|\\.\\.|hooks)", 4)) {
            let names = ["hooks/l0", "hooks/l1", "hooks/lib/l2", "skills/l3"];
            let links: Vec<(&str, &str)> = names.into_iter().zip(targets.iter().map(String::as_str)).collect();
            let content = content(&links);
            let rejections: Vec<String> =
                check(&content).into_iter().filter_map(|finding| Some(finding.path?.to_str()?.to_owned())).collect();
            let scratch = tempfile::tempdir().unwrap();
            let plugin = scratch.path().canonicalize().unwrap().join("p");
            content.write(&plugin).unwrap();
            for name in names {
                let stays = plugin.join(name).canonicalize().is_ok_and(|end| end.starts_with(&plugin));
                prop_assert_eq!(stays, !rejections.iter().any(|path| path == name), "{} of {:?}", name, links);
            }
        }
    }
}
