//! A model that fails for a while, seen from outside: what is shown, what hooks see of it, and what is left.

use insta::assert_snapshot;
use tenter_testkit::Sandbox;

use crate::{filter_kind, headless, sandbox};

/// Returns a sandbox with short waits between attempts.
fn hasty() -> Sandbox {
    let sandbox = sandbox();
    sandbox.configure("[retry]\nfirst_delay_ms = 1\nattempts = 3\n");
    sandbox
}

#[test]
fn hooks_see_one_turn_and_one_call_regardless_of_retries() {
    let sandbox = hasty();
    for event in
        ["user_message_send", "before_tool_call", "after_tool_call", "after_turn", "agent_stop"]
    {
        sandbox.sh_hook(event, event, &format!("echo {event} >> seen"));
    }
    let (lines, code) = headless(
        &sandbox,
        "turns:\n  - {text: Counting., tool_calls: [{name: bash, input: {command: echo x >> count}}], fault: {kind: cut, times: 2}}\n  - {text: Done., fault: {kind: server}}\n",
    );
    assert_eq!(code, 0);
    assert_eq!(sandbox.read("count"), "x\n");
    assert_eq!(
        sandbox.read("seen").replace('\n', " "),
        "user_message_send before_tool_call after_tool_call after_turn after_turn agent_stop "
    );
    let retries = filter_kind(&lines, "retry");
    let numbers: Vec<_> =
        retries.iter().map(|line| (line["attempt"].as_u64(), line["of"].as_u64())).collect();
    assert_eq!(numbers, [(Some(2), Some(3)), (Some(3), Some(3)), (Some(2), Some(3))]);
    assert_eq!(retries[0]["discarded"], true);
    assert_eq!(retries[2]["discarded"], false);
    assert_eq!(filter_kind(&lines, "usage").len(), 2);
    let texts: Vec<_> =
        filter_kind(&lines, "text").iter().map(|line| line["content"].clone()).collect();
    assert_eq!(texts, ["Counting.", "Done."]);
}

#[test]
fn pieces_of_a_cut_response_are_followed_by_a_line_that_voids_them() {
    let sandbox = hasty();
    let model = sandbox.script("turns: [{reasoning: Hm., text: one two, fault: {kind: cut}}]");
    let args = ["run", "--headless", "--stream-deltas", "--model", &model, "count"];
    let lines = sandbox.run(args).expect_code(0).json_lines();
    let messages = lines
        .iter()
        .filter(|line| !["session", "usage", "end"].iter().any(|kind| line["kind"] == *kind));
    let messages = messages.map(|line| {
        format!("{} {}", line["kind"].as_str().unwrap(), line["delta"].as_str().unwrap_or("-"))
    });
    assert_eq!(
        messages.collect::<Vec<_>>().join(", "),
        "text-delta one, retry -, reasoning-delta Hm., text-delta one , text-delta two, reasoning -, text -"
    );
}

#[test]
fn a_terminal_shows_attempts_and_restarts_the_answer() {
    let sandbox = hasty();
    let model = sandbox.script(
        "turns: [{reasoning: \"Hm.\\nHm!\", text: one two, fault: {kind: cut}, usage: {input_tokens: 90, output_tokens: 3, cached_input_tokens: 30}, cost_usd: 0.01234}]",
    );
    assert_snapshot!(sandbox.run(["run", "--model", &model, "count"]), @"
    exit: 0
    --- stdout
    one
    one two
    --- stderr
    ↻ the model's response was cut off; retrying in [N] ms (attempt 2 of 3)
      the partial answer is discarded; it starts again
      Hm.
      Hm!
    done · 90 tokens in (33% cached), 3 out · $0.0123 · conversation [ID]
    ");
}

#[test]
fn the_result_alone_is_on_stdout_and_attempts_are_on_stderr() {
    let sandbox = hasty();
    let model =
        sandbox.script("turns: [{text: one two, fault: {kind: overloaded, message: busy}}]");
    assert_snapshot!(sandbox.run(["run", "--result-only", "--model", &model, "count"]), @"
    exit: 0
    --- stdout
    one two
    --- stderr
    ↻ the model is overloaded: busy; retrying in [N] ms (attempt 2 of 3)
    ");
}

#[test]
fn an_unreachable_model_fails_the_run_and_the_conversation_can_be_resumed() {
    let sandbox = hasty();
    let model = sandbox.script("turns: [{fault: {kind: connection, times: 3}}]");
    assert_snapshot!(sandbox.run(["run", "--result-only", "--model", &model, "My name is Ada."]), @"
    exit: 1
    --- stderr
    ↻ the model cannot be reached; retrying in [N] ms (attempt 2 of 3)
    ↻ the model cannot be reached; retrying in [N] ms (attempt 3 of 3)
    error: the model cannot be reached; gave up after 3 attempts
      help: try again later; `--follow` continues the conversation
    ");
    let output = sandbox.play(
        "turns: [{text: Ada., expect: {contains: [My name is Ada.]}}]",
        &["--result-only", "--follow", "Who am I?"],
    );
    assert_eq!(output.expect_code(0).stdout, "Ada.\n");
}
