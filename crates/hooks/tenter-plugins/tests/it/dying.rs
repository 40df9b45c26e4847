//! The files of a process that dies between two steps of its work: the next one finds the old state or the new one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use tenter_plugins::verify;
use tenter_testkit::{copy_directory, needs};

use crate::scene::Scene;

const REVIEW: &str = "recipes/review/deep.md";

/// The two states that a plugin can be in, and the directory that shows one of them.
struct Between {
    scene: Scene,
    plugin: [PathBuf; 2],
    lock: [String; 2],
}

impl Between {
    /// Returns a plugin in its first version, just before the second replaces it.
    fn versions() -> Self {
        let scene = Scene::new();
        let source = scene.repository("guards");
        let mut between = Self { scene, plugin: Default::default(), lock: Default::default() };
        for (state, text) in ["first", "second"].into_iter().enumerate() {
            source.write(REVIEW, text);
            source.commit(text);
            between.scene.add(&source.url(), true).unwrap();
            between.keep(state);
        }
        between.shows(0);
        between
    }

    /// Returns an installed plugin, just before it is removed.
    fn removal() -> Self {
        let scene = Scene::new();
        scene.add(&scene.repository("guards").url(), false).unwrap();
        let mut between = Self { scene, plugin: Default::default(), lock: Default::default() };
        between.keep(0);
        between.scene.plugins().remove("ada/guards").unwrap();
        between.keep(1);
        between.shows(0);
        between
    }

    fn at(&self, name: &str) -> PathBuf {
        self.scene.plugins().dir().join(name)
    }

    fn keep(&mut self, state: usize) {
        self.lock[state] = fs::read_to_string(self.at("plugin.lock")).unwrap();
        self.plugin[state] = self.scene.root().join(format!("kept-{state}"));
        if self.at("ada@guards").exists() {
            copy_directory(&self.at("ada@guards"), &self.plugin[state]);
        }
    }

    fn shows(&self, state: usize) {
        self.has_plugin(state);
        fs::write(self.at("plugin.lock"), &self.lock[state]).unwrap();
    }

    fn has_plugin(&self, state: usize) {
        let _ = fs::remove_dir_all(self.at("ada@guards"));
        if self.plugin[state].exists() {
            copy_directory(&self.plugin[state], &self.at("ada@guards"));
        }
    }

    /// Leaves a lock that was written and not moved to its name.
    fn left(&self, text: &str) {
        fs::write(self.at(".plugin.lock.new"), text).unwrap();
    }

    /// Checks that the record and the files are in the state `expected`, and that nothing else is left.
    fn must_be(&self, expected: usize) {
        let plugins = self.scene.plugins();
        let lock = plugins.lock().unwrap();
        assert_eq!(fs::read_to_string(self.at("plugin.lock")).unwrap(), self.lock[expected]);
        let text_after = plugins.installed().unwrap();
        assert_eq!(text_after.len(), lock.plugins().len());
        for (plugin, locked) in text_after.iter().zip(lock.plugins()) {
            assert_eq!(verify(&plugin.path, locked), (vec![], vec![]));
        }
        assert!(!self.at(".plugin.lock.new").exists());
    }
}

#[test]
fn an_unfinished_change_keeps_the_old_state() {
    for between in [Between::versions(), Between::removal()] {
        between.left(&between.lock[1]);
        between.must_be(0);
    }
}

#[test]
fn an_unrecorded_change_is_completed_by_the_next_process() {
    for between in [Between::versions(), Between::removal()] {
        between.has_plugin(1);
        between.left(&between.lock[1]);
        between.must_be(1);
    }
}

#[test]
fn a_truncated_lock_is_ignored() {
    for between in [Between::versions(), Between::removal()] {
        for part in [0, 1, between.lock[0].len() / 2] {
            between.left(&between.lock[0][..part]);
            between.must_be(0);
        }
    }
}

#[test]
fn manual_changes_are_not_mistaken_for_an_installation() {
    let between = Between::versions();
    fs::write(between.at("ada@guards").join(REVIEW), "third").unwrap();
    between.left(&between.lock[1]);
    let lock = between.scene.plugins().lock().unwrap();
    let (differences, _) = verify(&between.at("ada@guards"), lock.get("ada/guards").unwrap());
    assert_eq!((differences.len(), differences[0].path.as_str()), (1, REVIEW));
    assert_eq!(fs::read_to_string(between.at("plugin.lock")).unwrap(), between.lock[0]);
}

#[test]
fn a_read_only_plugins_directory_can_be_read() {
    let between = Between::versions();
    between.has_plugin(1);
    between.left(&between.lock[1]);
    let directory = between.scene.plugins();
    fs::set_permissions(directory.dir(), Permissions::from_mode(0o500)).unwrap();
    assert_eq!(directory.lock().unwrap().plugins().len(), 1);
    fs::set_permissions(directory.dir(), Permissions::from_mode(0o700)).unwrap();
    between.must_be(1);
}

/// On a file system that cannot exchange two directories, the plugin is moved aside for a moment, and its new record is
/// written already.
#[test]
fn a_plugin_moved_aside_is_restored_with_its_record() {
    let between = Between::versions();
    let aside = between.at(".staging-1-0/aside");
    fs::create_dir_all(&aside).unwrap();
    fs::rename(between.at("ada@guards"), aside.join("ada@guards")).unwrap();
    between.left(&between.lock[1]);
    drop(between.scene.plugins().stage().unwrap());
    between.must_be(0);
    assert_eq!(between.scene.left(), ["ada@guards", "plugin.lock"]);
}

#[test]
fn leftovers_that_cannot_be_removed_do_not_block_an_installation() {
    let scene = Scene::new();
    let dead = scene.plugins().dir().join(".staging-1-0/deep");
    fs::create_dir_all(dead.join("er")).unwrap();
    fs::set_permissions(&dead, Permissions::from_mode(0o500)).unwrap();
    scene.add(&scene.repository("guards").url(), false).unwrap();
    if dead.exists() {
        fs::set_permissions(&dead, Permissions::from_mode(0o700)).unwrap();
        drop(scene.plugins().stage().unwrap());
    } else {
        needs::skipped("user", "root may remove what is in read-only directories");
    }
    assert_eq!(scene.left(), ["ada@guards", "plugin.lock"]);
}
