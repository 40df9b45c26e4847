//! Changes to the history that hooks request: `mutate` and `callback` (R31, R32).

use tenter_engine::{Attributed, builtin};
use tenter_protocol::event::CompactTrigger;
use tenter_protocol::{Diagnostic, HistoryAction, Message, Severity};

use super::compaction::ReplacementCause;
use super::{AgentError, Session};
use crate::conversation::HistoryReplacement;
use crate::store::ChangeKind;
use crate::watch::SessionUpdate;

impl Session<'_> {
    /// Runs the first action that can be started, and reports the later ones as conflicts (R31, R66).
    pub(super) fn apply_history(
        &mut self,
        actions: &[Attributed<HistoryAction>],
    ) -> Result<(), AgentError> {
        for (index, action) in actions.iter().enumerate() {
            if !self.act(action)? {
                continue;
            }
            // The built-in hook gives way without a conflict.
            for late in actions[index + 1..].iter().filter(|late| late.hook != builtin::NAME) {
                self.diagnose_once(&conflict(&action.hook, &late.hook));
            }
            return Ok(());
        }
        Ok(())
    }

    /// Runs one action; returns whether it could be started.
    fn act(&mut self, action: &Attributed<HistoryAction>) -> Result<bool, AgentError> {
        match &action.value {
            HistoryAction::Mutate(messages) => {
                self.mutate(&action.hook, messages)?;
                Ok(true)
            }
            HistoryAction::Callback { recipe, args } => {
                let by = action.hook.as_str();
                let trigger = match by {
                    builtin::NAME => CompactTrigger::Auto,
                    _ => CompactTrigger::Hook,
                };
                let tools = self.start_callback(&ReplacementCause { trigger, by, recipe, args })?;
                Ok(tools.is_some())
            }
        }
    }

    fn mutate(&mut self, hook: &str, messages: &[Message]) -> Result<(), AgentError> {
        let kind = ChangeKind::Mutate;
        self.replace_history(&HistoryReplacement { kind, by: hook, reason: None, messages }, None)
    }

    /// Replaces the history and reports it, with the cause if a recipe wrote the new one.
    pub(super) fn replace_history(
        &mut self,
        replacement: &HistoryReplacement,
        cause: Option<&ReplacementCause>,
    ) -> Result<(), AgentError> {
        let before = self.conversation.messages().len();
        let now = self.now();
        self.conversation.replace(&self.agent.store, replacement, &now)?;
        // The model no longer sees the files that it read, so it must read them again before it edits them.
        self.workspace.forget_reads();
        self.notify(&SessionUpdate::History {
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
        "the hooks {winner} and {loser} both change the history; only the change of {winner}, which runs first, was applied"
    );
    Diagnostic::new("history-conflict", Severity::Warning, message)
}
