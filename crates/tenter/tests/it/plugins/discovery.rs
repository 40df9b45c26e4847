//! Hooks and recipes in four layers: precedence, names, and payloads (R8, R9, R53).

use std::fs;

use serde_json::Value;
use tenter_testkit::Sandbox;

use super::Repository;
use crate::{of_kind, sandbox};

/// The directories of hooks and of recipes, highest level first, and what stands before their names.
const LEVELS: [(&str, &str); 4] = [
    (".kodelet", ""),
    (".kodelet/plugins/ada@guards", "ada/guards/"),
    ("../home/.kodelet", ""),
    ("../home/.kodelet/plugins/ada@guards", "ada/guards/"),
];

/// A hook that writes its payload into a file named after `mark`.
fn telling(mark: &str) -> String {
    format!(
        "#!/bin/sh\n[ \"$1\" = hook ] && {{ echo user_message_send; exit; }}\ncat > \"$HOME/told-{mark}\"\n"
    )
}

fn executable(sandbox: &Sandbox, path: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = sandbox.write(path, script);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn listed(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.run(&["hooks", "list", "--json"]).json().as_array().unwrap().clone()
}

/// Runs once and returns what the hook with this mark was told.
fn told(sandbox: &Sandbox, args: &[&str], mark: &str) -> Option<Value> {
    assert_eq!(sandbox.shell("rm -f ~/told-*").code, Some(0));
    let model = sandbox.script("turns: [{text: Hello.}]");
    let all = [&["run", "--model", &model], args].concat();
    let _ = sandbox.run(&all).expect_code(0);
    let text = fs::read_to_string(sandbox.home().join(format!("told-{mark}"))).ok()?;
    serde_json::from_str(&text).ok()
}

#[test]
fn a_hook_of_each_layer_runs_unless_it_is_shadowed() {
    let sandbox = sandbox();
    for (number, (directory, prefix)) in LEVELS.iter().enumerate().rev() {
        executable(&sandbox, &format!("{directory}/hooks/guard"), &telling(&number.to_string()));
        let _ = sandbox.run(&["trust", "--yes"]).expect_code(0);
        let name = format!("{prefix}guard");
        let active: Vec<Value> = listed(&sandbox)
            .into_iter()
            .filter(|hook| hook["name"] == name && hook["status"] == "active")
            .collect();
        assert_eq!(active.len(), 1, "{name}");
        let path = sandbox.project().join(directory).canonicalize().unwrap().join("hooks/guard");
        assert_eq!(fs::canonicalize(active[0]["path"].as_str().unwrap()).unwrap(), path);
        assert!(told(&sandbox, &["Hello?"], &number.to_string()).is_some(), "layer {number} runs");
    }
    // The two upper ones shadow the two lower ones, each its own name.
    for number in ["0", "1"] {
        assert!(told(&sandbox, &["Hello?"], number).is_some(), "{number}");
    }
    for number in ["2", "3"] {
        assert!(told(&sandbox, &["Hello?"], number).is_none(), "{number}");
    }
}

#[test]
fn a_hook_is_looked_up_by_its_full_name() {
    let sandbox = sandbox();
    for (directory, _) in LEVELS {
        executable(&sandbox, &format!("{directory}/hooks/guard"), &telling("x"));
    }
    let _ = sandbox.run(&["trust", "--yes"]).expect_code(0);
    for (name, place) in [
        ("guard", "project/.kodelet/hooks/guard"),
        ("ada/guards/guard", "plugins/ada@guards/hooks/guard"),
    ] {
        let shown = sandbox.run(&["hooks", "show", name, "--json"]).expect_code(0).json();
        let path = shown[0]["path"].as_str().unwrap();
        assert!(
            path.ends_with(place) && path.starts_with(sandbox.project().to_str().unwrap()),
            "{path}"
        );
    }
}

#[test]
fn a_plugins_hook_is_found_by_both_forms_of_its_plugins_name() {
    let sandbox = sandbox();
    executable(&sandbox, ".kodelet/plugins/ada@guards/hooks/guard", &telling("x"));
    let _ = sandbox.run(&["trust", "--yes"]).expect_code(0);
    for line in ["hooks show", "hooks disable", "hooks enable", "trust --revoke"] {
        let name = "ada@guards/guard";
        let words: Vec<&str> = line.split(' ').chain([name]).collect();
        let _ = sandbox.run(&words).expect_code(0);
    }
    let shown = sandbox.run(&["hooks", "show", "ada/guards/guard", "--json"]).json();
    assert_eq!(shown[0]["status"], "untrusted");
}

#[test]
fn a_recipe_of_each_layer_is_found_unless_it_is_shadowed() {
    let sandbox = sandbox();
    for (number, (directory, prefix)) in LEVELS.iter().enumerate().rev() {
        sandbox.write(&format!("{directory}/recipes/review.md"), format!("Level {number}.\n"));
        let shown = sandbox.run(&["recipe", "show", &format!("{prefix}review")]).expect_code(0);
        assert_eq!(shown.stdout.trim(), format!("Level {number}."));
    }
    for name in ["ada/guards/review", "ada@guards/review"] {
        assert_eq!(sandbox.run(&["recipe", "show", name]).stdout.trim(), "Level 1.");
    }
}

#[test]
fn thirty_plugins_with_twenty_hooks_each_are_found_in_order() {
    let sandbox = sandbox();
    let mut expected = Vec::new();
    for plugin in 0..30 {
        for hook in 0..20 {
            let directory = format!("../home/.kodelet/plugins/ada@p{plugin:02}/hooks");
            executable(
                &sandbox,
                &format!("{directory}/h{hook:02}"),
                "#!/bin/sh\n[ \"$1\" = run ] || echo before_tool_call\n",
            );
            expected.push(format!("ada/p{plugin:02}/h{hook:02}"));
        }
    }
    let plugins = sandbox.run(&["plugin", "list", "--json"]).json();
    let plugins = plugins.as_array().unwrap();
    assert_eq!(plugins.len(), 30);
    for (number, plugin) in plugins.iter().enumerate() {
        assert_eq!(plugin["name"], format!("ada/p{number:02}"));
        assert_eq!(plugin["hooks"].as_array().unwrap().len(), 20);
    }
    let hooks: Vec<String> = listed(&sandbox)
        .iter()
        .filter(|hook| hook["layer"] == "user-plugin" && hook["status"] == "active")
        .map(|hook| hook["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(hooks, expected);
    // They run in that order too: all have one priority.
    let model = sandbox.script("turns: [{tool_calls: [{name: todo}]}, {text: Done.}]");
    let lines =
        sandbox.run(&["run", "--headless", "--model", &model, "x"]).expect_code(0).json_lines();
    let ran: Vec<&str> =
        of_kind(&lines, "hook").iter().filter_map(|line| line["hook"].as_str()).collect();
    let ran: Vec<&str> = ran.into_iter().filter(|name| name.starts_with("ada/")).collect();
    assert_eq!(ran, expected);
}

#[test]
fn an_installed_plugin_is_found_by_hooks_and_recipes_alike() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(&["plugin", "add", "--trust", &repository.url()]).expect_code(0);
    assert!(
        listed(&sandbox)
            .iter()
            .any(|hook| hook["name"] == "ada/guards/guard" && hook["status"] == "active")
    );
    assert_eq!(sandbox.run(&["recipe", "show", "ada@guards/review"]).stdout.trim(), "Review it.");
}
