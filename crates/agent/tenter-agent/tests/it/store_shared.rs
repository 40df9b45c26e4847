//! One database used by many threads and processes, some of which are killed.
//!
//! The processes are this test program, which plays a part in one of the tests. A part reads its parameters from the environment.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use tenter_agent::store::{
    ChangeKind, Exchange, HistoryChange, HistoryEntry, ListQuery, Store, StoreError,
};
use tenter_protocol::history;
use tenter_testkit::own_process;

use crate::store_fixtures::{
    Scratch, append_after_all, asked, change, exchange, new, present, said, spent, worked,
};

const DATABASE: &str = "TENTER_TEST_DATABASE";
const CONVERSATION: &str = "TENTER_TEST_CONVERSATION";
/// The test whose process plays the parts.
const WITH_PARTS: &str = "store_shared::processes_that_open_a_new_file_at_once_lose_nothing";
/// The part that adds twenty exchanges.
const TWENTY: &str = "twenty";
/// The part that adds exchanges until it is killed.
const UNTIL_KILLED: &str = "until killed";

/// Creates the conversation or appends to it.
fn add(store: &Store, id: &str, next: u64, entries: &[HistoryEntry]) -> Result<u64, StoreError> {
    let exchange = Exchange { usage: Some(spent(3, 2)), ..exchange(id, next, entries) };
    if next == 0 { store.begin(&new(), &exchange) } else { store.append(&exchange) }
}

fn add_twenty(database: &Path, id: &str) {
    let store = Store::open(database).unwrap();
    let next = (0..20).fold(0, |next, number| add(&store, id, next, &worked(number)).unwrap());
    assert_eq!(next, 80);
}

fn assert_twenty_each(scratch: &Scratch, writers: usize) {
    let store = scratch.open();
    let all = ListQuery { project: None, limit: 1000, include_subagents: true };
    assert_eq!(store.list(&all).unwrap().len(), writers);
    let twenty: Vec<HistoryEntry> = (0..20).flat_map(worked).collect();
    for writer in 0..writers {
        let conversation = store.load(&writer.to_string()).unwrap();
        assert_eq!(
            (conversation.next, conversation.turns, conversation.summary.usage.input_tokens),
            (80, 40, 60)
        );
        assert_eq!(present(&store, &writer.to_string()), twenty);
    }
    scratch.assert_sound();
}

#[test]
fn threads_that_open_a_new_file_at_once_lose_nothing() {
    let scratch = Scratch::new();
    let (path, start) = (scratch.path(), Barrier::new(8));
    thread::scope(|scope| {
        for writer in 0..8 {
            let (path, start) = (&path, &start);
            scope.spawn(move || {
                start.wait();
                add_twenty(path, &writer.to_string());
            });
        }
    });
    assert_twenty_each(&scratch, 8);
}

/// Holds the write lock of a file while a thread runs `work`, until it is done (which it should not be) or has had enough
/// time to fail; then releases the lock, and returns the thread's result.
fn while_locked<T: Send>(holder: &rusqlite::Connection, work: impl FnOnce() -> T + Send) -> T {
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let enough = Instant::now() + Duration::from_millis(200);
    thread::scope(|scope| {
        let worker = scope.spawn(work);
        while !worker.is_finished() && Instant::now() < enough {
            thread::yield_now();
        }
        holder.execute_batch("COMMIT").unwrap();
        worker.join().unwrap()
    })
}

#[test]
fn a_locked_database_is_waited_for() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().parent().unwrap()).unwrap();
    let holder = scratch.raw();
    // SQLite itself does not wait when a new file is switched to a write-ahead log.
    let store = while_locked(&holder, || Store::open(&scratch.path())).unwrap();
    let result = while_locked(&holder, || add(&store, "c", 0, &[asked("first")]));
    assert_eq!(result.unwrap(), 1);
}

#[test]
fn threads_share_one_connection() {
    let store = Store::in_memory().unwrap();
    thread::scope(|scope| {
        for writer in 0..8 {
            let store = &store;
            scope.spawn(move || {
                let id = writer.to_string();
                (0..20).fold(0, |next, number| add(store, &id, next, &worked(number)).unwrap());
            });
        }
    });
    for writer in 0..8 {
        assert_eq!(store.load(&writer.to_string()).unwrap().next, 80);
    }
}

#[test]
fn writers_of_one_conversation_lose_nothing_when_they_retry() {
    let scratch = Scratch::new();
    let store = scratch.open();
    add(&store, "c", 0, &[asked("first")]).unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let store = scratch.open();
            scope.spawn(move || {
                for number in 0..10 {
                    append_after_all(
                        &store,
                        "c",
                        &[asked(&format!("{writer}/{number}")), said("noted")],
                    );
                }
            });
        }
    });
    let entries = present(&store, "c");
    assert_eq!(entries.len(), 81);
    for writer in 0..4 {
        let prefix = format!("{writer}/");
        let mine = entries
            .iter()
            .map(|entry| entry.message.plain_text())
            .filter(|text| text.starts_with(&prefix));
        assert_eq!(
            mine.collect::<Vec<_>>(),
            (0..10).map(|number| format!("{writer}/{number}")).collect::<Vec<_>>()
        );
    }
}

#[test]
fn processes_that_open_a_new_file_at_once_lose_nothing() {
    if own_process::plays(TWENTY) {
        let (database, id) = orders();
        return add_twenty(Path::new(&database), &id);
    }
    if own_process::plays(UNTIL_KILLED) {
        return add_until_killed();
    }
    let scratch = Scratch::new();
    let children: Vec<Child> =
        (0..32).map(|writer| start(TWENTY, &scratch, &writer.to_string())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_twenty_each(&scratch, 32);
}

/// Prints one line each for "about to open", "opened", and every saved exchange; runs until it is killed.
fn add_until_killed() {
    let (database, id) = orders();
    tell("opening");
    let store = Store::open(Path::new(&database)).unwrap();
    tell("opened");
    let mut next = store.load(&id).map_or(0, |conversation| conversation.next);
    for number in usize::try_from(next).unwrap().. {
        next = if number % 5 == 4 {
            replace(&store, &id, next, number)
        } else {
            add(&store, &id, next, &worked(number)).unwrap()
        };
        tell(&format!("saved {next}"));
    }
}

/// Replaces the history by an exchange, so that it consists of groups of four like everything that the child saves.
fn replace(store: &Store, conversation_id: &str, expected_next: u64, number: usize) -> u64 {
    let entries = &worked(number);
    let change = HistoryChange {
        kind: ChangeKind::Compact,
        by: "user",
        reason: Some("long"),
        ..change(conversation_id, expected_next, entries)
    };
    store.replace_history(&change).unwrap()
}

/// Sends a line to the parent, past the test harness.
fn tell(what: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "@{what}").unwrap();
    stdout.flush().unwrap();
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test process reads its parameters from the environment"
)]
fn orders() -> (String, String) {
    (std::env::var(DATABASE).unwrap(), std::env::var(CONVERSATION).unwrap())
}

#[expect(clippy::disallowed_methods, reason = "the processes of the test die")]
fn start(part: &str, scratch: &Scratch, id: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(own_process::arguments(WITH_PARTS))
        .env(own_process::PART, part)
        .env(DATABASE, scratch.path())
        .env(CONVERSATION, id)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the next line of the child; `None` at its end.
fn read_line(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Option<String> {
    lines.find_map(|line| Some(line.unwrap().split_once('@')?.1.to_owned()))
}

/// Kills the child with SIGKILL as soon as it has printed so many lines, and returns the last sequence number that it
/// printed before its death.
fn kill_after(things: usize, mut child: Child) -> u64 {
    let stdout: ChildStdout = child.stdout.take().unwrap();
    let mut lines = BufReader::new(stdout).lines();
    let mut count = 0;
    let mut note = |line: &str| {
        if let Some(next) = line.strip_prefix("saved ") {
            count = next.parse().unwrap();
        }
    };
    for _ in 0..things {
        note(&read_line(&mut lines).expect("the child ended by itself"));
    }
    child.kill().unwrap();
    while let Some(line) = read_line(&mut lines) {
        note(&line);
    }
    assert!(!child.wait().unwrap().success());
    count
}

/// Checks that every exchange of every epoch is complete and in order.
fn assert_whole(store: &Store, id: &str) {
    for epoch in store.history(id).unwrap() {
        let entries: Vec<HistoryEntry> =
            epoch.entries.iter().map(|entry| entry.entry.clone()).collect();
        assert!(!entries.is_empty());
        for exchange in entries.chunks(4) {
            let number = exchange[0]
                .message
                .plain_text()
                .strip_prefix("question ")
                .unwrap()
                .parse()
                .unwrap();
            assert_eq!(exchange, worked(number));
        }
    }
}

#[test]
fn a_killed_process_loses_at_most_the_exchange_in_flight() {
    let scratch = Scratch::new();
    // Lines printed before death; 1 dies while it opens the file, 2 before or in its first exchange.
    for (round, things) in
        [1, 2, 3, 1, 12, 4, 29, 7, 2, 51, 5, 18, 1, 33, 8, 3].into_iter().enumerate()
    {
        let count = kill_after(things, start(UNTIL_KILLED, &scratch, "c"));
        let store = scratch.open();
        scratch.assert_sound();
        let conversation = match store.load("c") {
            Err(StoreError::NotFound { .. }) if count == 0 => continue,
            loaded => loaded.unwrap(),
        };
        // At most one exchange of four messages was saved and not yet printed.
        assert!(
            count == 0 || (count..=count + 4).contains(&conversation.next),
            "round {round}: printed {count}, found {}",
            conversation.next
        );
        assert_whole(&store, "c");
        let mut messages: Vec<_> =
            conversation.entries.into_iter().map(|entry| entry.entry.message).collect();
        messages.push(asked("continue").message);
        history::validate(&messages).unwrap();
        assert_eq!(
            add(&store, "c", conversation.next, &worked(round)).unwrap(),
            conversation.next + 4
        );
    }
    assert!(scratch.open().load("c").unwrap().next > 600);
}

#[test]
fn processes_killed_concurrently_do_not_damage_the_database() {
    let scratch = Scratch::new();
    for things in [1, 9, 24] {
        let children: Vec<Child> =
            (0..4).map(|writer| start(UNTIL_KILLED, &scratch, &writer.to_string())).collect();
        let counts: Vec<u64> =
            children.into_iter().map(|child| kill_after(things, child)).collect();
        let store = scratch.open();
        scratch.assert_sound();
        for (writer, saved) in counts.into_iter().enumerate() {
            let id = writer.to_string();
            let next = store.load(&id).map_or(0, |conversation| conversation.next);
            assert!(next >= saved, "told {saved}, found {next}");
            if next > 0 {
                assert_whole(&store, &id);
                add(&store, &id, next, &worked(0)).unwrap();
            }
        }
    }
}
