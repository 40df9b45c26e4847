//! Loading of manifest hooks: which are found, their names, their policies, and shadowing.

use std::fs;
use std::time::Duration;

use tenter_engine::inspect::{Catalog, Hook, PolicyOverride, Status};
use tenter_engine::{FailMode, Layer, TrustMode};
use tenter_protocol::{Diagnostic, Severity};

use super::{DENY, SCRIPT};
use crate::scene::{GUARD, PROJECT, PROJECT_AGENTS, Scene, USER, USER_AGENTS, ids, running, why};

fn only(catalog: &Catalog) -> &Hook {
    let [hook] = catalog.hooks() else { panic!("{:?}", catalog.listing()) };
    hook
}

fn filter_severity(diagnostics: &[Diagnostic], severity: Severity) -> Vec<&str> {
    let matching = diagnostics.iter().filter(|finding| finding.severity == severity);
    matching.map(|finding| finding.message.as_str()).collect()
}

#[test]
fn a_hook_has_the_name_of_its_manifest_and_shadows_others_of_that_name() {
    let scene = Scene::new();
    let top = scene.manifest_in(PROJECT, "some-directory", "guard", "");
    scene.hook(PROJECT_AGENTS, "guard", GUARD);
    scene.manifest(USER, "guard", "");
    scene.hook(USER_AGENTS, "guard", GUARD);
    scene.hook(USER_AGENTS, "some-directory", GUARD);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["guard", "some-directory"]);
    assert_eq!(catalog.hooks()[0].path().unwrap(), top);
    let shadowed: Vec<_> = catalog
        .listing()
        .iter()
        .filter(|hook| hook.status == Status::Shadowed { by: top.clone() })
        .map(|hook| hook.layer)
        .collect();
    assert_eq!(shadowed, [Layer::Project, Layer::User, Layer::User]);
    assert_eq!(ids(&diagnostics).iter().filter(|id| **id == "hook-shadowed").count(), 3);
    let warnings = filter_severity(&diagnostics, Severity::Warning);
    assert!(matches!(warnings[..], [one] if one.contains("`some-directory`")), "{warnings:?}");
}

#[test]
fn the_first_of_two_hooks_with_one_name_in_a_directory_runs() {
    for (manifest, expected) in [("a", true), ("z", false)] {
        let scene = Scene::new();
        scene.manifest_in(USER, manifest, "guard", "");
        scene.hook(USER, "guard", GUARD);
        let is_manifest = !only(&scene.load().0).is_executable();
        assert_eq!(is_manifest, expected, "{:?}", scene.listing());
    }
    let scene = Scene::new();
    let first = scene.manifest_in(USER, "one", "guard", "");
    scene.manifest_in(USER, "two", "guard", "");
    assert_eq!(only(&scene.load().0).path().unwrap(), first);
}

#[test]
fn a_plugins_hook_carries_the_plugins_name() {
    let scene = Scene::new();
    scene.manifest_in("home/.kodelet/plugins/acme@tools/hooks", "directory", "guard", "");
    scene.manifest(USER, "guard", "");
    assert_eq!(running(&scene.load().0), ["guard", "acme/tools/guard"]);
}

#[test]
fn a_hook_that_cannot_run_shadows_no_manifest_hook() {
    let guard = "name: guard\ndescription: d\ntrigger: before_tool";
    let cases: [(&str, &str, Option<u32>, TrustMode, &str); 5] = [
        (
            "guard",
            "name: guard\ndescription: d\ntrigger: befor_tool",
            Some(0o755),
            TrustMode::All,
            "invalid",
        ),
        ("guard.disable", guard, Some(0o755), TrustMode::All, "disabled"),
        ("guard", guard, None, TrustMode::All, "no script"),
        ("guard", guard, Some(0o644), TrustMode::All, "not executable"),
        ("guard", guard, Some(0o755), TrustMode::Gate, "not trusted"),
    ];
    for (dir, front, mode, trust, expected) in cases {
        let scene = Scene { mode: trust, ..Scene::new() };
        scene.bare(PROJECT, dir, front);
        if let Some(mode) = mode {
            scene.file(&format!("{PROJECT}/{dir}/{SCRIPT}"), DENY, mode);
        }
        let below = scene.manifest(USER, "guard", "");
        let (catalog, _) = scene.load();
        assert_eq!(crate::scene::word(&catalog.listing()[0].status), expected);
        assert_eq!(catalog.listing()[0].name, "guard");
        assert_eq!(only(&catalog).path().unwrap(), below, "under one that is {expected}");
    }
}

#[test]
fn a_protected_user_hook_cannot_be_shadowed_by_the_project() {
    let scene = Scene::new();
    let protected = "metadata:\n  protected: true";
    let mine = scene.manifest(USER_AGENTS, "guard", protected);
    scene.manifest(PROJECT, "guard", "");
    scene.hook(PROJECT_AGENTS, "guard", GUARD);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(only(&catalog).path().unwrap(), mine);
    assert_eq!(ids(&diagnostics), ["hook-protected"; 2]);
    assert!(diagnostics.iter().all(|finding| finding.severity == Severity::Warning));
    // Protection does not apply among the user's own directories.
    let other = scene.manifest(USER, "guard", "");
    assert_eq!(only(&scene.load().0).path().unwrap(), other);
    // A project cannot protect a hook from the user.
    let scene = Scene::new();
    scene.manifest(PROJECT, "guard", protected);
    scene.settings(USER, "[[hooks.disable]]\nname = \"guard\"\n");
    assert!(scene.load().0.hooks().is_empty());
}

#[test]
fn a_disabled_or_broken_protected_hook_protects_nothing() {
    for is_broken in [false, true] {
        let scene = Scene::new();
        let mine = scene.manifest(USER, "guard", "metadata: {protected: true}");
        if is_broken {
            fs::remove_dir_all(mine.join("scripts")).unwrap();
        } else {
            fs::rename(&mine, mine.with_file_name("guard.disable")).unwrap();
        }
        let projects = scene.manifest(PROJECT, "guard", "");
        assert_eq!(only(&scene.load().0).path().unwrap(), projects);
    }
    let scene = Scene::new();
    scene.manifest(USER, "guard", "metadata: {protected: true}");
    scene.manifest(PROJECT, "guard", "");
    scene.settings(USER, "[[hooks.disable]]\nname = \"guard\"\n");
    let (catalog, diagnostics) = scene.load();
    assert!(catalog.listing().iter().all(|hook| matches!(hook.status, Status::SwitchedOff { .. })));
    assert_eq!(
        ids(&diagnostics),
        [] as [&str; 0],
        "the user's setting applies to the name, in every layer"
    );
}

#[test]
fn the_users_settings_take_precedence_over_the_projects() {
    let scene = Scene::new();
    scene.manifest(USER, "mine", "");
    scene.manifest(PROJECT, "theirs", "timeout: 20000\npriority: 200");
    scene.manifest(PROJECT, "off", "");
    scene.settings(
        USER_AGENTS,
        "[[hooks.disable]]\nname = \"off\"\n[[hooks.override]]\nname = \"theirs\"\npriority = 7\nasync = true\n",
    );
    scene.settings(
        PROJECT,
        "[hooks]\nenabled = true\n[[hooks.disable]]\nname = \"mine\"\n[[hooks.override]]\nname = \"mine\"\npriority = 1\n\
         [[hooks.override]]\nname = \"theirs\"\npriority = 900\ntimeout = 4000\nasync = false\n",
    );
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["mine", "theirs"]);
    assert_eq!(catalog.hooks()[0].policy.priority, 100);
    let policy = catalog.hooks()[1].policy;
    assert_eq!((policy.priority, policy.timeout.as_millis(), policy.asynchronous), (7, 4000, true));
    assert_eq!(ids(&diagnostics), [] as [&str; 0]);
}

#[test]
fn disabled_hooks_name_the_file_that_disabled_them_and_unknown_names_are_reported() {
    let scene = Scene::new();
    scene.manifest(USER, "guard", "");
    scene.hook(PROJECT, "plain", GUARD);
    scene.settings(USER, "[hooks]\nenabled = false\n[[hooks.disable]]\nname = \"gaurd\"\n");
    let (catalog, diagnostics) = scene.load();
    assert!(catalog.hooks().is_empty());
    let by = Status::SwitchedOff { by: scene.at(USER).join("hooks.toml") };
    assert!(catalog.listing().iter().all(|hook| hook.status == by), "{:?}", catalog.listing());
    assert_eq!(ids(&diagnostics), ["hook-setting-names-nothing"]);
    assert!(diagnostics[0].message.contains("gaurd"));
    assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean guard?"));
}

#[test]
fn a_plugins_settings_do_not_affect_hooks() {
    for base in ["home", "project"] {
        let scene = Scene::new();
        let plugin = format!("{base}/.kodelet/plugins/acme@tools/hooks");
        scene.manifest(&plugin, "helper", "");
        scene.manifest(USER, "guard", "");
        scene.manifest(PROJECT, "check", "");
        scene.settings(&plugin, "[hooks]\nenabled = false\n[[hooks.disable]]\nname = \"guard\"\n");
        assert_eq!(scene.load().0.hooks().len(), 3, "{:?}", scene.listing());
    }
}

#[test]
fn defaults_apply_to_hooks_without_own_settings() {
    let scene = Scene::new();
    scene.manifest(USER, "says", "timeout: 5000\nasync: true");
    scene.manifest(USER, "silent", "");
    scene.settings(USER, "[hooks.defaults]\ntimeout = 1000\n");
    let (catalog, _) = scene.load();
    let subscribed: Vec<_> = catalog
        .hooks()
        .iter()
        .map(|hook| (hook.policy.timeout.as_millis(), hook.policy.asynchronous))
        .collect();
    assert_eq!(subscribed, [(5000, true), (1000, false)]);
}

#[test]
fn out_of_range_numbers_are_clamped_with_a_warning() {
    for (front, timeout, priority) in [
        ("timeout: 1\npriority: 2000", 100, 1000),
        ("timeout: 999999\npriority: -3", 600_000, 0),
        ("timeout: 100\npriority: 1000", 100, 1000),
        ("timeout: 600000\npriority: 0", 600_000, 0),
    ] {
        let scene = Scene::new();
        scene.manifest(USER, "guard", front);
        let (catalog, diagnostics) = scene.load();
        let policy = only(&catalog).policy;
        assert_eq!((policy.timeout.as_millis(), policy.priority), (timeout, priority), "{front}");
        let wrong = front.contains("timeout: 1\n") || front.contains('9');
        assert_eq!(
            filter_severity(&diagnostics, Severity::Warning).len(),
            if wrong { 2 } else { 0 }
        );
    }
    // `hooks.toml` and the user's configuration have the same limits.
    let mut scene = Scene::new();
    scene.manifest(USER, "a", "");
    scene.manifest(USER, "b", "");
    scene.settings(USER, "[[hooks.override]]\nname = \"a\"\ntimeout = 1\npriority = 5000\n");
    let long =
        PolicyOverride { timeout: Some(Duration::from_secs(9999)), ..PolicyOverride::default() };
    scene.policies.overrides.insert("b".to_owned(), long);
    let (catalog, _) = scene.load();
    assert_eq!(catalog.hooks()[0].policy.priority, 1000);
    assert_eq!(catalog.hooks()[0].policy.timeout.as_millis(), 100);
    assert_eq!(catalog.hooks()[1].policy.timeout.as_millis(), 600_000);
}

#[test]
fn manifest_or_user_can_set_fail_closed() {
    let mut scene = Scene::new();
    scene.manifest(USER, "closed", "metadata: {fail: closed}");
    scene.manifest(USER, "open", "");
    scene.manifest(USER, "overruled", "metadata: {fail: closed}");
    let open = PolicyOverride { fail: Some(FailMode::Open), ..PolicyOverride::default() };
    scene.policies.overrides.insert("overruled".to_owned(), open);
    let fails: Vec<FailMode> = scene.load().0.hooks().iter().map(|hook| hook.policy.fail).collect();
    assert_eq!(fails, [FailMode::Closed, FailMode::Open, FailMode::Open]);
}

#[test]
fn a_manifest_is_found_in_any_case_with_the_usual_one_first() {
    for name in ["hook.md", "Hook.MD", "HOOK.md"] {
        let scene = Scene::new();
        let dir = scene.manifest(USER, "guard", "");
        fs::rename(dir.join("HOOK.md"), dir.join(name)).unwrap();
        assert_eq!(running(&scene.load().0), ["guard"], "{name}");
    }
    let scene = Scene::new();
    let dir = scene.manifest(USER, "guard", "");
    fs::write(dir.join("hook.md"), "---\nname: other\n---\n").unwrap();
    assert_eq!(running(&scene.load().0), ["guard"]);
}

#[test]
fn minor_errors_of_a_manifest_are_warnings() {
    let table = [
        ("", 0),
        ("unknown: 1", 1),
        ("timeout: soon", 1),
        ("matcher:\n  pattern: \"\\.py$\"", 1),
        ("metadata: {fial: closed}", 1),
        ("matcher: {tool: 'Edit|Write|'}", 1),
    ];
    for (more, warnings) in table {
        let scene = Scene::new();
        scene.manifest(USER, "guard", more);
        let (catalog, diagnostics) = scene.load();
        assert_eq!(running(&catalog), ["guard"], "{more}: {diagnostics:?}");
        let matching = filter_severity(&diagnostics, Severity::Warning);
        assert_eq!(matching.len(), warnings, "{more}: {matching:?}");
    }
}

#[test]
fn a_serious_error_makes_one_hook_invalid_and_hides_none() {
    let valid = "name: guard\ndescription: d\ntrigger: before_tool\n";
    for (front, part) in [
        ("description: d\ntrigger: before_tool".to_owned(), "name"),
        ("name: Guard\ndescription: d\ntrigger: before_tool".to_owned(), "upper-case"),
        ("name: guard\ndescription: d".to_owned(), "trigger"),
        ("name: guard\ndescription: d\ntrigger: before-tool".to_owned(), "before-tool"),
        (format!("{valid}name: again"), "name"),
        (format!("{valid}matcher: {{tool: \"(\"}}"), "unclosed group"),
        (format!("{valid}matcher: {{tool: 'Bash(rm:*)'}}"), "permission rule"),
        (format!("{valid}matcher: {{pattern: 'x{{,3}}'}}"), "is a repetition to some engines"),
        (format!("{valid}metadata: {{fail: close}}"), "`fail` cannot be `close`"),
        (format!("{valid}metadata: {{triggers: [after_tol]}}"), "`after_tol` is not an event"),
    ] {
        let scene = Scene::new();
        scene.bare(USER, "guard", &front);
        scene.file(&format!("{USER}/guard/{SCRIPT}"), DENY, 0o755);
        let (catalog, diagnostics) = scene.load();
        assert!(why(&catalog).contains(part), "{front}: {}", why(&catalog));
        assert!(!filter_severity(&diagnostics, Severity::Error).is_empty(), "{front}");
        scene.manifest(USER, "other", "");
        assert_eq!(running(&scene.load().0), ["other"], "{front}");
    }
}

#[test]
fn an_invalid_manifest_is_reported_with_its_location() {
    for bytes in
        [&b"# no front matter\n"[..], b"---\nname: guard\n", b"---\nname: \xff\n---\n", b""]
    {
        let scene = Scene::new();
        scene.manifest(USER, "other", "");
        let dir = scene.bare(USER, "guard", "");
        fs::write(dir.join("HOOK.md"), bytes).unwrap();
        let (catalog, diagnostics) = scene.load();
        assert_eq!(running(&catalog), ["other"]);
        assert!(diagnostics[0].path.as_ref().unwrap().starts_with(&dir), "{diagnostics:?}");
        assert_eq!(catalog.listing()[0].name, "guard", "it is called by its directory");
    }
}

#[test]
fn both_kinds_run_in_one_order() {
    let scene = Scene::new();
    scene.manifest(USER, "last", "priority: 10");
    scene.manifest(USER, "first", "priority: 999");
    scene.manifest(PROJECT, "z-manifest", "");
    scene.hook(PROJECT, "a-program", GUARD);
    scene.hook(USER, "program", GUARD);
    scene.manifest(USER_AGENTS, "agents", "");
    let expected = ["first", "a-program", "z-manifest", "program", "agents", "last"];
    assert_eq!(running(&scene.load().0), expected);
}
