//! What hooks want done to the history: `mutate` and `callback` (R31, R32).

use tenter_engine::Attributed;
use tenter_engine::builtin;
use tenter_protocol::event::CompactTrigger;
use tenter_protocol::{Diagnostic, HistoryAction, Message, Severity};

use super::compaction::Cause;
use super::{AgentError, Session};
use crate::conversation::Replacement;
use crate::store::ChangeKind;
use crate::watch::Happening;

impl Session<'_> {
    /// Applies the first hook's wish; the wishes that came too late are told.
    pub(super) fn apply_history(
        &mut self,
        action: Option<&Attributed<HistoryAction>>,
        overruled: &[String],
    ) -> Result<(), AgentError> {
        let Some(action) = action else { return Ok(()) };
        for hook in overruled {
            self.diagnose_once(&conflict(&action.hook, hook));
        }
        match &action.value {
            HistoryAction::Mutate(messages) => self.mutate(&action.hook, messages),
            HistoryAction::Callback { recipe, args } => {
                let by = action.hook.as_str();
                let trigger = match by {
                    builtin::NAME => CompactTrigger::Auto,
                    _ => CompactTrigger::Hook,
                };
                self.call_back(&Cause { trigger, by, recipe, args }).map(drop)
            }
        }
    }

    fn mutate(&mut self, hook: &str, messages: &[Message]) -> Result<(), AgentError> {
        let kind = ChangeKind::Mutate;
        self.replace_history(&Replacement { kind, by: hook, reason: None, messages }, None)
    }

    /// Replaces the history and reports it: with the cause, where a recipe wrote the new one.
    pub(super) fn replace_history(
        &mut self,
        replacement: &Replacement,
        cause: Option<&Cause>,
    ) -> Result<(), AgentError> {
        let before = self.conversation.messages().len();
        let now = self.now();
        self.conversation.replace(&self.agent.store, replacement, &now)?;
        // What the model read of the files is no longer in what it sees, so it must read them again before it edits.
        self.workspace.forget_reads();
        self.tell(&Happening::History {
            kind: replacement.kind.as_str(),
            by: cause.map_or(replacement.by, |cause| cause.by),
            recipe: cause.map(|cause| cause.recipe),
            before,
            after: replacement.messages.len(),
        });
        Ok(())
    }
}

fn conflict(winner: &str, loser: &str) -> Diagnostic {
    let message = format!(
        "the hooks {winner} and {loser} both want to change the history; {winner} comes first and wins"
    );
    Diagnostic::new("history-conflict", Severity::Warning, message)
}
