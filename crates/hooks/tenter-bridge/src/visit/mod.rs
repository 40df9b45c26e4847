//! One visit of a host: from one native event to one native answer.
//!
//! This module is the process: it reads one payload, and answers it. `event` is the event in it: `session` handles the start and the end of a session, messages
//! and compactions, `tool` the calls of tools, `rewrite` their changed inputs, `stop` the end of an agent's work, and `subagent` subagents.
//! `contexts` brings text to the model within the host's limits. `runs` records the hooks that ran, and `after` runs the hooks that are
//! left when the answer is written. `repeated` answers an event that several registrations report only once.

mod after;
mod confined;
mod contexts;
mod conversation;
mod event;
mod guards;
mod host_facts;
mod host_rules;
mod imported;
mod kept;
mod protected;
mod repeated;
mod rewrite;
mod ruled_out;
mod runs;
mod services;
mod session;
mod stop;
mod subagent;
mod tool;
mod transcript;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenter_base::{AgentState, Clock, Containment};
use tenter_engine::configuration::{HookConfiguration, HookTables};
use tenter_engine::inspect::{AsynchronousHooks, Environment, HookEnvironment, OuterProjects};
use tenter_engine::layout::{DirectoryNames, project_root};
use tenter_engine::trust::TrustStore;
use tenter_engine::{Attributed, Directories, Engine, EngineBuilder, FailMode};
use tenter_protocol::{EventName, Scope};

use crate::host::{Host, NativeEvent};
use crate::occurrence::{Detail, NativeCall, Occurrence};
use crate::payload::{Payload, PayloadError};
use crate::reply::HostReply;
use crate::state::{SessionState, StateDir};
use crate::{heartbeat, hosts, unknown_tools};
use event::Visit;
use repeated::EventClaim;
use runs::RunLog;

pub use after::{Remainder, RemainingHooks};
pub use kept::KeptHooks;
pub use services::KeeperConnector;
pub use watch::EventProgress;

/// The inputs of a process that a host started.
#[derive(Clone)]
pub struct Visitor {
    /// The host.
    pub host: &'static Host,
    /// The native event for which it was started.
    pub event: &'static NativeEvent,
    /// The id of the host, if it is another than the one with which the command is registered (B7).
    pub caller: Option<&'static str>,
    /// The user's directories.
    pub directories: Directories,
    /// The environment that the host gave the process.
    pub vars: Arc<Environment>,
    /// The working directory that the host gave the process.
    pub cwd: PathBuf,
    /// The clock.
    pub clock: Clock,
    /// The time at which the process started.
    pub start: Instant,
    /// The program `tenter`, which posts payloads to hooks behind HTTP; `None` if it is not in the directory of this program.
    pub tenter: Option<PathBuf>,
    /// The program that runs a command with fewer rights: the one beside this program, or this one.
    pub launcher: Option<PathBuf>,
    /// The connection to kept runtime hooks; `None` starts them for each event.
    pub keeper: Option<KeeperConnector>,
    /// The hooks that a process that answers many events keeps in memory; `None` in a process that answers one.
    pub memory: Option<Arc<KeptHooks>>,
    /// The progress of the event.
    pub progress: Arc<EventProgress>,
}

/// Maximum timeout of a host that does not wait for the last hooks of a session or turn: they run in a process of their own (B26).
const SHORT_TIMEOUT: Duration = Duration::from_secs(3);

/// The result of a visit: the output of the process, and the hooks that run afterwards.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Visited {
    /// The native answer for stdout; without one, nothing is written there.
    pub answer: Option<String>,
    /// Lines for stderr.
    pub warnings: Vec<String>,
    /// The event for hooks that run after the answer was written: [`Visitor::run_after`].
    pub after: Option<Remainder>,
}

impl Visited {
    /// Creates a result without an answer, with a line for stderr.
    pub fn warning(line: String) -> Self {
        Self { warnings: vec![line], ..Self::default() }
    }
}

impl Visitor {
    /// Runs the hooks for the native event with this payload.
    ///
    /// A payload that cannot be read is reported. The action that follows is denied then if a fail-closed hook would have seen it (B25).
    pub fn run(&self, payload: Result<Payload, PayloadError>) -> Visited {
        let payload = match payload {
            Ok(payload) => payload,
            Err(error) => return self.unreadable(&error),
        };
        let caller = hosts::caller(self.host, &payload).and_then(|host| self.for_caller(host));
        let visitor = caller.as_ref().unwrap_or(self);
        heartbeat::note(&self.directories.state, visitor.host, (self.clock)().into());
        match (visitor.host.read)(visitor.event, &payload) {
            Ok(Occurrence {
                detail: Detail::BeforeTool(NativeCall { has_unreadable_input: true, tool, .. }),
                ..
            }) => visitor.unreadable(&PayloadError::unreadable_input(&tool)),
            Ok(occurrence) => {
                let (occurrence, session) = visitor.in_root_session(occurrence);
                unknown_tools::note(&self.directories.state, visitor.host, &occurrence);
                visitor.visit(&occurrence, session, &payload)
            }
            Err(error) => visitor.unreadable(&error),
        }
    }

    /// Returns this visitor for another host that runs the command (B7); `None` if that host has no such event.
    fn for_caller(&self, host: &'static Host) -> Option<Self> {
        let event = host.event(self.event.name)?;
        Some(Self { host, event, caller: Some(host.id), ..self.clone() })
    }

    /// Moves a subagent's occurrence to the session of the main agent, to which the state belongs (B48). Some hosts name the working
    /// directory only at some events: at others, it is the project. Returns the occurrence with the state of its session.
    fn in_root_session(&self, occurrence: Occurrence) -> (Occurrence, SessionState) {
        let mut occurrence = occurrence.with_short_ids();
        let mut session = self.session(&occurrence);
        let parent = occurrence.agent.as_ref().and_then(|agent| agent.parent.as_ref());
        if parent == Some(&occurrence.session)
            && let Some(root) = session.get().root.clone()
        {
            occurrence.session = root;
            session = self.session(&occurrence);
        }
        if occurrence.cwd.as_os_str().is_empty() {
            let project = session.get().project.clone();
            occurrence.cwd = project.unwrap_or_else(|| self.cwd.clone());
        }
        (occurrence, session)
    }

    fn visit(&self, occurrence: &Occurrence, session: SessionState, payload: &Payload) -> Visited {
        if occurrence.detail == Detail::Nothing {
            return Visited::default();
        }
        let transcript = crate::transcript::named_in(self.host, payload);
        let is_over =
            matches!(occurrence.detail, Detail::SessionEnd { .. } | Detail::StopFailure { .. });
        if is_over && self.event.timeout <= SHORT_TIMEOUT {
            let after = Remainder {
                occurrence: occurrence.clone(),
                hooks: RemainingHooks::All,
                caller: self.caller.map(str::to_owned),
                transcript,
            };
            return Visited { after: Some(after), ..Visited::default() };
        }
        let claim = EventClaim::acquire(self, occurrence);
        let earlier = claim.as_ref().and_then(|claim| claim.earlier_reply((self.clock)().into()));
        if let Some(reply) = earlier {
            let answer = (self.host.answer)(self.event, &reply);
            return Visited { answer, ..Visited::default() };
        }
        let workspace = host_facts::workspace(payload);
        let mode = AsynchronousHooks::Skip;
        let mut visit = Visit::begin(self, (occurrence, session), mode, workspace);
        host_facts::add_payload_facts(Arc::make_mut(&mut visit.host_facts), payload);
        visit.read_transcript(transcript.as_deref());
        visit.record_conversation();
        visit.open();
        visit.handle();
        if let Some(claim) = claim {
            claim.save(&visit.reply);
        }
        let after = visit.remainder(transcript);
        Visited { after, ..visit.finish() }
    }

    /// Reads the state of an occurrence's session.
    fn session(&self, occurrence: &Occurrence) -> SessionState {
        StateDir::new(&self.directories.state).session(self.host.id, &occurrence.session)
    }

    fn loader(
        &self,
        project: &Path,
        configuration: &HookConfiguration,
        runs: Arc<RunLog>,
    ) -> EngineBuilder {
        let environment = HookEnvironment::new(&self.vars, &configuration.pass_env);
        let containment = Containment {
            setting: configuration.container,
            variables: &self.vars,
            own: &[&self.directories.home, project],
        };
        let builder = match &self.tenter {
            Some(program) => Engine::builder(project).http_client(program),
            None => Engine::builder(project),
        };
        let builder = match &self.launcher {
            Some(program) => builder.launcher(program),
            None => builder,
        };
        let builder = match self.keeper {
            Some(connector) => builder.connector(connector(self, project, self.deadline())),
            None => builder,
        };
        builder
            .directories(self.directories.clone())
            .environment(environment.withholding(self.host.withheld))
            .clock(self.clock)
            .trust(configuration.trust)
            .policies(configuration.policies.clone())
            .confine(configuration.confine.clone())
            .report_changes(configuration.reports_changes)
            .agent_states(self.agent_states(&containment))
            .journal(self.directories.state.join("journal"))
            .one_event()
            .host(self.host.id)
            .observer(runs)
    }

    /// Returns the time by which the answer must be written: before the host's timeout, after which it lets the call pass (B24).
    /// Returns the states of the agent's process.
    fn agent_states(&self, containment: &Containment<'_>) -> Vec<AgentState> {
        let unseen_input = self.host.has_unseen_input.then_some(AgentState::UnseenInput);
        AgentState::read_process(containment).into_iter().chain(unseen_input).collect()
    }

    fn deadline(&self) -> Instant {
        self.start + self.event.time_for_hooks()
    }

    /// Returns the projects around a project whose hooks run in it, too (R89).
    fn outer_projects(&self, project: &Path) -> OuterProjects {
        let store = || TrustStore::open(self.directories.trust_file()).0;
        let around = (project, self.directories.home.as_path());
        OuterProjects::find(&DirectoryNames::default(), around, store)
    }

    /// Returns the settings files: the user's, the project's, and the outer projects' (R89).
    fn settings(&self, project: &Path, outer: &OuterProjects) -> Vec<PathBuf> {
        let outer = outer.roots.iter().rev().map(PathBuf::as_path);
        let projects = [project].into_iter().chain(outer);
        let user = self.directories.config_home.join("tenter/config.toml");
        [user].into_iter().chain(projects.map(|root| root.join("tenter.toml"))).collect()
    }

    /// Reads the settings of hooks in these files, the user's first. If they cannot be read, it returns the strictest settings, and why.
    fn configuration(&self, files: &[PathBuf]) -> (HookConfiguration, Option<String>) {
        let (user, projects) =
            files.split_first().map_or((Path::new(""), files), |(user, rest)| (user, rest));
        match HookConfiguration::read(&self.directories.managed, user, projects) {
            Ok((configuration, _)) => (configuration, None),
            Err(error) => {
                let tables = HookTables::default();
                let (mut strict, _) =
                    HookConfiguration::resolve(HookTables::default(), &tables, user);
                strict.policies.default.fail = FailMode::Closed;
                (strict, Some(error.to_string()))
            }
        }
    }

    /// Denies the action that follows the event, because no hook can see it, for this reason.
    pub fn refuse(&self, why: String) -> Visited {
        let reply = self.event.moment.deniable().map(|_| HostReply::deny(&why));
        let answer = reply.and_then(|reply| (self.host.answer)(self.event, &reply));
        Visited { answer, warnings: vec![why], after: None }
    }

    /// Answers a payload that cannot be read (B25).
    fn unreadable(&self, error: &PayloadError) -> Visited {
        let project = project_root(&self.cwd, &self.directories.home);
        let outer = self.outer_projects(&project);
        let (configuration, _) = self.configuration(&self.settings(&project, &outer));
        let scope = Scope::new(self.host.id, self.cwd.clone());
        let loader = self.loader(&project, &configuration, Arc::default()).outer_projects(outer);
        let (engine, _) = loader.load();
        let warning = format!("{} {}: {error}", self.host.name, self.event.name);
        let event = self.event.moment.deniable();
        engine.session(scope).notice(event.unwrap_or(EventName::SessionStart), &warning);
        let engine = if configuration.enabled { engine } else { engine.only_managed() };
        let guard = event.and_then(|event| {
            let catalog = engine.catalog();
            let mut hooks = catalog.hooks_for(event).iter();
            hooks.find(|hook| hook.policy.fail == FailMode::Closed).map(|hook| hook.name.clone())
        });
        let reply = guard.map(|hook| {
            HostReply::deny(format!(
                "hook {hook}: it fails closed and could not look at this: {error}"
            ))
        });
        let answer = reply.and_then(|reply| (self.host.answer)(self.event, &reply));
        Visited { answer, warnings: vec![warning], after: None }
    }
}

/// Returns a reason for the model and the user: never empty, and with the name of its hook (B15).
fn reason(hook: Option<&str>, reason: &str) -> String {
    let reason = match plain(reason) {
        empty if empty.trim().is_empty() => "denied, without a reason".to_owned(),
        reason => reason,
    };
    hook.map_or_else(|| reason.clone(), |hook| format!("hook {hook}: {reason}"))
}

/// Returns a hook's text for the model, with the name of the hook.
fn attributed(text: &Attributed<String>) -> String {
    format!("[hook {}] {}", text.hook, plain(&text.value))
}

/// Removes control characters (B27).
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
