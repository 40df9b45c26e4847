//! Tests of the choice of a script and of its environment, and that the trusted script runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tenter_engine::inspect::Status;
use tenter_engine::trust::TrustEntry;
use tenter_protocol::EventName;
use tenter_testkit::needs;

use super::{SCRIPT, call, reason};
use crate::scene::{PROJECT, Scene, USER, ids, running};

#[test]
fn a_hook_without_a_script_is_listed_with_the_reason() {
    let scene = Scene::new();
    scene.bare(USER, "notify-slack", "name: notify-slack\ndescription: d\ntrigger: session_end");
    let (catalog, diagnostics) = scene.load();
    assert_eq!(catalog.listing()[0].status, Status::NoScript);
    assert_eq!(catalog.listing()[0].subscriptions[0].event, EventName::SessionEnd);
    assert_eq!(ids(&diagnostics), ["hook-without-script"]);
    assert!(diagnostics[0].message.contains("scripts/run.sh"), "{}", diagnostics[0].message);
}

#[test]
fn non_executable_scripts_run_with_their_interpreter() {
    let mut cases = vec![("run.sh", "[[ $BASH_VERSION ]] && echo bash >&2\nexit 2\n", "bash")];
    if needs::has("python3") {
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

#[test]
fn the_first_script_runs_and_helpers_are_ignored() {
    let scene = Scene::new();
    scene.bare(USER, "guard", "name: guard\ndescription: d\ntrigger: before_tool");
    for (file, mode) in [("run.py", 0o755), ("run.sh", 0o755), ("check.sh", 0o755)] {
        let script = format!("#!/bin/sh\necho {file} >&2\nexit 2\n");
        scene.file(&format!("{USER}/guard/scripts/{file}"), &script, mode);
    }
    assert_eq!(reason(&scene.dispatch()), "run.sh");
}

/// Something done to a directory, and what that is.
type DirectoryChange = (&'static str, fn(&Path));

#[test]
fn a_change_of_any_file_of_a_trusted_directory_asks_again() {
    let changes: [DirectoryChange; 6] = [
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
    for (what, change) in changes {
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
fn a_python_hook_leaves_its_directory_as_it_was_trusted() {
    tenter_testkit::skip_unless!(needs::has("python3"));
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
fn a_directory_that_was_replaced_after_it_was_loaded_does_not_run() {
    let scene = Scene::gated();
    let dir = scene.manifest(PROJECT, "guard", "metadata: {fail: closed}");
    scene.trust_all();
    let (engine, _) = scene.engine(scene.load().0);
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
fn a_hook_that_names_its_own_directory_starts_there() {
    for (more, expected) in
        [("", "project"), ("metadata: {workdir: hook}", "home/.kodelet/hooks/guard")]
    {
        let scene = Scene::new();
        let dir = scene.manifest(USER, "guard", more);
        fs::write(dir.join(SCRIPT), "#!/bin/sh\npwd >&2\nexit 2\n").unwrap();
        assert_eq!(reason(&scene.dispatch()), scene.at(expected).to_str().unwrap());
    }
}
