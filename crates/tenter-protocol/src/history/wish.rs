//! What a hook wants done to the history, in the fields that both protocols share (R28).

use std::collections::BTreeMap;

use thiserror::Error;

use super::MessageWire;
use crate::HistoryAction;

/// Why what a hook wants done to the history cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HistoryError {
    /// `result` is a word that this event does not know.
    #[error("\"result\": \"{0}\" is not known; this event knows {1}")]
    UnknownResult(String, &'static str),
    /// `mutate` with messages that a model could not go on from.
    #[error("the history it gave cannot be used: {0}")]
    Messages(String),
    /// `callback` without the name of a recipe.
    #[error("\"result\": \"callback\" needs \"callback\": the name of a recipe")]
    NoRecipe,
}

/// The fields by which a hook says what shall be done to the history.
#[derive(Debug, Default)]
pub(crate) struct HistoryWish {
    pub(crate) result: Option<String>,
    pub(crate) messages: Option<Vec<MessageWire>>,
    pub(crate) callback: Option<String>,
    pub(crate) callback_args: Option<BTreeMap<String, String>>,
}

impl HistoryWish {
    /// The wish in one piece. Where the agent `may_continue`, a hook may say that it wants just that.
    pub(crate) fn action(self, may_continue: bool) -> Result<Option<HistoryAction>, HistoryError> {
        match self.result.as_deref().unwrap_or_default() {
            "" => Ok(None),
            "continue" if may_continue => Ok(None),
            "mutate" => super::read(self.messages.unwrap_or_default())
                .map(|messages| Some(HistoryAction::Mutate(messages)))
                .map_err(HistoryError::Messages),
            "callback" => self.recipe().map(Some),
            other => {
                Err(HistoryError::UnknownResult(other.to_owned(), known_results(may_continue)))
            }
        }
    }

    fn recipe(self) -> Result<HistoryAction, HistoryError> {
        let named = self.callback.filter(|name| !name.trim().is_empty());
        let recipe = named.ok_or(HistoryError::NoRecipe)?;
        Ok(HistoryAction::Callback { recipe, args: self.callback_args.unwrap_or_default() })
    }
}

/// The follow-up messages that say something.
pub(crate) fn follow_ups(texts: Option<Vec<String>>) -> Vec<String> {
    texts.unwrap_or_default().into_iter().filter(|text| !text.trim().is_empty()).collect()
}

fn known_results(may_continue: bool) -> &'static str {
    if may_continue {
        "\"continue\", \"mutate\" and \"callback\""
    } else {
        "\"mutate\" and \"callback\""
    }
}
