//! Checks JSON against a JSON Schema, as far as the schemas of hooks use that language.

use serde_json::{Map, Value};

/// Returns the violations of `schema` in `value`. A strict check also reports fields that the schema does not list.
pub(super) fn problems(schema: &Value, value: &Value, is_strict: bool) -> Vec<String> {
    let mut validator = Validator { root: schema, is_strict, problems: Vec::new() };
    validator.check(schema, value, "$");
    validator.problems
}

struct Validator<'s> {
    root: &'s Value,
    is_strict: bool,
    problems: Vec<String>,
}

impl Validator<'_> {
    fn check(&mut self, schema: &Value, value: &Value, at: &str) {
        for (keyword, rule) in schema.as_object().unwrap() {
            let is_kept = match keyword.as_str() {
                // `additionalProperties` is checked with `properties`.
                "$schema"
                | "$defs"
                | "title"
                | "description"
                | "format"
                | "additionalProperties" => true,
                "type" => is_of_type(rule, value),
                "enum" => rule.as_array().unwrap().contains(value),
                "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
                "minItems" => {
                    let least = usize::try_from(rule.as_u64().unwrap()).unwrap();
                    value.as_array().is_none_or(|list| list.len() >= least)
                }
                "required" => has_fields(rule, value),
                "anyOf" | "oneOf" => self.matches_any(rule, value),
                "const" => rule == value,
                "$ref" => self.follow(rule, value, at),
                "items" => self.check_items(rule, value, at),
                "properties" => self.check_fields(schema, value, at),
                other => panic!("the validator does not know {other}"),
            };
            if !is_kept {
                self.problems.push(format!("{at}: {value} violates {keyword}: {rule}"));
            }
        }
        if schema["properties"].is_null() && schema["additionalProperties"].is_object() {
            self.check_fields(schema, value, at);
        }
    }

    fn matches_any(&self, rules: &Value, value: &Value) -> bool {
        let matches = |rule: &Value| {
            let mut validator =
                Validator { root: self.root, is_strict: self.is_strict, problems: Vec::new() };
            validator.check(rule, value, "$");
            validator.problems.is_empty()
        };
        rules.as_array().unwrap().iter().any(matches)
    }

    fn follow(&mut self, reference: &Value, value: &Value, at: &str) -> bool {
        let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
        let target = self.root.pointer(pointer);
        if let Some(target) = target {
            self.check(target, value, at);
        }
        target.is_some()
    }

    fn check_items(&mut self, rule: &Value, value: &Value, at: &str) -> bool {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            self.check(rule, item, &format!("{at}[{index}]"));
        }
        true
    }

    fn check_fields(&mut self, schema: &Value, value: &Value, at: &str) -> bool {
        let no_fields = Map::new();
        let names = schema["properties"].as_object().unwrap_or(&no_fields);
        for (name, field) in value.as_object().into_iter().flatten() {
            let at = format!("{at}.{name}");
            match (names.get(name), &schema["additionalProperties"]) {
                (Some(rule), _) | (None, rule @ Value::Object(_)) => self.check(rule, field, &at),
                (None, Value::Bool(false)) => self.problems.push(format!("{at} is not allowed")),
                (None, _) if self.is_strict => self.problems.push(format!("{at} is not listed")),
                (None, _) => {}
            }
        }
        true
    }
}

fn has_fields(names: &Value, value: &Value) -> bool {
    let names = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    value.as_object().is_none_or(|object| names.into_iter().all(|name| object.contains_key(name)))
}

fn is_of_type(rule: &Value, value: &Value) -> bool {
    if let Some(types) = rule.as_array() {
        return types.iter().any(|rule| is_of_type(rule, value));
    }
    match rule.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("there is no type {other}"),
    }
}

#[test]
fn violations_are_found() {
    let schema = serde_json::json!({
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "string", "enum": ["x"]},
            "b": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        },
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    });
    for (value, count) in [
        (serde_json::json!({"a": "x", "b": [1]}), 0),
        (serde_json::json!({"a": "y"}), 1),
        (serde_json::json!({"b": [-1, "x"]}), 3),
        (serde_json::json!({"a": "x", "c": 1}), 1),
        (serde_json::json!({}), 2),
        (serde_json::json!([]), 1),
    ] {
        let violations = problems(&schema, &value, true);
        assert_eq!(violations.len(), count, "{value}: {violations:?}");
    }
}
