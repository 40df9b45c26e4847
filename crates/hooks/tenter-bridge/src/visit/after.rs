//! The hooks that run after the answer was written, in a process of its own (B26): asynchronous hooks, and hooks that see the failure of a
//! denied call.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenter_engine::Attributed;
use tenter_engine::inspect::AsynchronousHooks;
use tenter_protocol::{EventName, ToolCall, ToolResult};

use super::{Visit, Visited, Visitor, attributed};
use crate::occurrence::{Detail, Occurrence};
use crate::{hosts, tool_call, tool_result};

/// The time limit for asynchronous hooks.
const DRAIN_TIMEOUT: Duration = Duration::from_mins(10);

/// An event for hooks that run after the answer was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remainder {
    /// The occurrence, with the input that a call runs with.
    pub occurrence: Occurrence,
    /// The hooks that are left.
    pub hooks: RemainingHooks,
    /// The host that caused the event, if it is another than the one with which the command is registered.
    pub caller: Option<String>,
    /// The transcript that the payload named, in a format that the bridge reads.
    #[serde(default)]
    pub transcript: Option<PathBuf>,
}

/// The hooks that have not run when an answer is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RemainingHooks {
    /// The asynchronous ones.
    Asynchronous,
    /// The hooks that see the failure of a call that was denied for this reason (R26).
    OfDeniedCall(String),
    /// All: the host does not wait long enough for them.
    All,
}

impl Visitor {
    /// Runs the remaining hooks of an answered event, in a process of its own.
    pub fn run_after(&self, remainder: &Remainder) -> Visited {
        let caller = remainder.caller.as_deref().and_then(|id| hosts::foreign(self.host, id));
        let caller = caller.and_then(|host| self.for_caller(host));
        caller.as_ref().unwrap_or(self).finish(remainder)
    }

    fn finish(&self, remainder: &Remainder) -> Visited {
        let mode = match remainder.hooks {
            RemainingHooks::Asynchronous => AsynchronousHooks::Only,
            RemainingHooks::OfDeniedCall(_) | RemainingHooks::All => AsynchronousHooks::Run,
        };
        let occurrence = &remainder.occurrence;
        let session = self.session(occurrence);
        let mut visit = Visit::begin(self, (occurrence, session), mode, Vec::new());
        visit.read_transcript(remainder.transcript.as_deref());
        visit.name_conversation();
        match (&remainder.hooks, &remainder.occurrence.detail) {
            (RemainingHooks::OfDeniedCall(reason), Detail::BeforeTool(call)) => {
                visit.after_denied_tool(tool_call::canonical(self.host, call), reason);
            }
            (RemainingHooks::All, _) => {
                visit.handle();
                visit.engine.drain(DRAIN_TIMEOUT);
            }
            _ => visit.run_asynchronous(),
        }
        visit.add_late_replies();
        // No answer can carry them.
        visit.postpone_contexts();
        Visited { warnings: visit.errors(), ..Visited::default() }
    }
}

impl Visit<'_> {
    /// Returns the event for the hooks that run after the answer.
    pub(super) fn remainder(&self, transcript: Option<PathBuf>) -> Option<Remainder> {
        let hooks = match self.reply.denial() {
            Some(reason) => {
                let is_call = matches!(self.occurrence.detail, Detail::BeforeTool(_));
                // Nothing is known of these hooks if they were not loaded.
                let has_hooks = self.is_ruled_out || self.has_hooks(EventName::AfterToolFailure);
                let is_seen = is_call && has_hooks;
                is_seen.then(|| RemainingHooks::OfDeniedCall(reason.to_owned()))
            }
            None => self.has_asynchronous().then_some(RemainingHooks::Asynchronous),
        };
        let caller = self.visitor.caller.map(str::to_owned);
        Some(Remainder { hooks: hooks?, occurrence: self.seen_afterwards(), caller, transcript })
    }

    fn has_asynchronous(&self) -> bool {
        let call = match &self.occurrence.detail {
            Detail::BeforeTool(call) | Detail::AfterTool { call, .. } => {
                Some(tool_call::canonical(self.visitor.host, call))
            }
            _ => None,
        };
        let hooks = self.hooks();
        let events = self.occurrence.detail.events();
        events.iter().any(|event| hooks.has_asynchronous(*event, call.as_ref()))
    }

    /// Returns the occurrence with the input that the call runs with.
    fn seen_afterwards(&self) -> Occurrence {
        let mut occurrence = self.occurrence.clone();
        if let (Detail::BeforeTool(call), Some(input)) = (&mut occurrence.detail, &self.reply.input)
        {
            call.input.clone_from(input);
        }
        occurrence
    }

    /// Runs the hooks of `after_tool_failure` for a call that was denied (R26): most hosts fire no event for it.
    fn after_denied_tool(&mut self, call: ToolCall, reason: &str) {
        let hooks = self.hooks();
        let result = ToolResult::blocked(&call.name, reason, hooks.timestamp());
        let review = hooks.after_tool(call, result);
        drop(hooks);
        self.engine.drain(DRAIN_TIMEOUT);
        self.reply.contexts.extend(review.feedback.into_messages().iter().map(attributed));
    }

    /// Fires the events of the occurrence once more, for asynchronous hooks only. Their decisions have no effect (R22).
    fn run_asynchronous(&mut self) {
        let (hooks, host) = (self.hooks(), self.visitor.host);
        match &self.occurrence.detail {
            Detail::SessionStart { source, model } => {
                drop(hooks);
                let start = self.start_event(source.as_deref(), model.as_deref());
                drop(self.hooks_of(None).session_start(start));
            }
            Detail::Prompt { text, .. } => drop(hooks.before_agent(text)),
            Detail::BeforeTool(call) => {
                let call = tool_call::canonical(host, call);
                let subagent = super::tool::subagent_of(&call);
                drop(hooks.before_tool(call));
                if let Some(subagent) = subagent {
                    drop(hooks.subagent_start(subagent));
                }
            }
            Detail::AfterTool { call, end } => {
                let call = tool_call::canonical(host, call);
                let cwd = &self.occurrence.cwd;
                let result = tool_result::canonical(&call, end, cwd, hooks.timestamp());
                let subagent = self.ended_subagent(&call);
                hooks.after_tool(call, result);
                if let Some(subagent) = subagent {
                    let response = end.output.as_deref().unwrap_or_default();
                    drop(hooks.subagent_stop(subagent, response));
                }
            }
            Detail::AfterBatch => {
                hooks.after_turn(self.turn(true, ""));
            }
            Detail::Stop { response } => {
                let response = response.as_deref().unwrap_or_default();
                hooks.after_turn(self.turn(false, response));
                hooks.before_stop(self.stop_attempt(response));
                hooks.after_agent(response);
            }
            Detail::StopFailure { response } => {
                hooks.after_agent(response.as_deref().unwrap_or_default());
            }
            Detail::SubagentStop { response } => {
                let response = response.as_deref().unwrap_or_default();
                hooks.before_stop(self.stop_attempt(response));
                if let Some((subagent, caller)) = self.known_subagent() {
                    self.hooks_of(caller.as_deref()).subagent_stop(subagent, response);
                }
            }
            Detail::PreCompact(compaction) => drop(hooks.pre_compact(compaction.before())),
            Detail::PostCompact(compaction) => {
                hooks.post_compact(compaction.after());
            }
            Detail::SessionEnd { reason } => {
                let end = self.end_event(reason.as_deref());
                hooks.session_end(end);
            }
            Detail::SubagentStart
            | Detail::PromptSent { .. }
            | Detail::ContextLost
            | Detail::Nothing => {}
        }
    }

    /// Adds the replies of asynchronous hooks for the model.
    fn add_late_replies(&mut self) {
        let late = self.hooks().take_late_replies();
        let contexts = late
            .into_iter()
            .filter_map(|reply| Some(Attributed { hook: reply.hook, value: reply.context? }));
        self.add_contexts(&contexts.collect::<Vec<_>>());
    }
}

impl Detail {
    /// Returns the event of Tenter's that stands for it in records.
    pub(super) fn event(&self) -> EventName {
        self.events().first().copied().unwrap_or(EventName::SessionStart)
    }

    /// Returns Tenter's events that it fires.
    pub(super) fn events(&self) -> &'static [EventName] {
        use EventName as E;
        match self {
            Self::SessionStart { .. } => &[E::SessionStart],
            Self::Prompt { .. } => &[E::BeforeAgent],
            Self::BeforeTool(_) => &[E::BeforeTool, E::SubagentStart],
            Self::AfterTool { .. } => &[E::AfterTool, E::AfterToolFailure, E::SubagentStop],
            Self::AfterBatch => &[E::AfterTurn],
            Self::Stop { .. } => &[E::AfterTurn, E::BeforeStop, E::AfterAgent],
            Self::StopFailure { .. } => &[E::AfterAgent],
            Self::SubagentStop { .. } => &[E::BeforeStop, E::SubagentStop],
            Self::SessionEnd { .. } => &[E::SessionEnd],
            Self::PreCompact(_) => &[E::PreCompact],
            Self::PostCompact(_) => &[E::PostCompact],
            Self::SubagentStart | Self::PromptSent { .. } | Self::ContextLost | Self::Nothing => {
                &[]
            }
        }
    }
}
