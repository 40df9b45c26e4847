//! `tenter conversation fork`, `restore` and `delete`: histories taken up again, and conversations that are gone.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Sandbox, wait_until};

use crate::conversation::busy_conversation;
use crate::sandbox;

/// Says something, is answered with `answer`, and returns the conversation's id.
fn ask(sandbox: &Sandbox, query: &str, answer: &str) -> String {
    let output = sandbox
        .play(&format!("turns: [{{text: {answer}, cost_usd: 0.25}}]"), &["--headless", query])
        .expect_code(0);
    output.json_lines()[0]["id"].as_str().unwrap().to_owned()
}

fn show(sandbox: &Sandbox, id: &str) -> Value {
    sandbox.run(["conversation", "show", "--json", id]).expect_code(0).json()
}

fn contents(conversation: &Value) -> Vec<&str> {
    let messages = conversation["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap()).collect()
}

fn listed(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let output = sandbox.run([&["conversation", "list", "--json"], args].concat()).expect_code(0);
    output.json().as_array().unwrap().clone()
}

#[test]
fn a_fork_continues_from_an_earlier_message_and_the_original_is_unchanged() {
    let sandbox = sandbox();
    let id = ask(&sandbox, "first question", "first answer");
    let _ = sandbox
        .play("turns: [{text: second answer}]", &["--follow", "second question"])
        .expect_code(0);

    let fork_output = sandbox.run("conversation fork last --at 2").expect_code(0);
    assert_snapshot!(fork_output, @"
    exit: 0
    --- stdout
    [ID]
    --- stderr
    It has 2 messages. To continue: tenter run --resume [ID] …
    ");
    let fork = fork_output.stdout.trim();
    let output = show(&sandbox, fork);
    assert_eq!((&output["forked_from"], &output["status"]), (&json!(id), &json!("forked")));
    assert_eq!(output["usage"].get("cost_usd"), None, "it was paid for once");
    assert_eq!(listed(&sandbox, &[])[0]["id"], fork, "--follow continues it");

    let model = sandbox.script(
        "turns: [{text: another answer, expect: {contains: [first question, first answer, another question], lacks: [second]}}]",
    );
    let resume = ["run", "--resume", fork, "--model", &model, "another question"];
    let _ = sandbox.run(resume).expect_code(0);
    assert_eq!(
        contents(&show(&sandbox, fork)),
        ["first question", "first answer", "another question", "another answer"]
    );
    assert_eq!(
        contents(&show(&sandbox, &id)),
        ["first question", "first answer", "second question", "second answer"]
    );
    let text = sandbox.run(["conversation", "show", fork]).expect_code(0);
    assert!(text.stdout.contains(&format!("  fork of  {id}\n")), "{text}");
}

#[test]
fn a_fork_in_the_middle_of_a_tool_call_is_refused() {
    let sandbox = sandbox();
    let _ = sandbox
        .play("turns: [{tool_calls: [{name: todo, input: {}}]}, {text: ok}]", &["plan"])
        .expect_code(0);
    assert_snapshot!(sandbox.run("conversation fork last --at 2"), @"
    exit: 1
    --- stderr
    error: the conversation [ID] cannot be forked there: the last message calls tools, and their results are missing
      help: --at counts the messages that `tenter conversation show` shows; a tool's result is in the message after its call
    ");
    sandbox.fails(1, "conversation fork last --at 9", "it has 4 messages, not 9");
    assert_eq!(listed(&sandbox, &[]).len(), 1);
}

#[test]
fn a_history_that_a_hook_replaced_can_be_restored() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    assert_snapshot!(sandbox.run("conversation restore last --list"), @"
    exit: 0
    --- stdout
      0  [TIME]    6 messages  original
      1  [TIME]    3 messages  mutate by hook d-tidy  present
    ");
    assert_snapshot!(sandbox.run("conversation restore last"), @"
    exit: 0
    --- stderr
    The history of [ID] is restored from number 0: 6 messages.
    ");
    let output = show(&sandbox, "last");
    assert_eq!(output["status"], "done");
    let words: Vec<(&str, u64)> = output["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["origin"].as_str().unwrap(), one["sequence"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        words,
        [("user", 9), ("model", 10), ("tools", 11), ("model", 12), ("tools", 13), ("model", 14)]
    );
    let listing = sandbox.run("conversation restore last --list --json").expect_code(0);
    let mut epochs = listing.json();
    assert!(epochs.as_array_mut().unwrap().iter_mut().all(|one| one["at"].take().is_string()));
    let row =
        |epoch: u64, kind: Value, by: Value, reason: Value, message_count: u64, present: bool| {
            json!({"epoch": epoch, "at": null, "kind": kind, "by": by, "reason": reason,
               "message_count": message_count, "present": present})
        };
    assert_eq!(
        epochs,
        json!([
            row(0, Value::Null, Value::Null, Value::Null, 6, false),
            row(1, json!("mutate"), json!("d-tidy"), Value::Null, 3, false),
            row(2, json!("restore"), json!("user"), json!("epoch 0"), 6, true),
        ])
    );
    let text = sandbox.run("conversation show last").expect_code(0);
    assert!(text.stdout.contains("replaced by the user (restore)"), "{text}");

    let _ =
        sandbox.play("turns: [{text: ok, expect: {contains: [clean this, TIDY, more], lacks: [It is tidy]}}]", &["--no-hooks", "--follow", "more"]).expect_code(0);
    let restore = ["conversation", "restore", "last", "--epoch", "1"];
    let _ = sandbox.run(restore).expect_code(0);
    assert_eq!(
        contents(&show(&sandbox, "last")),
        ["It is tidy now.", "run the tests", "Tests pass."]
    );
}

#[test]
fn a_history_that_was_never_replaced_cannot_be_restored() {
    let sandbox = sandbox();
    ask(&sandbox, "one", "two");
    assert_snapshot!(sandbox.run("conversation restore last"), @"
    exit: 1
    --- stderr
    error: the history of the conversation [ID] was never replaced, so there is nothing to restore
      help: `tenter conversation restore ID --list` lists its histories
    ");
}

#[test]
fn nothing_is_deleted_without_confirmation() {
    let sandbox = sandbox();
    let id = ask(&sandbox, "one", "two");
    assert_snapshot!(sandbox.run(["conversation", "delete", &id]), @"
    exit: 2
    --- stderr
    error: cannot ask for confirmation: there is no terminal
      help: pass --yes to delete without confirmation
    ");
    sandbox.run_with_stdin(["conversation", "delete", &id], "y\n").fails(2, "--yes");
    let one_is_unknown = ["conversation", "delete", "--yes", &id, "nonsense"];
    sandbox.fails(1, one_is_unknown, "\"nonsense\"");
    assert_eq!(sandbox.run("conversation delete").code, Some(2));
    assert_eq!(listed(&sandbox, &[]).len(), 1);
}

#[test]
fn at_a_terminal_an_unclear_answer_is_asked_again() {
    let sandbox = sandbox();
    ask(&sandbox, "one\u{1b}[2J", "two");
    for (answer, left) in [("n", 1), ("", 1), ("later", 1), ("yes", 0)] {
        let mut terminal = sandbox.at_terminal("conversation delete last");
        let question = terminal.wait_for("Delete 1 conversation? [y] yes  [n] no: ");
        assert!(
            question.contains("To be deleted permanently") && question.contains("one [2J"),
            "{question}"
        );
        terminal.enter(answer);
        if !["n", "yes"].contains(&answer) {
            terminal.wait_for("Please answer y or n.");
            assert_eq!(listed(&sandbox, &[]).len(), 1, "{answer:?}");
            terminal.enter("n");
        }
        let (code, screen) = terminal.end();
        assert_eq!(code, Some(0), "{screen}");
        let text = if left == 1 { "Nothing was deleted." } else { "Deleted 1 conversation." };
        assert!(screen.contains(text), "{screen}");
        assert_eq!(listed(&sandbox, &[]).len(), left, "{answer:?}");
    }
}

#[test]
fn deleting_removes_subagents_and_search_results() {
    let sandbox = sandbox();
    ask(&sandbox, "kept zebra", "ok");
    let _ = sandbox.play("turns: [{tool_calls: [{name: subagent, input: {question: find the zebra}}]}, {text: there}, {text: ok}]", &["a zebra to forget"]).expect_code(0);
    assert_eq!(listed(&sandbox, &["--subagents", "--search", "zebra"]).len(), 3);
    assert_snapshot!(sandbox.run("conversation delete --yes last last"), @"
    exit: 0
    --- stderr
    Deleted 1 conversation, and 1 of subagents.
    ");
    let remainder = listed(&sandbox, &["--subagents", "--search", "zebra"]);
    assert_eq!((remainder.len(), &remainder[0]["preview"]), (1, &json!("kept zebra")));
    let files = std::fs::read_dir(sandbox.state()).unwrap();
    for file in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!has("to forget") && !has("find the zebra"), "{}", file.display());
    }
}

#[test]
fn old_conversations_are_deleted_by_age() {
    let sandbox = sandbox();
    ask(&sandbox, "one", "two");
    std::fs::create_dir_all(sandbox.root().join("elsewhere/.git")).unwrap();
    let elsewhere = sandbox.root().join("elsewhere").to_str().unwrap().to_owned();
    let model = sandbox.script("turns: [{text: ok}]");
    let _ = sandbox.run(["--project", &elsewhere, "run", "--model", &model, "away"]).expect_code(0);
    let young = sandbox.run("conversation delete --older-than 30d").expect_code(0);
    assert_eq!(young.stderr, "No conversation is that old.\n");
    let _ = sandbox.run("conversation delete --older-than 0h --yes").expect_code(0);
    assert_eq!(listed(&sandbox, &["--all"]).len(), 1);
    let all = ["conversation", "delete", "--older-than", "0h", "--all", "--yes"];
    assert_eq!(sandbox.run(all).expect_code(0).stderr, "Deleted 1 conversation.\n");
    assert_eq!(listed(&sandbox, &["--all"]), [] as [Value; 0]);
    for args in [["--older-than", "month"], ["--older-than", "-1d"], ["--all", "--yes"]] {
        let output = sandbox.run([&["conversation", "delete"], &args[..]].concat());
        assert_eq!(output.code, Some(2), "{output}");
    }
}

/// The work ends with a message that says what happened, and nothing of the conversation comes back.
#[test]
fn a_process_using_a_deleted_conversation_gets_an_error() {
    let sandbox = sandbox();
    let model = sandbox.script(
        "turns: [{tool_calls: [{name: bash, input: {command: 'touch begun; until [ -e deleted ]; do sleep 0.01; done'}}]}, {text: ok}]",
    );
    let working = sandbox.start(["run", "--headless", "--model", &model, "work"]);
    wait_until("the tool runs", || sandbox.project().join("begun").exists());
    let _ = sandbox.run("conversation delete --yes last").expect_code(0);
    sandbox.write("deleted", "");
    let output = sandbox.finish(working).expect_code(1);
    let lines = output.json_lines();
    let diagnostics = crate::filter_kind(&lines, "diagnostic");
    assert_eq!(diagnostics.len(), 1, "{output}");
    assert_eq!(diagnostics[0]["id"], "conversation-not-saved");
    assert!(diagnostics[0]["message"].as_str().unwrap().contains("was deleted by another process"));
    assert_eq!(listed(&sandbox, &["--all", "--subagents"]), [] as [Value; 0]);
}
