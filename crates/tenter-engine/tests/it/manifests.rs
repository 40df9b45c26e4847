//! Manifest hooks in the catalog: what is found, what it is held to, what takes whose place, and what runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use tenter_engine::catalog::{Catalog, PolicyOverride, Status};
use tenter_engine::environment::HookEnvironment;
use tenter_engine::hook::{FailMode, Hook, Layer, Protocol};
use tenter_engine::trust::{TrustEntry, TrustMode};
use tenter_engine::{Engine, EngineSettings, Outcome};
use tenter_protocol::{Body, Diagnostic, Event, EventName, Scope, Severity, ToolCall};

use crate::scene::{GUARD, PROJECT, PROJECT_AGENTS, Scene, USER, USER_AGENTS, ids, running, why};

/// Says no to everything.
const DENY: &str = "#!/bin/sh\necho \"$TENTER_HOOK_DIR says no\" >&2\nexit 2\n";
const SCRIPT: &str = "scripts/run";

impl Scene {
    /// A manifest hook for `before_tool` in `folder`, its name and `more` lines in the front matter.
    fn manifest(&self, folder: &str, name: &str, more: &str) -> PathBuf {
        self.manifest_in(folder, name, name, more)
    }

    /// The same in a folder of another name.
    fn manifest_in(&self, folder: &str, dir: &str, name: &str, more: &str) -> PathBuf {
        let front = format!("name: {name}\ndescription: d\ntrigger: before_tool\n{more}");
        self.bare(folder, dir, &front);
        self.file(&format!("{folder}/{dir}/{SCRIPT}"), DENY, 0o755);
        self.at(&format!("{folder}/{dir}"))
    }

    /// A folder with a manifest and nothing to run.
    fn bare(&self, folder: &str, dir: &str, front: &str) -> PathBuf {
        self.file(&format!("{folder}/{dir}/HOOK.md"), &format!("---\n{front}\n---\n# Why\n"), 0o644);
        self.at(&format!("{folder}/{dir}"))
    }

    fn settings(&self, folder: &str, text: &str) {
        self.file(&format!("{folder}/hooks.toml"), text, 0o644);
    }

    /// What the hooks of this scene make of one call.
    fn dispatch(&self) -> Outcome {
        call(&self.engine(self.load().0))
    }

    fn engine(&self, catalog: Catalog) -> Engine {
        let path = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        Engine::new(
            catalog,
            EngineSettings {
                project: self.places.project.clone(),
                environment: HookEnvironment::new(&path, &[]),
                clock: || jiff::Timestamp::UNIX_EPOCH,
                observers: Vec::new(),
            },
        )
    }
}

/// Tells the engine's hooks of `bash {"command": "ls"}`.
fn call(engine: &Engine) -> Outcome {
    let scope = Scope {
        conversation_id: "c".into(),
        parent_conversation_id: None,
        cwd: "/".into(),
        recipe: None,
        time: "T".into(),
    };
    let input = serde_json::json!({"command": "ls"}).as_object().unwrap().clone();
    let body = Body::BeforeTool(ToolCall { id: "1".into(), name: "bash".into(), input });
    engine.dispatch(Event { scope, body }, &tenter_proc::Cancel::new())
}

fn reason(outcome: &Outcome) -> &str {
    outcome.denied().map_or("", |(_, reason)| reason)
}

fn only(catalog: &Catalog) -> &Hook {
    let [hook] = catalog.hooks() else { panic!("{:?}", catalog.listing()) };
    hook
}

fn of_severity(diagnostics: &[Diagnostic], severity: Severity) -> Vec<&str> {
    let found = diagnostics.iter().filter(|finding| finding.severity == severity);
    found.map(|finding| finding.message.as_str()).collect()
}

#[test]
fn a_hook_is_called_what_its_manifest_says_and_takes_the_place_of_what_is_called_so() {
    let scene = Scene::new();
    let top = scene.manifest_in(PROJECT, "some-folder", "guard", "");
    scene.hook(PROJECT_AGENTS, "guard", GUARD);
    scene.manifest(USER, "guard", "");
    scene.hook(USER_AGENTS, "guard", GUARD);
    scene.hook(USER_AGENTS, "some-folder", GUARD);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["guard", "some-folder"]);
    assert_eq!(catalog.hooks()[0].path, top);
    let shadowed: Vec<_> = catalog
        .listing()
        .iter()
        .filter(|listed| listed.status == Status::Shadowed { by: top.clone() })
        .map(|listed| listed.layer)
        .collect();
    assert_eq!(shadowed, [Layer::Project, Layer::User, Layer::User]);
    assert_eq!(ids(&diagnostics).iter().filter(|id| **id == "hook-shadowed").count(), 3);
    let warnings = of_severity(&diagnostics, Severity::Warning);
    assert!(matches!(warnings[..], [one] if one.contains("`some-folder`")), "{warnings:?}");
}

#[test]
fn of_one_name_in_one_folder_the_first_of_either_kind_runs() {
    for (manifest, expected) in [("a", true), ("z", false)] {
        let scene = Scene::new();
        scene.manifest_in(USER, manifest, "guard", "");
        scene.hook(USER, "guard", GUARD);
        let is_manifest = matches!(only(&scene.load().0).protocol, Protocol::Manifest(_));
        assert_eq!(is_manifest, expected, "{:?}", scene.listing());
    }
    let scene = Scene::new();
    let first = scene.manifest_in(USER, "one", "guard", "");
    scene.manifest_in(USER, "two", "guard", "");
    assert_eq!(only(&scene.load().0).path, first);
}

#[test]
fn a_plugins_hook_carries_the_plugins_name() {
    let scene = Scene::new();
    scene.manifest_in("home/.kodelet/plugins/acme@tools/hooks", "folder", "guard", "");
    scene.manifest(USER, "guard", "");
    assert_eq!(running(&scene.load().0), ["guard", "acme/tools/guard"]);
}

#[test]
fn what_cannot_run_takes_nobodys_place() {
    let guard = "name: guard\ndescription: d\ntrigger: before_tool";
    let cases: [(&str, &str, Option<u32>, TrustMode, &str); 5] = [
        ("guard", "name: guard\ndescription: d\ntrigger: befor_tool", Some(0o755), TrustMode::All, "invalid"),
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
        assert_eq!(only(&catalog).path, below, "under one that is {expected}");
    }
}

#[test]
fn a_protected_hook_keeps_its_place_against_the_project_and_only_against_it() {
    let scene = Scene::new();
    let protected = "metadata:\n  protected: true";
    let mine = scene.manifest(USER_AGENTS, "guard", protected);
    scene.manifest(PROJECT, "guard", "");
    scene.hook(PROJECT_AGENTS, "guard", GUARD);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(only(&catalog).path, mine);
    assert_eq!(ids(&diagnostics), ["hook-protected"; 2]);
    assert!(diagnostics.iter().all(|finding| finding.severity == Severity::Warning));
    // The person's own folders are the person's to arrange.
    let other = scene.manifest(USER, "guard", "");
    assert_eq!(only(&scene.load().0).path, other);
    // A project protects nothing from the person.
    let scene = Scene::new();
    scene.manifest(PROJECT, "guard", protected);
    scene.settings(USER, "[[hooks.disable]]\nname = \"guard\"\n");
    assert!(scene.load().0.hooks().is_empty());
}

#[test]
fn a_protected_hook_that_is_switched_off_or_broken_protects_nothing() {
    for broken in [false, true] {
        let scene = Scene::new();
        let mine = scene.manifest(USER, "guard", "metadata: {protected: true}");
        if broken {
            fs::remove_dir_all(mine.join("scripts")).unwrap();
        } else {
            fs::rename(&mine, mine.with_file_name("guard.disable")).unwrap();
        }
        let projects = scene.manifest(PROJECT, "guard", "");
        assert_eq!(only(&scene.load().0).path, projects);
    }
    let scene = Scene::new();
    scene.manifest(USER, "guard", "metadata: {protected: true}");
    scene.manifest(PROJECT, "guard", "");
    scene.settings(USER, "[[hooks.disable]]\nname = \"guard\"\n");
    let (catalog, diagnostics) = scene.load();
    assert!(catalog.listing().iter().all(|listed| matches!(listed.status, Status::SwitchedOff { .. })));
    assert_eq!(ids(&diagnostics), [] as [&str; 0], "the person's word is about the name, in every layer");
}

#[test]
fn what_the_person_says_of_a_hook_stands_against_the_projects_word() {
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
fn switched_off_hooks_say_which_file_did_it_and_names_that_nothing_has_are_told() {
    let scene = Scene::new();
    scene.manifest(USER, "guard", "");
    scene.hook(PROJECT, "plain", GUARD);
    scene.settings(USER, "[hooks]\nenabled = false\n[[hooks.disable]]\nname = \"gaurd\"\n");
    let (catalog, diagnostics) = scene.load();
    assert!(catalog.hooks().is_empty());
    let by = Status::SwitchedOff { by: scene.at(USER).join("hooks.toml") };
    assert!(catalog.listing().iter().all(|listed| listed.status == by), "{:?}", catalog.listing());
    assert_eq!(ids(&diagnostics), ["hooks-toml-names-nothing"]);
    assert!(diagnostics[0].message.contains("gaurd"));
}

#[test]
fn a_plugin_has_no_say_over_hooks() {
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
fn defaults_are_for_hooks_that_do_not_say() {
    let scene = Scene::new();
    scene.manifest(USER, "says", "timeout: 5000\nasync: true");
    scene.manifest(USER, "silent", "");
    scene.settings(USER, "[hooks.defaults]\ntimeout = 1000\n");
    let (catalog, _) = scene.load();
    let held: Vec<_> = catalog
        .hooks()
        .iter()
        .map(|hook| (hook.policy.timeout.as_millis(), hook.policy.asynchronous))
        .collect();
    assert_eq!(held, [(5000, true), (1000, false)]);
}

#[test]
fn numbers_out_of_range_are_moved_into_it_with_a_warning() {
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
        assert_eq!(of_severity(&diagnostics, Severity::Warning).len(), if wrong { 2 } else { 0 });
    }
    // `hooks.toml` and the person's configuration are held to the same.
    let mut scene = Scene::new();
    scene.manifest(USER, "a", "");
    scene.manifest(USER, "b", "");
    scene.settings(USER, "[[hooks.override]]\nname = \"a\"\ntimeout = 1\npriority = 5000\n");
    let long = PolicyOverride { timeout: Some(Duration::from_secs(9999)), fail: None };
    scene.policies.overrides.insert("b".to_owned(), long);
    let (catalog, _) = scene.load();
    assert_eq!(catalog.hooks()[0].policy.priority, 1000);
    assert_eq!(catalog.hooks()[0].policy.timeout.as_millis(), 100);
    assert_eq!(catalog.hooks()[1].policy.timeout.as_millis(), 600_000);
}

#[test]
fn failing_closed_is_the_manifests_or_the_persons_to_say() {
    let mut scene = Scene::new();
    scene.manifest(USER, "closed", "metadata: {fail: closed}");
    scene.manifest(USER, "open", "");
    scene.manifest(USER, "overruled", "metadata: {fail: closed}");
    let open = PolicyOverride { timeout: None, fail: Some(FailMode::Open) };
    scene.policies.overrides.insert("overruled".to_owned(), open);
    let fails: Vec<FailMode> = scene.load().0.hooks().iter().map(|hook| hook.policy.fail).collect();
    assert_eq!(fails, [FailMode::Closed, FailMode::Open, FailMode::Open]);
}

#[test]
fn a_hook_with_nothing_to_run_is_listed_and_says_so() {
    let scene = Scene::new();
    scene.bare(USER, "notify-slack", "name: notify-slack\ndescription: d\ntrigger: session_end");
    let (catalog, diagnostics) = scene.load();
    assert_eq!(catalog.listing()[0].status, Status::NoScript);
    assert_eq!(catalog.listing()[0].subscriptions[0].event, EventName::SessionEnd);
    assert_eq!(ids(&diagnostics), ["hook-without-script"]);
    assert!(diagnostics[0].message.contains("scripts/run.sh"), "{}", diagnostics[0].message);
}

#[test]
fn scripts_that_may_not_be_executed_are_given_to_their_interpreters() {
    let mut cases = vec![("run.sh", "[[ $BASH_VERSION ]] && echo bash >&2\nexit 2\n", "bash")];
    if has_python() {
        let python = "import sys\nsys.stderr.write('python')\nsys.exit(2)\n";
        cases.push(("run.py", python, "python"));
    }
    for (file, script, expected) in cases {
        let scene = Scene::new();
        scene.bare(USER, "guard", "name: guard\ndescription: d\ntrigger: before_tool");
        scene.file(&format!("{USER}/guard/scripts/{file}"), script, 0o644);
        assert_eq!(reason(&scene.dispatch()), expected, "{file}");
    }
}

fn has_python() -> bool {
    let there = ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .any(|folder| std::path::Path::new(folder).join("python3").exists());
    if !there {
        eprintln!("skipped: there is no python3");
    }
    there
}

#[test]
fn the_first_script_runs_and_helpers_do_not_count() {
    let scene = Scene::new();
    scene.bare(USER, "guard", "name: guard\ndescription: d\ntrigger: before_tool");
    for (file, mode) in [("run.py", 0o755), ("run.sh", 0o755), ("check.sh", 0o755)] {
        let script = format!("#!/bin/sh\necho {file} >&2\nexit 2\n");
        scene.file(&format!("{USER}/guard/scripts/{file}"), &script, mode);
    }
    assert_eq!(reason(&scene.dispatch()), "run.sh");
}

#[test]
fn a_manifest_is_found_in_any_letter_case_and_the_usual_one_first() {
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
fn what_is_wrong_with_a_manifest_is_tolerated_where_it_can_be() {
    let table = [
        ("", 0),
        ("unknown: 1", 1),
        ("matcher: {tool: Shell, path: x}", 1),
        ("timeout: soon", 1),
        ("matcher:\n  pattern: \"\\.py$\"", 1),
        ("metadata: {fail: sometimes}", 1),
    ];
    for (more, warnings) in table {
        let scene = Scene::new();
        scene.manifest(USER, "guard", more);
        let (catalog, diagnostics) = scene.load();
        assert_eq!(running(&catalog), ["guard"], "{more}: {diagnostics:?}");
        let found = of_severity(&diagnostics, Severity::Warning);
        assert_eq!(found.len(), warnings, "{more}: {found:?}");
    }
}

#[test]
fn what_cannot_be_tolerated_makes_one_hook_invalid_and_hides_none() {
    let valid = "name: guard\ndescription: d\ntrigger: before_tool\n";
    for (front, part) in [
        ("description: d\ntrigger: before_tool".to_owned(), "name"),
        ("name: Guard\ndescription: d\ntrigger: before_tool".to_owned(), "upper-case"),
        ("name: guard\ndescription: d".to_owned(), "trigger"),
        ("name: guard\ndescription: d\ntrigger: before-tool".to_owned(), "before-tool"),
        (format!("{valid}name: again"), "name"),
        (format!("{valid}matcher: {{tool: \"(\"}}"), "unclosed group"),
    ] {
        let scene = Scene::new();
        scene.bare(USER, "guard", &front);
        scene.file(&format!("{USER}/guard/{SCRIPT}"), DENY, 0o755);
        let (catalog, diagnostics) = scene.load();
        assert!(why(&catalog).contains(part), "{front}: {}", why(&catalog));
        assert!(!of_severity(&diagnostics, Severity::Error).is_empty(), "{front}");
        scene.manifest(USER, "other", "");
        assert_eq!(running(&scene.load().0), ["other"], "{front}");
    }
}

#[test]
fn a_file_that_is_no_manifest_is_told_with_its_place() {
    for bytes in [&b"# no front matter\n"[..], b"---\nname: guard\n", b"---\nname: \xff\n---\n", b""] {
        let scene = Scene::new();
        scene.manifest(USER, "other", "");
        let dir = scene.bare(USER, "guard", "");
        fs::write(dir.join("HOOK.md"), bytes).unwrap();
        let (catalog, diagnostics) = scene.load();
        assert_eq!(running(&catalog), ["other"]);
        assert!(diagnostics[0].path.as_ref().unwrap().starts_with(&dir), "{diagnostics:?}");
        assert_eq!(catalog.listing()[0].name, "guard", "it is called by its folder");
    }
}

#[test]
fn a_change_of_any_file_of_a_trusted_folder_asks_again() {
    let change: [(&str, fn(&std::path::Path)); 6] = [
        ("the script", |dir| fs::write(dir.join(SCRIPT), "#!/bin/sh\nexit 0\n").unwrap()),
        ("the text of the manifest", |dir| {
            let text = fs::read_to_string(dir.join("HOOK.md")).unwrap();
            fs::write(dir.join("HOOK.md"), text + "more\n").unwrap();
        }),
        ("a helper", |dir| fs::write(dir.join("helper.py"), "").unwrap()),
        ("a new script that goes first", |dir| fs::write(dir.join("scripts/run.sh"), "").unwrap()),
        ("the mode", |dir| {
            fs::set_permissions(dir.join("helper.sh"), Permissions::from_mode(0o755)).unwrap();
        }),
        ("a file that is gone", |dir| fs::remove_file(dir.join("helper.sh")).unwrap()),
    ];
    for (what, change) in change {
        let scene = Scene::gated();
        let dir = scene.manifest(PROJECT, "guard", "");
        scene.file(&format!("{PROJECT}/guard/helper.sh"), "", 0o644);
        scene.trust_all();
        assert_eq!(running(&scene.load().0), ["guard"]);
        change(&dir);
        let (catalog, _) = scene.load();
        assert!(catalog.hooks().is_empty(), "{what}");
        assert!(catalog.untrusted()[0].previous.is_some(), "{what}");
        let events = TrustEntry::from(&catalog.untrusted()[0]).events;
        assert_eq!(events, ["before_tool"], "a manifest tells its event before it is trusted");
    }
}

#[test]
fn a_python_hook_leaves_its_folder_as_it_was_trusted() {
    if !has_python() {
        return;
    }
    let scene = Scene::gated();
    scene.bare(PROJECT, "guard", "name: guard\ndescription: d\ntrigger: before_tool");
    scene.file(&format!("{PROJECT}/guard/scripts/helper.py"), "WORD = 'no'\n", 0o644);
    let script = "import sys, helper\nsys.stderr.write(helper.WORD)\nsys.exit(2)\n";
    scene.file(&format!("{PROJECT}/guard/scripts/run.py"), script, 0o644);
    scene.trust_all();
    assert_eq!(reason(&scene.dispatch()), "no");
    assert!(!scene.at(PROJECT).join("guard/scripts/__pycache__").exists());
    assert_eq!(running(&scene.load().0), ["guard"]);
}

#[test]
fn a_folder_that_was_replaced_after_it_was_loaded_does_not_run() {
    let scene = Scene::gated();
    let dir = scene.manifest(PROJECT, "guard", "metadata: {fail: closed}");
    scene.trust_all();
    let engine = scene.engine(scene.load().0);
    fs::rename(&dir, scene.at("elsewhere")).unwrap();
    let other = scene.manifest(PROJECT, "guard", "metadata: {fail: closed}");
    fs::write(other.join(SCRIPT), "#!/bin/sh\ntouch \"$TENTER_PROJECT_DIR/ran\"\n").unwrap();
    let outcome = call(&engine);
    assert!(reason(&outcome).contains("was changed after it was loaded"), "{outcome:?}");
    assert!(outcome.denied_by_failure && !scene.at("project/ran").exists());
    // What is the same again may run.
    fs::remove_dir_all(&other).unwrap();
    fs::rename(scene.at("elsewhere"), &dir).unwrap();
    assert!(reason(&call(&engine)).ends_with("guard says no"));
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

#[test]
fn a_hook_that_names_its_own_folder_starts_there() {
    for (more, expected) in [("", "project"), ("metadata: {workdir: hook}", "home/.kodelet/hooks/guard")] {
        let scene = Scene::new();
        let dir = scene.manifest(USER, "guard", more);
        fs::write(dir.join(SCRIPT), "#!/bin/sh\npwd >&2\nexit 2\n").unwrap();
        assert_eq!(reason(&scene.dispatch()), scene.at(expected).to_str().unwrap());
    }
}
