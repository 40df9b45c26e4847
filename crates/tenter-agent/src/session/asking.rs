//! Requests one response from the model, shows it as it arrives, and retries after transient failures.
//!
//! A retry sends the same request, so nothing is duplicated and no tool runs twice: tools run only on complete responses,
//! and watchers are notified to discard the shown part of a broken response. The total wait is limited by the settings; a
//! provider that requests a longer pause ends the turn.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use super::{AgentError, Compacted, Session};

use crate::conversation::ResponseUsage;
use crate::model::{Delta, ModelError, Request, Response};
use crate::watch::Happening;

/// How a model is asked again after a trouble that passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrySettings {
    /// How often it is asked in all; 0 counts as 1.
    pub attempts: u32,
    /// The wait after the first attempt; it doubles with each.
    pub first_delay: Duration,
    /// The longest wait of our own. A provider may ask for twice as long.
    pub max_delay: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { attempts: 5, first_delay: Duration::from_secs(1), max_delay: Duration::from_mins(1) }
    }
}

impl RetrySettings {
    /// How long to wait after attempt number `attempt` failed. The upper half of the wait depends on `salt`, so that
    /// agents that were refused together do not come back together.
    fn delay(&self, attempt: u32, salt: &str) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let longest = self.first_delay.saturating_mul(doubled).min(self.max_delay);
        let mut hasher = DefaultHasher::new();
        (salt, attempt).hash(&mut hasher);
        let part = u32::try_from(hasher.finish() % 1000).unwrap_or(0);
        longest / 2 + longest / 2000 * part
    }

    /// The longest wait that a provider may ask for.
    fn patience(&self) -> Duration {
        self.max_delay.saturating_mul(2)
    }
}

impl Session<'_> {
    /// One response to the conversation, counted. What the model cannot hold is compacted first, once.
    pub(super) fn ask_model(&mut self) -> Result<Response, AgentError> {
        let is_full = self.conversation.expected_tokens() >= self.agent.model.context_window();
        if is_full {
            self.make_room()?;
        }
        match self.ask_counted() {
            Err(AgentError::Model(ModelError::TooLong { .. }))
                if !is_full && self.make_room()? == Compacted::Done =>
            {
                self.ask_counted()
            }
            answered => answered,
        }
    }

    fn make_room(&mut self) -> Result<Compacted, AgentError> {
        // Only the user can shorten a single message.
        let can_shorten = self.conversation.messages().len() > 1;
        if self.agent.settings.auto_compact.is_none() || !can_shorten {
            return Ok(Compacted::Not);
        }
        let compacted = self.compact_to_fit()?;
        if self.cancel().is_cancelled() {
            return Err(ModelError::Cancelled.into());
        }
        Ok(compacted)
    }

    /// One response to the conversation as it stands.
    fn ask_counted(&mut self) -> Result<Response, AgentError> {
        let messages = self.conversation.messages();
        let request = Request {
            system: &self.system,
            messages: &messages,
            tools: &self.specs,
            recipe: self.agent.settings.recipe.as_deref().filter(|_| self.agent.settings.side_run),
        };
        let response = self.ask_until_answered(&request)?;
        let (turn, estimated) = response.usage_or_estimate(&request);
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

    fn ask_until_answered(&self, request: &Request) -> Result<Response, AgentError> {
        let mut attempt = 1;
        loop {
            let (answer, shown) = self.ask_once(request);
            if self.cancel().is_cancelled() {
                // Whatever came of it came of the interruption.
                return Err(ModelError::Cancelled.into());
            }
            let error = match answer {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let after = self.delay_before_next(attempt, &error)?;
            attempt += 1;
            self.tell(&Happening::Retry {
                attempt,
                of: self.agent.settings.retry.attempts,
                after,
                reason: &error.to_string(),
                discarded: shown,
            });
            if self.cancel().wait(after) {
                return Err(ModelError::Cancelled.into());
            }
        }
    }

    /// One attempt, and whether anything of it was shown.
    fn ask_once(&self, request: &Request) -> (Result<Response, ModelError>, bool) {
        let mut shown = false;
        let mut show = |delta: Delta| {
            shown = true;
            self.tell(&match delta {
                Delta::Text(text) => Happening::TextDelta(text),
                Delta::Reasoning(text) => Happening::ReasoningDelta(text),
            });
        };
        let answer = self.agent.model.respond(request, &mut show, self.cancel());
        (answer, shown)
    }

    /// How long to wait before the model is asked once more; an error where that has no sense.
    fn delay_before_next(&self, attempt: u32, error: &ModelError) -> Result<Duration, AgentError> {
        let retry = &self.agent.settings.retry;
        let ModelError::Passing { retry_after, .. } = error else {
            return Err(error.clone().into());
        };
        let wanted = retry_after.unwrap_or_default();
        if wanted > retry.patience() {
            return Err(AgentError::gave_up(
                error,
                format!(
                    "the provider asked for a {} s pause; the limit is {} s",
                    wanted.as_secs(),
                    retry.patience().as_secs()
                ),
            ));
        }
        if attempt < retry.attempts {
            return Ok(retry.delay(attempt, self.conversation.id()).max(wanted));
        }
        if attempt == 1 {
            return Err(error.clone().into());
        }
        Err(AgentError::gave_up(error, format!("gave up after {attempt} attempts")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_configuration_it_asks_five_times_within_minutes() {
        let settings = RetrySettings::default();
        let waits = (1..5).map(|attempt| settings.delay(attempt, "c"));
        assert!(waits.sum::<Duration>() <= Duration::from_secs(1 + 2 + 4 + 8));
        assert_eq!((settings.attempts, settings.patience()), (5, Duration::from_mins(2)));
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
