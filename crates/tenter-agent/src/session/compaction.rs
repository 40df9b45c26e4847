//! Puts a recipe's answer in the place of the history: compaction, and every other callback of a hook (R31, R33, R50, R54).
//!
//! Nothing is replaced before the answer is there, the store keeps what was replaced, and a recipe that fails changes
//! nothing. After three failures in a row the conversation is left alone until the person asks for it.

use std::collections::BTreeMap;

use tenter_engine::builtin;
use tenter_protocol::event::{CompactTrigger, Compaction};
use tenter_protocol::{Body, Diagnostic, Severity};

use super::side::{Wanted, summarised};
use super::{AgentError, Session};
use crate::conversation::Replacement;
use crate::store::ChangeKind;
use crate::watch::Happening;

/// Failures in a row after which callbacks are no longer tried (R33).
const PATIENCE: u32 = 3;

/// Who asked for another history, and for which.
pub(super) struct Cause<'c> {
    /// Why.
    pub(super) trigger: CompactTrigger,
    /// The hook's name, or `user`.
    pub(super) by: &'c str,
    /// The recipe.
    pub(super) recipe: &'c str,
    /// Its arguments.
    pub(super) args: &'c BTreeMap<String, String>,
}

/// What came of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compacted {
    /// The history is another.
    Done,
    /// It is as it was: a hook forbade it, or the recipe failed. That was told.
    Not,
}

impl Session<'_> {
    /// Compacts the conversation, because the person wants it.
    ///
    /// # Errors
    /// When the new history cannot be saved.
    pub fn compact(&mut self) -> Result<Compacted, AgentError> {
        self.compact_for(CompactTrigger::Manual, "user")
    }

    /// Compacts with the usual recipe.
    pub(super) fn compact_for(
        &mut self,
        trigger: CompactTrigger,
        by: &str,
    ) -> Result<Compacted, AgentError> {
        self.call_back(&Cause { trigger, by, recipe: builtin::RECIPE, args: &BTreeMap::new() })
    }

    /// Has a recipe answer, and puts the answer in the place of the history.
    pub(super) fn call_back(&mut self, cause: &Cause) -> Result<Compacted, AgentError> {
        if self.callback_failures >= PATIENCE && cause.trigger != CompactTrigger::Manual {
            return Ok(Compacted::Not);
        }
        if self.conversation.messages().is_empty() {
            self.diagnose(&nothing_to_compact());
            return Ok(Compacted::Not);
        }
        let tokens_before = self.usage().current_context_window;
        let compaction = Compaction { trigger: cause.trigger, tokens_before, tokens_after: None };
        let outcome = self.dispatch(Body::PreCompact(compaction));
        if self.blocked(&outcome).is_some() || self.cancel.is_cancelled() {
            return Ok(Compacted::Not);
        }
        let contexts: Vec<String> =
            outcome.contexts.into_iter().map(|context| context.value).collect();
        let wanted = Wanted { recipe: cause.recipe, args: cause.args, contexts: &contexts };
        match self.answer_beside(wanted) {
            Ok(summary) => self.put_in_place(cause, &summary, compaction)?,
            Err(_) if self.cancel.is_cancelled() => return Ok(Compacted::Not),
            Err(reason) => {
                self.callback_failed(cause, &reason);
                return Ok(Compacted::Not);
            }
        }
        Ok(Compacted::Done)
    }

    fn answer_beside(&mut self, wanted: Wanted) -> Result<String, String> {
        self.tell(&Happening::Recipe { recipe: wanted.recipe });
        let answer = self.side_run(wanted, &self.cancel)?.run();
        self.conversation.add_side_usage(answer.spent);
        answer.said
    }

    fn put_in_place(
        &mut self,
        cause: &Cause,
        summary: &str,
        compaction: Compaction,
    ) -> Result<(), AgentError> {
        let messages = summarised(summary, self.conversation.last_request());
        self.replace_history(&Replacement {
            kind: ChangeKind::Compact,
            by: cause.recipe,
            reason: Some(&reason(cause)),
            messages: &messages,
        })?;
        let tokens_after = self.usage().current_context_window;
        self.note_effect(cause, tokens_after);
        let done = Compaction { tokens_after: Some(tokens_after), ..compaction };
        let outcome = self.dispatch(Body::PostCompact(done));
        self.blocked(&outcome);
        self.add_context(outcome.contexts)
    }

    /// A history that is still too long would be compacted again after the next turn, and after every other.
    fn note_effect(&mut self, cause: &Cause, tokens_after: u64) {
        let window = self.agent.model.context_window();
        let limit = self.agent.settings.auto_compact.unwrap_or(1.0) * window as f64;
        if tokens_after as f64 >= limit {
            self.callback_failed(cause, "what it left is still too long for the model");
        } else {
            self.callback_failures = 0;
        }
    }

    pub(super) fn callback_failed(&mut self, cause: &Cause, reason: &str) {
        self.callback_failures += 1;
        self.diagnose(&failed(cause, reason, self.callback_failures));
    }
}

fn reason(cause: &Cause) -> String {
    let trigger = match cause.trigger {
        CompactTrigger::Auto => "the context was filling up",
        CompactTrigger::Manual => "the person asked for it",
        CompactTrigger::Hook => "a hook called back",
        CompactTrigger::Overflow => "the model could not hold the conversation",
    };
    format!("{trigger} ({})", cause.by)
}

fn nothing_to_compact() -> Diagnostic {
    Diagnostic::new("nothing-to-compact", Severity::Warning, "the conversation is empty")
}

fn failed(cause: &Cause, reason: &str, failures: u32) -> Diagnostic {
    let message =
        format!("the recipe {:?}, which {} called back: {reason}", cause.recipe, cause.by);
    let help = if failures >= PATIENCE {
        format!(
            "that was failure number {failures} in a row: nothing is called back any more in this session; \
             see why with `tenter recipe show {}`",
            cause.recipe
        )
    } else {
        "the conversation goes on unchanged".to_owned()
    };
    Diagnostic::new("callback-failed", Severity::Warning, message).help(help)
}
