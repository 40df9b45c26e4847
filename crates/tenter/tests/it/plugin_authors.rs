//! Writing a plugin: what `plugin new` makes passes its own tests and `plugin check`, and every flaw is found.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;
use tenter_testkit::Sandbox;

use crate::sandbox;

/// Returns a sandbox with the new plugin `review` in its project.
fn with_plugin() -> Sandbox {
    let sandbox = sandbox();
    let _ = sandbox.run("plugin new review --author Ada").expect_code(0);
    sandbox
}

/// Checks the plugin. Returns the ids of the diagnostics, with their files and lines.
fn found(sandbox: &Sandbox) -> Vec<String> {
    let output = sandbox.run("plugin check review --json");
    let findings = output.json();
    let findings = findings.as_array().unwrap();
    let shows = findings.iter().any(|finding| finding["severity"] != "info");
    assert_eq!(output.code, Some(i32::from(shows)), "{output}");
    let plugin = sandbox.project().join("review").display().to_string();
    let about = |finding: &Value| {
        let path = finding["path"].as_str().unwrap_or_default().replacen(&plugin, "", 1);
        let line = finding["place"]["line"].as_u64().map(|line| format!(":{line}"));
        let id = finding["id"].as_str().unwrap();
        let about = format!("{id} {}{}", path.trim_start_matches('/'), line.unwrap_or_default());
        about.trim_end().to_owned()
    };
    findings.iter().map(about).collect()
}

#[test]
fn a_new_plugin_passes_its_tests_and_checks() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("plugin new review --author Ada"), @"
    exit: 0
    --- stdout
    [ROOT]/project/review
    --- stderr
    Try its tests:       sh [ROOT]/project/review/tests/run.sh
    Before you publish:  tenter plugin check [ROOT]/project/review
    ");
    assert_snapshot!(sandbox.run("plugin check review"), @"
    exit: 0
    --- stdout
    No problems found: [ROOT]/project/review
    ");
    assert_eq!(found(&sandbox), [] as [&str; 0]);
    let output = sandbox.shell("sh review/tests/run.sh");
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stdout.matches("ok: ").count(), 5, "{output}");
    assert!(sandbox.read("review/LICENSE").contains(" Ada\n"));
    let mut files: Vec<String> = Vec::new();
    let mut open = vec![sandbox.project().join("review")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                assert!(
                    !text.contains("NAME/") && !text.contains("<AUTHOR>"),
                    "{}",
                    path.display()
                );
                let name = path.strip_prefix(sandbox.project()).unwrap();
                files.push(name.display().to_string());
            }
        }
    }
    files.sort();
    assert_snapshot!(files.join("\n"), @"
    review/.gitignore
    review/LICENSE
    review/README.md
    review/hooks/context-at-start/HOOK.md
    review/hooks/context-at-start/scripts/run.sh
    review/hooks/context-at-start/tests/starts.json
    review/hooks/no-force-push/HOOK.md
    review/hooks/no-force-push/tests/blocks.json
    review/hooks/no-force-push/tests/passes.json
    review/hooks/reminder
    review/recipes/review.md
    review/skills/review/SKILL.md
    review/skills/review/checklist.md
    review/tests/run.sh
    ");
}

#[test]
fn the_tests_of_a_new_plugin_can_fail() {
    let sandbox = with_plugin();
    let reminder = sandbox.read("review/hooks/reminder").replace("Say what", "Tell what");
    sandbox.write("review/hooks/reminder", reminder);
    let output = sandbox.shell("sh review/tests/run.sh");
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("failed: reminder makes the agent continue"), "{output}");
}

#[test]
fn a_plugin_can_be_created_elsewhere_but_not_over_another() {
    let sandbox = sandbox();
    let _ = sandbox.run("plugin new review --dir a/b").expect_code(0);
    assert!(sandbox.read("a/b/review/LICENSE").contains("the authors of review"));
    assert_snapshot!(sandbox.run("plugin new review --dir a/b"), @"
    exit: 1
    --- stderr
    error: [ROOT]/project/a/b/review already exists
      help: choose another name, or another directory with --dir
    ");
    assert_snapshot!(sandbox.run("plugin new ../review"), @r#"
    exit: 2
    --- stderr
    error: a plugin cannot have the name "../review": it contains `.`
      help: use lower-case letters, digits and single hyphens
    "#);
    for name in ["Review", "a/b", ".hidden", "two words", "größe", ""] {
        let output = sandbox.run(["plugin", "new", name]);
        assert_eq!(output.code, Some(2), "{name}: {output}");
    }
    assert_eq!(fs::read_dir(sandbox.project()).unwrap().count(), 2, "a and .git");
}

#[test]
fn a_new_plugin_can_be_installed() {
    let sandbox = with_plugin();
    let output = sandbox.shell("tenter plugin add ./review -g && tenter plugin list --json");
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(sandbox.run("skill list --json").json()[0]["layer"], "user-plugin");
    let hooks = sandbox.run("hooks list --json").expect_code(0).json();
    let names: Vec<&str> =
        hooks.as_array().unwrap().iter().filter_map(|hook| hook["name"].as_str()).collect();
    for name in ["context-at-start", "no-force-push", "reminder"] {
        assert!(names.contains(&format!("project/review/{name}").as_str()), "{names:?}");
    }
}

#[test]
fn every_problem_is_reported_with_file_and_line() {
    let flaws: [(&str, &str, &str); 11] = [
        (
            "hooks/context-at-start/HOOK.md",
            "---\nname: context-at-start\ndescription: d\ntrigger: before_stopp\n---\n",
            "manifest-trigger hooks/context-at-start/HOOK.md:4",
        ),
        (
            "recipes/bad.md",
            "---\ndescription: d\n---\n{{if .x}}\n",
            "template-syntax recipes/bad.md:4",
        ),
        (
            "skills/bad/SKILL.md",
            "---\nname: other\ndescription: d\n---\nx\n",
            "skill-name skills/bad/SKILL.md:2",
        ),
        (
            "skills/none/SKILL.md",
            "---\nname: none\n---\nx\n",
            "skill-description skills/none/SKILL.md",
        ),
        (
            "src/key.txt",
            "one\nghp_0123456789abcdefghij0123456789abcdef\n",
            "plugin-secret src/key.txt:2",
        ),
        (
            "skills/review/id",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n",
            "plugin-secret skills/review/id:1",
        ),
        ("deploy/id_ed25519", "nothing", "plugin-secret-file deploy/id_ed25519"),
        ("hooks/forgotten", "#!/bin/sh\n", "hook-not-executable hooks/forgotten"),
        (".gitmodules", "", "plugin-submodule .gitmodules"),
        ("recipes/Review.md", "x", "plugin-name-clash recipes/review.md"),
        ("skills/a\nb.md", "x", "plugin-name-control skills/a\\nb.md"),
    ];
    for (file, text, expected) in flaws {
        let sandbox = with_plugin();
        sandbox.write(&format!("review/{file}"), text);
        assert_eq!(found(&sandbox), [expected], "{file}");
    }
}

#[test]
fn something_that_is_not_a_plugin_is_reported() {
    let sandbox = sandbox();
    sandbox.write("src/main.rs", "");
    assert_snapshot!(sandbox.run("plugin check"), @"
    exit: 1
    --- stderr
    error: [ROOT]/project: there is nothing to install: no hooks, skills or recipes
      help: put them into the directories hooks, skills and recipes; `tenter plugin new` creates them
    error: [ROOT]/project: there is no license, so others are not allowed to use the plugin
      help: add a file LICENSE
    ");
    assert_snapshot!(sandbox.run("plugin check gone"), @"
    exit: 2
    --- stderr
    error: [ROOT]/project/gone: No such file or directory (os error 2)
    ");
    assert_snapshot!(sandbox.run("plugin check src/main.rs"), @"
    exit: 2
    --- stderr
    error: [ROOT]/project/src/main.rs: it is not a directory
    ");
}
