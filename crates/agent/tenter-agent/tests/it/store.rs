//! Saving and loading conversations.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde_json::json;
use tenter_agent::store::{
    ChangeKind, Exchange, ExchangeUsage, HistoryChange, HistoryEntry, ListQuery, NewConversation,
    Origin, RecordedChange, Store, StoreError,
};
use tenter_protocol::event::{TurnUsage, Usage};
use tenter_protocol::{Block, Message, Role, ToolCall};

use crate::store_fixtures::{
    AT, Scratch, append_after_all, asked, begin, change, entry, exchange, new, new_in, present,
    said, spent, worked,
};

#[test]
fn a_conversation_round_trips_through_a_reopened_store() {
    let scratch = Scratch::new();
    let first = worked(1);
    let second = [entry(Origin::Hook("guard".into()), Message::user("follow-up")), said("done")];
    {
        let store = scratch.open();
        let new = NewConversation { parent: Some("p"), recipe: Some("review"), ..new() };
        let first = Exchange { usage: Some(spent(10, 5)), ..exchange("c", 0, &first) };
        assert_eq!(store.begin(&new, &first).unwrap(), 4);
        let second = Exchange {
            usage: Some(spent(20, 7)),
            at: "2026-03-01T12:00:09Z",
            ..exchange("c", 4, &second)
        };
        assert_eq!(store.append(&second).unwrap(), 6);
    }
    let conversation = scratch.open().load("c").unwrap();
    let entries: Vec<HistoryEntry> =
        conversation.entries.iter().map(|entry| entry.entry.clone()).collect();
    assert_eq!(entries, [first, second.to_vec()].concat());
    assert_eq!(
        conversation.entries.iter().map(|entry| entry.sequence).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5]
    );
    assert_eq!((conversation.next, conversation.turns), (6, 3));
    let summary = conversation.summary;
    assert_eq!((summary.parent.as_deref(), summary.recipe.as_deref()), (Some("p"), Some("review")));
    assert_eq!(
        (summary.created_at.as_str(), summary.updated_at.as_str()),
        (AT, "2026-03-01T12:00:09Z")
    );
    assert_eq!((summary.preview.as_str(), summary.message_count), ("question 1", 6));
    let turn = TurnUsage { input_tokens: 20, output_tokens: 7, ..TurnUsage::default() };
    let usage = Usage { input_tokens: 30, output_tokens: 12, turn, ..Usage::default() };
    assert_eq!(
        summary.usage,
        Usage { current_context_window: 27, max_context_window: 200_000, ..usage }
    );
}

#[test]
fn usage_includes_nested_subagents_and_survives_extreme_counts() {
    let store = Store::in_memory().unwrap();
    let words = [asked("q"), said("a")];
    // The subagents are saved before the conversation that started them.
    for (id, parent, usage) in [
        ("leaf", Some("child"), spent(1, 1)),
        ("child", Some("main"), spent(2, 2)),
        ("main", None, spent(4, 4)),
    ] {
        let first = Exchange { usage: Some(usage), ..exchange(id, 0, &words) };
        store.begin(&NewConversation { parent, ..new() }, &first).unwrap();
    }
    let usage = |id: &str| store.load(id).unwrap().summary.usage;
    assert_eq!(
        (usage("main").input_tokens, usage("child").input_tokens, usage("leaf").input_tokens),
        (7, 3, 1)
    );
    assert_eq!(usage("main").turn.input_tokens, 4);
    assert!(!usage("main").estimated);

    let turn = TurnUsage { input_tokens: u64::MAX, ..TurnUsage::default() };
    let absurd = ExchangeUsage { estimated: true, turn, ..ExchangeUsage::default() };
    for next in [2, 4] {
        store.append(&Exchange { usage: Some(absurd), ..exchange("leaf", next, &words) }).unwrap();
    }
    assert_eq!(usage("main").input_tokens, i64::MAX as u64);
    assert!(usage("main").estimated);
}

#[test]
fn a_replaced_history_is_kept_and_can_be_restored() {
    let store = Store::in_memory().unwrap();
    let old = worked(1);
    store.begin(&new(), &Exchange { usage: Some(spent(10, 5)), ..exchange("c", 0, &old) }).unwrap();
    assert_eq!(store.load("c").unwrap().summary.usage.current_context_window, 15);
    let short = [entry(Origin::Mutation("trim".into()), Message::user("in short"))];
    let mutation = HistoryChange { reason: Some("too long"), ..change("c", 4, &short) };
    assert_eq!(store.replace_history(&mutation).unwrap(), 5);
    assert_eq!(present(&store, "c"), short);
    let usage = store.load("c").unwrap().summary.usage;
    assert_eq!(
        (usage.input_tokens, usage.current_context_window),
        (10, 0),
        "the new history has not been counted"
    );
    store.append(&exchange("c", 5, &[said("going on")])).unwrap();

    let epochs = store.history("c").unwrap();
    let because = RecordedChange {
        kind: ChangeKind::Mutate,
        by: "trim".into(),
        reason: Some("too long".into()),
        at: AT.into(),
    };
    assert_eq!((epochs[0].change.as_ref(), epochs[1].change.as_ref()), (None, Some(&because)));
    assert_eq!((epochs[0].entries.len(), epochs[1].entries.len()), (4, 2));

    let before: Vec<HistoryEntry> =
        epochs[0].entries.iter().map(|entry| entry.entry.clone()).collect();
    let restore =
        HistoryChange { kind: ChangeKind::Restore, by: "user", ..change("c", 6, &before) };
    store.replace_history(&restore).unwrap();
    assert_eq!(present(&store, "c"), old);
    let conversation = store.load("c").unwrap();
    assert_eq!(
        (conversation.next, conversation.turns),
        (10, 3),
        "restored responses are not new ones"
    );
    assert_eq!(store.history("c").unwrap().len(), 3);
}

#[test]
fn a_late_writer_gets_an_error_and_changes_nothing() {
    let scratch = Scratch::new();
    let (one, two) = (scratch.open(), scratch.open());
    begin(&one, "c");
    assert_eq!(two.load("c").unwrap().next, 2);
    one.append(&exchange("c", 2, &[asked("from one")])).unwrap();

    let late = [asked("from two")];
    for error in [
        two.append(&exchange("c", 2, &late)).unwrap_err(),
        two.replace_history(&change("c", 2, &late)).unwrap_err(),
    ] {
        assert!(
            matches!(error, StoreError::ChangedElsewhere { expected: 2, next: 3, .. }),
            "{error}"
        );
    }
    let again = two
        .begin(&NewConversation { model: "other", ..new() }, &exchange("c", 0, &late))
        .unwrap_err();
    assert!(matches!(again, StoreError::ChangedElsewhere { expected: 0, next: 3, .. }), "{again}");

    assert_eq!(present(&two, "c").last(), Some(&asked("from one")));
    assert_eq!(two.load("c").unwrap().summary.model, "scripted/plain");
    assert_eq!(two.append(&exchange("c", 3, &late)).unwrap(), 4);
    assert_eq!(present(&one, "c").len(), 4);
}

#[test]
fn a_conversation_exists_only_with_its_first_exchange() {
    let store = Store::in_memory().unwrap();
    for error in [
        store.append(&exchange("c", 0, &[asked("q")])).unwrap_err(),
        store.replace_history(&change("c", 0, &[asked("q")])).unwrap_err(),
        store.set_status("c", "blocked", AT).unwrap_err(),
        store.load("c").unwrap_err(),
        store.history("c").unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::NotFound { .. }), "{error}");
    }
    assert!(store.begin(&new(), &exchange("c", 0, &[])).is_err());
    assert!(store.begin(&new(), &exchange("c", 1, &[asked("q")])).is_err());
    assert_eq!(store.newest(None).unwrap(), None);
}

#[test]
fn entries_that_could_not_be_resumed_are_not_saved() {
    let store = Store::in_memory().unwrap();
    begin(&store, "c");
    let whole = worked(1);
    let forged = Message { role: Role::User, ..whole[1].message.clone() };
    for (flaw, entries) in [
        ("there is no message", vec![]),
        ("results are missing", whole[..2].to_vec()),
        ("do not fit", vec![whole[1].clone(), whole[3].clone()]),
        ("do not fit", whole[2..].to_vec()),
        ("do not fit", vec![whole[1].clone(), worked(2)[2].clone()]),
        ("is the user's and calls a tool", vec![entry(Origin::User, forged), whole[2].clone()]),
        ("recursion limit", vec![too_deep(), whole[2].clone()]),
    ] {
        for error in [
            store.append(&exchange("c", 2, &entries)).unwrap_err(),
            store.replace_history(&change("c", 2, &entries)).unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::NotResumable { .. }), "{error}");
            assert!(error.to_string().contains(flaw), "{error}");
        }
    }
    assert_eq!(store.load("c").unwrap().next, 2);
    assert_eq!(store.history("c").unwrap().len(), 1);
}

/// Returns JSON that can be built in memory, but is nested too deeply to be parsed.
fn too_deep() -> HistoryEntry {
    let input =
        (0..200).fold(json!({}), |inner, _| json!({ "in": inner })).as_object().unwrap().clone();
    let call = Block::ToolUse(ToolCall { id: "call-1".into(), name: "bash".into(), input });
    entry(Origin::Model, Message::new(Role::Assistant, vec![call]))
}

#[test]
fn an_unreadable_message_is_named_and_the_others_are_kept() {
    let scratch = Scratch::new();
    let store = scratch.open();
    begin(&store, "old");
    begin(&store, "new");
    for (column, value, said) in [
        ("blocks", r#"[{"type": "hologram"}]"#, "hologram"),
        ("blocks", "[", "EOF"),
        ("role", "narrator", "narrator"),
        ("origin", "oracle", "oracle"),
    ] {
        let sql = format!(
            "UPDATE messages SET {column} = ?1 WHERE conversation_id = 'new' AND sequence = 1"
        );
        scratch.raw().execute(&sql, [value]).unwrap();
        for error in [store.load("new").unwrap_err(), store.history("new").unwrap_err()] {
            assert!(matches!(error, StoreError::Unreadable { sequence: 1, .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains("conversation new") && text.contains(said), "{text}");
        }
        scratch
            .raw()
            .execute("UPDATE messages SET role = 'user', origin = 'user', blocks = '[]'", [])
            .unwrap();
    }
    assert_eq!(store.load("old").unwrap().entries.len(), 2);
    assert_eq!(
        store.list(&ListQuery { project: None, limit: 9, include_subagents: true }).unwrap().len(),
        2
    );
}

#[test]
fn an_unknown_kind_of_change_is_an_error_only_for_the_history() {
    let scratch = Scratch::new();
    let store = scratch.open();
    begin(&store, "c");
    store.replace_history(&change("c", 2, &[asked("short")])).unwrap();
    scratch.raw().execute("UPDATE history_changes SET kind = 'dream'", []).unwrap();
    assert!(store.history("c").unwrap_err().to_string().contains("\"dream\""));
    assert_eq!(store.load("c").unwrap().entries.len(), 1);
}

#[test]
fn a_status_lasts_until_the_conversation_continues() {
    let store = Store::in_memory().unwrap();
    begin(&store, "c");
    let summary = || store.load("c").unwrap().summary;
    assert_eq!(summary().status, None);
    store.set_status("c", "max_turns", "2026-03-02T00:00:00Z").unwrap();
    assert_eq!(
        (summary().status.as_deref(), summary().updated_at.as_str()),
        (Some("max_turns"), "2026-03-02T00:00:00Z")
    );
    append_after_all(&store, "c", &[asked("more")]);
    assert_eq!(summary().status, None);
}

fn ids(
    store: &Store,
    project: Option<&Path>,
    limit: usize,
    include_subagents: bool,
) -> Vec<String> {
    let query = ListQuery { project, limit, include_subagents };
    store.list(&query).unwrap().into_iter().map(|summary| summary.id).collect()
}

#[test]
fn lists_start_with_the_conversation_saved_last() {
    let store = Store::in_memory().unwrap();
    let other = Path::new("/work/other");
    for (id, project, parent) in
        [("a", "/work/shop", None), ("b", "/work/other", None), ("s", "/work/shop", Some("a"))]
    {
        let new = NewConversation { parent, ..new_in(Path::new(project)) };
        store.begin(&new, &exchange(id, 0, &[asked(id)])).unwrap();
    }
    assert_eq!(
        ids(&store, None, 9, true),
        ["s", "b", "a"],
        "of the same second, the last created first"
    );
    let more = [said("more")];
    // Half a second after AT, which as text would sort before it.
    store.append(&Exchange { at: "2026-03-01T12:00:00.5Z", ..exchange("a", 1, &more) }).unwrap();
    assert_eq!(ids(&store, None, 9, true), ["a", "s", "b"]);
    assert_eq!(ids(&store, None, 9, false), ["a", "b"]);
    assert_eq!(ids(&store, None, 1, true), ["a"]);
    assert_eq!(ids(&store, Some(other), 9, true), ["b"]);
    assert_eq!(store.newest(None).unwrap().as_deref(), Some("a"));
    assert_eq!(store.newest(Some(other)).unwrap().as_deref(), Some("b"));
    assert_eq!(store.newest(Some(Path::new("/nowhere"))).unwrap(), None);
}

#[test]
fn a_preview_is_the_users_first_message_even_if_it_is_not_the_first() {
    let store = Store::in_memory().unwrap();
    let context = entry(Origin::Hook("motd".into()), Message::user("be nice"));
    store.begin(&new(), &exchange("c", 0, &[context])).unwrap();
    let preview = || store.load("c").unwrap().summary.preview;
    assert_eq!(preview(), "");
    let mut question = Message::user("fix\nthe test");
    question.blocks.push(Block::text("<hook name=\"motd\">be nice</hook>"));
    append_after_all(&store, "c", &[entry(Origin::User, question), said("sure")]);
    append_after_all(&store, "c", &[asked("and then?")]);
    assert_eq!(preview(), "fix the test");
}

#[test]
fn a_project_with_a_non_utf8_path_is_found() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let odd = Path::new(OsStr::from_bytes(b"/work/caf\xe9"));
    let look_alike = odd.to_string_lossy().into_owned();
    store.begin(&new_in(odd), &exchange("odd", 0, &[asked("q")])).unwrap();
    store.begin(&new_in(Path::new(&look_alike)), &exchange("even", 0, &[asked("q")])).unwrap();
    assert_eq!(store.newest(Some(odd)).unwrap().as_deref(), Some("odd"));
    assert_eq!(store.newest(Some(Path::new(&look_alike))).unwrap().as_deref(), Some("even"));
    assert_eq!(store.load("odd").unwrap().summary.project, odd);
}

#[test]
fn a_unique_prefix_of_an_id_is_enough() {
    let store = Store::in_memory().unwrap();
    for id in ["0190-aa", "0190-ab", "0190-a", "100%"] {
        begin(&store, id);
    }
    assert_eq!(store.find("1").unwrap(), "100%");
    assert_eq!(store.find("0190-aa").unwrap(), "0190-aa");
    assert_eq!(
        store.find("0190-a").unwrap(),
        "0190-a",
        "an id that is a prefix of others is still an id"
    );
    let error = store.find("0190").unwrap_err();
    assert!(
        matches!(&error, StoreError::Ambiguous { ids, .. } if ids == &["0190-a", "0190-ab", "0190-aa"]),
        "{error}"
    );
    let error = store.find("ab").unwrap_err();
    assert!(matches!(&error, StoreError::NotFound { near, .. } if near == &["0190-ab"]), "{error}");
    for wild in ["%", "_", "0190%", ""] {
        assert!(matches!(store.find(wild), Err(StoreError::NotFound { .. })), "{wild:?}");
    }
}

#[test]
fn saving_adds_rows_and_changes_no_old_message() {
    let scratch = Scratch::new();
    let store = scratch.open();
    store.begin(&new(), &exchange("c", 0, &worked(1))).unwrap();
    // From now on, changing or removing a row of these tables fails.
    for table in ["messages", "usage", "history_changes"] {
        for verb in ["UPDATE", "DELETE"] {
            let name = format!("no_{verb}_{table}");
            let sql = format!(
                "CREATE TRIGGER {name} BEFORE {verb} ON {table} BEGIN SELECT RAISE(FAIL, 'rewritten'); END"
            );
            scratch.raw().execute_batch(&sql).unwrap();
        }
    }
    let more = worked(2);
    store.append(&Exchange { usage: Some(spent(1, 1)), ..exchange("c", 4, &more) }).unwrap();
    store.replace_history(&change("c", 8, &worked(3))).unwrap();
    store.set_status("c", "done", AT).unwrap();
    assert_eq!(store.load("c").unwrap().next, 12);
}

#[test]
fn tool_input_keeps_its_keys_in_order() {
    let store = Store::in_memory().unwrap();
    let input = json!({"z": 1, "a": {"y": u64::MAX, "b": i64::MIN}}).as_object().unwrap().clone();
    let call =
        Block::ToolUse(ToolCall { id: "call-1".into(), name: "bash".into(), input: input.clone() });
    let response = entry(Origin::Model, Message::new(Role::Assistant, vec![call]));
    store.begin(&new(), &exchange("c", 0, &[response, worked(1)[2].clone()])).unwrap();
    let entries = present(&store, "c");
    let copy = &entries[0].message.tool_calls().next().unwrap().input;
    assert_eq!(serde_json::to_string(copy).unwrap(), serde_json::to_string(&input).unwrap());
}
