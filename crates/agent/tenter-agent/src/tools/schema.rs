//! JSON Schemas of tool inputs, in the plain subset that every model provider accepts: no references, no type lists, no
//! titles, no number formats.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Returns the JSON Schema of `T`.
pub(crate) fn plain_schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    PlainSchema.transform(&mut schema);
    schema.to_value()
}

/// Removes what some providers reject.
struct PlainSchema;

impl Transform for PlainSchema {
    fn transform(&mut self, schema: &mut Schema) {
        for key in ["title", "format"] {
            schema.remove(key);
        }
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".to_owned(), only);
            }
        }
        transform_subschemas(self, schema);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Registry;
    use super::super::testing::Bench;
    use serde_json::{Value, json};
    use tenter_protocol::tool_fields;

    fn check(tool: &str, input: &Value) -> Result<(), String> {
        Bench::new().tool(tool).check(input.as_object().unwrap())
    }

    /// Calls `see` with `schema` and each of its subschemas.
    fn each(schema: &Value, see: &mut impl FnMut(&Value)) {
        see(schema);
        let properties =
            schema["properties"].as_object().into_iter().flat_map(|properties| properties.values());
        for inner in properties.chain(schema.get("items")) {
            each(inner, see);
        }
    }

    #[test]
    fn every_schema_is_closed_described_and_plain() {
        for tool in Registry::standard().iter() {
            let schema = tool.input_schema();
            assert_eq!(schema["type"], json!("object"), "{}", tool.name());
            each(&schema, &mut |inner| {
                let place = format!("{}: {inner}", tool.name());
                assert!(inner["type"].is_string(), "{place}");
                if inner["type"] == json!("object") {
                    assert_eq!(inner["additionalProperties"], json!(false), "{place}");
                    let properties = inner["properties"].as_object().unwrap();
                    assert!(
                        properties.values().all(|property| property["description"].is_string()),
                        "{place}"
                    );
                }
            });
            let text = schema.to_string();
            for word in [
                "$ref",
                "$schema",
                "\"title\"",
                "\"format\"",
                "\"null\"",
                "anyOf",
                "oneOf",
                "_description",
            ] {
                assert!(!text.contains(word), "{}: {word} in {text}", tool.name());
            }
            assert!(!tool.description().contains("  "), "{}", tool.name());
        }
    }

    #[test]
    fn every_schema_lists_its_fields_and_the_required_ones() {
        let expected = [
            ("bash", "command description timeout background", "command"),
            ("file_read", "file_path offset line_limit", "file_path"),
            ("file_write", "file_path text", "file_path text"),
            ("file_edit", "file_path old_text new_text replace_all", "file_path old_text new_text"),
            (
                "grep",
                "pattern path include ignore_case fixed_strings surround_lines max_results",
                "pattern",
            ),
            ("glob", "pattern path ignore_gitignore", "pattern"),
            ("todo", "todos", ""),
        ];
        for (name, fields, required) in expected {
            let schema = Bench::new().tool(name).input_schema();
            let names: Vec<&str> =
                schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(names.join(" "), fields, "{name}");
            let required_fields: Vec<&str> = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            assert_eq!(required_fields.join(" "), required, "{name}");
        }
    }

    #[test]
    fn limits_and_choices_are_in_the_schema() {
        let bash = Bench::new().tool("bash").input_schema();
        let timeout = &bash["properties"]["timeout"];
        assert_eq!((&timeout["minimum"], &timeout["maximum"]), (&json!(1), &json!(600)));
        let todo = Bench::new().tool("todo").input_schema();
        let entry = &todo["properties"]["todos"]["items"];
        assert_eq!(entry["required"], json!(["content", "status"]));
        assert_eq!(
            entry["properties"]["status"]["enum"],
            json!(["pending", "in_progress", "completed", "canceled"])
        );
        assert_eq!(entry["properties"]["priority"]["enum"], json!(["high", "medium", "low"]));
    }

    #[test]
    fn field_names_from_other_agents_are_accepted() {
        for (tool, input) in [
            ("file_read", json!({"path": "a", "limit": 3})),
            ("file_write", json!({"path": "a", "content": ""})),
            ("file_edit", json!({"path": "a", "old_string": "x", "new_string": ""})),
            (
                "file_edit",
                json!({"file_path": "a", "old_text": "x", "new_text": "", "replace_all": true}),
            ),
        ] {
            let fields = tool_fields::renamed(tool, input.as_object().unwrap()).unwrap();
            assert_eq!(check(tool, &Value::Object(fields)), Ok(()), "{tool} {input}");
        }
    }

    #[test]
    fn every_alias_and_every_path_belongs_to_an_advertised_field() {
        let bench = Bench::new();
        for (tool, alias, field) in
            tool_fields::ALIASES.iter().filter(|(tool, ..)| *tool != "skill")
        {
            let properties = &bench.tool(tool).input_schema()["properties"];
            assert!(properties.get(field).is_some(), "{tool} {field}");
            assert!(properties.get(alias).is_none(), "{tool} {alias}");
        }
        for tool in Registry::standard().iter() {
            let properties = tool.input_schema()["properties"].clone();
            for field in
                properties.as_object().unwrap().keys().filter(|field| field.contains("path"))
            {
                let is_row =
                    |row: &&(&str, &str, _)| (row.0, row.1) == (tool.name(), field.as_str());
                assert!(
                    tool_fields::PATHS.iter().any(|row| is_row(&row)),
                    "{} {field}",
                    tool.name()
                );
            }
        }
    }

    #[test]
    fn the_check_rejects_what_the_schema_forbids() {
        for (tool, input) in [
            ("bash", json!({"command": "ls", "timeout": 0})),
            ("file_read", json!({"file_path": "a", "offset": 0})),
            ("file_read", json!({"file_path": "a", "line_limit": 2001})),
            ("grep", json!({"pattern": "a", "surround_lines": 11})),
            ("grep", json!({"pattern": "a", "max_results": 0})),
            ("glob", json!({"pattern": ""})),
            ("todo", json!({"todos": [{"content": "a", "status": "done"}]})),
            ("todo", json!({"list": []})),
        ] {
            assert!(check(tool, &input).is_err(), "{tool} {input}");
        }
    }
}
