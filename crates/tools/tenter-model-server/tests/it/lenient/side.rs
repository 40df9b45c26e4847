//! Side requests: titles, classifications, forced calls.

use serde_json::{Value, json};
use tenter_model_server::{Format, LenientScript, ModelReply, ModelServer};

use tenter_testkit::api_client::{ask, talk, ways};

fn without_tools(format: Format, text: &str) -> Value {
    let mut body = ask(format, text);
    body.as_object_mut().unwrap().remove("tools");
    body
}

/// Demands JSON by a schema.
fn demand(format: Format, body: &mut Value, schema: &Value) {
    match format {
        Format::Anthropic => {
            body["output_config"]["format"] = json!({"type": "json_schema", "schema": schema});
        }
        Format::Responses => {
            let format = json!({"type": "json_schema", "name": "title", "schema": schema});
            body["text"] = json!({"format": format});
        }
        Format::Chat => {
            let format = json!({"name": "title", "schema": schema});
            body["response_format"] = json!({"type": "json_schema", "json_schema": format});
        }
        Format::Gemini => {
            body["generationConfig"] =
                json!({"responseMimeType": "application/json", "responseSchema": schema});
        }
    }
}

#[test]
fn a_request_without_tools_gets_a_harmless_text_and_takes_no_turn() {
    for way in ways() {
        let server =
            ModelServer::start(LenientScript::new([ModelReply::text("One.")]).select_by_order())
                .unwrap();
        let side = talk(&server, way, &without_tools(way.0, "A title, please."));
        assert_eq!((side.text.as_str(), side.calls.len()), ("Nothing to add.", 0), "{way:?}");
        assert_eq!(talk(&server, way, &ask(way.0, "Hello.")).text, "One.", "{way:?}");
        let request = &server.requests()[0];
        assert_eq!((request.lane.as_str(), request.turn), ("side", None), "{way:?}");
    }
}

#[test]
fn a_request_with_a_schema_gets_json_by_it() {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "kind": {"enum": ["user", "model"]},
            "confidence": {"type": ["number", "null"], "minimum": 1},
            "is_new": {"type": "BOOLEAN"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "steps": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/step"}},
            "other": {"anyOf": [{"const": 3}, {"type": "string"}]},
        },
        "$defs": {"step": {"properties": {"name": {"type": "string"}}}},
    });
    let expected = json!({
        "title": "none", "kind": "user", "confidence": 1, "is_new": false, "tags": [],
        "steps": [{"name": "none"}], "other": 3,
    });
    for way in ways() {
        let server = ModelServer::start(LenientScript::new([])).unwrap();
        let mut body = without_tools(way.0, "Classify this.");
        demand(way.0, &mut body, &schema);
        let speech: Value = serde_json::from_str(&talk(&server, way, &body).text).unwrap();
        assert_eq!(speech, expected, "{way:?}");
    }
}

#[test]
fn a_request_that_forces_a_tool_gets_its_call() {
    for way in ways() {
        let server = ModelServer::start(LenientScript::new([ModelReply::text("One.")])).unwrap();
        let mut body = ask(way.0, "Classify this.");
        let calling = json!({"mode": "ANY", "allowedFunctionNames": ["bash"]});
        match way.0 {
            Format::Anthropic => body["tool_choice"] = json!({"type": "tool", "name": "bash"}),
            Format::Responses => body["tool_choice"] = json!({"type": "function", "name": "bash"}),
            Format::Chat => {
                body["tool_choice"] = json!({"type": "function", "function": {"name": "bash"}});
            }
            Format::Gemini => body["toolConfig"] = json!({"functionCallingConfig": calling}),
        }
        let speech = talk(&server, way, &body);
        let (_, name, arguments) = &speech.calls[0];
        assert_eq!(
            (name.as_str(), arguments.as_str()),
            ("bash", r#"{"command":"none"}"#),
            "{way:?}"
        );
        assert_eq!(server.requests()[0].lane, "side", "{way:?}");
    }
}
