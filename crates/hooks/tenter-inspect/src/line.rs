//! The fields of a journal line that figures and listings need. Everything else is skipped without being stored, which is several
//! times faster than to read whole records.

use std::borrow::Cow;

use serde::Deserialize;
use tenter_engine::journal::Record;
use tenter_engine::{DecisionKind, PermissionAnswer};

use crate::figures::AnswerKind;

/// The host of records that name none.
pub(crate) const TENTER: &str = "tenter";

/// A journal line. Fields that it does not have are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Line<'l> {
    #[serde(borrow)]
    pub(crate) time: Cow<'l, str>,
    #[serde(borrow)]
    pub(crate) project: Cow<'l, str>,
    #[serde(borrow)]
    pub(crate) host: Cow<'l, str>,
    #[serde(borrow)]
    pub(crate) tool_name: Cow<'l, str>,
    #[serde(borrow)]
    pub(crate) kind: Cow<'l, str>,
    #[serde(borrow)]
    pub(crate) hook: Cow<'l, str>,
    #[serde(borrow)]
    pub(crate) hash: Cow<'l, str>,
    pub(crate) duration_ms: u64,
    #[serde(borrow)]
    pub(crate) exit: Cow<'l, str>,
    #[serde(borrow)]
    decision: Cow<'l, str>,
    #[serde(borrow)]
    would: Cow<'l, str>,
    #[serde(rename = "async")]
    pub(crate) asynchronous: bool,
    #[serde(borrow)]
    pub(crate) rule: Option<LineRule<'l>>,
    #[serde(borrow)]
    answer: Cow<'l, str>,
    allowed: bool,
}

/// The rule that a call fits.
#[derive(Debug, Deserialize)]
pub(crate) struct LineRule<'l> {
    #[serde(borrow)]
    pub(crate) name: Cow<'l, str>,
}

impl<'l> Line<'l> {
    /// Reads a line, as far as it can be read; `None` if it is no record. A newer version may have written it.
    pub(crate) fn read(bytes: &'l [u8]) -> Option<Self> {
        let line = serde_json::from_slice::<Self>(bytes).ok().filter(|line| !line.time.is_empty());
        line.or_else(|| Self::read_newer(bytes))
    }

    /// Returns a line whose fields changed their types: what all versions write.
    fn read_newer(bytes: &[u8]) -> Option<Self> {
        let record: Record = serde_json::from_slice(bytes).ok()?;
        Some(Self {
            time: record.time.into(),
            project: record.project.unwrap_or_default().into(),
            host: record.host.unwrap_or_default().into(),
            ..Self::default()
        })
    }

    /// Returns the agent that the record is of.
    pub(crate) fn host(&self) -> &str {
        if self.host.is_empty() { TENTER } else { &self.host }
    }

    /// Returns true if a hook was run.
    pub(crate) fn is_run(&self) -> bool {
        self.kind == "run"
    }

    /// Returns true if it is the joint decision of the hooks of an event.
    pub(crate) fn is_decision(&self) -> bool {
        self.kind == "decision"
    }

    /// Returns the answer to the question of a hook, if it is one.
    pub(crate) fn answer(&self) -> Option<AnswerKind> {
        let is_unattended = self.answer == PermissionAnswer::Unattended { allowed: false }.as_str();
        (self.kind == "answer").then_some(match self.allowed {
            _ if is_unattended => AnswerKind::Unattended,
            true => AnswerKind::Yes,
            false => AnswerKind::No,
        })
    }

    /// Returns true if it is a run in monitor mode that would have stopped the event.
    pub(crate) fn would_stop(&self) -> bool {
        matches!(&*self.would, "deny" | "ask")
    }

    /// Returns the decision; `None` if there is none, or if only a newer version knows it.
    pub(crate) fn decision(&self) -> Option<DecisionKind> {
        DecisionKind::ALL.into_iter().find(|kind| kind.as_str() == self.decision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_far_as_possible() {
        let run = br#"{"v":1,"time":"t","conversation_id":"c","event":"e","kind":"run","hook":"a\"b","duration_ms":7,"exit":"timed out","decision":"deny","new":{"x":[1]}}"#;
        let line = Line::read(run).unwrap();
        assert!(line.is_run());
        assert_eq!((&*line.hook, line.duration_ms, line.host()), ("a\"b", 7, "tenter"));
        assert_eq!(line.decision(), Some(DecisionKind::Deny));
        let answer =
            br#"{"time":"t","kind":"answer","hook":"a","answer":"nobody to ask","allowed":false}"#;
        assert_eq!(Line::read(answer).unwrap().answer(), Some(AnswerKind::Unattended));
        let answer = br#"{"time":"t","kind":"answer","hook":"a","answer":"yes","allowed":true}"#;
        assert_eq!(Line::read(answer).unwrap().answer(), Some(AnswerKind::Yes));
        let newer = br#"{"v":9,"time":"t","conversation_id":"c","event":"e","kind":"run","hook":["a"],"host":"pi"}"#;
        let line = Line::read(newer).unwrap();
        assert_eq!((line.host(), line.is_run(), line.decision()), ("pi", false, None));
        for line in ["", "{", "null", "[1]", "{}", r#"{"time":7}"#, "\u{feff}{"] {
            assert!(Line::read(line.as_bytes()).is_none(), "{line}");
        }
    }
}
