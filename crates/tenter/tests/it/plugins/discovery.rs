//! Hooks and recipes in four layers: precedence, names, and payloads (R8, R9, R53).

use std::fs;

use serde_json::Value;
use tenter_testkit::Sandbox;

use super::Repository;
use crate::sandbox;

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
        let json = sandbox.run(&["hooks", "show", name, "--json"]).expect_code(0).json();
        let path = json[0]["path"].as_str().unwrap();
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
    let json = sandbox.run(&["hooks", "show", "ada/guards/guard", "--json"]).json();
    assert_eq!(json[0]["status"], "untrusted");
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
