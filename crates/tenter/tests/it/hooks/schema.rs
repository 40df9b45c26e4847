//! `tenter hooks schema`: samples, the payloads of a session, and examples of replies are valid by the schemas.

mod validator;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tenter_protocol::facts::Facts;
use tenter_protocol::lifecycle::{ProtocolName, TABLE};
use tenter_protocol::manifest::{self, unknown_name};
use tenter_protocol::reply_fields::example;
use tenter_protocol::schema::HookDocument;
use tenter_protocol::{Event, EventName, executable, sample};
use tenter_testkit::Sandbox;

use self::validator::problems;
use super::manifest as manifest_hook;
use crate::sandbox;

const PROTOCOLS: [ProtocolName; 2] = [ProtocolName::Executable, ProtocolName::Manifest];

/// Returns the output of the command.
fn print_schema(sandbox: &Sandbox, args: &[&str]) -> Value {
    sandbox.run([&["hooks", "schema"], args].concat()).expect_code(0).json()
}

#[track_caller]
fn assert_valid(schema: &Value, value: &Value) {
    let violations = problems(schema, value, true);
    assert!(violations.is_empty(), "{value:#}\n{violations:#?}");
}

#[test]
fn the_command_prints_the_schema_of_one_event_or_of_all() {
    let sandbox = sandbox();
    let of = |document: HookDocument, event, protocol| document.schema(event, protocol).unwrap();
    let before_tool = EventName::BeforeTool;
    for (args, expected) in [
        (&["before_tool"][..], of(HookDocument::Payload, before_tool, ProtocolName::Manifest)),
        (&["pre-tool-call"], of(HookDocument::Payload, before_tool, ProtocolName::Manifest)),
        (&["before_tool_call"], of(HookDocument::Payload, before_tool, ProtocolName::Executable)),
        (
            &["before_tool", "--protocol", "executable", "--reply"],
            of(HookDocument::Reply, before_tool, ProtocolName::Executable),
        ),
        (&[], HookDocument::Payload.schema_of_all(ProtocolName::Manifest)),
        (
            &["--reply", "--protocol", "executable"],
            HookDocument::Reply.schema_of_all(ProtocolName::Executable),
        ),
    ] {
        let schema = print_schema(&sandbox, args);
        assert_eq!(schema, expected, "{args:?}");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}

#[test]
fn an_event_that_the_protocol_does_not_have_is_an_error() {
    let sandbox = sandbox();
    let args = ["hooks", "schema", "session_start", "--protocol", "executable"];
    let output = sandbox.run(args).expect_code(2);
    let expected = "executable hooks do not have the event session_start\n  help: omit `--protocol executable`";
    assert!(output.stderr.contains(expected), "{output}");
    sandbox.fails(2, "hooks schema xyz", "there is no event \"xyz\"");
}

/// Returns the payload of an event for every hook that can subscribe to it: protocol, spelling and payload.
fn payloads(event: &Event, facts: &Facts) -> Vec<(ProtocolName, Value)> {
    let row = event.body.name().lifecycle();
    let mut payloads = Vec::new();
    for spelling in row.executable {
        let line = executable::payload(event, spelling, facts).unwrap();
        payloads.push((ProtocolName::Executable, serde_json::from_str(&line).unwrap()));
    }
    for spelling in row.manifest {
        for light in [false, true] {
            let payload = manifest::payload(event, spelling, None, facts, light);
            payloads.push((ProtocolName::Manifest, payload.to_value()));
        }
    }
    payloads
}

fn full_event(name: EventName) -> (Event, Facts) {
    sample::full_event(name, "2026-03-01T09:30:00.000Z", Path::new("/shop"))
}

#[test]
fn samples_are_valid_payloads() {
    for protocol in PROTOCOLS {
        let all = HookDocument::Payload.schema_of_all(protocol);
        for row in &TABLE {
            let plain = sample::event(row.event, "2026-03-01T09:30:00.000Z", Path::new("/shop"));
            let schema = HookDocument::Payload.schema(row.event, protocol);
            for (event, facts) in [(plain, Facts::default()), full_event(row.event)] {
                for (of, payload) in payloads(&event, &facts) {
                    if of == protocol {
                        assert_valid(schema.as_ref().unwrap(), &payload);
                        assert_valid(&all, &payload);
                    }
                }
            }
        }
    }
}

/// Collects the fields that a schema lists, with the fields of the objects in them.
fn paths(prefix: &str, schema: &Value, paths_found: &mut BTreeSet<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}.{name}");
        paths(&path, property, paths_found);
        paths_found.insert(path);
    }
}

#[test]
fn every_field_of_a_schema_is_in_a_payload() {
    for protocol in PROTOCOLS {
        for row in &TABLE {
            let Some(schema) = HookDocument::Payload.schema(row.event, protocol) else { continue };
            let mut names = BTreeSet::new();
            paths("", &schema, &mut names);
            let (event, facts) = full_event(row.event);
            let lines = payloads(&event, &facts);
            for path in names {
                let pointer = path.replace('.', "/");
                let is_written = |(of, payload): &(ProtocolName, Value)| {
                    *of == protocol && payload.pointer(&pointer).is_some()
                };
                // A result that succeeded has no error.
                let is_error = row.event == EventName::AfterTool && path == ".tool_output.error";
                assert!(lines.iter().any(is_written) || is_error, "{}: {path}", row.name);
            }
        }
    }
}

/// Checks that every field of `value`, which is at `path` in the payload, can be used in a condition of a static hook.
fn assert_known<'v>(event: EventName, path: &mut Vec<&'v str>, value: &'v Value) {
    for (name, value) in value.as_object().into_iter().flatten() {
        path.push(name);
        assert_eq!(unknown_name(event, path), None, "{event}: {path:?}");
        assert_known(event, path, value);
        path.pop();
    }
}

#[test]
fn conditions_of_static_hooks_may_use_every_field_and_no_others() {
    for row in &TABLE {
        let (event, facts) = full_event(row.event);
        for (protocol, payload) in payloads(&event, &facts) {
            if protocol == ProtocolName::Manifest {
                assert_known(row.event, &mut Vec::new(), &payload);
                let names = unknown_name(row.event, &["?"]).unwrap().possible;
                let fields = payload.as_object().unwrap().keys().cloned();
                let messages = Some("messages".to_owned()).filter(|name| names.contains(name));
                let fields: BTreeSet<String> = fields.chain(messages).collect();
                assert_eq!(BTreeSet::from_iter(names), fields, "{}", row.name);
            }
        }
    }
}

const SESSION: &str = r"
context_window: 16000
turns:
  - text: I will look.
    tool_calls:
      - {name: bash, input: {command: ls}}
      - {name: file_read, input: {file_path: missing.md}}
      - {name: subagent, input: {question: Find the bug., name: finder, type: reviewer}}
    usage: {input_tokens: 13100, output_tokens: 40}
  - {text: In line 3., usage: {input_tokens: 100, output_tokens: 9}}
  - {text: ok, usage: {input_tokens: 200, output_tokens: 9}}
recipes: {compact: [{text: A bug in line 3., usage: {input_tokens: 100, output_tokens: 9}}]}
";

#[test]
fn the_payloads_of_a_session_are_valid() {
    let sandbox = sandbox();
    let events: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    let (first, others) = events.split_first().unwrap();
    let front = format!("trigger: {first}\nmetadata: {{triggers: [{}]}}", others.join(", "));
    let hooks = super::user_hooks(&sandbox);
    let _ = manifest_hook(&hooks, "record", &front, "cat >> manifest.jsonl");
    let names = TABLE.iter().filter_map(|row| row.executable.last());
    let names: BTreeSet<&str> = names.copied().collect();
    let print = names.iter().copied().collect::<Vec<_>>().join("\\n");
    let script = format!(
        "#!/bin/sh\ncase $1 in hook) printf '{print}\\n' ;; run) cat >> executable.jsonl ;; esac\n"
    );
    sandbox.user_hook("recorder", &script);
    let _ = sandbox.play(SESSION, &["Find the bug."]).expect_code(0);
    for (file, key, protocol, expected) in [
        ("manifest.jsonl", "event_type", ProtocolName::Manifest, events.into_iter().collect()),
        ("executable.jsonl", "event", ProtocolName::Executable, names),
    ] {
        let text = sandbox.read(file);
        let mut spellings = BTreeSet::new();
        for line in text.lines() {
            let payload: Value = serde_json::from_str(line).unwrap();
            let spelling = payload[key].as_str().unwrap().to_owned();
            let args: &[&str] = if protocol == ProtocolName::Executable {
                &[&spelling, "--protocol", "executable"]
            } else {
                &[&spelling]
            };
            if spellings.insert(spelling.clone()) {
                assert_valid(&print_schema(&sandbox, args), &payload);
            } else {
                assert_valid(&HookDocument::Payload.schema_of_all(protocol), &payload);
            }
        }
        assert_eq!(spellings.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn examples_of_replies_are_valid_and_misspelt_ones_are_not() {
    for protocol in PROTOCOLS {
        for row in &TABLE {
            let Some(schema) = HookDocument::Reply.schema(row.event, protocol) else { continue };
            assert_valid(&schema, &serde_json::json!({}));
            for (power, _) in row.may {
                let Some(example) = example(*power, protocol) else { continue };
                let reply: Value = serde_json::from_str(example).unwrap();
                assert_valid(&schema, &reply);
                let mut misspelt = reply.clone();
                misspelt["descision"] = "deny".into();
                assert_eq!(problems(&schema, &misspelt, false).len(), 1, "{misspelt}");
            }
        }
    }
    let reply = |event, protocol, value: Value| {
        problems(&HookDocument::Reply.schema(event, protocol).unwrap(), &value, false).is_empty()
    };
    let ask = serde_json::json!({"decision": "ask"});
    assert!(reply(EventName::BeforeTool, ProtocolName::Manifest, ask.clone()));
    assert!(!reply(EventName::AfterTool, ProtocolName::Manifest, ask));
    let empty = serde_json::json!({"result": "mutate", "messages": [{"role": "user"}]});
    assert!(!reply(EventName::AfterTurn, ProtocolName::Executable, empty));
}
