//! Requests one response from the model, shows it as it arrives, and retries after transient failures.
//!
//! A retry sends the same request, so nothing is duplicated and no tool runs twice: tools run only on complete responses,
//! and watchers are notified to discard the shown part of a broken response. The total wait is limited by the settings; a
//! provider that requests a longer pause ends the turn.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use tenter_engine::inspect::{KeyMask, KeyStream};

use super::{AgentError, CompactionResult, Session};
use crate::conversation::ResponseUsage;
use crate::model::{Delta, ModelError, Purpose, Request, Response};
use crate::watch::SessionUpdate;

/// Retries after transient failures of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrySettings {
    /// Maximum number of attempts; 0 counts as 1.
    pub attempts: u32,
    /// The wait after the first attempt; it doubles with each further attempt.
    pub first_delay: Duration,
    /// Maximum wait between attempts. A provider may request up to twice as long.
    pub max_delay: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { attempts: 5, first_delay: Duration::from_secs(1), max_delay: Duration::from_mins(1) }
    }
}

impl RetrySettings {
    /// Returns the wait after failed attempt number `attempt`. Half of the wait is jitter derived from `salt`, so that agents that
    /// failed at the same time do not retry at the same time.
    fn delay(&self, attempt: u32, salt: &str) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let longest = self.first_delay.saturating_mul(doubled).min(self.max_delay);
        let mut hasher = DefaultHasher::new();
        (salt, attempt).hash(&mut hasher);
        let part = u32::try_from(hasher.finish() % 1000).unwrap_or(0);
        longest / 2 + longest / 2000 * part
    }

    /// Returns the maximum wait that a provider may request.
    fn max_requested_delay(&self) -> Duration {
        self.max_delay.saturating_mul(2)
    }
}

impl Session<'_> {
    /// Requests a response to the conversation and counts its usage. Compacts the conversation once if it is too long for the model.
    pub(super) fn request_response(&mut self) -> Result<Response, AgentError> {
        let is_full = self.conversation.expected_tokens() >= self.agent.model.context_window();
        if is_full {
            self.make_room()?;
        }
        match self.request_and_count() {
            Err(AgentError::Model(ModelError::TooLong { .. }))
                if !is_full && self.make_room()? == CompactionResult::Done =>
            {
                self.request_and_count()
            }
            result => result,
        }
    }

    fn make_room(&mut self) -> Result<CompactionResult, AgentError> {
        // Only the user can shorten a single message.
        let can_shorten = self.conversation.messages().len() > 1;
        if self.agent.settings.auto_compact.is_none() || !can_shorten {
            return Ok(CompactionResult::Unchanged);
        }
        let compacted = self.compact_to_fit()?;
        if self.cancel().is_cancelled() {
            return Err(ModelError::Cancelled.into());
        }
        Ok(compacted)
    }

    /// Requests a response to the current conversation and counts its usage.
    fn request_and_count(&mut self) -> Result<Response, AgentError> {
        let messages = self.conversation.messages();
        let request = Request {
            system: &self.tools.system,
            messages: &messages,
            tools: &self.tools.specs,
            purpose: self.purpose(),
            max_tokens: None,
        };
        let response = self.request_with_retries(&request)?;
        let request_bytes = request.system.len() as u64 + self.conversation.request_bytes();
        let (turn, estimated) = response.usage_or_estimate(request_bytes);
        let model = &self.agent.model;
        self.conversation.add_response(&ResponseUsage {
            turn,
            cost_usd: response.cost_usd,
            window: model.context_window(),
            estimated,
            model: model.name(),
        });
        Ok(response)
    }

    fn purpose(&self) -> Purpose<'_> {
        let settings = &self.agent.settings;
        let recipe = settings.recipe.as_deref().filter(|_| settings.is_side_recipe);
        recipe.map_or(Purpose::Conversation, Purpose::Recipe)
    }

    fn request_with_retries(&self, request: &Request) -> Result<Response, AgentError> {
        let mut attempt = 1;
        loop {
            let (result, is_shown) = self.request_once(request);
            if self.cancel().is_cancelled() {
                // An error may only be a consequence of the cancellation.
                return Err(ModelError::Cancelled.into());
            }
            let error = match result {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let after = self.delay_before_next(attempt, &error)?;
            attempt += 1;
            self.notify(&SessionUpdate::Retry {
                attempt,
                of: self.agent.settings.retry.attempts,
                after,
                reason: &error.to_string(),
                discarded: is_shown,
            });
            if self.cancel().wait(after) {
                return Err(ModelError::Cancelled.into());
            }
        }
    }

    /// Makes one attempt; also returns whether a part of the response was shown.
    fn request_once(&self, request: &Request) -> (Result<Response, ModelError>, bool) {
        let mut is_shown = false;
        let mut deltas = MaskedDeltas::new(&self.agent.settings.keys);
        let mut show = |delta: Delta| {
            is_shown = true;
            deltas.push(delta, |update| self.notify(update));
        };
        self.notify(&SessionUpdate::ModelStarted { model: self.agent.model.name() });
        let result = self.agent.model.respond(request, &mut show, self.cancel());
        deltas.finish(|update| self.notify(update));
        self.notify(&SessionUpdate::ModelEnded);
        (result, is_shown)
    }

    /// Returns the wait before the next attempt, or an error if there is none.
    fn delay_before_next(&self, attempt: u32, error: &ModelError) -> Result<Duration, AgentError> {
        let retry = &self.agent.settings.retry;
        let ModelError::Transient { retry_after, .. } = error else {
            return Err(error.clone().into());
        };
        let pause = retry_after.unwrap_or_default();
        if pause > retry.max_requested_delay() {
            return Err(AgentError::gave_up(
                error,
                format!(
                    "the provider asked for a {} s pause; the limit is {} s",
                    pause.as_secs(),
                    retry.max_requested_delay().as_secs()
                ),
            ));
        }
        if attempt < retry.attempts {
            return Ok(retry.delay(attempt, self.conversation.id()).max(pause));
        }
        if attempt == 1 {
            return Err(error.clone().into());
        }
        Err(AgentError::gave_up(error, format!("gave up after {attempt} attempts")))
    }
}

/// The pieces of a response as watchers see them: with the values of model keys masked (R80).
struct MaskedDeltas {
    text: KeyStream,
    reasoning: KeyStream,
}

impl MaskedDeltas {
    fn new(keys: &KeyMask) -> Self {
        Self { text: keys.stream(), reasoning: keys.stream() }
    }

    fn push(&mut self, delta: Delta, notify: impl Fn(&SessionUpdate)) {
        match delta {
            Delta::Text(text) => {
                show_reasoning(&self.reasoning.finish(), &notify);
                show_text(&self.text.push(text), &notify);
            }
            Delta::Reasoning(text) => {
                show_text(&self.text.finish(), &notify);
                show_reasoning(&self.reasoning.push(text), &notify);
            }
        }
    }

    fn finish(&mut self, notify: impl Fn(&SessionUpdate)) {
        show_reasoning(&self.reasoning.finish(), &notify);
        show_text(&self.text.finish(), &notify);
    }
}

fn show_text(text: &str, notify: impl Fn(&SessionUpdate)) {
    if !text.is_empty() {
        notify(&SessionUpdate::TextDelta(text));
    }
}

fn show_reasoning(text: &str, notify: impl Fn(&SessionUpdate)) {
    if !text.is_empty() {
        notify(&SessionUpdate::ReasoningDelta(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_default_makes_five_attempts_within_minutes() {
        let settings = RetrySettings::default();
        let waits = (1..5).map(|attempt| settings.delay(attempt, "c"));
        assert!(waits.sum::<Duration>() <= Duration::from_secs(1 + 2 + 4 + 8));
        assert_eq!(
            (settings.attempts, settings.max_requested_delay()),
            (5, Duration::from_mins(2))
        );
    }

    proptest! {
        #[test]
        fn waits_double_up_to_the_limit_with_jitter(
            first in 0_u64..10_000,
            longest in 0_u64..100_000,
            attempt in 1_u32..=u32::MAX,
            salt in ".*",
        ) {
            let first_delay = Duration::from_millis(first);
            let max_delay = Duration::from_millis(longest);
            let settings = RetrySettings { attempts: 5, first_delay, max_delay };
            let factor = 2_u32.saturating_pow(attempt - 1);
            let full = first_delay.saturating_mul(factor).min(max_delay);
            let delay = settings.delay(attempt, &salt);
            prop_assert!(full / 2 <= delay && delay <= full, "{delay:?} of {full:?}");
            prop_assert_eq!(delay, settings.delay(attempt, &salt));
        }
    }
}
