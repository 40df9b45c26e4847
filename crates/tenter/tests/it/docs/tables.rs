//! The tables of `executable-hooks.md`, `tools.md` and `chat.md` that describe the code are compared with the code.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tenter_protocol::lifecycle;
use tenter_protocol::tool_metadata::{
    Bash, BashBackground, Blocked, FileEdit, FileRead, FileWrite, Glob, Grep, Mcp, McpImage,
    Metadata, Skill, Subagent, TYPES, Todo,
};

use super::every_tool;
use super::markdown::{page, table, text_of};
use crate::chat::{chat, say};
use crate::{headless, sandbox};

fn set<'t>(names: impl IntoIterator<Item = &'t str>) -> BTreeSet<&'t str> {
    names.into_iter().collect()
}

/// Returns the words of a cell that are marked as code; the marks of a cell that is code as a whole are already removed.
fn words_in_code(cell: &str) -> BTreeSet<&str> {
    if cell.contains('`') { set(cell.split('`').skip(1).step_by(2)) } else { set([cell]) }
}

#[test]
fn the_table_of_events_is_the_codes() {
    let documented: Vec<Vec<String>> = table("executable-hooks.md", "A hook prints").rows;
    let code = lifecycle::TABLE.iter().filter(|row| !row.executable.is_empty());
    let code: Vec<Vec<String>> = code
        .map(|row| {
            let spellings: Vec<String> =
                row.executable.iter().map(|name| format!("`{name}`")).collect();
            let powers: Vec<&str> = row.may.iter().map(|(power, _)| power.as_str()).collect();
            let spelling =
                if let [only] = row.executable { (*only).to_owned() } else { spellings.join(", ") };
            vec![spelling, row.name.to_owned(), row.fires.to_owned(), powers.join(", ")]
        })
        .collect();
    assert_eq!(documented, code);
}

/// Events that executables do not have are listed.
#[test]
fn events_without_an_executable_name_are_listed() {
    let text = text_of("executable-hooks.md");
    for row in lifecycle::TABLE.iter().filter(|row| row.executable.is_empty()) {
        assert!(text.contains(&format!("`{}`", row.name)), "{} is not listed", row.name);
    }
}

#[test]
fn the_table_of_tools_is_the_codes() {
    let tables = page("tools.md").tables;
    let documented = tables.iter().find(|table| table.heading == "Inputs").unwrap();
    let registry = every_tool();
    let names: Vec<&str> = registry.iter().map(tenter_agent::tools::Tool::name).collect();
    assert_eq!(documented.names(), names);
    for row in &documented.rows {
        let schema = registry.get(&row[0]).unwrap().input_schema();
        let fields = schema["properties"].as_object().unwrap().keys().map(String::as_str);
        assert_eq!(words_in_code(&row[1]), fields.collect(), "the input of {}", row[0]);
    }
}

#[test]
fn the_table_of_metadata_is_the_codes() {
    let documented = table("tools.md", "metadataType");
    assert_eq!(set(documented.names()), set(TYPES.iter().copied()));
    for row in &documented.rows {
        let fields = full_metadata(&row[0]);
        let fields = fields.as_object().unwrap().keys().map(String::as_str);
        assert_eq!(words_in_code(&row[1]), fields.collect(), "the metadata of {}", row[0]);
    }
}

/// Returns metadata with every optional field.
fn full_metadata(kind: &str) -> Value {
    match kind {
        Bash::TYPE => json!(Bash {
            exit_code: Some(0),
            execution_time: Some(0),
            working_dir: "/".into(),
            dropped_bytes: 1,
            confined: Some(tenter_protocol::confinement::ConfinedFact::default()),
            changed: Some(tenter_protocol::tool_metadata::ChangedFiles::default()),
            ..Bash::default()
        }),
        BashBackground::TYPE => json!(BashBackground::default()),
        FileRead::TYPE => json!(FileRead { remaining_lines: 1, ..FileRead::default() }),
        FileWrite::TYPE => json!(FileWrite::default()),
        FileEdit::TYPE => json!(FileEdit { replace_all: true, ..FileEdit::default() }),
        Grep::TYPE => json!(Grep { include: "*".into(), ..Grep::default() }),
        Glob::TYPE => json!(Glob::default()),
        Todo::TYPE => json!(Todo::default()),
        Subagent::TYPE => json!(Subagent { conversation_id: "c".into(), ..Subagent::default() }),
        Skill::TYPE => json!(Skill { truncated: true, ..Skill::default() }),
        Mcp::TYPE => {
            json!(Mcp { images: vec![McpImage::default()], dropped_bytes: 1, ..Mcp::default() })
        }
        Blocked::TYPE => json!(Blocked::default()),
        other => panic!("no such metadata: {other}"),
    }
}

#[test]
fn the_table_of_variables_is_what_a_hook_finds() {
    let sandbox = sandbox();
    let directory = "../home/.config/agents/hooks/variables";
    sandbox.write(
        &format!("{directory}/HOOK.md"),
        "---\nname: variables\ndescription: x\ntrigger: before_agent\nmetadata:\n  settings:\n    name: {type: text, default: Ada, description: x}\n---\n",
    );
    let script = format!("{directory}/scripts/run.sh");
    sandbox.write(&script, "#!/bin/sh\nenv > env.txt\n");
    let _ = sandbox.shell(&format!("chmod +x {script}")).expect_code(0);
    headless(&sandbox, "turns: [{text: ok}]");
    let env = sandbox.read("env.txt");
    let names = env.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    assert_eq!(
        set(table("concepts.md", "Variable").names()),
        names.filter(|name| name.starts_with("TENTER_")).collect()
    );
}

#[test]
fn every_decision_is_explained() {
    let all = tenter_engine::DecisionKind::ALL;
    assert_eq!(
        set(table("journal.md", "Decision").names()),
        all.iter().map(|kind| kind.as_str()).collect()
    );
}

#[test]
fn the_table_of_chat_commands_is_what_help_lists() {
    let table = table("chat.md", "Command");
    let documented = table.rows.iter().map(|row| format!("{} {}", row[0], row[1]));
    let help = say(&mut chat(&sandbox(), "turns: []"), "/help");
    let lines = help.lines().filter(|line| line.starts_with("  /"));
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    assert_eq!(documented.collect::<Vec<_>>(), words.collect::<Vec<_>>());
}
