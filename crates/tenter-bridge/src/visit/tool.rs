//! Tool calls: before and after.

use tenter_engine::{ApprovedCall, Denial, StartDecision, ToolDecision};
use tenter_protocol::event::Subagent;
use tenter_protocol::{ToolCall, ToolResult};

use super::{Visit, attributed, reason};
use crate::occurrence::{NativeCall, ToolEnd};
use crate::reply::Verdict;
use crate::state::{ExpectedSubagent, KnownSubagent};
use crate::{tool_call, tool_result};

/// Tenter's tool that starts a subagent.
const SUBAGENT: &str = "subagent";
/// Maximum number of denied calls that are remembered in a session.
const MAX_DENIED: usize = 1000;

impl Visit<'_> {
    pub(super) fn before_tool(&mut self, native: &NativeCall) {
        let call = tool_call::canonical(self.visitor.host, native);
        if !self.is_blocked() && !self.lacks_guard() {
            let decision = self.hooks().before_tool(call.clone());
            match decision {
                ToolDecision::Run(approved) => self.approve(native, &call, approved),
                ToolDecision::Ask(question) => {
                    let text = reason(Some(&question.hook), &question.reason);
                    self.approve(native, &call, question.if_allowed);
                    if self.reply.denial().is_none() {
                        self.reply.verdict = Some(Verdict::Ask(text));
                    }
                }
                ToolDecision::Deny(denial) => self.deny(&denial),
            }
        }
        if let Some(reason) = self.reply.denial().map(str::to_owned) {
            self.reply.input = None;
            self.remember_denied(call.id, reason);
        }
    }

    fn approve(&mut self, native: &NativeCall, call: &ToolCall, approved: ApprovedCall) {
        let ApprovedCall { call: changed, contexts, .. } = approved;
        self.add_contexts(&contexts);
        if changed.input != call.input {
            let host = self.visitor.host;
            self.reply.input =
                Some(tool_call::native_input(host, native, &call.input, &changed.input));
        }
        if self.configuration.bridge.allow_skips_prompt && self.runs.was_allowed() {
            self.reply.verdict = Some(Verdict::Allow);
        }
        if let Some(subagent) = subagent_of(&changed) {
            self.subagent_call(subagent);
        }
    }

    /// The hooks of `subagent_start` run at the call: no host lets them block the subagent's own start (B48).
    fn subagent_call(&mut self, subagent: Subagent) {
        let Subagent { name, kind, task } = subagent.clone();
        let decision = self.hooks().subagent_start(subagent);
        match decision {
            StartDecision::Deny(denial) => self.deny(&denial),
            StartDecision::Start { contexts } => {
                let parent = self.agent_id();
                let subagent = KnownSubagent { name, kind, task, parent };
                let contexts = contexts.iter().map(attributed).collect();
                let expected = ExpectedSubagent { subagent, contexts };
                self.session.update(|state| state.expected.push(expected));
            }
        }
    }

    fn remember_denied(&mut self, id: String, reason: String) {
        self.session.update(|state| {
            if state.denied.len() < MAX_DENIED {
                state.denied.insert(id, reason);
            }
        });
    }

    pub(super) fn after_tool(&mut self, native: &NativeCall, end: &ToolEnd) {
        let call = tool_call::canonical(self.visitor.host, native);
        self.check_for_breach(native, &call.id, end);
        let hooks = self.hooks();
        let result = tool_result::canonical(&call, end, &self.occurrence.cwd, hooks.timestamp());
        let review = hooks.after_tool(call, result.clone());
        drop(hooks);
        if review.result != result {
            self.replace_output(native, end, &review.result);
        }
        if let Some(denial) = review.feedback.denial {
            self.object(&denial);
        }
        self.add_contexts(&review.feedback.contexts);
    }

    fn object(&mut self, denial: &Denial) {
        self.reply.contexts.push(reason(denial.hook.as_deref(), &denial.reason));
        self.add_contexts(&denial.contexts);
    }

    fn replace_output(&mut self, native: &NativeCall, end: &ToolEnd, changed: &ToolResult) {
        if let ToolEnd::Success { result, .. } = end {
            self.reply.output = tool_result::rewritten(result, changed);
        }
        if self.reply.output.is_some() {
            return;
        }
        let (host, tool) = (self.visitor.host.name, &native.tool);
        self.notice_once(&format!("output {tool}"), || {
            format!("a hook changed a result of {tool}, but {host} cannot show the model the changed one; it reads the original.")
        });
    }

    /// A call that was denied must not succeed (B30).
    fn check_for_breach(&mut self, native: &NativeCall, id: &str, end: &ToolEnd) {
        let state = self.session.get();
        if !matches!(end, ToolEnd::Success { .. }) || !state.denied.contains_key(id) {
            return;
        }
        self.session.update(|state| {
            state.denied.remove(id);
            state.breached = true;
        });
        let (host, tool) = (self.visitor.host.name, &native.tool);
        self.reply.notices.push(format!(
            "Tenter: {host} ran a call of {tool} that a hook had denied. Its hooks do not guard this session."
        ));
    }
}

/// The subagent that a call starts, if it starts one.
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
