//! The cache: an unchanged hook is asked once, and a cache that is wrong or lost changes nothing but the time it takes.

use std::os::unix::fs::MetadataExt;
use std::sync::Barrier;
use std::{fs, thread};

use tenter_testkit::wait_until;

use crate::scene::{COUNTING, PROJECT, Scene, USER, running};

fn scene() -> Scene {
    let scene = Scene::new();
    Scene { cache: Some(scene.at("cache")), ..scene }
}

#[test]
fn an_unchanged_hook_is_queried_once() {
    let scene = scene();
    scene.hook(USER, "guard", COUNTING);
    let first = scene.load().0.hooks()[0].clone();
    let again = scene.load().0.hooks()[0].clone();
    assert_eq!(scene.calls(), 1);
    assert_eq!(first.fingerprint, again.fingerprint);
    assert_eq!(
        (first.fingerprint.clone(), first.subscriptions.clone()),
        (again.fingerprint.clone(), again.subscriptions.clone())
    );
}

#[test]
fn a_changed_hook_is_queried_again() {
    let scene = scene();
    scene.hook(USER, "guard", COUNTING);
    scene.load();
    let script = format!("{COUNTING}echo agent_stop\n");
    scene.hook(USER, "guard", &script);
    assert_eq!(scene.load().0.hooks()[0].subscriptions.len(), 2);
    assert_eq!(scene.calls(), 2);
}

#[test]
fn an_invalid_query_reply_is_cached_and_a_failure_is_not() {
    for (end, expected_calls) in [("echo xyz\n", 1), ("echo before_tool_call\nexit 1\n", 2)] {
        let scene = scene();
        let count = "#!/bin/sh\necho asked >> \"$TENTER_PROJECT_DIR/calls\"\n";
        scene.hook(USER, "guard", &format!("{count}{end}"));
        let messages =
            [scene.load().1, scene.load().1].map(|diagnostics| diagnostics[0].message.clone());
        assert_eq!(messages[0], messages[1]);
        assert_eq!(scene.calls(), expected_calls, "{end}");
    }
}

#[test]
fn a_hook_that_changes_during_its_query_is_not_cached() {
    let scene = scene();
    scene.hook(USER, "guard", &format!("{COUNTING}echo '# more' >> \"$0\"\n"));
    scene.load();
    assert!(!scene.at("cache/hooks.bin").exists());
}

#[test]
fn a_damaged_cache_is_replaced() {
    let scene = scene();
    scene.hook(USER, "guard", COUNTING);
    for damage in ["", "{", "[]", r#"{"version": "0", "hooks": {}}"#, "\u{0}\u{0}"] {
        scene.file("cache/hooks.bin", damage, 0o600);
        let before = scene.calls();
        assert_eq!(running(&scene.load().0), ["guard"]);
        assert_eq!(running(&scene.load().0), ["guard"]);
        assert_eq!(scene.calls(), before + 1, "{damage:?}");
    }
}

#[test]
fn the_file_is_written_only_when_there_is_something_new() {
    let scene = scene();
    let inode = || fs::metadata(scene.at("cache/hooks.bin")).unwrap().ino();
    scene.hook(USER, "guard", COUNTING);
    scene.load();
    let first = inode();
    scene.load();
    assert_eq!(inode(), first);
    scene.hook(USER, "other", COUNTING);
    scene.load();
    assert_ne!(inode(), first);
    assert_eq!(scene.calls(), 2);
}

#[test]
fn removed_hooks_leave_the_cache() {
    let scene = scene();
    let path = scene.hook(USER, "guard", COUNTING);
    scene.load();
    fs::remove_file(path).unwrap();
    scene.hook(USER, "other", COUNTING);
    scene.load();
    let cache = fs::read(scene.at("cache/hooks.bin")).unwrap();
    let cache_text = String::from_utf8_lossy(&cache);
    assert!(cache_text.contains("/other") && !cache_text.contains("/guard"), "{cache_text}");
}

#[test]
fn an_unwritable_cache_is_reported_and_disables_no_hook() {
    let scene = scene();
    scene.file("cache", "a file in the directory's place", 0o644);
    scene.hook(USER, "guard", COUNTING);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["guard"]);
    assert_eq!(diagnostics[0].id, "hook-cache-unwritable");
}

#[test]
fn concurrent_writers_leave_a_valid_cache() {
    const WRITERS: usize = 6;
    let shared = scene();
    let all_ready = Barrier::new(WRITERS);
    thread::scope(|threads| {
        for _ in 0..WRITERS {
            threads.spawn(|| {
                let mine = Scene { cache: shared.cache.clone(), ..Scene::new() };
                mine.hook(PROJECT, "guard", COUNTING);
                all_ready.wait();
                assert_eq!(running(&mine.load().0), ["guard"]);
            });
        }
    });
    // It has the reply of the last writer.
    let cache = fs::read(shared.at("cache/hooks.bin")).unwrap();
    assert!(String::from_utf8_lossy(&cache).contains("/guard"));
    let left_over = fs::read_dir(shared.at("cache")).unwrap().count();
    assert_eq!(left_over, 1);
}

fn manifest(scene: &Scene, lines: &str) {
    let text = format!("---\nname: guard\ndescription: It guards\n{lines}\n---\n");
    scene.file(&format!("{USER}/guard/HOOK.md"), &text, 0o644);
    scene.file(&format!("{USER}/guard/scripts/run.sh"), "#!/bin/sh\n", 0o755);
}

#[test]
fn a_manifest_is_cached_until_its_directory_changes() {
    let scene = scene();
    manifest(
        &scene,
        "trigger: before_tool\nmatcher:\n  tool: Shell\npriority: 7\nmetadata: {fail: closed}",
    );
    let first = scene.load().0.hooks()[0].clone();
    let copy = scene.load().0.hooks()[0].clone();
    assert_eq!(format!("{copy:?}"), format!("{first:?}"));
    assert!(copy.options.matcher.is_some());
    manifest(&scene, "trigger: after_tool");
    let hook = scene.load().0.hooks()[0].clone();
    assert_eq!(hook.subscriptions[0].spelling, "after_tool");
    assert_ne!(hook.fingerprint, first.fingerprint);
}

#[test]
fn a_manifest_with_errors_is_reported_every_time() {
    let scene = scene();
    manifest(&scene, "trigger: before_tool\npriority: 5000");
    let (first, second) = (scene.load().1, scene.load().1);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first, second);
}

#[test]
fn a_new_script_is_seen_although_the_names_in_the_directory_are_cached() {
    let scene = scene();
    manifest(&scene, "trigger: before_tool");
    let first = scene.load().0.hooks()[0].clone();
    // Names are cached once their directories have not changed for a while.
    let name = b"scripts/run.sh";
    let knows_names = || {
        scene.load();
        let bytes = fs::read(scene.at("cache/hooks.bin")).unwrap_or_default();
        bytes.windows(name.len()).any(|bytes| bytes == name)
    };
    wait_until("the names are cached", knows_names);
    assert_eq!(scene.load().0.hooks()[0].fingerprint, first.fingerprint);
    scene.file(&format!("{USER}/guard/scripts/lib.sh"), "echo\n", 0o644);
    assert_ne!(scene.load().0.hooks()[0].fingerprint, first.fingerprint);
}
