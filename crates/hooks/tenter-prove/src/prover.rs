//! Runs the scenarios, a few at a time, and judges what they show.

use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use tenter_base::lock;
use tenter_bridge::Host;
use tenter_bridge::host::HostVersion;
use tenter_model_server::{LenientScript, ModelServer, RecordedRequest};
use tenter_proc::{Cancel, Invocation, Limits, Streams};

use crate::check::Check;
use crate::client::{Client, Launch};
use crate::hook_file::HookFile;
use crate::observed::{Observed, Process, Run};
use crate::own_rules::{self, OwnRule, ProvedRule};
use crate::plan::{self, Plan};
use crate::process;
use crate::results::ProvedCheck;
use crate::sandbox::{Program, Sandbox, names_in, write_files};
use crate::scenario::Scenario;
use crate::verdict::judge;

/// Minimum and maximum number of scenarios that run at the same time.
const AT_ONCE: (usize, usize) = (2, 4);

/// A proof of one agent, with everything that it needs.
#[derive(Debug, Clone, Copy)]
pub struct Prover<'p> {
    /// The agent.
    pub host: &'static Host,
    /// The way in which it is run.
    pub client: &'static Client,
    /// Its program.
    pub program: &'p Path,
    /// The program `tenter-hook`.
    pub tenter_hook: &'p Path,
    /// Its version; `None` if it is unknown.
    pub version: Option<HostVersion>,
    /// The value of `PATH`: nothing else of the environment is passed on.
    pub path: &'p OsStr,
    /// An existing directory for the scratch homes and projects.
    pub directory: &'p Path,
    /// The time, in RFC 3339.
    pub now: &'p str,
    /// Maximum time that a process of the agent may run.
    pub patience: Duration,
}

/// A run of the agent that is to be made.
struct StagedRun<'s> {
    /// The name of its directory.
    name: &'s str,
    scenario: Scenario,
    /// Returns its hooks and the model's replies.
    plan: &'s dyn Fn(&Sandbox) -> Plan,
    /// The rules whose hooks are copied.
    rules: &'s [OwnRule],
}

impl Prover<'_> {
    /// Runs the scenarios of `checks` and judges these; returns `None` if it was cancelled. `progress` is called with the number of
    /// scenarios that are done and the number of all.
    pub fn run(
        &self,
        checks: &[Check],
        cancel: &Cancel,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Option<Vec<ProvedCheck>> {
        let list: Vec<Scenario> = checks.iter().flat_map(|check| check.scenarios()).collect();
        let all = Scenario::ALL.into_iter().chain([Scenario::Managed]);
        let possible = all.filter(|one| {
            list.contains(one)
                && plan::impossible(*one, (self.host, self.client), self.path).is_none()
        });
        let scenarios: Vec<Scenario> = possible.collect();
        let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let observed = Mutex::new(Observed::default());
        let lock = || lock(&observed);
        progress(0, scenarios.len());
        if self.client.unpacks_itself {
            self.unpack(cancel);
        }
        let work = || {
            while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::SeqCst))
                && !cancel.is_cancelled()
            {
                let run = self.observe(*scenario, cancel);
                lock().runs.insert(*scenario, run);
                if !cancel.is_cancelled() {
                    progress(count.fetch_add(1, Ordering::SeqCst) + 1, scenarios.len());
                }
            }
        };
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let at_once = processors.clamp(AT_ONCE.0, AT_ONCE.1);
        thread::scope(|scope| (0..at_once).for_each(|_| drop(scope.spawn(work))));
        let observed = observed.into_inner().unwrap_or_else(PoisonError::into_inner);
        (!cancel.is_cancelled()).then(|| self.judge(checks, &observed))
    }

    /// Calls the example of each of the user's own rules; returns `None` if it was cancelled. Run it only if denials hold, which
    /// [`run`](Self::run) shows. `progress` is called as there, with numbers of rules.
    pub fn run_rules(
        &self,
        rules: &[OwnRule],
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Option<Vec<ProvedRule>> {
        let mut proved = Vec::with_capacity(rules.len());
        for (session, some) in rules.chunks(own_rules::MAX_IN_SESSION).enumerate() {
            progress(proved.len(), rules.len());
            let mut run = Run::default();
            let name = format!("rules-{}", session + 1);
            let plan = |_: &Sandbox| Plan::new(Vec::new(), own_rules::replies(some, self.client));
            let staged =
                StagedRun { name: &name, scenario: Scenario::Tools, plan: &plan, rules: some };
            run.problem = self.carry_out(&staged, cancel, &mut run).err();
            let problem = run.failure();
            let results = some.iter().enumerate();
            proved.extend(results.map(|(number, one)| one.judge(number, &run, problem.as_deref())));
            if cancel.is_cancelled() {
                return None;
            }
        }
        progress(rules.len(), rules.len());
        Some(proved)
    }

    /// Runs a program that unpacks itself, so that it does so once and not in each scenario.
    fn unpack(&self, cancel: &Cancel) {
        let environment =
            [("HOME", self.cache()), ("XDG_CACHE_HOME", self.cache()), ("PATH", self.path.into())];
        let invocation = Invocation {
            program: self.program.to_owned(),
            args: vec!["--version".into()],
            cwd: self.directory.to_owned(),
            env: environment.map(|(name, value)| (name.into(), value)).into(),
            streams: Streams::Merged,
            ..Invocation::default()
        };
        // If it fails, each scenario says so.
        let _ = tenter_proc::run(&invocation, cancel);
    }

    /// Returns the directory that the scenarios share as a cache.
    fn cache(&self) -> OsString {
        self.directory.join("cache").into_os_string()
    }

    fn judge(&self, checks: &[Check], observed: &Observed) -> Vec<ProvedCheck> {
        let results = checks.iter().map(|check| {
            let facts = check.facts(observed, self.client);
            let failure = observed.runs.get(&check.scenario()).and_then(Run::failure);
            let promise = check.promise((self.host, self.client), self.path);
            let (verdict, evidence) = judge(promise, &facts, failure);
            let reached_model = observed.runs.values().any(|run| !run.requests.is_empty());
            ProvedCheck { id: check.id(), proves: check.proves(), verdict, evidence, reached_model }
        });
        results.collect()
    }

    /// Carries out a scenario.
    fn observe(&self, scenario: Scenario, cancel: &Cancel) -> Run {
        let mut run = Run::default();
        let plan = |sandbox: &Sandbox| plan::contents(scenario, self.client, sandbox);
        let staged = StagedRun { name: scenario.name(), scenario, plan: &plan, rules: &[] };
        run.problem = self.carry_out(&staged, cancel, &mut run).err();
        run
    }

    /// Runs the agent in a sandbox, and notes in `run` what happens.
    fn carry_out(
        &self,
        staged: &StagedRun<'_>,
        cancel: &Cancel,
        run: &mut Run,
    ) -> Result<(), String> {
        let StagedRun { name, scenario, plan, rules } = *staged;
        let failure = |error: io::Error| format!("the sandbox cannot be prepared: {error}");
        let sandbox = Sandbox::create(&self.directory.join(name)).map_err(failure)?;
        let plan = plan(&sandbox);
        let replies = plan.replies.len();
        let script = LenientScript::new(plan.replies);
        let script = plan.lanes.into_iter().fold(script, LenientScript::lane);
        let is_counted = plan.counts || self.client.deny_ends_run || self.client.takes_answers_back;
        let server = ModelServer::start(if is_counted { script.select_by_order() } else { script })
            .map_err(|error| format!("the model server cannot be started: {error}"))?;
        let (home, project) = (sandbox.home(), sandbox.project());
        let url = server.base_url(self.client.format);
        let mcp_server = (scenario == Scenario::Mcp).then(|| sandbox.mcp_server()).transpose();
        let mcp_server = mcp_server.map_err(failure)?;
        let launch = Launch {
            home: &home,
            project: &project,
            url: &url,
            prompt: "",
            continues: false,
            scenario,
            mcp_server: mcp_server.as_deref(),
        };
        let mut environment = sandbox.environment(self.path, self.client.environment(&launch));
        if self.client.unpacks_itself {
            environment.push(("XDG_CACHE_HOME".into(), self.cache()));
        }
        let has_asked = |count| server.wait_for_requests(count + 1, Duration::ZERO);
        let start = |arguments: Vec<String>, log: usize| {
            let invocation = self.invocation(&launch, arguments, &environment);
            process::run(&invocation, &sandbox.log(log), (self.patience, cancel), &has_asked)
        };
        write_files(&(self.client.files)(&launch)).map_err(failure)?;
        write_hooks(&sandbox, &plan.hooks, rules).map_err(failure)?;
        if let Some(setup) = self.client.setup {
            start(setup(&launch), 0).failure.map_or(Ok(()), Err)?;
        }
        let program = Program { path: self.tenter_hook, version: self.version, now: self.now };
        sandbox
            .register((self.host, self.client), plan.registration, program, &environment)
            .map_err(|error| format!("the hooks cannot be registered: {}", error.message))?;
        for (number, prompt) in plan.prompts.iter().enumerate() {
            let launch = Launch { prompt, continues: number > 0, ..launch };
            loop {
                let (requests, count) =
                    (main_requests(&server.requests()), sandbox.payloads().len());
                let process = start(self.client.arguments(&launch), run.processes.len() + 1);
                let payloads = sandbox.payloads().split_off(count);
                run.processes.push(Process { outcome: process, payloads });
                let now_asked = main_requests(&server.requests());
                let is_over = !self.client.deny_ends_run || now_asked >= replies;
                if is_over || now_asked == requests || cancel.is_cancelled() {
                    break;
                }
            }
        }
        run.requests = server.requests();
        note_effects(&sandbox, run).map_err(failure)
    }

    fn invocation(
        &self,
        launch: &Launch,
        arguments: Vec<String>,
        environment: &[(OsString, OsString)],
    ) -> Invocation {
        Invocation {
            program: self.program.to_owned(),
            args: arguments.into_iter().map(OsString::from).collect(),
            cwd: launch.project.to_owned(),
            env: environment.to_vec(),
            stdin: Vec::new(),
            streams: Streams::Merged,
            limits: Limits { grace: process::GRACE, ..Limits::default() },
        }
    }
}

/// Counts the requests of the main agent.
fn main_requests(requests: &[RecordedRequest]) -> usize {
    requests.iter().filter(|request| request.lane == "main").count()
}

/// Writes the hooks of a scenario and of the user's own rules, and the hook that records payloads.
fn write_hooks(sandbox: &Sandbox, hooks: &[HookFile], rules: &[OwnRule]) -> io::Result<()> {
    sandbox.write_hooks(hooks)?;
    sandbox.copy_manifests(&own_rules::hooks(rules))?;
    sandbox.write_hooks(&[HookFile::observer(&sandbox.payload_directory())])
}

/// Notes in `run` what it left in the sandbox, and writes its requests there.
fn note_effects(sandbox: &Sandbox, run: &mut Run) -> io::Result<()> {
    sandbox.write_requests(run.requests.iter().map(|request| &request.body))?;
    run.files = names_in(&sandbox.project());
    run.outside = names_in(sandbox.root());
    run.journal = sandbox.journal();
    Ok(())
}
