//! Projects within projects (R89): a directory that is created below a project removes none of its guards.

use std::fs;

use tenter_engine::inspect::{Catalog, OuterProjects};
use tenter_proc::Cancel;
use tenter_protocol::{Body, Event, ToolCall};

use crate::scene::{GUARD, Scene, ids, running, scope};

const OUTER: &str = "project/.agents/hooks";
const INNER: &str = "project/sub/.agents/hooks";

/// Returns the scene, seen from the directory `sub` of its project.
fn in_sub(mut scene: Scene) -> Scene {
    scene.layout.project = scene.directory("project/sub");
    scene
}

/// Returns a project with the trusted hook `guard` and a directory `sub`, in which `names` exists.
fn guarded(names: &[&str]) -> Scene {
    let scene = Scene::gated();
    scene.hook(OUTER, "guard", GUARD);
    scene.trust_and_accept();
    for path in names {
        scene.directory(&format!("project/sub/{path}"));
    }
    in_sub(scene)
}

fn trust_root(scene: &Scene) {
    let project = &scene.layout.project;
    let entries = [OuterProjects::trust_entry(project)];
    scene.store().trust(project, &entries, "2024-01-15T10:30:00Z").unwrap();
}

fn denied_by(scene: &Scene, catalog: Catalog, input: &serde_json::Value) -> Option<String> {
    let (engine, _) = scene.engine(catalog);
    let input = input.as_object().unwrap().clone();
    let call = ToolCall { id: "1".into(), name: "file_write".into(), input };
    let mut scope = scope("c");
    scope.cwd.clone_from(&scene.layout.project);
    let event = Event { scope, body: Body::BeforeTool(call) };
    engine.dispatch(event, &Cancel::new()).denied().map(|(hook, _)| hook.to_owned())
}

#[test]
fn what_a_command_creates_below_a_project_removes_no_guard() {
    for names in [&[".agents"][..], &[".kodelet"], &[".agents", ".git"], &[".git"], &[]] {
        let scene = guarded(names);
        assert_eq!(running(&scene.load().0), ["guard"], "{names:?}");
    }
    let scene = guarded(&[".agents"]);
    scene.file("project/sub/tenter.toml", "root = true\n", 0o644);
    scene.file("project/sub/.agents/hooks/hooks.toml", "[hooks]\nenabled = false\n", 0o644);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["guard"]);
    assert_eq!(ids(&diagnostics), ["project-root-untrusted"]);
    assert!(catalog.lost().is_empty());
}

#[test]
fn the_hooks_of_all_projects_run_the_outermost_first() {
    let scene = Scene::gated();
    scene.hook("project/.agents/hooks", "z-outer", GUARD);
    scene.hook("project/.kodelet/plugins/acme@tools/hooks", "plugin", GUARD);
    scene.hook("project/a/.agents/hooks", "m-middle", GUARD);
    scene.hook("project/a/b/.agents/hooks", "a-inner", GUARD);
    scene.hook("home/.kodelet/hooks", "mine", GUARD);
    let mut scene = scene;
    scene.layout.project = scene.directory("project/a/b");
    assert_eq!(running(&scene.load().0), ["mine"], "nothing is trusted yet");
    assert_eq!(scene.load().0.untrusted().len(), 4);
    scene.trust_and_accept();
    let expected = ["z-outer", "acme/tools/plugin", "m-middle", "a-inner", "mine"];
    assert_eq!(running(&scene.load().0), expected);
}

#[test]
fn trust_belongs_to_the_project_of_the_hook() {
    let scene = guarded(&[]);
    scene.hook(INNER, "own", GUARD);
    scene.trust_and_accept();
    assert_eq!(running(&scene.load().0), ["guard", "own"]);
    let projects: Vec<String> = scene
        .store()
        .list()
        .map(|(project, name, _)| format!("{} {name}", project.file_name().unwrap().display()))
        .collect();
    assert_eq!(projects, ["project guard", "sub own"]);
    // A guard of the outer project that is removed is missed in the inner one, too.
    fs::remove_file(scene.at(OUTER).join("guard")).unwrap();
    let hooks: Vec<String> = scene.load().0.lost().iter().map(|hook| hook.name.clone()).collect();
    assert_eq!(hooks, ["guard"]);
}

#[test]
fn an_inner_hook_shadows_no_running_hook_of_an_outer_project() {
    let scene = guarded(&[]);
    scene.hook(INNER, "guard", &format!("{GUARD}# other\n"));
    scene.trust_and_accept();
    let (catalog, diagnostics) = scene.load();
    let paths: Vec<_> = catalog.hooks().iter().filter_map(|hook| hook.path()).collect();
    assert_eq!(paths, [scene.at(OUTER).join("guard")]);
    assert_eq!(ids(&diagnostics), ["hook-of-outer-project"]);
}

#[test]
fn a_trusted_root_setting_starts_a_project_of_its_own() {
    let scene = guarded(&[".agents"]);
    scene.file("project/sub/tenter.toml", "root = true\n", 0o644);
    trust_root(&scene);
    assert!(running(&scene.load().0).is_empty());
    assert!(scene.load().1.is_empty());
    fs::remove_file(scene.at("project/sub/tenter.toml")).unwrap();
    assert_eq!(running(&scene.load().0), ["guard"]);
}

#[test]
fn beyond_the_repository_only_trusted_projects_count() {
    let scene = Scene::gated();
    scene.hook(OUTER, "guard", GUARD);
    scene.directory("project/sub/.git");
    let scene = in_sub(scene);
    let (catalog, _) = scene.load();
    assert!(running(&catalog).is_empty() && catalog.untrusted().is_empty());
}

#[test]
fn outer_hooks_see_the_paths_and_the_directory_of_their_own_project() {
    let scene = Scene::gated();
    let manifest = |name: &str, rules: &str| {
        format!(
            "---\nname: {name}\ndescription: D.\ntrigger: before_tool\nmetadata:\n  match:\n{rules}---\n"
        )
    };
    let rules =
        "    - {path: {op: write, glob: [\"migrations/**\"]}, decision: deny, reason: Reviewed.}\n";
    scene.file("project/.agents/hooks/migrations/HOOK.md", &manifest("migrations", rules), 0o644);
    scene.hook(
        OUTER,
        "where",
        "#!/bin/sh\n[ \"$1\" = hook ] && { echo before_tool_call; exit; }\npwd > \"$TENTER_PROJECT_DIR/where\"\n",
    );
    let scene = in_sub(scene);
    scene.directory("project/sub/.agents");
    scene.trust_and_accept();
    let deny = |path: &str| {
        let input = serde_json::json!({"file_path": scene.at(path), "text": "x"});
        denied_by(&scene, scene.load().0, &input)
    };
    assert_eq!(deny("project/migrations/1.sql").as_deref(), Some("migrations"));
    assert_eq!(deny("project/sub/migrations/1.sql"), None);
    let expected = format!("{}\n", scene.at("project").display());
    assert_eq!(fs::read_to_string(scene.at("project/where")).unwrap(), expected);
}

#[test]
fn a_worktree_inside_its_repository_is_not_within_the_project() {
    let scene = Scene::gated();
    scene.hook(OUTER, "guard", GUARD);
    scene.trust_and_accept();
    let entry = "project/.git/worktrees/linked";
    scene.file(&format!("{entry}/commondir"), "../..\n", 0o644);
    let back = format!("{}\n", scene.at("project/sub/.git").display());
    scene.file(&format!("{entry}/gitdir"), &back, 0o644);
    scene.file("project/sub/.git", &format!("gitdir: {}\n", scene.at(entry).display()), 0o644);
    let scene = in_sub(scene);
    let (catalog, _) = scene.load();
    // Trust is the repository's, so a guard that is not checked out is missed.
    let hooks: Vec<&str> = catalog.lost().iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!((running(&catalog), hooks), (vec![], vec!["guard"]));
    scene.hook(INNER, "guard", GUARD);
    let (catalog, _) = scene.load();
    let paths: Vec<_> = catalog.hooks().iter().filter_map(|hook| hook.path()).collect();
    assert_eq!(paths, [scene.at(INNER).join("guard")]);
}
