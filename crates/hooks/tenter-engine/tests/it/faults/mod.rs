//! Hooks that misbehave: every fault of `table`, at every event that a hook of either protocol can subscribe to, under both fail modes.
//! An ordinary run tries each fault at every second event, alternating between the fail modes, so that every kind of fault is tried at
//! every event in both; a soak (`TENTER_SOAK`) tries both at each.
//! Manifest hooks are tried in both of their forms: once per event, and called.
//! Whatever a hook does, the run ends in time, reports its result, is recorded once, and leaves no process and no file descriptor
//! behind. Meanwhile the clock jumps back and forth.
//!
//! `stage` plays the cells of one scene and checks the results; `page` compares them with `docs/reliability.md`.

mod background;
mod event;
mod fault;
mod page;
mod stage;
mod table;

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use std::{fs, thread};

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tenter_engine::FailMode;
use tenter_proc::{Cancel, Invocation, Streams};
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::TABLE;
use tenter_testkit::own_process::alone;
use tenter_testkit::{is_soak, wait_until};

use background::AsyncFault;
use fault::Fault;
use stage::Played;

/// The reply of a hook, as a member of a JSON object.
const SAID: &str = r#""additional_context": "said so""#;

/// The protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Executable,
    Manifest,
    /// A manifest hook whose process is called.
    Runtime,
}

impl Way {
    const ALL: [Self; 3] = [Self::Executable, Self::Manifest, Self::Runtime];
}

/// The result of a run.
#[derive(Debug, Clone, Copy)]
enum Means {
    /// The reply takes effect.
    Answers,
    /// Nothing is decided, with this warning if it is not empty.
    Silent { warning: &'static str },
    /// A part of the reply is unusable: a warning, or a failure if the hook fails closed (R61).
    Unusable { reason: &'static str },
    /// The hook denies.
    Denies { reason: &'static str },
    /// The hook fails.
    Fails { exit: &'static str, reason: &'static str },
}

/// The part of the matrix that one scene plays.
enum Part<'f> {
    Cells(Cells<'f>),
    Asynchronous(&'f AsyncFault),
}

/// Cells of the matrix that share a scene: one hook for each of the events.
struct Cells<'f> {
    fault: &'f Fault,
    way: Way,
    fail: FailMode,
    events: Vec<EventName>,
}

/// The timeout of a hook that hangs.
const SHORT: Duration = Duration::from_millis(200);
/// Number of parallel scenes: most of the time is spent waiting for timeouts.
const AT_ONCE: usize = 16;
/// Maximum number of repetitions of a part that was late in parallel with others: a busy machine is late now and then, a defect
/// always.
const ATTEMPTS: usize = 5;
/// An ordinary run tries each fail mode of a fault at every fourth event.
const STRIDE: usize = 4;
/// If this variable is set, the tables of `docs/reliability.md` are updated.
const UPDATE: &str = "TENTER_UPDATE_DOCS";

/// In its own process, file descriptors and children can be counted: no other test has any.
#[test]
fn every_run_ends_is_reported_and_leaves_nothing_behind() {
    alone("faults::every_run_ends_is_reported_and_leaves_nothing_behind", the_matrix);
}

fn the_matrix() {
    // As the program does.
    tenter_proc::adopt_orphans().unwrap();
    let (faults, asynchronous) = (table::faults(), background::faults());
    let parts = Mutex::new(parts(&faults, &asynchronous));
    let (all_problems, late) = (Mutex::new(Played::default()), Mutex::new(Vec::new()));
    let before = open_descriptors();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(part) = take(&parts) {
                    let played = play(&part);
                    if played.was_late {
                        late.lock().unwrap().push(part);
                    } else {
                        all_problems.lock().unwrap().add(played);
                    }
                }
            });
        }
    });
    let mut all_problems = all_problems.into_inner().unwrap();
    for part in late.into_inner().unwrap() {
        all_problems.add(play_in_time(&part));
    }
    let Played { problems, rows, .. } = all_problems;
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    until_descriptors_are_closed(before);
    until_no_child_is_left();
    page::compare(&faults, &rows, &background::table(&asynchronous));
}

fn play(part: &Part<'_>) -> Played {
    match part {
        Part::Cells(cells) => stage::play(cells),
        Part::Asynchronous(fault) => background::play(fault),
    }
}

/// Plays a part alone until it is in time once.
fn play_in_time(part: &Part<'_>) -> Played {
    let played = (1..ATTEMPTS).map(|_| play(part)).find(|played| !played.was_late);
    played.unwrap_or_else(|| play(part))
}

/// Waits, because the thread of a dialogue closes its descriptors when the program has ended; a leaked one would stay open
/// forever.
fn until_descriptors_are_closed(before: usize) {
    wait_until(&format!("as many descriptors are open as before: {before}"), || {
        open_descriptors() == before
    });
}

/// Waits, because orphans are reaped now and then when programs run; a leaked child would stay forever.
fn until_no_child_is_left() {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    wait_until("every child is reaped", || {
        tenter_proc::run(&nothing(), &Cancel::new());
        matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
    });
}

/// Returns a program that ends at once.
fn nothing() -> Invocation {
    Invocation {
        program: "true".into(),
        cwd: "/".into(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        streams: Streams::Merged,
        ..Invocation::default()
    }
}

fn parts<'f>(faults: &'f [Fault], asynchronous: &'f [AsyncFault]) -> Vec<Part<'f>> {
    let mut parts = Vec::new();
    for (row, fault) in faults.iter().enumerate() {
        for way in Way::ALL.into_iter().filter(|way| fault.is_possible(*way)) {
            for fail in [FailMode::Open, FailMode::Closed] {
                let of = |events| Part::Cells(Cells { fault, way, fail, events });
                let events = events(row, fault, way, fail);
                parts.extend(groups(fault, way, events).into_iter().map(of));
            }
        }
    }
    // Each of these keeps the machine busy; in parallel they would delay each other.
    let apart = parts.len() / asynchronous.len().max(1);
    for (place, fault) in asynchronous.iter().enumerate() {
        parts.insert(place * apart, Part::Asynchronous(fault));
    }
    parts
}

/// Returns the events at which the fault of this row is tested in this fail mode: those that the protocol supports.
fn events(row: usize, fault: &Fault, way: Way, fail: FailMode) -> Vec<EventName> {
    let is_wanted =
        |column: &usize| way != Way::Executable || !TABLE[*column].executable.is_empty();
    let turn = if fail == FailMode::Open { 0 } else { STRIDE / 2 };
    let is_tried = |place: usize, event: EventName| match fault.only {
        Some(only) => event == only,
        None => is_soak() || (row + place) % STRIDE == turn,
    };
    let columns = (0..TABLE.len()).filter(is_wanted).map(|column| TABLE[column].event).enumerate();
    columns.filter(|(place, event)| is_tried(*place, *event)).map(|(_, event)| event).collect()
}

/// Faults that are tried at one event only are left out.
#[test]
fn every_kind_of_fault_is_tried_at_every_event_in_both_fail_modes() {
    let mut first = 0;
    for kind in table::kinds() {
        let rows: Vec<_> =
            kind.iter().enumerate().filter(|(_, fault)| fault.only.is_none()).collect();
        for (way, fail) in
            Way::ALL.into_iter().flat_map(|way| [(way, FailMode::Open), (way, FailMode::Closed)])
        {
            let possible = rows.iter().filter(|(_, fault)| fault.is_possible(way));
            let tried: Vec<Vec<EventName>> =
                possible.map(|(row, fault)| events(first + row, fault, way, fail)).collect();
            assert!(tried.iter().all(|events| !events.is_empty()), "{way:?}, {fail:?}: {tried:?}");
            let columns =
                TABLE.iter().filter(|row| way != Way::Executable || !row.executable.is_empty());
            for row in columns {
                let is_tried = tried.iter().any(|events| events.contains(&row.event));
                assert!(is_tried, "{} ({way:?}, {fail:?}): {tried:?}", row.name);
            }
        }
        first += kind.len();
    }
}

/// Returns the events in groups; each group has its own scene.
fn groups(fault: &Fault, way: Way, events: Vec<EventName>) -> Vec<Vec<EventName>> {
    if fault.takes_long {
        return events.into_iter().map(|event| vec![event]).collect();
    }
    // An executable cannot subscribe to only one of the two.
    let is_apart =
        |event: &EventName| matches!(way, Way::Executable) && *event == EventName::AfterToolFailure;
    let (apart, together) = events.into_iter().partition(is_apart);
    [together, apart].into_iter().filter(|events: &Vec<_>| !events.is_empty()).collect()
}

fn take<T>(from: &Mutex<Vec<T>>) -> Option<T> {
    from.lock().unwrap().pop()
}

fn open_descriptors() -> usize {
    fs::read_dir(Path::new("/proc/self/fd")).unwrap().count()
}
