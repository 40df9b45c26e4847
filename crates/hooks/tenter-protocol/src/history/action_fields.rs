//! The reply fields that act on the history. Both protocols share them (R28).

use std::collections::BTreeMap;

use super::MessageWire;
use crate::reply::FieldReader;
use crate::{HistoryAction, reply_fields as fields};

/// The fields of a reply that act on the history.
#[derive(Debug, Default)]
pub(crate) struct HistoryFields {
    result: String,
    messages: Option<Vec<MessageWire>>,
    callback: Option<String>,
    callback_args: Option<BTreeMap<String, String>>,
}

impl HistoryFields {
    /// Reads the fields as one action. `may_continue` is whether the event also has the result `continue`.
    pub(crate) fn read(answer: &mut FieldReader, may_continue: bool) -> Option<HistoryAction> {
        let fields = Self {
            result: answer.read(&fields::RESULT).unwrap_or_default(),
            messages: answer.read(&fields::MESSAGES),
            callback: answer.read(&fields::CALLBACK),
            callback_args: answer.read(&fields::CALLBACK_ARGS),
        };
        fields.without_effect().into_iter().for_each(|warning| answer.warn(warning));
        fields.action(may_continue).unwrap_or_else(|failure| {
            answer.fail(failure);
            None
        })
    }

    /// Returns warnings about fields without the `result` that they belong to.
    fn without_effect(&self) -> Vec<String> {
        let uses = [
            (
                "messages",
                "mutate",
                self.messages.as_ref().is_some_and(|messages| !messages.is_empty()),
            ),
            ("callback", "callback", self.callback.is_some()),
        ];
        let has_no_effect =
            |(_, result, is_given): &(&str, &str, bool)| *is_given && self.result != *result;
        let warning = |(field, result, _): (&str, &str, bool)| {
            format!("\"{field}\" has no effect without \"result\": \"{result}\"")
        };
        uses.into_iter().filter(has_no_effect).map(warning).collect()
    }

    fn action(self, may_continue: bool) -> Result<Option<HistoryAction>, String> {
        match self.result.as_str() {
            "" => Ok(None),
            "continue" if may_continue => Ok(None),
            "mutate" => super::read(self.messages.unwrap_or_default())
                .map(|messages| Some(HistoryAction::Mutate(messages)))
                .map_err(|why| format!("its history cannot be used: {why}")),
            "callback" => self.recipe().map(Some),
            other => {
                let possible = possible_results(may_continue);
                Err(format!("unknown \"result\": {other:?}; this event has {possible}"))
            }
        }
    }

    fn recipe(self) -> Result<HistoryAction, String> {
        let name = self.callback.filter(|name| !name.trim().is_empty());
        let no_recipe = "\"result\": \"callback\" needs \"callback\": the name of a recipe";
        let recipe = name.ok_or(no_recipe)?;
        Ok(HistoryAction::Callback { recipe, args: self.callback_args.unwrap_or_default() })
    }
}

/// Returns the follow-up messages that are not blank.
pub(crate) fn follow_ups(texts: Option<Vec<String>>) -> Vec<String> {
    texts.unwrap_or_default().into_iter().filter(|text| !text.trim().is_empty()).collect()
}

fn possible_results(may_continue: bool) -> &'static str {
    if may_continue {
        "\"continue\", \"mutate\" and \"callback\""
    } else {
        "\"mutate\" and \"callback\""
    }
}
