//! Writes the payloads of manifest hooks: the base fields, then the fields of the event, both in the order of the specification
//! (section 5), with Tenter's additions last. `context` has common data that the specification has no field for.

#[cfg(test)]
mod golden;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::event::{
    AgentFacts, CompactTrigger, ExitReason, InvokedBy, StopAttempt, Subagent, Turn, Usage,
};
use crate::executable::PROTOCOL_VERSION;
use crate::facts::{CallFacts, Facts};
use crate::history::{self, MessagePayload};
use crate::host_payload::HostPayload;
use crate::{Body, EventRef, Message, Object, Role, ToolCall, ToolResult, json};

/// Returns the payload of `event`, with the event in the spelling of the manifest's `trigger` (R41).
///
/// `tool_name` is the name of the tool that the matcher matched (R20); the default is the tool's own name. `facts` are the
/// facts about the event's tool call. A `light` payload does not contain the history (R57).
pub fn payload<'e>(
    event: impl Into<EventRef<'e>>,
    trigger: &'e str,
    tool_name: Option<&'e str>,
    facts: &'e Facts,
    light: bool,
) -> Payload<'e> {
    Payload::new(event.into(), trigger, &Extras { tool_name, facts, light })
}

/// The parameters of a payload besides the event.
struct Extras<'e> {
    tool_name: Option<&'e str>,
    facts: &'e Facts,
    light: bool,
}

/// The payload of an event for a manifest hook.
#[derive(Serialize)]
pub struct Payload<'e> {
    #[serde(flatten)]
    base: BaseFields<'e>,
    #[serde(flatten)]
    own: OwnFields<'e>,
}

/// The fields of every payload.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BaseFields<'e> {
    event_type: &'e str,
    /// The time, as RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    timestamp: &'e str,
    /// The conversation's id. A subagent has its own.
    session_id: &'e str,
    /// The agent's working directory. Tools run in it; hooks start in the project root.
    work_dir: Cow<'e, str>,
    /// Data for which the specification has no field.
    context: ContextPayload<'e>,
    /// The agent that fires the event, in its own words.
    host: HostPayload<'e>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ContextPayload<'e> {
    /// The agent that caused the event: `main` or `subagent`. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    invoked_by: Option<InvokedBy>,
    /// The conversation that started the subagent. Only for a subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session_id: Option<&'e str>,
    /// The recipe that the agent was started with. A plugin's hook reads the short name of a recipe of its own plugin. Only with a recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe_name: Option<&'e str>,
    /// The recipe's full name, `ORG/REPO/NAME`. Only if `recipe_name` is a short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe_full_name: Option<&'e str>,
    /// The subagent of another agent than Tenter's. Only for a subagent that has an id there.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'e AgentFacts>,
    /// The version of the protocol: 1.
    protocol_version: u32,
}

impl<'e> Payload<'e> {
    /// Returns the payload as the line that a script reads on its stdin.
    pub fn to_line(&self) -> String {
        json::to_line(self)
    }

    /// Returns the payload as a JSON value, for static hooks.
    pub fn to_value(&self) -> Value {
        // All keys of payloads are strings, so this cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    fn new(event: EventRef<'e>, trigger: &'e str, extras: &Extras<'e>) -> Self {
        let EventRef { scope, body } = event;
        let context = ContextPayload {
            invoked_by: scope.invoked_by(),
            parent_session_id: scope.parent_conversation_id.as_deref(),
            recipe_name: scope.recipe.as_deref().filter(|name| !name.is_empty()),
            recipe_full_name: scope.recipe_full_name.as_deref(),
            agent: scope.agent.as_ref(),
            protocol_version: PROTOCOL_VERSION,
        };
        let base = BaseFields {
            event_type: trigger,
            timestamp: &scope.time,
            session_id: &scope.conversation_id,
            work_dir: scope.cwd.to_string_lossy(),
            context,
            host: HostPayload::new(scope, extras.light),
        };
        Self { base, own: OwnFields::new(body, extras) }
    }
}

/// The fields of an event.
#[derive(Serialize)]
#[serde(untagged)]
enum OwnFields<'e> {
    SessionStart(SessionStartFields<'e>),
    SessionEnd(SessionEndFields),
    BeforeAgent(BeforeAgentFields<'e>),
    Tool(ToolFields<'e>),
    AfterTurn(AfterTurnFields<'e>),
    BeforeStop(BeforeStopFields<'e>),
    AfterAgent(AfterAgentFields<'e>),
    Subagent(SubagentFields<'e>),
    Compaction(CompactionFields),
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SessionStartFields<'e> {
    /// The model, as `--model` names it. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'e str>,
    /// The start of the agent: `ui` (`run` or `chat`) and `agent`.
    args: &'e Object,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SessionEndFields {
    /// The duration of the session, in seconds. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_seconds: Option<u64>,
    /// The number of model responses in the session. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_steps: Option<u64>,
    /// The reason why the session ends: `done`, `user_exit`, `interrupted`, `blocked`, `max_turns` or `error`.
    exit_reason: ExitReason,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BeforeAgentFields<'e> {
    /// The message, as changed by earlier hooks.
    prompt: &'e str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ToolFields<'e> {
    /// The tool's name. A manifest hook reads the name that its matcher matched, for example `Shell` for `bash`.
    tool_name: &'e str,
    /// The tool's input, as changed by earlier hooks; for `bash`, `{"command": "ls"}`.
    tool_input: &'e Object,
    /// The call's id, the same before and after the call.
    tool_use_id: &'e str,
    /// The error message.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_error: Option<&'e str>,
    /// The tool's result, as changed by earlier hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_output: Option<&'e ToolResult>,
    /// The other names of the tool, here and in other agents.
    tool_aliases: Vec<&'e str>,
    #[serde(flatten)]
    facts: &'e CallFacts,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AfterTurnFields<'e> {
    /// The number of model responses since the last user message. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_number: Option<u64>,
    /// The number of model responses in the whole conversation. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_turn: Option<u64>,
    /// `true` if the response called tools.
    tools_used: bool,
    /// The text of the response.
    response: &'e str,
    #[serde(flatten)]
    history: HistoryPayload<'e>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BeforeStopFields<'e> {
    /// The reason why the agent stops: `no_tool_calls`, `tool_rejected` (all calls of the previous response were blocked) or `max_steps` (the turn limit).
    #[cfg_attr(feature = "schema", schemars(extend("enum" = crate::event::StopReason::ALL.map(crate::event::StopReason::manifest))))]
    stop_reason: &'static str,
    /// The number of model responses since the last user message. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    step_count: Option<u64>,
    /// The last response; `null` if it has no text.
    final_message: Option<FinalMessage<'e>>,
    /// `true` if the agent is running because a hook made it continue.
    stop_hook_active: bool,
    /// The number of times in a row that hooks made the agent continue.
    continuation_count: u32,
    #[serde(flatten)]
    history: HistoryPayload<'e>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AfterAgentFields<'e> {
    /// The last text of the model.
    response: &'e str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SubagentFields<'e> {
    /// The subagent's name.
    subagent_name: &'e str,
    /// The subagent's type.
    subagent_type: &'e str,
    /// The subagent's task.
    task_description: &'e str,
    /// The last text of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<&'e str>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CompactionFields {
    /// The cause of the compaction: `auto` (the threshold), `manual` (the user), `hook`, or `overflow` (a request was too long for the model).
    trigger: CompactTrigger,
    /// The size of the history before, in tokens. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_before: Option<u64>,
    /// The size of the history after, in tokens. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_after: Option<u64>,
}

/// The fields of events at which a hook may replace the history.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct HistoryPayload<'e> {
    /// Token counts. Only if the agent provides them.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'e Usage>,
    /// `true` if long histories are summarized automatically.
    auto_compact_enabled: bool,
    /// The part of the context window at which that happens, for example 0.8. Only if it is enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_compact_threshold: Option<f64>,
    /// The conversation. Only if the agent provides it; not for a manifest hook with `payload: light`.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<MessagePayload<'e>>>,
}

/// The last text of the model; `null` for a response without text, as the specification allows.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FinalMessage<'e> {
    /// Always `assistant`.
    role: Role,
    /// The text.
    content: &'e str,
}

impl<'e> OwnFields<'e> {
    fn new(body: &'e Body, extras: &Extras<'e>) -> Self {
        match body {
            Body::SessionStart(start) => Self::SessionStart(SessionStartFields {
                model: start.model.as_deref(),
                args: &start.args,
            }),
            Body::SessionEnd(end) => Self::SessionEnd(SessionEndFields {
                duration_seconds: end.duration_seconds,
                total_steps: end.total_steps,
                exit_reason: end.exit_reason,
            }),
            Body::BeforeAgent { message } => {
                Self::BeforeAgent(BeforeAgentFields { prompt: message })
            }
            Body::BeforeTool(call) => Self::Tool(tool(call, None, extras)),
            Body::AfterTool { call, result } => Self::Tool(tool(call, Some(result), extras)),
            Body::AfterTurn(turn) => Self::AfterTurn(after_turn(turn, extras.light)),
            Body::BeforeStop(stop) => Self::BeforeStop(before_stop(stop, extras.light)),
            Body::AfterAgent { response } => Self::AfterAgent(AfterAgentFields { response }),
            Body::SubagentStart(started) => Self::Subagent(subagent(started, None)),
            Body::SubagentStop { subagent: stopped, response } => {
                Self::Subagent(subagent(stopped, Some(response)))
            }
            Body::PreCompact(compaction) | Body::PostCompact(compaction) => {
                Self::Compaction(CompactionFields {
                    trigger: compaction.trigger,
                    tokens_before: compaction.tokens_before,
                    tokens_after: compaction.tokens_after,
                })
            }
        }
    }
}

fn tool<'e>(
    call: &'e ToolCall,
    result: Option<&'e ToolResult>,
    extras: &Extras<'e>,
) -> ToolFields<'e> {
    let failure = result.filter(|result| result.is_failure());
    let tool_name = extras.tool_name.unwrap_or(&call.name);
    let spellings = extras.facts.tool_names.spellings_of(call);
    ToolFields {
        tool_name,
        tool_input: &call.input,
        tool_use_id: &call.id,
        // A failure always has the field, so that a script need not check for it.
        tool_error: failure.map(|result| result.error.as_deref().unwrap_or_default()),
        tool_output: result,
        tool_aliases: spellings.filter(|name| *name != tool_name).collect(),
        facts: &extras.facts.call,
    }
}

fn after_turn(turn: &Turn, light: bool) -> AfterTurnFields<'_> {
    AfterTurnFields {
        turn_number: turn.turn_number,
        session_turn: turn.session_turn,
        tools_used: turn.tools_used,
        response: &turn.response,
        history: HistoryPayload {
            usage: turn.usage.as_ref(),
            auto_compact_enabled: turn.auto_compact.is_some(),
            auto_compact_threshold: turn.auto_compact,
            messages: messages(turn.messages.as_deref(), light),
        },
    }
}

fn before_stop(stop: &StopAttempt, light: bool) -> BeforeStopFields<'_> {
    let content = stop.response.as_str();
    let has_text = !content.trim().is_empty();
    BeforeStopFields {
        stop_reason: stop.reason.manifest(),
        step_count: stop.step_count,
        final_message: has_text.then_some(FinalMessage { role: Role::Assistant, content }),
        stop_hook_active: stop.continuation_count > 0,
        continuation_count: stop.continuation_count,
        history: HistoryPayload {
            usage: stop.usage.as_ref(),
            auto_compact_enabled: stop.auto_compact.is_some(),
            auto_compact_threshold: stop.auto_compact,
            messages: messages(stop.messages.as_deref(), light),
        },
    }
}

fn subagent<'e>(subagent: &'e Subagent, response: Option<&'e str>) -> SubagentFields<'e> {
    SubagentFields {
        subagent_name: &subagent.name,
        subagent_type: &subagent.kind,
        task_description: &subagent.task,
        response,
    }
}

/// Returns the history, unless the agent does not know it or the payload is light.
fn messages(messages: Option<&Vec<Message>>, light: bool) -> Option<Vec<MessagePayload<'_>>> {
    messages.filter(|_| !light).map(|messages| history::payload(messages))
}

/// Returns the schema of the payload of `event`: `required` and `properties`.
#[cfg(feature = "schema")]
pub(crate) fn payload_schema(event: crate::EventName) -> Value {
    use crate::EventName;
    use crate::derived_schema::{fields, merge};

    let mut schema = fields::<BaseFields<'_>>();
    let own = match event {
        EventName::SessionStart => fields::<SessionStartFields<'_>>(),
        EventName::BeforeAgent => fields::<BeforeAgentFields<'_>>(),
        EventName::BeforeTool | EventName::AfterTool | EventName::AfterToolFailure => {
            fields::<ToolFields<'_>>()
        }
        EventName::AfterTurn => fields::<AfterTurnFields<'_>>(),
        EventName::BeforeStop => fields::<BeforeStopFields<'_>>(),
        EventName::AfterAgent => fields::<AfterAgentFields<'_>>(),
        EventName::SubagentStart | EventName::SubagentStop => fields::<SubagentFields<'_>>(),
        EventName::PreCompact | EventName::PostCompact => fields::<CompactionFields>(),
        EventName::SessionEnd => fields::<SessionEndFields>(),
    };
    merge(&mut schema, own);
    schema
}
