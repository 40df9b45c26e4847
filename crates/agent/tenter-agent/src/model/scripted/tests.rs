//! Parsing and playing scripts.

use std::time::Duration;

use tenter_protocol::Message;

use super::*;
use crate::model::TransientCause;

fn respond(model: &ScriptedModel, prompt: &str) -> (Result<Response, ModelError>, String) {
    respond_for(model, prompt, Purpose::Conversation)
}

fn respond_for(
    model: &ScriptedModel,
    prompt: &str,
    purpose: Purpose<'_>,
) -> (Result<Response, ModelError>, String) {
    let messages = [Message::user(prompt)];
    let request =
        Request { system: "system", messages: &messages, tools: &[], purpose, max_tokens: None };
    let mut stream = String::new();
    let response = model.respond(
        &request,
        &mut |delta| {
            if let Delta::Text(text) = delta {
                stream.push_str(text);
            }
        },
        &Cancel::new(),
    );
    (response, stream)
}

fn model(script: &str) -> ScriptedModel {
    ScriptedModel::parse("scripted:test", script).unwrap()
}

#[test]
fn turns_are_played_in_order_until_the_script_ends() {
    let model = model(
        "turns:\n  - text: I will look.\n    tool_calls: [{name: bash, input: {command: ls}}]\n  - text: Done.\n",
    );
    let (first, stream) = respond(&model, "hi");
    assert_eq!(stream, "I will look.");
    assert!(
        matches!(&first.unwrap().blocks[1], ResponseBlock::Content(Block::ToolUse(call)) if call.id == "call-1-1")
    );
    assert_eq!(respond(&model, "hi").1, "Done.");
    assert!(respond(&model, "hi").0.unwrap().blocks.is_empty());
}

#[test]
fn json_is_accepted_and_usage_is_taken_from_the_script() {
    let model = model(
        r#"{"turns": [{"text": "x", "usage": {"input_tokens": 900, "output_tokens": 30}}], "context_window": 16000}"#,
    );
    assert_eq!(
        respond(&model, "hi").0.unwrap().usage,
        Some(TurnUsage { input_tokens: 900, output_tokens: 30, ..TurnUsage::default() })
    );
    assert_eq!(model.context_window(), 16_000);
}

#[test]
fn an_unmet_expectation_shows_both_texts() {
    let model = model(
        "turns:\n  - expect: {contains: [hello], lacks: [AKIA]}\n  - expect: {lacks: [hi]}\n",
    );
    let error = respond(&model, "hi").0.unwrap_err().to_string();
    assert!(
        error.contains("turn 1") && error.contains("\"hello\"") && error.contains("\n\nhi"),
        "{error}"
    );
    let error = respond(&model, "hi").0.unwrap_err().to_string();
    assert!(error.contains("turn 2") && error.contains("lack \"hi\""), "{error}");
}

#[test]
fn a_fault_precedes_its_turn() {
    let model = model(
        "turns:\n  - {text: whole again, fault: {kind: overloaded, times: 2, message: busy, retry_after_ms: 30}}\n  - {text: one two, fault: {kind: cut}}\n  - {text: late, fault: {delay_ms: 1}}\n",
    );
    let overloaded = ModelError::Transient {
        cause: TransientCause::Overloaded,
        message: "busy".into(),
        retry_after: Some(Duration::from_millis(30)),
    };
    for _ in 0..2 {
        assert_eq!(respond(&model, "").0, Err(overloaded.clone()));
    }
    assert_eq!(respond(&model, "").1, "whole again");
    let (cut, stream) = respond(&model, "");
    assert_eq!((cut, stream.as_str()), (Err(ModelError::transient(TransientCause::Cut)), "one"));
    assert_eq!(respond(&model, "").1, "one two");
    assert_eq!(respond(&model, "").1, "late");
    assert_eq!(respond(&model, "").0.unwrap().stop, StopCause::ScriptEnd);
}

#[test]
fn a_turn_with_only_a_fault_is_skipped_after_it() {
    let model = model(
        "turns:\n  - fault: {kind: connection, times: 2}\n  - fault: {kind: server}\n  - fault: {kind: rate_limited}\n  - fault: {kind: too_long, message: 9 of 8}\n  - fault: {kind: refused}\n  - text: At last.\n",
    );
    for cause in [
        TransientCause::Connection,
        TransientCause::Connection,
        TransientCause::Server,
        TransientCause::RateLimited,
    ] {
        assert_eq!(respond(&model, "").0, Err(ModelError::transient(cause)));
    }
    assert_eq!(respond(&model, "").0, Err(ModelError::TooLong { message: "9 of 8".into() }));
    let message = "the model rejected the request".to_owned();
    assert_eq!(respond(&model, "").0, Err(ModelError::Rejected { message, help: None }));
    assert_eq!(respond(&model, "").1, "At last.");
}

#[test]
fn completions_are_apart_from_turns_and_the_last_repeats() {
    let model = model("turns: [{text: mine}]\ncompletions: [one, {text: two}]\n");
    let complete = || respond_for(&model, "", Purpose::Completion).1;
    assert_eq!((complete(), complete(), complete()), ("one".into(), "two".into(), "two".into()));
    assert_eq!(respond(&model, "").1, "mine");
    let none = ScriptedModel::parse("scripted:test", "turns: []").unwrap();
    let error = respond_for(&none, "", Purpose::Completion).0.unwrap_err().to_string();
    assert_eq!(error, "the script has no response for hooks that use the model");
}

#[test]
fn a_recipe_has_its_own_turns_and_the_last_repeats() {
    let model = model(
        "turns: [{text: mine}]\nrecipes:\n  sum: [one, {text: two, cost_usd: 0.5, fault: {kind: server}}]\n  none: []\n",
    );
    let sum = |text| respond_for(&model, text, Purpose::Recipe("sum"));
    assert_eq!(sum("").1, "one");
    for _ in 0..2 {
        assert_eq!(sum("").0, Err(ModelError::transient(TransientCause::Server)));
        let (response, text) = sum("");
        assert_eq!((text.as_str(), response.unwrap().cost_usd), ("two", Some(0.5)));
    }
    for recipe in ["none", "other"] {
        let error = respond_for(&model, "", Purpose::Recipe(recipe)).0.unwrap_err().to_string();
        assert_eq!(error, format!("the script has no response for the recipe {recipe:?}"));
    }
    assert_eq!(respond(&model, "").1, "mine", "the conversation's turns are where they were");
}

#[test]
fn usage_and_stop_cause_are_taken_from_the_script() {
    let model = model(
        "turns:\n  - {text: x, cost_usd: 0.25, stop: length, usage: {input_tokens: 9, output_tokens: 3, cached_input_tokens: 8, cache_write_tokens: 1}}\n  - {text: x, stop: filtered}\n",
    );
    let first = respond(&model, "").0.unwrap();
    assert_eq!((first.cost_usd, first.stop), (Some(0.25), StopCause::Length));
    let usage = first.usage.unwrap();
    assert_eq!((usage.cached_input_tokens, usage.cache_write_tokens), (8, 1));
    assert_eq!(respond(&model, "").0.unwrap().stop, StopCause::Filtered);
}

#[test]
fn malformed_arguments_are_reported() {
    let model = model(
        "turns:\n  - tool_calls: [{name: bash, input: '{\"command\": '}, {name: bash, input: '[1]'}]\n",
    );
    let blocks = respond(&model, "").0.unwrap().blocks;
    assert!(
        blocks.iter().all(|block| matches!(block, ResponseBlock::Malformed { .. })),
        "{blocks:?}"
    );
}

#[test]
fn invalid_scripts_are_rejected_with_a_location() {
    for script in [
        "",
        "turns: 3",
        "turns: []\nturnz: []",
        "turns:\n  - txt: hi",
        "turns: [{usage: {tokens: 1}}]",
        "turns: [{stop: done}]",
        "turns: [{fault: {kind: sleepy}}]",
        "turns: [{fault: {kind: cut, times: 0}}]",
        "turns: [{fault: {times: 2}}]",
        "turns: []\ncompletions: one",
        "turns: []\ncompletions: [{txt: one}]",
        "turns: []\nrecipes: {sum: one}",
        "turns: []\nrecipes: {sum: [{txt: one}]}",
        "turns: []\nrecipes: {sum: [[one]]}",
        "turns: [{fault: {kind: refused, retry_after_ms: 5}}]",
    ] {
        assert!(ScriptedModel::parse("x", script).is_err(), "{script:?}");
    }
    assert!(ScriptedModel::parse("x", "turns:\n  - txt: hi").err().unwrap().contains("line 2"));
}

#[test]
fn a_script_that_cannot_be_loaded_is_named_in_the_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("turns.yaml");
    let error = || ScriptedModel::load(&path).err().unwrap().to_string();
    assert!(error().starts_with(&format!("cannot read the script {}: ", path.display())));
    std::fs::write(&path, "turnz: []").unwrap();
    let begin = format!("the script {} is not valid: line 1 column 1: ", path.display());
    assert!(error().starts_with(&begin), "{}", error());
}

#[test]
fn a_paced_turn_pauses_between_words_and_can_be_cancelled() {
    let model =
        model("turns:\n  - {text: one two, pace_ms: 3600000}\n  - {text: one two, pace_ms: 1}\n");
    let cancel = Cancel::new();
    let messages = [Message::user("hi")];
    let request = Request { messages: &messages, ..Request::default() };
    let response = model.respond(&request, &mut |_| cancel.cancel(), &cancel);
    assert_eq!(response, Err(ModelError::Cancelled));
    assert_eq!(respond(&model, "hi").1, "one two");
}
