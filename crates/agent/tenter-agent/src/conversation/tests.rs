//! Replacement of histories, and counts of usage.

use serde_json::{Value, json};
use tenter_protocol::{Block, Role};

use super::*;

const AT: &str = "2026-03-01T12:00:00Z";

fn conversation(id: &str, parent: Option<&str>) -> Conversation {
    Conversation::new(id.into(), parent.map(str::to_owned), Path::new("/work/shop"), "first")
}

fn exchanged(model: &str, cost_usd: Option<f64>) -> ResponseUsage<'_> {
    let turn = TurnUsage {
        input_tokens: 10,
        output_tokens: 2,
        cached_input_tokens: 8,
        cache_write_tokens: 1,
    };
    ResponseUsage { turn, cost_usd, window: 1000, estimated: false, model }
}

fn answered(text: &str, native: Value) -> Message {
    Message { native: Some(native), ..Message::new(Role::Assistant, vec![Block::text(text)]) }
}

/// Returns two questions with the same answer, but different native forms of it.
fn talk(store: &Store) -> Conversation {
    let mut talk = conversation("c", None);
    for (question, native) in [("one?", json!({"n": 1})), ("two?", json!({"n": 2}))] {
        talk.push(Message::user(question), Origin::User);
        talk.add_response(&exchanged("first", None));
        talk.push(answered("Yes.", native), Origin::Model);
    }
    talk.save(store, AT).unwrap();
    talk
}

fn replacement(kind: ChangeKind, messages: &[Message]) -> HistoryReplacement<'_> {
    HistoryReplacement { kind, by: "tidy", reason: Some("too long"), messages }
}

fn stored(store: &Store) -> Vec<(String, Option<Value>, Origin)> {
    let entries = store.load("c").unwrap().entries.into_iter().map(|entry| entry.entry);
    entries
        .map(|HistoryEntry { message, origin }| (message.content(), message.native, origin))
        .collect()
}

#[test]
fn kept_messages_retain_their_native_form() {
    let store = Store::in_memory().unwrap();
    let mut talk = talk(&store);
    // As a hook returns it: without the native form.
    let new = [
        Message::user("So far: one."),
        Message::assistant("Yes."),
        Message::user("two?"),
        Message::assistant("Yes."),
        Message::assistant("Yes."),
        Message::user("three?"),
    ];
    talk.replace(&store, &replacement(ChangeKind::Mutate, &new), AT).unwrap();
    let mutated = || Origin::Mutation("tidy".into());
    let expected = [
        ("So far: one.", None, mutated()),
        ("Yes.", Some(json!({"n": 1})), Origin::Model),
        ("two?", None, Origin::User),
        ("Yes.", Some(json!({"n": 2})), Origin::Model),
        ("Yes.", None, mutated()),
        ("three?", None, mutated()),
    ];
    let expected = expected.map(|(text, native, origin)| (text.to_owned(), native, origin));
    assert_eq!(stored(&store), expected);
    let resumed = Conversation::resumed(store.load("c").unwrap());
    assert_eq!(resumed.messages(), talk.messages());

    // The second replacement sees the result of the first.
    talk.push(Message::assistant("No."), Origin::Model);
    talk.replace(&store, &replacement(ChangeKind::Mutate, &new[..4]), AT).unwrap();
    assert_eq!(stored(&store), expected[..4]);
}

#[test]
fn a_summary_originates_from_its_recipe() {
    let store = Store::in_memory().unwrap();
    let mut talk = talk(&store);
    let new = [Message::user("In short: yes."), Message::user("two?")];
    talk.replace(&store, &replacement(ChangeKind::Compact, &new), AT).unwrap();
    let origins: Vec<Origin> = stored(&store).into_iter().map(|(_, _, origin)| origin).collect();
    assert_eq!(origins, [Origin::Recipe("tidy".into()), Origin::User]);
    let change = store.history("c").unwrap().pop().unwrap().change.unwrap();
    assert_eq!((change.kind, change.reason.as_deref()), (ChangeKind::Compact, Some("too long")));
}

#[test]
fn the_size_of_a_request_is_counted_as_messages_come_and_go() {
    use crate::model::{Purpose, Request};
    let text_size = |messages: &[Message]| {
        let purpose = Purpose::Conversation;
        let request = Request { system: "", messages, tools: &[], purpose, max_tokens: None };
        request.text().len() as u64
    };
    let store = Store::in_memory().unwrap();
    let mut talk = talk(&store);
    assert_eq!(talk.request_bytes(), text_size(&talk.messages()));
    let resumed = Conversation::resumed(store.load("c").unwrap());
    assert_eq!(resumed.request_bytes(), talk.request_bytes());
    let new = [Message::user("In short: yes."), Message::user("two?")];
    talk.replace(&store, &replacement(ChangeKind::Compact, &new), AT).unwrap();
    talk.push(Message::assistant("éé"), Origin::Model);
    assert_eq!(talk.request_bytes(), text_size(&talk.messages()));
}

#[test]
fn live_usage_equals_stored_usage() {
    let store = Store::in_memory().unwrap();
    let mut main = conversation("main", None);
    main.push(Message::user("go"), Origin::User);
    main.save(&store, AT).unwrap();
    assert_eq!(main.usage().cost_usd, None);
    let mut child = conversation("child", Some("main"));
    for (model, cost) in [("first", Some(0.5)), ("second", None), ("third", Some(0.25))] {
        child.push(Message::user("find it"), Origin::User);
        child.add_response(&exchanged(model, cost));
        child.push(Message::assistant("there"), Origin::Model);
        child.save(&store, AT).unwrap();
    }
    main.add_response(&exchanged("second", Some(1.0)));
    // The usage of an empty response counts too.
    main.push(Message::assistant(""), Origin::Model);
    main.add_response(&exchanged("second", Some(2.0)));
    main.push(Message::assistant("done"), Origin::Model);
    let turn = TurnUsage { input_tokens: 30, output_tokens: 6, ..TurnUsage::default() };
    main.add_subagent_usage(Spent { turn, cost_usd: child.usage().cost_usd });
    main.save(&store, AT).unwrap();

    let summary = |id: &str| store.load(id).unwrap().summary;
    assert_eq!(summary("child").usage, *child.usage());
    assert_eq!(summary("child").model, "third");
    assert_eq!(main.usage().cost_usd, Some(3.75));
    assert_eq!((main.model(), summary("main").model.as_str()), ("second", "second"));
    let (live, copy) = (*main.usage(), summary("main").usage);
    let turn = TurnUsage {
        input_tokens: 20,
        output_tokens: 4,
        cached_input_tokens: 16,
        cache_write_tokens: 2,
    };
    assert_eq!(copy, Usage { turn, ..live }, "the empty response is saved with the next");
}

#[test]
fn a_deleted_conversation_is_lost_and_reported_once() {
    let store = Store::in_memory().unwrap();
    let mut talk = talk(&store);
    store.delete(&["c".into()]).unwrap();
    talk.push(Message::user("three?"), Origin::User);
    let error = talk.save(&store, AT).unwrap_err();
    assert!(matches!(error, StoreError::Deleted { .. }), "{error}");
    talk.set_status(&store, "failed", AT).unwrap();
}
