//! Plays the cells of one scene with real hooks, and lists every deviation.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use jiff::Timestamp;
use rustix::process::{Pid, Signal, kill_process};
use tenter_engine::inspect::{Catalog, Outcome, PolicyOverride};
use tenter_engine::journal::{self, JournalWriter, RecordKind, Redactor};
use tenter_engine::{Decision, DecisionKind, Engine, FailMode, HookRun, RunEnd};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Body, EventName};

use super::event::{SECRET, event};
use super::{Cells, Means, SAID, SHORT, Way};
use crate::scene::{ObservedRuns, PROJECT, Scene, running};

/// Maximum time for an action that should be immediate, on a busy machine.
pub(super) const ENOUGH: Duration = Duration::from_secs(30);
/// Maximum time of a run beyond its timeout: the grace period, draining its pipes, and searching for processes that left its group.
pub(super) const BEYOND: Duration = Duration::from_secs(1);
/// Maximum length of the report and the record of a run, in bytes.
pub(super) const READABLE: usize = 20_000;
const LONG: Duration = Duration::from_mins(2);

/// The results of some cells.
#[derive(Default)]
pub(super) struct Played {
    /// All deviations.
    pub(super) problems: Vec<String>,
    /// True if a run took too long, or reached its timeout before it did what it does, which is also in `problems`.
    pub(super) was_late: bool,
    pub(super) rows: Vec<Row>,
}

/// The result of one cell.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) fault: &'static str,
    pub(super) way: Way,
    pub(super) fail: FailMode,
    /// True if it is a trusted hook that changed.
    pub(super) has_changed: bool,
    pub(super) event: EventName,
    /// The record of the run.
    pub(super) decision: DecisionKind,
    /// The effect of the failure.
    pub(super) effect: Effect,
}

/// The effect of a hook's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It was only reported.
    Told,
    /// The event was denied.
    Denied,
    /// The output was withheld.
    Withheld,
}

impl Played {
    pub(super) fn add(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.rows.extend(other.rows);
        self.was_late |= other.was_late;
    }
}

/// Plays the cells, each with a hook of its own.
pub(super) fn play(cells: &Cells<'_>) -> Played {
    let scene = scene(cells);
    let programs: Vec<PathBuf> =
        cells.events.iter().map(|event| write_hook(&scene, cells, *event)).collect();
    if cells.fault.layer == PROJECT {
        scene.trust_all();
    }
    let (catalog, mut played) = (scene.load().0, Played::default());
    if running(&catalog).len() != cells.events.len() {
        played.problems.push(format!("{}: {:?}", cells.fault.name, catalog.listing()));
    }
    let observed = Arc::new(ObservedRuns::default());
    let journal = Arc::new(JournalWriter::new(scene.at("journal"), Redactor::new([])));
    let engine = engine(&scene, catalog, &observed, &journal);
    for (event, program) in cells.events.iter().zip(programs) {
        let guard = (cells.fault.meanwhile)(&program);
        let mut cell = Cell { cells, event: *event, played: &mut played };
        cell.play(&engine, &scene, &observed);
        drop(guard);
    }
    let mut whole = Cell { cells, event: cells.events[0], played: &mut played };
    whole.demand(journal.take_trouble().is_none(), || "the journal has trouble".to_owned());
    // Processes that are called end with the session.
    engine.drain(ENOUGH);
    let survivors = cells.fault.survivors(cells.way) * cells.fault.runs * cells.events.len();
    for problem in [journal_problem(&scene, &observed), end_processes(&scene, survivors)] {
        whole.demand(problem.is_none(), || problem.unwrap_or_default());
    }
    played
}

pub(super) fn engine(
    scene: &Scene,
    catalog: Catalog,
    observer: &Arc<ObservedRuns>,
    journal: &Arc<JournalWriter>,
) -> Engine {
    let builder = scene.builder().clock(jumping);
    builder.observer(observer.clone()).observer(journal.clone()).build(catalog)
}

/// Returns a clock that jumps with every reading.
fn jumping() -> Timestamp {
    static LOOKS: AtomicUsize = AtomicUsize::new(0);
    let times = [Timestamp::UNIX_EPOCH, Timestamp::MAX, Timestamp::MIN];
    times[LOOKS.fetch_add(1, Ordering::Relaxed) % times.len()]
}

fn scene(cells: &Cells<'_>) -> Scene {
    let mut scene = if cells.fault.layer == PROJECT { Scene::gated() } else { Scene::new() };
    let timeout = if cells.fault.hangs { SHORT } else { LONG };
    let policy = PolicyOverride {
        timeout: Some(timeout),
        fail: Some(cells.fail),
        ..PolicyOverride::default()
    };
    for event in &cells.events {
        scene.policies.overrides.insert(name(*event), policy);
    }
    // Loading is not under test, and can be slow on a busy machine.
    scene.query_timeout = LONG;
    scene
}

/// Returns the name of an event's hook.
pub(super) fn name(event: EventName) -> String {
    format!("guard-{}", event.as_str().replace('_', "-"))
}

/// Returns the hook of an event, and the path of its program.
fn write_hook(scene: &Scene, cells: &Cells<'_>, event: EventName) -> PathBuf {
    let (directory, name, lifecycle) = (cells.fault.layer, name(event), event.lifecycle());
    let answer = answer();
    match cells.way {
        Way::Executable => {
            let query = format!("[ \"$1\" = hook ] && echo {} && exit", lifecycle.executable[0]);
            let script = format!("#!/bin/sh\n{query}\n{answer}\n{}\n", cells.fault.script);
            scene.hook(directory, &name, &script)
        }
        Way::Manifest => {
            let front = format!("name: {name}\ndescription: d\ntrigger: {}", lifecycle.name);
            scene.bare(directory, &name, &front);
            let script = format!("#!/bin/sh\n{answer}\n{}\n", cells.fault.script);
            scene.file(&format!("{directory}/{name}/scripts/run"), &script, 0o755)
        }
        Way::Runtime => {
            let trigger = lifecycle.name;
            let front = format!(
                "name: {name}\ndescription: d\ntrigger: {trigger}\nmetadata:\n  runtime: serve"
            );
            scene.bare(directory, &name, &front);
            let script = called(&answer, &cells.fault.script);
            scene.file(&format!("{directory}/{name}/scripts/run"), &script, 0o755)
        }
    }
}

/// Returns shell functions that print a reply: this one, and the reply of every correct hook.
pub(super) fn answer() -> String {
    format!("say() {{ printf '%s\\n' \"$1\"; }}\nanswer() {{ say '{{{SAID}}}'; }}")
}

/// Returns a script that does the same whether it is run once or called: then `say` responds.
fn called(answer: &str, script: &str) -> String {
    format!(
        r#"#!/bin/sh
{answer}
if [ "$1" = serve ]; then
    say() {{ printf '{{"jsonrpc": "2.0", "id": %s, "result": %s}}\n' "$id" "$1"; }}
else
    {script}
    exit
fi
while IFS= read -r line; do
    id=${{line#*'"id": '}}; id=${{id%%,*}}
    case ${{line%%'"params"'*}} in
    *'"initialize"'*) say '{{}}';;
    *'"shutdown"'* | *'"cancel"'*) ;;
    *) {script} ;;
    esac
done
"#
    )
}

/// One cell and its result.
struct Cell<'c> {
    cells: &'c Cells<'c>,
    event: EventName,
    played: &'c mut Played,
}

impl Cell<'_> {
    fn demand(&mut self, is_so: bool, otherwise: impl FnOnce() -> String) {
        if !is_so {
            let (Cells { fault, way, fail, .. }, event) = (self.cells, self.event);
            let problem = otherwise();
            let excerpt: String = problem.chars().take(700).collect();
            let problem = format!("{} ({way:?}, {fail:?}, {event}): {excerpt}", fault.name);
            self.played.problems.push(problem);
        }
    }

    fn means(&self) -> Means {
        self.cells.fault.means(self.cells.way)
    }

    fn fails_closed(&self) -> bool {
        let fails = matches!(self.means(), Means::Fails { .. } | Means::Unusable { .. });
        let is_stop = self.event.may(Power::Continue) && !self.event.may(Power::Block);
        let is_closed = self.cells.fail == FailMode::Closed || (self.has_changed() && !is_stop);
        fails && is_closed
    }

    /// Returns a trusted hook whose program changed denies in either fail mode, but does not keep the agent from stopping.
    fn has_changed(&self) -> bool {
        self.cells.fault.layer == PROJECT
    }

    fn play(&mut self, engine: &Engine, scene: &Scene, observer: &ObservedRuns) {
        let big = self.cells.fault.big_payload;
        for run in 1..=self.cells.fault.runs {
            let start = Instant::now();
            let outcome = engine.dispatch(event(self.event, big), &scene.cancel);
            self.in_time(start.elapsed());
            if run == self.cells.fault.runs {
                self.outcome(&outcome);
                self.seen(observer, effect(&outcome));
            }
        }
    }

    fn in_time(&mut self, took: Duration) {
        let bound = if self.cells.fault.hangs { SHORT + BEYOND } else { ENOUGH };
        self.played.was_late |= took > bound;
        self.demand(took <= bound, || format!("took {took:?}"));
    }

    fn outcome(&mut self, outcome: &Outcome) {
        let contexts: Vec<&str> =
            outcome.contexts.iter().map(|context| context.value.as_str()).collect();
        let body = event(self.event, self.cells.fault.big_payload).body;
        let is_silent = outcome.verdict.is_none() && contexts.is_empty() && outcome.body == body;
        let is_as_meant = match self.means() {
            Means::Answers if self.event.may(Power::AddContext) => {
                contexts == ["said so"] && outcome.verdict.is_none()
            }
            Means::Answers | Means::Silent { .. } => is_silent,
            Means::Denies { reason } => {
                let is_denied = outcome.denied().is_some_and(|(hook, why)| {
                    hook == name(self.event) && why.ends_with(reason) && why.len() < READABLE
                });
                is_denied && !outcome.denied_by_failure
            }
            Means::Fails { .. } | Means::Unusable { .. } if !self.fails_closed() => is_silent,
            Means::Fails { reason, .. } | Means::Unusable { reason } => {
                self.failed_closed(outcome, &body, reason)
            }
        };
        self.demand(is_as_meant, || format!("{outcome:?}"));
    }

    /// Checks that a fail-closed failure denies what can be denied, withholds unchecked output, and is reported.
    fn failed_closed(&self, outcome: &Outcome, original: &Body, reason: &str) -> bool {
        let name = name(self.event);
        let says = |text: &str| text.contains(&format!("{name} failed (")) && text.contains(reason);
        match &outcome.body {
            Body::AfterTool { result, .. } => {
                let excerpt = result.text();
                result.is_failure() && says(&excerpt) && !excerpt.contains(SECRET)
            }
            body if may_be_denied(self.event) => {
                let is_denied =
                    outcome.denied().is_some_and(|(hook, why)| hook == name && says(why));
                is_denied && outcome.denied_by_failure && body == original
            }
            body => outcome.verdict.is_none() && body == original,
        }
    }

    fn seen(&mut self, observer: &ObservedRuns, effect: Effect) {
        let runs: Vec<HookRun> = observer
            .runs
            .lock()
            .unwrap()
            .iter()
            .filter(|run| run.event == self.event)
            .cloned()
            .collect();
        let decisions: Vec<Decision> = observer
            .decisions
            .lock()
            .unwrap()
            .iter()
            .filter(|one| one.event == self.event)
            .cloned()
            .collect();
        let expected = self.cells.fault.runs;
        self.demand(runs.len() == expected, || format!("{} runs", runs.len()));
        self.demand(decisions.len() == expected, || format!("{} decisions", decisions.len()));
        let (Some(run), Some(decision)) = (runs.last(), decisions.last()) else { return };
        self.run(run);
        let by_failure = self.fails_closed() && may_be_denied(self.event);
        self.demand(decision.by_failure == by_failure, || format!("recorded as {decision:?}"));
        self.played.rows.push(Row {
            fault: self.cells.fault.name,
            way: self.cells.way,
            fail: self.cells.fail,
            has_changed: self.has_changed(),
            event: self.event,
            decision: run.decision,
            effect,
        });
    }

    /// Returns the end of a run whose reply was read.
    fn success(&self) -> &'static str {
        if self.cells.way == Way::Runtime { "answered" } else { "exit 0" }
    }

    fn run(&mut self, run: &HookRun) {
        let reason = run.reason.as_deref().unwrap_or_default();
        let is_expected = matches!(self.means(), Means::Fails { exit: "timed out", .. });
        self.played.was_late |= run.end == RunEnd::TimedOut && !is_expected;
        // Faults beside the answer are in this field.
        let others = run.warnings.iter().filter(|warning| !warning.contains("field \"other\""));
        let warnings = others.cloned().collect::<Vec<_>>().join("; ");
        let is_as_meant = match self.means() {
            Means::Answers if self.event.may(Power::AddContext) => {
                run.decision == DecisionKind::Context && warnings.is_empty()
            }
            Means::Answers => {
                run.decision == DecisionKind::None && warnings.contains("has no effect at")
            }
            Means::Unusable { reason: why } if self.cells.fail == FailMode::Open => {
                run.decision == DecisionKind::None && warnings.contains(why)
            }
            Means::Unusable { reason: why } => {
                run.decision == DecisionKind::Failed
                    && run.end.to_string() == self.success()
                    && reason.contains(why)
            }
            Means::Silent { warning } => {
                run.decision == DecisionKind::None && warnings.contains(warning)
            }
            Means::Denies { reason: why } => {
                run.decision == DecisionKind::Deny && reason.ends_with(why)
            }
            Means::Fails { exit, reason: why } => {
                // A reply that cannot be used is one that was read.
                let exit = if exit == "exit 0" { self.success() } else { exit };
                let is_expected = run.end.to_string() == exit && reason.contains(why);
                run.decision == DecisionKind::Failed && is_expected
            }
        };
        self.demand(is_as_meant, || {
            format!("recorded as {}, {}, {reason:?}, {warnings:?}", run.decision.as_str(), run.end)
        });
        for text in [reason, &warnings, &run.stdout, &run.stderr_tail] {
            self.demand(text.len() < READABLE, || format!("recorded with {} bytes", text.len()));
        }
    }
}

/// Checks that the journal has every run and every decision exactly once, and the records of one event in order; returns the
/// problem otherwise.
pub(super) fn journal_problem(scene: &Scene, observer: &ObservedRuns) -> Option<String> {
    let copy = journal::read(&scene.at("journal"), "c").unwrap();
    let is_whole = copy.unreadable == 0 && !copy.unfinished;
    let (mut runs, mut decisions) = (Vec::new(), Vec::new());
    for line in copy.lines {
        match line.record.kind {
            RecordKind::Run(run) => runs.push((run.hook, run.end, run.decision, run.reason)),
            RecordKind::Decision(one) => decisions.push((one.decision, one.by, one.by_failure)),
            other => return Some(format!("the journal has {other:?}")),
        }
    }
    let told_runs = observer.runs.lock().unwrap().clone().into_iter();
    let mut told_runs: Vec<_> = told_runs
        .map(|run| run.record)
        .map(|run| (run.hook, run.end, run.decision, run.reason))
        .collect();
    let reported_decisions = observer.decisions.lock().unwrap().clone().into_iter();
    let reported_decisions: Vec<_> = reported_decisions
        .map(|one| (one.record.decision, one.record.by, one.record.by_failure))
        .collect();
    // Hooks of several events that end at once are reported in any order.
    runs.sort_by(|one, other| one.0.cmp(&other.0));
    told_runs.sort_by(|one, other| one.0.cmp(&other.0));
    let is_all = is_whole && runs == told_runs && decisions == reported_decisions;
    (!is_all).then(|| format!("the journal has {runs:?} and {decisions:?}"))
}

/// Waits until exactly this number of processes survives the hooks of a scene and terminates them; otherwise returns which survive.
pub(super) fn end_processes(scene: &Scene, expected: usize) -> Option<String> {
    let until = Instant::now() + ENOUGH;
    let mut survivors = processes_of(scene);
    while survivors.len() != expected && Instant::now() < until {
        thread::yield_now();
        survivors = processes_of(scene);
    }
    let problem = (survivors.len() != expected).then(|| format!("left behind: {survivors:?}"));
    for process in survivors {
        let _ = kill_process(process, Signal::KILL);
    }
    problem
}

/// Returns whether a deny at this event prevents something; it also prevents a stop.
fn may_be_denied(event: EventName) -> bool {
    event.may(Power::Block) || event.may(Power::Continue)
}

fn effect(outcome: &Outcome) -> Effect {
    match &outcome.body {
        _ if outcome.denied_by_failure => Effect::Denied,
        Body::AfterTool { .. } if !outcome.rewritten_by.is_empty() => Effect::Withheld,
        _ => Effect::Told,
    }
}

/// Returns the processes with this scene's project in their environment, whatever group or session they are in.
fn processes_of(scene: &Scene) -> Vec<Pid> {
    let variable = format!("TENTER_PROJECT_DIR={}", scene.layout.project.display());
    let is_of_scene = |pid: i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| is_of_scene(*pid))
        .filter_map(Pid::from_raw)
        .collect()
}
