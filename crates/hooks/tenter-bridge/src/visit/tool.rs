//! Tool calls: before and after.

use tenter_base::excerpt;
use tenter_engine::configuration::{AskFallback, GeminiAsk, OnUnguardable};
use tenter_engine::inspect::Hook;
use tenter_engine::{
    ApprovedCall, Denial, PermissionAnswer, StartDecision, ToolDecision, ToolQuestion,
};
use tenter_protocol::event::Subagent;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, ToolCall, ToolResult};

use super::{Visit, attributed, reason};
use crate::breach::{self, Breach};
use crate::host::{Moment, Support};
use crate::occurrence::{Detail, NativeCall, ToolEnd, ToolOutcome};
use crate::reply::HostVerdict;
use crate::state::{ExpectedSubagent, KnownSubagent};
use crate::{tool_call, tool_result};

/// Tenter's tool that starts a subagent.
const SUBAGENT: &str = "subagent";
/// Tenter's tool that runs shell commands.
const SHELL: &str = "bash";
/// Maximum number of commands whose start is remembered.
const MAX_STARTED: usize = 200;
/// Maximum length of the name of a tool in the record of a breach, in characters.
const MAX_TOOL_NAME: usize = 200;

impl Visit<'_> {
    pub(super) fn before_tool(&mut self, native: &NativeCall) {
        let call = tool_call::canonical(self.visitor.host, native);
        if !self.is_blocked() && !self.lacks_guard() && !self.is_unguardable(&call) {
            let decision = self.hooks().before_tool(call.clone());
            match decision {
                ToolDecision::Run(approved) => self.approve(native, &call, approved),
                ToolDecision::Ask(question) => self.ask(native, &call, question),
                ToolDecision::Deny(denial) => self.deny(&denial),
            }
        }
        if let Some(reason) = self.reply.denial().map(str::to_owned) {
            self.reply.input = None;
            self.remember_denied(&call.id, &reason);
        } else {
            self.remember_pass(&call.id);
            self.remember_start(native, &call);
        }
    }

    /// Asks the user where the host can; otherwise the user's configuration decides (B17).
    fn ask(&mut self, native: &NativeCall, call: &ToolCall, question: ToolQuestion) {
        let text = reason(Some(&question.hook), &question.reason);
        if self.can_ask() {
            self.approve(native, call, question.if_allowed);
            if self.reply.denial().is_none() {
                self.reply.verdict = Some(HostVerdict::Ask(text));
            }
            return;
        }
        let allows = self.configuration.bridge.ask_fallback == AskFallback::Allow;
        let answer =
            self.hooks().answer(question, PermissionAnswer::Unattended { allowed: allows });
        if let Ok(approved) = answer {
            return self.approve(native, call, approved);
        }
        let host = self.visitor.host.name;
        self.reply.verdict = Some(HostVerdict::Deny(format!(
            "{text} (the user has to decide, and hooks cannot ask in {host}: ask the user, who can make the call or change `bridge.ask_fallback`)"
        )));
    }

    /// Returns whether the host asks the user for a hook.
    pub(super) fn can_ask(&self) -> bool {
        let host = self.visitor.host;
        let is_unasked =
            matches!(&self.occurrence.detail, Detail::BeforeTool(call) if call.unasked);
        if is_unasked && !self.is_at_least(host.asks_unasked_since) {
            return false;
        }
        let is_set =
            host.id == "gemini" && self.configuration.bridge.gemini.ask == GeminiAsk::Native;
        is_set || host.support(EventName::BeforeTool, Power::Ask) == Support::Native
    }

    /// Denies a call whose result a fail-closed hook may rewrite, in a host that always shows the model the original result. Returns whether
    /// it does (B19).
    fn is_unguardable(&mut self, call: &ToolCall) -> bool {
        let host = self.visitor.host;
        if self.configuration.bridge.unguardable == OnUnguardable::Pass {
            return false;
        }
        let catalog = self.engine.catalog();
        let hooks = catalog.hooks_for(EventName::AfterTool);
        let Some(hook) =
            hooks.iter().find(|hook| host.cannot_guard_results(hook) && sees(hook, call))
        else {
            return false;
        };
        self.reply.verdict = Some(HostVerdict::Deny(format!(
            "hook {}: it fails closed and is to see the result of this call, which {} shows the model in any case. The user can set `bridge.unguardable = \"pass\"`",
            super::plain(&hook.name),
            host.name
        )));
        true
    }

    fn approve(&mut self, native: &NativeCall, call: &ToolCall, approved: ApprovedCall) {
        self.add_contexts(&approved.contexts);
        let confined = self.confined_call(&approved);
        let mut call_to_run = approved.call;
        if let Some(confined) = confined {
            call_to_run.input = confined.input;
            if confined.is_demanded {
                return self.demand_confined(native, call, &call_to_run.input);
            }
        }
        if call_to_run.input != call.input {
            self.rewrite_input(native, call, &call_to_run.input);
        }
        if self.reply.denial().is_some() {
            return;
        }
        let is_open = self.reply.verdict.is_none();
        if is_open && self.configuration.bridge.allow_skips_prompt && self.runs.was_allowed() {
            self.reply.verdict = Some(HostVerdict::Allow);
        }
        self.protect(&call_to_run);
        if self.reply.denial().is_some() {
            return;
        }
        if let Some(subagent) = subagent_of(&call_to_run) {
            self.subagent_call(subagent);
        }
    }

    /// Runs the hooks of `subagent_start` at the call: no host lets them block the subagent's own start (B48).
    fn subagent_call(&mut self, subagent: Subagent) {
        let Subagent { name, kind, task } = subagent.clone();
        let decision = self.hooks().subagent_start(subagent);
        match decision {
            StartDecision::Deny(denial) => self.deny(&denial),
            StartDecision::Start { contexts } => {
                let parent = self.agent_id();
                let subagent = KnownSubagent { name, kind, task, parent };
                if !self.visitor.host.fires(Moment::SubagentStart) {
                    return self.add_contexts(&contexts);
                }
                let contexts = contexts.iter().map(attributed).collect();
                let expected = ExpectedSubagent { subagent, contexts };
                self.session.update(|state| state.work.expected.push(expected));
            }
        }
    }

    fn remember_denied(&mut self, id: &str, reason: &str) {
        self.session.update(|state| state.denied_calls.add(id, reason));
    }

    /// Records when a shell command starts, if hooks see its result (F16).
    fn remember_start(&mut self, native: &NativeCall, call: &ToolCall) {
        let catalog = self.engine.catalog();
        let has_hooks = !catalog.hooks_for(EventName::AfterTool).is_empty();
        if call.name != SHELL || !has_hooks || !self.configuration.reports_changes {
            return;
        }
        let now = (self.visitor.clock)().as_millisecond();
        let mut ids = vec![call.id.clone()];
        // Without an id of the host, the call has another one once it is rewritten.
        if let Some(input) = self.reply.input.clone().filter(|_| native.id.is_none()) {
            let rewrite = NativeCall { input, ..native.clone() };
            ids.push(tool_call::canonical(self.visitor.host, &rewrite).id);
        }
        self.session.update(|state| {
            if state.started_calls.len() >= MAX_STARTED {
                state.started_calls.clear();
            }
            state.started_calls.extend(ids.into_iter().map(|id| (id, now)));
        });
    }

    /// Records that the call passes. If the host has no ids and an equal call was denied before, its result belongs to this call.
    fn remember_pass(&mut self, id: &str) {
        if self.session.get().denied_calls.get(id).is_some() {
            self.session.update(|state| {
                if let Some(denial) = state.denied_calls.get_mut(id) {
                    denial.passes += 1;
                }
            });
        }
    }

    pub(super) fn after_tool(&mut self, native: &NativeCall, end: &ToolEnd) {
        let call = tool_call::canonical(self.visitor.host, native);
        if self.is_denial(native, &call.id, end) {
            // The hooks of a denied call's failure have run (R26).
            return;
        }
        let hooks = self.hooks();
        let time = hooks.timestamp();
        drop(hooks);
        let confined = self.check_in(&call, end);
        let start = self.session.get().started_calls.get(&call.id).copied();
        if start.is_some() {
            self.session.update(|state| state.started_calls.remove(&call.id));
        }
        let hooks = self.hooks();
        if let Some(start) = start {
            hooks.call_started(&call.id, start);
        }
        let result = tool_result::canonical(&call, end, &self.occurrence.cwd, time);
        let result = tool_result::with_confinement(result, confined);
        let subagent = self.ended_subagent(&call);
        let review = hooks.after_tool(call, result.clone());
        drop(hooks);
        if review.result != result {
            self.replace_output(native, end, &review.result);
        }
        if let Some(denial) = review.feedback.denial {
            self.object(&denial);
        }
        self.add_contexts(&review.feedback.contexts);
        if let Some(subagent) = subagent {
            let response = end.output.as_deref().unwrap_or_default();
            let feedback = self.hooks().subagent_stop(subagent, response);
            self.add_contexts(&feedback.into_messages());
        }
    }

    /// Returns the subagent whose result this call has, in a host without another event for it.
    pub(super) fn ended_subagent(&self, call: &ToolCall) -> Option<Subagent> {
        subagent_of(call).filter(|_| !self.visitor.host.fires(Moment::SubagentStop))
    }

    fn object(&mut self, denial: &Denial) {
        self.reply.contexts.push(reason(denial.hook.as_deref(), &denial.reason));
        self.add_contexts(&denial.contexts);
    }

    fn replace_output(&mut self, native: &NativeCall, end: &ToolEnd, result: &ToolResult) {
        self.reply.output = (self.visitor.host.rewrite_output)(end, result);
        if self.reply.output.is_some() {
            return;
        }
        let (host, tool) = (self.visitor.host.name, &native.tool);
        self.notice_once(&format!("output {tool}"), || {
            format!("a hook changed a result of {tool}, but {host} cannot show the model the changed one; it reads the original.")
        });
    }

    /// Returns whether this is the host's report of a denied call. Any other report means that the call ran (B30).
    fn is_denial(&mut self, native: &NativeCall, id: &str, end: &ToolEnd) -> bool {
        let Some(denial) = self.session.get().denied_calls.get(id) else { return false };
        if denial.passes > 0 {
            self.session.update(|state| {
                if let Some(denial) = state.denied_calls.get_mut(id) {
                    denial.passes = denial.passes.saturating_sub(1);
                }
            });
            return false;
        }
        let is_denial =
            matches!(&end.outcome, ToolOutcome::Failure(error) if error.contains(&denial.reason));
        if !is_denial {
            self.report_breach(&native.tool, id);
        }
        is_denial
    }

    pub(super) fn report_breach(&mut self, tool: &str, id: &str) {
        self.session.update(|state| {
            state.denied_calls.remove(id);
            state.breached = true;
        });
        let host = self.visitor.host;
        let breach = Breach {
            at: tenter_base::rfc3339((self.visitor.clock)()),
            tool: excerpt::chars(&super::plain(tool), MAX_TOOL_NAME).into_owned(),
            session: self.occurrence.session.clone(),
        };
        breach::keep(&self.visitor.directories.state, host, &breach);
        let what = breach.describe(host);
        self.notice(&format!(
            "{what}. Its hooks do not guard this session. `tenter bridge prove {}` shows what they guard.",
            host.id
        ));
    }
}

fn sees(hook: &Hook, call: &ToolCall) -> bool {
    hook.options.matcher.as_ref().is_none_or(|matcher| !matches!(matcher.matches(call), Ok(None)))
}

/// Returns the subagent that a call starts, if it starts one.
pub(super) fn subagent_of(call: &ToolCall) -> Option<Subagent> {
    let text = |fields: &[&str]| {
        let value = fields.iter().find_map(|field| call.input.get(*field)?.as_str());
        value.unwrap_or_default().to_owned()
    };
    let new = || {
        let name = text(&["description", "name"]);
        Subagent::new(name, text(&["subagent_type"]), text(&["question"]))
    };
    (call.name == SUBAGENT).then(new)
}
