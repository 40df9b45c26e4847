//! JSON Schemas (draft 2020-12) of payloads, replies and manifests. They are derived from the types, with doc comments as
//! descriptions; the schema of a reply comes from the table that replies are read with.

use serde_json::{Value, json};

use crate::derived_schema::merge;
use crate::lifecycle::{ProtocolName, TABLE};
use crate::{EventName, Object, executable, manifest, reply_fields};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The fields that have different names in the two protocols: the executable's name, the manifest's name.
pub const RENAMED_FIELDS: [(&str, &str); 6] = [
    ("conv_id", "session_id"),
    ("cwd", "work_dir"),
    ("parent_conv_id", "parent_session_id"),
    ("message", "prompt"),
    ("tool_user_id", "tool_use_id"),
    ("turn_number", "step_count"),
];

/// The two documents that a hook and an agent exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookDocument {
    /// The document that the hook reads.
    Payload,
    /// The document that the hook prints.
    Reply,
}

impl HookDocument {
    /// Returns the schema of this document at `event`; `None` if the protocol does not have the event.
    pub fn schema(self, event: EventName, protocol: ProtocolName) -> Option<Value> {
        let mut schema = json!({ "$schema": DRAFT });
        merge(&mut schema, self.event_schema(event, protocol)?);
        Some(schema)
    }

    /// Returns one schema for all events of the protocol; the schema of each event is in `$defs`, under the event's first
    /// spelling.
    pub fn schema_of_all(self, protocol: ProtocolName) -> Value {
        let mut events = Object::new();
        for row in &TABLE {
            if let Some(schema) = self.event_schema(row.event, protocol) {
                events.insert(row.spellings(protocol)[0].to_owned(), schema);
            }
        }
        let reference = |name: &String| json!({"$ref": format!("#/$defs/{name}")});
        let references: Vec<Value> = events.keys().map(reference).collect();
        json!({"$schema": DRAFT, "title": self.title(protocol), "anyOf": references, "$defs": events})
    }

    fn title(self, protocol: ProtocolName) -> &'static str {
        match (self, protocol) {
            (Self::Payload, ProtocolName::Executable) => "Payload of an executable hook",
            (Self::Payload, ProtocolName::Manifest) => "Payload of a manifest hook",
            (Self::Reply, ProtocolName::Executable) => "Reply of an executable hook",
            (Self::Reply, ProtocolName::Manifest) => "Reply of a manifest hook",
        }
    }

    fn event_schema(self, event: EventName, protocol: ProtocolName) -> Option<Value> {
        let row = event.lifecycle();
        let name = row.spellings(protocol).first()?;
        let mut schema = json!({
            "title": format!("{} at {name}", self.title(protocol)),
            "description": format!("Fires {}.", row.fires),
            "type": "object",
        });
        let body = match self {
            Self::Payload => payload(event, protocol)?,
            Self::Reply => reply_fields::schema(event, protocol),
        };
        merge(&mut schema, body);
        Some(schema)
    }
}

/// A field of a payload, or of an object in it, for tables and comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadField {
    /// The name.
    pub name: String,
    /// The JSON type, such as `string` or `boolean or null`.
    pub kind: String,
    /// The description, as sentences.
    pub description: String,
}

impl PayloadField {
    /// Returns the fields of an object with this schema.
    pub fn all(schema: &Value) -> Vec<Self> {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let field = |(name, property): (&String, &Value)| Self {
            name: name.clone(),
            kind: type_name(property),
            description: property["description"].as_str().unwrap_or_default().to_owned(),
        };
        properties.map(field).collect()
    }

    /// Returns the fields that the payload of every event has.
    pub fn common(protocol: ProtocolName) -> Vec<Self> {
        let mut schemas = TABLE.iter().filter_map(|row| payload(row.event, protocol));
        let mut common = schemas.next().map(|schema| Self::all(&schema)).unwrap_or_default();
        for schema in schemas {
            common.retain(|field| schema["properties"].get(&field.name).is_some());
        }
        common
    }

    /// Returns the fields that the payload of `event` has besides the common ones.
    pub fn own(event: EventName, protocol: ProtocolName) -> Vec<Self> {
        let common = Self::common(protocol);
        let is_own = |field: &Self| common.iter().all(|other| other.name != field.name);
        let schema = payload(event, protocol).unwrap_or_default();
        Self::all(&schema).into_iter().filter(is_own).collect()
    }
}

/// Returns the JSON type of a schema, for tables.
fn type_name(schema: &Value) -> String {
    let words = match &schema["type"] {
        Value::String(word) => vec![word.as_str()],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => return "any".to_owned(),
    };
    let words: Vec<&str> =
        words.into_iter().map(|word| if word == "integer" { "number" } else { word }).collect();
    words.join(" or ")
}

/// Returns the `required` and `properties` of a payload. Additional properties are allowed: later versions may have more fields.
fn payload(event: EventName, protocol: ProtocolName) -> Option<Value> {
    let mut own = manifest::payload_schema(event);
    let mut name = "event_type";
    if protocol == ProtocolName::Executable {
        let executable = executable::payload_schema(event)?;
        own = described_by(executable, &own);
        name = "event";
    }
    own["properties"][name] = json!({
        "type": "string",
        "enum": event.lifecycle().spellings(protocol),
        "description": "The event, as the hook spells it.",
    });
    let is_failure = event == EventName::AfterToolFailure;
    let is_result = is_failure || event == EventName::AfterTool;
    set_presence(&mut own, "tool_error", is_failure);
    set_presence(&mut own, "tool_output", is_result);
    if matches!(event, EventName::SubagentStart | EventName::SubagentStop) {
        set_presence(&mut own, "response", event == EventName::SubagentStop);
    }
    if event == EventName::PreCompact {
        set_presence(&mut own, "tokens_after", false);
    }
    Some(own)
}

/// Makes an optional property required, or removes it.
fn set_presence(schema: &mut Value, name: &str, is_present: bool) {
    let Some(properties) = schema["properties"].as_object_mut() else { return };
    if !is_present {
        properties.shift_remove(name);
    } else if properties.contains_key(name)
        && let Some(names) = schema["required"].as_array_mut()
    {
        names.push(json!(name));
    }
}

/// Describes the fields of an executable's payload that are the same in the payloads of manifest hooks.
fn described_by(mut executable: Value, manifest: &Value) -> Value {
    let fields = &manifest["properties"];
    let same_field = |name: &str| {
        let row = RENAMED_FIELDS.iter().find(|(executable, _)| *executable == name);
        let names = [Some(name), row.map(|(_, manifest)| *manifest)].into_iter().flatten();
        let mut places =
            names.flat_map(|name| [&fields[name], &fields["context"]["properties"][name]]);
        places.find(|field| !field.is_null())
    };
    for (name, property) in executable["properties"].as_object_mut().into_iter().flatten() {
        if let Some(same) = same_field(name).filter(|same| is_same_type(property, same)) {
            property["description"] = same["description"].clone();
        }
    }
    executable
}

/// Returns true if two schemas differ at most in their descriptions.
fn is_same_type(one: &Value, other: &Value) -> bool {
    let (mut one, mut other) = (one.clone(), other.clone());
    one["description"] = Value::Null;
    other["description"] = Value::Null;
    one == other
}
