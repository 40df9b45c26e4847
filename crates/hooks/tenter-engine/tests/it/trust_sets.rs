//! Trust is a set: several contents and several states of a project are trusted at once, and a trusted hook that does not run
//! any more is missed (R73).

use std::fs;
use std::path::Path;

use tenter_engine::inspect::{Loss, PolicyOverride, Status};
use tenter_engine::trust::{Data, TrustedKind};
use tenter_engine::{FailMode, TrustMode};
use tenter_protocol::Severity;

use crate::scene::{COUNTING, GUARD, PROJECT, PROJECT_AGENTS, Scene, USER, ids, running, word};

const MANIFEST: &str = "---\nname: tidy\ndescription: Tidies.\ntrigger: after_tool\n---\n";

/// Returns a scene in which the hook `guard` is trusted and accepted.
fn guarded() -> Scene {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", GUARD);
    scene.trust_and_accept();
    scene
}

fn lost(scene: &Scene) -> Vec<(String, Loss)> {
    let (catalog, _) = scene.load();
    catalog.lost().iter().map(|hook| (hook.name.clone(), hook.loss.clone())).collect()
}

/// Sets the hook `guard` to fail closed, as the user does.
fn closed(scene: Scene) -> Scene {
    let guard = PolicyOverride { fail: Some(FailMode::Closed), ..PolicyOverride::default() };
    let mut policies = scene.policies.clone();
    policies.overrides.insert("guard".to_owned(), guard);
    Scene { policies, ..scene }
}

/// Adds `linked` as a linked worktree of the project, as `git worktree add` makes it.
fn add_worktree(scene: &Scene) -> std::path::PathBuf {
    let entry = "project/.git/worktrees/linked";
    scene.file(&format!("{entry}/commondir"), "../..\n", 0o644);
    let worktree = scene.directory("linked");
    let back = format!("{}\n", worktree.join(".git").display());
    scene.file(&format!("{entry}/gitdir"), &back, 0o644);
    scene.file("linked/.git", &format!("gitdir: {}\n", scene.at(entry).display()), 0o644);
    worktree
}

#[test]
fn a_content_that_was_trusted_before_stays_trusted() {
    let scene = guarded();
    let other = format!("{GUARD}# second\n");
    scene.hook(PROJECT, "guard", &other);
    scene.trust_and_accept();
    for content in [GUARD, &other, GUARD] {
        scene.hook(PROJECT, "guard", content);
        let (catalog, _) = scene.load();
        assert_eq!((running(&catalog), catalog.untrusted().len()), (vec!["guard"], 0));
    }
}

#[test]
fn at_most_sixteen_contents_of_a_hook_are_trusted() {
    let scene = Scene::gated();
    let content = |number: usize| format!("{GUARD}# {number}\n");
    for number in 0..17 {
        scene.hook(PROJECT, "guard", &content(number));
        scene.trust_all();
    }
    scene.hook(PROJECT, "guard", &content(0));
    assert!(running(&scene.load().0).is_empty(), "the oldest is forgotten");
    scene.hook(PROJECT, "guard", &content(1));
    assert_eq!(running(&scene.load().0), ["guard"]);
    assert_eq!(scene.store().list().count(), 16);
    let files = fs::read_dir(scene.at("state/trusted")).unwrap().count();
    assert_eq!(files, 16, "what is not trusted any more is not kept");
}

#[test]
fn going_back_to_an_accepted_state_reports_nothing() {
    let scene = guarded();
    let extra = scene.hook(PROJECT, "extra", GUARD);
    scene.trust_and_accept();
    fs::remove_file(&extra).unwrap();
    let (catalog, diagnostics) = scene.load();
    assert!(catalog.lost().is_empty() && diagnostics.is_empty(), "{diagnostics:?}");
    // Neither hook is there: this state was never accepted.
    fs::remove_file(scene.at(PROJECT).join("guard")).unwrap();
    let names: Vec<String> = lost(&scene).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["extra", "guard"]);
}

#[test]
fn a_missing_or_weakened_trusted_hook_is_reported_with_the_reason() {
    type Weaken = fn(&Scene);
    let ways: [(Weaken, &str); 6] = [
        (|scene| fs::remove_file(scene.at(PROJECT).join("guard")).unwrap(), "is gone"),
        (
            |scene| {
                let path = scene.at(PROJECT).join("guard");
                fs::rename(&path, path.with_extension("disable")).unwrap();
            },
            "is disabled: ",
        ),
        (
            |scene| {
                let off = "[[hooks.disable]]\nname = \"guard\"\n";
                scene.file(&format!("{PROJECT}/hooks.toml"), off, 0o644);
            },
            "is disabled by ",
        ),
        (
            |scene| {
                let off = "[hooks]\nenabled = false\n";
                scene.file(&format!("{PROJECT_AGENTS}/hooks.toml"), off, 0o644);
            },
            "is disabled by ",
        ),
        (
            |scene| {
                scene.file(&format!("{PROJECT}/guard"), GUARD, 0o644);
            },
            "is not executable",
        ),
        (
            |scene| {
                fs::remove_file(scene.at(PROJECT).join("guard")).unwrap();
                let manifest = MANIFEST.replace("tidy", "guard");
                scene.file(&format!("{PROJECT}/guard/HOOK.md"), &manifest, 0o644);
                scene.trust_all();
            },
            "has lost its script",
        ),
    ];
    for (weaken, reason) in ways {
        for (scene, severity) in
            [(guarded(), Severity::Warning), (closed(guarded()), Severity::Error)]
        {
            weaken(&scene);
            let (catalog, diagnostics) = scene.load();
            let hook = &catalog.lost()[0];
            assert_eq!(
                (hook.name.as_str(), hook.fail_closed),
                ("guard", severity == Severity::Error)
            );
            let diagnostic =
                diagnostics.iter().find(|diagnostic| diagnostic.id == "trusted-hook-lost").unwrap();
            assert!(diagnostic.message.contains(reason), "{}", diagnostic.message);
            assert_eq!(diagnostic.severity, severity);
        }
    }
}

#[test]
fn a_state_without_a_hook_can_be_accepted_and_is_remembered() {
    let scene = guarded();
    scene.hook(PROJECT, "extra", GUARD);
    scene.trust_and_accept();
    let guard = scene.at(PROJECT).join("guard");
    fs::remove_file(&guard).unwrap();
    assert_eq!(lost(&scene), [("guard".to_owned(), Loss::Gone)]);
    let (project, state) = scene.load().0.states()[0].clone();
    scene.store().accept(&project, &state, (&[], &[])).unwrap();
    assert!(lost(&scene).is_empty());
    scene.hook(PROJECT, "guard", GUARD);
    assert_eq!(running(&scene.load().0), ["extra", "guard"]);
    fs::remove_file(&guard).unwrap();
    assert!(lost(&scene).is_empty(), "this state was accepted before");
    fs::remove_file(scene.at(PROJECT).join("extra")).unwrap();
    assert_eq!(lost(&scene).len(), 2, "this one was not");
}

#[test]
fn an_accepted_loss_is_not_reported_after_other_changes_until_the_hook_is_back() {
    for (scene, is_closed) in [(guarded(), false), (closed(guarded()), true)] {
        scene.hook(PROJECT, "extra", GUARD);
        scene.trust_and_accept();
        let guard = scene.at(PROJECT).join("guard");
        fs::remove_file(&guard).unwrap();
        let accept = |names: &[&str], running: &[&str]| {
            let (project, state) = scene.load().0.states()[0].clone();
            scene.store().accept(&project, &state, (names, running)).unwrap();
        };
        accept(&["guard"], &["extra"]);
        scene.hook(PROJECT, "more", GUARD);
        scene.trust_all();
        assert_eq!(!lost(&scene).is_empty(), is_closed);
        scene.hook(PROJECT, "guard", GUARD);
        accept(&[], &["extra", "guard", "more"]);
        fs::remove_file(&guard).unwrap();
        assert_eq!(lost(&scene), [("guard".to_owned(), Loss::Gone)]);
    }
}

#[test]
fn a_forgotten_hook_is_not_reported_missing() {
    let scene = guarded();
    fs::remove_file(scene.at(PROJECT).join("guard")).unwrap();
    assert_eq!(scene.store().revoke(&scene.layout.project, Some("guard")).unwrap(), 1);
    assert!(lost(&scene).is_empty());
}

#[test]
fn a_hook_disabled_by_the_user_is_not_reported_missing() {
    let scene = guarded();
    let off = "[[hooks.disable]]\nname = \"guard\"\n";
    scene.file(&format!("{USER}/hooks.toml"), off, 0o644);
    assert!(lost(&scene).is_empty());
}

#[test]
fn without_records_or_trust_checks_nothing_is_reported_missing() {
    let scene = Scene { mode: TrustMode::All, ..guarded() };
    fs::remove_file(scene.at(PROJECT).join("guard")).unwrap();
    assert!(lost(&scene).is_empty());
    assert!(lost(&Scene::gated()).is_empty());
}

#[test]
fn trusted_recipes_are_not_reported_as_missing_hooks() {
    let scene = Scene::gated();
    let name = tenter_engine::trust::trust_name(TrustedKind::Recipe, "review");
    let fingerprint = tenter_engine::trust::fingerprint_of_recipe(b"Review it.");
    let entry = tenter_engine::trust::TrustEntry::new(name, fingerprint, Path::new("/review.md"));
    scene.store().trust(&scene.layout.project, &[entry], "2024-01-15T10:30:00Z").unwrap();
    assert!(lost(&scene).is_empty());
}

#[test]
fn trust_holds_in_every_worktree_of_the_repository_for_the_same_content() {
    let mut scene = guarded();
    scene.hook("linked/.kodelet/hooks", "guard", GUARD);
    let worktree = scene.directory("linked");
    let main = std::mem::replace(&mut scene.layout.project, worktree);
    assert!(running(&scene.load().0).is_empty(), "it is no worktree yet");
    add_worktree(&scene);
    assert_eq!(running(&scene.load().0), ["guard"]);
    scene.hook("linked/.kodelet/hooks", "guard", COUNTING);
    assert!(running(&scene.load().0).is_empty(), "the content is another");
    scene.trust_and_accept();
    assert_eq!(running(&scene.load().0), ["guard"]);
    scene.layout.project = main;
    scene.hook(PROJECT, "guard", COUNTING);
    assert_eq!(running(&scene.load().0), ["guard"]);
    assert_eq!(scene.store().revoke(&scene.at("linked"), None).unwrap(), 1);
    assert!(running(&scene.load().0).is_empty());
}

#[test]
fn a_hook_missing_in_a_worktree_is_reported_there() {
    let mut scene = closed(guarded());
    scene.layout.project = add_worktree(&scene);
    assert_eq!(lost(&scene), [("guard".to_owned(), Loss::Gone)]);
}

#[test]
fn a_hook_that_newly_shadows_a_user_hook_needs_trust_again() {
    let scene = guarded();
    let own = scene.hook(USER, "guard", COUNTING);
    let (catalog, _) = scene.load();
    assert_eq!(word(&catalog.listing()[0].status), "would displace");
    assert_eq!(catalog.hooks()[0].path().unwrap(), own, "the user's own hook runs until then");
    assert_eq!(catalog.untrusted()[0].displaces.as_ref(), Some(&own));
    scene.trust_all();
    let (catalog, _) = scene.load();
    assert_eq!(catalog.hooks()[0].path().unwrap(), scene.at(PROJECT).join("guard"));
    assert!(catalog.untrusted().is_empty());
    assert!(matches!(catalog.listing()[1].status, Status::Shadowed { .. }));
}

#[test]
fn a_fail_closed_user_hook_is_never_shadowed() {
    for mode in [TrustMode::Gate, TrustMode::All] {
        let scene = Scene { mode, ..closed(guarded()) };
        let own = scene.hook(USER, "guard", COUNTING);
        let (catalog, diagnostics) = scene.load();
        assert_eq!(catalog.hooks()[0].path().unwrap(), own);
        assert!(catalog.untrusted().is_empty());
        assert_eq!(ids(&diagnostics), ["hook-protected"]);
        // Nor where it cannot run: then everything is denied, whatever the project offers.
        scene.hook(USER, "guard", "#!/bin/sh\necho nonsense\n");
        assert_eq!(scene.load().0.missing().len(), 1);
    }
}

#[test]
fn what_was_trusted_is_kept_privately_to_show_what_changed() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = guarded();
    scene.hook(PROJECT, "guard", COUNTING);
    let (catalog, _) = scene.load();
    let hook = &catalog.untrusted()[0];
    let store = scene.store();
    let before = store.kept(&hook.previous.as_ref().unwrap().hash).unwrap();
    let (_, after) = tenter_engine::trust::Contents::read(&hook.covered).unwrap();
    let changes = before.changes_to(&after);
    let text = |text: &str| Data::Text(text.to_owned());
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].before.as_ref().unwrap().data, text(GUARD));
    assert_eq!(changes[0].after.as_ref().unwrap().data, text(COUNTING));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let directory = scene.at("state/trusted");
    assert_eq!(mode(&directory), 0o700);
    for entry in fs::read_dir(&directory).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}
