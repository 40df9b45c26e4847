//! The trust gate: project hooks run exactly as they were seen, or not at all.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Barrier;
use std::{fs, thread};

use tenter_engine::inspect::{ListedHook, Status};
use tenter_engine::trust::{Changed, TrustEntry, TrustError, TrustStore};
use tenter_engine::{Fingerprint, TrustMode};

use crate::scene::{
    COUNTING, GUARD, PROJECT, PROJECT_AGENTS, Scene, USER, ids, running, why, word,
};

const NOW: &str = "2024-01-15T10:30:00Z";
const PLUGIN: &str = "project/.kodelet/plugins/acme@guards/hooks";

fn entry(name: &str) -> TrustEntry {
    let fingerprint = Fingerprint(format!("hash of {name}"));
    TrustEntry::new(name, fingerprint, format!("/hooks/{name}").as_ref())
}

fn names(store: &TrustStore) -> Vec<&str> {
    store.list().map(|(_, name, _)| name).collect()
}

#[test]
fn untrusted_project_hooks_are_not_queried_and_user_hooks_need_no_trust() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", COUNTING);
    scene.hook(PLUGIN, "guard", COUNTING);
    scene.hook(USER, "mine", GUARD);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["mine"]);
    assert_eq!(scene.calls(), 0);
    let waiting: Vec<_> = catalog
        .untrusted()
        .iter()
        .map(|hook| (hook.name.as_str(), hook.previous.is_some()))
        .collect();
    assert_eq!(waiting, [("guard", false), ("acme/guards/guard", false)]);
    assert!(diagnostics.is_empty());
}

#[test]
fn trusted_hooks_run() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", GUARD);
    scene.hook(PLUGIN, "guard", GUARD);
    scene.trust_all();
    let (catalog, _) = scene.load();
    assert_eq!(running(&catalog), ["guard", "acme/guards/guard"]);
    assert!(catalog.untrusted().is_empty());
}

#[test]
fn a_changed_hook_needs_trust_again() {
    let scene = Scene::gated();
    let scene = Scene { cache: Some(scene.at("cache/hooks.bin")), ..scene };
    scene.hook(PROJECT, "guard", COUNTING);
    scene.trust_all();
    let entry = scene.load().0.hooks()[0].trust_entry().unwrap();
    scene.store().trust(&scene.layout.project, std::slice::from_ref(&entry), NOW).unwrap();
    scene.hook(PROJECT, "guard", &format!("{COUNTING}rm -rf /tmp/nowhere\n"));
    let (catalog, _) = scene.load();
    assert_eq!(word(&catalog.listing()[0].status), "changed");
    assert!(catalog.hooks().is_empty());
    assert_eq!(scene.calls(), 1);
    let hook = &catalog.untrusted()[0];
    let previous = hook.previous.as_ref().unwrap();
    assert_eq!((&previous.hash, previous.trusted_at.as_str()), (&entry.fingerprint, NOW));
    assert_eq!(previous.events, ["before_tool_call"]);
    assert_ne!(hook.fingerprint, entry.fingerprint);
}

#[test]
fn a_hook_that_is_changed_back_is_trusted_again() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", GUARD);
    scene.trust_all();
    scene.hook(PROJECT, "guard", COUNTING);
    assert!(scene.load().0.hooks().is_empty());
    scene.hook(PROJECT, "guard", GUARD);
    assert_eq!(running(&scene.load().0), ["guard"]);
}

#[test]
fn trust_in_one_project_does_not_apply_to_another() {
    let (one, mut other) = (Scene::gated(), Scene::gated());
    one.hook(PROJECT, "guard", GUARD);
    one.trust_all();
    other.layout.home = one.layout.home.clone();
    other.hook(PROJECT, "guard", GUARD);
    assert_eq!(
        one.store()
            .project(&one.layout.project)
            .previous("guard", &one.at(PROJECT))
            .unwrap()
            .trusted_at,
        NOW
    );
    assert!(
        one.store().project(&other.layout.project).previous("guard", &other.at(PROJECT)).is_none()
    );
}

#[test]
fn every_path_to_a_project_finds_its_trust() {
    let mut scene = Scene::gated();
    scene.hook(PROJECT, "guard", GUARD);
    scene.trust_all();
    symlink(scene.at("project"), scene.at("link")).unwrap();
    scene.layout.project = scene.at("link");
    assert_eq!(running(&scene.load().0), ["guard"]);
}

#[test]
fn hooks_of_one_name_in_two_directories_can_both_be_trusted() {
    let scene = Scene::gated();
    let above = scene.hook(PROJECT, "guard", "#!/bin/sh\necho nonsense\n");
    scene.hook(PROJECT_AGENTS, "guard", GUARD);
    scene.trust_all();
    let (catalog, _) = scene.load();
    assert!(catalog.untrusted().is_empty());
    assert_eq!(catalog.hooks()[0].path().unwrap(), scene.at(PROJECT_AGENTS).join("guard"));
    fs::remove_file(above).unwrap();
    assert_eq!(running(&scene.load().0), ["guard"]);
}

#[test]
fn a_hook_that_would_not_run_needs_no_trust() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", GUARD);
    scene.trust_all();
    scene.hook(PROJECT_AGENTS, "guard", COUNTING);
    let (catalog, _) = scene.load();
    assert_eq!(word(&catalog.listing()[1].status), "shadowed");
    assert!(catalog.untrusted().is_empty());
    assert_eq!(scene.calls(), 0);
}

#[test]
fn trust_checks_can_be_disabled() {
    let scene = Scene { mode: TrustMode::All, ..Scene::gated() };
    scene.hook(PROJECT, "guard", GUARD);
    let (catalog, _) = scene.load();
    assert_eq!(running(&catalog), ["guard"]);
    assert!(catalog.untrusted().is_empty());
}

#[test]
fn trust_is_revoked_for_one_hook_or_for_all_of_a_project() {
    let scene = Scene::gated();
    let project = &scene.layout.project;
    let mut store = scene.store();
    store.trust(project, &[entry("a"), entry("b"), entry("c")], NOW).unwrap();
    assert_eq!(store.revoke(project, Some("b")).unwrap(), 1);
    assert_eq!(names(&store), ["a", "c"]);
    assert_eq!(store.revoke(project, Some("b")).unwrap(), 0);
    assert_eq!(store.revoke(project, None).unwrap(), 2);
    assert!(names(&scene.store()).is_empty());
}

#[test]
fn a_cached_query_reply_does_not_grant_trust() {
    let scene = Scene::gated();
    let scene = Scene { cache: Some(scene.at("cache/hooks.bin")), ..scene };
    scene.hook(PROJECT, "guard", COUNTING);
    scene.trust_all();
    assert_eq!(running(&scene.load().0), ["guard"]);
    scene.store().revoke(&scene.layout.project, None).unwrap();
    let (catalog, _) = scene.load();
    assert!(catalog.hooks().is_empty());
    assert_eq!((catalog.untrusted().len(), scene.calls()), (1, 1));
}

#[test]
fn the_trust_store_is_private() {
    let scene = Scene::gated();
    scene.store().trust(&scene.layout.project, &[entry("a")], NOW).unwrap();
    let mode = |path: &str| fs::metadata(scene.at(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("state"), mode("state/trust.json")), (0o700, 0o600));
}

#[test]
fn concurrent_trust_writers_lose_nothing() {
    const WRITERS: usize = 8;
    const EACH: usize = 5;
    let scene = Scene::gated();
    let all_ready = Barrier::new(WRITERS);
    thread::scope(|threads| {
        for writer in 0..WRITERS {
            let (scene, all_ready) = (&scene, &all_ready);
            threads.spawn(move || {
                let mut store = scene.store();
                all_ready.wait();
                for number in 0..EACH {
                    let name = format!("{writer}-{number}");
                    store.trust(&scene.layout.project, &[entry(&name)], NOW).unwrap();
                }
            });
        }
    });
    let store = scene.store();
    let mut expected: Vec<String> =
        (0..WRITERS * EACH).map(|n| format!("{}-{}", n / EACH, n % EACH)).collect();
    expected.sort();
    assert_eq!(names(&store), expected);
}

#[test]
fn a_damaged_store_trusts_nothing_is_reported_and_kept() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", GUARD);
    scene.trust_all();
    let whole = fs::read_to_string(scene.at("state/trust.json")).unwrap();
    let damaged = &whole[..whole.len() / 2];
    scene.file("state/trust.json", damaged, 0o600);
    let (store, diagnostics) = TrustStore::open(scene.at("state/trust.json"));
    assert!(names(&store).is_empty());
    assert_eq!(ids(&diagnostics), ["trust-store-unreadable"]);
    assert!(scene.load().0.hooks().is_empty());
    assert_eq!(fs::read_to_string(scene.at("state/trust.json")).unwrap(), damaged);
    scene.trust_all();
    assert_eq!(running(&scene.load().0), ["guard"]);
    assert_eq!(fs::read_to_string(scene.at("state/trust.json.corrupt")).unwrap(), damaged);
}

#[test]
fn a_newer_store_trusts_nothing_and_is_unchanged() {
    let scene = Scene::gated();
    let later = r#"{"version": 3, "roots": []}"#;
    scene.file("state/trust.json", later, 0o600);
    let (mut store, diagnostics) = TrustStore::open(scene.at("state/trust.json"));
    assert!(diagnostics[0].message.contains("version 3"), "{}", diagnostics[0].message);
    let result = store.trust(&scene.layout.project, &[entry("a")], NOW);
    assert!(matches!(result, Err(TrustError::Newer { version: 3, .. })), "{result:?}");
    assert_eq!(fs::read_to_string(scene.at("state/trust.json")).unwrap(), later);
}

/// An executable that has its events from a helper.
const SOURCING: &str = "#!/bin/sh\n. \"$TENTER_HOOK_DIR/lib.sh\"\n";

#[test]
fn a_changed_helper_revokes_trust_in_the_executables_of_its_directory_only() {
    let scene = Scene::gated();
    let scene = Scene { cache: Some(scene.at("cache/hooks.bin")), ..scene };
    scene.hook(PROJECT, "guard", SOURCING);
    scene.hook(PROJECT, "other", GUARD);
    scene.file(&format!("{PROJECT}/lib.sh"), "echo before_tool_call", 0o644);
    scene.hook(PROJECT_AGENTS, "elsewhere", GUARD);
    scene.manifest(PROJECT, "apart", "");
    scene.trust_all();
    assert_eq!(running(&scene.load().0), ["apart", "guard", "other", "elsewhere"]);
    // What a hook and its logs do beside it is no helper.
    scene.file(&format!("{PROJECT}/audit.log"), "x", 0o644);
    assert_eq!(running(&scene.load().0).len(), 4);
    scene.file(&format!("{PROJECT}/lib.sh"), "echo after_tool_call", 0o644);
    let (catalog, _) = scene.load();
    let waiting: Vec<&str> = catalog.untrusted().iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!(waiting, ["guard", "other"]);
    assert_eq!(running(&catalog), ["apart", "elsewhere"]);
    // Its answer is not remembered either: the helper gave it.
    scene.trust_all();
    let (catalog, _) = scene.load();
    let guard = catalog.hooks().iter().find(|hook| hook.name == "guard").unwrap();
    assert_eq!(guard.subscriptions[0].spelling, "after_tool_call");
}

#[test]
fn a_helper_changed_after_load_stops_its_hook() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", SOURCING);
    let helper = scene.file(&format!("{PROJECT}/lib.sh"), "echo before_tool_call", 0o644);
    scene.trust_all();
    let hook = scene.load().0.hooks()[0].clone();
    hook.verify_unchanged(&scene.cancel).unwrap();
    fs::write(&helper, "echo evil").unwrap();
    assert!(matches!(hook.verify_unchanged(&scene.cancel), Err(Changed::Content)));
    fs::write(&helper, "echo before_tool_call").unwrap();
    hook.verify_unchanged(&scene.cancel).unwrap();
    scene.file(&format!("{PROJECT}/new.sh"), "", 0o644);
    assert!(matches!(hook.verify_unchanged(&scene.cancel), Err(Changed::Content)));
}

#[test]
fn a_plugins_hook_is_trusted_with_the_whole_hooks_directory_of_its_plugin() {
    let scene = Scene::gated();
    scene.hook(PLUGIN, "guard", GUARD);
    scene.manifest(PLUGIN, "apart", "");
    scene.trust_all();
    assert_eq!(running(&scene.load().0), ["acme/guards/apart", "acme/guards/guard"]);
    let file = scene.at(&format!("{PLUGIN}/guard.disable"));
    fs::rename(scene.at(&format!("{PLUGIN}/guard")), &file).unwrap();
    assert_eq!(running(&scene.load().0), ["acme/guards/apart"]);
    scene.file(&format!("{PLUGIN}/README.md"), "", 0o644);
    let (catalog, _) = scene.load();
    assert!(running(&catalog).is_empty());
    assert_eq!(catalog.untrusted().len(), 1);
}

#[test]
fn a_change_in_the_projects_hooks_toml_needs_trust_and_the_users_does_not() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", GUARD);
    scene.hook(PROJECT, "other", GUARD);
    scene.trust_all();
    let set = |directory: &str, line: &str| {
        let text = format!("[[hooks.override]]\nname = \"guard\"\n{line}\n");
        scene.file(&format!("{directory}/hooks.toml"), &text, 0o644);
    };
    for line in ["async = true", "timeout = 100", "priority = 1"] {
        set(USER, line);
        set(PROJECT_AGENTS, "");
        assert_eq!(running(&scene.load().0).len(), 2, "{line}");
        set(PROJECT_AGENTS, line);
        let (catalog, _) = scene.load();
        let waiting: Vec<_> =
            catalog.untrusted().iter().map(|hook| (&*hook.name, hook.previous.is_some())).collect();
        assert_eq!(waiting, [("guard", true)], "{line}");
    }
    scene.trust_all();
    assert_eq!(running(&scene.load().0).len(), 2);
}

#[test]
fn too_many_helpers_make_only_executables_invalid() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", GUARD);
    scene.hook(USER, "mine", GUARD);
    scene.manifest(PROJECT, "apart", "");
    for directory in [PROJECT, USER] {
        for index in 0..=200 {
            scene.file(&format!("{directory}/node_modules/{index}"), "", 0o644);
        }
    }
    scene.trust_all();
    let (catalog, _) = scene.load();
    assert_eq!(running(&catalog), ["apart", "mine"]);
    let guard = catalog.listing().iter().find(|hook| hook.name == "guard").unwrap();
    let Status::Invalid { why } = &guard.status else { panic!("{:?}", guard.status) };
    assert!(why.contains("more than 200 files") && why.contains("HOOK.md"), "{why}");
}

#[test]
fn symlinks_to_one_large_file_are_hashed_once() {
    let scene = Scene::gated();
    let large = scene.file("large", GUARD, 0o755);
    fs::File::options().write(true).open(&large).unwrap().set_len(40 << 20).unwrap();
    scene.directory(PROJECT);
    for index in 0..31 {
        symlink(&large, scene.at(&format!("{PROJECT}/link-{index:02}"))).unwrap();
    }
    scene.hook(USER, "mine", GUARD);
    // Reading it 31 times would exceed the 1 GiB that a load reads.
    let (catalog, _) = scene.load();
    assert_eq!(catalog.untrusted().len(), 31);
    assert_eq!(running(&catalog), ["mine"]);
    // Six files of their own are more than a load reads.
    for index in 0..6 {
        let path = scene.hook(PROJECT, &format!("file-{index}"), GUARD);
        fs::File::options().write(true).open(path).unwrap().set_len((200 << 20) + index).unwrap();
    }
    let (catalog, _) = scene.load();
    let invalid = |hook: &&ListedHook| matches!(hook.status, Status::Invalid { .. });
    assert!(catalog.listing().iter().any(|listing| invalid(&listing)));
    assert_eq!(running(&catalog), ["mine"]);
}

#[test]
fn cancelling_a_load_stops_reading_hooks() {
    let scene = Scene::gated();
    let large = scene.hook(PROJECT, "guard", GUARD);
    fs::File::options().write(true).open(&large).unwrap().set_len(200 << 20).unwrap();
    scene.cancel.cancel();
    let (catalog, _) = scene.load();
    assert!(why(&catalog).contains("cancelled"), "{}", why(&catalog));
}

#[test]
fn a_project_hook_that_changed_since_it_was_loaded_must_not_run() {
    let scene = Scene::gated();
    let path = scene.hook(PROJECT, "guard", GUARD);
    scene.trust_all();
    let hook = scene.load().0.hooks()[0].clone();
    hook.verify_unchanged(&scene.cancel).unwrap();
    scene.hook(PROJECT, "guard", GUARD);
    hook.verify_unchanged(&scene.cancel).unwrap();
    scene.hook(PROJECT, "guard", COUNTING);
    assert!(matches!(hook.verify_unchanged(&scene.cancel), Err(Changed::Content)));
    fs::remove_file(path).unwrap();
    assert!(matches!(hook.verify_unchanged(&scene.cancel), Err(Changed::Unreadable(_))));
}

#[test]
fn hooks_that_need_no_trust_may_change() {
    for (directory, mode) in [(USER, TrustMode::Gate), (PROJECT, TrustMode::All)] {
        let scene = Scene { mode, ..Scene::new() };
        scene.hook(directory, "guard", GUARD);
        let hook = scene.load().0.hooks()[0].clone();
        scene.hook(directory, "guard", COUNTING);
        hook.verify_unchanged(&scene.cancel).unwrap();
    }
}
