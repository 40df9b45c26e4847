//! One visit of a host: from one native event to one native answer.
//!
//! `after` is what hooks do after the answer. `session` handles what concerns a whole session, `tool` the calls of tools, `rewrite` their changed inputs, `stop` the end of an agent's work, `subagent`
//! what concerns subagents. `repeated` is about events that several registrations report.
//! `contexts` brings text to the model within the host's limits. `refusal` answers what cannot be looked at. `runs` sees which hooks ran.

mod after;
mod contexts;
mod conversation;
mod guards;
mod host_facts;
mod host_rules;
mod imported;
mod protected;
mod refusal;
mod repeated;
mod rewrite;
mod ruled_out;
mod runs;
mod services;
mod session;
mod settings;
mod stop;
mod subagent;
mod tool;
mod transcript;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenter_base::{AgentState, Clock, Containment};
use tenter_engine::configuration::HookConfiguration;
use tenter_engine::environment::{Environment, HookEnvironment};
use tenter_engine::layout::project_root;
use tenter_engine::{
    AsynchronousHooks, Attributed, Denial, Directories, Engine, EngineBuilder, HookSession,
};
use tenter_protocol::event::{AgentFacts, HostFacts};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Diagnostic, EventName, Scope};

use crate::heartbeat;
use crate::host::{Host, NativeEvent, Support};
use crate::hosts;
use crate::occurrence::{Detail, Occurrence};
use crate::payload::{Payload, PayloadError};
use crate::reply::{Reply, Verdict};
use crate::state::{SessionState, StateDir};
use crate::unknown_tools;
pub use after::{Remainder, RemainingHooks};
use repeated::Outcome;
use ruled_out::{Loaded, OrdinaryCall};
pub use services::KeeperConnector;

use crate::transcript::Transcript;
use runs::RunLog;

/// What a process that a host started works with.
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
    pub vars: Environment,
    /// The working directory that the host gave the process.
    pub cwd: PathBuf,
    /// The clock.
    pub clock: Clock,
    /// When the process started.
    pub started: Instant,
    /// The program `tenter`, which posts payloads to hooks behind HTTP; `None` if it is not beside this program.
    pub tenter: Option<PathBuf>,
    /// How runtime hooks are called; `None` starts them for each event.
    pub keeper: Option<KeeperConnector>,
}

/// A host that ends the last hooks of a session or of a turn so soon does not wait for them: they run in a process of their own (B26).
const TOO_SHORT: Duration = Duration::from_secs(3);

/// What is left of a visit: what the process writes, and does afterwards.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Visited {
    /// The native answer for stdout; without one, nothing is written there.
    pub answer: Option<String>,
    /// Lines for stderr.
    pub warnings: Vec<String>,
    /// What hooks are to see after the answer was written: [`Visitor::run_after`].
    pub after: Option<Remainder>,
}

impl Visited {
    /// No answer, but a line for stderr.
    pub fn warning(line: String) -> Self {
        Self { warnings: vec![line], ..Self::default() }
    }
}

impl Visitor {
    /// Runs the hooks for the native event with this payload.
    ///
    /// A payload that cannot be read is reported; what is about to happen is denied then if a hook that fails closed would have
    /// had to see it (B25).
    pub fn run(&self, payload: Result<Payload, PayloadError>) -> Visited {
        let payload = match payload {
            Ok(payload) => payload,
            Err(error) => return self.unreadable(&error),
        };
        let caller = hosts::caller(self.host, &payload).map(|host| host.id);
        let visitor = self.of_caller(caller).unwrap_or_else(|| self.clone());
        heartbeat::note(&self.directories.state, visitor.host, (self.clock)().into());
        match (visitor.host.read)(visitor.event, &payload) {
            Ok(occurrence) => {
                let occurrence = visitor.in_root_session(occurrence);
                unknown_tools::note(&self.directories.state, visitor.host, &occurrence);
                visitor.visit(&visitor.with_directory(occurrence), &payload)
            }
            Err(error) => visitor.unreadable(&error),
        }
    }

    /// Some hosts tell the directory only with some events: otherwise it is the project.
    fn with_directory(&self, occurrence: Occurrence) -> Occurrence {
        if !occurrence.cwd.as_os_str().is_empty() {
            return occurrence;
        }
        let known = self.session(&occurrence).get().project.clone();
        Occurrence { cwd: known.unwrap_or_else(|| self.cwd.clone()), ..occurrence }
    }

    /// This visitor for the host that caused the event; `None` if it is the one with which the command is registered (B7).
    fn of_caller(&self, caller: Option<&str>) -> Option<Self> {
        let host = hosts::foreign(self.host, caller?)?;
        Some(Self {
            host,
            event: host.event(self.event.name)?,
            caller: Some(host.id),
            ..self.clone()
        })
    }

    /// A subagent's occurrence in the session of the main agent, to which the state belongs (B48).
    fn in_root_session(&self, occurrence: Occurrence) -> Occurrence {
        let mut occurrence = occurrence.with_short_ids();
        let parent = occurrence.agent.as_ref().and_then(|agent| agent.parent.as_ref());
        if parent == Some(&occurrence.session) {
            let root = self.session(&occurrence).get().root.clone();
            occurrence.session = root.unwrap_or(occurrence.session);
        }
        occurrence
    }

    fn visit(&self, occurrence: &Occurrence, payload: &Payload) -> Visited {
        if occurrence.detail == Detail::Nothing {
            return Visited::default();
        }
        let transcript = crate::transcript::of_payload(self.host, payload);
        let is_over =
            matches!(occurrence.detail, Detail::SessionEnd { .. } | Detail::StopFailure { .. });
        if is_over && self.event.timeout <= TOO_SHORT {
            let after = Remainder {
                occurrence: occurrence.clone(),
                hooks: RemainingHooks::All,
                caller: self.caller.map(str::to_owned),
                transcript,
            };
            return Visited { after: Some(after), ..Visited::default() };
        }
        let outcome = Outcome::claim(self, occurrence);
        let earlier = outcome.as_ref().and_then(|outcome| outcome.earlier((self.clock)().into()));
        if let Some(reply) = earlier {
            let answer = (self.host.answer)(self.event, &reply);
            return Visited { answer, ..Visited::default() };
        }
        let workspace = host_facts::workspace(payload);
        let mut visit = Visit::begin(self, occurrence, AsynchronousHooks::Skip, workspace);
        host_facts::add(Arc::make_mut(&mut visit.host_facts), payload);
        visit.read_transcript(transcript.as_deref());
        visit.record_conversation();
        visit.open();
        visit.handle();
        if let Some(outcome) = outcome {
            outcome.keep(&visit.reply);
        }
        let after = visit.remainder(transcript);
        Visited { after, ..visit.finish() }
    }

    /// The session of an occurrence.
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
            said: configuration.container,
            variables: &self.vars,
            own: &[&self.directories.home, project],
        };
        let builder = match &self.tenter {
            Some(program) => Engine::builder(project).http_client(program),
            None => Engine::builder(project),
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
            .agent_states(AgentState::of_process(&containment))
            .journal(self.directories.state.join("journal"))
            .one_event()
            .host(self.host.id)
            .observer(runs)
    }

    /// When the answer must be written: before the host's timeout, after which it lets the call pass (B24).
    fn deadline(&self) -> Instant {
        self.started + self.event.time_for_hooks()
    }
}

/// One visit in progress.
struct Visit<'v> {
    visitor: &'v Visitor,
    occurrence: &'v Occurrence,
    session: SessionState,
    host_facts: Arc<HostFacts>,
    configuration: HookConfiguration,
    engine: Engine,
    deadline: Option<Instant>,
    diagnostics: Vec<Diagnostic>,
    /// Whether no hook is about the occurrence; then none was loaded.
    is_ruled_out: bool,
    warnings: Vec<String>,
    runs: Arc<RunLog>,
    reply: Reply,
    transcript: Option<Transcript>,
    /// Where the host records the conversation, if that is known.
    transcript_path: Option<PathBuf>,
}

impl<'v> Visit<'v> {
    fn begin(
        visitor: &'v Visitor,
        occurrence: &'v Occurrence,
        asynchronous: AsynchronousHooks,
        workspace: Vec<PathBuf>,
    ) -> Self {
        let session = visitor.session(occurrence);
        let known = session.get().project.clone();
        let project =
            known.unwrap_or_else(|| project_root(&occurrence.cwd, &visitor.directories.home));
        let runs = Arc::<RunLog>::default();
        let settings = visitor.settings(&project);
        let (configuration, error) = Visitor::configuration(&settings);
        let is_answered = asynchronous == AsynchronousHooks::Skip;
        let about = (project.as_path(), settings, &configuration);
        let call = OrdinaryCall::of(visitor, occurrence, about, session.get());
        let call = call.filter(|_| is_answered && error.is_none());
        let loader = visitor.loader(&project, &configuration, Arc::clone(&runs));
        let loader = loader.asynchronous_hooks(asynchronous).added_directories(workspace);
        let loaded = match &call {
            Some(call) => call.load(loader),
            None => Loaded::all(loader),
        };
        let Loaded { engine, diagnostics, is_ruled_out } = loaded;
        let engine = if configuration.enabled { engine } else { engine.without_hooks() };
        let by_host = imported::run_by_host(visitor, occurrence, &engine);
        let engine = engine.leaving_out(by_host);
        Self {
            deadline: is_answered.then(|| visitor.deadline()),
            warnings: error.into_iter().collect(),
            reply: Reply::default(),
            transcript: None,
            transcript_path: None,
            host_facts: Arc::new(host_facts::of(visitor, occurrence)),
            visitor,
            occurrence,
            session,
            configuration,
            engine,
            diagnostics,
            is_ruled_out,
            runs,
        }
    }

    fn handle(&mut self) {
        match &self.occurrence.detail {
            // It is what opened the session.
            Detail::SessionStart { .. } | Detail::Nothing => {}
            Detail::ContextLost => self.context_lost(),
            Detail::Prompt { text, id } => self.prompt(text, id.as_deref()),
            Detail::BeforeTool(call) => self.before_tool(call),
            Detail::AfterTool { call, end } => self.after_tool(call, end),
            Detail::AfterBatch => self.after_batch(),
            Detail::Stop { response } => self.stop(response.as_deref()),
            Detail::StopFailure { response } => self.after_agent(response.as_deref()),
            Detail::SubagentStart => self.subagent_start(),
            Detail::SubagentStop { response } => self.subagent_stop(response.as_deref()),
            Detail::PromptSent { text, sent } => self.prompt_sent(text, sent),
            Detail::PreCompact(compaction) => self.pre_compact(*compaction),
            Detail::PostCompact(compaction) => self.post_compact(*compaction),
            Detail::SessionEnd { reason } => self.session_end(reason.as_deref()),
        }
    }

    /// The hooks of the agent that causes the event.
    fn hooks(&self) -> HookSession<'_> {
        self.hooks_of(self.occurrence.agent.as_ref().map(|agent| agent.id.as_str()))
    }

    /// The hooks of a subagent, or of the main agent.
    fn hooks_of(&self, agent: Option<&str>) -> HookSession<'_> {
        let (root, cwd) = (&self.occurrence.session, self.occurrence.cwd.clone());
        let scope = match agent {
            None => Scope::new(root, cwd),
            Some(agent) => {
                let known = self.session.get().work.subagent(agent);
                let parent = known.and_then(|known| known.parent.as_deref());
                let scope = Scope::new(conversation(root, Some(agent)), cwd);
                scope.with_parent(Some(conversation(root, parent)))
            }
        };
        let hooks = self.engine.session(Scope {
            agent: self.agent_facts(agent),
            ..scope.with_host(Arc::clone(&self.host_facts))
        });
        self.with_services(match self.deadline {
            Some(deadline) => hooks.with_deadline(deadline),
            None => hooks,
        })
    }

    fn agent_facts(&self, agent: Option<&str>) -> Option<AgentFacts> {
        let agent = self.occurrence.agent.as_ref().filter(|own| Some(own.id.as_str()) == agent)?;
        let known = || Some(self.session.get().work.subagent(&agent.id)?.kind.clone());
        let kind = agent.kind.clone().or_else(known).unwrap_or_default();
        Some(AgentFacts { id: agent.id.clone(), kind, depth: None })
    }

    fn agent_id(&self) -> Option<String> {
        self.occurrence.agent.as_ref().map(|agent| agent.id.clone())
    }

    fn has_hooks(&self, event: EventName) -> bool {
        !self.engine.catalog().hooks_for(event).is_empty()
    }

    fn deny(&mut self, denial: &Denial) {
        self.reply.verdict = Some(Verdict::Deny(reason(denial.hook.as_deref(), &denial.reason)));
        self.add_contexts(&denial.contexts);
    }

    fn add_contexts(&mut self, contexts: &[Attributed<String>]) {
        self.reply.contexts.extend(contexts.iter().map(attributed));
    }

    /// Reports something to the user, once in a session for each `kind`.
    fn notice_once(&mut self, kind: &str, text: impl FnOnce() -> String) {
        if !self.session.get().has_noticed(kind)
            && self.session.update(|state| state.notice_once(kind))
        {
            self.notice(&text());
        }
    }

    /// Tells the user something, and records it.
    fn notice(&mut self, text: &str) {
        self.hooks().notice(self.occurrence.detail.event(), text);
        self.reply.notices.push(format!("Tenter: {text}"));
    }

    /// Adds the notices that wait, or lets those of this event wait. Beside a denial, no host shows them.
    fn deliver_notices(&mut self) {
        if !self.visitor.host.shows_notices() {
            return;
        }
        let is_shown = (self.visitor.host.takes_notice)(self.visitor.event.moment)
            && self.reply.denial().is_none();
        if !is_shown {
            let notices = std::mem::take(&mut self.reply.notices);
            if !notices.is_empty() {
                self.session.update(|state| state.work.notices.extend(notices));
            }
        } else if !self.session.get().work.notices.is_empty() {
            let mut notices = self.session.update(|state| std::mem::take(&mut state.work.notices));
            notices.append(&mut self.reply.notices);
            self.reply.notices = notices;
        }
    }

    /// What this program could not do, for stderr.
    fn trouble(&self) -> Vec<String> {
        let of_state = self.session.trouble();
        let of_state = of_state.map(|why| format!("the state of the session is not kept: {why}"));
        self.warnings.iter().cloned().chain(of_state).collect()
    }

    /// A denial that the host cannot carry out must not look like one.
    fn report_void_denial(&mut self) {
        let host = self.visitor.host;
        let event = self.visitor.event.moment.deniable();
        let Some(event) = event.filter(|_| self.reply.denial().is_some()) else { return };
        if host.support(event, Power::Block) == Support::Unsupported {
            let event = event.as_str();
            self.reply.verdict = None;
            self.notice_once(&format!("denial {event}"), || {
                format!("a hook denied {event}, which {} cannot prevent.", host.name)
            });
        }
    }

    fn finish(mut self) -> Visited {
        self.report_void_denial();
        self.reply.notices.extend(self.runs.take_notices());
        self.deliver_contexts();
        self.deliver_notices();
        let mut warnings = self.trouble();
        if !self.visitor.host.shows_notices() {
            warnings.append(&mut self.reply.notices);
        }
        let answer = (self.visitor.host.answer)(self.visitor.event, &self.reply);
        Visited { answer, warnings, after: None }
    }
}

/// The id of an agent's conversation (B48).
fn conversation(session: &str, agent: Option<&str>) -> String {
    agent.map_or_else(|| session.to_owned(), |agent| format!("{session}/{agent}"))
}

/// A reason for the model and the user: never empty, and attributed to its hook (B15).
fn reason(hook: Option<&str>, reason: &str) -> String {
    let reason = match plain(reason) {
        empty if empty.trim().is_empty() => "denied, without a reason".to_owned(),
        reason => reason,
    };
    hook.map_or_else(|| reason.clone(), |hook| format!("hook {hook}: {reason}"))
}

/// A hook's text for the model, with the name of the hook.
fn attributed(text: &Attributed<String>) -> String {
    format!("[hook {}] {}", text.hook, plain(&text.value))
}

/// Text without control characters (B27).
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
