//! The field `host` of payloads: the agent that fires the event, and the event in its own words.

use serde::Serialize;

use crate::event::HostFacts;
use crate::{Object, Scope};

/// The host of an event that names none.
const TENTER: &str = "tenter";

/// `host`, in the payloads of both protocols.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct HostPayload<'e> {
    /// The agent's name: `tenter`, `claude-code`, …
    name: &'e str,
    /// The agent's version. Not for `tenter`; only if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'e str>,
    /// The agent's own name of the event. Not for `tenter`.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'e str>,
    /// The agent's own name of the tool. Not for `tenter`; only for a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'e str>,
    /// The tool's input in the agent's own fields. Only if it differs from `tool_input`; not for a manifest hook with `payload: light`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_input: Option<&'e Object>,
    /// The fields that are left out because the agent does not provide them. Only if there are any.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unknown: &'e [String],
}

impl<'e> HostPayload<'e> {
    /// Creates the host of a scope. A `light` payload does not contain the host's own tool input.
    pub(crate) fn new(scope: &'e Scope, light: bool) -> Self {
        let Some(host) = scope.host.as_deref() else {
            return Self { name: TENTER, ..Self::default() };
        };
        let HostFacts { name, version, event, tool_name, tool_input, unknown, .. } = host;
        Self {
            name,
            version: version.as_deref(),
            event: event.as_deref(),
            tool_name: tool_name.as_deref(),
            tool_input: tool_input.as_ref().filter(|_| !light),
            unknown,
        }
    }
}
