//! The end of an agent's work on a message: `after_turn`, `before_stop`, `after_agent`.

use tenter_engine::{Attributed, TurnReview};
use tenter_protocol::HistoryAction;
use tenter_protocol::event::{StopAttempt, Turn};

use super::{Visit, attributed};
use crate::digest::digest;
use crate::host::Moment;
use crate::state::{GuardRecord, MAX_AGENTS};

impl Visit<'_> {
    /// Handles a complete response with tool calls.
    pub(super) fn after_batch(&mut self) {
        let review = self.after_turn(self.turn(true, ""));
        self.add_contexts(&review.feedback.into_messages());
    }

    fn after_turn(&mut self, turn: Turn) -> TurnReview {
        let review = self.hooks().after_turn(turn);
        self.report_history(&review.history);
        review
    }

    /// Runs the hooks of an agent that is going to stop.
    pub(super) fn stop(&mut self, response: Option<&str>) {
        let response = response.unwrap_or_default();
        let review = self.after_turn(self.turn(false, response));
        self.wait(&review.feedback.into_messages());
        if !self.continues(response) {
            self.after_agent(Some(response));
        }
    }

    /// Runs the hooks of `before_stop`. Returns whether the agent continues.
    pub(super) fn continues(&mut self, response: &str) -> bool {
        let agent = self.agent_id().unwrap_or_default();
        let count = self.session.get().continuations.get(&agent).copied().unwrap_or_default();
        let attempt = StopAttempt { continuation_count: count, ..self.stop_attempt(response) };
        let review = self.hooks().before_stop(attempt);
        self.report_history(&review.history);
        self.wait(&review.contexts);
        if review.follow_ups.is_empty() {
            self.end_of_message();
            return false;
        }
        let limit = self.configuration.max_continuations.min(self.visitor.host.max_continuations);
        let counts = &self.session.get().continuations;
        let is_counted = counts.contains_key(&agent) || counts.len() < MAX_AGENTS;
        if count >= limit || !is_counted {
            let hook = review.follow_ups[0].hook.clone();
            self.notice(&format!(
                "the hook {hook} made the agent continue {count} times in a row; the limit is reached and it stops."
            ));
            self.end_of_message();
            return false;
        }
        let texts: Vec<String> = review.follow_ups.iter().map(attributed).collect();
        let message = texts.join("\n\n");
        self.session.update(|state| {
            *state.continuations.entry(agent).or_default() += 1;
            state.injected = Some(digest(&[&message]));
        });
        if self.session.error().is_some() {
            // Without a count, the agent might never stop (B28).
            return false;
        }
        self.reply.continue_with = Some(message);
        true
    }

    /// Starts the next message, if the host has no event for messages.
    fn end_of_message(&mut self) {
        let is_counting = !self.session.get().continuations.is_empty();
        if is_counting && !self.visitor.host.fires(Moment::Prompt) {
            self.session.update(GuardRecord::start_message);
        }
    }

    /// Runs the hooks of an agent that is done with a message.
    pub(super) fn after_agent(&mut self, response: Option<&str>) {
        let feedback = self.hooks().after_agent(response.unwrap_or_default());
        self.wait(&feedback.into_messages());
    }

    /// Keeps contexts for the next event that can carry them.
    pub(super) fn wait(&mut self, contexts: &[Attributed<String>]) {
        let agent = self.agent_id();
        self.keep_waiting(agent.as_deref(), contexts.iter().map(attributed).collect());
    }

    /// Notifies the user of history actions, which no host supports (B22).
    fn report_history(&mut self, actions: &[Attributed<HistoryAction>]) {
        let host = self.visitor.host.name;
        for action in actions {
            let hook = &action.hook;
            self.notice_once(&format!("history {hook}"), || {
                format!("the hook {hook} wants to change the conversation's history, which {host} does not allow.")
            });
        }
    }
}
