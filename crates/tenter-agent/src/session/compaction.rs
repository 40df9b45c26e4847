//! Replaces the history by a recipe's answer: compaction, and every other callback of a hook (R31, R33, R50, R54).
//!
//! Nothing is replaced before the answer is there, the store keeps what was replaced, and a recipe that fails changes
//! nothing. After three failures in a row a recipe is not called back any more in that conversation, until the user runs it
//! with success.

use std::collections::BTreeMap;

use tenter_engine::{StartDecision, builtin};
use tenter_protocol::event::{CompactTrigger, Compaction};
use tenter_protocol::{Diagnostic, Severity};

use super::side::{SideRun, Wanted, summarised};
use super::{AgentError, Session};
use crate::conversation::Replacement;
use crate::store::ChangeKind;
use crate::watch::Happening;

/// Failures in a row after which a recipe is no longer called back (R33).
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
    /// Compacts the conversation on the user's request, with these arguments for the recipe.
    ///
    /// # Errors
    /// When the new history cannot be saved.
    pub fn compact(&mut self, args: &BTreeMap<String, String>) -> Result<Compacted, AgentError> {
        self.compact_for(CompactTrigger::Manual, "user", args)
    }

    /// Compacts because the model cannot hold the conversation.
    pub(super) fn compact_to_fit(&mut self) -> Result<Compacted, AgentError> {
        self.compact_for(CompactTrigger::Overflow, "the model's limit", &BTreeMap::new())
    }

    fn compact_for(
        &mut self,
        trigger: CompactTrigger,
        by: &str,
        args: &BTreeMap<String, String>,
    ) -> Result<Compacted, AgentError> {
        let called = self.call_back(&Cause { trigger, by, recipe: builtin::RECIPE, args })?;
        Ok(called.unwrap_or(Compacted::Not))
    }

    /// Runs a recipe, and replaces the history by its answer. `None` where the recipe could not be started: then
    /// another may (R66).
    pub(super) fn call_back(&mut self, cause: &Cause) -> Result<Option<Compacted>, AgentError> {
        if self.is_tired(cause.recipe) && cause.trigger != CompactTrigger::Manual {
            return Ok(None);
        }
        if self.conversation.messages().is_empty() {
            self.diagnose(&nothing_to_compact());
            return Ok(Some(Compacted::Not));
        }
        let wanted = Wanted { recipe: cause.recipe, args: cause.args };
        match self.side_run(wanted, self.cancel()) {
            Ok(run) => self.call_back_with(cause, run).map(Some),
            Err(reason) => {
                self.callback_failed(cause.recipe, &failed(cause, &reason), unstarted_help(cause));
                Ok(None)
            }
        }
    }

    fn call_back_with(&mut self, cause: &Cause, run: SideRun) -> Result<Compacted, AgentError> {
        let tokens_before = self.usage().current_context_window;
        let compaction = Compaction { trigger: cause.trigger, tokens_before, tokens_after: None };
        let contexts = match self.hooks.pre_compact(compaction) {
            StartDecision::Start { contexts } => contexts,
            StartDecision::Deny(denial) if denial.is_cancelled() => return Ok(Compacted::Not),
            StartDecision::Deny(denial) => {
                self.report_denial(Some(&denial));
                return Ok(Compacted::Blocked);
            }
        };
        let contexts = contexts.into_iter().map(|context| context.value).collect();
        match self.answer_beside(cause, run.with_contexts(contexts)) {
            Ok(summary) => {
                self.put_in_place(cause, &summary, compaction)?;
                Ok(Compacted::Done)
            }
            Err(reason) => {
                if !self.cancel().is_cancelled() {
                    let message = failed(cause, &reason);
                    self.callback_failed(cause.recipe, &message, "the history stays as it is");
                }
                Ok(Compacted::Not)
            }
        }
    }

    fn answer_beside(&mut self, cause: &Cause, run: SideRun) -> Result<String, String> {
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
        let feedback = self.hooks.post_compact(done);
        self.report_denial(feedback.denial.as_ref());
        self.add_context(feedback.contexts)
    }

    /// A history that is still too long would be compacted again after the next turn, and after every other.
    fn note_effect(&mut self, cause: &Cause, tokens_after: u64) {
        let window = self.agent.model.context_window();
        let limit = self.agent.settings.auto_compact.unwrap_or(1.0) * window as f64;
        if tokens_after as f64 >= limit {
            let message = failed(cause, "what it left is still too long");
            self.callback_failed(
                cause.recipe,
                &message,
                "begin a new conversation, or use a model that holds more",
            );
        } else {
            self.set_callback_failures(cause.recipe, 0);
        }
    }

    /// Whether a recipe failed so often in a row that hooks cannot call it back any more (R33).
    pub(super) fn is_tired(&self, recipe: &str) -> bool {
        self.conversation.callback_failures(recipe) >= PATIENCE
    }

    /// Reports the recipes that a resumed conversation does not call back any more.
    pub(super) fn tell_tired(&self) {
        for (recipe, failures) in self.conversation.failed_callbacks() {
            if failures >= PATIENCE {
                let message = format!(
                    "the recipe {recipe} failed {failures} times in a row in this conversation"
                );
                let finding = Diagnostic::new("callback-stopped", Severity::Warning, message);
                self.diagnose(&finding.help(stopped(recipe)));
            }
        }
    }

    /// Counts a failure of a recipe and reports it with `help`, or with what it means that there were so many.
    pub(super) fn callback_failed(&mut self, recipe: &str, message: &str, help: &str) {
        let failures = self.conversation.callback_failures(recipe) + 1;
        let diagnostic = Diagnostic::new("callback-failed", Severity::Warning, message);
        self.diagnose(&match failures {
            PATIENCE => diagnostic
                .help(format!("that was failure number {PATIENCE} in a row: {}", stopped(recipe))),
            _ => diagnostic.help(help),
        });
        self.set_callback_failures(recipe, failures);
    }

    /// Remembers how often a recipe has failed in a row.
    pub(super) fn set_callback_failures(&mut self, recipe: &str, failures: u32) {
        let store = &self.agent.store;
        if let Err(error) = self.conversation.set_callback_failures(store, recipe, failures) {
            self.diagnose(&AgentError::from(error).diagnostic());
        }
    }
}

/// What it means that a recipe has failed too often, as the end of a sentence.
fn stopped(recipe: &str) -> String {
    let by_hand = "a successful `/compact` or `tenter run -r compact --follow` ends that";
    if recipe == builtin::RECIPE {
        format!("this conversation is not compacted automatically any more; {by_hand}")
    } else {
        format!("hooks cannot call {recipe} back any more in this conversation")
    }
}

/// What the user can do about a recipe that could not be started.
fn unstarted_help(cause: &Cause) -> &'static str {
    match cause.trigger {
        CompactTrigger::Manual => {
            "the history stays as it is; arguments are given as `--arg NAME=VALUE`, or in chat as `/compact NAME=VALUE`"
        }
        _ => "the history stays as it is",
    }
}

/// A sentence without parentheses: listings put it between some.
fn reason(cause: &Cause) -> String {
    match cause.trigger {
        CompactTrigger::Auto => format!("{} saw the context fill up", cause.by),
        CompactTrigger::Manual => "the user asked for it".to_owned(),
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
