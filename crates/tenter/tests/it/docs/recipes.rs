//! `recipes.md`: what its tables say of the language, of patterns and of limits is tried out.

use std::collections::BTreeSet;

use tenter_agent::recipe::{MAX_DEPTH, MAX_FILE_SIZE, MAX_OUTPUT_BYTES, MAX_RANGE_ITEMS};
use tenter_agent::tools::AllowedCommands;
use tenter_testkit::{Output, Sandbox};

use super::markdown::{Table, page};
use crate::sandbox;

fn tables(first_column: &str) -> Vec<Table> {
    let tables = page("recipes.md").tables.into_iter();
    tables.filter(|table| table.header[0] == first_column).collect()
}

fn show(sandbox: &Sandbox, template: &str) -> Output {
    let recipe = format!("---\narguments: {{optional: {{}}}}\n---\n{template}");
    sandbox.write("../home/.kodelet/recipes/one.md", recipe);
    let args = ["name=Ada", "n=12", "files=a.rs, b.rs", "empty="];
    let args = args.iter().flat_map(|arg| ["--arg", arg]);
    sandbox.run(["recipe", "show", "one"].into_iter().chain(args).collect::<Vec<_>>())
}

#[test]
fn every_template_renders_as_the_table_states() {
    let sandbox = sandbox();
    for row in &tables("Written")[0].rows {
        let output = show(&sandbox, &row[0]).expect_code(0);
        assert_eq!(output.stdout.trim(), row[1], "{}\n{output}", row[0]);
    }
}

/// The functions are those that the renderer names where it does not know one, and their examples are understood.
#[test]
fn every_function_is_listed_and_its_example_renders() {
    let sandbox = sandbox();
    let error = show(&sandbox, "{{quantum}}").expect_code(1).stderr;
    let names = error.split_once("functions are ").unwrap().1.lines().next().unwrap();
    let names: BTreeSet<&str> = names.split('`').skip(1).step_by(2).collect();
    let table = tables("Function").remove(0);
    assert_eq!(table.names().into_iter().collect::<BTreeSet<_>>(), names);
    for row in &table.rows {
        assert!(row[1].contains(&row[0]), "{row:?}");
        let output = show(&sandbox, &row[1]).expect_code(0);
        assert!(!output.stderr.contains("error"), "{output}");
    }
}

#[test]
fn every_key_is_listed() {
    let sandbox = sandbox();
    sandbox.write("recipes/one.md", "---\nquantum: 1\n---\n");
    let warning = sandbox.run("recipe show one").expect_code(0).stderr;
    let names = warning.split_once("keys are ").unwrap().1.lines().next().unwrap();
    let names: BTreeSet<&str> = names.split('`').skip(1).step_by(2).collect();
    assert_eq!(tables("Key")[0].names().into_iter().collect::<BTreeSet<_>>(), names);
}

#[test]
fn the_built_in_recipes_are_listed_with_their_tools() {
    let sandbox = sandbox();
    let list = sandbox.run("recipe list --json").json();
    let names: Vec<&str> =
        list.as_array().unwrap().iter().map(|recipe| recipe["name"].as_str().unwrap()).collect();
    let table = tables("Recipe").remove(0);
    assert_eq!(table.names(), names);
    for row in &table.rows {
        let recipe = sandbox.run(["recipe", "show", &row[0], "--raw", "--json"]).json();
        let tools: Vec<String> = recipe["allowed_tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| format!("`{}`", tool.as_str().unwrap()))
            .collect();
        let documented = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
        assert_eq!(row[2], documented, "{}", row[0]);
    }
}

#[test]
fn every_pattern_allows_what_the_table_states() {
    for row in tables("Pattern").iter().flat_map(|table| &table.rows) {
        let patterns = AllowedCommands::new(&[row[0].clone()]).unwrap();
        let is_allowed = patterns.check(&row[1]).is_ok();
        assert_eq!(is_allowed, row[2] == "yes", "{} {}", row[0], row[1]);
    }
}

#[test]
fn the_limits_are_the_codes() {
    let limits = [MAX_FILE_SIZE, MAX_DEPTH, MAX_RANGE_ITEMS, MAX_OUTPUT_BYTES];
    let documented: Vec<String> =
        tables("Limit")[0].rows.iter().map(|row| row[1].clone()).collect();
    assert_eq!(documented, limits.map(|limit| limit.to_string()));
}
