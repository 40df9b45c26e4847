//! The trust gate: project hooks run exactly as they were seen, or not at all.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Barrier;
use std::thread;

use tenter_engine::hook::Fingerprint;
use tenter_engine::trust::{
    Changed, TrustEntry, TrustError, TrustMode, TrustStore, verify_unchanged,
};

use crate::scene::{COUNTING, GUARD, PROJECT, PROJECT_AGENTS, Scene, USER, ids, running, word};

const NOW: &str = "2024-01-15T10:30:00Z";
const PLUGIN: &str = "project/.kodelet/plugins/acme@guards/hooks";

fn entry(name: &str) -> TrustEntry {
    let fingerprint = Fingerprint(format!("hash of {name}"));
    TrustEntry {
        name: name.to_owned(),
        fingerprint,
        path: format!("/hooks/{name}").into(),
        events: Vec::new(),
    }
}

fn names(store: &TrustStore) -> Vec<&str> {
    store.list().map(|(_, name, _)| name).collect()
}

#[test]
fn untrusted_project_hooks_are_not_even_asked_and_own_hooks_need_no_trust() {
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
fn a_changed_hook_is_asked_for_again_with_what_was_trusted() {
    let scene = Scene::gated();
    let scene = Scene { cache: Some(scene.at("cache/hooks.json")), ..scene };
    scene.hook(PROJECT, "guard", COUNTING);
    scene.trust_all();
    let trusted = TrustEntry::from(&*scene.load().0.hooks()[0]);
    scene.store().trust(&scene.places.project, std::slice::from_ref(&trusted), NOW).unwrap();
    scene.hook(PROJECT, "guard", &format!("{COUNTING}rm -rf /tmp/nowhere\n"));
    let (catalog, _) = scene.load();
    assert_eq!(word(&catalog.listing()[0].status), "changed");
    assert!(catalog.hooks().is_empty());
    assert_eq!(scene.calls(), 1);
    let untrusted = &catalog.untrusted()[0];
    let previous = untrusted.previous.as_ref().unwrap();
    assert_eq!((&previous.hash, previous.trusted_at.as_str()), (&trusted.fingerprint, NOW));
    assert_eq!(previous.events, ["before_tool_call"]);
    assert_ne!(untrusted.fingerprint, trusted.fingerprint);
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
fn trust_in_one_project_is_none_in_another() {
    let (one, mut other) = (Scene::gated(), Scene::gated());
    one.hook(PROJECT, "guard", GUARD);
    one.trust_all();
    other.places.home = one.places.home.clone();
    other.hook(PROJECT, "guard", GUARD);
    assert_eq!(
        one.store().of(&one.places.project).previous("guard", &one.at(PROJECT)).unwrap().trusted_at,
        NOW
    );
    assert!(one.store().of(&other.places.project).previous("guard", &other.at(PROJECT)).is_none());
}

#[test]
fn every_way_to_a_project_finds_its_trust() {
    let mut scene = Scene::gated();
    scene.hook(PROJECT, "guard", GUARD);
    scene.trust_all();
    symlink(scene.at("project"), scene.at("link")).unwrap();
    scene.places.project = scene.at("link");
    assert_eq!(running(&scene.load().0), ["guard"]);
}

#[test]
fn hooks_of_one_name_in_two_folders_can_both_be_trusted() {
    let scene = Scene::gated();
    let above = scene.hook(PROJECT, "guard", "#!/bin/sh\necho nonsense\n");
    scene.hook(PROJECT_AGENTS, "guard", GUARD);
    scene.trust_all();
    let (catalog, _) = scene.load();
    assert!(catalog.untrusted().is_empty());
    assert_eq!(catalog.hooks()[0].path, scene.at(PROJECT_AGENTS).join("guard"));
    fs::remove_file(above).unwrap();
    assert_eq!(running(&scene.load().0), ["guard"]);
}

#[test]
fn a_hook_that_would_not_run_anyway_is_not_asked_for() {
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
fn the_gate_can_be_switched_off() {
    let scene = Scene { mode: TrustMode::All, ..Scene::gated() };
    scene.hook(PROJECT, "guard", GUARD);
    let (catalog, _) = scene.load();
    assert_eq!(running(&catalog), ["guard"]);
    assert!(catalog.untrusted().is_empty());
}

#[test]
fn trust_is_revoked_for_one_hook_or_for_all_of_a_project() {
    let scene = Scene::gated();
    let project = &scene.places.project;
    let mut store = scene.store();
    store.trust(project, &[entry("a"), entry("b"), entry("c")], NOW).unwrap();
    assert_eq!(store.revoke(project, Some("b")).unwrap(), 1);
    assert_eq!(names(&store), ["a", "c"]);
    assert_eq!(store.revoke(project, Some("b")).unwrap(), 0);
    assert_eq!(store.revoke(project, None).unwrap(), 2);
    assert!(names(&scene.store()).is_empty());
}

#[test]
fn an_answer_that_is_remembered_does_not_open_the_gate() {
    let scene = Scene::gated();
    let scene = Scene { cache: Some(scene.at("cache/hooks.json")), ..scene };
    scene.hook(PROJECT, "guard", COUNTING);
    scene.trust_all();
    assert_eq!(running(&scene.load().0), ["guard"]);
    scene.store().revoke(&scene.places.project, None).unwrap();
    let (catalog, _) = scene.load();
    assert!(catalog.hooks().is_empty());
    assert_eq!((catalog.untrusted().len(), scene.calls()), (1, 1));
}

#[test]
fn the_store_is_for_its_owner_alone() {
    let scene = Scene::gated();
    scene.store().trust(&scene.places.project, &[entry("a")], NOW).unwrap();
    let mode = |path: &str| fs::metadata(scene.at(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("state"), mode("state/trust.json")), (0o700, 0o600));
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
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
                    store.trust(&scene.places.project, &[entry(&name)], NOW).unwrap();
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
fn a_damaged_store_trusts_nothing_says_so_and_is_kept() {
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
fn a_store_of_a_later_version_trusts_nothing_and_stays_as_it_is() {
    let scene = Scene::gated();
    let later = r#"{"version": 2, "roots": []}"#;
    scene.file("state/trust.json", later, 0o600);
    let (mut store, diagnostics) = TrustStore::open(scene.at("state/trust.json"));
    assert!(diagnostics[0].message.contains("version 2"), "{}", diagnostics[0].message);
    let refused = store.trust(&scene.places.project, &[entry("a")], NOW);
    assert!(matches!(refused, Err(TrustError::Newer { version: 2, .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(scene.at("state/trust.json")).unwrap(), later);
}

#[test]
fn a_project_hook_that_changed_since_it_was_loaded_must_not_run() {
    let scene = Scene::gated();
    let path = scene.hook(PROJECT, "guard", GUARD);
    scene.trust_all();
    let hook = scene.load().0.hooks()[0].clone();
    verify_unchanged(&hook).unwrap();
    scene.hook(PROJECT, "guard", GUARD);
    verify_unchanged(&hook).unwrap();
    scene.hook(PROJECT, "guard", COUNTING);
    assert!(matches!(verify_unchanged(&hook), Err(Changed::Content)));
    fs::remove_file(path).unwrap();
    assert!(matches!(verify_unchanged(&hook), Err(Changed::Unreadable(_))));
}

#[test]
fn hooks_that_need_no_trust_may_change_as_they_like() {
    for (folder, mode) in [(USER, TrustMode::Gate), (PROJECT, TrustMode::All)] {
        let scene = Scene { mode, ..Scene::new() };
        scene.hook(folder, "guard", GUARD);
        let hook = scene.load().0.hooks()[0].clone();
        scene.hook(folder, "guard", COUNTING);
        verify_unchanged(&hook).unwrap();
    }
}
