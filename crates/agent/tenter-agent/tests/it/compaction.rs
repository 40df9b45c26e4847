//! Compaction: its conditions, its events, and the remaining conversation.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tenter_agent::UserMessage;
use tenter_agent::session::{CompactionResult, Status};
use tenter_agent::store::{ChangeKind, Origin, Restore};
use tenter_protocol::{Block, Image, ImageSource, Message};

use crate::session_stage::{ID, QUICK, Stage};

/// Figures of an exchange that fills a window of 16000 tokens beyond 80 %.
const FULL: &str = "usage: {input_tokens: 13000, output_tokens: 10}";

/// Returns a stage with a window of 16000 tokens, a recipe that says `SUM`, and hooks that log compactions.
fn stage(turns: &str) -> Stage {
    let script = format!("{turns}\nrecipes: {{compact: [SUM]}}\ncontext_window: 16000\n");
    let mut stage = Stage::new(&script, QUICK);
    for event in ["pre_compact", "post_compact"] {
        let body = format!("printf '%s\\n' \"$payload\" >> {event}");
        stage.hook(&format!("log-{}", event.replace('_', "-")), event, "", &body);
    }
    stage
}

/// Returns two turns, of which the first fills the window.
fn filling() -> String {
    format!(
        "turns:\n  - {{text: Looking., tool_calls: [{{name: bash, input: {{command: echo FOUND}}}}], {FULL}}}\n  - {{text: Done., expect: {{contains: [<summary>, SUM, find it], lacks: [Looking, FOUND]}}, usage: {{input_tokens: 90, output_tokens: 10}}}}\n"
    )
}

/// Returns the `trigger` and the figures of the compactions in the payloads of hooks.
fn compactions(stage: &Stage, event: &str) -> Vec<(String, u64, Option<u64>)> {
    let figures = |payload: &Value| {
        let trigger = payload["trigger"].as_str().unwrap().to_owned();
        (trigger, payload["tokens_before"].as_u64().unwrap(), payload["tokens_after"].as_u64())
    };
    stage.logged(event).iter().map(figures).collect()
}

fn contents(messages: &[Message]) -> Vec<String> {
    messages.iter().map(Message::content).collect()
}

#[test]
fn at_the_threshold_a_summary_and_the_last_request_replace_everything() {
    let stage = stage(&filling());
    let (finish, usage) = stage.send(&"find it".into());
    assert_eq!((finish.status, finish.response.as_str()), (Status::Done, "Done."));
    let expected = ["recipe compact", "history compact by compact: 3 -> 2"];
    assert_eq!([stage.reports_of("recipe"), stage.reports_of("history")].concat(), expected);
    let (messages, turns) = stage.stored();
    assert_eq!((messages.len(), turns), (3, 2));
    assert!(messages[0].content().starts_with("<summary>\nSUM\n</summary>"));
    assert_eq!(messages[1], Message::user("find it"));

    let before = compactions(&stage, "pre_compact");
    assert_eq!(before, [("auto".to_owned(), 13010, None)]);
    let after = compactions(&stage, "post_compact");
    let size: usize = messages[..2].iter().map(|message| message.content().len().div_ceil(4)).sum();
    assert_eq!(after, [("auto".to_owned(), 13010, Some(size as u64))]);
    assert_eq!(usage.current_context_window, 100, "what the next exchange counted");
}

#[test]
fn a_replaced_history_can_be_restored_after_compaction() {
    let stage = stage(&filling());
    stage.send(&"find it".into());
    let epochs = stage.epochs();
    let change = epochs[1].change.as_ref().unwrap();
    assert_eq!((change.kind, change.by.as_str()), (ChangeKind::Compact, "compact"));
    let reason = "builtin:compact-trigger found the context nearly full";
    assert_eq!(change.reason.as_deref(), Some(reason));
    let old: Vec<Message> =
        epochs[0].entries.iter().map(|entry| entry.entry.message.clone()).collect();
    assert!(contents(&old).concat().contains("FOUND"));
    let origins: Vec<&Origin> = epochs[1].entries.iter().map(|entry| &entry.entry.origin).collect();
    let recipe = Origin::Recipe("compact".into());
    assert_eq!(origins, [&recipe, &Origin::User, &Origin::Model]);

    stage
        .agent
        .store
        .restore(&Restore { id: ID, epoch: None, at: "2026-03-01T12:00:00Z" })
        .unwrap();
    assert_eq!(stage.stored().0, old);
    let (finish, _) = stage.send(&"continue".into());
    assert_eq!(finish.status, Status::Done);
}

#[test]
fn nothing_is_compacted_below_or_without_a_threshold() {
    for (limit, figure) in [(Some(0.9), 13000), (None, 15900)] {
        let mut stage = stage(&format!(
            "turns: [{{text: One., tool_calls: [{{name: todo}}], usage: {{input_tokens: {figure}, output_tokens: 10}}}}, {{text: Two.}}]"
        ));
        stage.agent.settings.auto_compact = limit;
        stage.send(&"go".into());
        assert_eq!(stage.reports_of("recipe"), [] as [&str; 0]);
        assert_eq!(stage.epochs().len(), 1);
    }
}

#[test]
fn the_user_may_compact_at_any_time() {
    let mut stage = stage(
        "turns: [{text: One.}, {text: Two., expect: {contains: [SUM, first, second], lacks: [One.]}}]",
    );
    stage.agent.settings.auto_compact = None;
    let mut session = stage.session();
    assert_eq!(session.compact(&BTreeMap::new()).unwrap(), CompactionResult::Unchanged);
    assert_eq!(stage.reports_of("nothing-to-compact").len(), 1);
    session.send(&"first".into());
    assert_eq!(session.compact(&BTreeMap::new()).unwrap(), CompactionResult::Done);
    assert_eq!(session.send(&"second".into()).response, "Two.");
    let triggers: Vec<String> =
        compactions(&stage, "pre_compact").into_iter().map(|(trigger, ..)| trigger).collect();
    assert_eq!(triggers, ["manual"]);
    let change = stage.epochs()[1].change.clone().unwrap();
    assert_eq!(change.reason.as_deref(), Some("the user requested it"));
}

#[test]
fn a_too_long_conversation_is_compacted_and_sent_again() {
    let stage = stage("turns: [{text: One.}, {text: Two., fault: {kind: too_long}}]");
    let mut session = stage.session();
    session.send(&"first".into());
    assert_eq!(session.send(&"second".into()).response, "Two.");
    assert_eq!(compactions(&stage, "pre_compact")[0].0, "overflow");
    let (messages, turns) = stage.stored();
    assert_eq!((messages.len(), turns), (3, 2));
    assert_eq!(messages[1], Message::user("second"));
}

#[test]
fn a_conversation_that_stays_too_long_or_must_not_be_compacted_is_an_error() {
    let script = "turns: [{text: One.}, {text: Two., fault: {kind: too_long, times: 2}}]";
    for (auto, compactions) in [(Some(0.8), 1), (None, 0)] {
        let mut stage = stage(script);
        stage.agent.settings.auto_compact = auto;
        let mut session = stage.session();
        session.send(&"first".into());
        let finish = session.send(&"second".into());
        let finding = finish.error.unwrap().diagnostic();
        assert_eq!((finish.status, finding.id), (Status::Failed, "conversation-too-long"));
        assert!(finding.help.unwrap().contains("tenter run -r compact --follow"));
        assert_eq!(stage.reports_of("history").len(), compactions);
    }
    let stage = stage("turns: [{text: One., fault: {kind: too_long}}]");
    let (finish, _) = stage.send(&"too much at once".into());
    assert_eq!(finish.status, Status::Failed);
    assert_eq!(stage.reports_of("recipe"), [] as [&str; 0], "one message cannot be shortened");
}

#[test]
fn a_request_that_cannot_fit_is_not_sent() {
    let big = "head -c 30000 /dev/zero | tr '\\\\0' x";
    let stage = stage(&format!(
        "turns:\n  - {{tool_calls: [{{name: bash, input: {{command: \"{big}\"}}}}], usage: {{input_tokens: 8000, output_tokens: 10}}}}\n  - {{text: Done., expect: {{contains: [SUM], lacks: [xxxx]}}}}\n"
    ));
    let (finish, _) = stage.send(&"go".into());
    assert_eq!(finish.response, "Done.", "{:?}", finish.error);
    assert_eq!(compactions(&stage, "pre_compact")[0].0, "overflow");
}

#[test]
fn a_long_last_request_does_not_count_twice() {
    let stage = stage(&format!(
        "turns:\n  - {{text: One., tool_calls: [{{name: todo}}], {FULL}}}\n  - {{text: Two.}}\n"
    ));
    let (finish, _) = stage.send(&UserMessage::from("z".repeat(36_000).as_str()));
    assert_eq!(finish.response, "Two.");
    assert_eq!(stage.reports_of("recipe").len(), 1, "9000 of 16000 tokens are not too many");
}

#[test]
fn a_hook_may_deny_compaction_this_time() {
    let mut stage = stage(&format!(
        "turns:\n  - {{tool_calls: [{{name: todo}}], {FULL}}}\n  - {{text: Two., tool_calls: [{{name: todo}}], expect: {{lacks: [SUM]}}, {FULL}}}\n  - {{text: Three., expect: {{contains: [SUM]}}}}\n"
    ));
    let once = "[ -e asked ] || { touch asked; echo 'not now' >&2; exit 2; }";
    stage.hook("guard", "pre_compact", "", once);
    let (finish, _) = stage.send(&"go".into());
    assert_eq!(finish.response, "Three.", "{:?}", finish.error);
    assert_eq!(stage.reports_of("blocked"), ["blocked pre_compact guard: not now"]);
    assert_eq!(stage.reports_of("history").len(), 1);
}

#[test]
fn context_from_pre_compact_reaches_the_recipe() {
    let script = "turns: [{text: One.}]\nrecipes: {compact: [{text: SUM, expect: {contains: [keep the ticket, first, One., '## Objective']}}]}";
    let mut stage = Stage::new(script, QUICK);
    let answer = "echo '{\"additional_context\": \"keep the ticket\"}'";
    stage.hook("before", "pre_compact", "", answer);
    let mut session = stage.session();
    session.send(&"first".into());
    assert_eq!(
        session.compact(&BTreeMap::new()).unwrap(),
        CompactionResult::Done,
        "{:?}",
        stage.reports()
    );
}

#[test]
fn repeated_compaction_keeps_the_last_request_verbatim_with_its_images() {
    let stage = stage(
        "turns: [{text: One.}, {text: Two.}, {text: Three., expect: {contains: ['[image: image/png']}}]",
    );
    let image = Block::Image(Image {
        media_type: "image/png".into(),
        source: ImageSource::Data("aGk=".into()),
    });
    let request = UserMessage {
        text: "What\n  is <it>?".into(),
        images: vec![image.clone()],
        ..UserMessage::default()
    };
    let request_message =
        Message::new(tenter_protocol::Role::User, vec![image, Block::text("What\n  is <it>?")]);
    let mut session = stage.session();
    session.send(&"first".into());
    session.send(&request);
    for _ in 0..3 {
        assert_eq!(session.compact(&BTreeMap::new()).unwrap(), CompactionResult::Done);
        assert_eq!(stage.stored().0[1..], *std::slice::from_ref(&request_message));
    }
    session.end(Status::Done, Status::Done.exit_reason());

    let mut session = stage.session();
    assert_eq!(session.compact(&BTreeMap::new()).unwrap(), CompactionResult::Done);
    assert_eq!(stage.stored().0[1..], [request_message]);
    assert_eq!(session.send(&"and now?".into()).response, "Three.");
    assert_eq!(stage.epochs().len(), 5);
}

#[test]
fn files_must_be_read_again_before_they_are_changed() {
    let edit = "{name: file_edit, input: {file_path: a.txt, old_text: one, new_text: two}}";
    let call = "{name: file_read, input: {file_path: a.txt}}";
    let stage = stage(&format!(
        "turns:\n  - {{tool_calls: [{call}], {FULL}}}\n  - {{tool_calls: [{edit}]}}\n  - {{tool_calls: [{call}]}}\n  - {{tool_calls: [{edit}]}}\n  - {{text: Done.}}\n"
    ));
    stage.write("project/a.txt", "one\n");
    stage.send(&"change it".into());
    let results = stage.reports_of("result");
    assert!(
        results[1].contains("a part of the conversation that has been replaced"),
        "{results:?}"
    );
    assert_eq!(stage.read("a.txt"), "two\n");
}

#[test]
fn a_compacted_history_has_neither_tool_calls_nor_missing_results() {
    let parallel = "[{name: todo}, {name: bash, input: {command: echo FOUND}}]";
    let turn = format!("{{tool_calls: {parallel}, {FULL}}}");
    let stage = stage(&format!("turns: [{turn}, {turn}, {turn}, {{text: Done.}}]"));
    stage.send(&"go".into());
    let epochs = stage.epochs();
    assert_eq!(epochs.len(), 4);
    for epoch in &epochs[1..] {
        let [summary, request, ..] = &epoch.entries[..] else { panic!("{epoch:?}") };
        for entry in [summary, request] {
            let blocks = &entry.entry.message.blocks;
            assert!(blocks.iter().all(|block| matches!(block, Block::Text { .. })), "{blocks:?}");
        }
        tenter_protocol::history::validate(&[
            summary.entry.message.clone(),
            request.entry.message.clone(),
        ])
        .unwrap();
    }
}

#[test]
fn a_subagent_compacts_its_own_conversation() {
    let stage = stage(&format!(
        "turns:\n  - {{tool_calls: [{{name: subagent, input: {{task: dig}}}}], usage: {{input_tokens: 100, output_tokens: 10}}}}\n  - {{tool_calls: [{{name: todo}}], {FULL}}}\n  - {{text: Dug., expect: {{contains: [SUM, dig], lacks: [go deep]}}, usage: {{input_tokens: 10, output_tokens: 10}}}}\n  - {{text: Done., expect: {{contains: [go deep, Dug.], lacks: [SUM]}}, usage: {{input_tokens: 100, output_tokens: 10}}}}\n"
    ));
    let (finish, _) = stage.send(&"go deep".into());
    assert_eq!(finish.response, "Done.", "{:?}", finish.error);
    assert_eq!(stage.epochs().len(), 1);
    let payload = &stage.logged("pre_compact")[0];
    let parent = &payload["context"]["parent_session_id"];
    assert_eq!((parent, &payload["trigger"]), (&json!(ID), &json!("auto")), "{payload}");
}
