//! Forks and restored histories, and the cost and model of exchanges.

use tenter_agent::store::{
    ChangeKind, Exchange, ExchangeUsage, Fork, HistoryChange, HistoryEntry, NewConversation,
    Origin, Restore, Store, StoreError,
};
use tenter_protocol::Message;
use tenter_protocol::event::TurnUsage;

use crate::store_fixtures::{
    AT, Scratch, asked, begin, change, entry, exchange, new, present, said, spent, worked,
};

const LATER: &str = "2026-03-02T08:00:00Z";

fn fork(messages: Option<u64>, id: &str) -> Fork<'_> {
    Fork { source: "c", id, messages, at: LATER }
}

fn restore(epoch: Option<u64>) -> Restore<'static> {
    Restore { id: "c", epoch, at: LATER }
}

fn replace(store: &Store, entries: &[HistoryEntry]) {
    let next = store.load("c").unwrap().next;
    let change = HistoryChange { at: LATER, ..change("c", next, entries) };
    store.replace_history(&change).unwrap();
}

#[test]
fn a_fork_copies_the_history_and_is_independent() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let new = NewConversation { parent: Some("p"), recipe: Some("review"), ..new() };
    let first = worked(1);
    store.begin(&new, &Exchange { usage: Some(spent(10, 5)), ..exchange("c", 0, &first) }).unwrap();
    store.set_status("c", "done", AT).unwrap();
    assert_eq!(store.fork(&fork(None, "f")).unwrap(), 4);
    assert_eq!(present(&store, "f"), first, "including native forms");
    let fork = store.load("f").unwrap();
    assert_eq!((fork.next, fork.turns), (4, 2));
    assert_eq!(fork.entries[0].at, AT, "times are kept");
    let summary = fork.summary;
    assert_eq!((summary.created_at.as_str(), summary.updated_at.as_str()), (LATER, LATER));
    assert_eq!((summary.parent.as_deref(), summary.recipe.as_deref()), (None, Some("review")));
    assert_eq!(
        (summary.forked_from.as_deref(), summary.status.as_deref()),
        (Some("c"), Some("forked"))
    );
    assert_eq!(summary.usage.input_tokens, 0, "usage stays with the original");
    assert_eq!(summary.preview, "question 1");

    store.append(&exchange("f", 4, &[asked("another way")])).unwrap();
    assert_eq!(store.load("f").unwrap().summary.status, None);
    store.append(&exchange("c", 4, &[asked("this way")])).unwrap();
    assert_eq!(present(&store, "c").len(), 5);
    assert_eq!(crate::store_search::ids(&store, "question"), ["f", "c"]);
    store.delete(&["c".into()]).unwrap();
    assert_eq!(present(&store, "f").len(), 5);
    scratch.assert_sound();
}

#[test]
fn a_fork_takes_the_given_number_of_messages_if_a_model_can_continue() {
    let store = Store::in_memory().unwrap();
    store.begin(&new(), &exchange("c", 0, &[worked(1), worked(2)].concat())).unwrap();
    replace(&store, &worked(3));
    store.fork(&fork(Some(3), "f")).unwrap();
    assert_eq!(present(&store, "f"), worked(3)[..3], "of the current history");
    for (messages, flaw) in [
        (0, "no message"),
        (2, "results are missing"),
        (5, "it has 4 messages, not 5"),
        (u64::MAX, "it has 4 messages"),
    ] {
        let error = store.fork(&fork(Some(messages), "g")).unwrap_err();
        assert!(matches!(error, StoreError::NoFork { .. }), "{error}");
        assert!(error.to_string().contains(flaw), "{error}");
        assert!(matches!(store.load("g"), Err(StoreError::NotFound { .. })));
    }
    let unknown = store.fork(&Fork { source: "x", ..fork(None, "g") }).unwrap_err();
    assert!(matches!(unknown, StoreError::NotFound { .. }), "{unknown}");
}

#[test]
fn a_restored_history_keeps_origins_and_times() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let old = [worked(1), vec![entry(Origin::Hook("gate".into()), Message::user("run the tests"))]]
        .concat();
    store.begin(&new(), &exchange("c", 0, &old)).unwrap();
    replace(&store, &[entry(Origin::Mutation("trim".into()), Message::user("in short"))]);
    store.set_status("c", "done", AT).unwrap();
    assert_eq!(store.restore(&restore(None)).unwrap(), 0);
    assert_eq!(present(&store, "c"), old);
    let conversation = store.load("c").unwrap();
    assert_eq!(
        (conversation.next, conversation.turns),
        (11, 2),
        "restored responses are not new ones"
    );
    assert_eq!(conversation.summary.status.as_deref(), Some("done"));
    assert_eq!(conversation.summary.updated_at, LATER);
    assert_eq!((conversation.entries[0].sequence, conversation.entries[0].at.as_str()), (6, AT));
    let epochs = store.history("c").unwrap();
    let change = epochs[2].change.clone().unwrap();
    assert_eq!((change.kind, change.by.as_str()), (ChangeKind::Restore, "user"));
    assert_eq!((change.reason.as_deref(), change.at.as_str()), (Some("epoch 0"), LATER));

    assert_eq!(store.restore(&restore(None)).unwrap(), 1, "which undoes the restore");
    assert_eq!(present(&store, "c").len(), 1);
    assert_eq!(store.restore(&restore(Some(0))).unwrap(), 0);
    assert_eq!(present(&store, "c"), old);
    store.append(&exchange("c", 17, &[asked("continue")])).unwrap();
    scratch.assert_sound();
}

#[test]
fn only_an_earlier_history_can_be_restored() {
    let store = Store::in_memory().unwrap();
    begin(&store, "c");
    let error = store.restore(&restore(None)).unwrap_err();
    assert!(matches!(error, StoreError::NeverReplaced { .. }), "{error}");
    replace(&store, &[asked("short")]);
    for epoch in [1, 2, u64::MAX] {
        let error = store.restore(&restore(Some(epoch))).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchEpoch { present: 1, .. }), "{error}");
        assert!(error.to_string().ends_with("0 to 0"), "{error}");
    }
    assert_eq!(store.history("c").unwrap().len(), 2);
}

#[test]
fn a_writer_gets_an_error_after_a_concurrent_restore() {
    let scratch = Scratch::new();
    let (worker, other) = (scratch.open(), scratch.open());
    begin(&worker, "c");
    replace(&worker, &[asked("short")]);
    other.restore(&restore(None)).unwrap();
    let error = worker.append(&exchange("c", 3, &[said("done")])).unwrap_err();
    assert!(matches!(error, StoreError::ChangedElsewhere { expected: 3, next: 5, .. }), "{error}");
}

#[test]
fn the_cost_is_the_sum_of_known_costs_including_subagents() {
    let store = Store::in_memory().unwrap();
    let words = [asked("q"), said("a")];
    let priced = |cost_usd| ExchangeUsage { cost_usd, ..spent(1, 1) };
    let cost = |id: &str| store.load(id).unwrap().summary.usage.cost_usd;
    for (id, parent) in [("main", None), ("child", Some("main"))] {
        let first = Exchange { usage: Some(priced(None)), ..exchange(id, 0, &words) };
        store.begin(&NewConversation { parent, ..new() }, &first).unwrap();
    }
    assert_eq!((cost("main"), cost("child")), (None, None));
    let more = |id: &str, next: u64, cost_usd: f64| {
        store
            .append(&Exchange { usage: Some(priced(Some(cost_usd))), ..exchange(id, next, &words) })
            .unwrap();
    };
    more("child", 2, 0.25);
    more("main", 2, 0.5);
    more("main", 4, 0.0625);
    assert_eq!((cost("main"), cost("child")), (Some(0.8125), Some(0.25)));
    store
        .append(&Exchange { usage: Some(priced(Some(f64::NAN))), ..exchange("main", 6, &words) })
        .unwrap();
    assert_eq!(cost("main"), Some(0.8125), "NaN is not a known price");
}

#[test]
fn the_model_is_that_of_the_last_exchange_and_each_exchange_has_its_own() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let words = [asked("q"), said("a")];
    let turn = TurnUsage {
        input_tokens: 900,
        output_tokens: 5,
        cached_input_tokens: 800,
        cache_write_tokens: 50,
    };
    let with = |model| Some(ExchangeUsage { model, turn, ..spent(0, 0) });
    store.begin(&new(), &Exchange { usage: with("one"), ..exchange("c", 0, &words) }).unwrap();
    assert_eq!(store.load("c").unwrap().summary.model, "one");
    store.append(&Exchange { usage: with("two"), ..exchange("c", 2, &words) }).unwrap();
    store.append(&exchange("c", 4, &[asked("without an answer")])).unwrap();
    let summary = store.load("c").unwrap().summary;
    assert_eq!((summary.model.as_str(), summary.usage.turn), ("two", turn));
    let raw = scratch.raw();
    let mut models = raw.prepare("SELECT model FROM usage ORDER BY sequence").unwrap();
    let models: Vec<String> =
        models.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(models, ["one", "two"]);
}
