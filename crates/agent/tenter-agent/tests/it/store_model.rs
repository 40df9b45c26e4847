//! For any sequence of changes, the store contains what a list in memory would contain.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use tenter_agent::store::{
    ChangeKind, Exchange, HistoryChange, HistoryEntry, NewConversation, Origin, Store, StoreError,
};

use crate::store_fixtures::{
    AT, Scratch, asked, change, entry, exchange, new_in, said, spent, worked,
};

#[derive(Debug, Clone)]
enum Step {
    Begin { conversation: usize, entries: Vec<HistoryEntry>, tokens: u64 },
    Append { conversation: usize, entries: Vec<HistoryEntry>, tokens: u64, late: bool },
    Replace { conversation: usize, entries: Vec<HistoryEntry>, kind: ChangeKind, late: bool },
    Status { conversation: usize },
    Reopen,
}

const IDS: [&str; 3] = ["a", "b", "c"];

fn entries() -> impl Strategy<Value = Vec<HistoryEntry>> {
    let hook = ("[a-z:/]{0,8}", "\\PC{1,20}")
        .prop_map(|(name, text)| vec![entry(Origin::Hook(name), asked(&text).message)]);
    let some = prop_oneof![
        (0..9_usize).prop_map(worked),
        "\\PC{0,40}".prop_map(|text| vec![asked(&text), said(&text)]),
        hook,
        Just(worked(1)[..2].to_vec()), // a call without its result: rejected
        Just(Vec::new()),              // rejected
    ];
    prop::collection::vec(some, 1..3).prop_map(|parts| parts.concat())
}

fn step() -> impl Strategy<Value = Step> {
    let conversation = 0..IDS.len();
    let kind = prop::sample::select(ChangeKind::ALL.to_vec());
    prop_oneof![
        2 => (conversation.clone(), entries(), 0..100_u64)
            .prop_map(|(conversation, entries, tokens)| Step::Begin { conversation, entries, tokens }),
        5 => (conversation.clone(), entries(), 0..100_u64, prop::bool::weighted(0.1))
            .prop_map(|(conversation, entries, tokens, late)| Step::Append { conversation, entries, tokens, late }),
        2 => (conversation.clone(), entries(), kind, prop::bool::weighted(0.1))
            .prop_map(|(conversation, entries, kind, late)| Step::Replace { conversation, entries, kind, late }),
        1 => conversation.prop_map(|conversation| Step::Status { conversation }),
        1 => Just(Step::Reopen),
    ]
}

/// A conversation as a list in memory.
#[derive(Debug, Default, PartialEq)]
struct Naive {
    epochs: Vec<(Option<ChangeKind>, Vec<HistoryEntry>)>,
    turns: u64,
    tokens: u64,
    done: bool,
}

impl Naive {
    fn next(&self) -> u64 {
        self.epochs.iter().map(|(_, entries)| entries.len() as u64).sum()
    }

    fn add(&mut self, entries: &[HistoryEntry], tokens: u64) {
        if self.epochs.is_empty() {
            self.epochs.push((None, Vec::new()));
        }
        self.epochs.last_mut().unwrap().1.extend_from_slice(entries);
        self.turns += entries.iter().filter(|entry| entry.origin == Origin::Model).count() as u64;
        self.tokens += tokens;
        self.done = false;
    }
}

/// Returns whether every call is answered by the next entry, implemented independently of the store.
fn whole(entries: &[HistoryEntry]) -> bool {
    let calls = |entry: &HistoryEntry| entry.message.tool_calls().count();
    !entries.is_empty()
        && entries.iter().enumerate().all(|(index, entry)| {
            calls(entry) == 0
                || entries.get(index + 1).is_some_and(|next| next.origin == Origin::Tools)
        })
}

/// Applies the step to the list if it is valid. Returns whether it is.
fn imagine(model: &mut BTreeMap<usize, Naive>, step: &Step) -> bool {
    match step {
        Step::Begin { conversation, entries, tokens } => {
            let may = !model.contains_key(conversation) && whole(entries);
            if may {
                model.entry(*conversation).or_default().add(entries, *tokens);
            }
            may
        }
        Step::Append { conversation, entries, tokens, late } => {
            let Some(naive) = model.get_mut(conversation).filter(|_| !late && whole(entries))
            else {
                return false;
            };
            naive.add(entries, *tokens);
            true
        }
        Step::Replace { conversation, entries, kind, late } => {
            let Some(naive) = model.get_mut(conversation).filter(|_| !late && whole(entries))
            else {
                return false;
            };
            naive.epochs.push((Some(*kind), entries.clone()));
            naive.done = false;
            true
        }
        Step::Status { conversation } => model.get_mut(conversation).is_some_and(|naive| {
            naive.done = true;
            true
        }),
        Step::Reopen => true,
    }
}

/// Applies the step to the store.
fn perform(store: &Store, step: &Step, next: u64) -> Result<(), StoreError> {
    match step {
        Step::Begin { conversation, entries, tokens } => {
            let new = NewConversation { parent: None, ..new_in(Path::new("/work/shop")) };
            let first = Exchange {
                usage: Some(spent(*tokens, 1)),
                ..exchange(IDS[*conversation], 0, entries)
            };
            store.begin(&new, &first).map(drop)
        }
        Step::Append { conversation, entries, tokens, late } => {
            let next = next.wrapping_sub(u64::from(*late));
            let more = Exchange {
                usage: Some(spent(*tokens, 1)),
                ..exchange(IDS[*conversation], next, entries)
            };
            store.append(&more).map(drop)
        }
        Step::Replace { conversation, entries, kind, late } => {
            let expected_next = next.wrapping_sub(u64::from(*late));
            let change = change(IDS[*conversation], expected_next, entries);
            store.replace_history(&HistoryChange { kind: *kind, by: "guard", ..change }).map(drop)
        }
        Step::Status { conversation } => store.set_status(IDS[*conversation], "done", AT),
        Step::Reopen => Ok(()),
    }
}

/// Returns the contents of the store, as a list in memory.
fn recall(store: &Store, id: &str) -> Option<Naive> {
    let result = match store.load(id) {
        Ok(conversation) => conversation,
        Err(StoreError::NotFound { .. }) => return None,
        Err(error) => panic!("{error}"),
    };
    let history = store.history(id).unwrap();
    assert_eq!(history.last().unwrap().entries, result.entries);
    assert_eq!(result.summary.message_count, result.entries.len() as u64);
    let sequences: Vec<u64> =
        history.iter().flat_map(|epoch| &epoch.entries).map(|entry| entry.sequence).collect();
    assert_eq!(
        sequences,
        (0..result.next).collect::<Vec<_>>(),
        "numbered over all epochs, without a gap"
    );
    let entries = |epoch: &tenter_agent::store::Epoch| {
        epoch.entries.iter().map(|entry| entry.entry.clone()).collect()
    };
    Some(Naive {
        epochs: history
            .iter()
            .map(|epoch| (epoch.change.as_ref().map(|change| change.kind), entries(epoch)))
            .collect(),
        turns: result.turns,
        tokens: result.summary.usage.input_tokens,
        done: result.summary.status.is_some(),
    })
}

fn conversation_of(step: &Step) -> Option<usize> {
    match step {
        Step::Begin { conversation, .. }
        | Step::Append { conversation, .. }
        | Step::Replace { conversation, .. }
        | Step::Status { conversation } => Some(*conversation),
        Step::Reopen => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_contains_what_a_list_in_memory_would(steps in prop::collection::vec(step(), 1..25)) {
        let scratch = Scratch::new();
        let mut store = scratch.open();
        let mut model = BTreeMap::new();
        for step in &steps {
            let next = conversation_of(step).and_then(|one| model.get(&one)).map_or(0, Naive::next);
            let may = imagine(&mut model, step);
            if matches!(step, Step::Reopen) {
                drop(store);
                store = scratch.open();
            }
            let result = perform(&store, step, next);
            prop_assert_eq!(result.is_ok(), may, "{:?} gave {:?}", step, result);
        }
        for (conversation, id) in IDS.iter().enumerate() {
            let recalled = recall(&store, id);
            prop_assert_eq!(recalled.as_ref(), model.get(&conversation));
        }
    }
}
