//! Replaces the history by the response of a recipe: compaction, and all other callbacks of hooks (R31, R33, R50, R54).
//!
//! The history is replaced only when the response is complete, and the store keeps the old one. A recipe that fails changes
//! nothing. After three failures in a row, hooks can no longer call the recipe back in the conversation until the user runs it
//! successfully.

use std::collections::BTreeMap;

use tenter_engine::{StartDecision, builtin};
use tenter_protocol::event::{CompactTrigger, Compaction};
use tenter_protocol::{Diagnostic, Severity};

use super::side_recipe::{RecipeCall, SideRecipe, summarised_history};
use super::{AgentError, Session};
use crate::conversation::HistoryReplacement;
use crate::store::ChangeKind;
use crate::watch::SessionUpdate;

/// Number of failures in a row after which a recipe is no longer called back (R33).
const MAX_CALLBACK_FAILURES: u32 = 3;

/// The cause of a replacement of the history.
pub(super) struct ReplacementCause<'c> {
    /// The reason.
    pub(super) trigger: CompactTrigger,
    /// The hook that requested it; otherwise `user` or `the model's limit`.
    pub(super) by: &'c str,
    /// The recipe.
    pub(super) recipe: &'c str,
    /// The recipe's arguments.
    pub(super) args: &'c BTreeMap<String, String>,
}

/// The result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionResult {
    /// The history was replaced.
    Done,
    /// A hook denied the compaction, which was reported.
    Blocked,
    /// The history is unchanged: the recipe failed, which was reported, or it was cancelled.
    Unchanged,
}

impl Session<'_> {
    /// Compacts the conversation on the user's request, with these arguments for the recipe.
    ///
    /// # Errors
    /// The new history cannot be saved.
    pub fn compact(
        &mut self,
        args: &BTreeMap<String, String>,
    ) -> Result<CompactionResult, AgentError> {
        self.compact_for(CompactTrigger::Manual, "user", args)
    }

    /// Compacts a conversation that is too long for the model.
    pub(super) fn compact_to_fit(&mut self) -> Result<CompactionResult, AgentError> {
        self.compact_for(CompactTrigger::Overflow, "the model's limit", &BTreeMap::new())
    }

    fn compact_for(
        &mut self,
        trigger: CompactTrigger,
        by: &str,
        args: &BTreeMap<String, String>,
    ) -> Result<CompactionResult, AgentError> {
        let tools =
            self.start_callback(&ReplacementCause { trigger, by, recipe: builtin::RECIPE, args })?;
        Ok(tools.unwrap_or(CompactionResult::Unchanged))
    }

    /// Runs a recipe, and replaces the history by its response. Returns `None` if the recipe could not be started; then the next
    /// callback is tried (R66).
    pub(super) fn start_callback(
        &mut self,
        cause: &ReplacementCause,
    ) -> Result<Option<CompactionResult>, AgentError> {
        if self.is_callback_stopped(cause.recipe) && cause.trigger != CompactTrigger::Manual {
            return Ok(None);
        }
        if self.conversation.messages().is_empty() {
            self.diagnose(&nothing_to_compact());
            return Ok(Some(CompactionResult::Unchanged));
        }
        let call = RecipeCall { recipe: cause.recipe, args: cause.args };
        match self.prepare_side_recipe(call, self.cancel()) {
            Ok(run) => self.run_callback(cause, run).map(Some),
            Err(reason) => {
                self.callback_failed(cause.recipe, &failed(cause, &reason), unstarted_help(cause));
                Ok(None)
            }
        }
    }

    fn run_callback(
        &mut self,
        cause: &ReplacementCause,
        run: SideRecipe,
    ) -> Result<CompactionResult, AgentError> {
        let compaction = Compaction::new(cause.trigger, self.usage().current_context_window);
        let contexts = match self.hooks().pre_compact(compaction) {
            StartDecision::Start { contexts } => contexts,
            StartDecision::Deny(denial) if denial.is_cancelled() => {
                return Ok(CompactionResult::Unchanged);
            }
            StartDecision::Deny(denial) => {
                self.report_denial(Some(&denial));
                return Ok(CompactionResult::Blocked);
            }
        };
        let contexts = contexts.into_iter().map(|context| context.value).collect();
        match self.run_side_recipe(cause, run.with_contexts(contexts)) {
            Ok(summary) => {
                self.apply_summary(cause, &summary, compaction)?;
                Ok(CompactionResult::Done)
            }
            Err(reason) => {
                if !self.cancel().is_cancelled() {
                    let message = failed(cause, &reason);
                    self.callback_failed(cause.recipe, &message, "the history is unchanged");
                }
                Ok(CompactionResult::Unchanged)
            }
        }
    }

    fn run_side_recipe(
        &mut self,
        cause: &ReplacementCause,
        run: SideRecipe,
    ) -> Result<String, String> {
        self.notify(&SessionUpdate::Recipe { recipe: cause.recipe, by: cause.by });
        let answer = run.run();
        self.notify(&SessionUpdate::RecipeEnded { recipe: cause.recipe });
        self.conversation.add_side_usage(answer.spent);
        answer.text
    }

    fn apply_summary(
        &mut self,
        cause: &ReplacementCause,
        summary: &str,
        compaction: Compaction,
    ) -> Result<(), AgentError> {
        let messages = summarised_history(summary, self.conversation.last_request());
        let reason = reason(cause);
        let replacement = HistoryReplacement {
            kind: ChangeKind::Compact,
            by: cause.recipe,
            reason: Some(&reason),
            messages: &messages,
        };
        self.replace_history(&replacement, Some(cause))?;
        let tokens_after = self.usage().current_context_window;
        self.note_effect(cause, tokens_after);
        let compaction = Compaction { tokens_after: Some(tokens_after), ..compaction };
        let feedback = self.hooks().post_compact(compaction);
        self.report_denial(feedback.denial.as_ref());
        self.add_context(feedback.contexts)
    }

    /// Counts a history that is still too long as a failure: otherwise it would be compacted again after every turn.
    fn note_effect(&mut self, cause: &ReplacementCause, tokens_after: u64) {
        let window = self.agent.model.context_window();
        let limit = self.agent.settings.auto_compact.unwrap_or(1.0) * window as f64;
        if tokens_after as f64 >= limit {
            let message = failed(cause, "the new history is still too long");
            self.callback_failed(
                cause.recipe,
                &message,
                "start a new conversation, or use a model with a larger context window",
            );
        } else {
            self.set_callback_failures(cause.recipe, 0);
        }
    }

    /// Returns whether a recipe failed so often in a row that hooks can no longer call it back (R33).
    pub(super) fn is_callback_stopped(&self, recipe: &str) -> bool {
        self.conversation.callback_failures(recipe) >= MAX_CALLBACK_FAILURES
    }

    /// Reports the recipes that can no longer be called back in a resumed conversation.
    pub(super) fn report_stopped_callbacks(&self) {
        for (recipe, failures) in self.conversation.failed_callbacks() {
            if failures >= MAX_CALLBACK_FAILURES {
                let message = format!(
                    "the recipe {recipe} failed {failures} times in a row in this conversation"
                );
                let finding = Diagnostic::new("callback-stopped", Severity::Warning, message);
                self.diagnose(&finding.help(stopped(recipe)));
            }
        }
    }

    /// Counts a failure of a recipe and reports it with `help`, or at the limit with the consequence.
    pub(super) fn callback_failed(&mut self, recipe: &str, message: &str, help: &str) {
        let failures = self.conversation.callback_failures(recipe) + 1;
        let diagnostic = Diagnostic::new("callback-failed", Severity::Warning, message);
        self.diagnose(&match failures {
            MAX_CALLBACK_FAILURES => diagnostic.help(format!(
                "this was failure {MAX_CALLBACK_FAILURES} in a row: {}",
                stopped(recipe)
            )),
            _ => diagnostic.help(help),
        });
        self.set_callback_failures(recipe, failures);
    }

    /// Stores how often a recipe has failed in a row.
    pub(super) fn set_callback_failures(&mut self, recipe: &str, failures: u32) {
        let store = &self.agent.store;
        if let Err(error) = self.conversation.set_callback_failures(store, recipe, failures) {
            self.diagnose(&AgentError::from(error).diagnostic());
        }
    }
}

/// Returns the consequence of too many failures, as the end of a sentence.
fn stopped(recipe: &str) -> String {
    let remedy = "a successful `/compact` or `tenter run -r compact --follow` enables it again";
    if recipe == builtin::RECIPE {
        format!("this conversation is no longer compacted automatically; {remedy}")
    } else {
        format!("hooks can no longer call {recipe} back in this conversation")
    }
}

/// Returns the help for a recipe that could not be started.
fn unstarted_help(cause: &ReplacementCause) -> &'static str {
    match cause.trigger {
        CompactTrigger::Manual => {
            "the history is unchanged; pass arguments as `--arg NAME=VALUE`, or in chat as `/compact NAME=VALUE`"
        }
        _ => "the history is unchanged",
    }
}

/// Returns the reason for the change, without parentheses, because listings put it in parentheses.
fn reason(cause: &ReplacementCause) -> String {
    match cause.trigger {
        CompactTrigger::Auto => format!("{} found the context nearly full", cause.by),
        CompactTrigger::Manual => "the user requested it".to_owned(),
        CompactTrigger::Hook => format!("the hook {} requested it", cause.by),
        CompactTrigger::Overflow => "the conversation was too long for the model".to_owned(),
    }
}

fn nothing_to_compact() -> Diagnostic {
    Diagnostic::new("nothing-to-compact", Severity::Warning, "the conversation is empty")
}

fn failed(cause: &ReplacementCause, what: &str) -> String {
    format!("the recipe {}, run because {}: {what}", cause.recipe, reason(cause))
}
