//! The rules for tools: names and schemas.

use std::collections::HashSet;

use serde_json::Value;

use super::{Violations, elements};

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// Checks a tool's name: `^[a-zA-Z0-9_-]{1,64}$`.
pub(super) fn name(name: &Value, at: &str, violations: &mut Violations) {
    let name = name.as_str().unwrap_or_default();
    let fine = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let problem = format!("`{name}` is no tool's name: 1 to 64 of a-z, A-Z, 0-9, _ and -");
    violations.demand((1..=64).contains(&name.len()) && name.chars().all(fine), at, &problem);
}

/// Checks that no two tools have the same name.
pub(super) fn distinct<'n>(names: impl Iterator<Item = &'n Value>, violations: &mut Violations) {
    let mut names_before = HashSet::new();
    for name in names {
        violations.demand(
            names_before.insert(name.to_string()),
            "tools",
            &format!("two tools are named {name}"),
        );
    }
}

/// The dialect of schemas in an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Plain JSON Schema.
    Plain,
    /// OpenAI's strict mode: every object is closed, and every property is required.
    Strict,
    /// Gemini: type names may be in capitals.
    Capitals,
}

/// Checks the schema of a tool's input.
pub(super) fn schema(schema: &Value, at: &str, rules: Rules, violations: &mut Violations) {
    violations.demand(is_type(schema, "object", rules), at, "must be a schema of type object");
    inner(schema, at, rules, violations);
}

fn is_type(schema: &Value, kind: &str, rules: Rules) -> bool {
    let matches = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        name == kind || (rules == Rules::Capitals && name.eq_ignore_ascii_case(kind))
    };
    matches(&schema["type"]) || elements(&schema["type"]).iter().any(matches)
}

fn inner(schema: &Value, at: &str, rules: Rules, violations: &mut Violations) {
    if schema.is_boolean() {
        return;
    }
    let Some(fields) = schema.as_object() else {
        return violations.add(at, "a schema must be an object");
    };
    kind(&schema["type"], at, rules, violations);
    if let Some(values) = fields.get("enum") {
        violations.demand(!elements(values).is_empty(), at, "`enum` must list values");
    }
    if is_type(schema, "array", rules) {
        let is_list = fields.contains_key("items") || fields.contains_key("prefixItems");
        violations.demand(is_list, at, "an array must say what it holds: `items`");
    }
    properties(schema, at, rules, violations);
    for key in ["items", "additionalProperties"].into_iter().filter(|key| fields.contains_key(*key))
    {
        inner(&schema[key], &format!("{at}.{key}"), rules, violations);
    }
    for key in ["anyOf", "oneOf", "allOf"].into_iter().filter(|key| fields.contains_key(*key)) {
        violations.demand(
            !elements(&schema[key]).is_empty(),
            at,
            &format!("`{key}` must list schemas"),
        );
        for (index, choice) in elements(&schema[key]).iter().enumerate() {
            inner(choice, &format!("{at}.{key}[{index}]"), rules, violations);
        }
    }
}

fn kind(kind: &Value, at: &str, rules: Rules, violations: &mut Violations) {
    let several = [kind.clone()];
    let kinds = if kind.is_array() { elements(kind) } else { &several };
    for kind in kinds.iter().filter(|kind| !kind.is_null()) {
        let is_known = TYPES.iter().any(|name| {
            kind.as_str().is_some_and(|kind| {
                kind == *name || (rules == Rules::Capitals && kind.eq_ignore_ascii_case(name))
            })
        });
        violations.demand(is_known, at, &format!("{kind} is no type"));
    }
}

fn properties(schema: &Value, at: &str, rules: Rules, violations: &mut Violations) {
    let properties = &schema["properties"];
    let object = properties.as_object();
    violations.demand(
        object.is_some() || properties.is_null(),
        at,
        "`properties` must be an object",
    );
    for (name, property) in object.into_iter().flatten() {
        inner(property, &format!("{at}.{name}"), rules, violations);
    }
    let required_names = &schema["required"];
    violations.demand(
        required_names.is_array() || required_names.is_null(),
        at,
        "`required` must be a list",
    );
    for name in elements(required_names) {
        let there = name.as_str().is_some_and(|name| properties.get(name).is_some());
        violations.demand(there, at, &format!("`required` names {name}, which is no property"));
    }
    if rules == Rules::Strict && is_type(schema, "object", rules) {
        strict(schema, at, violations);
    }
}

fn strict(schema: &Value, at: &str, violations: &mut Violations) {
    violations.demand(
        schema["additionalProperties"] == false,
        at,
        "strict: must close `additionalProperties`",
    );
    let names = elements(&schema["required"]);
    for name in schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys()) {
        let there = names.iter().any(|other| other == name.as_str());
        violations.demand(there, at, &format!("strict: `{name}` must be required"));
    }
}
