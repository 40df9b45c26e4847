//! Real attacks: by an untrusted project, by output of models and hooks, by other users of the machine.
//! `docs/security.md` promises what is tested here, by the names of these tests.

mod files;
mod input;
mod limits;
mod output;
mod paths;
mod project;
mod protect;
mod secrets;

use tenter_testkit::Sandbox;

/// A model that says something and calls nothing.
const QUIET: &str = "turns: [{text: ok}]";

/// A program that leaves a mark in the home directory, whatever it is started as.
const TRAP: &str = "#!/bin/sh\necho \"$0 $*\" >> \"$HOME/pwned\"\n";

/// Returns the names of the traps that ran in this sandbox.
fn sprung(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.home().join("pwned")).unwrap_or_default()
}

#[test]
fn every_test_named_on_the_page_exists() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let cells = page.lines().filter_map(|line| line.strip_suffix(" |")?.rsplit_once(" | "));
    let names = cells.flat_map(|(_, tests)| tests.split('`').skip(1).step_by(2));
    let names: Vec<&str> = names.filter(|name| !name.contains(['/', '='])).collect();
    assert!(names.len() > 20, "{names:?}");
    let sources = crate::architecture::sources();
    let is_there = |test: &String| sources.iter().any(|(_, text)| text.contains(test));
    for name in names {
        assert!(is_there(&format!("fn {name}(")), "there is no test {name}");
    }
}
