//! `tenter run --recipe compact`, and `/compact`: a conversation is shortened and can be had back.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Output, Sandbox, assert_fields};

use super::run;
use crate::{filter_kind, sandbox};

const SUMMARY: &str = "turns: []
recipes: {compact: [{text: We spoke about fruit., usage: {input_tokens: 1500, output_tokens: 9}}]}";

/// Returns a conversation of two questions.
fn with_conversation() -> Sandbox {
    let sandbox = sandbox();
    let usage = "usage: {input_tokens: 900, output_tokens: 100}";
    let _ = run(&sandbox, "turns: [{text: Apples are red.}]", &["apples?"]).expect_code(0);
    let script = format!("turns: [{{text: Pears are green., {usage}}}]");
    let _ = run(&sandbox, &script, &["--follow", "pears?"]).expect_code(0);
    sandbox
}

/// Returns the texts of the newest conversation's messages.
fn messages(sandbox: &Sandbox) -> Vec<String> {
    let json = sandbox.run("conversation show last --json").expect_code(0).json();
    let messages = json["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn compact(sandbox: &Sandbox, args: &[&str]) -> Output {
    let model = sandbox.script(SUMMARY);
    let all: Vec<&str> = ["run", "-r", "compact", "--model", &model]
        .into_iter()
        .chain(args.iter().copied())
        .collect();
    sandbox.run(&all)
}

#[test]
fn the_newest_conversation_is_compacted_and_can_be_restored() {
    let sandbox = with_conversation();
    let before = messages(&sandbox);
    assert_snapshot!(compact(&sandbox, &["--follow"]), @"
    exit: 0
    --- stderr
    ↻ running the recipe compact on the conversation …
    ↻ the recipe compact replaced the history (compact): 4 messages became 2
    The context now has about 50 tokens; it had about 1000.
    To restore the previous history, run: tenter conversation restore [ID]
    done · about [N] tokens in, 113 out · conversation [ID]
    ");
    let after = messages(&sandbox);
    assert!(after[0].contains("We spoke about fruit."), "{after:?}");
    assert_eq!((before.len(), after.len()), (4, 2));
    let script = "turns: [{text: Right., expect: {contains: [We spoke about fruit., pears?], lacks: [Apples are red.]}}]";
    let _ = run(&sandbox, script, &["--follow", "and now?"]).expect_code(0);
    let _ = sandbox.run("conversation restore last").expect_code(0);
    assert_eq!(messages(&sandbox), before);
}

#[test]
fn the_stream_reports_recipe_history_and_end_and_hooks_run() {
    let sandbox = with_conversation();
    for event in ["session_start", "pre_compact", "post_compact", "session_end", "before_agent"] {
        let name = event.replace('_', "-");
        crate::manifests::hook(&sandbox, &name, event, "", "printf '%s\n' \"$payload\" >> told");
    }
    let output = run(&sandbox, SUMMARY, &["-r", "compact", "--follow"]).expect_code(0);
    let lines = output.json_lines();
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["kind"].as_str().unwrap())
        .filter(|kind| *kind != "hook")
        .collect();
    assert_eq!(kinds, ["session", "recipe", "history", "end"], "{output}");
    let history = filter_kind(&lines, "history")[0];
    assert_eq!((&history["messages_before"], &history["messages_after"]), (&json!(4), &json!(2)));
    let messages: Vec<Value> = sandbox.read_lines("told");
    let events: Vec<&str> =
        messages.iter().map(|payload| payload["event_type"].as_str().unwrap()).collect();
    assert_eq!(events, ["session_start", "pre_compact", "post_compact", "session_end"]);
    assert!(
        messages.iter().all(|payload| payload["context"]["recipe_name"] == "compact"),
        "{messages:?}"
    );
    assert_fields(&messages[1], &json!({"trigger": "manual", "tokens_before": 1000}));
}

#[test]
fn without_a_conversation_it_is_a_usage_error() {
    let sandbox = sandbox();
    assert_snapshot!(compact(&sandbox, &[]), @"
    exit: 2
    --- stderr
    error: the recipe compact needs a conversation
      help: pass --follow for the newest of this project, or --resume ID; `tenter conversation list` lists them
    ");
    assert_snapshot!(compact(&sandbox, &["--follow"]), @"
    exit: 1
    --- stderr
    error: this project has no conversation to compact
      help: `tenter conversation list --all` lists those of every project; pass --resume ID
    ");
    assert_snapshot!(compact(&sandbox, &["--follow", "--no-save"]), @"
    exit: 2
    --- stderr
    error: --no-save would discard the compaction
      help: leave out --no-save: the previous history can be restored
    ");
    assert_snapshot!(compact(&sandbox, &["--follow", "and be brief"]), @"
    exit: 2
    --- stderr
    error: the recipe compact takes no message and no image
      help: leave out the query and --image, and pass them to the next `tenter run --follow`; --arg passes the recipe an argument
    ");
    compact(&sandbox, &["--resume", "0123"]).fails(1, "there is no conversation");
}

#[test]
fn the_projects_own_recipe_needs_trust() {
    let sandbox = with_conversation();
    sandbox.write("recipes/compact.md", "Summarise. {{bash \"touch\" \"ran\"}}");
    let _ = compact(&sandbox, &["--follow"]).expect_code(4);
    assert_eq!(messages(&sandbox).len(), 4);
    let _ = compact(&sandbox, &["--follow", "--trust-project"]).expect_code(0);
    assert!(sandbox.project().join("ran").exists());
}
