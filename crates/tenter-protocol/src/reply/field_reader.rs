//! Reads the fields of a reply's object, and reports the fields that are unknown or cannot be used.

use serde::de::DeserializeOwned;
use serde_json::Value;
use tenter_base::{excerpt, nearest};

use super::{ParsedReply, ReplyError};
use crate::reply_fields::ReplyField;
use crate::{EventName, Object, Reply, Verdict};

/// Maximum number of unknown fields that are named.
const MAX_NAMED: usize = 5;
/// Characters of an unknown field's name that are shown.
const SHOWN_CHARACTERS: usize = 60;

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

/// A reply's object while it is read, and what is wrong with it.
pub(crate) struct FieldReader {
    event: EventName,
    object: Object,
    warnings: Vec<String>,
    defects: Vec<String>,
    /// Changes that cannot be made.
    failures: Vec<String>,
}

impl FieldReader {
    /// The fields of `object`, of which those of `table` are known.
    pub(crate) fn new(event: EventName, object: Object, table: &[&ReplyField]) -> Self {
        let mut fields =
            Self { event, object, warnings: Vec::new(), defects: Vec::new(), failures: Vec::new() };
        fields.report_unknown(table);
        fields
    }

    /// An unknown field does nothing. Where it was probably meant as a known one, or where there is no other, the answer was
    /// meant to say something that is lost.
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
            let name = excerpt::chars(key, SHOWN_CHARACTERS);
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
    pub(crate) fn read<T: DeserializeOwned>(&mut self, field: &ReplyField) -> Option<T> {
        let (spelling, value) = self.take(field)?;
        if !field.applies_at(self.event) {
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
            let what = format!("\"{spelling}\" must be {}", field.kind.phrase());
            if field.is_change { self.fail(what) } else { self.defect(what) }
        }
        read
    }

    /// The first spelling that is given. `null` is as good as nothing (R24).
    fn take(&mut self, field: &ReplyField) -> Option<(&'static str, Value)> {
        let given = |spelling: &&str| self.object.get(*spelling).is_some_and(|v| !v.is_null());
        let spelling = field.spellings.iter().copied().find(given)?;
        Some((spelling, self.object.remove(spelling)?))
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
    foreign.map(|(_, meant)| *meant).or_else(|| nearest(key, known.iter().copied()))
}
