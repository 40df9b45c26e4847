//! A runtime hook written in shell, and an engine that calls it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use tenter_engine::inspect::{Catalog, Outcome};
use tenter_engine::{
    DecisionKind, Engine, EngineBuilder, HookRun, Observer, RunEnd, Services, Transport,
};
use tenter_proc::Cancel;
use tenter_protocol::{Body, Event, ToolCall};

use crate::scene::{ObservedRuns, Scene, USER_AGENTS, scope};

/// Longer than any test takes, on any machine.
pub(super) const FOREVER: Duration = Duration::from_mins(2);

/// The result with which the hook denies, and what it is reported with.
pub(super) const DENY: &str = r#"respond '{"decision": "deny", "reason": "served"}'"#;

/// A hook in shell.
pub(super) struct Script {
    /// Lines of the manifest above `metadata`.
    pub(super) manifest: &'static str,
    /// Lines below `metadata`.
    pub(super) metadata: &'static str,
    /// The script of the one-shot form.
    pub(super) one_shot: &'static str,
    /// The script that runs before the first line is read.
    pub(super) start: &'static str,
    /// The answer to `initialize`.
    pub(super) initialize: &'static str,
    /// The script for an event: `$id`, `$method` and `$line` are set, and `respond` answers.
    pub(super) event: &'static str,
    /// The script for a cancelled request.
    pub(super) cancel: &'static str,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            manifest: "",
            metadata: "  runtime: serve\n",
            one_shot: r#"echo '{"decision": "deny", "reason": "one-shot"}'"#,
            start: "",
            initialize: "respond '{}'",
            event: DENY,
            cancel: ":",
        }
    }
}

impl Script {
    pub(super) fn event(event: &'static str) -> Self {
        Self { event, ..Self::default() }
    }

    fn text(&self) -> String {
        let Self { one_shot, start, initialize, event, cancel, .. } = self;
        format!(
            r#"#!/bin/sh
respond() {{ printf '{{"jsonrpc": "2.0", "id": %s, "result": %s}}\n' "$id" "$1"; }}
if [ "$1" != serve ]; then
echo one-shot >> "$TENTER_PROJECT_DIR/runs"
{one_shot}
exit
fi
echo $$ >> "$TENTER_PROJECT_DIR/pids"
{start}
while IFS= read -r line; do
    id=${{line#*'"id": '}}; id=${{id%%,*}}
    method=${{line#*'"method": "'}}; method=${{method%%'"'*}}
    echo "$method" >> "$TENTER_PROJECT_DIR/heard"
    case $method in
    initialize) {initialize};;
    shutdown) ;;
    cancel) {cancel};;
    *) {event};;
    esac
done
"#
        )
    }

    /// Writes the hook `name` into `directory`.
    pub(super) fn write(&self, scene: &Scene, directory: &str, name: &str) {
        let Self { manifest, metadata, .. } = self;
        let front = format!(
            "---\nname: {name}\ndescription: d\ntrigger: before_tool\n{manifest}metadata:\n{metadata}---\n"
        );
        scene.file(&format!("{directory}/{name}/HOOK.md"), &front, 0o644);
        scene.file(&format!("{directory}/{name}/scripts/run.sh"), &self.text(), 0o755);
    }
}

/// An engine with runtime hooks.
pub(super) struct Stage {
    pub(super) scene: Scene,
    pub(super) engine: Engine,
    pub(super) observer: Arc<ObservedRuns>,
}

impl Stage {
    pub(super) fn new(script: &Script) -> Self {
        let scene = Scene::new();
        script.write(&scene, USER_AGENTS, "hook");
        Self::in_scene(scene)
    }

    pub(super) fn in_scene(scene: Scene) -> Self {
        Self::with(scene, |builder| builder)
    }

    pub(super) fn with(scene: Scene, more: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Self {
        let observed = Arc::new(ObservedRuns::default());
        let observer = Arc::clone(&observed) as Arc<dyn Observer>;
        let catalog: Catalog = scene.load().0;
        assert!(!catalog.hooks().is_empty(), "{:?}", scene.load().1);
        let engine = more(scene.builder().observer(observer)).build(catalog);
        Self { scene, engine, observer: observed }
    }

    /// Fires `before_tool`.
    pub(super) fn fire(&self) -> Outcome {
        self.fire_until(&Cancel::new())
    }

    pub(super) fn fire_until(&self, cancel: &Cancel) -> Outcome {
        let body = Body::BeforeTool(ToolCall::new("1", "bash", []));
        self.engine.dispatch(Event { scope: scope("c"), body }, cancel)
    }

    /// Fires `before_tool` with these services.
    pub(super) fn fire_with(&self, services: Arc<dyn Services>) {
        let session = self.engine.session(scope("c")).with_services(services);
        let _ = session.before_tool(ToolCall::new("1", "bash", []));
    }

    /// Returns the reason with which the event was denied.
    pub(super) fn reason(&self) -> String {
        self.fire()
            .verdict
            .map(|verdict| verdict.value.reason_text().to_owned())
            .unwrap_or_default()
    }

    pub(super) fn runs(&self) -> Vec<HookRun> {
        self.observer.runs.lock().unwrap().clone()
    }

    pub(super) fn last(&self) -> HookRun {
        self.runs().pop().unwrap()
    }

    /// Returns the process ids of the hook, in the order in which they were started.
    pub(super) fn pids(&self) -> Vec<i32> {
        self.lines("pids").iter().map(|line| line.parse().unwrap()).collect()
    }

    /// Returns the methods that the hook heard.
    pub(super) fn heard(&self) -> Vec<String> {
        self.lines("heard")
    }

    /// Returns the number of runs of the one-shot form.
    pub(super) fn one_shot_runs(&self) -> usize {
        self.lines("runs").len()
    }

    pub(super) fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.file(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.scene.layout.project.join(name)
    }
}

/// Returns whether a run failed, how it ended and why.
pub(super) fn failed(run: &HookRun) -> (bool, RunEnd, String) {
    let reason = run.reason.clone().unwrap_or_default();
    (run.decision == DecisionKind::Failed, run.end.clone(), reason)
}

/// Returns whether the last run reached its timeout.
pub(super) fn is_timed_out(stage: &Stage) -> bool {
    let (is_failed, end, reason) = failed(&stage.last());
    is_failed && end == RunEnd::TimedOut && reason.starts_with("timed out after ")
}

pub(super) fn is_served(run: &HookRun) -> bool {
    run.transport == Some(Transport::Runtime)
}

pub(super) fn exists(pid: i32) -> bool {
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}

pub(super) fn until(what: &str, is_so: impl Fn() -> bool) {
    tenter_testkit::wait_until(what, is_so);
}

pub(super) fn until_gone(pid: i32) {
    until("a process is gone", || !exists(pid));
}
