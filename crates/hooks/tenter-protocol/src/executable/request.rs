//! Writes the payloads of executable hooks. There is one wire struct per event; the fields are in the order of the protocol's
//! documentation, with Tenter's additions last. A field without a description means the same as in the payloads of manifest
//! hooks.

use serde::Serialize;

use crate::event::{AgentFacts, InvokedBy, StopAttempt, Turn, Usage};
use crate::facts::{CallFacts, Facts};
use crate::history::{self, MessagePayload};
use crate::host_payload::HostPayload;
use crate::{Body, EventRef, Object, Scope, ToolCall, ToolResult, json};

/// Returns the payload of `event` as one line, with the event in the executable's `spelling` (R41). `None` if the executable
/// protocol does not have the event. `facts` are the facts about the event's tool call.
pub fn payload<'e>(
    event: impl Into<EventRef<'e>>,
    spelling: &str,
    facts: &Facts,
) -> Option<String> {
    let EventRef { scope, body } = event.into();
    let line = match body {
        Body::BeforeAgent { message } => {
            json::to_line(&UserMessageSend::new(scope, spelling, message))
        }
        Body::BeforeTool(call) => json::to_line(&ToolCallWire::new(scope, spelling, call, facts)),
        Body::AfterTool { call, result } => json::to_line(&ToolCallWire {
            tool_output: Some(result),
            ..ToolCallWire::new(scope, spelling, call, facts)
        }),
        Body::AfterTurn(turn) => json::to_line(&AfterTurn::new(scope, spelling, turn)),
        Body::BeforeStop(stop) => json::to_line(&AgentStop::new(scope, spelling, stop)),
        _ => return None,
    };
    Some(line)
}

/// The common fields of all payloads that come after an event's own.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Tail<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    invoked_by: Option<InvokedBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe_name: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe_full_name: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_conv_id: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'e AgentFacts>,
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    timestamp: &'e str,
    protocol_version: u32,
    host: HostPayload<'e>,
}

impl<'e> Tail<'e> {
    fn new(scope: &'e Scope) -> Self {
        Self {
            invoked_by: scope.invoked_by(),
            recipe_name: scope.recipe.as_deref().filter(|name| !name.is_empty()),
            recipe_full_name: scope.recipe_full_name.as_deref(),
            parent_conv_id: scope.parent_conversation_id.as_deref(),
            agent: scope.agent.as_ref(),
            timestamp: &scope.time,
            protocol_version: super::PROTOCOL_VERSION,
            host: HostPayload::new(scope, false),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct UserMessageSend<'e> {
    event: &'e str,
    conv_id: &'e str,
    message: &'e str,
    cwd: String,
    #[serde(flatten)]
    tail: Tail<'e>,
}

impl<'e> UserMessageSend<'e> {
    fn new(scope: &'e Scope, event: &'e str, message: &'e str) -> Self {
        Self {
            event,
            conv_id: &scope.conversation_id,
            message,
            cwd: cwd(scope),
            tail: Tail::new(scope),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ToolCallWire<'e> {
    event: &'e str,
    conv_id: &'e str,
    tool_name: &'e str,
    tool_input: &'e Object,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_output: Option<&'e ToolResult>,
    tool_user_id: &'e str,
    cwd: String,
    #[serde(flatten)]
    tail: Tail<'e>,
    tool_aliases: Vec<&'e str>,
    #[serde(flatten)]
    facts: &'e CallFacts,
}

impl<'e> ToolCallWire<'e> {
    fn new(scope: &'e Scope, event: &'e str, call: &'e ToolCall, facts: &'e Facts) -> Self {
        Self {
            event,
            conv_id: &scope.conversation_id,
            tool_name: &call.name,
            tool_input: &call.input,
            tool_output: None,
            tool_user_id: &call.id,
            cwd: cwd(scope),
            tail: Tail::new(scope),
            tool_aliases: facts.tool_names.spellings_of(call).skip(1).collect(),
            facts: &facts.call,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AfterTurn<'e> {
    event: &'e str,
    conv_id: &'e str,
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_number: Option<u64>,
    tools_used: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'e Usage>,
    auto_compact_enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_compact_threshold: Option<f64>,
    #[serde(flatten)]
    tail: Tail<'e>,
    /// The same as `recipe_name`; empty without a recipe.
    invoked_recipe: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_turn: Option<u64>,
    /// The same as `response`.
    last_assistant_content: &'e str,
    // `turn_end` promises it (R3); `after_turn` has it as well, so that an event has one payload.
    response: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<MessagePayload<'e>>>,
}

impl<'e> AfterTurn<'e> {
    fn new(scope: &'e Scope, event: &'e str, turn: &'e Turn) -> Self {
        Self {
            event,
            conv_id: &scope.conversation_id,
            cwd: cwd(scope),
            turn_number: turn.turn_number,
            tools_used: turn.tools_used,
            usage: turn.usage.as_ref(),
            auto_compact_enabled: turn.auto_compact.is_some(),
            auto_compact_threshold: turn.auto_compact,
            tail: Tail::new(scope),
            invoked_recipe: scope.recipe.as_deref().unwrap_or_default(),
            session_turn: turn.session_turn,
            last_assistant_content: &turn.response,
            response: &turn.response,
            messages: turn.messages.as_deref().map(|messages| history::payload(messages)),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AgentStop<'e> {
    event: &'e str,
    conv_id: &'e str,
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<MessagePayload<'e>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'e Usage>,
    /// The same as `recipe_name`; empty without a recipe.
    invoked_recipe: &'e str,
    auto_compact_enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_compact_threshold: Option<f64>,
    #[serde(flatten)]
    tail: Tail<'e>,
    /// The reason why the agent stops: `no_tool_calls`, `tool_rejected` (all calls of the previous response were blocked) or `max_turns` (the turn limit).
    #[cfg_attr(feature = "schema", schemars(extend("enum" = crate::event::StopReason::ALL.map(crate::event::StopReason::executable))))]
    stop_reason: &'e str,
    stop_hook_active: bool,
    continuation_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_number: Option<u64>,
    /// The text of the last response.
    last_assistant_content: &'e str,
}

impl<'e> AgentStop<'e> {
    fn new(scope: &'e Scope, event: &'e str, stop: &'e StopAttempt) -> Self {
        Self {
            event,
            conv_id: &scope.conversation_id,
            cwd: cwd(scope),
            messages: stop.messages.as_deref().map(|messages| history::payload(messages)),
            usage: stop.usage.as_ref(),
            invoked_recipe: scope.recipe.as_deref().unwrap_or_default(),
            auto_compact_enabled: stop.auto_compact.is_some(),
            auto_compact_threshold: stop.auto_compact,
            tail: Tail::new(scope),
            stop_reason: stop.reason.executable(),
            stop_hook_active: stop.continuation_count > 0,
            continuation_count: stop.continuation_count,
            turn_number: stop.step_count,
            last_assistant_content: &stop.response,
        }
    }
}

/// Returns the working directory as text, with invalid UTF-8 replaced.
fn cwd(scope: &Scope) -> String {
    scope.cwd.to_string_lossy().into_owned()
}

/// Returns the schema of the payload of `event`: `required` and `properties`. `None` if the executable protocol does not have the
/// event.
#[cfg(feature = "schema")]
pub(crate) fn payload_schema(event: crate::EventName) -> Option<serde_json::Value> {
    use crate::EventName;
    use crate::derived_schema::fields;
    Some(match event {
        EventName::BeforeAgent => fields::<UserMessageSend<'_>>(),
        EventName::BeforeTool | EventName::AfterTool | EventName::AfterToolFailure => {
            fields::<ToolCallWire<'_>>()
        }
        EventName::AfterTurn => fields::<AfterTurn<'_>>(),
        EventName::BeforeStop => fields::<AgentStop<'_>>(),
        _ => return None,
    })
}
