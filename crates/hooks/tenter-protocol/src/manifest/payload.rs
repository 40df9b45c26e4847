//! Writes the payloads of manifest hooks: the base fields, then those of the event, both in the order of the specification
//! (section 5), with Tenter's additions last. `context` has common data that the specification has no field for.

#[cfg(test)]
mod golden;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::event::{
    AgentFacts, CompactTrigger, Compaction, ExitReason, InvokedBy, StopAttempt, Subagent, Turn,
    Usage,
};
use crate::executable::PROTOCOL_VERSION;
use crate::facts::{CallFacts, Facts};
use crate::history::{self, MessagePayload};
use crate::host_payload::HostPayload;
use crate::{Body, EventRef, Message, Object, Role, ToolCall, ToolResult, json};

/// The payload of `event`, with the event in the spelling of the manifest's `trigger` (R41).
///
/// `tool_name` is the name of the tool that the matcher matched (R20); the default is the tool's own name. `facts` are those
/// of the event's tool call. A `light` payload does not contain the history (R57).
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

/// What a manifest hook reads of an event.
#[derive(Serialize)]
pub struct Payload<'e> {
    event_type: &'e str,
    timestamp: &'e str,
    session_id: &'e str,
    work_dir: Cow<'e, str>,
    context: Context<'e>,
    host: HostPayload<'e>,
    #[serde(flatten)]
    own: Own<'e>,
}

/// Common data for which the specification has no field.
#[derive(Serialize)]
struct Context<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    invoked_by: Option<InvokedBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session_id: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe_name: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe_full_name: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'e AgentFacts>,
    protocol_version: u32,
}

impl<'e> Payload<'e> {
    /// The payload as the line that a script reads on its stdin.
    pub fn to_line(&self) -> String {
        json::to_line(self)
    }

    /// The payload as a JSON value, for static hooks.
    pub fn to_value(&self) -> Value {
        // All keys of payloads are strings, so this cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    fn new(event: EventRef<'e>, trigger: &'e str, extras: &Extras<'e>) -> Self {
        let EventRef { scope, body } = event;
        Self {
            event_type: trigger,
            timestamp: &scope.time,
            session_id: &scope.conversation_id,
            work_dir: scope.cwd.to_string_lossy(),
            context: Context {
                invoked_by: scope.invoked_by(),
                parent_session_id: scope.parent_conversation_id.as_deref(),
                recipe_name: scope.recipe.as_deref().filter(|name| !name.is_empty()),
                recipe_full_name: scope.recipe_full_name.as_deref(),
                agent: scope.agent.as_ref(),
                protocol_version: PROTOCOL_VERSION,
            },
            host: HostPayload::new(scope, extras.light),
            own: Own::new(body, extras),
        }
    }
}

/// The fields of an event.
#[derive(Serialize)]
#[serde(untagged)]
enum Own<'e> {
    SessionStart {
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<&'e str>,
        args: &'e Object,
    },
    SessionEnd {
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_seconds: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        total_steps: Option<u64>,
        exit_reason: ExitReason,
    },
    BeforeAgent {
        prompt: &'e str,
    },
    Tool {
        tool_name: &'e str,
        tool_input: &'e Object,
        tool_use_id: &'e str,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_error: Option<&'e str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_output: Option<&'e ToolResult>,
        tool_aliases: Vec<&'e str>,
        #[serde(flatten)]
        facts: &'e CallFacts,
    },
    AfterTurn {
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_number: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        session_turn: Option<u64>,
        tools_used: bool,
        response: &'e str,
        #[serde(flatten)]
        figures: Figures<'e>,
    },
    BeforeStop {
        stop_reason: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        step_count: Option<u64>,
        final_message: Option<FinalMessage<'e>>,
        stop_hook_active: bool,
        continuation_count: u32,
        #[serde(flatten)]
        figures: Figures<'e>,
    },
    AfterAgent {
        response: &'e str,
    },
    Subagent {
        subagent_name: &'e str,
        subagent_type: &'e str,
        task_description: &'e str,
        #[serde(skip_serializing_if = "Option::is_none")]
        response: Option<&'e str>,
    },
    Compact {
        trigger: CompactTrigger,
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens_before: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens_after: Option<u64>,
    },
}

impl<'e> Own<'e> {
    fn new(body: &'e Body, extras: &Extras<'e>) -> Self {
        match body {
            Body::SessionStart(start) => {
                Self::SessionStart { model: start.model.as_deref(), args: &start.args }
            }
            Body::SessionEnd(end) => Self::SessionEnd {
                duration_seconds: end.duration_seconds,
                total_steps: end.total_steps,
                exit_reason: end.exit_reason,
            },
            Body::BeforeAgent { message } => Self::BeforeAgent { prompt: message },
            Body::BeforeTool(call) => Self::tool(call, None, extras),
            Body::AfterTool { call, result } => Self::tool(call, Some(result), extras),
            Body::AfterTurn(turn) => Self::turn(turn, extras.light),
            Body::BeforeStop(stop) => Self::stop(stop, extras.light),
            Body::AfterAgent { response } => Self::AfterAgent { response },
            Body::SubagentStart(subagent) => Self::subagent(subagent, None),
            Body::SubagentStop { subagent, response } => Self::subagent(subagent, Some(response)),
            Body::PreCompact(compaction) | Body::PostCompact(compaction) => {
                Self::compact(compaction)
            }
        }
    }

    fn tool(call: &'e ToolCall, result: Option<&'e ToolResult>, extras: &Extras<'e>) -> Self {
        let failure = result.filter(|result| result.is_failure());
        let tool_name = extras.tool_name.unwrap_or(&call.name);
        Self::Tool {
            tool_name,
            tool_input: &call.input,
            tool_use_id: &call.id,
            // A failure always has the field, so that a script need not check for it.
            tool_error: failure.map(|result| result.error.as_deref().unwrap_or_default()),
            tool_output: result,
            tool_aliases: extras
                .facts
                .tool_names
                .spellings_of(call)
                .filter(|name| *name != tool_name)
                .collect(),
            facts: &extras.facts.call,
        }
    }

    fn turn(turn: &'e Turn, light: bool) -> Self {
        Self::AfterTurn {
            turn_number: turn.turn_number,
            session_turn: turn.session_turn,
            tools_used: turn.tools_used,
            response: &turn.response,
            figures: Figures {
                usage: turn.usage.as_ref(),
                auto_compact_enabled: turn.auto_compact.is_some(),
                auto_compact_threshold: turn.auto_compact,
                messages: messages(turn.messages.as_deref(), light),
            },
        }
    }

    fn stop(stop: &'e StopAttempt, light: bool) -> Self {
        Self::BeforeStop {
            stop_reason: stop.reason.manifest(),
            step_count: stop.step_count,
            final_message: FinalMessage::new(&stop.response),
            stop_hook_active: stop.continuation_count > 0,
            continuation_count: stop.continuation_count,
            figures: Figures {
                usage: stop.usage.as_ref(),
                auto_compact_enabled: stop.auto_compact.is_some(),
                auto_compact_threshold: stop.auto_compact,
                messages: messages(stop.messages.as_deref(), light),
            },
        }
    }

    fn subagent(subagent: &'e Subagent, response: Option<&'e str>) -> Self {
        Self::Subagent {
            subagent_name: &subagent.name,
            subagent_type: &subagent.kind,
            task_description: &subagent.task,
            response,
        }
    }

    fn compact(compaction: &Compaction) -> Self {
        Self::Compact {
            trigger: compaction.trigger,
            tokens_before: compaction.tokens_before,
            tokens_after: compaction.tokens_after,
        }
    }
}

/// The fields of events at which a hook may replace the history.
#[derive(Serialize)]
struct Figures<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'e Usage>,
    auto_compact_enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_compact_threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<MessagePayload<'e>>>,
}

/// The history, unless the agent does not know it or the payload is light.
fn messages(messages: Option<&Vec<Message>>, light: bool) -> Option<Vec<MessagePayload<'_>>> {
    messages.filter(|_| !light).map(|messages| history::payload(messages))
}

/// The last text of the model; `null` for a response without text, as the specification allows.
#[derive(Serialize)]
struct FinalMessage<'e> {
    role: Role,
    content: &'e str,
}

impl<'e> FinalMessage<'e> {
    fn new(content: &'e str) -> Option<Self> {
        (!content.trim().is_empty()).then_some(Self { role: Role::Assistant, content })
    }
}
