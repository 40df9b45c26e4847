//! JSON Schemas (draft 2020-12) of payloads and replies, made from the tables of fields.

use serde_json::{Value, json};

use crate::EventName;
use crate::lifecycle::{ProtocolName, TABLE};
use crate::payload_fields::{COMMON, payload_fields};
use crate::reply_fields;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The two documents that a hook and an agent exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// What the hook reads.
    Payload,
    /// What the hook prints.
    Reply,
}

impl Document {
    /// The schema of this document at `event`; `None` if the protocol does not have the event.
    pub fn schema(self, event: EventName, protocol: ProtocolName) -> Option<Value> {
        let mut schema = json!({ "$schema": DRAFT });
        let body = self.of_event(event, protocol)?;
        merge(&mut schema, body);
        Some(schema)
    }

    /// One schema for all events of the protocol; the schema of each event is in `$defs`, under the event's first spelling.
    pub fn schema_of_all(self, protocol: ProtocolName) -> Value {
        let mut events = json!({});
        for row in &TABLE {
            if let Some(schema) = self.of_event(row.event, protocol) {
                events[row.spellings(protocol)[0]] = schema;
            }
        }
        let names = events.as_object().into_iter().flat_map(|events| events.keys());
        let refs: Vec<Value> =
            names.map(|name| json!({"$ref": format!("#/$defs/{name}")})).collect();
        json!({"$schema": DRAFT, "title": self.title(protocol), "anyOf": refs, "$defs": events})
    }

    fn title(self, protocol: ProtocolName) -> &'static str {
        match (self, protocol) {
            (Self::Payload, ProtocolName::Executable) => "Payload of an executable hook",
            (Self::Payload, ProtocolName::Manifest) => "Payload of a manifest hook",
            (Self::Reply, ProtocolName::Executable) => "Reply of an executable hook",
            (Self::Reply, ProtocolName::Manifest) => "Reply of a manifest hook",
        }
    }

    fn of_event(self, event: EventName, protocol: ProtocolName) -> Option<Value> {
        let row = event.lifecycle();
        let name = row.spellings(protocol).first()?;
        let mut schema = json!({
            "title": format!("{} at {name}", self.title(protocol)),
            "description": format!("Fires {}.", row.fires),
            "type": "object",
        });
        let body = match self {
            Self::Payload => payload(event, protocol),
            Self::Reply => reply_fields::schema(event, protocol),
        };
        merge(&mut schema, body);
        Some(schema)
    }
}

fn merge(schema: &mut Value, more: Value) {
    if let (Value::Object(schema), Value::Object(more)) = (schema, more) {
        schema.extend(more);
    }
}

/// The `required` and `properties` of a payload. Additional properties are allowed: later versions may have more fields.
fn payload(event: EventName, protocol: ProtocolName) -> Value {
    let name = match protocol {
        ProtocolName::Executable => "event",
        ProtocolName::Manifest => "event_type",
    };
    let spellings = event.lifecycle().spellings(protocol);
    let spelling = json!({
        "type": "string",
        "enum": spellings,
        "description": "The event, as the hook spells it.",
    });
    let mut schema = json!({"required": [name], "properties": {name: spelling}});
    for field in COMMON.iter().chain(payload_fields(event)) {
        if let Some(name) = field.name(protocol) {
            field.add_to(&mut schema, name);
        }
    }
    schema
}

/// A name in a path that the payload of an event cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The name's index in the path.
    pub index: usize,
    /// The names that are possible there.
    pub known: Vec<String>,
}

/// The first name of `path`, which leads from the payload's root to a value, that a manifest hook's payload at `event`
/// cannot have. The content of `tool_input`, of `args` and of a result's `metadata` is not known.
pub fn unknown_name(event: EventName, path: &[&str]) -> Option<UnknownName> {
    let mut schema = &payload(event, ProtocolName::Manifest);
    for (index, name) in path.iter().enumerate() {
        let properties = schema["properties"].as_object();
        if properties.is_none() && schema["type"] == "object" {
            return None;
        }
        let Some(property) = properties.and_then(|properties| properties.get(*name)) else {
            let known = properties.into_iter().flat_map(|known| known.keys());
            return Some(UnknownName { index, known: known.cloned().collect() });
        };
        schema = property;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_reported_with_the_possible_names() {
        let found = |event, path: &[&str]| unknown_name(event, path).map(|found| found.index);
        assert_eq!(found(EventName::BeforeTool, &["tool_input", "anything", "at", "all"]), None);
        assert_eq!(found(EventName::BeforeTool, &["tool_output"]), Some(0));
        assert_eq!(found(EventName::AfterTool, &["tool_output", "metadata", "exitCode"]), None);
        assert_eq!(found(EventName::AfterTool, &["tool_error"]), Some(0));
        assert_eq!(found(EventName::AfterTurn, &["usage", "turn", "input_tokens"]), None);
        assert_eq!(found(EventName::AfterTurn, &["usage", "turn", "tokens"]), Some(2));
        assert_eq!(found(EventName::AfterTurn, &["context", "recipe_name"]), None);
        assert_eq!(found(EventName::AfterTurn, &["response", "text"]), Some(1));
        assert_eq!(found(EventName::AfterTurn, &[]), None);
        let unknown = unknown_name(EventName::BeforeStop, &["final_message", "text"]).unwrap();
        assert_eq!(unknown.known, ["role", "content"]);
    }

    #[test]
    fn every_event_of_a_protocol_has_schemas() {
        for row in &TABLE {
            for protocol in [ProtocolName::Executable, ProtocolName::Manifest] {
                let has_event = !row.spellings(protocol).is_empty();
                for document in [Document::Payload, Document::Reply] {
                    let schema = document.schema(row.event, protocol);
                    assert_eq!(schema.is_some(), has_event, "{} {protocol:?}", row.name);
                }
            }
        }
    }
}
