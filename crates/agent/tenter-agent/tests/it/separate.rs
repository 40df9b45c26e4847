//! Agents, their subagents and side recipes each have their own files read and to-do list.

use tenter_agent::session::Status;

use crate::session_stage::{QUICK, Stage};

const READ: &str = "{name: file_read, input: {file_path: plan}}";
const EDIT: &str = "{name: file_edit, input: {file_path: plan, old_text: two, new_text: three}}";
const CHANGE: &str = "{name: bash, input: {command: echo two and more > plan}}";
const DELEGATE: &str = "{name: subagent, input: {question: work}}";

/// Returns the results of a session in which each of these turns makes a call; one without a call ends an agent's work.
fn results(turns: &[&str]) -> (Stage, Vec<String>) {
    let turns = turns.iter().map(|call| match *call {
        "" => "{text: Done.}".to_owned(),
        call => format!("{{tool_calls: [{call}]}}"),
    });
    let script = format!("turns: [{}]", turns.collect::<Vec<_>>().join(", "));
    let stage = Stage::new(&script, QUICK);
    stage.write("project/plan", "one two");
    assert_eq!(stage.send(&"hi".into()).0.status, Status::Done);
    let results = stage.reports_of("result");
    (stage, results)
}

#[test]
fn a_parent_cannot_edit_what_only_its_subagent_read() {
    let (stage, results) = results(&[READ, DELEGATE, CHANGE, READ, "", EDIT, READ, EDIT, ""]);
    let result = &results[results.len() - 3];
    assert!(result.contains("plan has changed since it was last read"), "{results:?}");
    assert_eq!(stage.read("plan"), "three and more\n");
}

#[test]
fn a_parent_must_read_what_its_subagent_wrote_before_it_edits() {
    let edit = "{name: file_edit, input: {file_path: plan, old_text: one, new_text: four}}";
    let (stage, results) = results(&[READ, DELEGATE, READ, EDIT, "", edit, ""]);
    let result = &results[results.len() - 1];
    assert!(result.contains("plan has changed since it was last read"), "{results:?}");
    assert_eq!(stage.read("plan"), "one three");
}

#[test]
fn a_subagent_cannot_edit_what_only_its_parent_read() {
    let (stage, _) = results(&[READ, CHANGE, DELEGATE, EDIT, "", ""]);
    assert_eq!(stage.read("plan"), "three and more\n", "the subagent never saw another");
}

#[test]
fn a_subagent_has_its_own_todo_list() {
    let write = |what: &str| {
        format!("{{name: todo, input: {{todos: [{{content: {what}, status: pending}}]}}}}")
    };
    let look = "{name: todo, input: {}}";
    let (parents, childs) = (write("of the parent"), write("of the subagent"));
    let (_, results) = results(&[&parents, DELEGATE, look, &childs, "", look, ""]);
    assert!(results[1].contains("The to-do list is empty."), "{results:?}");
    assert!(results[4].contains("1. [pending] of the parent"), "{results:?}");
}

#[test]
fn the_agent_cannot_edit_what_only_a_side_recipe_read() {
    let script = format!(
        "turns: [{{tool_calls: [{{name: todo}}]}}, {{tool_calls: [{EDIT}]}}, {{text: Done.}}]\nrecipes: {{look: [{{tool_calls: [{READ}]}}, Seen.]}}"
    );
    let mut stage = Stage::new(&script, QUICK);
    stage.write("project/plan", "one two");
    stage.write("home/.kodelet/recipes/look.md", "---\nname: look\n---\nLook.\n");
    let callback =
        r#"[ -e called ] || { touch called; echo '{"result": "callback", "callback": "look"}'; }"#;
    stage.hook("caller", "after_turn", "", callback);
    assert_eq!(stage.send(&"hi".into()).0.status, Status::Done);
    assert_eq!(stage.reports_of("history").len(), 1, "{:?}", stage.reports());
    assert_eq!(stage.read("plan"), "one three", "{:?}", stage.reports());
}
