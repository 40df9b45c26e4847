//! Masks secrets in everything that observers receive. Structs are destructured field by field, so that a new field does not
//! compile until someone decides whether it can contain a secret.

use std::sync::Arc;

use serde_json::Value;
use tenter_protocol::event::HostFacts;
use tenter_protocol::{Object, Scope, ToolCall};

use super::redact::Redactor;
use crate::observe::{
    AskAnswer, CallPermission, Decision, DecisionRecord, HookRun, Notice, Observer,
    PermissionSource, RewriteChange, RunRecord,
};

/// Passes everything to another observer with secrets masked.
pub struct MaskingObserver {
    redactor: Redactor,
    observer: Arc<dyn Observer>,
}

impl MaskingObserver {
    /// Masks with `redactor` what `observer` receives.
    pub fn new(redactor: Redactor, observer: Arc<dyn Observer>) -> Self {
        Self { redactor, observer }
    }
}

impl Observer for MaskingObserver {
    fn hook_started(&self, run: &HookRun) {
        self.observer.hook_started(&self.redactor.run(run));
    }

    fn hook_stopped(&self, run: &HookRun) {
        self.observer.hook_stopped(&self.redactor.run(run));
    }

    fn hook_ran(&self, run: &HookRun) {
        self.observer.hook_ran(&self.redactor.run(run));
    }

    fn decided(&self, decision: &Decision) {
        self.observer.decided(&self.redactor.decision(decision));
    }

    fn ask_answered(&self, answer: &AskAnswer) {
        self.observer.ask_answered(&self.redactor.answer(answer));
    }

    fn permission_decided(&self, decided: &CallPermission) {
        self.observer.permission_decided(&self.redactor.permission(decided));
    }

    fn noticed(&self, notice: &Notice) {
        self.observer.noticed(&self.redactor.notice(notice));
    }
}

impl Redactor {
    /// Returns the run without secrets, cut to the maximum size of a record.
    pub(super) fn run(&self, run: &HookRun) -> HookRun {
        let HookRun { scope, event, tool_call, started, record } = run;
        HookRun {
            scope: Arc::new(self.scope(scope)),
            event: *event,
            tool_call: tool_call.as_ref().map(|call| self.call(call)),
            started: *started,
            record: self.run_record(record.clone()),
        }
    }

    fn run_record(&self, mut record: RunRecord) -> RunRecord {
        let RunRecord {
            hook: _,
            layer: _,
            fingerprint: _,
            spelling: _,
            duration: _,
            end: _,
            transport: _,
            decision: _,
            would: _,
            also: _,
            given_up: _,
            asynchronous: _,
            reason,
            rule,
            change,
            stdout,
            stderr_tail,
            warnings,
            notes,
        } = &mut record;
        let texts = reason.iter_mut().chain([stdout, stderr_tail]);
        let texts = texts.chain(warnings).chain(notes);
        for text in texts.chain(rule.iter_mut().map(|rule| &mut rule.text)) {
            *text = self.text(text);
        }
        if let Some(RewriteChange { before, after }) = change {
            *before = self.value(before.take());
            *after = self.value(after.take());
        }
        record
    }

    /// Returns the decision without secrets, cut to the maximum size of a record.
    pub(super) fn decision(&self, decision: &Decision) -> Decision {
        let Decision { scope, event, tool_call, time, record } = decision;
        Decision {
            scope: Arc::new(self.scope(scope)),
            event: *event,
            tool_call: tool_call.as_ref().map(|call| self.call(call)),
            time: *time,
            record: self.decision_record(record.clone()),
        }
    }

    fn decision_record(&self, mut record: DecisionRecord) -> DecisionRecord {
        let DecisionRecord {
            decision: _,
            also: _,
            hooks_run: _,
            by: _,
            reason,
            by_failure: _,
            overruled: _,
            confined,
        } = &mut record;
        let facts = confined.iter_mut();
        let facts =
            facts.flat_map(|fact| [&mut fact.profile].into_iter().chain(&mut fact.not_kept));
        for text in reason.iter_mut().chain(facts) {
            *text = self.text(text);
        }
        record
    }

    /// Returns the answer without secrets, cut to the maximum size of a record.
    pub(super) fn answer(&self, answer: &AskAnswer) -> AskAnswer {
        let AskAnswer { scope, event, tool_call, time, hook, reason, answer, remembered } = answer;
        AskAnswer {
            scope: self.scope(scope),
            event: *event,
            tool_call: self.call(tool_call),
            time: *time,
            hook: hook.clone(),
            reason: self.text(reason),
            answer: *answer,
            remembered: *remembered,
        }
    }

    /// Returns the permission without secrets, cut to the maximum size of a record.
    pub(super) fn permission(&self, decided: &CallPermission) -> CallPermission {
        let CallPermission { scope, tool_call, time, mode, source } = decided;
        let source = match source {
            PermissionSource::Mode => PermissionSource::Mode,
            PermissionSource::Rules(rules) => PermissionSource::Rules(self.texts(rules)),
            PermissionSource::User { answer, remembered, added, reason } => {
                PermissionSource::User {
                    answer: *answer,
                    remembered: *remembered,
                    added: self.texts(added),
                    reason: reason.as_ref().map(|reason| self.text(reason)),
                }
            }
        };
        CallPermission {
            scope: self.scope(scope),
            tool_call: self.call(tool_call),
            time: *time,
            mode,
            source,
        }
    }

    /// Returns the notice without secrets, cut to the maximum size of a record.
    pub(super) fn notice(&self, notice: &Notice) -> Notice {
        let Notice { scope, event, time, hook, text } = notice;
        Notice {
            scope: self.scope(scope),
            event: *event,
            time: *time,
            hook: hook.clone(),
            text: self.text(text),
        }
    }

    fn scope(&self, scope: &Scope) -> Scope {
        let Scope {
            conversation_id,
            parent_conversation_id,
            cwd,
            recipe,
            recipe_full_name,
            host,
            agent,
            time,
        } = scope;
        Scope {
            conversation_id: conversation_id.clone(),
            parent_conversation_id: parent_conversation_id.clone(),
            cwd: cwd.clone(),
            recipe: recipe.clone(),
            recipe_full_name: recipe_full_name.clone(),
            host: host.as_deref().map(|host| Arc::new(self.host(host))),
            agent: agent.clone(),
            time: time.clone(),
        }
    }

    fn host(&self, host: &HostFacts) -> HostFacts {
        let HostFacts {
            name,
            version,
            event,
            tool_name,
            tool_input,
            unknown,
            permission_mode,
            transcript_path,
        } = host;
        HostFacts {
            name: name.clone(),
            version: version.clone(),
            event: event.clone(),
            tool_name: tool_name.as_ref().map(|name| self.text(name)),
            tool_input: tool_input.as_ref().map(|input| self.input(input)),
            unknown: unknown.clone(),
            permission_mode: permission_mode.clone(),
            transcript_path: transcript_path.clone(),
        }
    }

    fn call(&self, call: &ToolCall) -> ToolCall {
        let ToolCall { id, name, input } = call;
        ToolCall { id: self.text(id), name: self.text(name), input: self.input(input) }
    }

    fn input(&self, input: &Object) -> Object {
        match self.brief(input) {
            Value::Object(fields) => fields,
            _ => Object::new(),
        }
    }

    fn texts(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.text(text)).collect()
    }
}
