//! The JSON types of the fields of payloads and replies: as a word for tables, as a phrase for messages, and as JSON Schema.
//! The fields of a payload are here too, because a type can be an object of them.

use serde_json::{Value, json};

use crate::lifecycle::ProtocolName;

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub enum FieldType {
    /// Any string.
    Text,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A time: RFC 3339 in UTC with `Z`.
    Time,
    /// `true` or `false`.
    Boolean,
    /// `true`, `false` or `null`.
    BooleanOrNull,
    /// A whole number, 0 or more.
    Count,
    /// Any number.
    Number,
    /// An object with arbitrary fields.
    AnyObject,
    /// An object with these fields.
    Object(&'static [PayloadField]),
    /// An object with these fields, or `null`.
    ObjectOrNull(&'static [PayloadField]),
    /// An object whose values are strings.
    StringMap,
    /// A list of strings.
    Strings,
    /// A list of anything.
    List,
    /// A list of objects with these fields.
    Objects(&'static [PayloadField]),
    /// A list of messages as a hook writes them: plain text or typed blocks.
    NewMessages,
    /// Any JSON value.
    Any,
}

impl FieldType {
    /// The JSON type, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text | Self::OneOf(_) | Self::Time => "string",
            Self::Boolean => "boolean",
            Self::BooleanOrNull => "boolean or null",
            Self::Count | Self::Number => "number",
            Self::AnyObject | Self::Object(_) | Self::StringMap => "object",
            Self::ObjectOrNull(_) => "object or null",
            Self::Strings | Self::List | Self::Objects(_) | Self::NewMessages => "array",
            Self::Any => "any",
        }
    }

    /// What a value of the type is, with its article, to complete "must be".
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Self::Text | Self::OneOf(_) | Self::Time => "a string",
            Self::Boolean | Self::BooleanOrNull => "true or false",
            Self::Count | Self::Number => "a number",
            Self::AnyObject | Self::Object(_) | Self::ObjectOrNull(_) => "an object",
            Self::StringMap => "an object of strings",
            Self::Strings => "a list of strings",
            Self::List => "a list",
            Self::Objects(_) => "a list of objects",
            Self::NewMessages => "a list of messages with \"role\" and \"content\"",
            Self::Any => "a JSON value",
        }
    }

    /// The JSON Schema of the type.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::Time => json!({"type": "string", "format": "date-time"}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::BooleanOrNull => json!({"type": ["boolean", "null"]}),
            Self::Count => json!({"type": "integer", "minimum": 0}),
            Self::Number => json!({"type": "number"}),
            Self::AnyObject => json!({"type": "object"}),
            Self::Object(fields) => object(fields),
            Self::ObjectOrNull(fields) => {
                let mut schema = object(fields);
                schema["type"] = json!(["object", "null"]);
                schema
            }
            Self::StringMap => {
                json!({"type": "object", "additionalProperties": {"type": "string"}})
            }
            Self::Strings => json!({"type": "array", "items": {"type": "string"}}),
            Self::List => json!({"type": "array"}),
            Self::Objects(fields) => json!({"type": "array", "items": object(fields)}),
            Self::NewMessages => new_messages(),
            Self::Any => json!({}),
        }
    }
}

/// A field of a payload, or of an object in a payload.
#[derive(Debug, Clone, Copy)]
pub struct PayloadField {
    /// The name in the payloads of executables; `None` if these do not have the field.
    pub executable: Option<&'static str>,
    /// The name in the payloads of manifest hooks, `OBJECT.NAME` for a field of an object; `None` if these do not have the
    /// field.
    pub manifest: Option<&'static str>,
    /// The type.
    pub kind: FieldType,
    /// What the field contains, as sentences.
    pub meaning: &'static str,
    /// When the field is present, as a sentence; `None` if it always is.
    pub optional: Option<&'static str>,
}

impl PayloadField {
    /// The name in one protocol.
    pub fn name(&self, protocol: ProtocolName) -> Option<&'static str> {
        match protocol {
            ProtocolName::Executable => self.executable,
            ProtocolName::Manifest => self.manifest,
        }
    }

    /// The meaning, and when the field is present if it is not always.
    pub fn description(&self) -> String {
        match self.optional {
            Some(when) => format!("{} {when}", self.meaning),
            None => self.meaning.to_owned(),
        }
    }

    /// Adds the field under `name` to the schema of an object; `OBJECT.NAME` adds to the schema of that object's field.
    pub(crate) fn add_to(&self, schema: &mut Value, name: &str) {
        if let Some((outer, inner)) = name.split_once('.') {
            if schema["properties"][outer].is_null() {
                schema["properties"][outer] =
                    json!({"type": "object", "required": [], "properties": {}});
                require(schema, outer);
            }
            return self.add_to(&mut schema["properties"][outer], inner);
        }
        let mut property = self.kind.schema();
        property["description"] = json!(self.description());
        schema["properties"][name] = property;
        if self.optional.is_none() {
            require(schema, name);
        }
    }

    /// The field, present only when `sentence` says.
    pub(crate) const fn when(mut self, sentence: &'static str) -> Self {
        self.optional = Some(sentence);
        self
    }
}

fn require(schema: &mut Value, name: &str) {
    if let Some(required) = schema["required"].as_array_mut() {
        required.push(json!(name));
    }
}

fn object(fields: &[PayloadField]) -> Value {
    let mut schema = json!({"type": "object", "required": [], "properties": {}});
    for field in fields {
        if let Some(name) = field.manifest {
            field.add_to(&mut schema, name);
        }
    }
    schema
}

fn new_messages() -> Value {
    json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "required": ["role"],
            "properties": {
                "role": {"type": "string", "enum": ["user", "assistant"]},
                "content": {"type": "string"},
                "blocks": {"type": "array", "items": {"type": "object", "required": ["type"]}},
            },
            "anyOf": [{"required": ["content"]}, {"required": ["blocks"]}],
        },
    })
}
