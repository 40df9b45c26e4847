//! The payloads and replies of manifest hooks as named types, read from the JSON Schemas.

use std::collections::BTreeMap;

use serde_json::Value;
use tenter_protocol::lifecycle::{Lifecycle, ProtocolName, TABLE};
use tenter_protocol::schema::HookDocument;

/// A type that both languages have.
#[derive(Clone, PartialEq)]
pub(super) enum Type {
    Any,
    Text,
    Words(Vec<String>),
    Integer,
    Number,
    Boolean,
    Null,
    Map(Box<Type>),
    List(Box<Type>),
    Named(String),
    AnyOf(Vec<Type>),
}

/// A field of a record.
#[derive(Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) is_required: bool,
    pub(super) kind: Type,
}

/// An object with known fields.
pub(super) struct Record {
    pub(super) name: String,
    pub(super) about: String,
    /// The record whose fields it has besides its own.
    pub(super) base: Option<&'static str>,
    pub(super) fields: Vec<Field>,
}

/// A record with the fields that several others have in common.
struct Base {
    name: &'static str,
    about: &'static str,
    /// The end of the names of records that have it.
    suffix: &'static str,
    /// Returns true if the record of this event has it.
    has: fn(&str) -> bool,
}

/// Every base, each after its own base.
const BASES: [Base; 9] = [
    Base {
        name: "Payload",
        about: "The fields of every payload.",
        suffix: "Payload",
        has: |_| true,
    },
    Base {
        name: "ToolPayload",
        about: "The fields of the payloads of tool events.",
        suffix: "Payload",
        has: |event| event.contains("Tool"),
    },
    Base {
        name: "HistoryPayload",
        about: "The fields of the payloads of events at which the history can be replaced.",
        suffix: "Payload",
        has: |event| matches!(event, "AfterTurn" | "BeforeStop"),
    },
    Base {
        name: "SubagentPayload",
        about: "The fields of the payloads of a subagent's events.",
        suffix: "Payload",
        has: |event| event.starts_with("Subagent"),
    },
    Base {
        name: "CompactionPayload",
        about: "The fields of the payloads of a compaction's events.",
        suffix: "Payload",
        has: |event| event.ends_with("Compact"),
    },
    Base {
        name: "Reply",
        about: "The fields of every reply, except that a call of a tool also has the decision `ask`.",
        suffix: "Reply",
        has: |event| event != "BeforeTool",
    },
    Base {
        name: "ContextReply",
        about: "The fields of replies that may add context.",
        suffix: "Reply",
        has: |event| {
            !event.starts_with("Subagent")
                && !matches!(event, "BeforeTool" | "AfterAgent" | "PostCompact" | "SessionEnd")
        },
    },
    Base {
        name: "OutputReply",
        about: "The fields of replies that may rewrite the output of a tool.",
        suffix: "Reply",
        has: |event| event.starts_with("AfterTool"),
    },
    Base {
        name: "HistoryReply",
        about: "The fields of replies that may replace the history.",
        suffix: "Reply",
        has: |event| matches!(event, "AfterTurn" | "BeforeStop"),
    },
];

/// All records, each after those that it names.
#[derive(Default)]
pub(super) struct Records {
    pub(super) all: Vec<Record>,
    schemas: BTreeMap<String, Value>,
}

/// Returns the name in Pascal case: `before_tool` → `BeforeTool`.
pub(super) fn pascal(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    };
    name.split('_').map(capital).collect()
}

/// Returns the events, and the types of their payloads and replies.
pub(super) fn records() -> Records {
    let mut records = Records::default();
    for row in &TABLE {
        for (document, suffix) in
            [(HookDocument::Payload, "Payload"), (HookDocument::Reply, "Reply")]
        {
            let schema = document.schema(row.event, ProtocolName::Manifest).unwrap();
            let about = match document {
                HookDocument::Payload => {
                    format!("The payload of `{}`, which fires {}.", row.name, row.fires)
                }
                HookDocument::Reply => format!("A reply to `{}`.", row.name),
            };
            records.add(&(pascal(row.name) + suffix), &about, &schema);
        }
    }
    for base in &BASES {
        records.factor(base);
    }
    records
}

/// Returns the spelling of an executable hook, if it has the event.
pub(super) fn executable_spelling(row: &Lifecycle) -> Option<&'static str> {
    row.spellings(ProtocolName::Executable).first().copied()
}

/// Returns every spelling with its event. A spelling of several events has the first.
pub(super) fn spellings() -> Vec<(&'static str, &'static str)> {
    let mut events: Vec<(&str, &str)> = Vec::new();
    for row in &TABLE {
        for spelling in row.manifest.iter().chain(row.executable) {
            if events.iter().all(|(other, _)| other != spelling) {
                events.push((spelling, row.name));
            }
        }
    }
    events
}

impl Records {
    fn add(&mut self, name: &str, about: &str, schema: &Value) {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut fields = Vec::new();
        for (field, field_schema) in schema["properties"].as_object().into_iter().flatten() {
            let about = field_schema["description"].as_str().unwrap_or_default();
            // Other spellings of replies are read, too.
            if about.starts_with("The same as") {
                continue;
            }
            let is_event = field == "event_type";
            fields.push(Field {
                name: field.clone(),
                about: if is_event { String::new() } else { about.to_owned() },
                is_required: required.contains(&field.as_str()),
                kind: self.kind(name, field, field_schema),
            });
        }
        let (name, about) = (name.to_owned(), about.to_owned());
        self.all.push(Record { name, about, base: None, fields });
    }

    /// Moves the fields that all records of a base have in common to a record of their own, before the first of them.
    fn factor(&mut self, base: &Base) {
        let has = |record: &Record| record.name.strip_suffix(base.suffix).is_some_and(base.has);
        let is_event =
            |record: &Record| TABLE.iter().any(|row| pascal(row.name) + base.suffix == record.name);
        let place = self.all.iter().position(|record| is_event(record) && has(record)).unwrap();
        let (mut fields, parent) = (self.all[place].fields.clone(), self.all[place].base);
        let mut members: Vec<&mut Record> =
            self.all.iter_mut().filter(|record| is_event(record) && has(record)).collect();
        fields.retain(|field| members.iter().all(|record| record.fields.contains(field)));
        for record in &mut members {
            record.base = Some(base.name);
            record.fields.retain(|field| !fields.contains(field));
        }
        let (name, about) = (base.name.to_owned(), base.about.to_owned());
        self.all.insert(place, Record { name, about, base: parent, fields });
    }

    /// Returns the type of a schema, which is the schema of `field` in the record `owner`.
    fn kind(&mut self, owner: &str, field: &str, schema: &Value) -> Type {
        let word = match &schema["type"] {
            Value::String(word) => word.as_str(),
            Value::Array(words) => {
                let has_type = |word: &Value| {
                    let mut one = schema.clone();
                    one["type"] = word.clone();
                    one
                };
                let each: Vec<Value> = words.iter().map(has_type).collect();
                return Type::AnyOf(each.iter().map(|one| self.kind(owner, field, one)).collect());
            }
            _ => {
                let Some(each) = schema["oneOf"].as_array() else { return Type::Any };
                return union(each.iter().map(|one| self.kind(owner, field, one)));
            }
        };
        match word {
            "string" if schema["const"].is_string() => {
                Type::Words(schema["const"].as_str().map(str::to_owned).into_iter().collect())
            }
            "string" => match schema["enum"].as_array() {
                Some(words) => {
                    Type::Words(words.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                }
                None => Type::Text,
            },
            "integer" => Type::Integer,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            "null" => Type::Null,
            "array" => Type::List(Box::new(self.kind(owner, singular(field), &schema["items"]))),
            _ if schema["properties"].is_object() => Type::Named(self.named(owner, field, schema)),
            _ => match &schema["additionalProperties"] {
                Value::Object(_) => {
                    Type::Map(Box::new(self.kind(owner, field, &schema["additionalProperties"])))
                }
                _ => Type::Map(Box::new(Type::Any)),
            },
        }
    }

    /// Returns the name of the record with this schema, which is the same in several events.
    fn named(&mut self, owner: &str, field: &str, schema: &Value) -> String {
        let mut shape = schema.clone();
        shape["description"] = Value::Null;
        if let Some((name, _)) = self.schemas.iter().find(|(_, other)| **other == shape) {
            return name.clone();
        }
        let owner = if owner.ends_with("Reply") { "Reply" } else { owner };
        let owned = format!("{owner}{}", pascal(field));
        let free = [pascal(field), owned].into_iter().find(|name| !self.schemas.contains_key(name));
        let name = free.expect("two different types have the name");
        self.schemas.insert(name.clone(), shape);
        let about = schema["description"].as_str().unwrap_or_default().to_owned();
        let about = if about.is_empty() { format!("The type of `{field}`.") } else { about };
        self.add(&name, &about, schema);
        name
    }
}

/// Returns the type of a value that has one of these types: words come first, together.
fn union(kinds: impl Iterator<Item = Type>) -> Type {
    let (mut words, mut others) = (Vec::new(), Vec::new());
    for kind in kinds {
        match kind {
            Type::Words(more) => words.extend(more),
            other => others.push(other),
        }
    }
    if !words.is_empty() {
        others.insert(0, Type::Words(words));
    }
    Type::AnyOf(others)
}

/// Returns the singular: `commands` → `command`.
fn singular(field: &str) -> &str {
    field.strip_suffix('s').unwrap_or(field)
}
