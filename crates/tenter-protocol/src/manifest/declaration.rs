//! What a hook without code does: an action, named in its manifest, whose texts are templates over the payload. What a
//! template is, and what one comes to, is not this module's business.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::lifecycle::Power;
use crate::reply::VerdictKind;
use crate::{Block, EventName, HistoryAction, Message, Reply, Role, Verdict, history};

/// What a hook without code does, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// The condition on which it acts; always, without one.
    pub when: Option<String>,
    /// What it does then.
    pub action: Action,
}

/// What a hook without code does. `T` is a text: as it was written, as it was understood, or filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action<T = String> {
    /// It forbids what is about to happen, or feeds the reason back.
    Deny {
        /// Why.
        reason: T,
    },
    /// It has the person decide.
    Ask {
        /// Why.
        reason: T,
    },
    /// It is fine with what is about to happen.
    Allow {
        /// Why.
        reason: Option<T>,
    },
    /// It gives the model something to read besides.
    Context {
        /// What.
        text: T,
    },
    /// It replaces the history.
    Mutate {
        /// By these messages.
        messages: Vec<(Role, T)>,
    },
    /// It has a recipe run on the history.
    Callback {
        /// The recipe's name.
        recipe: T,
        /// The recipe's arguments.
        args: BTreeMap<String, T>,
    },
}

/// The words for the actions, and which answers each of them is (any of them will do).
pub(crate) const ACTIONS: [(&str, &[Power]); 6] = [
    ("deny", &[Power::Block, Power::Continue, Power::FeedBack]),
    ("ask", &[Power::Ask]),
    ("allow", &[Power::Block]),
    ("context", &[Power::AddContext]),
    ("mutate", &[Power::Mutate]),
    ("callback", &[Power::Callback]),
];

impl<T> Action<T> {
    /// The word for it in manifests and listings.
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

    /// The same action with other texts.
    ///
    /// # Errors
    /// The first that `change` has.
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
    /// The reply that it is, its texts filled in.
    ///
    /// # Errors
    /// Messages that a model could not go on from (R32), or a recipe without a name.
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
                    .map_err(|why| format!("the history it gave cannot be used: {why}"))?;
                Reply { history: Some(HistoryAction::Mutate(messages)), ..silence }
            }
            Self::Callback { recipe, args } => {
                let recipe = recipe.trim().to_owned();
                if recipe.is_empty() {
                    return Err("its `recipe` comes to nothing".to_owned());
                }
                Reply { history: Some(HistoryAction::Callback { recipe, args }), ..silence }
            }
        })
    }
}

/// The words for the actions that a hook may take at `event`.
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
    fn a_change_reaches_every_text() {
        for action in texts() {
            let mut changed = 0;
            let same = action.try_map(|text| {
                changed += 1;
                Ok::<_, ()>(text.clone())
            });
            assert_eq!(same, Ok(action.clone()));
            assert!(changed > 0);
            assert_eq!(action.try_map(|_| Err::<String, _>("no")), Err("no"));
        }
    }

    #[test]
    fn what_a_model_could_not_go_on_from_is_refused() {
        let mutate = |role, text: &str| Action::Mutate { messages: vec![(role, text.to_owned())] };
        assert!(mutate(Role::Assistant, "x").into_reply().is_err());
        assert!(mutate(Role::User, " ").into_reply().is_err());
        let callback = Action::Callback { recipe: " ".to_owned(), args: BTreeMap::new() };
        assert!(callback.into_reply().is_err());
    }

    #[test]
    fn an_answer_stays_within_what_its_event_may() {
        for row in &TABLE {
            let possible = actions_at(row.event);
            assert_eq!(possible.contains(&"context"), row.event.may(Power::AddContext));
            assert_eq!(possible.contains(&"mutate"), row.event.may(Power::Mutate));
            assert_eq!(possible.is_empty(), row.may.is_empty(), "{}", row.name);
        }
    }
}
