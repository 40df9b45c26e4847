//! The form of one journal line. Fields, kinds and decisions may be added; a changed meaning needs a new [`VERSION`]. Every
//! version writes the fields of [`Record`] itself and `kind`, so that every version can show them.

use serde::{Deserialize, Serialize};
use tenter_base::rfc3339;
use tenter_protocol::Object;

use super::redact::Redactor;
use crate::observe::{
    AnswerRecord, DecisionKind, DecisionRecord, NoticeRecord, Observation, PermissionRecord,
    RunRecord,
};

/// The version that this code writes. A line of a newer version is shown as far as it can be read.
pub(super) const VERSION: u32 = 1;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the format.
    pub v: u32,
    /// RFC 3339 in UTC: when the run started, when the decision was made, when the answer was given.
    pub time: String,
    /// The conversation that the event is of.
    pub conversation_id: String,
    /// The conversation that started the subagent, if the event is a subagent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_conversation_id: Option<String>,
    /// The project's root, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The agent that the event is of, such as `claude-code`; `None` for Tenter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The event's canonical name.
    pub event: String,
    /// The id of the event's tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The tool of that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The call's input with secrets masked and long text cut: as the hook read it, or as the hooks left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Object>,
    /// The subject of the record.
    #[serde(flatten)]
    pub kind: RecordKind,
}

impl Record {
    /// Returns whether a newer version wrote it, so that this version may not understand all of it.
    pub fn is_newer(&self) -> bool {
        self.v > VERSION
    }
}

/// The subject of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum RecordKind {
    /// A hook was run.
    Run(Box<RunRecord>),
    /// The hooks of an event have decided.
    Decision(DecisionRecord),
    /// A hook's `ask` was answered.
    Answer(AnswerRecord),
    /// It was decided whether a call has the user's permission.
    Permission(PermissionRecord),
    /// The user must know something.
    Notice(NoticeRecord),
    /// A kind or a form that this version does not know: all its fields, including `kind`.
    #[serde(untagged)]
    Other(Object),
}

impl RecordKind {
    /// Returns the hooks that the record names.
    pub fn hooks(&self) -> impl Iterator<Item = &str> {
        let (hook, overruled) = match self {
            Self::Run(run) => (Some(run.hook.as_str()), &[][..]),
            Self::Decision(decision) => (decision.by.as_deref(), decision.overruled.as_slice()),
            Self::Answer(answer) => (Some(answer.hook.as_str()), &[][..]),
            Self::Permission(_) => (None, &[][..]),
            Self::Notice(notice) => (notice.hook.as_deref(), &[][..]),
            Self::Other(fields) => (fields.get("hook").and_then(|name| name.as_str()), &[][..]),
        };
        hook.into_iter().chain(overruled.iter().map(String::as_str))
    }

    /// Returns whether `kind` is a part of the decision.
    pub fn decided(&self, kind: DecisionKind) -> bool {
        match self {
            Self::Run(run) => run.decision == kind || run.also.contains(&kind),
            Self::Decision(decision) => decision.decision == kind || decision.also.contains(&kind),
            Self::Answer(_) => kind == DecisionKind::Ask,
            Self::Permission(_) | Self::Notice(_) => false,
            Self::Other(fields) => {
                fields.get("decision").and_then(|word| word.as_str()) == Some(kind.as_str())
            }
        }
    }
}

/// The record of an observation.
pub trait JournalRecord: Clone {
    /// Masks the secrets in the record, and cuts it to its maximum size.
    fn mask(&mut self, redactor: &Redactor);

    /// Returns the record as the subject of a journal line.
    fn into_kind(self) -> RecordKind;
}

impl<R: JournalRecord> From<Observation<R>> for Record {
    fn from(observation: Observation<R>) -> Self {
        let Observation { scope, event, tool_call, time, record } = observation;
        let (tool_call_id, tool_name, tool_input) = match tool_call {
            Some(call) => (Some(call.id), Some(call.name), Some(call.input)),
            None => (None, None, None),
        };
        Self {
            v: VERSION,
            time: rfc3339(time),
            conversation_id: scope.conversation_id.clone(),
            parent_conversation_id: scope.parent_conversation_id.clone(),
            project: None,
            host: scope.host.as_ref().map(|host| host.name.clone()),
            event: event.as_str().to_owned(),
            tool_call_id,
            tool_name,
            tool_input,
            kind: record.into_kind(),
        }
    }
}
