//! Faulty servers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tenter_agent::model::{ModelError, TransientCause};
use tenter_protocol::Message;
use tenter_providers::connect;
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer, Script};

use crate::setup::{KEY, ask, ask_and_interrupt, choice, endpoint, failed, model};

fn cause(error: &ModelError) -> TransientCause {
    match error {
        ModelError::Transient { cause, .. } => *cause,
        other => panic!("does not pass: {other:?}"),
    }
}

#[test]
fn temporary_errors_have_a_retry_delay() {
    for format in Format::ALL {
        for (code, expected) in [
            (429, TransientCause::RateLimited),
            (503, TransientCause::Overloaded),
            (529, TransientCause::Overloaded),
            (500, TransientCause::Server),
        ] {
            let fault = Fault::Status { code, retry_after: Some(7), body: None };
            let server = ModelServer::start(ModelReply::new().fault(fault));
            let error = failed(model(&server, format).as_ref());
            assert_eq!(cause(&error), expected, "{format:?} {code}: {error}");
            let ModelError::Transient { retry_after, .. } = error else { unreachable!() };
            assert_eq!(retry_after, Some(Duration::from_secs(7)), "{format:?} {code}");
        }
    }
}

#[test]
fn a_wrong_key_is_an_error_with_help_and_without_the_key() {
    for format in Format::ALL {
        let server = ModelServer::start(Script::from(ModelReply::text("hi")).key("another"));
        match failed(model(&server, format).as_ref()) {
            ModelError::Rejected { message, help } => {
                assert_eq!(help.as_deref(), Some("set TEST_KEY"), "{format:?}");
                assert!(!message.contains(KEY), "{message}");
            }
            other => panic!("{format:?} {other:?}"),
        }
        server.take_violations();
    }
}

#[test]
fn a_key_that_the_server_repeats_is_not_shown() {
    let body = Some(format!("{{\"error\":{{\"message\":\"Incorrect API key: {KEY}\"}}}}"));
    let fault = Fault::Status { code: 400, retry_after: None, body };
    let server = ModelServer::start(ModelReply::new().fault(fault));
    let error = failed(model(&server, Format::Chat).as_ref());
    assert!(error.to_string().contains("Incorrect API key: [key]"), "{error}");
    assert!(!format!("{error:?}").contains(KEY));
}

#[test]
fn too_long_conversations_and_unknown_models_are_recognised() {
    for format in Format::ALL {
        let server = ModelServer::start([
            ModelReply::new().fault(Fault::TooLong),
            ModelReply::new().fault(Fault::UnknownModel),
        ]);
        let model = model(&server, format);
        let too_long = failed(model.as_ref());
        assert!(matches!(too_long, ModelError::TooLong { .. }), "{format:?} {too_long:?}");
        let unknown = failed(model.as_ref());
        assert!(
            matches!(&unknown, ModelError::UnknownModel { message, .. } if message.contains("does not know the model")),
            "{format:?} {unknown:?}"
        );
    }
}

#[test]
fn a_broken_stream_is_a_temporary_error() {
    let text = || ModelReply::text("Once upon a time there was a long, long text.");
    let call = || {
        ModelReply::new().call("bash", json!({"command": "rm -rf /tmp/everything/that/is/there"}))
    };
    for format in Format::ALL {
        let faults = [
            text().fault(Fault::CutMidText),
            call().fault(Fault::CutInsideToolJson),
            text().fault(Fault::ErrorInStream),
            text().fault(Fault::EndWithoutFinish),
            text().fault(Fault::MalformedJson),
            text().fault(Fault::EmptyBody),
            text().fault(Fault::HangUp),
        ];
        for reply in faults {
            let what = format!("{format:?} {reply:?}");
            let server = ModelServer::start(reply);
            let (answer, _) = ask(model(&server, format).as_ref(), &[Message::user("hello")]);
            match answer {
                Err(ModelError::Transient { .. }) => {}
                other => panic!("{what}: {other:?}"),
            }
        }
    }
}

#[test]
fn slow_servers_are_awaited() {
    for format in Format::ALL {
        let server = ModelServer::start([
            ModelReply::text("hi").fault(Fault::Delay(300)),
            ModelReply::text("hi there").fault(Fault::CommentLines),
            ModelReply::text("hi there").fault(Fault::Slow(20)),
        ]);
        let model = model(&server, format);
        for _ in 0..3 {
            ask(model.as_ref(), &[Message::user("hello")]).0.unwrap();
        }
    }
}

#[test]
fn a_silent_server_times_out() {
    for fault in [Fault::Silence, Fault::SilenceMidText] {
        let server = ModelServer::start(ModelReply::text("Once upon a time").fault(fault));
        let mut endpoint = endpoint(Format::Chat, server.base_url(Format::Chat));
        endpoint.idle_timeout = Duration::from_millis(300);
        let error = failed(connect(endpoint, choice()).unwrap().as_ref());
        assert_eq!(cause(&error), TransientCause::Connection, "{error}");
        assert!(error.to_string().contains("sent nothing for"), "{error}");
    }
}

#[test]
fn a_cancel_ends_the_wait_and_closes_the_connection() {
    for format in Format::ALL {
        let server = ModelServer::start([
            ModelReply::text("Once upon").fault(Fault::Silence),
            ModelReply::text("Once upon a time").fault(Fault::SilenceMidText),
        ]);
        let model = model(&server, format);
        let silent = ask_and_interrupt(model.as_ref(), |_| server.wait_for_requests(1));
        assert_eq!(silent, Err(ModelError::Cancelled), "{format:?}");
        let mid_text = ask_and_interrupt(model.as_ref(), |began| {
            while !began.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        });
        assert_eq!(mid_text, Err(ModelError::Cancelled), "{format:?}");
        server.wait_for_hang_ups(2);
    }
}

#[test]
fn an_unreachable_server_and_an_invalid_address_are_errors() {
    let unreachable = |base: &str| {
        let model = connect(endpoint(Format::Chat, base.to_owned()), choice()).unwrap();
        failed(model.as_ref())
    };
    // Port 9 of the loopback: nothing listens there, and nothing will because of another try.
    match unreachable("http://127.0.0.1:9/v1") {
        ModelError::Rejected { message, help } => {
            assert_eq!(message, "nothing listens at http://127.0.0.1:9/v1");
            assert!(help.unwrap().contains("start the model server"));
        }
        other => panic!("{other:?}"),
    }
    for base in ["nonsense", "ftp://127.0.0.1/v1", "http://"] {
        let error = unreachable(base);
        assert!(matches!(error, ModelError::Rejected { .. }), "{base}: {error:?}");
    }
    let mut endpoint = endpoint(Format::Chat, "http://127.0.0.1:9".into());
    endpoint.proxy = Some("::::".into());
    assert!(matches!(connect(endpoint, choice()), Err(ModelError::Setup(_))));
}
