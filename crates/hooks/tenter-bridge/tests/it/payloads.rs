//! Payloads that no host sends, made from recorded ones: they are read or rejected with a reason, and never a panic.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use tenter_bridge::payload::Payload;
use tenter_bridge::{Host, NativeEvent, hosts};

/// A recorded payload of an event.
#[derive(Debug, Clone)]
struct Recorded {
    host: &'static Host,
    event: &'static NativeEvent,
    payload: Value,
}

/// Returns every payload of every host, recorded or from documentation.
fn recorded() -> Vec<Recorded> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tenter-hook/tests/fixtures");
    let host_payloads = |host: &'static Host| {
        let directories = [fixtures.join(host.id), fixtures.join("documented").join(host.id)];
        let files = directories.into_iter().filter_map(|directory| fs::read_dir(directory).ok());
        let files = files.flatten().map(|file| file.unwrap().path());
        files.filter_map(move |file| read_recorded(host, file))
    };
    hosts::ALL.iter().copied().flat_map(host_payloads).collect()
}

fn read_recorded(host: &'static Host, file: PathBuf) -> Option<Recorded> {
    let name = file.file_name()?.to_str()?.to_owned();
    // Some names of events have dots.
    let events = host.events.iter().filter(|event| name.starts_with(&format!("{}.", event.name)));
    let event = events.max_by_key(|event| event.name.len())?;
    let payload = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
    Some(Recorded { host, event, payload })
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        ".{0,12}".prop_map(Value::String),
        Just(json!([])),
        Just(json!({"a": [{"b": null}]})),
        Just(json!("{\"command\": 1}")),
    ]
}

/// Adds the paths of all members and elements, as JSON pointers.
fn pointers(value: &Value, at: &str, paths: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value))
            .collect(),
        Value::Array(array) => {
            array.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (key, value) in members {
        let pointer = format!("{at}/{key}");
        pointers(value, &pointer, paths);
        paths.push(pointer);
    }
}

fn read(fixture: &Recorded) -> Result<(), String> {
    let payload = Payload::parse(fixture.payload.to_string().as_bytes()).unwrap();
    let result = (fixture.host.read)(fixture.event, &payload);
    result.map(drop).map_err(|error| error.to_string())
}

#[test]
fn every_recorded_payload_is_read() {
    let all = recorded();
    for host in hosts::ALL {
        assert!(all.iter().any(|one| one.host.id == host.id), "no payload of {}", host.name);
    }
    for one in all {
        read(&one).unwrap_or_else(|error| panic!("{} {}: {error}", one.host.id, one.event.name));
    }
}

proptest! {
    #[test]
    fn a_changed_payload_is_read_or_rejected_with_a_reason(
        index in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any_value()), 1..4),
    ) {
        let all = recorded();
        let mut one = all[index.index(all.len())].clone();
        for (place, value) in edits {
            let mut places = Vec::new();
            pointers(&one.payload, "", &mut places);
            if let Some(place) = places.get(place.index(places.len().max(1))) {
                *one.payload.pointer_mut(place).unwrap() = value;
            }
        }
        if let Err(reason) = read(&one) {
            prop_assert!(!reason.trim().is_empty());
        }
    }
}
