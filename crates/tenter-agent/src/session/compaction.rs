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
    /// The hook's name; `user`, or `the model's limit`, where no hook asked for it.
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
    /// It is as it was: a hook forbade it. That was told.
    Blocked,
    /// It is as it was: the recipe failed, or was interrupted. That was told.
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
        if self.is_tired() && cause.trigger != CompactTrigger::Manual {
            return Ok(Compacted::Not);
        }
        if self.conversation.messages().is_empty() {
            self.diagnose(&nothing_to_compact());
            return Ok(Compacted::Not);
        }
        let tokens_before = self.usage().current_context_window;
        let compaction = Compaction { trigger: cause.trigger, tokens_before, tokens_after: None };
        let outcome = self.dispatch(Body::PreCompact(compaction));
        if self.cancel.is_cancelled() {
            return Ok(Compacted::Not);
        }
        if self.blocked(&outcome).is_some() {
            return Ok(Compacted::Blocked);
        }
        let contexts = outcome.contexts.into_iter().map(|context| context.value).collect();
        match self.answer_beside(cause, contexts) {
            Ok(summary) => {
                self.put_in_place(cause, &summary, compaction)?;
                Ok(Compacted::Done)
            }
            Err(reason) => {
                if !self.cancel.is_cancelled() {
                    self.callback_failed(&failed(cause, &reason), "the history stays as it is");
                }
                Ok(Compacted::Not)
            }
        }
    }

    fn answer_beside(&mut self, cause: &Cause, contexts: Vec<String>) -> Result<String, String> {
        let wanted = Wanted { recipe: cause.recipe, args: cause.args, contexts };
        let run = self.side_run(wanted, &self.cancel)?;
        self.tell(&Happening::Recipe { recipe: cause.recipe, by: cause.by });
        let answer = run.run();
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
        let reason = reason(cause);
        let replacement = Replacement {
            kind: ChangeKind::Compact,
            by: cause.recipe,
            reason: Some(&reason),
            messages: &messages,
        };
        self.replace_history(&replacement, Some(cause))?;
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
            let message = failed(cause, "what it left is still too long");
            self.callback_failed(
                &message,
                "begin a new conversation, or use a model that holds more",
            );
        } else {
            self.callback_failures = 0;
        }
    }

    /// Whether so many callbacks failed in a row that hooks get no more of them (R33).
    pub(super) fn is_tired(&self) -> bool {
        self.callback_failures >= PATIENCE
    }

    /// Counts a failure and tells it with `help`, or with what it means that there were so many.
    pub(super) fn callback_failed(&mut self, message: &str, help: &str) {
        self.callback_failures += 1;
        let diagnostic = Diagnostic::new("callback-failed", Severity::Warning, message);
        self.diagnose(&match self.callback_failures {
            PATIENCE => diagnostic.help(format!(
                "that was failure number {PATIENCE} in a row: in this session no hook has a recipe called back any more, and \
                 nothing is compacted by itself; `/compact` and `tenter run -r compact --follow` still work"
            )),
            _ => diagnostic.help(help),
        });
    }
}

/// A sentence without parentheses: listings put it between some.
fn reason(cause: &Cause) -> String {
    match cause.trigger {
        CompactTrigger::Auto => format!("{} saw the context fill up", cause.by),
        CompactTrigger::Manual => "the person asked for it".to_owned(),
        CompactTrigger::Hook => format!("the hook {} called for it", cause.by),
        CompactTrigger::Overflow => "the model could not hold the conversation".to_owned(),
    }
}

fn nothing_to_compact() -> Diagnostic {
    Diagnostic::new("nothing-to-compact", Severity::Warning, "the conversation is empty")
}

fn failed(cause: &Cause, what: &str) -> String {
    format!("the recipe {}, run because {}: {what}", cause.recipe, reason(cause))
}
