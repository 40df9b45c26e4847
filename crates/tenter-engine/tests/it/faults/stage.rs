//! Plays one cell of the matrix with a real hook, and lists everything that is not as it must be.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tenter_engine::catalog::PolicyOverride;
use tenter_engine::hook::FailMode;
use tenter_engine::{DecisionKind, HookRun, Outcome};
use tenter_protocol::event::{Stop, StopReason, Usage};
use tenter_protocol::{Body, Event, EventName, ToolCall, ToolResult, tool_metadata};

use super::{Cell, Means, SAID, Way};
use crate::scene::{PROJECT, Scene, Seen, running, scope};

/// The hook.
const NAME: &str = "guard";
/// What the person's tool wrote.
const SECRET: &str = "SECRET";
/// No run takes so long, however slow the machine; a hook that does not hang might.
const ENOUGH: Duration = Duration::from_secs(30);
/// What is told and recorded of a run has less bytes.
const READABLE: usize = 20_000;
const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_mins(2);

/// Everything that is not as it must be.
pub(super) fn play(cell: &Cell<'_>) -> Vec<String> {
    let scene = scene(cell);
    let program = write_hook(&scene, cell);
    if cell.fault.layer == PROJECT {
        scene.trust_all();
    }
    let catalog = scene.load().0;
    let mut findings = Findings { cell, problems: Vec::new() };
    findings.demand(running(&catalog) == [NAME], || format!("{:?}", catalog.listing()));
    let (engine, seen) = scene.engine(catalog);
    let held = (cell.fault.meanwhile)(&program);
    for run in 0..cell.fault.runs {
        let started = Instant::now();
        let outcome = engine.dispatch(event(cell), &scene.cancel);
        findings.demand(started.elapsed() < ENOUGH, || format!("took {:?}", started.elapsed()));
        if run + 1 == cell.fault.runs {
            findings.outcome(&outcome);
        }
    }
    drop(held);
    findings.seen(&seen);
    findings.survivors(&scene);
    findings.problems
}

fn scene(cell: &Cell<'_>) -> Scene {
    let mut scene = if cell.fault.layer == PROJECT { Scene::gated() } else { Scene::new() };
    let timeout = if cell.fault.hangs { SHORT } else { LONG };
    let policy = PolicyOverride { timeout: Some(timeout), fail: Some(cell.fail) };
    scene.policies.overrides.insert(NAME.to_owned(), policy);
    // Loading is not what is looked at; on a busy machine it takes its time.
    scene.query_timeout = LONG;
    scene
}

/// The hook, and where its program lies.
fn write_hook(scene: &Scene, cell: &Cell<'_>) -> PathBuf {
    let folder = cell.fault.layer;
    let lifecycle = cell.event.lifecycle();
    let answer = format!("answer() {{ echo '{{{SAID}}}'; }}");
    match cell.way {
        Way::Executable => {
            let query = format!("[ \"$1\" = hook ] && echo {} && exit", lifecycle.executable[0]);
            let script = format!("#!/bin/sh\n{query}\n{answer}\n{}\n", cell.fault.script);
            scene.hook(folder, NAME, &script)
        }
        Way::Manifest => {
            let front = format!("name: {NAME}\ndescription: d\ntrigger: {}", lifecycle.name);
            scene.bare(folder, NAME, &front);
            let script = format!("#!/bin/sh\n{answer}\n{}\n", cell.fault.script);
            scene.file(&format!("{folder}/{NAME}/scripts/run"), &script, 0o755)
        }
    }
}

fn event(cell: &Cell<'_>) -> Event {
    let text = if cell.fault.big_payload { SECRET.repeat(180_000) } else { SECRET.to_owned() };
    Event { scope: scope("c"), body: body(cell.event, text) }
}

fn body(event: EventName, text: String) -> Body {
    let call = |command: &str| {
        let input = serde_json::json!({"command": command}).as_object().unwrap().clone();
        ToolCall { id: "1".into(), name: "bash".into(), input }
    };
    match event {
        EventName::BeforeAgent => Body::BeforeAgent { message: text },
        EventName::BeforeTool => Body::BeforeTool(call(&text)),
        EventName::AfterTool => {
            let metadata = tool_metadata::Bash { output: text, ..Default::default() };
            let result = ToolResult::success("bash", &metadata, "T".to_owned());
            Body::AfterTool { call: call("ls"), result }
        }
        _ => Body::BeforeStop(Stop {
            reason: StopReason::NoToolCalls,
            step_count: 1,
            usage: Usage::default(),
            auto_compact: None,
            response: text,
            messages: Arc::default(),
            continuation_count: 0,
        }),
    }
}

/// What is not as it must be.
struct Findings<'c> {
    cell: &'c Cell<'c>,
    problems: Vec<String>,
}

impl Findings<'_> {
    fn demand(&mut self, is_so: bool, otherwise: impl FnOnce() -> String) {
        if !is_so {
            let Cell { fault, way, fail, event } = self.cell;
            let problem = otherwise();
            let shown: String = problem.chars().take(700).collect();
            self.problems.push(format!("{} ({way:?}, {fail:?}, {event}): {shown}", fault.name));
        }
    }

    fn outcome(&mut self, outcome: &Outcome) {
        let told = body_as_told(self.cell);
        let contexts: Vec<&str> = outcome.contexts.iter().map(|said| said.value.as_str()).collect();
        let is_silent = outcome.verdict.is_none() && contexts.is_empty() && outcome.body == told;
        let is_as_meant = match self.cell.fault.means(self.cell.way) {
            Means::Answers => contexts == ["said so"] && outcome.verdict.is_none(),
            Means::Silent { .. } => is_silent,
            Means::Denies { reason } => {
                let denied = outcome.denied().is_some_and(|(hook, why)| {
                    hook == NAME && why.ends_with(reason) && why.len() < READABLE
                });
                denied && !outcome.denied_by_failure
            }
            Means::Fails { .. } if self.cell.fail == FailMode::Open => is_silent,
            Means::Fails { reason, .. } => self.failed_closed(outcome, reason),
        };
        self.demand(is_as_meant, || format!("{outcome:?}"));
    }

    fn failed_closed(&self, outcome: &Outcome, reason: &str) -> bool {
        let says = |text: &str| text.contains("guard failed (") && text.contains(reason);
        match &outcome.body {
            Body::AfterTool { result, .. } => {
                let shown = result.text();
                !result.success && says(&shown) && !shown.contains(SECRET)
            }
            body => {
                let denied = outcome.denied().is_some_and(|(hook, why)| hook == NAME && says(why));
                denied && outcome.denied_by_failure && *body == body_as_told(self.cell)
            }
        }
    }

    fn seen(&mut self, seen: &Seen) {
        let (runs, decisions) = (seen.runs.lock().unwrap(), seen.decisions.lock().unwrap());
        let expected = self.cell.fault.runs;
        self.demand(runs.len() == expected, || format!("{} runs", runs.len()));
        self.demand(decisions.len() == expected, || format!("{} decisions", decisions.len()));
        if let Some(run) = runs.last() {
            self.run(run);
        }
        let fails = matches!(self.cell.fault.means(self.cell.way), Means::Fails { .. });
        let denies =
            fails && self.cell.fail == FailMode::Closed && self.cell.event != EventName::AfterTool;
        let by_failure = decisions.last().is_some_and(|decision| decision.by_failure);
        self.demand(by_failure == denies, || format!("recorded as by_failure = {by_failure}"));
    }

    fn run(&mut self, run: &HookRun) {
        let reason = run.reason.as_deref().unwrap_or_default();
        let warnings = run.warnings.join("; ");
        let is_as_meant = match self.cell.fault.means(self.cell.way) {
            Means::Answers => run.decision == DecisionKind::Context && warnings.is_empty(),
            Means::Silent { warning } => {
                run.decision == DecisionKind::None && warnings.contains(warning)
            }
            Means::Denies { reason: why } => {
                run.decision == DecisionKind::Deny && reason.ends_with(why)
            }
            Means::Fails { exit, reason: why } => {
                let told = run.exit == exit && reason.contains(why);
                run.decision == DecisionKind::Failed && told
            }
        };
        self.demand(is_as_meant, || {
            format!("recorded as {}, {}, {reason:?}, {warnings:?}", run.decision.as_str(), run.exit)
        });
        for text in [reason, &warnings, &run.stderr_tail] {
            self.demand(text.len() < READABLE, || format!("recorded with {} bytes", text.len()));
        }
    }

    /// Looks for processes that outlived the hook, and ends them.
    fn survivors(&mut self, scene: &Scene) {
        let until = Instant::now() + ENOUGH;
        let mut left = processes_of(scene);
        while left.len() != self.cell.fault.survivors && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
            left = processes_of(scene);
        }
        self.demand(left.len() == self.cell.fault.survivors, || format!("left behind: {left:?}"));
        for process in left {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

fn body_as_told(cell: &Cell<'_>) -> Body {
    event(cell).body
}

/// The processes that were given this scene's project, whatever group or session they are in by now.
fn processes_of(scene: &Scene) -> Vec<Pid> {
    let variable = format!("TENTER_PROJECT_DIR={}", scene.places.project.display());
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
