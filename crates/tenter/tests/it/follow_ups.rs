//! `after_turn` and `agent_stop`: follow-ups, the cap on stop loops, mutation, callbacks.

use serde_json::Value;

use crate::{headless, of_kind, sandbox};

#[test]
fn follow_ups_of_all_hooks_accumulate_in_order() {
    let sandbox = sandbox();
    let once = |text: &str| {
        format!(
            r#"case "$payload" in *'"stop_hook_active": false'*) echo '{{"follow_up_messages": ["{text}"]}}';; esac"#
        )
    };
    sandbox.sh_hook("a", "agent_stop", &once("run the linter"));
    sandbox.sh_hook("b", "agent_stop", &once("and the tests"));
    let (lines, code) = headless(
        &sandbox,
        "turns: [{text: Done.}, {text: Linted and tested., expect: {contains: [\"run the linter\\n\\nand the tests\"]}}]",
    );
    assert_eq!(code, 0);
    let texts: Vec<(&str, &str)> = of_kind(&lines, "text")
        .into_iter()
        .map(|text| (text["role"].as_str().unwrap(), text["content"].as_str().unwrap()))
        .collect();
    assert_eq!(
        texts,
        [
            ("assistant", "Done."),
            ("user", "run the linter"),
            ("user", "and the tests"),
            ("assistant", "Linted and tested.")
        ]
    );
}

#[test]
fn continuations_are_limited_to_eight() {
    let sandbox = sandbox();
    sandbox.sh_hook("endless", "agent_stop", r#"printf '%s\n' "$payload" >> stops; echo '{"result": "continue", "follow_up_messages": ["again"]}'"#);
    let (lines, code) = headless(&sandbox, "turns: [{text: one}]");
    assert_eq!(code, 0);
    let counts: Vec<u64> = sandbox
        .read("stops")
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["continuation_count"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(counts, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(of_kind(&lines, "diagnostic")[0]["id"], "stop-loop");
}

#[test]
fn a_tool_call_resets_the_continuation_count() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "endless",
        "agent_stop",
        r#"printf '%s\n' "$payload" >> stops; echo '{"follow_up_messages": ["again"]}'"#,
    );
    let turns =
        "{text: a}, {text: b}, {tool_calls: [{name: todo, input: {}}]}, {text: c}, {text: d}";
    let (_, code) = headless(&sandbox, &format!("turns: [{turns}]"));
    assert_eq!(code, 0);
    let counts: Vec<u64> = sandbox
        .read("stops")
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["continuation_count"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(counts[..4], [0, 1, 0, 1]);
}

#[test]
fn at_the_turn_limit_stop_hooks_run_and_their_follow_ups_are_ignored() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "stop",
        "agent_stop",
        r#"printf '%s\n' "$payload" > stop.json; echo '{"follow_up_messages": ["more"]}'"#,
    );
    let model = sandbox.script("turns: [{tool_calls: [{name: todo, input: {}}]}, {text: never}]");
    let output = sandbox.run(&["run", "--max-turns", "1", "--model", &model, "x"]).expect_code(5);
    assert!(output.stderr.contains("turn limit · "), "a user reads words: {output}");
    let listed = sandbox.run(&["conversation", "list"]).stdout;
    assert!(listed.contains("turn limit") && !listed.contains("max_turns"), "{listed}");
    let payload: Value = serde_json::from_str(&sandbox.read("stop.json")).unwrap();
    assert_eq!(payload["stop_reason"], "max_turns", "{output}");
    let told =
        "the hook stop requested a continuation, which is ignored: the turn limit is reached";
    assert_eq!(output.stderr.matches(told).count(), 1, "{output}");
    let log = sandbox.run(&["log"]).expect_code(0).stdout;
    assert!(log.contains("its follow-ups have no effect: the turn limit is reached"), "{log}");
}

#[test]
fn the_payloads_of_turns_and_stops_have_the_specified_fields() {
    let sandbox = sandbox();
    sandbox.sh_hook("turn", "after_turn", r#"printf '%s\n' "$payload" >> turns.json"#);
    sandbox.sh_hook("end", "turn_end", r#"printf '%s\n' "$payload" >> ends.json"#);
    sandbox.sh_hook("stop", "agent_stop", r#"printf '%s\n' "$payload" > stop.json"#);
    let (_, code) = headless(
        &sandbox,
        "turns: [{text: Let me see., tool_calls: [{name: todo, input: {}}], usage: {input_tokens: 100, output_tokens: 10}}, {text: Empty., usage: {input_tokens: 200, output_tokens: 5}}]\ncontext_window: 16000",
    );
    assert_eq!(code, 0);
    let turns: Vec<Value> = sandbox
        .read("turns.json")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&turns[0]["event"], &turns[0]["turn_number"], &turns[0]["tools_used"]),
        (&"after_turn".into(), &1.into(), &true.into())
    );
    assert_eq!(turns[1]["tools_used"], false);
    let usage = &turns[1]["usage"];
    assert_eq!(usage["input_tokens"], 300, "cumulative");
    assert_eq!(usage["output_tokens"], 15);
    assert_eq!(usage["current_context_window"], 205);
    assert_eq!(usage["max_context_window"], 16000);
    assert_eq!(usage.get("estimated"), None);
    let messages = turns[0]["messages"].as_array().unwrap();
    assert_eq!(messages[1]["role"], "assistant");
    assert_eq!(messages[1]["content"], "Let me see.\nUsing tool todo: {}");
    assert_eq!(messages[1]["blocks"][1]["name"], "todo");
    assert!(messages[2]["content"].as_str().unwrap().starts_with("Result of todo:"));

    let end: Value =
        serde_json::from_str(sandbox.read("ends.json").lines().next().unwrap()).unwrap();
    assert_eq!((&end["event"], &end["response"]), (&"turn_end".into(), &"Let me see.".into()));

    let stop: Value = serde_json::from_str(&sandbox.read("stop.json")).unwrap();
    assert_eq!(stop["event"], "agent_stop");
    assert_eq!(stop["invoked_recipe"], "");
    assert_eq!(stop["invoked_by"], "main");
    assert_eq!(stop["stop_hook_active"], false);
    assert_eq!(stop["stop_reason"], "no_tool_calls");
    assert_eq!(stop["last_assistant_content"], "Empty.");
    assert_eq!(stop["messages"].as_array().unwrap().len(), 4);
    assert_eq!(stop["cwd"], sandbox.project().to_str().unwrap());
}

#[test]
fn a_mutation_replaces_what_the_model_sees_and_is_stored() {
    let sandbox = sandbox();
    let once = r#"[ -e mutated ] || { touch mutated; echo '{"result": "mutate", "messages": [{"role": "user", "content": "SUMMARY so far"}]}'; }"#;
    sandbox.sh_hook("compact", "after_turn", once);
    let (lines, code) = headless(
        &sandbox,
        "turns: [{text: First., tool_calls: [{name: todo, input: {}}]}, {text: Second., expect: {contains: [SUMMARY so far, You are a coding agent], lacks: [do it, First.]}}]",
    );
    assert_eq!(code, 0);
    let history = of_kind(&lines, "history")[0];
    assert_eq!((&history["action"], &history["by"]), (&"mutate".into(), &"compact".into()));
    let model = sandbox.script(
        "turns: [{text: ok, expect: {contains: [SUMMARY so far, Second.], lacks: [First.]}}]",
    );
    assert_eq!(
        sandbox.run(&["run", "--follow", "--model", &model, "on"]).code,
        Some(0),
        "the mutation is stored"
    );
}

#[test]
fn an_unusable_mutation_changes_nothing_and_is_reported() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "broken",
        "after_turn",
        r#"echo '{"result": "mutate", "messages": [{"role": "assistant", "content": "x"}]}'"#,
    );
    let (lines, code) = headless(
        &sandbox,
        "turns: [{text: First., tool_calls: [{name: todo, input: {}}]}, {text: Second., expect: {contains: [First.]}}]",
    );
    assert_eq!(code, 0);
    let run = of_kind(&lines, "hook")[0];
    assert_eq!(run["decision"], "failed");
    assert!(
        run["reason"].as_str().unwrap().contains("the last message must be a user message"),
        "{run}"
    );
}

#[test]
fn of_two_history_actions_the_first_wins_and_the_conflict_is_reported() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "a",
        "agent_stop",
        r#"echo '{"result": "mutate", "messages": [{"role": "user", "content": "A"}]}'"#,
    );
    sandbox.sh_hook("b", "agent_stop", r#"echo '{"result": "callback", "callback": "compact"}'"#);
    let (lines, _) = headless(&sandbox, "turns: [{text: x}]");
    assert_eq!(of_kind(&lines, "history").len(), 1);
    let conflict = of_kind(&lines, "diagnostic")[0];
    assert_eq!(conflict["id"], "history-conflict");
}

#[test]
fn a_callback_to_a_missing_recipe_is_a_failure_of_the_hook() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "compact",
        "after_turn",
        r#"echo '{"result": "callback", "callback": "compakt"}'"#,
    );
    let (lines, code) = headless(&sandbox, "turns: [{text: x}]");
    assert_eq!(code, 0);
    let run = of_kind(&lines, "hook")[0];
    assert_eq!(run["decision"], "failed");
    let reason = run["reason"].as_str().unwrap();
    assert!(reason.contains("its callback cannot start: there is no recipe \"compakt\""), "{run}");
    assert!(of_kind(&lines, "diagnostic").is_empty());
}

#[test]
fn context_from_the_last_stop_is_read_when_the_conversation_continues() {
    let sandbox = sandbox();
    sandbox.sh_hook("note", "agent_stop", r#"echo '{"additional_context": "the build is red"}'"#);
    let model = sandbox.script("turns: [{text: Done.}]");
    assert_eq!(sandbox.run(&["run", "--model", &model, "x"]).code, Some(0));
    let model = sandbox.script("turns: [{text: ok, expect: {contains: [the build is red]}}]");
    assert_eq!(sandbox.run(&["run", "--follow", "--model", &model, "and now?"]).code, Some(0));
}

#[test]
fn a_stop_after_blocked_calls_is_reported_once() {
    let sandbox = sandbox();
    sandbox.sh_hook("guard", "before_tool_call", r#"echo '{"blocked": true, "reason": "no"}'"#);
    let once = r#"printf '%s\n' "$payload" >> stops; case "$payload" in *'"stop_hook_active": false'*) echo '{"follow_up_messages": ["again"]}';; esac"#;
    sandbox.sh_hook("stop", "agent_stop", once);
    let (_, code) = headless(
        &sandbox,
        "turns: [{tool_calls: [{name: todo, input: {}}]}, {text: I give up.}, {text: Still.}]",
    );
    assert_eq!(code, 0);
    let reasons: Vec<String> = sandbox
        .read("stops")
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["stop_reason"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(reasons, ["tool_rejected", "no_tool_calls"]);
}
