//! The form of one journal line. Fields, kinds and decisions may be added; a changed meaning needs a new [`VERSION`]. Every
//! version writes the fields of [`Record`] itself and `kind`, so that every version can show them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tenter_base::rfc3339;
use tenter_protocol::{EventName, Object, Scope, ToolCall};

use crate::observe::{
    AskAnswer, CallPermission, Decision, DecisionKind, DecisionRecord, HookRun, Notice,
    PermissionSource, RunRecord,
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

/// A hook's `ask` was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// The hook that asked.
    pub hook: String,
    /// The reason why it asked.
    pub reason: String,
    /// The answer in the words that users are shown: `yes`, `always`, `no` or `nobody to ask`.
    pub answer: String,
    /// True if the call may run.
    pub allowed: bool,
    /// True if the answer was given earlier in the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
}

/// It was decided whether a call that needs the user's permission may run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRecord {
    /// The permission mode: `ask` or `edits`.
    pub mode: String,
    /// The source of the decision: `mode`, `rule` or `user`.
    pub by: String,
    /// True if the call may run.
    pub allowed: bool,
    /// The user's answer in the words that users are shown: `yes`, `always`, `no` or `nobody to ask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// True if the answer was given earlier in the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
    /// The rules that allow the call, or that the user added with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The reason why the user did not allow it, if they said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl PermissionRecord {
    /// Creates the record of a decision in this mode.
    pub fn new(mode: &str, source: &PermissionSource) -> Self {
        let mut record = Self {
            mode: mode.to_owned(),
            by: source.as_str().to_owned(),
            allowed: source.allows(),
            ..Self::default()
        };
        match source {
            PermissionSource::Mode => {}
            PermissionSource::Rules(rules) => record.rules.clone_from(rules),
            PermissionSource::User { answer, remembered, added, reason } => {
                record.answer = Some(answer.as_str().to_owned());
                record.remembered = *remembered;
                record.rules.clone_from(added);
                record.reason.clone_from(reason);
            }
        }
        record
    }
}

/// The user must know something that no hook said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeRecord {
    /// The hook that says it; none if the engine does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// The text.
    pub text: String,
}

/// The fields that all records have.
struct Envelope<'o> {
    time: Timestamp,
    scope: &'o Scope,
    event: EventName,
    tool_call: Option<&'o ToolCall>,
}

impl Envelope<'_> {
    fn around(self, kind: RecordKind) -> Record {
        Record {
            v: VERSION,
            time: rfc3339(self.time),
            conversation_id: self.scope.conversation_id.clone(),
            parent_conversation_id: self.scope.parent_conversation_id.clone(),
            project: None,
            host: self.scope.host.as_ref().map(|host| host.name.clone()),
            event: self.event.as_str().to_owned(),
            tool_call_id: self.tool_call.map(|call| call.id.clone()),
            tool_name: self.tool_call.map(|call| call.name.clone()),
            tool_input: self.tool_call.map(|call| call.input.clone()),
            kind,
        }
    }
}

impl From<&Notice> for Record {
    fn from(notice: &Notice) -> Self {
        let Notice { scope, event, time, hook, text } = notice;
        let kind = RecordKind::Notice(NoticeRecord { hook: hook.clone(), text: text.clone() });
        Envelope { time: *time, scope, event: *event, tool_call: None }.around(kind)
    }
}

impl From<&CallPermission> for Record {
    fn from(decided: &CallPermission) -> Self {
        let CallPermission { scope, tool_call, time, mode, source } = decided;
        let kind = RecordKind::Permission(PermissionRecord::new(mode, source));
        let event = EventName::BeforeTool;
        Envelope { time: *time, scope, event, tool_call: Some(tool_call) }.around(kind)
    }
}

impl From<&HookRun> for Record {
    fn from(run: &HookRun) -> Self {
        let HookRun { scope, event, tool_call, started, record } = run;
        let kind = RecordKind::Run(Box::new(record.clone()));
        Envelope { time: *started, scope, event: *event, tool_call: tool_call.as_ref() }
            .around(kind)
    }
}

impl From<&Decision> for Record {
    fn from(decision: &Decision) -> Self {
        let Decision { scope, event, tool_call, time, record } = decision;
        let kind = RecordKind::Decision(record.clone());
        Envelope { time: *time, scope, event: *event, tool_call: tool_call.as_ref() }.around(kind)
    }
}

impl From<&AskAnswer> for Record {
    fn from(answer: &AskAnswer) -> Self {
        let AskAnswer { scope, event, tool_call, time, hook, reason, answer, remembered } = answer;
        let kind = RecordKind::Answer(AnswerRecord {
            hook: hook.clone(),
            reason: reason.clone(),
            answer: answer.as_str().to_owned(),
            allowed: answer.allows(),
            remembered: *remembered,
        });
        Envelope { time: *time, scope, event: *event, tool_call: Some(tool_call) }.around(kind)
    }
}
