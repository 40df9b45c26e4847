//! The same for asynchronous hooks: they delay nothing while the agent works, and delay the end of the session only for the
//! drain timeout.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenter_engine::inspect::Outcome;
use tenter_engine::journal::{JournalWriter, Redactor};
use tenter_engine::{DecisionKind, Engine, HookRun};
use tenter_protocol::EventName;

use super::SHORT;
use super::event::event;
use super::stage::{
    BEYOND, ENOUGH, Played, READABLE, answer, end_processes, engine, journal_problem, name,
};
use crate::scene::{ObservedRuns, Scene, USER, running};

/// A fault of an asynchronous hook.
pub(super) struct AsyncFault {
    name: &'static str,
    script: &'static str,
    /// The hook's own timeout, and the drain timeout at the end of the session.
    limit: Duration,
    drain: Duration,
    means: Late,
    /// Number of processes that survive a run.
    survivors: usize,
}

/// The result of a run.
#[derive(Clone, Copy)]
enum Late {
    /// A later turn can use the reply.
    Counts,
    /// Nothing is decided, with this note or warning.
    Nothing(&'static str),
    Fails {
        exit: &'static str,
        reason: &'static str,
    },
}

/// An event of each kind: one that could be denied, one whose late replies are used, and the last event.
const EVENTS: [EventName; 3] = [EventName::BeforeTool, EventName::AfterTurn, EventName::SessionEnd];
const LONG: Duration = Duration::from_mins(2);
const DRAINED: Late = Late::Fails {
    exit: "cancelled",
    reason: "it is asynchronous and was killed because it still ran when the session ended",
};

/// Returns all faults.
pub(super) fn faults() -> Vec<AsyncFault> {
    let new = |name, script, means| AsyncFault {
        name,
        script,
        limit: LONG,
        drain: LONG,
        means,
        survivors: 0,
    };
    let drained = |name, script| AsyncFault { drain: SHORT, ..new(name, script, DRAINED) };
    let fails = |exit, reason| Late::Fails { exit, reason };
    vec![
        new("replies late", "sleep 0.3; answer", Late::Counts),
        drained("hangs until the session ends", "sleep 300"),
        drained("replies and hangs until the session ends", "answer; sleep 300"),
        drained(
            "ignores SIGTERM when the session ends",
            "trap '' TERM; while :; do sleep 300; done",
        ),
        drained("stops itself", "kill -STOP $$"),
        drained(
            "hangs until the session ends, after forking twice out of its group",
            "(setsid sh -c 'trap \"\" TERM; while :; do sleep 300; done' </dev/null >/dev/null 2>&1 &)
             sleep 300",
        ),
        drained("floods its stdout until the session ends", "exec yes"),
        AsyncFault {
            limit: SHORT,
            ..new("hangs past its timeout", "sleep 300", fails("timed out", "timed out after 200 ms"))
        },
        new(
            "floods its stdout",
            "yes | head -c 4000000",
            fails("exit 0", "it wrote 4000000 bytes to stdout"),
        ),
        new("floods its stderr", "yes | head -c 4000000 >&2; answer", Late::Counts),
        new(
            "prints half a reply",
            "printf '{\"addi'",
            fails("exit 0", "its stdout is not one JSON object"),
        ),
        new(
            "denies",
            "echo '{\"decision\": \"deny\", \"reason\": \"no\"}'",
            Late::Nothing("its reply (deny) has no effect: it is asynchronous"),
        ),
        new(
            "exits with 2",
            "echo no >&2; exit 2",
            Late::Nothing("its reply (deny) has no effect: it is asynchronous"),
        ),
        new("exits with 1", "answer; exit 1", fails("exit 1", "it exited with code 1")),
        new("is killed", "kill -KILL $$", fails("signal 9", "it was terminated by signal 9")),
        AsyncFault {
            survivors: 1,
            ..new(
                "leaves a daemon",
                "(setsid sleep 300 </dev/null >/dev/null 2>&1 &); answer",
                Late::Counts,
            )
        },
    ]
}

/// Plays one fault at all events in parallel. The hooks fail closed, which blocks nothing.
pub(super) fn play(fault: &AsyncFault) -> Played {
    let mut play = Play { fault, played: Played::default() };
    play.whole();
    play.played
}

/// Returns the table of results for the page.
pub(super) fn table(faults: &[AsyncFault]) -> String {
    let mut table =
        "| An asynchronous hook that … | result | left running |\n| --- | --- | --- |\n".to_owned();
    for fault in faults {
        let came = match fault.means {
            Late::Counts => "a later turn reads its reply".to_owned(),
            Late::Nothing(why) if why.starts_with("its reply") => "nothing, with a note".to_owned(),
            Late::Nothing(_) => "nothing, with a warning".to_owned(),
            Late::Fails { reason, .. } => format!("a failure: {reason}"),
        };
        let survivors = if fault.survivors > 0 { "what it started, by design" } else { "nothing" };
        let _ = writeln!(table, "| {} | {came} | {survivors} |", fault.name);
    }
    table
}

struct Play<'f> {
    fault: &'f AsyncFault,
    played: Played,
}

impl Play<'_> {
    fn demand(&mut self, is_so: bool, otherwise: impl FnOnce() -> String) {
        if !is_so {
            let excerpt: String = otherwise().chars().take(700).collect();
            let problem = format!("asynchronous, {}: {excerpt}", self.fault.name);
            self.played.problems.push(problem);
        }
    }

    fn in_time(&mut self, took: Duration, bound: Duration, what: &str) {
        self.played.was_late |= took > bound;
        self.demand(took <= bound, || format!("{what} took {took:?}"));
    }

    fn whole(&mut self) {
        let scene = self.scene();
        let catalog = scene.load().0;
        self.demand(running(&catalog).len() == EVENTS.len(), || format!("{:?}", catalog.listing()));
        let observed = Arc::new(ObservedRuns::default());
        let journal = Arc::new(JournalWriter::new(scene.at("journal"), Redactor::new([])));
        let engine = engine(&scene, catalog, &observed, &journal);
        for at in EVENTS {
            let start = Instant::now();
            let outcome = engine.dispatch(event(at, false), &scene.cancel);
            self.in_time(start.elapsed(), ENOUGH, "an event");
            self.decides_nothing(at, &outcome);
        }
        let clock = Instant::now();
        engine.drain(self.fault.drain);
        let waits = self.fault.drain == SHORT;
        let bound = if waits { SHORT + BEYOND } else { ENOUGH };
        self.in_time(clock.elapsed(), bound, "the end of the session");
        self.counts(&engine);
        self.seen(&observed);
        self.demand(journal.take_trouble().is_none(), || "the journal has trouble".to_owned());
        let problem = journal_problem(&scene, &observed);
        self.demand(problem.is_none(), || problem.unwrap_or_default());
        let survivors = end_processes(&scene, self.fault.survivors * EVENTS.len());
        self.demand(survivors.is_none(), || survivors.unwrap_or_default());
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new();
        scene.query_timeout = LONG;
        for event in EVENTS {
            let (name, limit) = (name(event), self.fault.limit.as_millis());
            let front = format!(
                "name: {name}\ndescription: d\ntrigger: {}\nasync: true\ntimeout: {limit}\nmetadata: {{fail: closed}}",
                event.lifecycle().name
            );
            scene.bare(USER, &name, &front);
            let script = format!("#!/bin/sh\n{}\n{}\n", answer(), self.fault.script);
            scene.file(&format!("{USER}/{name}/scripts/run"), &script, 0o755);
        }
        scene
    }

    fn decides_nothing(&mut self, at: EventName, outcome: &Outcome) {
        let is_silent = outcome.verdict.is_none()
            && outcome.contexts.is_empty()
            && outcome.body == event(at, false).body;
        self.demand(is_silent, || format!("{at}: {outcome:?}"));
    }

    fn counts(&mut self, engine: &Engine) {
        let late = engine.take_late_replies("c");
        let is_said = late.iter().all(|late| late.context.as_deref() == Some("said so"));
        let is_as_meant = match self.fault.means {
            // At an event where nothing can be added, a reply has no effect.
            Late::Counts => !late.is_empty() && is_said,
            Late::Nothing(_) | Late::Fails { .. } => late.is_empty(),
        };
        self.demand(is_as_meant, || format!("{late:?}"));
    }

    fn seen(&mut self, observer: &ObservedRuns) {
        let runs = observer.runs.lock().unwrap().clone();
        let decisions = observer.decisions.lock().unwrap().clone();
        let mut events: Vec<EventName> = runs.iter().map(|run| run.event).collect();
        events.sort();
        events.dedup();
        let is_each_once = events.len() == EVENTS.len() && runs.len() == EVENTS.len();
        self.demand(is_each_once, || format!("{} runs of {events:?}", runs.len()));
        // Asynchronous hooks take part in no decision.
        self.demand(decisions.is_empty(), || format!("{decisions:?}"));
        for run in &runs {
            self.run(run);
        }
    }

    fn run(&mut self, run: &HookRun) {
        let reason = run.reason.as_deref().unwrap_or_default();
        let messages = [run.warnings.join("; "), run.notes.join("; ")].concat();
        let is_as_meant = match self.fault.means {
            Late::Counts => run.decision == DecisionKind::None,
            Late::Nothing(why) => run.decision == DecisionKind::None && messages.contains(why),
            Late::Fails { exit, reason: why } => {
                run.decision == DecisionKind::Failed
                    && run.end.to_string() == exit
                    && reason.contains(why)
            }
        };
        self.demand(is_as_meant && run.asynchronous, || format!("{run:?}"));
        for text in [reason, &messages, &run.stderr_tail] {
            self.demand(text.len() < READABLE, || format!("recorded with {} bytes", text.len()));
        }
    }
}
