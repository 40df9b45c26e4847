//! Where a plugin's links lead: to something that is installed with it, or the plugin is refused (R55).
//!
//! A link is followed as the system would, through other links: what looks harmless by its text may leave by another's.

use std::collections::VecDeque;

use tenter_protocol::Diagnostic;

use crate::content::{Content, Entry};
use crate::rules::{refused, shown};

/// Links on one way at most, as systems have it.
const MOST_HOPS: usize = 40;

/// The links that lead elsewhere.
pub(crate) fn check(content: &Content) -> Vec<Diagnostic> {
    let links = content.0.iter().filter_map(|(path, entry)| match entry {
        Entry::Link { target } => Some((path, target)),
        Entry::File { .. } => None,
    });
    let finding = |(path, target): (&String, &String)| {
        let (id, why) = follow(content, path).err()?;
        let message = format!("this link to {target:?} {why}");
        Some(refused(id, message).at(shown(path.as_bytes())))
    };
    links.filter_map(finding).collect()
}

/// The id of a finding, and why a link is refused, as the end of a sentence that begins with it.
type Wrong = (&'static str, &'static str);

const OUTSIDE: Wrong = ("plugin-link-leaves", "leaves the plugin");
const CIRCLE: Wrong = ("plugin-link-loops", "leads in a circle");
const NOWHERE: Wrong = ("plugin-link-dangles", "leads to nothing that is installed");

/// Follows the link at `path` to its end.
fn follow(content: &Content, path: &str) -> Result<(), Wrong> {
    let mut rest: VecDeque<&str> = path.split('/').collect();
    let mut at: Vec<&str> = Vec::new();
    let mut hops = 0;
    while let Some(part) = rest.pop_front() {
        let here = at.join("/");
        if !is_folder(content, &here) {
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
        let Some(Entry::Link { target }) = content.0.get(&at.join("/")) else { continue };
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
    let is_installed = content.0.contains_key(&end) || is_folder(content, &end);
    is_installed.then_some(()).ok_or(NOWHERE)
}

/// Whether there is a folder of this path: one that holds something.
fn is_folder(content: &Content, path: &str) -> bool {
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
            let entry = Entry::File { bytes: Vec::new(), executable: false };
            content.0.insert(path.to_owned(), entry);
        }
        for (path, target) in links {
            content.0.insert((*path).to_owned(), Entry::Link { target: (*target).to_owned() });
        }
        content
    }

    fn ids(links: &[(&str, &str)]) -> Vec<&'static str> {
        check(&content(links)).iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn links_within_a_plugin_are_taken() {
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
    fn links_that_leave_loop_or_dangle_are_refused() {
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
    fn a_way_out_through_another_link_is_seen() {
        // By its text the second stays inside; through the first it does not.
        let links = [("hooks/deep/er/up", "../../../skills"), ("hooks/deep/er/out", "up/../../x")];
        assert_eq!(ids(&links), ["plugin-link-leaves"]);
    }

    proptest! {
        /// What is taken of each link is what a real disk makes of it.
        #[test]
        fn links_are_followed_as_the_system_does(targets in proptest::collection::vec("(\\.\\./|lib/|a/|l[0-3]/|hooks/|skills/){0,3}(a|l[0-3]|lib|\\.\\.|hooks)", 4)) {
            let names = ["hooks/l0", "hooks/l1", "hooks/lib/l2", "skills/l3"];
            let links: Vec<(&str, &str)> = names.into_iter().zip(targets.iter().map(String::as_str)).collect();
            let content = content(&links);
            let refused: Vec<String> =
                check(&content).into_iter().filter_map(|finding| Some(finding.path?.to_str()?.to_owned())).collect();
            let scratch = tempfile::tempdir().unwrap();
            let plugin = scratch.path().canonicalize().unwrap().join("p");
            content.write(&plugin).unwrap();
            for name in names {
                let stays = plugin.join(name).canonicalize().is_ok_and(|end| end.starts_with(&plugin));
                prop_assert_eq!(stays, !refused.iter().any(|path| path == name), "{} of {:?}", name, links);
            }
        }
    }
}
