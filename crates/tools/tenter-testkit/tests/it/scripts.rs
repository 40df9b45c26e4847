//! The options of a strict script, and the record of requests.

use tenter_testkit::api_client::{ask, door, hear, post, send};
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer, Script};

#[test]
fn every_request_takes_the_next_reply_and_is_recorded_unchanged() {
    let server = ModelServer::start([ModelReply::text("one")]);
    server.push(ModelReply::text("two").fault(Fault::Delay(1)));
    let texts =
        Format::ALL.map(|format| hear(format, &send(&server, format, &ask(format, "hello"))).text);
    assert_eq!(texts, ["one", "two", "Done.", "Done."]);
    assert_eq!(server.unused_replies(), 0);
    for (request, format) in server.requests().iter().zip(Format::ALL) {
        assert_eq!((request.format, &*request.path), (format, door(format, true).0));
        assert_eq!(request.body, ask(format, "hello"));
    }
    assert_eq!(server.requests()[1].header("authorization"), Some("Bearer sk-test"));
}

#[test]
fn a_wrong_key_is_rejected_without_a_violation() {
    for format in Format::ALL {
        let server = ModelServer::start(Script::new([]).key("sk-other"));
        let answer = send(&server, format, &ask(format, "hello"));
        assert_eq!(answer.status, if format == Format::Gemini { 400 } else { 401 });
        server.assert_clean();
    }
    let server = ModelServer::start(Script::new([]).key("sk-test"));
    assert_eq!(send(&server, Format::Gemini, &ask(Format::Gemini, "hello")).status, 200);
}

#[test]
fn requests_are_counted_and_too_long_ones_use_no_reply() {
    for format in Format::ALL {
        let script = Script::new([ModelReply::text("One.").usage(1, 7, 0)]).counts_tokens(1000);
        let server = ModelServer::start(script);
        assert_eq!(send(&server, format, &ask(format, &"x".repeat(5000))).status, 400);
        let reply = hear(format, &send(&server, format, &ask(format, "Hi.")));
        let tokens = server.requests()[1].tokens;
        assert_eq!((reply.text.as_str(), reply.usage), ("One.", (tokens, 7, 0)), "{format:?}");
        let violations = server.take_violations();
        assert!(violations[0].starts_with("request 1: over the window: "), "{violations:?}");
    }
}

#[test]
fn a_recipe_uses_no_reply_of_the_script() {
    for format in Format::ALL {
        let script = Script::new([ModelReply::text("One.")]).answers_recipes("In short: nothing.");
        let server = ModelServer::start(script);
        let recipe = ask(format, "<conversation>\nHi.\n</conversation>\n\nSum it up.");
        for (body, text) in [(&recipe, "In short: nothing."), (&ask(format, "Hi."), "One.")] {
            assert_eq!(hear(format, &send(&server, format, body)).text, text);
        }
    }
}

#[test]
#[should_panic(expected = "requests to the model server violated its rules")]
fn a_violation_fails_the_test_that_drops_the_server() {
    let server = ModelServer::start(Script::new([]));
    assert_eq!(post(&server, "/v1/models", &[], "{}").status, 404);
    assert_eq!(server.take_violations(), ["POST /v1/models: unknown path"]);
    post(&server, "/v1/messages", &[], "{}");
}
