//! The action of a static hook, a hook without a script. Its texts are templates over the payload; parsing and rendering
//! them is up to the engine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::lifecycle::Power;
use crate::reply::VerdictKind;
use crate::{Block, EventName, HistoryAction, Message, Reply, Role, Verdict, history};

/// A static hook's action and its condition, as written in the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaticActionText {
    /// The condition; without one, the hook always acts.
    pub when: Option<String>,
    /// The action.
    pub action: Action,
}

/// An action. `T` is the type of its texts: as written, parsed or rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action<T = String> {
    /// Denies what is about to happen, or feeds the reason back to the model.
    Deny {
        /// The reason for the model and the user.
        reason: T,
    },
    /// Asks the user.
    Ask {
        /// The reason for asking.
        reason: T,
    },
    /// Allows what is about to happen.
    Allow {
        /// The reason for the journal.
        reason: Option<T>,
    },
    /// Adds context for the model.
    Context {
        /// The text that the model reads.
        text: T,
    },
    /// Replaces the history.
    Mutate {
        /// The new history.
        messages: Vec<(Role, T)>,
    },
    /// Runs a recipe on the history.
    Callback {
        /// The name of the recipe.
        recipe: T,
        /// The arguments of the recipe.
        args: BTreeMap<String, T>,
    },
}

/// The words for the actions in manifests, and the powers of which an event needs at least one.
pub(crate) const ACTIONS: [(&str, &[Power]); 6] = [
    ("deny", &[Power::Block, Power::Continue, Power::FeedBack]),
    ("ask", &[Power::Ask]),
    ("allow", &[Power::Block]),
    ("context", &[Power::AddContext]),
    ("mutate", &[Power::Mutate]),
    ("callback", &[Power::Callback]),
];

impl<T> Action<T> {
    /// Returns the word for the action in manifests and listings.
    pub fn as_str(&self) -> &'static str {
        let index = match self {
            Self::Deny { .. } => 0,
            Self::Ask { .. } => 1,
            Self::Allow { .. } => 2,
            Self::Context { .. } => 3,
            Self::Mutate { .. } => 4,
            Self::Callback { .. } => 5,
        };
        ACTIONS[index].0
    }

    /// Converts every text.
    ///
    /// # Errors
    /// The first error of `change`.
    pub fn try_map<U, E>(
        &self,
        mut change: impl FnMut(&T) -> Result<U, E>,
    ) -> Result<Action<U>, E> {
        Ok(match self {
            Self::Deny { reason } => Action::Deny { reason: change(reason)? },
            Self::Ask { reason } => Action::Ask { reason: change(reason)? },
            Self::Allow { reason } => {
                Action::Allow { reason: reason.as_ref().map(change).transpose()? }
            }
            Self::Context { text } => Action::Context { text: change(text)? },
            Self::Mutate { messages } => {
                let change = |(role, text): &(Role, T)| Ok((*role, change(text)?));
                Action::Mutate { messages: messages.iter().map(change).collect::<Result<_, E>>()? }
            }
            Self::Callback { recipe, args } => {
                let recipe = change(recipe)?;
                let change = |(name, text): (&String, &T)| Ok((name.clone(), change(text)?));
                let args = args.iter().map(change).collect::<Result<_, E>>()?;
                Action::Callback { recipe, args }
            }
        })
    }
}

impl Action {
    /// Converts an action with rendered texts into a reply.
    ///
    /// # Errors
    /// The messages are not a valid history (R32), or the name of the recipe is empty.
    pub fn into_reply(self) -> Result<Reply, String> {
        let verdict = |kind, reason| Some(Verdict::new(kind, reason));
        let silence = Reply::default();
        Ok(match self {
            Self::Deny { reason } => {
                Reply { verdict: verdict(VerdictKind::Deny, Some(reason)), ..silence }
            }
            Self::Ask { reason } => {
                Reply { verdict: verdict(VerdictKind::Ask, Some(reason)), ..silence }
            }
            Self::Allow { reason } => {
                Reply { verdict: verdict(VerdictKind::Allow, reason), ..silence }
            }
            Self::Context { text } => Reply { context: Some(text), ..silence },
            Self::Mutate { messages } => {
                let message = |(role, text)| Message::new(role, vec![Block::text(text)]);
                let messages: Vec<Message> = messages.into_iter().map(message).collect();
                history::validate(&messages)
                    .map_err(|why| format!("its history cannot be used: {why}"))?;
                Reply { history: Some(HistoryAction::Mutate(messages)), ..silence }
            }
            Self::Callback { recipe, args } => {
                let recipe = recipe.trim().to_owned();
                if recipe.is_empty() {
                    return Err("its `recipe` is empty".to_owned());
                }
                Reply { history: Some(HistoryAction::Callback { recipe, args }), ..silence }
            }
        })
    }
}

/// Returns the words for the actions that are possible at `event`.
pub fn actions_at(event: EventName) -> Vec<&'static str> {
    let is_possible = |powers: &[Power]| powers.iter().any(|power| event.may(*power));
    ACTIONS.iter().filter(|(_, powers)| is_possible(powers)).map(|(word, _)| *word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::TABLE;

    fn texts() -> [Action; 6] {
        let text = || "t".to_owned();
        [
            Action::Deny { reason: text() },
            Action::Ask { reason: text() },
            Action::Allow { reason: Some(text()) },
            Action::Context { text: text() },
            Action::Mutate { messages: vec![(Role::User, text())] },
            Action::Callback { recipe: text(), args: [("a".to_owned(), text())].into() },
        ]
    }

    #[test]
    fn every_action_has_its_word() {
        let words = texts().map(|action| action.as_str());
        assert_eq!(words, ACTIONS.map(|(word, _)| word));
    }

    #[test]
    fn try_map_converts_every_text() {
        for action in texts() {
            let mut count = 0;
            let same = action.try_map(|text| {
                count += 1;
                Ok::<_, ()>(text.clone())
            });
            assert_eq!(same, Ok(action.clone()));
            assert!(count > 0);
            assert_eq!(action.try_map(|_| Err::<String, _>("no")), Err("no"));
        }
    }

    #[test]
    fn rejects_an_invalid_history_and_an_empty_recipe_name() {
        let mutate = |role, text: &str| Action::Mutate { messages: vec![(role, text.to_owned())] };
        assert!(mutate(Role::Assistant, "x").into_reply().is_err());
        assert!(mutate(Role::User, " ").into_reply().is_err());
        let callback = Action::Callback { recipe: " ".to_owned(), args: BTreeMap::new() };
        assert!(callback.into_reply().is_err());
    }

    #[test]
    fn actions_at_an_event_are_those_it_has_the_powers_for() {
        for row in &TABLE {
            let possible = actions_at(row.event);
            assert_eq!(possible.contains(&"context"), row.event.may(Power::AddContext));
            assert_eq!(possible.contains(&"mutate"), row.event.may(Power::Mutate));
            assert_eq!(possible.is_empty(), row.may.is_empty(), "{}", row.name);
        }
    }
}
