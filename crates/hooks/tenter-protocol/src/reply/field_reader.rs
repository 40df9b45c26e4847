//! Reads the fields of a reply's object, and reports the fields that are unknown or cannot be used.

use serde::de::DeserializeOwned;
use serde_json::Value;
use tenter_base::{excerpt, nearest};

use super::stdout::ReplyObject;
use super::{ParsedReply, ReplyError};
use crate::reply_fields::ReplyField;
use crate::{EventName, Object, Reply, Verdict};

/// Maximum number of unknown fields that are named.
const MAX_NAMED: usize = 5;
/// Maximum number of characters of an unknown field's name in a message.
const MAX_NAME_LENGTH: usize = 60;

/// Fields of the other protocol or of another agent, and the field that was meant.
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

/// The object of a reply while it is read, and what is wrong with it.
pub(crate) struct FieldReader {
    event: EventName,
    object: Object,
    warnings: Vec<String>,
    defects: Vec<String>,
    /// Changes that cannot be applied.
    failures: Vec<String>,
}

impl FieldReader {
    /// Reads `object`; fields that are not in `table` are reported.
    pub(crate) fn new(event: EventName, object: Object, table: &[&ReplyField]) -> Self {
        let mut fields =
            Self { event, object, warnings: Vec::new(), defects: Vec::new(), failures: Vec::new() };
        fields.report_unknown(table);
        fields
    }

    /// Reads the object of a whole reply. One with a repeated key fails, unless it denies (R82).
    pub(crate) fn for_reply(event: EventName, reply: ReplyObject, table: &[&ReplyField]) -> Self {
        let mut fields = Self::new(event, reply.object, table);
        if let Some(key) = reply.repeated_key {
            let name = excerpt::chars(&key, MAX_NAME_LENGTH);
            fields.fail(format!("its reply has the field {name:?} more than once"));
        }
        fields
    }

    /// Reports unknown fields. One that probably misspells a known field, or that is the only one, is a defect: it was meant to
    /// have an effect.
    fn report_unknown(&mut self, table: &[&ReplyField]) {
        let is_known = |key: &str| table.iter().any(|field| field.spellings.contains(&key));
        let unknown: Vec<String> =
            self.object.keys().filter(|key| !is_known(key)).cloned().collect();
        let has_known = unknown.len() < self.object.len();
        let usable: Vec<&str> = table
            .iter()
            .filter(|field| field.applies_at(self.event))
            .map(|field| field.spellings[0])
            .collect();
        let mut is_meant = false;
        for key in unknown.iter().take(MAX_NAMED) {
            let name = excerpt::chars(key, MAX_NAME_LENGTH);
            match meant(key, &usable) {
                Some(own_field) => {
                    is_meant = true;
                    self.defect(format!(
                        "its reply has no field {name:?}; did you mean {own_field:?}?"
                    ));
                }
                None if has_known => {
                    self.warn(format!("its reply has no field {name:?}; it is ignored"));
                }
                None => {}
            }
        }
        if !has_known && !is_meant && !unknown.is_empty() {
            self.defect(format!("its reply has no known field; it may have {}", usable.join(", ")));
        }
    }

    /// Returns the value of a field. `None` if it is missing, has no effect at the event, or has the wrong type; the latter two
    /// are reported.
    pub(crate) fn read<T: DeserializeOwned>(&mut self, field: &ReplyField) -> Option<T> {
        let (spelling, value) = self.take(field)?;
        if !field.applies_at(self.event) {
            let what = format!("\"{spelling}\" has no effect at {}", self.event);
            if field.is_change {
                self.defect(what);
            } else {
                self.warn(format!("{what}; it is ignored"));
            }
            return None;
        }
        let result = serde_json::from_value(value).ok();
        if result.is_none() {
            let what = format!("\"{spelling}\" must be {}", field.kind.phrase());
            if field.is_change { self.fail(what) } else { self.defect(what) }
        }
        result
    }

    /// Returns the first spelling with a value. `null` counts as missing (R24).
    fn take(&mut self, field: &ReplyField) -> Option<(&'static str, Value)> {
        let has_value = |spelling: &&str| self.object.get(*spelling).is_some_and(|v| !v.is_null());
        let spelling = field.spellings.iter().copied().find(has_value)?;
        Some((spelling, self.object.remove(spelling)?))
    }

    /// Reports something without effect.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Reports something that was meant to have an effect and cannot be used.
    pub(crate) fn defect(&mut self, defect: String) {
        self.defects.push(defect);
    }

    /// Reports a change that cannot be applied.
    pub(crate) fn fail(&mut self, failure: String) {
        self.failures.push(failure);
    }

    /// Adds the reports about an inner object.
    pub(crate) fn absorb(&mut self, inner: Self) {
        self.warnings.extend(inner.warnings);
        self.defects.extend(inner.defects);
        self.failures.extend(inner.failures);
    }

    /// Returns the whole reply.
    ///
    /// # Errors
    /// A change cannot be applied, unless the reply denies the operation: a deny counts whatever else is wrong.
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

/// Returns the known field that an unknown one probably means.
fn meant(key: &str, fields: &[&'static str]) -> Option<&'static str> {
    let foreign = FOREIGN.iter().find(|(word, field)| *word == key && fields.contains(field));
    foreign.map(|(_, field)| *field).or_else(|| nearest(key, fields.iter().copied()))
}
