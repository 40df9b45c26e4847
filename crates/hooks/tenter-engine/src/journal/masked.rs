//! Masks secrets in everything that observers receive. Structs are destructured field by field, so that a new field does not
//! compile until someone decides whether it can contain a secret.

use std::sync::Arc;

use serde_json::Value;
use tenter_protocol::event::HostFacts;
use tenter_protocol::{Object, Scope, ToolCall};

use super::record::{JournalRecord, RecordKind};
use super::redact::Redactor;
use crate::observe::{
    AnswerRecord, AskAnswer, CallPermission, Decision, DecisionRecord, HookRun, Notice,
    NoticeRecord, Observation, Observer, PermissionRecord, RewriteChange, RunRecord,
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
        self.observer.hook_started(&self.redactor.observation(run));
    }

    fn hook_stopped(&self, run: &HookRun) {
        self.observer.hook_stopped(&self.redactor.observation(run));
    }

    fn hook_ran(&self, run: &HookRun) {
        self.observer.hook_ran(&self.redactor.observation(run));
    }

    fn decided(&self, decision: &Decision) {
        self.observer.decided(&self.redactor.observation(decision));
    }

    fn ask_answered(&self, answer: &AskAnswer) {
        self.observer.ask_answered(&self.redactor.observation(answer));
    }

    fn permission_decided(&self, decided: &CallPermission) {
        self.observer.permission_decided(&self.redactor.observation(decided));
    }

    fn noticed(&self, notice: &Notice) {
        self.observer.noticed(&self.redactor.observation(notice));
    }
}

impl JournalRecord for RunRecord {
    fn mask(&mut self, redactor: &Redactor) {
        let Self {
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
        } = self;
        let texts = reason.iter_mut().chain([stdout, stderr_tail]);
        let texts = texts.chain(warnings).chain(notes);
        redactor.texts(texts.chain(rule.iter_mut().map(|rule| &mut rule.text)));
        if let Some(RewriteChange { before, after }) = change {
            *before = redactor.value(before.take());
            *after = redactor.value(after.take());
        }
    }

    fn into_kind(self) -> RecordKind {
        RecordKind::Run(Box::new(self))
    }
}

impl JournalRecord for DecisionRecord {
    fn mask(&mut self, redactor: &Redactor) {
        let Self {
            decision: _,
            also: _,
            hooks_run: _,
            by: _,
            reason,
            by_failure: _,
            overruled: _,
            confined,
        } = self;
        let facts = confined.iter_mut();
        let facts =
            facts.flat_map(|fact| [&mut fact.profile].into_iter().chain(&mut fact.not_kept));
        redactor.texts(reason.iter_mut().chain(facts));
    }

    fn into_kind(self) -> RecordKind {
        RecordKind::Decision(self)
    }
}

impl JournalRecord for AnswerRecord {
    fn mask(&mut self, redactor: &Redactor) {
        let Self { hook: _, reason, answer: _, allowed: _, remembered: _ } = self;
        redactor.texts([reason]);
    }

    fn into_kind(self) -> RecordKind {
        RecordKind::Answer(self)
    }
}

impl JournalRecord for PermissionRecord {
    fn mask(&mut self, redactor: &Redactor) {
        let Self { mode: _, by: _, allowed: _, answer: _, remembered: _, rules, reason } = self;
        redactor.texts(rules.iter_mut().chain(reason));
    }

    fn into_kind(self) -> RecordKind {
        RecordKind::Permission(self)
    }
}

impl JournalRecord for NoticeRecord {
    fn mask(&mut self, redactor: &Redactor) {
        let Self { hook: _, text } = self;
        redactor.texts([text]);
    }

    fn into_kind(self) -> RecordKind {
        RecordKind::Notice(self)
    }
}

impl Redactor {
    /// Returns the observation without secrets, cut to the maximum size of a record.
    pub(super) fn observation<R: JournalRecord>(
        &self,
        original: &Observation<R>,
    ) -> Observation<R> {
        let mut copy = original.clone();
        let Observation { scope, event: _, tool_call, time: _, record } = &mut copy;
        self.scope(Arc::make_mut(scope));
        if let Some(ToolCall { id, name, input }) = tool_call {
            self.texts([id, name]);
            self.input(input);
        }
        record.mask(self);
        copy
    }

    fn scope(&self, scope: &mut Scope) {
        let Scope {
            conversation_id: _,
            parent_conversation_id: _,
            cwd: _,
            recipe: _,
            recipe_full_name: _,
            host,
            agent: _,
            time: _,
        } = scope;
        let Some(host) = host else { return };
        let HostFacts {
            name: _,
            version: _,
            event: _,
            tool_name,
            tool_input,
            unknown: _,
            permission_mode: _,
            transcript_path: _,
        } = Arc::make_mut(host);
        self.texts(tool_name);
        if let Some(input) = tool_input {
            self.input(input);
        }
    }

    fn input(&self, input: &mut Object) {
        *input = match self.brief(input) {
            Value::Object(fields) => fields,
            _ => Object::new(),
        };
    }

    fn texts<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            *text = self.text(text);
        }
    }
}
