//! JSON Schemas that are derived from types, in a form that is easy to read.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// Returns the `required` and `properties` of the type.
pub(crate) fn fields<T: JsonSchema>() -> Value {
    let schema = derived::<T>(SchemaSettings::draft2020_12().for_serialize());
    json!({"required": schema.get("required").unwrap_or(&json!([])), "properties": schema["properties"]})
}

/// Returns the schema of the type without references.
pub(crate) fn derived<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let is_payload = settings.contract.is_serialize();
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    Plain { is_payload }.transform(&mut schema);
    schema.to_value()
}

/// Adds the keys of `more`; `required` and `properties` are joined.
pub(crate) fn merge(schema: &mut Value, more: Value) {
    let (Value::Object(schema), Value::Object(more)) = (schema, more) else { return };
    for (key, value) in more {
        match (schema.get_mut(&key), value) {
            (Some(Value::Array(own)), Value::Array(more)) => own.extend(more),
            (Some(Value::Object(own)), Value::Object(more)) => own.extend(more),
            (_, value) => {
                schema.insert(key, value);
            }
        }
    }
}

/// Makes a derived schema easy to read: one list of words or one object instead of alternatives, `null` only where it occurs, no
/// formats of Rust's numbers.
struct Plain {
    /// True for a payload, in which a missing field has no default.
    is_payload: bool,
}

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        schema.remove("title");
        if let Some(Value::String(description)) = schema.get_mut("description") {
            *description = description.replace('\n', " ");
        }
        if self.is_payload {
            schema.remove("default");
        }
        if schema.get("format").is_some_and(|format| format != "date-time" && format != "regex") {
            schema.remove("format");
        }
        if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
            schema.remove("additionalProperties");
        }
        if schema.get("items") == Some(&Value::Bool(true)) {
            schema.remove("items");
        }
        let Some(object) = schema.as_object_mut() else { return };
        join_alternatives(object);
        let names = object.get("required").cloned().unwrap_or_default();
        let is_required =
            |name: &str| names.as_array().is_some_and(|names| names.iter().any(|it| it == name));
        for (name, property) in
            object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
        {
            if !is_required(name) {
                remove_null(property);
            }
        }
    }
}

/// Removes `null` from a type.
fn remove_null(schema: &mut Value) {
    if let Some(alternatives) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        alternatives.retain(|one| one["type"] != "null");
        if let [only] = alternatives.as_slice() {
            let only = only.clone();
            let Value::Object(fields) = schema else { return };
            fields.remove("anyOf");
            for (key, value) in only.as_object().into_iter().flatten() {
                fields.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
}

/// Replaces the variants of an enum by one list of words, or by one object with the fields of all of them.
fn join_alternatives(schema: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = schema.get("oneOf") else { return };
    let words = |variant: &Value| match variant.get("const") {
        Some(word) => vec![word.clone()],
        None => variant["enum"].as_array().cloned().unwrap_or_default(),
    };
    let variants = variants.clone();
    if variants.iter().all(|variant| !words(variant).is_empty()) {
        schema.insert("type".to_owned(), json!("string"));
        schema.insert("enum".to_owned(), variants.iter().flat_map(words).collect());
        schema.remove("oneOf");
    } else if variants.iter().all(|variant| variant["properties"].is_object()) {
        schema.remove("oneOf");
        join_objects(schema, &variants);
    }
}

/// Adds the properties of each variant. A tag gets the words of all variants; the descriptions of the other properties name
/// the variants that have them, and none of them is required.
fn join_objects(schema: &mut Map<String, Value>, variants: &[Value]) {
    let tag = |variant: &Value| variant["properties"]["type"]["const"].as_str().map(str::to_owned);
    let mut properties = schema.remove("properties").unwrap_or_else(|| json!({}));
    let words: Vec<String> = variants.iter().filter_map(tag).collect();
    if !words.is_empty() {
        properties["type"] =
            json!({"type": "string", "enum": words, "description": format!("{}.", quote(&words))});
        schema.insert("required".to_owned(), json!(["type"]));
    }
    let names = |variant: &Value| {
        let mut properties = variant["properties"].as_object().cloned().unwrap_or_default();
        // The only field of a variant has the description of the variant.
        if properties.len() == 1
            && let Some(Value::Object(property)) = properties.values_mut().next()
            && let Some(description) = variant.get("description")
        {
            property.entry("description").or_insert_with(|| description.clone());
        }
        properties
    };
    for (name, mut property) in variants.iter().flat_map(names) {
        if properties.get(&name).is_some() {
            continue;
        }
        let having = variants.iter().filter(|variant| variant["properties"].get(&name).is_some());
        let having: Vec<String> = having.filter_map(tag).collect();
        if let Some(Value::String(description)) = property.get_mut("description")
            && !having.is_empty()
        {
            *description = format!("{description} Only for {}.", quote(&having));
        }
        properties[&name] = property;
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
}

/// Lists words as code: `a`, `b` or `c`.
fn quote(words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    tenter_base::or_list(&words)
}
