//! Facts for the pages that are not in the journal: hooks, their sources, other agents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tenter_engine::Fingerprint;
use tenter_engine::trust::{Contents, Data};
use tenter_inspect::facts::{
    Facts, HookSource, HostProof, HostRegistration, HostStatus, PastCalls,
};
use tenter_inspect::figures::KnownHook;
use tenter_proc::Cancel;
use tenter_prove::CheckVerdict;
use tenter_terminal::Env;

use crate::backtest::exception::RuleException;
use crate::bridge::list::{self, ListedAgent, ListedRegistration};
use crate::installed_agents::newest_proof;
use crate::project::Project;
use crate::session_titles::SessionTitles;
use crate::{OwnAgent, backtest, hook_figures};

/// The lifetime of a cached list: a page asks every second, and some hooks have to be run to learn their events.
const KEPT: Duration = Duration::from_secs(10);

/// Maximum time that a page waits for titles. The next request for it reads the others.
const MAX_TITLE_TIME: Duration = Duration::from_millis(200);

/// The lifetime of the past calls, which may take a minute to read.
const PAST_CALLS_KEPT: Duration = Duration::from_mins(2);

/// Past calls, which a thread reads.
#[derive(Default)]
struct PastCallsCache {
    calls: Option<(Instant, Arc<PastCalls>)>,
    is_reading: bool,
}

/// The facts about a project.
pub(super) struct ProjectFacts {
    env: Env,
    root: PathBuf,
    agent: &'static dyn OwnAgent,
    hooks: Mutex<Option<(Instant, Vec<KnownHook>)>>,
    titles: Mutex<Option<(Instant, SessionTitles)>>,
    /// The past calls of the project, and of all projects.
    past_calls: [Arc<Mutex<PastCallsCache>>; 2],
}

impl ProjectFacts {
    pub(super) fn new(env: &Env, root: &Path, agent: &'static dyn OwnAgent) -> Self {
        let (hooks, titles) = (Mutex::new(None), Mutex::new(None));
        let past_calls = Default::default();
        Self { env: env.clone(), root: root.to_owned(), agent, hooks, titles, past_calls }
    }

    /// Returns the project as it is now; `None` if its configuration became invalid.
    fn project(&self) -> Option<Project<'_>> {
        Project::open(&self.env, Some(&self.root)).ok()
    }

    fn load_hooks(&self) -> Vec<KnownHook> {
        let load = |mut project: Project<'_>| hook_figures::known(&project.load(&Cancel::new()));
        self.project().map(load).unwrap_or_default()
    }
}

fn lock(cache: &Mutex<PastCallsCache>) -> std::sync::MutexGuard<'_, PastCallsCache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_past_calls(
    env: &Env,
    root: &Path,
    agent: &'static dyn OwnAgent,
    is_all: bool,
) -> PastCalls {
    let calls = Project::open(env, Some(root))
        .and_then(|project| backtest::past_calls(&project, agent, is_all));
    calls.unwrap_or_else(|failure| PastCalls {
        error: Some(failure.to_string()),
        ..PastCalls::default()
    })
}

/// Returns the value of a cache, which is loaded again when it is old.
fn cached<T: Clone>(cache: &Mutex<Option<(Instant, T)>>, load: impl FnOnce() -> T) -> T {
    let mut entries = cache.lock().unwrap_or_else(PoisonError::into_inner);
    match &*entries {
        Some((at, value)) if at.elapsed() < KEPT => value.clone(),
        _ => {
            let value = load();
            *entries = Some((Instant::now(), value.clone()));
            value
        }
    }
}

impl Facts for ProjectFacts {
    fn hooks(&self) -> Vec<KnownHook> {
        cached(&self.hooks, || self.load_hooks())
    }

    fn titles(&self, sessions: &[(&str, Option<&str>)]) -> BTreeMap<String, String> {
        let mut cache = self.titles.lock().unwrap_or_else(PoisonError::into_inner);
        let secrets = || self.project().map(|project| project.secrets()).unwrap_or_default();
        let (read_at, titles) = cache.get_or_insert_with(|| {
            (Instant::now(), SessionTitles::read(&self.env, self.agent, secrets()))
        });
        if read_at.elapsed() > KEPT {
            titles.renew(&self.env, self.agent, secrets());
            *read_at = Instant::now();
        }
        let start = Instant::now();
        let title =
            |(id, host): &(&str, Option<&str>)| Some(((*id).to_owned(), titles.title(*host, id)?));
        sessions.iter().take_while(|_| start.elapsed() < MAX_TITLE_TIME).filter_map(title).collect()
    }

    fn past_calls(&self, is_all: bool) -> Option<Arc<PastCalls>> {
        let cache = &self.past_calls[usize::from(is_all)];
        let mut state = lock(cache);
        let is_old = state.calls.as_ref().is_none_or(|(at, _)| at.elapsed() > PAST_CALLS_KEPT);
        if is_old && !state.is_reading {
            state.is_reading = true;
            let (cache, env, root) = (Arc::clone(cache), self.env.clone(), self.root.clone());
            let agent = self.agent;
            std::thread::spawn(move || {
                let calls = read_past_calls(&env, &root, agent, is_all);
                *lock(&cache) = PastCallsCache {
                    calls: Some((Instant::now(), Arc::new(calls))),
                    is_reading: false,
                };
            });
        }
        state.calls.as_ref().map(|(_, calls)| Arc::clone(calls))
    }

    fn exception(&self, part: &str, is_command: bool) -> Option<String> {
        RuleException::new(part, is_command).map(|exception| exception.lines())
    }

    fn hosts(&self) -> Vec<HostStatus> {
        let Some(project) = self.project() else { return Vec::new() };
        // To learn its version, an agent's program would have to be run.
        list::agents(&project, |_| None).map(|agent| host(&self.env, agent)).collect()
    }

    fn source(&self, hook: &str, hash: &str) -> Option<HookSource> {
        let mut project = self.project()?;
        if let Some(contents) = project.trust.kept(&Fingerprint(hash.to_owned())) {
            return Some(source("As it was trusted.", &contents));
        }
        let catalog = project.load(&Cancel::new());
        let mut hooks = catalog.listing().iter().filter(|hooks| hooks.name == hook);
        hooks.find_map(|hook| {
            let (fingerprint, contents) = Contents::read(&hook.covered).ok()?;
            let origin =
                "As it is now: it did not change since, and is not kept because it needs no trust.";
            (fingerprint.0 == hash).then(|| source(origin, &contents))
        })
    }
}

fn source(origin: &str, contents: &Contents) -> HookSource {
    let files = contents.files().map(|(path, file)| {
        let text = match &file.data {
            Data::Text(text) => Some(text.clone()),
            Data::Digest(_) => None,
        };
        (path.to_owned(), text)
    });
    HookSource { origin: origin.to_owned(), files: files.collect() }
}

fn host(env: &Env, agent: ListedAgent) -> HostStatus {
    let proof = agent.proved.as_ref().and_then(|_| {
        let host = tenter_bridge::hosts::find(agent.id)?;
        let proof = newest_proof(env, host)?;
        let checks = proof.checks.iter();
        let failures = checks.filter(|check| check.verdict == CheckVerdict::Broken);
        Some(HostProof {
            broken_checks: failures
                .map(|check| (check.proves.clone(), check.evidence.clone()))
                .collect(),
            proved_checks: proof.count(CheckVerdict::Yes) + proof.count(CheckVerdict::Emulated),
            version: proof.version,
            at: proof.proved_at,
        })
    });
    HostStatus {
        id: agent.id.to_owned(),
        name: agent.name.to_owned(),
        is_installed: agent.program.is_some(),
        registrations: agent.registrations.iter().map(registration).collect(),
        last_event: agent.last_event,
        proof,
        breach: agent.breach.map(|breach| (breach.message, breach.at)),
    }
}

fn registration(of: &ListedRegistration) -> HostRegistration {
    let incomplete = || (!of.complete).then(|| "incomplete: install it again".to_owned());
    HostRegistration {
        scope: of.scope.as_str().to_owned(),
        file: of.file.to_string_lossy().into_owned(),
        flaw: of.error.clone().or_else(incomplete),
    }
}
