//! Plugins whose installation, replacement, update or removal is killed at any moment. A plugin and its record are what they
//! were before or what they were to become; the next command of the same kind does what the killed one did not.

use std::fs;
use std::path::PathBuf;

use tenter_testkit::{Sandbox, wait_until};

use super::{chosen, content, files_are_whole, killed_after_looks, rounds};
use crate::plugins::{Repository, left};
use crate::sandbox;

const NAME: &str = "ada/guards";
/// A hook without a program of its own language: its manifest is read, and kept in the cache.
const MANIFEST: &str = "---\nname: note\ndescription: d\ntrigger: after_turn\n---\n";

/// The change of the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Add,
    Replace,
    Update,
    Remove,
}

impl Deed {
    fn args(self, source: &str) -> Vec<&str> {
        match self {
            Self::Add => vec!["plugin", "add", "--trust", source],
            Self::Replace => vec!["plugin", "add", "--trust", "--force", source],
            Self::Update => vec!["plugin", "update", "--trust"],
            Self::Remove => vec!["plugin", "remove", NAME],
        }
    }
}

/// A plugin's source and the place where it is installed.
struct Scene<'s> {
    sandbox: &'s Sandbox,
    source: Repository<'s>,
    is_repository: bool,
}

impl<'s> Scene<'s> {
    fn new(sandbox: &'s Sandbox, is_repository: bool) -> Self {
        let source = Repository::new(sandbox, "guards");
        source.write("hooks/note/HOOK.md", MANIFEST);
        source.hook("note/scripts/run", "#!/bin/sh\n:\n");
        if is_repository {
            source.commit();
        } else {
            fs::remove_dir_all(source.path.join(".git")).unwrap();
        }
        Self { sandbox, source, is_repository }
    }

    fn spec(&self) -> String {
        self.source.path.to_str().unwrap().to_owned()
    }

    /// Makes a version of the source that is like no other: one file more, one less, one changed.
    fn next_version(&self, round: u64) {
        self.source.hook("guard", &format!("{}# {round}\n", crate::plugins::GUARD));
        let old = self.source.path.join(format!("recipes/r{}.md", round.wrapping_sub(1)));
        let _ = fs::remove_file(old);
        self.source.write(&format!("recipes/r{round}.md"), "New.\n");
        if self.is_repository {
            self.source.commit();
        }
    }

    fn place(&self) -> PathBuf {
        self.sandbox.project().join(".kodelet/plugins/ada@guards")
    }

    fn content(&self) -> Vec<(PathBuf, Vec<u8>)> {
        content(&self.place())
    }

    /// Returns the files that are installed after the change.
    fn wanted(&self, deed: Deed) -> Vec<(PathBuf, Vec<u8>)> {
        if deed == Deed::Remove {
            return Vec::new();
        }
        let target = |(path, bytes): (PathBuf, Vec<u8>)| {
            (self.place().join(path.strip_prefix(&self.source.path).unwrap()), bytes)
        };
        let parts =
            ["hooks", "recipes", "skills"].map(|part| content(&self.source.path.join(part)));
        parts.into_iter().flatten().map(target).collect()
    }

    /// Puts the plugin there, or takes it away, for the deed to have something to do.
    fn prepare(&self, deed: Deed, round: u64) {
        let is_there = !self.content().is_empty();
        match deed {
            Deed::Add if is_there => {
                let _ = self.sandbox.run(Deed::Remove.args("")).expect_code(0);
            }
            Deed::Add => {}
            _ if is_there => {}
            _ => {
                let _ = self.sandbox.run(Deed::Add.args(&self.spec())).expect_code(0);
            }
        }
        self.next_version(round);
    }

    /// Begins the deed and kills it: at any moment, or in every other round a moment after its new record is seen.
    fn killed(&self, deed: Deed, round: u64, full: usize) {
        let mut child = self.sandbox.start(deed.args(&self.spec()));
        if round.is_multiple_of(2) {
            killed_after_looks(child, chosen(round, full + 1));
            return;
        }
        let record = self.place().with_file_name(".plugin.lock.new");
        while !record.exists() && child.try_wait().unwrap().is_none() {}
        killed_after_looks(child, chosen(round, 60));
    }

    /// Checks that the plugin is whole and recorded as it is, or is neither there nor recorded; nothing is trusted of what is not
    /// there.
    fn is_whole(&self, deed: Deed, before: &[(PathBuf, Vec<u8>)], round: u64) {
        let at = format!("{deed:?}, round {round}");
        files_are_whole(self.sandbox);
        let output = self.sandbox.run("plugin verify").expect_code(0);
        let now = self.content();
        assert!(now == before || now == self.wanted(deed), "{at}: {now:?}\n{output}");
        let list = self.sandbox.run("plugin list --json").expect_code(0);
        let count = usize::from(!now.is_empty());
        assert_eq!(list.json().as_array().unwrap().len(), count, "{at}\n{list}");
        assert_eq!(output.stdout.lines().count(), count, "{at}\n{output}");
        assert!(list.stderr.is_empty() && output.stderr.is_empty(), "{at}\n{list}{output}");
        if now.is_empty() {
            let trust_list = self.sandbox.run("trust --list --json").expect_code(0);
            assert!(!trust_list.stdout.contains(&format!("\"{NAME}/")), "{at}\n{trust_list}");
        }
    }

    /// Checks that the same command again does what is left to do.
    fn continues(&self, deed: Deed, round: u64) {
        let was_done = self.content() == self.wanted(deed);
        let output = self.sandbox.run(deed.args(&self.spec()));
        let is_reported = match deed {
            Deed::Add if was_done => output.stderr.contains("already installed"),
            Deed::Remove if was_done => output.stderr.contains("no plugin"),
            _ => output.code == Some(0),
        };
        assert!(is_reported, "{deed:?}, round {round}\n{output}");
        assert_eq!(self.content(), self.wanted(deed), "{deed:?}, round {round}\n{output}");
        let _ = self.sandbox.run("plugin verify").expect_code(0);
    }
}

fn deeds_are_killed(is_repository: bool, rounds: u64) {
    for deed in [Deed::Add, Deed::Replace, Deed::Update, Deed::Remove] {
        let sandbox = sandbox();
        let scene = Scene::new(&sandbox, is_repository);
        scene.prepare(deed, 0);
        let full = killed_after_looks(sandbox.start(deed.args(&scene.spec())), usize::MAX);
        assert_eq!(scene.content(), scene.wanted(deed));
        for round in 1..=rounds {
            scene.prepare(deed, round);
            let before = scene.content();
            scene.killed(deed, round, full);
            scene.is_whole(deed, &before, round);
            scene.continues(deed, round);
        }
        // A program that a killed process had started may have written until now.
        wait_until("nothing is left", || {
            let _ = sandbox.run(Deed::Replace.args(&scene.spec())).expect_code(0);
            left(&sandbox) == ["ada@guards", "plugin.lock"]
        });
        let list = sandbox.run("hooks list --json").expect_code(0).json();
        let is_theirs =
            |hook: &&serde_json::Value| hook["name"].as_str().unwrap().starts_with(NAME);
        let theirs: Vec<_> = list.as_array().unwrap().iter().filter(is_theirs).collect();
        assert!(
            theirs.len() == 2 && theirs.iter().all(|hook| hook["status"] == "active"),
            "{list}"
        );
    }
}

#[test]
fn a_plugin_from_a_directory_and_its_record_are_both_old_or_both_new() {
    deeds_are_killed(false, rounds() / 5);
}

#[test]
fn a_plugin_from_a_repository_and_its_record_are_both_old_or_both_new() {
    deeds_are_killed(true, rounds() / 10);
}
