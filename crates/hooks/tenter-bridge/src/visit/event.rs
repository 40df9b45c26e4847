//! One event of a host, from its session and hooks to the native answer.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tenter_engine::configuration::HookConfiguration;
use tenter_engine::inspect::AsynchronousHooks;
use tenter_engine::layout::project_root;
use tenter_engine::{Attributed, Denial, Engine, HookSession};
use tenter_protocol::event::{AgentFacts, HostFacts};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Diagnostic, EventName, Scope};

use super::ruled_out::{LoadedHooks, OrdinaryEvent};
use super::runs::RunLog;
use super::{Visited, Visitor, attributed, host_facts, imported, reason};
use crate::host::Support;
use crate::occurrence::{Detail, Occurrence};
use crate::reply::{HostReply, HostVerdict};
use crate::state::SessionState;
use crate::transcript::Transcript;

/// One visit in progress.
pub(super) struct Visit<'v> {
    pub(super) visitor: &'v Visitor,
    pub(super) occurrence: &'v Occurrence,
    pub(super) session: SessionState,
    pub(super) host_facts: Arc<HostFacts>,
    pub(super) configuration: HookConfiguration,
    pub(super) engine: Engine,
    pub(super) deadline: Option<Instant>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// True if no hook applies to the occurrence; none was loaded then.
    pub(super) is_ruled_out: bool,
    pub(super) warnings: Vec<String>,
    pub(super) runs: Arc<RunLog>,
    pub(super) reply: HostReply,
    pub(super) transcript: Option<Transcript>,
    /// The host's record of the conversation, if its place is known.
    pub(super) transcript_path: Option<PathBuf>,
}

impl<'v> Visit<'v> {
    pub(super) fn begin(
        visitor: &'v Visitor,
        (occurrence, session): (&'v Occurrence, SessionState),
        asynchronous: AsynchronousHooks,
        workspace: Vec<PathBuf>,
    ) -> Self {
        let root = || project_root(&occurrence.cwd, &visitor.directories.home);
        let project = session.get().project.clone().unwrap_or_else(root);
        let runs = Arc::new(RunLog::new(Arc::clone(&visitor.progress)));
        let outer = visitor.outer_projects(&project);
        let settings = visitor.settings(&project, &outer);
        let (configuration, error) = visitor.configuration(&settings);
        visitor.progress.hooks_loaded([configuration.policies.default.fail]);
        let is_answered = asynchronous == AsynchronousHooks::Skip;
        let place = (project.as_path(), settings, &configuration);
        let ordinary = OrdinaryEvent::new(visitor, occurrence, place, session.get());
        let ordinary = ordinary.filter(|_| is_answered && error.is_none());
        let loader = visitor.loader(&project, &configuration, Arc::clone(&runs));
        let loader = loader.outer_projects(outer).asynchronous_hooks(asynchronous);
        let loader = loader.added_directories(workspace);
        let load = match &ordinary {
            Some(event) => event.load(loader),
            None => LoadedHooks::load_all(loader),
        };
        let LoadedHooks { engine, diagnostics, is_ruled_out } = load;
        let engine = if configuration.enabled { engine } else { engine.only_managed() };
        let modes =
            engine.catalog().hooks().iter().map(|hook| hook.policy.fail).collect::<Vec<_>>();
        visitor
            .progress
            .hooks_loaded(modes.into_iter().chain([configuration.policies.default.fail]));
        let host_hooks = imported::run_by_host(visitor, occurrence, &engine);
        let engine = engine.leaving_out(host_hooks);
        Self {
            deadline: is_answered.then(|| visitor.deadline()),
            warnings: error.into_iter().collect(),
            reply: HostReply::default(),
            transcript: None,
            transcript_path: None,
            host_facts: Arc::new(host_facts::facts(visitor, occurrence)),
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

    pub(super) fn handle(&mut self) {
        match &self.occurrence.detail {
            // `open` has run its hooks.
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

    /// Returns the hooks of the agent that causes the event.
    pub(super) fn hooks(&self) -> HookSession<'_> {
        self.hooks_of(self.occurrence.agent.as_ref().map(|agent| agent.id.as_str()))
    }

    /// Returns the hooks of a subagent, or of the main agent.
    pub(super) fn hooks_of(&self, agent: Option<&str>) -> HookSession<'_> {
        let (root, cwd) = (&self.occurrence.session, self.occurrence.cwd.clone());
        let scope = match agent {
            None => Scope::new(root, cwd),
            Some(agent) => {
                let subagent = self.session.get().work.subagent(agent);
                let parent = subagent.and_then(|subagent| subagent.parent.as_deref());
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

    pub(super) fn agent_facts(&self, agent: Option<&str>) -> Option<AgentFacts> {
        let agent = self.occurrence.agent.as_ref().filter(|own| Some(own.id.as_str()) == agent)?;
        let kind = || Some(self.session.get().work.subagent(&agent.id)?.kind.clone());
        let kind = agent.kind.clone().or_else(kind).unwrap_or_default();
        Some(AgentFacts { id: agent.id.clone(), kind, depth: None })
    }

    pub(super) fn agent_id(&self) -> Option<String> {
        self.occurrence.agent.as_ref().map(|agent| agent.id.clone())
    }

    pub(super) fn has_hooks(&self, event: EventName) -> bool {
        !self.engine.catalog().hooks_for(event).is_empty()
    }

    pub(super) fn deny(&mut self, denial: &Denial) {
        self.reply.verdict =
            Some(HostVerdict::Deny(reason(denial.hook.as_deref(), &denial.reason)));
        self.add_contexts(&denial.contexts);
    }

    pub(super) fn add_contexts(&mut self, contexts: &[Attributed<String>]) {
        self.reply.contexts.extend(contexts.iter().map(attributed));
    }

    /// Reports something to the user, once in a session for each `kind`.
    pub(super) fn notice_once(&mut self, kind: &str, text: impl FnOnce() -> String) {
        if !self.session.get().has_noticed(kind)
            && self.session.update(|state| state.notice_once(kind))
        {
            self.notice(&text());
        }
    }

    /// Sends the user a notice, and records it.
    pub(super) fn notice(&mut self, text: &str) {
        self.hooks().notice(self.occurrence.detail.event(), text);
        self.reply.notices.push(format!("Tenter: {text}"));
    }

    /// Adds the waiting notices, or makes the notices of this event wait. No host shows notices together with a denial.
    pub(super) fn deliver_notices(&mut self) {
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

    /// Returns the errors of this program, for stderr.
    pub(super) fn errors(&self) -> Vec<String> {
        let error = self.session.error();
        let error = error.map(|why| format!("the state of the session is not kept: {why}"));
        self.warnings.iter().cloned().chain(error).collect()
    }

    /// Replaces a denial that the host cannot carry out by a notice.
    pub(super) fn report_ignored_denial(&mut self) {
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

    pub(super) fn finish(mut self) -> Visited {
        self.report_ignored_denial();
        self.reply.notices.extend(self.runs.take_notices());
        self.deliver_contexts();
        self.deliver_notices();
        let mut warnings = self.errors();
        if !self.visitor.host.shows_notices() {
            warnings.append(&mut self.reply.notices);
        }
        let answer = (self.visitor.host.answer)(self.visitor.event, &self.reply);
        Visited { answer, warnings, after: None }
    }
}

/// Returns the id of an agent's conversation (B48).
fn conversation(session: &str, agent: Option<&str>) -> String {
    agent.map_or_else(|| session.to_owned(), |agent| format!("{session}/{agent}"))
}
