//! Hooks that misbehave: every way of `table`, under both protocols and both fail modes, at events of every kind. Whatever a
//! hook does, the run ends in time, says what happened, is recorded once, and leaves nothing behind.
//!
//! `stage` plays one cell of that and looks at what came of it.

mod fault;
mod stage;
mod table;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{WaitOptions, wait};
use tenter_engine::hook::FailMode;
use tenter_proc::{Cancel, Invocation, Limits, Streams};
use tenter_protocol::EventName;

use fault::Fault;

/// What a hook says that answers, as a member of a JSON object.
const SAID: &str = r#""additional_context": "said so""#;

/// The protocols.
#[derive(Debug, Clone, Copy)]
enum Way {
    Executable,
    Manifest,
}

/// What comes of a run.
#[derive(Debug, Clone, Copy)]
enum Means {
    /// The answer counts.
    Answers,
    /// Nothing is decided, and a warning says so; or there was nothing to say.
    Silent { warning: &'static str },
    /// It is a deny.
    Denies { reason: &'static str },
    /// It is a failure.
    Fails { exit: &'static str, reason: &'static str },
}

/// One cell of the matrix.
struct Cell<'f> {
    fault: &'f Fault,
    way: Way,
    fail: FailMode,
    event: EventName,
}

const EVENTS: [EventName; 4] =
    [EventName::BeforeAgent, EventName::BeforeTool, EventName::AfterTool, EventName::BeforeStop];
/// Most of the time goes by waiting for deadlines.
const AT_ONCE: usize = 12;

#[test]
fn whatever_a_hook_does_its_run_ends_and_is_told_and_leaves_nothing_behind() {
    let invocation = Invocation {
        program: std::env::current_exe().unwrap(),
        args: ["faults::the_matrix", "--exact", "--ignored", "--nocapture"].map(Into::into).into(),
        cwd: "/".into(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        stdin: Vec::new(),
        streams: Streams::Merged,
        limits: Limits { timeout: Duration::from_mins(5), ..Limits::default() },
    };
    let completion = tenter_proc::run(&invocation, &Cancel::new());
    let said = completion.stdout.text();
    assert!(completion.end.is_success(), "{:?}\n{said}", completion.end);
    assert!(said.contains("1 passed"), "{said}");
}

/// The descriptors and children of a process can be counted only where no other test has any.
#[test]
#[ignore = "it is run by the test above, in a process of its own"]
fn the_matrix() {
    let faults = table::faults();
    let cells = Mutex::new(cells(&faults));
    let problems = Mutex::new(Vec::new());
    let before = open_descriptors();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(cell) = take(&cells) {
                    let found = stage::play(&cell);
                    problems.lock().unwrap().extend(found);
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert_eq!(open_descriptors(), before, "descriptors were leaked");
    assert_eq!(wait(WaitOptions::NOHANG).unwrap_err(), Errno::CHILD, "a child was not reaped");
}

fn cells(faults: &[Fault]) -> Vec<Cell<'_>> {
    let mut cells = Vec::new();
    for fault in faults {
        for way in [Way::Executable, Way::Manifest] {
            for fail in [FailMode::Open, FailMode::Closed] {
                cells.extend(EVENTS.map(|event| Cell { fault, way, fail, event }));
            }
        }
    }
    cells
}

fn take<T>(from: &Mutex<Vec<T>>) -> Option<T> {
    from.lock().unwrap().pop()
}

fn open_descriptors() -> usize {
    fs::read_dir(Path::new("/proc/self/fd")).unwrap().count()
}
