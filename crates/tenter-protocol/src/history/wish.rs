//! What a hook wants done to the history, in the fields that both protocols share (R28).

use std::collections::BTreeMap;

use super::MessageWire;
use crate::HistoryAction;
use crate::reply::FieldReader;
use crate::reply_fields as fields;

/// The fields by which a hook says what shall be done to the history.
#[derive(Debug, Default)]
pub(crate) struct HistoryWish {
    result: String,
    messages: Option<Vec<MessageWire>>,
    callback: Option<String>,
    callback_args: Option<BTreeMap<String, String>>,
}

impl HistoryWish {
    /// Reads the fields as one action. Where the agent `may_continue`, a hook may say that it wants just that.
    pub(crate) fn read(answer: &mut FieldReader, may_continue: bool) -> Option<HistoryAction> {
        let wish = Self {
            result: answer.read(&fields::RESULT).unwrap_or_default(),
            messages: answer.read(&fields::MESSAGES),
            callback: answer.read(&fields::CALLBACK),
            callback_args: answer.read(&fields::CALLBACK_ARGS),
        };
        wish.idle().into_iter().for_each(|warning| answer.warn(warning));
        wish.action(may_continue).unwrap_or_else(|failure| {
            answer.fail(failure);
            None
        })
    }

    /// The fields that are given without the `result` that they belong to.
    fn idle(&self) -> Vec<String> {
        let given = [
            ("messages", "mutate", self.messages.as_ref().is_some_and(|given| !given.is_empty())),
            ("callback", "callback", self.callback.is_some()),
        ];
        let is_idle =
            |(_, result, is_given): &(&str, &str, bool)| *is_given && self.result != *result;
        let warning = |(field, result, _): (&str, &str, bool)| {
            format!("\"{field}\" does nothing without \"result\": \"{result}\"")
        };
        given.into_iter().filter(is_idle).map(warning).collect()
    }

    fn action(self, may_continue: bool) -> Result<Option<HistoryAction>, String> {
        match self.result.as_str() {
            "" => Ok(None),
            "continue" if may_continue => Ok(None),
            "mutate" => super::read(self.messages.unwrap_or_default())
                .map(|messages| Some(HistoryAction::Mutate(messages)))
                .map_err(|why| format!("the history it gave cannot be used: {why}")),
            "callback" => self.recipe().map(Some),
            other => {
                let known = known_results(may_continue);
                Err(format!("\"result\": {other:?} is not known; this event knows {known}"))
            }
        }
    }

    fn recipe(self) -> Result<HistoryAction, String> {
        let named = self.callback.filter(|name| !name.trim().is_empty());
        let no_recipe = "\"result\": \"callback\" needs \"callback\": the name of a recipe";
        let recipe = named.ok_or(no_recipe)?;
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
