//! Signatures must be repeated unchanged, at their place.

use serde_json::{Value, json};
use tenter_testkit::model_server::{Format, ModelServer, Reply, Script};

use crate::client::send;
use crate::speech::{SpokenResponse, ask, continue_with, hear};

const SIGNED: [Format; 3] = [Format::Anthropic, Format::Responses, Format::Gemini];

/// Repeats the reply in a request after `change`. Returns the status and the violations.
fn sent_back(
    format: Format,
    reply: Reply,
    change: impl Fn(&mut SpokenResponse),
) -> (u16, Vec<String>) {
    let server = ModelServer::start(reply);
    let mut body = ask(format, "hello");
    let mut said = hear(format, &send(&server, format, &body));
    change(&mut said);
    continue_with(format, &mut body, &said);
    let status = send(&server, format, &body).status;
    (status, server.take_violations())
}

fn replies() -> [Reply; 2] {
    [
        Reply::text("an answer").reasoning("a thought"),
        Reply::new().reasoning("a thought").call("bash", json!({"command": "ls"})),
    ]
}

#[test]
fn a_repeated_signature_is_accepted() {
    for format in SIGNED {
        for reply in replies() {
            assert_eq!(sent_back(format, reply, |_| {}), (200, Vec::new()), "{format:?}");
        }
    }
}

#[test]
fn a_missing_signature_is_a_violation() {
    for format in SIGNED {
        for reply in replies() {
            let (status, found) = sent_back(format, reply, |said| said.signature.clear());
            assert_eq!(status, 400, "{format:?}");
            assert!(
                found[0].contains("was repeated without its signature"),
                "{format:?}: {found:?}"
            );
        }
    }
}

#[test]
fn a_changed_signature_is_a_violation() {
    for format in SIGNED {
        for reply in replies() {
            let (status, found) = sent_back(format, reply, |said| said.signature.push('x'));
            assert_eq!(status, 400, "{format:?}");
            assert!(found[0].contains("was not issued by this server"), "{format:?}: {found:?}");
        }
    }
}

#[test]
fn a_signature_with_other_reasoning_is_a_violation() {
    for format in [Format::Anthropic, Format::Responses] {
        let [reply, _] = replies();
        let (_, found) = sent_back(format, reply, |said| said.reasoning.push('!'));
        assert!(found[0].contains("belongs to other reasoning"), "{format:?}: {found:?}");
    }
}

#[test]
fn a_signature_of_another_format_is_a_violation() {
    for format in SIGNED {
        let server = ModelServer::start(replies().to_vec());
        let other = if format == Format::Gemini { Format::Anthropic } else { Format::Gemini };
        let foreign = hear(other, &send(&server, other, &ask(other, "hello")));
        let mut body = ask(format, "hello");
        continue_with(format, &mut body, &foreign);
        send(&server, format, &body);
        let found = server.take_violations();
        assert!(found[0].contains("belongs to another format"), "{format:?}: {found:?}");
    }
}

#[test]
fn a_second_server_accepts_the_signatures_of_the_first() {
    for format in SIGNED {
        let [reply, _] = replies();
        let first = ModelServer::start(reply);
        let mut body = ask(format, "hello");
        let said = hear(format, &send(&first, format, &body));
        continue_with(format, &mut body, &said);
        drop(first);
        let second = ModelServer::start(Script::new([]).ids_from(100));
        assert_eq!(send(&second, format, &body).status, 200, "{format:?}");
    }
}

#[test]
fn a_signature_must_stay_with_its_part() {
    let server = ModelServer::start([replies()[1].clone(), Reply::text("plain")]);
    let mut body = ask(Format::Gemini, "hello");
    let said = hear(Format::Gemini, &send(&server, Format::Gemini, &body));
    continue_with(Format::Gemini, &mut body, &said);
    let part: &mut Value = &mut body["contents"][1]["parts"][0];
    let signature = part.as_object_mut().unwrap().remove("thoughtSignature");
    let elsewhere = json!({"text": "well", "thoughtSignature": signature});
    body["contents"][1]["parts"].as_array_mut().unwrap().insert(0, elsewhere);
    send(&server, Format::Gemini, &body);
    let found = server.take_violations();
    assert!(found[0].contains("was repeated without its signature"), "{found:?}");
}
