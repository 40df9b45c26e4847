//! The file format of scripts: `docs/scripted-models.md`. Unknown keys are errors.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tenter_protocol::event::TurnUsage;
use tenter_protocol::{Block, Object, ToolCall};

use crate::model::{ModelError, ResponseBlock, StopCause, TransientCause, read_arguments};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelScript {
    pub(super) turns: Vec<ScriptTurn>,
    /// Responses for side recipes, by recipe name.
    #[serde(default)]
    pub(super) recipes: BTreeMap<String, Vec<SideTurn>>,
    /// Responses to requests of hooks, in order.
    #[serde(default)]
    pub(super) completions: Vec<SideTurn>,
    pub(super) context_window: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptTurn {
    pub(super) text: Option<String>,
    pub(super) reasoning: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Vec<ScriptCall>,
    pub(super) usage: Option<ScriptUsage>,
    pub(super) cost_usd: Option<f64>,
    pub(super) stop: Option<TurnStop>,
    #[serde(default)]
    pub(super) expect: ScriptExpectation,
    pub(super) fault: Option<ScriptFault>,
    /// The pause between two words of the text, in milliseconds.
    #[serde(default)]
    pub(super) pace_ms: u64,
}

/// A turn of a side recipe or a completion; a turn that is only text may be written as a string.
#[derive(Debug)]
pub(super) struct SideTurn(pub(super) ScriptTurn);

impl<'de> Deserialize<'de> for SideTurn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SideTurnVisitor)
    }
}

struct SideTurnVisitor;

impl<'de> Visitor<'de> for SideTurnVisitor {
    type Value = SideTurn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a turn")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SideTurn, E> {
        Ok(SideTurn(ScriptTurn { text: Some(text.to_owned()), ..ScriptTurn::default() }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SideTurn, A::Error> {
        ScriptTurn::deserialize(MapAccessDeserializer::new(map)).map(SideTurn)
    }
}

impl ScriptTurn {
    /// Returns whether the turn has any content.
    pub(super) fn has_content(&self) -> bool {
        self.text.is_some() || self.reasoning.is_some() || !self.tool_calls.is_empty()
    }

    /// Returns the number of failures before it succeeds.
    pub(super) fn failures(&self) -> u32 {
        self.failure().map_or(0, |failure| failure.times)
    }

    /// Returns the failure of an attempt.
    pub(super) fn failure(&self) -> Option<&ScriptFailure> {
        self.fault.as_ref()?.failure.as_ref()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptCall {
    name: String,
    id: Option<String>,
    /// An object, or a string with the arguments as a model wrote them, valid JSON or not.
    #[serde(default)]
    input: Value,
}

impl ScriptCall {
    /// Returns the tool call, as number `index` of turn number `turn`.
    pub(super) fn block(&self, turn: usize, index: usize) -> ResponseBlock {
        let id = self.id.clone().unwrap_or_else(|| format!("call-{turn}-{index}"));
        let input = match &self.input {
            Value::Object(object) => Ok(object.clone()),
            Value::Null => Ok(Object::new()),
            Value::String(arguments) => read_arguments(arguments),
            other => read_arguments(&other.to_string()),
        };
        let name = self.name.clone();
        match input {
            Ok(input) => ResponseBlock::Content(Block::ToolUse(ToolCall { id, name, input })),
            Err(error) => ResponseBlock::Malformed { id, name, error },
        }
    }
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_field_names, reason = "they are the file's keys")]
pub(super) struct ScriptUsage {
    input_tokens: u64,
    output_tokens: u64,
    cached_input_tokens: u64,
    cache_write_tokens: u64,
}

impl From<ScriptUsage> for TurnUsage {
    fn from(figures: ScriptUsage) -> Self {
        Self {
            input_tokens: figures.input_tokens,
            output_tokens: figures.output_tokens,
            cached_input_tokens: figures.cached_input_tokens,
            cache_write_tokens: figures.cache_write_tokens,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TurnStop {
    Length,
    Filtered,
}

impl From<TurnStop> for StopCause {
    fn from(stop: TurnStop) -> Self {
        match stop {
            TurnStop::Length => Self::Length,
            TurnStop::Filtered => Self::Filtered,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptExpectation {
    #[serde(default)]
    pub(super) contains: Vec<String>,
    #[serde(default)]
    pub(super) lacks: Vec<String>,
}

/// A fault of a turn.
#[derive(Debug, Deserialize)]
#[serde(try_from = "FaultKeys")]
pub(super) struct ScriptFault {
    /// The delay before anything happens.
    pub(super) delay: Duration,
    /// The kind of failure; without it, the turn is only delayed.
    pub(super) failure: Option<ScriptFailure>,
}

#[derive(Debug)]
pub(super) struct ScriptFailure {
    kind: FaultKind,
    message: String,
    retry_after: Option<Duration>,
    /// The number of failures in a row.
    times: u32,
}

impl ScriptFailure {
    /// Returns whether the beginning of the text is streamed before the failure.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self.kind, FaultKind::Cut)
    }

    pub(super) fn error(&self) -> ModelError {
        let message = self.message.clone();
        match self.kind.cause() {
            Some(cause) => ModelError::Transient { cause, message, retry_after: self.retry_after },
            None if matches!(self.kind, FaultKind::TooLong) => ModelError::TooLong { message },
            None => ModelError::Rejected { message, help: None },
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FaultKind {
    Overloaded,
    RateLimited,
    Cut,
    Connection,
    Server,
    TooLong,
    Refused,
}

impl FaultKind {
    fn cause(self) -> Option<TransientCause> {
        match self {
            Self::Overloaded => Some(TransientCause::Overloaded),
            Self::RateLimited => Some(TransientCause::RateLimited),
            Self::Cut => Some(TransientCause::Cut),
            Self::Connection => Some(TransientCause::Connection),
            Self::Server => Some(TransientCause::Server),
            Self::TooLong | Self::Refused => None,
        }
    }
}

/// The keys of a fault; not all combinations are valid.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultKeys {
    kind: Option<FaultKind>,
    message: Option<String>,
    retry_after_ms: Option<u64>,
    times: Option<u32>,
    delay_ms: Option<u64>,
}

impl TryFrom<FaultKeys> for ScriptFault {
    type Error = String;

    fn try_from(keys: FaultKeys) -> Result<Self, String> {
        let delay = Duration::from_millis(keys.delay_ms.unwrap_or(0));
        let Some(kind) = keys.kind else {
            return if keys.message.is_some()
                || keys.retry_after_ms.is_some()
                || keys.times.is_some()
            {
                Err("a fault without a `kind` may only have a `delay_ms`".to_owned())
            } else {
                Ok(Self { delay, failure: None })
            };
        };
        if keys.times == Some(0) {
            return Err("a fault's `times` is at least 1".to_owned());
        }
        if keys.retry_after_ms.is_some() && kind.cause().is_none() {
            return Err("`retry_after_ms` needs a transient fault".to_owned());
        }
        let refusal =
            matches!(kind, FaultKind::Refused).then(|| "the model rejected the request".to_owned());
        let message = keys.message.or(refusal).unwrap_or_default();
        let retry_after = keys.retry_after_ms.map(Duration::from_millis);
        let times = keys.times.unwrap_or(1);
        Ok(Self { delay, failure: Some(ScriptFailure { kind, message, retry_after, times }) })
    }
}
