//! Any turn of a script reaches the client unchanged.

use proptest::prelude::*;
use serde_json::{Map, Value};
use tenter_model_server::{LenientScript, ModelReply, ModelServer};

use tenter_testkit::api_client::{ask, talk, ways};

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Call(String, Value),
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Value::from))
}

fn part() -> impl Strategy<Value = Part> {
    let arguments = prop::collection::vec((any::<String>(), value()), 0..4);
    let arguments =
        arguments.prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()));
    prop_oneof![
        any::<String>().prop_map(Part::Text),
        ("[a-zA-Z_][a-zA-Z0-9_-]{0,20}", arguments)
            .prop_map(|(name, value)| Part::Call(name, value)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_turn_survives_every_api(parts in prop::collection::vec(part(), 0..6), input in 0..1_000_000_u64) {
        let reply = parts.iter().fold(ModelReply::new().usage(input, 7, 0), |reply, part| match part {
            Part::Text(text) => reply.say(text),
            Part::Call(name, arguments) => reply.call(name, arguments.clone()),
        });
        let text: String = parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Call(..) => None,
        }).collect();
        let calls: Vec<(String, Value)> = parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Call(name, arguments) => Some((name.clone(), arguments.clone())),
        }).collect();
        let server = ModelServer::start(LenientScript::new([reply])).unwrap();
        for way in ways() {
            let speech = talk(&server, way, &ask(way.0, "Please."));
            let speech_calls: Vec<(String, Value)> = speech
                .calls
                .iter()
                .map(|(_, name, arguments)| (name.clone(), serde_json::from_str(arguments).unwrap()))
                .collect();
            prop_assert_eq!(&speech.text, &text, "{:?}", way);
            prop_assert_eq!(speech_calls, calls.clone(), "{:?}", way);
            prop_assert_eq!(speech.usage, (input, 7, 0), "{:?}", way);
        }
    }
}
