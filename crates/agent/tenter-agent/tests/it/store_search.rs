//! Messages are found by their words; deleted ones are not.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use tenter_agent::store::{
    ChangeKind, HistoryChange, HistoryEntry, ListQuery, NewConversation, Origin, SearchHit,
    SearchQuery, Store,
};
use tenter_protocol::tool_metadata::Bash;
use tenter_protocol::{Block, Message, Role, ToolCall, ToolResult};

use crate::store_fixtures::{
    AT, Scratch, asked, begin, change, entry, exchange, new, new_in, said,
};

const EVERYWHERE: ListQuery<'static> =
    ListQuery { project: None, limit: 100, include_subagents: true };

fn search(store: &Store, words: &str) -> Vec<SearchHit> {
    store.search(&SearchQuery { words, among: EVERYWHERE }).unwrap()
}

pub(crate) fn ids(store: &Store, words: &str) -> Vec<String> {
    search(store, words).into_iter().map(|hit| hit.summary.id).collect()
}

fn snippet(store: &Store, words: &str) -> String {
    search(store, words).remove(0).snippet
}

fn save(store: &Store, id: &str, entries: &[HistoryEntry]) {
    store.begin(&new(), &exchange(id, 0, entries)).unwrap();
}

#[test]
fn all_text_of_a_message_is_indexed() {
    let store = Store::in_memory().unwrap();
    let input = json!({"path": "notes.md", "text": "first\nsecond \"third\"", "list": [{"deep": "fourth"}]});
    let input = input.as_object().unwrap().clone();
    let call = ToolCall { id: "1".into(), name: "file_write".into(), input };
    let thought = Block::Reasoning { text: "pondering".into() };
    let metadata = Bash { output: "permission denied\u{0}hidden".into(), ..Bash::default() };
    let result = ToolResult::success("bash", &metadata, AT.into()).failed("exit 1");
    let results = vec![Block::ToolResult { call_id: "1".into(), result }];
    save(
        &store,
        "c",
        &[
            asked("the question"),
            entry(
                Origin::Model,
                Message::new(Role::Assistant, vec![thought, Block::ToolUse(call)]),
            ),
            entry(Origin::Tools, Message::new(Role::User, results)),
        ],
    );
    for word in *tenter_base::words!(
        "question pondering file_write notes first second third fourth denied hidden exit"
    ) {
        assert_eq!(ids(&store, word), ["c"], "{word}");
    }
    assert_eq!(
        snippet(&store, "second"),
        "pondering file_write path notes.md text first «second» \"third\" list deep fourth"
    );
}

#[test]
fn all_words_must_occur_in_one_message_and_the_last_may_be_a_prefix() {
    let store = Store::in_memory().unwrap();
    save(&store, "one", &[asked("fix the parser"), said("the lexer is broken")]);
    save(&store, "two", &[asked("the parser's lexer")]);
    assert_eq!(ids(&store, "parser lexer"), ["two"]);
    assert_eq!(ids(&store, "lexer pars"), ["two"]);
    assert_eq!(ids(&store, "pars lexer"), [] as [&str; 0], "only the last word may be a prefix");
    assert_eq!(ids(&store, "brok"), ["one"]);
}

#[test]
fn case_and_accents_are_ignored() {
    let store = Store::in_memory().unwrap();
    save(&store, "c", &[asked("Das Café in Łódź öffnet um ACHT")]);
    for words in ["cafe", "CAFÉ", "cafe\u{301}", "offnet", "acht"] {
        assert_eq!(ids(&store, words), ["c"], "{words}");
    }
    assert_eq!(snippet(&store, "cafe offn"), "Das «Café» in Łódź «öffnet» um ACHT");
}

#[test]
fn query_syntax_of_the_index_has_no_effect() {
    let store = Store::in_memory().unwrap();
    save(&store, "c", &[asked("x = a && \"b c\" || text:foo-bar NEAR(d, e) AND f* -- 100%")]);
    for words in [
        "\"", "\"b c\"", "a && b", "text:foo", "foo-bar", "NEAR(d", "AND", "NOT", "f*", "(", "*",
        "--", "%", "^a", "{text}", "'", "a' OR '1", "\"\"\"", "foo-ba", "\u{0}", "-", "100%",
    ] {
        // Whatever the result is, it is not an error.
        search(&store, words);
    }
    for words in ["\"b c\"", "text:foo", "foo-bar", "foo-ba", "NEAR(d", "AND", "100%", "a\u{0}foo"]
    {
        assert_eq!(ids(&store, words), ["c"], "{words}");
    }
    for words in ["", " ", "--", "NOT", "bar-foo", "a OR zebra"] {
        assert_eq!(ids(&store, words), [] as [&str; 0], "{words:?}");
    }
}

#[test]
fn a_snippet_is_one_line_around_the_match() {
    let store = Store::in_memory().unwrap();
    let text =
        format!("{} needle\n\tin\u{1b}[1m hay\u{0} {}", "straw ".repeat(500), "stalk ".repeat(500));
    save(&store, "c", &[asked(&text)]);
    let snippet = snippet(&store, "needle");
    assert!(snippet.contains("«needle» in [1m hay stalk"), "{snippet}");
    assert!(snippet.starts_with('…') && snippet.ends_with('…') && snippet.len() < 200, "{snippet}");
}

#[test]
fn the_best_match_is_first_and_each_conversation_occurs_once() {
    let store = Store::in_memory().unwrap();
    let long = format!("the parser and {}", "many other things ".repeat(50));
    save(&store, "by the way", &[asked(&long), said(&long)]);
    save(&store, "all about it", &[asked("parser"), said("parser parser")]);
    assert_eq!(ids(&store, "parser"), ["all about it", "by the way"]);
    let first = ListQuery { limit: 1, ..EVERYWHERE };
    let hits = store.search(&SearchQuery { words: "parser", among: first }).unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].snippet, "«parser» «parser»");
}

#[test]
fn a_search_is_limited_to_the_given_conversations() {
    let store = Store::in_memory().unwrap();
    let other = Path::new("/work/other");
    let words = [asked("needle")];
    store.begin(&new(), &exchange("here", 0, &words)).unwrap();
    store.begin(&new_in(other), &exchange("there", 0, &words)).unwrap();
    let sub = NewConversation { parent: Some("here"), ..new() };
    store.begin(&sub, &exchange("sub", 0, &words)).unwrap();
    let ids_among = |among: ListQuery| {
        let hits = store.search(&SearchQuery { words: "needle", among }).unwrap();
        hits.into_iter().map(|hit| hit.summary.id).collect::<Vec<_>>()
    };
    assert_eq!(ids_among(ListQuery { include_subagents: false, ..EVERYWHERE }), ["there", "here"]);
    assert_eq!(
        ids_among(ListQuery { project: Some(new().project), ..EVERYWHERE }),
        ["sub", "here"]
    );
    assert_eq!(ids_among(ListQuery { project: Some(other), ..EVERYWHERE }), ["there"]);
}

#[test]
fn replaced_histories_are_searched() {
    let store = Store::in_memory().unwrap();
    begin(&store, "c");
    store
        .replace_history(&HistoryChange {
            kind: ChangeKind::Compact,
            by: "compact",
            ..change("c", 2, &[asked("in short")])
        })
        .unwrap();
    assert_eq!(ids(&store, "question"), ["c"]);
    assert_eq!(ids(&store, "in short"), ["c"]);
}

/// VACUUM may renumber the rows of tables without explicit row ids.
#[test]
fn a_vacuumed_file_has_the_same_results() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for (id, word) in [("a", "apple"), ("b", "banana"), ("c", "cherry")] {
        save(&store, id, &[asked(word)]);
    }
    store.delete(&["a".into()]).unwrap();
    scratch.raw().execute_batch("VACUUM").unwrap();
    assert_eq!(ids(&store, "banana"), ["b"]);
    assert_eq!(snippet(&store, "cherry"), "«cherry»");
    scratch.assert_sound();
}

/// Returns words made of characters that the index treats as part of a word.
fn word() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9à-öø-ÿα-ωа-я]{1,6}"
}

fn text() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(word(), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_saved_word_is_found_and_no_deleted_one(
        conversations in prop::collection::vec((prop::collection::vec(text(), 1..4), any::<bool>()), 1..6),
        separator in prop::sample::select(vec![" ", "\n", "-", ", ", "\" ", "\u{0}", "('", "\u{1b}[;"]),
    ) {
        let store = Store::in_memory().unwrap();
        let mut deletions = Vec::new();
        for (index, (messages, stays)) in conversations.iter().enumerate() {
            let id = index.to_string();
            let entries: Vec<HistoryEntry> = messages.iter().map(|words| asked(&words.join(separator))).collect();
            save(&store, &id, &entries);
            if !stays {
                deletions.push(id);
            }
        }
        store.delete(&deletions).unwrap();
        for (index, (messages, stays)) in conversations.iter().enumerate() {
            for words in messages {
                for word in words {
                    let hits = ids(&store, word);
                    prop_assert_eq!(hits.contains(&index.to_string()), *stays, "{} in {:?}", word, hits);
                }
                let hits = ids(&store, &words.join(separator));
                prop_assert_eq!(hits.contains(&index.to_string()), *stays);
            }
        }
    }
}
