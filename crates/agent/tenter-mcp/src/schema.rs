//! Input schemas of servers in the form that every model provider accepts: no references, no type lists with `null`, an object at the
//! top.

use serde_json::{Map, Value, json};

/// Maximum number of levels, references included.
const MAX_DEPTH: usize = 32;
/// Maximum size of a schema in bytes.
const MAX_BYTES: usize = 64 << 10;
/// Keys whose value is a schema.
const SCHEMA: [&str; 6] =
    ["items", "additionalProperties", "not", "contains", "propertyNames", "additionalItems"];
/// Keys whose value is a list of schemas.
const SCHEMAS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keys whose value is an object of schemas.
const NAMED_SCHEMAS: [&str; 2] = ["properties", "patternProperties"];
/// Keys that are left out: some providers reject them, and none needs them.
const DROPPED: [&str; 6] = ["$schema", "$id", "$defs", "definitions", "title", "$comment"];

/// Returns the schema for providers; `None` if it is too large.
pub(crate) fn plain(schema: &Map<String, Value>) -> Option<Value> {
    let root = Value::Object(schema.clone());
    let mut bytes_left = MAX_BYTES;
    let mut plain = Plain { root: &root, bytes_left: &mut bytes_left }.schema(&root, 0)?;
    let object = plain.as_object_mut()?;
    object.insert("type".to_owned(), json!("object"));
    if !object.get("properties").is_some_and(Value::is_object) {
        object.insert("properties".to_owned(), json!({}));
    }
    Some(plain)
}

struct Plain<'s> {
    root: &'s Value,
    /// Number of bytes that the result may still have.
    bytes_left: &'s mut usize,
}

impl Plain<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        // What nests deeper, such as a recursive schema, accepts anything.
        if depth > MAX_DEPTH {
            return Some(json!({}));
        }
        let Value::Object(fields) = schema else { return self.count(schema) };
        if let Some(target) = fields.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            let Some(target) = target else { return Some(json!({})) };
            let target = target.clone();
            let mut target_schema = self.schema(&target, depth + 1)?;
            let description = fields.get("description").map(|text| self.count(text));
            if let (Some(object), Some(text)) = (target_schema.as_object_mut(), description) {
                object.insert("description".to_owned(), text?);
            }
            return Some(target_schema);
        }
        let mut plain = Map::new();
        for (key, value) in fields {
            let key = key.as_str();
            if DROPPED.contains(&key) || (key == "default" && value.is_null()) {
                continue;
            }
            *self.bytes_left = self.bytes_left.checked_sub(key.len())?;
            let value = match value {
                Value::Array(types) if key == "type" => type_of(types),
                Value::Array(schemas) if SCHEMAS.contains(&key) => {
                    let plain = schemas.iter().map(|one| self.schema(one, depth + 1));
                    Value::Array(plain.collect::<Option<_>>()?)
                }
                Value::Object(_) if SCHEMA.contains(&key) => self.schema(value, depth + 1)?,
                Value::Object(properties) if NAMED_SCHEMAS.contains(&key) => {
                    let properties = properties.iter().map(|(name, one)| {
                        *self.bytes_left = self.bytes_left.checked_sub(name.len())?;
                        Some((name.clone(), self.schema(one, depth + 1)?))
                    });
                    Value::Object(properties.collect::<Option<_>>()?)
                }
                other => self.count(other)?,
            };
            plain.insert(key.to_owned(), value);
        }
        Some(Value::Object(plain))
    }

    /// Returns a value that is no schema, if there is space for it.
    fn count(&mut self, value: &Value) -> Option<Value> {
        *self.bytes_left = self.bytes_left.checked_sub(value.to_string().len())?;
        Some(value.clone())
    }
}

/// Returns the first of several types that is not `null`.
fn type_of(types: &[Value]) -> Value {
    types.iter().find(|kind| *kind != "null").cloned().unwrap_or_else(|| json!("string"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain_of(schema: &Value) -> Option<Value> {
        plain(schema.as_object().unwrap())
    }

    #[test]
    fn references_are_resolved_and_properties_named_like_keys_stay() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Arguments",
            "type": "object",
            "properties": {
                "title": {"$ref": "#/$defs/Title", "description": "its title"},
                "count": {"type": ["integer", "null"], "default": null},
                "missing": {"$ref": "https://example.com/x"}
            },
            "required": ["title"],
            "$defs": {"Title": {"type": "string", "title": "Title", "enum": ["a", "b"]}}
        });
        assert_eq!(
            plain_of(&schema).unwrap(),
            json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string", "enum": ["a", "b"], "description": "its title"},
                    "count": {"type": "integer"},
                    "missing": {}
                },
                "required": ["title"]
            })
        );
    }

    #[test]
    fn an_empty_schema_becomes_an_object_without_properties() {
        assert_eq!(plain_of(&json!({})).unwrap(), json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn recursive_schemas_end_and_large_ones_are_refused() {
        let recursive = json!({
            "properties": {"node": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}}}
        });
        assert!(plain_of(&recursive).unwrap().to_string().len() < 4096);
        let bushy = json!({
            "properties": {"node": {"$ref": "#/$defs/N"}},
            "$defs": {"N": {"properties": {"a": {"$ref": "#/$defs/N"}, "b": {"$ref": "#/$defs/N"}}}}
        });
        assert_eq!(plain_of(&bushy), None);
        let large = json!({"properties": {"x": {"description": "x".repeat(MAX_BYTES)}}});
        assert_eq!(plain_of(&large), None);
    }
}
