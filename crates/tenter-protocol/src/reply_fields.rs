//! The fields of an answer: their spellings, what each must hold, and at which events it does anything.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::lifecycle::Power;
use crate::reply::{ParsedReply, ReplyError};
use crate::suggest::nearest;
use crate::{EventName, Object, Reply, Verdict};

/// Maximum number of unknown fields that are named.
const MAX_NAMED: usize = 5;
/// Characters of an unknown field's name that are shown.
const SHOWN_CHARACTERS: usize = 60;

/// A field that an answer may have.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its spellings; the first one given counts.
    spellings: &'static [&'static str],
    /// What it must hold, with its article.
    holds: &'static str,
    /// What an event must allow for the field to do anything; `None` where it always does.
    power: Option<Power>,
    /// Whether it asks for a change: one that cannot be read is a failed run, not a lost field (R61).
    is_change: bool,
}

const fn field(
    spellings: &'static [&'static str],
    holds: &'static str,
    power: Option<Power>,
) -> Field {
    Field { spellings, holds, power, is_change: false }
}

const fn change(
    spellings: &'static [&'static str],
    holds: &'static str,
    power: Option<Power>,
) -> Field {
    Field { spellings, holds, power, is_change: true }
}

const STRING: &str = "a string";
const OBJECT: &str = "an object";
const BOOLEAN: &str = "true or false";

// Fields of both protocols.
pub(crate) static RESULT: Field = field(&["result"], STRING, Some(Power::Mutate));
pub(crate) static MESSAGES: Field =
    change(&["messages"], "a list of messages with \"role\" and \"content\"", Some(Power::Mutate));
pub(crate) static CALLBACK: Field = field(&["callback"], STRING, Some(Power::Callback));
pub(crate) static CALLBACK_ARGS: Field =
    field(&["callback_args", "callbackArgs"], "an object of strings", Some(Power::Callback));
pub(crate) static FOLLOW_UPS: Field =
    field(&["follow_up_messages", "followUpMessages"], "a list of strings", Some(Power::Continue));
pub(crate) static CONTEXT: Field =
    field(&["additional_context", "additionalContext", "context"], STRING, Some(Power::AddContext));

// Fields of executables.
pub(crate) static BLOCKED: Field = field(&["blocked"], BOOLEAN, Some(Power::Block));
pub(crate) static BLOCK_REASON: Field = field(&["reason"], STRING, Some(Power::Block));
pub(crate) static TOOL_INPUT: Field = change(&["input"], OBJECT, Some(Power::RewriteInput));
pub(crate) static TOOL_OUTPUT: Field = change(&["output"], OBJECT, Some(Power::RewriteOutput));
pub(crate) static USER_MESSAGE: Field = change(&["message"], STRING, Some(Power::RewriteMessage));

// Fields of manifest hooks.
pub(crate) static DECISION: Field = field(&["decision"], STRING, None);
pub(crate) static REASON: Field = field(&["reason", "message"], STRING, None);
pub(crate) static LOG: Field = field(&["log"], STRING, None);
pub(crate) static MODIFIED_INPUT: Field = change(
    &["modified_input", "modifiedInput", "updated_input", "updatedInput"],
    OBJECT,
    Some(Power::RewriteInput),
);
pub(crate) static MODIFIED_OUTPUT: Field = change(
    &["modified_output", "modifiedOutput", "updated_output", "updatedOutput"],
    OBJECT,
    Some(Power::RewriteOutput),
);
pub(crate) static MODIFIED_PROMPT: Field = change(
    &["modified_prompt", "modifiedPrompt", "updated_prompt", "updatedPrompt"],
    STRING,
    Some(Power::RewriteMessage),
);

// Fields of answers in Claude Code's form (see `manifest::reply::claude_code`).
pub(crate) static HOOK_SPECIFIC: Field = change(&["hookSpecificOutput"], OBJECT, None);
pub(crate) static CONTINUE: Field = field(&["continue"], BOOLEAN, None);
pub(crate) static STOP_REASON: Field = field(&["stopReason"], STRING, None);
pub(crate) static SYSTEM_MESSAGE: Field = field(&["systemMessage"], STRING, None);
pub(crate) static SUPPRESS_OUTPUT: Field = field(&["suppressOutput"], BOOLEAN, None);
pub(crate) static HOOK_EVENT_NAME: Field = field(&["hookEventName"], STRING, None);
pub(crate) static PERMISSION_DECISION: Field =
    field(&["permissionDecision"], STRING, Some(Power::Ask));
pub(crate) static PERMISSION_REASON: Field =
    field(&["permissionDecisionReason"], STRING, Some(Power::Ask));
pub(crate) static UPDATED_INPUT: Field =
    change(&["updatedInput"], OBJECT, Some(Power::RewriteInput));
pub(crate) static UPDATED_OUTPUT: Field = change(
    &["updatedToolOutput", "updatedMCPToolOutput"],
    "a tool's output",
    Some(Power::RewriteOutput),
);

/// The fields of an executable's answer.
pub(crate) static EXECUTABLE: [&Field; 11] = [
    &BLOCKED,
    &BLOCK_REASON,
    &TOOL_INPUT,
    &TOOL_OUTPUT,
    &USER_MESSAGE,
    &CONTEXT,
    &RESULT,
    &MESSAGES,
    &CALLBACK,
    &CALLBACK_ARGS,
    &FOLLOW_UPS,
];

/// The fields of a manifest hook's answer.
pub(crate) static MANIFEST: [&Field; 12] = [
    &DECISION,
    &REASON,
    &LOG,
    &CONTEXT,
    &MODIFIED_INPUT,
    &MODIFIED_OUTPUT,
    &MODIFIED_PROMPT,
    &RESULT,
    &MESSAGES,
    &CALLBACK,
    &CALLBACK_ARGS,
    &FOLLOW_UPS,
];

/// What an answer in Claude Code's form has beside `hookSpecificOutput`; the fields of [`MANIFEST`] are read as well.
pub(crate) static CLAUDE_CODE: [&Field; 17] = [
    &HOOK_SPECIFIC,
    &CONTINUE,
    &STOP_REASON,
    &SYSTEM_MESSAGE,
    &SUPPRESS_OUTPUT,
    &DECISION,
    &REASON,
    &LOG,
    &CONTEXT,
    &MODIFIED_INPUT,
    &MODIFIED_OUTPUT,
    &MODIFIED_PROMPT,
    &RESULT,
    &MESSAGES,
    &CALLBACK,
    &CALLBACK_ARGS,
    &FOLLOW_UPS,
];

/// What `hookSpecificOutput` holds.
pub(crate) static HOOK_SPECIFIC_FIELDS: [&Field; 8] = [
    &HOOK_EVENT_NAME,
    &PERMISSION_DECISION,
    &PERMISSION_REASON,
    &UPDATED_INPUT,
    &UPDATED_OUTPUT,
    &CONTEXT,
    &DECISION,
    &REASON,
];

/// Words of one protocol, or of another agent, in an answer of the other: what was meant.
const FOREIGN: [(&str, &str); 11] = [
    ("blocked", "decision"),
    ("block", "decision"),
    ("deny", "decision"),
    ("permissionDecision", "decision"),
    ("continue", "decision"),
    ("decision", "blocked"),
    ("input", "modified_input"),
    ("output", "modified_output"),
    ("prompt", "modified_prompt"),
    ("modified_input", "input"),
    ("modified_output", "output"),
];

/// An answer's object while it is read, and what is wrong with it.
pub(crate) struct Fields {
    event: EventName,
    object: Object,
    warnings: Vec<String>,
    defects: Vec<String>,
    /// Changes that cannot be made.
    failures: Vec<String>,
}

impl Fields {
    /// The fields of `object`, of which those of `table` are known.
    pub(crate) fn new(event: EventName, object: Object, table: &[&Field]) -> Self {
        let mut fields =
            Self { event, object, warnings: Vec::new(), defects: Vec::new(), failures: Vec::new() };
        fields.report_unknown(table);
        fields
    }

    /// An unknown field does nothing. Where it was probably meant as a known one, or where there is no other, the answer was
    /// meant to say something that is lost.
    fn report_unknown(&mut self, table: &[&Field]) {
        let is_known = |key: &str| table.iter().any(|field| field.spellings.contains(&key));
        let unknown: Vec<String> =
            self.object.keys().filter(|key| !is_known(key)).cloned().collect();
        let has_known = unknown.len() < self.object.len();
        let usable: Vec<&str> = table
            .iter()
            .filter(|field| self.does_something(field))
            .map(|field| field.spellings[0])
            .collect();
        let mut is_meant = false;
        for key in unknown.iter().take(MAX_NAMED) {
            let name: String = key.chars().take(SHOWN_CHARACTERS).collect();
            match meant(key, &usable) {
                Some(known) => {
                    is_meant = true;
                    self.defect(format!(
                        "its answer has no field {name:?}; did you mean {known:?}?"
                    ));
                }
                None if has_known => {
                    self.warn(format!("its answer has no field {name:?}; it is ignored"));
                }
                None => {}
            }
        }
        if !has_known && !is_meant && !unknown.is_empty() {
            self.defect(format!(
                "no field of its answer is known; known are {}",
                usable.join(", ")
            ));
        }
    }

    /// What the field holds, if it is given, does something at this event, and holds what it must.
    pub(crate) fn read<T: DeserializeOwned>(&mut self, field: &Field) -> Option<T> {
        let (spelling, value) = self.take(field)?;
        if !self.does_something(field) {
            let what = format!("\"{spelling}\" means nothing at {}", self.event);
            if field.is_change {
                self.defect(what);
            } else {
                self.warn(format!("{what}; it is ignored"));
            }
            return None;
        }
        let read = serde_json::from_value(value).ok();
        if read.is_none() {
            let what = format!("\"{spelling}\" must be {}", field.holds);
            if field.is_change { self.fail(what) } else { self.defect(what) }
        }
        read
    }

    /// The first spelling that is given. `null` is as good as nothing (R24).
    fn take(&mut self, field: &Field) -> Option<(&'static str, Value)> {
        let given = |spelling: &&str| self.object.get(*spelling).is_some_and(|v| !v.is_null());
        let spelling = field.spellings.iter().copied().find(given)?;
        Some((spelling, self.object.remove(spelling)?))
    }

    fn does_something(&self, field: &Field) -> bool {
        field.power.is_none_or(|power| self.event.may(power))
    }

    /// Reports what has no effect.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Reports what was meant to have an effect and cannot be used.
    pub(crate) fn defect(&mut self, defect: String) {
        self.defects.push(defect);
    }

    /// Reports a change that cannot be made.
    pub(crate) fn fail(&mut self, failure: String) {
        self.failures.push(failure);
    }

    /// Takes over what was found in an object inside of this one.
    pub(crate) fn absorb(&mut self, inner: Self) {
        self.warnings.extend(inner.warnings);
        self.defects.extend(inner.defects);
        self.failures.extend(inner.failures);
    }

    /// The whole answer.
    ///
    /// # Errors
    /// A change that cannot be made, unless the reply keeps the thing from happening: that stands, whatever else is wrong.
    pub(crate) fn finish(mut self, reply: Reply) -> Result<ParsedReply, ReplyError> {
        let denies = reply.verdict.as_ref().is_some_and(Verdict::is_deny);
        let stands = denies && self.event.is_deniable();
        if !self.failures.is_empty() && !stands {
            return Err(ReplyError::Change(self.failures.join("; ")));
        }
        self.defects.extend(self.failures);
        Ok(ParsedReply { reply, warnings: self.warnings, defects: self.defects, text: None })
    }
}

/// The known field that an unknown one was probably meant to be.
fn meant(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let foreign = FOREIGN.iter().find(|(word, meant)| *word == key && known.contains(meant));
    foreign.map(|(_, meant)| *meant).or_else(|| nearest(key, known))
}
