//! `tenter conversation export`, `list --search`, and what `show` says of costs.

use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_fields};

use crate::conversation::busy_conversation;
use crate::sandbox;

fn play(sandbox: &Sandbox, turns: &Value, query: &str) {
    let _ = sandbox.play(&json!({ "turns": turns }).to_string(), &[query]).expect_code(0);
}

fn export(sandbox: &Sandbox, args: &[&str]) -> String {
    sandbox.run([&["conversation", "export", "last"], args].concat()).expect_code(0).stdout
}

#[test]
fn a_conversation_is_exported_as_readable_markdown() {
    let sandbox = sandbox();
    play(
        &sandbox,
        &json!([
            {"reasoning": "A file.\nOr two.", "text": "I look:", "tool_calls": [{"name": "bash", "input": {"command": "echo '```'; exit 3"}}],
             "usage": {"input_tokens": 100, "output_tokens": 20}, "cost_usd": 0.5},
            {"text": "# Found\n\nIt is `a.rs`.", "usage": {"input_tokens": 150, "output_tokens": 10}, "cost_usd": 0.25},
        ]),
        "What is *here*?",
    );
    let output = sandbox.run("conversation export last");
    assert_snapshot!(output, @r#"
    exit: 0
    --- stdout
    # What is \*here\*?

    - conversation: `[ID]`
    - project: `[ROOT]/project`
    - model: `scripted:[ROOT]/script.yaml`
    - begun: [TIME]
    - saved: [TIME]
    - status: done
    - 4 messages
    - 250 tokens in, 30 out · $0.7500

    ## user · [TIME]

    > What is *here*?

    ## model · [TIME]

    <details><summary>Reasoning</summary>

    > A file.
    > Or two.

    </details>

    > I look:

    **Call of bash**

    ````json
    {
      "command": "echo '```'; exit 3"
    }
    ````

    ## tools · [TIME]

    **Failure of bash**

    ````text
    <error>exit code 3</error>
    ```
    ````

    ## model · [TIME]

    > # Found
    >
    > It is `a.rs`.
    "#);
}

#[test]
fn replaced_histories_are_marked() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    let text = export(&sandbox, &[]);
    assert!(text.contains("*History replaced by hook d-tidy (mutate) at 2"), "{text}");
    assert!(text.contains(": 6 messages set aside.*\n\n## mutation by d-tidy · 2"), "{text}");
    assert!(!text.contains("I remove it."), "{text}");
}

#[test]
fn json_has_every_complete_history() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    let export: Value = serde_json::from_str(&export(&sandbox, &["--format", "json"])).unwrap();
    let keys: Vec<&str> = export.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys.join(" "),
        "id created_at updated_at project model message_count preview status usage recipe epochs"
    );
    let epochs = export["epochs"].as_array().unwrap();
    let change = &epochs[1]["change"];
    assert_eq!(
        (&epochs[0]["change"], &change["kind"], &change["by"]),
        (&Value::Null, &json!("mutate"), &json!("d-tidy"))
    );
    let value = sandbox.run("conversation show last --history --json").expect_code(0).json();
    let lines: Vec<Value> =
        epochs.iter().flat_map(|epoch| epoch["messages"].as_array().unwrap().clone()).collect();
    let value = value["messages"].as_array().unwrap();
    assert_eq!((lines.len(), value.len()), (9, 9));
    for (exported, value) in lines.iter().zip(value) {
        for key in ["sequence", "at", "role", "origin", "blocks"] {
            assert_eq!(exported[key], value[key]);
        }
    }
}

#[test]
fn messages_cannot_break_the_formatting_of_the_export() {
    let sandbox = sandbox();
    let evil = "<script>alert(1)</script>\n</details>\n\n```\n\u{1b}[2J\u{202e}\n# user\n<!-- ";
    play(
        &sandbox,
        &json!([
            {"reasoning": evil, "text": evil, "tool_calls": [{"id": "c", "name": "bash", "input": {"command": format!("printf '%s' '``````{evil}'")}}]},
            {"text": "the end"},
        ]),
        &format!("{evil} *x* [y](z)"),
    );
    let text = export(&sandbox, &[]);
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    let mut fence = None;
    for line in text.lines() {
        match &fence {
            Some(end) if line == end => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => {
                fence = Some(line.chars().take_while(|c| *c == '`').collect::<String>());
            }
            None if line.starts_with("<details><summary>Reasoning</") || line == "</details>" => {}
            // Inside the quote it is in a code block that was left open.
            None if line.starts_with("> <!-- ") => {}
            // A sign that is escaped is no sign.
            None => assert!(!line.replace("\\<", "").contains('<'), "{line}"),
        }
    }
    assert_eq!(fence, None, "{text}");
    assert!(text.contains("\n## model · ") && text.ends_with("> the end\n"), "{text}");
    assert!(text.starts_with("# \\<script\\>alert(1)\\</script\\>"), "{text}");
}

#[test]
fn an_export_file_is_private_and_replaced_only_with_force() {
    let sandbox = sandbox();
    play(&sandbox, &json!([{"text": "ok"}]), "hi");
    assert_snapshot!(sandbox.run("conversation export last --output talk.md"), @"exit: 0");
    let whole = export(&sandbox, &[]);
    assert_eq!(sandbox.read("talk.md"), whole);
    let mode = std::fs::metadata(sandbox.project().join("talk.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    sandbox.write("talk.md", "mine");
    assert_snapshot!(sandbox.run("conversation export last --output talk.md"), @"
    exit: 1
    --- stderr
    error: [ROOT]/project/talk.md already exists
      help: pass --force to replace it
    ");
    assert_eq!(sandbox.read("talk.md"), "mine");
    export(&sandbox, &["--output", "talk.md", "--force", "--format", "json"]);
    assert!(sandbox.read("talk.md").starts_with("{\n"));
    let nowhere = ["conversation", "export", "last", "--output", "no/such/talk.md"];
    sandbox.fails(1, nowhere, "no/such/talk.md: ");
    assert_eq!(std::fs::read_dir(sandbox.project()).unwrap().count(), 2, ".git and talk.md");
}

#[test]
fn conversations_are_found_by_their_text() {
    let sandbox = sandbox();
    play(&sandbox, &json!([{"text": "The parser trips over é."}]), "Why does the café page fail?");
    play(
        &sandbox,
        &json!([{"tool_calls": [{"name": "bash", "input": {"command": "echo lexer; printf '\\033[2J bad'"}}]}, {"text": "ok"}]),
        "Look around",
    );
    assert_snapshot!(sandbox.run(["conversation", "list", "--search", "CAFE pag"]), @"
    exit: 0
    --- stdout
    Why does the café page fail?                      [TIME]    2 messages  done         scripted:[ROOT]/script.yaml  [ID]
        Why does the «café» «page» fail?
    ");
    let conversations = sandbox
        .run(["conversation", "list", "--json", "--search", "lexer bad"])
        .expect_code(0)
        .json();
    assert_fields(&conversations[0], &json!({"preview": "Look around", "message_count": 4}));
    assert_eq!(conversations[0]["snippet"], "«lexer» [2J «bad»");
    assert_snapshot!(sandbox.run(["conversation", "list", "--search", "\"parser\" NOT"]), @"
    exit: 0
    --- stderr
    No message of [ROOT]/project matches. --all searches other projects.
    ");
    sandbox.fails(2, ["conversation", "list", "--search", " "], "the search text is empty");
    let elsewhere = sandbox.root().join("elsewhere/.git");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let elsewhere = sandbox.root().join("elsewhere");
    let from_there = |args: &[&str]| {
        let project = ["--project", elsewhere.to_str().unwrap(), "conversation", "list", "--json"];
        let output = sandbox.run([&project, args].concat()).expect_code(0);
        output.json().as_array().unwrap().len()
    };
    assert_eq!(from_there(&["--search", "parser"]), 0);
    assert_eq!(from_there(&["--search", "parser", "--all"]), 1);
    assert_eq!(from_there(&["--search", "o", "--all", "--limit", "1"]), 1);
}

#[test]
fn costs_and_cached_tokens_are_shown_if_known() {
    let sandbox = sandbox();
    play(
        &sandbox,
        &json!([
            {"tool_calls": [{"name": "todo", "input": {}}], "usage": {"input_tokens": 100, "output_tokens": 20}},
            {"text": "ok", "usage": {"input_tokens": 150, "output_tokens": 10, "cached_input_tokens": 90, "cache_write_tokens": 40},
             "cost_usd": 0.0123},
        ]),
        "hi",
    );
    let output = sandbox.run("conversation show last").expect_code(0);
    let end: Vec<&str> = output.stdout.lines().rev().take(2).collect();
    assert_eq!(
        end,
        [
            "last exchange: 150 tokens in (90 from the cache, 40 into it), 10 out",
            "4 messages · 250 tokens in, 30 out · $0.0123"
        ]
    );
    let json = sandbox.run("conversation list --json").expect_code(0).json();
    let usage = &json[0]["usage"];
    assert_fields(usage, &json!({"cost_usd": 0.0123, "turn": {"cached_input_tokens": 90}}));
}
