//! Harmless answers to requests beside the conversations: titles, summaries, classifications.

use serde_json::{Map, Value, json};

use crate::reading::{AnswerFormat, OfferedTool, Reading, Role};
use crate::reply::ModelReply;

/// Maximum depth to which a schema is followed.
const MAX_DEPTH: usize = 16;

/// Returns true if a request offers no tools, or demands the call of a certain one.
pub(super) fn is_side(reading: &Reading) -> bool {
    reading.tools.is_empty() || forced(reading).is_some()
}

/// Returns the answer to a side request.
pub(super) fn reply(reading: &Reading) -> ModelReply {
    if let Some(tool) = forced(reading) {
        return ModelReply::new().call(&tool.name, instance(&tool.schema));
    }
    match &reading.answer {
        AnswerFormat::Json(Value::Null) => ModelReply::text("{}"),
        AnswerFormat::Json(schema) => ModelReply::text(&instance(schema).to_string()),
        AnswerFormat::Text if wants_json(reading) => ModelReply::text("{}"),
        AnswerFormat::Text => ModelReply::text("Nothing to add."),
    }
}

fn forced(reading: &Reading) -> Option<&OfferedTool> {
    let name = reading.forced_tool.as_ref()?;
    reading.tools.iter().find(|tool| tool.name == *name)
}

/// Returns true if the system prompt or the user's last message asks for JSON in words.
fn wants_json(reading: &Reading) -> bool {
    let last = reading.texts(Role::User).next_back();
    reading.texts(Role::System).chain(last).any(|text| text.contains("JSON"))
}

/// Returns a meaningless value that a JSON Schema allows.
fn instance(schema: &Value) -> Value {
    at_depth(schema, schema, 0)
}

fn at_depth(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    if let Some(fixed) = fixed(schema) {
        return fixed;
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#')) {
        return root.pointer(target).map_or(Value::Null, |next| at_depth(next, root, depth + 1));
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema[choice].get(0) {
            return at_depth(first, root, depth + 1);
        }
    }
    match kind(schema).as_str() {
        "object" => object(schema, root, depth),
        "array" => array(schema, root, depth),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(0)),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => json!("none"),
    }
}

/// Returns the value that a schema names: its only one, its default, or its first.
fn fixed(schema: &Value) -> Option<Value> {
    let literal = schema.get("const").or_else(|| schema.get("default"));
    literal.or_else(|| schema["enum"].get(0)).cloned()
}

/// Returns the type in lower case: Gemini writes it in upper case.
fn kind(schema: &Value) -> String {
    let kind = &schema["type"];
    let first = kind.as_str().or_else(|| kind[0].as_str());
    let implied = if schema["properties"].is_object() { "object" } else { "" };
    first.unwrap_or(implied).to_ascii_lowercase()
}

fn object(schema: &Value, root: &Value, depth: usize) -> Value {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let fields = fields.map(|(name, field)| (name.clone(), at_depth(field, root, depth + 1)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn array(schema: &Value, root: &Value, depth: usize) -> Value {
    let is_required = schema["minItems"].as_u64().unwrap_or(0) > 0;
    let element = is_required.then(|| at_depth(&schema["items"], root, depth + 1));
    Value::Array(element.into_iter().collect())
}
