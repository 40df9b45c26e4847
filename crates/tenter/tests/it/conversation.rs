//! `tenter conversation`: what was stored, who said it, and where the history was replaced.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_fields};

use crate::sandbox;

/// Holds a conversation in which hooks block, rewrite, replace the history and make the agent continue.
pub(crate) fn busy_conversation(sandbox: &Sandbox) {
    sandbox.sh_hook(
        "a-rewrite",
        "before_tool_call",
        r#"case "$payload" in *'"command": "ls"'*) echo '{"input": {"command": "echo one; echo two"}}';; esac"#,
    );
    sandbox.sh_hook(
        "b-guard",
        "before_tool_call",
        r#"case "$payload" in *'rm -rf'*) echo '{"blocked": true, "reason": "no rm here"}';; esac"#,
    );
    sandbox.sh_hook(
        "c-broken",
        "after_tool_call",
        "echo connecting >&2; printf 'no route\\033[2J to host\\n' >&2; exit 3",
    );
    sandbox.sh_hook(
        "d-tidy",
        "turn_end",
        r#"case "$payload" in *TIDY*) echo '{"result": "mutate", "messages": [{"role": "user", "content": "It is tidy now."}]}';; esac"#,
    );
    sandbox.sh_hook(
        "e-gate",
        "agent_stop",
        r#"case "$payload" in *'"stop_hook_active": false'*) echo '{"follow_up_messages": ["run the tests"]}';; esac"#,
    );
    let _ = sandbox.play("
turns:
  - {text: I remove it., tool_calls: [{id: c1, name: bash, input: {command: rm -rf x}}], usage: {input_tokens: 10, output_tokens: 2}}
  - {reasoning: Hm., tool_calls: [{id: c2, name: bash, input: {command: ls}}], usage: {input_tokens: 20, output_tokens: 2}}
  - {text: TIDY., usage: {input_tokens: 30, output_tokens: 2}}
  - {text: Tests pass., usage: {input_tokens: 10, output_tokens: 2}}
", &["clean this\nup"]).expect_code(0);
}

/// Returns a conversation of one answer; returns its id.
fn ask(sandbox: &Sandbox, query: &str) -> String {
    let output = sandbox
        .play(
            "turns: [{text: ok, usage: {input_tokens: 3, output_tokens: 1}}]",
            &["--headless", query],
        )
        .expect_code(0);
    output.json_lines()[0]["id"].as_str().unwrap().to_owned()
}

fn list(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let args = [&["conversation", "list", "--json"], args].concat();
    sandbox.run(&args).expect_code(0).json().as_array().unwrap().clone()
}

fn previews(sandbox: &Sandbox, args: &[&str]) -> Vec<String> {
    let text = |conversation: &Value| conversation["preview"].as_str().unwrap().to_owned();
    list(sandbox, args).iter().map(text).collect()
}

fn show(sandbox: &Sandbox, args: &[&str]) -> Value {
    sandbox.run([&["conversation", "show", "--json"], args].concat()).expect_code(0).json()
}

#[test]
fn listing_an_empty_store_reports_it_and_creates_nothing() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("conversation list"), @"
    exit: 0
    --- stderr
    No conversation of [ROOT]/project is stored. `tenter run` starts one; --all lists other projects.
    ");
    assert_snapshot!(sandbox.run("conversation list --all --json"), @"
    exit: 0
    --- stdout
    []
    --- stderr
    No conversation is stored. `tenter run` starts one.
    ");
    assert_snapshot!(sandbox.run("conversation show last"), @"
    exit: 1
    --- stderr
    error: no conversation is stored
      help: `tenter run` starts one
    ");
    assert!(!sandbox.state().exists(), "a look left something behind");
}

#[test]
fn the_newest_conversation_is_listed_first() {
    let sandbox = sandbox();
    let first = ask(&sandbox, "first");
    ask(&sandbox, "second");
    assert_eq!(previews(&sandbox, &[]), ["second", "first"]);
    let _ = sandbox.play("turns: [{text: ok}]", &["--resume", &first, "more"]).expect_code(0);
    assert_eq!(previews(&sandbox, &[]), ["first", "second"]);
    assert_snapshot!(sandbox.run("conversation list"), @"
    exit: 0
    --- stdout
    first                                             [TIME]    4 messages  done         scripted:[ROOT]/script.yaml  [ID]
    second                                            [TIME]    2 messages  done         scripted:[ROOT]/script.yaml  [ID]
    ");
    let list = sandbox.run("conversation list --json --limit 1").expect_code(0);
    assert_eq!(list.json().as_array().unwrap().len(), 1);
    assert!(list.stderr.contains("--limit 0 lists all"), "{list}");
    assert_eq!(previews(&sandbox, &["--limit", "0"]).len(), 2);
}

#[test]
fn a_listing_as_json_has_the_documented_fields() {
    let sandbox = sandbox();
    let id = ask(&sandbox, "what\nis it?");
    let mut list = list(&sandbox, &[]);
    let conversation = list.pop().unwrap();
    assert!(list.is_empty());
    let times = (conversation["created_at"].clone(), conversation["updated_at"].clone());
    assert!(times.0.is_string() && times.1.is_string());
    assert_eq!(
        conversation,
        json!({
            "id": id, "created_at": times.0, "updated_at": times.1, "project": sandbox.project(),
            "model": format!("scripted:{}/script.yaml", sandbox.root().display()), "message_count": 2,
            "preview": "what is it?", "status": "done",
            "usage": {"input_tokens": 3, "output_tokens": 1, "current_context_window": 4, "max_context_window": 200_000,
                      "turn": {"input_tokens": 3, "output_tokens": 1}},
        })
    );
}

#[test]
fn other_projects_and_subagents_are_listed_with_flags() {
    let sandbox = sandbox();
    let _ = sandbox.play("turns: [{tool_calls: [{name: subagent, input: {question: find it}}]}, {text: there}, {text: ok}]", &["main"]).expect_code(0);
    std::fs::create_dir_all(sandbox.root().join("elsewhere/.git")).unwrap();
    let elsewhere = sandbox.root().join("elsewhere");
    let model = sandbox.script("turns: [{text: ok}]");
    let elsewhere = elsewhere.to_str().unwrap();
    let _ = sandbox.run(["--project", elsewhere, "run", "--model", &model, "away"]).expect_code(0);
    assert_eq!(previews(&sandbox, &[]), ["main"]);
    assert_eq!(previews(&sandbox, &["--all"]), ["away", "main"]);
    assert_eq!(previews(&sandbox, &["--project", elsewhere]), ["away"]);
    let both = list(&sandbox, &["--subagents"]);
    let (subagent_records, main_records): (Vec<Value>, Vec<Value>) =
        both.into_iter().partition(|conversation| conversation.get("parent_id").is_some());
    assert_eq!((main_records.len(), subagent_records.len()), (1, 1));
    assert_fields(
        &subagent_records[0],
        &json!({"preview": "find it", "parent_id": main_records[0]["id"]}),
    );
    let list = sandbox.run("conversation list --all --subagents").expect_code(0);
    let parent = main_records[0]["id"].as_str().unwrap();
    assert!(list.stdout.contains(&format!("subagent of {parent}")), "{list}");
    assert!(
        list.stdout.lines().all(|line| line.ends_with("/project") || line.ends_with("/elsewhere")),
        "{list}"
    );
    let output = show(&sandbox, &[subagent_records[0]["id"].as_str().unwrap()]);
    assert_eq!(output["parent_id"], main_records[0]["id"]);
}

#[test]
fn a_conversation_is_shown_with_roles_and_history_changes() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    assert_snapshot!(sandbox.run("conversation show last"), @"
    exit: 0
    --- stdout
    conversation [ID]
      project  [ROOT]/project
      model    scripted:[ROOT]/script.yaml
      begun    [TIME]
      saved    [TIME]
      status   done

    ↻ history replaced by hook d-tidy (mutate) at [TIME]: 6 messages set aside; --history shows them

    mutation by d-tidy #6 [TIME]
      It is tidy now.

    hook e-gate #7 [TIME]
      run the tests

    model #8 [TIME]
      Tests pass.

    3 messages · 70 tokens in, 8 out
    ");
    assert_snapshot!(sandbox.run("conversation show last --history"), @r#"
    exit: 0
    --- stdout
    conversation [ID]
      project  [ROOT]/project
      model    scripted:[ROOT]/script.yaml
      begun    [TIME]
      saved    [TIME]
      status   done

    user #0 [TIME]
      clean this
      up

    model #1 [TIME]
      I remove it.
      ● bash {"command": "rm -rf x"}

    tools #2 [TIME]
      ✗ blocked by hook: no rm here

    model #3 [TIME]
      Hm.
      ● bash {"command": "ls"}

    tools #4 [TIME]
      ✓ one
        two

    model #5 [TIME]
      TIDY.

    ↻ history replaced by hook d-tidy (mutate) at [TIME]: 6 messages set aside

    mutation by d-tidy #6 [TIME]
      It is tidy now.

    hook e-gate #7 [TIME]
      run the tests

    model #8 [TIME]
      Tests pass.

    3 messages · 70 tokens in, 8 out
    "#);
}

#[test]
fn a_conversation_as_json_has_every_complete_message() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    let output = show(&sandbox, &["last"]);
    let list = list(&sandbox, &[]).pop().unwrap();
    for (key, value) in list.as_object().unwrap() {
        assert_eq!(&output[key], value, "{key}");
    }
    let summary: Vec<(u64, &str, &str, &str)> = output["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let text = |key: &str| message[key].as_str().unwrap();
            (message["sequence"].as_u64().unwrap(), text("role"), text("origin"), text("content"))
        })
        .collect();
    assert_eq!(
        summary,
        [
            (6, "user", "mutation:d-tidy", "It is tidy now."),
            (7, "user", "hook:e-gate", "run the tests"),
            (8, "assistant", "model", "Tests pass."),
        ]
    );
    let history = &output["history"];
    assert!(history[0]["at"].is_string());
    assert_eq!(
        *history,
        json!([{"epoch": 1, "kind": "mutate", "by": "d-tidy", "reason": null, "at": history[0]["at"], "message_count": 3}])
    );
    let whole = show(&sandbox, &["last", "--history"]);
    let messages = whole["messages"].as_array().unwrap();
    let sequences: Vec<u64> =
        messages.iter().map(|message| message["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (0..=8).collect::<Vec<_>>());
    let epochs: Vec<u64> =
        messages.iter().map(|message| message["epoch"].as_u64().unwrap()).collect();
    assert_eq!(epochs, [0, 0, 0, 0, 0, 0, 1, 1, 1]);
    let result = &messages[2]["blocks"][0];
    assert_eq!((&result["type"], &result["call_id"]), (&"tool_result".into(), &"c1".into()));
    assert_eq!(result["result"]["metadata"]["reason"], "no rm here");
}

#[test]
fn long_results_are_cut_on_the_terminal_and_complete_in_json() {
    let sandbox = sandbox();
    let model = sandbox
        .script("turns: [{tool_calls: [{name: bash, input: {command: seq 1 100}}]}, {text: ok}]");
    let _ = sandbox.run(["run", "--model", &model, "count"]).expect_code(0);
    let text = sandbox.run("conversation show last").expect_code(0);
    assert!(
        text.stdout.contains("… 92 more lines") && !text.stdout.contains("\n    9\n"),
        "{text}"
    );
    let whole = show(&sandbox, &["last"]);
    let output = &whole["messages"][2]["blocks"][0]["result"]["metadata"]["output"];
    assert_eq!(output.as_str().unwrap().lines().count(), 100);
}

#[test]
fn messages_cannot_send_control_sequences_to_the_terminal() {
    let sandbox = sandbox();
    let model = sandbox.script(r#"turns: [{text: "\e[2Jgone\a", tool_calls: [{name: bash, input: {command: "printf '\\033[31mred\\n'"}}]}, {text: ok}]"#);
    let _ = sandbox.run(["run", "--model", &model, "\u{1b}]0;title\u{7}hi\u{202e}"]).expect_code(0);
    for args in [["conversation", "list", "--all"], ["conversation", "show", "last"]] {
        let output = sandbox.run(args).expect_code(0);
        assert!(!output.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", output.stdout);
    }
}
