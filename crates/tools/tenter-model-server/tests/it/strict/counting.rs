//! A server that counts the tokens of requests and replies to recipes.

use tenter_testkit::model_server::{Format, ModelServer, Reply, Script};

use crate::client::send;
use crate::speech::{ask, hear};

#[test]
fn requests_are_counted_and_too_long_ones_use_no_reply() {
    for format in Format::ALL {
        let script = Script::new([Reply::text("One.").usage(1, 7, 0)]).counts_tokens(1000);
        let server = ModelServer::start(script);
        let refused = send(&server, format, &ask(format, &"x".repeat(5000)));
        assert_eq!(refused.status, 400, "{refused:?}");
        assert_eq!(server.left(), 1);
        let said = hear(format, &send(&server, format, &ask(format, "Hi.")));
        let counted = server.requests()[1].tokens;
        assert_eq!((said.text.as_str(), said.usage), ("One.", (counted, 7, 0)), "{format:?}");
        let violations = server.take_violations();
        assert_eq!(violations.len(), 1, "{violations:?}");
        assert!(violations[0].starts_with("request 1: over the window: "), "{violations:?}");
    }
}

#[test]
fn a_recipe_uses_no_reply_of_the_script() {
    for format in Format::ALL {
        let script = Script::new([Reply::text("One.")]).answers_recipes("In short: nothing.");
        let server = ModelServer::start(script);
        let recipe = ask(format, "<conversation>\nHi.\n</conversation>\n\nSum it up.");
        assert_eq!(hear(format, &send(&server, format, &recipe)).text, "In short: nothing.");
        assert_eq!(hear(format, &send(&server, format, &ask(format, "Hi."))).text, "One.");
        assert_eq!(hear(format, &send(&server, format, &recipe)).text, "In short: nothing.");
    }
}
