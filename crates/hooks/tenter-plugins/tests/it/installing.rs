//! Installing plugins: whole or not at all, one at a time, and recorded.

use std::os::unix::fs::symlink;
use std::{fs, thread};

use tenter_plugins::{InstallError, verify};

use crate::scene::{HOOK, Scene};

#[test]
fn an_installed_plugin_is_recorded_and_verifies() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    let plugin = scene.add(&format!("{}@main", source.url()), false).unwrap();
    assert_eq!(plugin.name, "ada/guards");
    assert_eq!(
        (plugin.hooks, plugin.skills, plugin.recipes),
        (vec!["guard".into()], vec!["pdf".into()], vec!["review/deep".into()])
    );
    let lock = scene.plugins().lock().unwrap();
    let record = lock.get("ada/guards").unwrap();
    assert_eq!((record.source.clone(), record.reference.as_deref()), (source.url(), Some("main")));
    assert_eq!(record.commit.as_deref(), Some(source.git(&["rev-parse", "HEAD"]).as_str()));
    assert_eq!(verify(&plugin.path, record), (vec![], vec![]));
    assert_eq!(scene.left(), ["ada@guards", "plugin.lock"]);
}

#[test]
fn verify_finds_every_difference() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    let path = scene.add(&source.url(), false).unwrap().path;
    fs::write(path.join("hooks/guard"), "#!/bin/sh\n").unwrap();
    fs::write(path.join("hooks/more"), "").unwrap();
    fs::remove_file(path.join("README.md")).unwrap();
    fs::remove_file(path.join("recipes/review/deep.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", path.join("recipes/review/deep.md")).unwrap();
    let lock = scene.plugins().lock().unwrap();
    let (differences, findings) = verify(&path, lock.get("ada/guards").unwrap());
    let reports: Vec<(&str, &str)> =
        differences.iter().map(|one| (one.what, one.path.as_str())).collect();
    let expected = [
        ("missing", "README.md"),
        ("changed", "hooks/guard"),
        ("extra", "hooks/more"),
        ("changed", "recipes/review/deep.md"),
    ];
    assert_eq!((reports, findings), (expected.to_vec(), vec![]));
}

#[test]
fn a_plugin_is_replaced_only_on_request() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    let path = scene.add(&source.url(), false).unwrap().path;
    source.hook("other", HOOK);
    fs::remove_file(source.path.join("hooks/guard")).unwrap();
    source.commit("second");
    assert!(matches!(scene.add(&source.url(), false), Err(InstallError::Installed)));
    assert!(path.join("hooks/guard").exists());
    scene.add(&source.url(), true).unwrap();
    assert!(!path.join("hooks/guard").exists() && path.join("hooks/other").exists());
    assert_eq!(scene.left(), ["ada@guards", "plugin.lock"]);
}

#[test]
fn a_failed_replacement_keeps_the_old_plugin() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    let path = scene.add(&source.url(), false).unwrap().path;
    let lock_file = scene.plugins().dir().join("plugin.lock");
    let lock = fs::read_to_string(&lock_file).unwrap();
    source.hook("guard", "#!/bin/sh\n# second\n");
    source.commit("second");

    // Where the new lock would be written is a directory.
    let in_the_way = scene.plugins().dir().join(".plugin.lock.new");
    fs::create_dir(&in_the_way).unwrap();
    assert!(matches!(scene.add(&source.url(), true), Err(InstallError::Failed(_))));
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(fs::read_to_string(path.join("hooks/guard")).unwrap(), HOOK);

    fs::write(&lock_file, "<<<<<<< HEAD\n").unwrap();
    assert!(matches!(scene.add(&source.url(), true), Err(InstallError::Failed(_))));
    fs::write(&lock_file, &lock).unwrap();

    source.git(&["rm", "--quiet", "-r", "hooks", "skills", "recipes"]);
    source.commit("empty");
    assert!(matches!(scene.add(&source.url(), true), Err(InstallError::Empty(_))));

    assert_eq!(fs::read_to_string(path.join("hooks/guard")).unwrap(), HOOK);
    assert_eq!(fs::read_to_string(&lock_file).unwrap(), lock);
    assert_eq!(scene.left(), ["ada@guards", "plugin.lock"]);
}

#[test]
fn concurrent_installations_are_all_recorded() {
    let scene = Scene::new();
    let sources: Vec<String> =
        (0..6).map(|number| scene.repository(&format!("p{number}")).url()).collect();
    thread::scope(|scope| {
        for source in &sources {
            scope.spawn(|| scene.add(source, false).unwrap());
        }
    });
    let lock = scene.plugins().lock().unwrap();
    let names: Vec<&str> = lock.plugins().iter().map(|plugin| plugin.name.as_str()).collect();
    assert_eq!(names, ["ada/p0", "ada/p1", "ada/p2", "ada/p3", "ada/p4", "ada/p5"]);
    assert_eq!(scene.plugins().installed().unwrap().len(), 6);
    assert_eq!(scene.left().len(), 7, "{:?}", scene.left());
}

#[test]
fn only_one_of_two_concurrent_installations_of_a_plugin_succeeds() {
    let scene = Scene::new();
    let source = scene.repository("guards").url();
    let results: Vec<bool> = thread::scope(|scope| {
        let add = || match scene.add(&source, false) {
            Ok(_) => true,
            Err(InstallError::Installed) => false,
            Err(other) => panic!("{other:?}"),
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(add)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|is_added| **is_added).count(), 1);
    assert_eq!(scene.left(), ["ada@guards", "plugin.lock"]);
}

#[test]
fn a_removed_plugin_leaves_no_files_and_no_record() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    scene.add(&source.url(), false).unwrap();
    assert!(!scene.plugins().remove("ada/other").unwrap());
    assert!(scene.plugins().remove("ada/guards").unwrap());
    assert!(!scene.plugins().remove("ada/guards").unwrap());
    assert_eq!(scene.left(), ["plugin.lock"]);
    assert_eq!(scene.plugins().lock().unwrap().plugins(), []);
}

#[test]
fn leftovers_of_a_plugin_are_removed_too() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    let path = scene.add(&source.url(), false).unwrap().path;
    for part in ["hooks", "skills", "recipes"] {
        fs::remove_dir_all(path.join(part)).unwrap();
    }
    assert_eq!(scene.plugins().installed().unwrap(), []);
    assert!(scene.plugins().remove("ada/guards").unwrap());
    assert_eq!(scene.left(), ["plugin.lock"]);
}

/// A clone of a project contains its plugins with their symlinks.
#[test]
fn symlinks_of_an_untrusted_plugin_cannot_stall_listings() {
    let scene = Scene::new();
    let recipes = scene.plugins().dir().join("ada@loops/recipes");
    fs::create_dir_all(recipes.join("d8")).unwrap();
    fs::write(recipes.join("a.md"), "a").unwrap();
    fs::write(recipes.join("d8/b.md"), "b").unwrap();
    for depth in 0..8 {
        let directory = recipes.join(format!("d{depth}"));
        fs::create_dir(&directory).unwrap();
        for link in 0..10 {
            symlink(format!("../d{}", depth + 1), directory.join(format!("l{link}"))).unwrap();
        }
        symlink("..", directory.join("up")).unwrap();
    }
    let plugins = scene.plugins().installed().unwrap();
    assert_eq!(plugins[0].recipes[0], "a");
    assert!(plugins[0].recipes.len() <= 10_000);
}

#[test]
fn a_lower_case_skill_file_is_accepted() {
    let scene = Scene::new();
    let source = scene.source("low");
    source.write("skills/pdf/skill.md", "---\nname: pdf\ndescription: Reads.\n---\nRead.\n");
    assert_eq!(scene.add(&source.text(), false).unwrap().skills, ["pdf"]);
}

#[test]
fn a_manually_copied_plugin_can_be_removed() {
    let scene = Scene::new();
    fs::create_dir_all(scene.plugins().dir().join("my-hooks/hooks")).unwrap();
    assert_eq!(scene.plugins().installed().unwrap()[0].name, "my-hooks");
    assert!(scene.plugins().remove("my-hooks").unwrap());
    assert_eq!(scene.plugins().installed().unwrap(), []);
}
