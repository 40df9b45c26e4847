//! One visit of a host: from one native event to one native answer.
//!
//! `session` handles what concerns a whole session, `tool` the calls of tools, `stop` the end of an agent's work, `subagent`
//! what concerns subagents. `contexts` brings text to the model within the host's limits. `runs` sees which hooks ran.

mod contexts;
mod runs;
mod session;
mod stop;
mod subagent;
mod tool;

use std::path::PathBuf;
use std::sync::Arc;

use tenter_base::Clock;
use tenter_engine::environment::{Environment, HookEnvironment};
use tenter_engine::hook::FailMode;
use tenter_engine::layout::project_root;
use tenter_engine::{Attributed, Denial, Directories, Engine, HookSession};
use tenter_protocol::{Diagnostic, EventName, Scope};

use crate::host::{Host, NativeEvent};
use crate::occurrence::{Detail, Occurrence};
use crate::payload::{Payload, PayloadError};
use crate::reply::{Reply, Verdict};
use crate::state::{SessionState, StateDir};
use runs::RunLog;

/// What a process that a host started works with.
#[derive(Clone)]
pub struct Visitor {
    /// The host.
    pub host: &'static Host,
    /// The native event for which it was started.
    pub event: &'static NativeEvent,
    /// The user's directories.
    pub directories: Directories,
    /// The environment that the host gave the process.
    pub vars: Environment,
    /// The working directory that the host gave the process.
    pub cwd: PathBuf,
    /// The clock.
    pub clock: Clock,
}

/// What is left of a visit: what the process writes, and does afterwards.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Visited {
    /// The native answer for stdout; without one, nothing is written there.
    pub answer: Option<String>,
    /// Lines for stderr.
    pub warnings: Vec<String>,
    /// Whether hooks are to run after the answer was written: [`Visitor::run_after`].
    pub has_more: bool,
}

impl Visitor {
    /// Runs the hooks for the native event with this payload.
    ///
    /// A payload that cannot be read is reported; what is about to happen is denied then if a hook that fails closed would have
    /// had to see it (B25).
    pub fn run(&self, payload: &[u8]) -> Visited {
        match self.read(payload) {
            Ok(occurrence) => self.visit(&occurrence),
            Err(error) => self.unreadable(&error),
        }
    }

    /// Runs what does not have to be answered, after the answer was written: in a process of its own.
    pub fn run_after(&self, payload: &[u8]) -> Visited {
        match self.read(payload) {
            Ok(occurrence) => self.visit_after(&occurrence),
            Err(_) => Visited::default(), // the visit reported it
        }
    }

    fn read(&self, payload: &[u8]) -> Result<Occurrence, PayloadError> {
        (self.host.read)(self.event, &Payload::parse(payload)?)
    }

    fn visit(&self, occurrence: &Occurrence) -> Visited {
        if occurrence.detail == Detail::Nothing {
            return Visited::default();
        }
        let mut visit = Visit::begin(self, occurrence);
        visit.open();
        visit.handle();
        visit.finish()
    }

    fn visit_after(&self, occurrence: &Occurrence) -> Visited {
        let mut visit = Visit::begin(self, occurrence);
        match &occurrence.detail {
            Detail::BeforeTool(call) => visit.after_denied_tool(call),
            _ => {}
        }
        visit.finish()
    }

    fn unreadable(&self, error: &PayloadError) -> Visited {
        let project = project_root(&self.cwd, &self.directories.home);
        let (engine, _) = self.engine(project, Arc::default());
        let warning = format!("{} {}: {error}", self.host.name, self.event.name);
        let guard = self.event.moment.deniable().and_then(|event| {
            let catalog = engine.catalog();
            let hooks = catalog.hooks_for(event).iter();
            hooks
                .filter(|hook| hook.policy.fail == FailMode::Closed)
                .map(|hook| hook.name.clone())
                .next()
        });
        let reply = guard.map(|hook| {
            Reply::deny(format!("hook {hook}: it fails closed and could not look at this: {error}"))
        });
        let answer = reply.and_then(|reply| (self.host.answer)(self.event, &reply));
        Visited { answer, warnings: vec![warning], has_more: false }
    }

    fn engine(&self, project: PathBuf, runs: Arc<RunLog>) -> (Engine, Vec<Diagnostic>) {
        let environment = HookEnvironment::new(&self.vars, &[]).withholding(self.host.withheld);
        Engine::builder(project)
            .directories(self.directories.clone())
            .environment(environment)
            .clock(self.clock)
            .journal(self.directories.state.join("journal"))
            .observer(runs)
            .load()
    }
}

/// One visit in progress.
struct Visit<'v> {
    visitor: &'v Visitor,
    occurrence: &'v Occurrence,
    session: SessionState,
    engine: Engine,
    diagnostics: Vec<Diagnostic>,
    runs: Arc<RunLog>,
    reply: Reply,
    has_more: bool,
}

impl<'v> Visit<'v> {
    fn begin(visitor: &'v Visitor, occurrence: &'v Occurrence) -> Self {
        let states = StateDir::new(&visitor.directories.state);
        let session = states.session(visitor.host.id, &occurrence.session);
        let known = session.get().project.clone();
        let project =
            known.unwrap_or_else(|| project_root(&occurrence.cwd, &visitor.directories.home));
        let runs = Arc::<RunLog>::default();
        let (engine, diagnostics) = visitor.engine(project, Arc::clone(&runs));
        let (reply, has_more) = (Reply::default(), false);
        Self { visitor, occurrence, session, engine, diagnostics, runs, reply, has_more }
    }

    fn handle(&mut self) {
        match &self.occurrence.detail {
            // It is what opened the session.
            Detail::SessionStart { .. } | Detail::Nothing => {}
            Detail::ContextLost => self.context_lost(),
            Detail::Prompt { text } => self.prompt(text),
            Detail::BeforeTool(call) => self.before_tool(call),
            Detail::AfterTool { call, end } => self.after_tool(call, end),
            Detail::AfterBatch => self.after_batch(),
            Detail::Stop { response } => self.stop(response.as_deref()),
            Detail::StopFailure { response } => self.after_agent(response.as_deref()),
            Detail::SubagentStart => self.subagent_start(),
            Detail::SubagentStop { response } => self.subagent_stop(response.as_deref()),
            Detail::PreCompact(trigger) => self.pre_compact(*trigger),
            Detail::PostCompact(trigger) => self.post_compact(*trigger),
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
        let Some(agent) = agent else { return self.engine.session(Scope::new(root, cwd)) };
        let known = self.session.get().subagents.get(agent);
        let parent = known.and_then(|known| known.parent.as_deref());
        let scope = Scope::new(conversation(root, Some(agent)), cwd);
        self.engine.session(scope.with_parent(Some(conversation(root, parent))))
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
        if !self.session.get().noticed.contains(kind)
            && self.session.update(|state| state.notice_once(kind))
        {
            self.reply.notices.push(format!("Tenter: {}", text()));
        }
    }

    /// Adds the notices that wait, or lets those of this event wait. Beside a denial, no host shows them.
    fn deliver_notices(&mut self) {
        let is_shown = (self.visitor.host.takes_notice)(self.visitor.event.moment)
            && self.reply.denial().is_none();
        if !is_shown {
            let notices = std::mem::take(&mut self.reply.notices);
            if !notices.is_empty() {
                self.session.update(|state| state.notices.extend(notices));
            }
        } else if !self.session.get().notices.is_empty() {
            let mut notices = self.session.update(|state| std::mem::take(&mut state.notices));
            notices.append(&mut self.reply.notices);
            self.reply.notices = notices;
        }
    }

    fn finish(mut self) -> Visited {
        self.deliver_contexts();
        self.deliver_notices();
        let trouble = self
            .session
            .trouble()
            .map(|trouble| format!("the state of the session is not kept: {trouble}"));
        let answer = (self.visitor.host.answer)(self.visitor.event, &self.reply);
        Visited { answer, warnings: trouble.into_iter().collect(), has_more: self.has_more }
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
