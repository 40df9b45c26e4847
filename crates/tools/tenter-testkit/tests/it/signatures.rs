//! Signatures must be repeated unchanged, at their place.

use serde_json::{Value, json};
use tenter_testkit::api_client::{SpokenResponse, ask, continue_with, hear, send};
use tenter_testkit::model_server::{Format, ModelReply, ModelServer, Script};

const SIGNED: [Format; 3] = [Format::Anthropic, Format::Responses, Format::Gemini];

fn replies() -> [ModelReply; 2] {
    [
        ModelReply::text("an answer").reasoning("a thought"),
        ModelReply::new().reasoning("a thought").call("bash", json!({"command": "ls"})),
    ]
}

/// Repeats a reply in a request after `change`. Returns the violations.
fn violations(format: Format, reply: ModelReply, change: fn(&mut SpokenResponse)) -> String {
    let server = ModelServer::start(reply);
    let mut body = ask(format, "hello");
    let mut reply = hear(format, &send(&server, format, &body));
    change(&mut reply);
    continue_with(format, &mut body, &reply);
    let status = send(&server, format, &body).status;
    let violations = server.take_violations().join("\n");
    assert_eq!(status == 200, violations.is_empty(), "{violations}");
    violations
}

#[test]
fn only_a_repeated_signature_is_accepted() {
    for format in SIGNED {
        for reply in replies() {
            assert_eq!(violations(format, reply.clone(), |_| {}), "", "{format:?}");
            let missing = violations(format, reply.clone(), |reply| reply.signature.clear());
            assert!(missing.contains("was repeated without its signature"), "{missing}");
            let altered = violations(format, reply, |reply| reply.signature.push('x'));
            assert!(altered.contains("was not issued by this server"), "{altered}");
        }
    }
    for format in [Format::Anthropic, Format::Responses] {
        let [reply, _] = replies();
        let other = violations(format, reply, |reply| reply.reasoning.push('!'));
        assert!(other.contains("belongs to other reasoning"), "{format:?}: {other}");
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
        let violations = server.take_violations().join("\n");
        assert!(violations.contains("belongs to another format"), "{format:?}: {violations}");
    }
}

#[test]
fn a_second_server_accepts_the_signatures_of_the_first() {
    for format in SIGNED {
        let [reply, _] = replies();
        let first = ModelServer::start(reply);
        let mut body = ask(format, "hello");
        let reply = hear(format, &send(&first, format, &body));
        continue_with(format, &mut body, &reply);
        drop(first);
        let second = ModelServer::start(Script::new([]).ids_from(100));
        assert_eq!(send(&second, format, &body).status, 200, "{format:?}");
    }
}

#[test]
fn a_signature_must_stay_with_its_part() {
    let server = ModelServer::start([replies()[1].clone(), ModelReply::text("plain")]);
    let mut body = ask(Format::Gemini, "hello");
    let reply = hear(Format::Gemini, &send(&server, Format::Gemini, &body));
    continue_with(Format::Gemini, &mut body, &reply);
    let part: &mut Value = &mut body["contents"][1]["parts"][0];
    let signature = part.as_object_mut().unwrap().remove("thoughtSignature");
    let elsewhere = json!({"text": "well", "thoughtSignature": signature});
    body["contents"][1]["parts"].as_array_mut().unwrap().insert(0, elsewhere);
    send(&server, Format::Gemini, &body);
    let violations = server.take_violations().join("\n");
    assert!(violations.contains("was repeated without its signature"), "{violations}");
}
