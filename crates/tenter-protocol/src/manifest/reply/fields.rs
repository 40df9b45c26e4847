//! The fields of an answer: their spellings, what each must hold, and at which events it means anything.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::lifecycle::Power;
use crate::{EventName, Object};

/// A field that an answer may have.
pub(super) struct Field {
    /// Its spellings; the first one given counts.
    spellings: &'static [&'static str],
    /// What it must hold, with its article.
    holds: &'static str,
    /// What an event must allow for the field to mean anything; `None` where it always does.
    power: Option<Power>,
}

const fn field(
    spellings: &'static [&'static str],
    holds: &'static str,
    power: Option<Power>,
) -> Field {
    Field { spellings, holds, power }
}

const STRING: &str = "a string";
const OBJECT: &str = "an object";

pub(super) static DECISION: Field = field(&["decision"], STRING, None);
pub(super) static REASON: Field = field(&["reason", "message"], STRING, None);
pub(super) static LOG: Field = field(&["log"], STRING, None);
pub(super) static CONTEXT: Field =
    field(&["additional_context", "additionalContext", "context"], STRING, Some(Power::AddContext));
pub(super) static INPUT: Field = field(
    &["modified_input", "modifiedInput", "updated_input", "updatedInput"],
    OBJECT,
    Some(Power::RewriteInput),
);
pub(super) static OUTPUT: Field = field(
    &["modified_output", "modifiedOutput", "updated_output", "updatedOutput"],
    OBJECT,
    Some(Power::RewriteOutput),
);
pub(super) static PROMPT: Field = field(
    &["modified_prompt", "modifiedPrompt", "updated_prompt", "updatedPrompt"],
    STRING,
    Some(Power::RewriteMessage),
);
pub(super) static RESULT: Field = field(&["result"], STRING, Some(Power::Mutate));
pub(super) static MESSAGES: Field =
    field(&["messages"], "a list of messages with \"role\" and \"content\"", Some(Power::Mutate));
pub(super) static CALLBACK: Field = field(&["callback"], STRING, Some(Power::Callback));
pub(super) static CALLBACK_ARGS: Field =
    field(&["callback_args", "callbackArgs"], "an object of strings", Some(Power::Callback));
pub(super) static FOLLOW_UPS: Field =
    field(&["follow_up_messages", "followUpMessages"], "a list of strings", Some(Power::Continue));

static ALL: [&Field; 12] = [
    &DECISION,
    &REASON,
    &LOG,
    &CONTEXT,
    &INPUT,
    &OUTPUT,
    &PROMPT,
    &RESULT,
    &MESSAGES,
    &CALLBACK,
    &CALLBACK_ARGS,
    &FOLLOW_UPS,
];

/// An answer's object while it is read, and what is wrong with it.
pub(super) struct Fields {
    event: EventName,
    object: Object,
    warnings: Vec<String>,
}

impl Fields {
    pub(super) fn new(event: EventName, object: Object) -> Self {
        let mut fields = Self { event, object, warnings: Vec::new() };
        fields.warn_of_strangers();
        fields
    }

    /// Fields that nobody knows are no one's concern, unless there is nothing else: then the answer was probably meant to
    /// say something, and a name is misspelt.
    fn warn_of_strangers(&mut self) {
        let known = |key: &String| ALL.iter().any(|field| field.spellings.contains(&key.as_str()));
        if self.object.is_empty() || self.object.keys().any(known) {
            return;
        }
        let usable = ALL.iter().filter(|field| self.means_something(field));
        let names: Vec<&str> = usable.map(|field| field.spellings[0]).collect();
        self.warn(format!("no field of its answer is known; known are {}", names.join(", ")));
    }

    /// What the field holds, if it is given, means something at this event, and holds what it must.
    pub(super) fn read<T: DeserializeOwned>(&mut self, field: &Field) -> Option<T> {
        let (spelling, value) = self.take(field)?;
        if !self.means_something(field) {
            self.warn(format!("\"{spelling}\" means nothing at {}; it is ignored", self.event));
            return None;
        }
        let read = serde_json::from_value(value).ok();
        if read.is_none() {
            self.warn(format!("\"{spelling}\" must be {}; it is ignored", field.holds));
        }
        read
    }

    /// The first spelling that is given. `null` is as good as nothing (R24).
    fn take(&mut self, field: &Field) -> Option<(&'static str, Value)> {
        let given = |spelling: &&str| self.object.get(*spelling).is_some_and(|v| !v.is_null());
        let spelling = field.spellings.iter().copied().find(given)?;
        Some((spelling, self.object.remove(spelling)?))
    }

    fn means_something(&self, field: &Field) -> bool {
        field.power.is_none_or(|power| self.event.may(power))
    }

    pub(super) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    pub(super) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }
}
