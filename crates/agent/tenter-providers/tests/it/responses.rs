//! Responses in every API, and what is sent back to the provider.

use serde_json::{Value, json};
use tenter_agent::model::{Request, Response, ResponseBlock, StopCause};
use tenter_protocol::event::TurnUsage;
use tenter_protocol::{
    Block, Image, ImageSource, Message, Role, ToolCall, ToolResult, tool_metadata,
};
use tenter_providers::connect;
use tenter_testkit::model_server::{Format, ModelReply, ModelServer, Script, StopReason};

use crate::setup::{KEY, Streamed, ask, choice, endpoint, model};

/// Returns the message that a conversation stores for a response.
fn kept(response: &Response) -> Message {
    let blocks = response.blocks.iter().map(|block| match block {
        ResponseBlock::Content(block) => block.clone(),
        ResponseBlock::Malformed { id, name, .. } => Block::ToolUse(ToolCall {
            id: id.clone(),
            name: name.clone(),
            input: serde_json::Map::new(),
        }),
    });
    let native = response.native.clone();
    // As it comes back from the store.
    let native_message = native.map(|native| serde_json::from_str(&native.to_string()).unwrap());
    Message { native: native_message, ..Message::new(Role::Assistant, blocks.collect()) }
}

fn answers(message: &Message) -> Message {
    let results = message.tool_calls().enumerate().map(|(index, call)| {
        let output = format!("output {index}");
        let bash = tool_metadata::Bash { output, ..tool_metadata::Bash::default() };
        let result = ToolResult::success("bash", &bash, "2026-01-01T00:00:00Z".into());
        let result = if index == 0 { result.failed("exit code 1") } else { result };
        Block::ToolResult { call_id: call.id.clone(), result }
    });
    Message::new(Role::User, results.collect())
}

fn calls(message: &Message) -> Vec<(&str, Value)> {
    message
        .tool_calls()
        .map(|call| (call.name.as_str(), Value::Object(call.input.clone())))
        .collect()
}

#[test]
fn responses_are_the_same_in_every_api() {
    for format in Format::ALL {
        let reply = ModelReply::new()
            .reasoning("I think, therefore: 日本")
            .say("Looking, größer → 🦀")
            .call("bash", json!({"command": "ls \"a b\"\n"}))
            .call("bash", json!({"command": "pwd"}))
            .usage(900, 30, 400);
        let server = ModelServer::start(reply);
        let (response, stream) = ask(model(&server, format).as_ref(), &[Message::user("hi")]);
        let response = response.unwrap();
        let text = "Looking, größer → 🦀";
        assert_eq!(stream.text, text, "{format:?}");
        let message = kept(&response);
        assert_eq!(message.plain_text(), text, "{format:?}");
        assert_eq!(
            calls(&message),
            [("bash", json!({"command": "ls \"a b\"\n"})), ("bash", json!({"command": "pwd"}))],
            "{format:?}"
        );
        let usage = response.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (900, 30), "{format:?}");
        assert_eq!(usage.cached_input_tokens, 400, "{format:?}");
        let cost = response.cost_usd.unwrap();
        assert!(
            (cost - (500.0 * 2.0 + 400.0 * 0.5 + 30.0 * 10.0) / 1e6).abs() < 1e-12,
            "{format:?} {cost}"
        );
        assert_eq!(response.stop, StopCause::Done);
        if format != Format::Chat {
            assert_eq!(stream.reasoning, "I think, therefore: 日本", "{format:?}");
        }
    }
}

#[test]
fn signatures_are_sent_back_unchanged_and_every_call_has_a_result() {
    for format in Format::ALL {
        let server = ModelServer::start([
            ModelReply::new()
                .reasoning("First, look.")
                .call("bash", json!({"command": "ls"}))
                .call("bash", json!({"command": "pwd"})),
            ModelReply::new()
                .reasoning("Now, once more.")
                .say("Hm.")
                .call("bash", json!({"command": "id"})),
            ModelReply::text("Done."),
        ]);
        let model = model(&server, format);
        let mut messages = vec![Message::user("go")];
        for _ in 0..2 {
            let response = ask(model.as_ref(), &messages).0.unwrap();
            messages.push(kept(&response));
            messages.push(answers(messages.last().unwrap()));
        }
        // The server checks that signatures, ids and results are where they belong.
        let (last, stream) = ask(model.as_ref(), &messages);
        assert_eq!(
            last.unwrap().blocks,
            [ResponseBlock::Content(Block::text("Done."))],
            "{format:?}"
        );
        assert_eq!(stream, Streamed { text: "Done.".into(), ..Streamed::default() });
        server.assert_clean();
    }
}

#[test]
fn a_conversation_of_another_provider_is_converted() {
    for from in Format::ALL {
        for to in Format::ALL {
            let server = ModelServer::start(
                ModelReply::new()
                    .reasoning("Hm.")
                    .say("Looking.")
                    .call("bash", json!({"command": "ls"})),
            );
            let response = ask(model(&server, from).as_ref(), &[Message::user("go")]).0.unwrap();
            let mut messages = vec![Message::user("go"), kept(&response)];
            messages.push(answers(&messages[1]));
            let continuing =
                ModelServer::start(Script::from(ModelReply::text("Done.")).ids_from(100));
            let (answer, _) = ask(model(&continuing, to).as_ref(), &messages);
            assert!(answer.is_ok(), "{from:?} to {to:?}: {answer:?}");
            let body = continuing.requests()[0].body.to_string();
            assert!(body.contains("Looking.") && body.contains("output 0"), "{from:?} to {to:?}");
            // Only the provider that made a signature can read it.
            continuing.assert_clean();
        }
    }
}

#[test]
fn a_mutated_message_is_sent_with_its_new_content() {
    for format in Format::ALL {
        let server = ModelServer::start([
            ModelReply::new().reasoning("Hm.").say("secret"),
            ModelReply::text("ok"),
        ]);
        let model = model(&server, format);
        let response = ask(model.as_ref(), &[Message::user("go")]).0.unwrap();
        let mut message = kept(&response);
        for block in &mut message.blocks {
            if let Block::Text { text } = block {
                *text = "[redacted]".into();
            }
        }
        let _answer = ask(model.as_ref(), &[Message::user("go"), message, Message::user("on")]);
        let body = server.requests()[1].body.to_string();
        assert!(body.contains("[redacted]") && !body.contains("secret"), "{format:?}: {body}");
        server.take_violations(); // it misses the signature, which signed what is gone
    }
}

#[test]
fn malformed_arguments_never_reach_a_tool_and_are_never_sent_back() {
    for format in [Format::Anthropic, Format::Responses, Format::Chat] {
        let server = ModelServer::start([
            ModelReply::new()
                .raw_call("bash", "{\"command\": \"ls")
                .call("bash", json!({"command": "pwd"})),
            ModelReply::text("Sorry."),
        ]);
        let model = model(&server, format);
        let response = ask(model.as_ref(), &[Message::user("go")]).0.unwrap();
        let malformed = |block: &&ResponseBlock| matches!(block, ResponseBlock::Malformed { .. });
        assert_eq!(response.blocks.iter().filter(malformed).count(), 1, "{format:?}");
        let message = kept(&response);
        let answers = answers(&message);
        ask(model.as_ref(), &[Message::user("go"), message, answers]).0.unwrap();
    }
}

#[test]
fn the_stop_reason_is_reported() {
    for format in Format::ALL {
        for (stop, expected) in
            [(StopReason::Length, StopCause::Length), (StopReason::Filtered, StopCause::Filtered)]
        {
            let server = ModelServer::start(ModelReply::text("Once upon").stop(stop));
            let response =
                ask(model(&server, format).as_ref(), &[Message::user("tell")]).0.unwrap();
            assert_eq!(response.stop, expected, "{format:?}");
        }
    }
}

#[test]
fn images_are_sent() {
    let picture = |source| {
        let image = Image { media_type: "image/png".into(), source };
        Message::new(Role::User, vec![Block::text("what is this?"), Block::Image(image)])
    };
    for format in Format::ALL {
        let server = ModelServer::start(ModelReply::text("A cat."));
        let data = ImageSource::Data("iVBORw0KGgo=".into());
        ask(model(&server, format).as_ref(), &[picture(data)]).0.unwrap();
        assert!(server.requests()[0].body.to_string().contains("iVBORw0KGgo="), "{format:?}");
    }
    for format in [Format::Anthropic, Format::Responses, Format::Chat] {
        let server = ModelServer::start(ModelReply::text("A cat."));
        let url = ImageSource::Url("https://example.org/cat.png".into());
        ask(model(&server, format).as_ref(), &[picture(url)]).0.unwrap();
        assert!(server.requests()[0].body.to_string().contains("example.org/cat.png"));
    }
}

#[test]
fn the_documented_example_streams_are_read() {
    for format in Format::ALL {
        let server = ModelServer::start(ModelReply::recorded(format));
        let (response, stream) = ask(model(&server, format).as_ref(), &[Message::user("hi")]);
        let response = response.unwrap();
        let message = kept(&response);
        assert!(!message.is_empty(), "{format:?}");
        assert_eq!(message.plain_text().trim(), stream.text.trim(), "{format:?}");
        assert_ne!(response.usage, Some(TurnUsage::default()), "{format:?}");
        server.take_violations();
    }
}

#[test]
fn anthropics_cache_is_requested_and_keys_are_not_in_addresses() {
    let messages = [Message::user("hi")];
    for format in Format::ALL {
        let server = ModelServer::start(ModelReply::text("hi"));
        ask(model(&server, format).as_ref(), &messages).0.unwrap();
        let request = &server.requests()[0];
        assert!(!request.path.contains(KEY), "{}", request.path);
        assert!(!request.body.to_string().contains(KEY));
        if format == Format::Anthropic {
            assert!(request.body.to_string().contains("cache_control"), "{}", request.body);
        }
    }
}

#[test]
fn token_limit_and_effort_are_sent() {
    for (format, name) in [
        (Format::Anthropic, "max_tokens"),
        (Format::Responses, "max_output_tokens"),
        (Format::Chat, "max_tokens"),
        (Format::Gemini, "maxOutputTokens"),
    ] {
        let server = ModelServer::start(ModelReply::text("hi"));
        ask(model(&server, format).as_ref(), &[Message::user("hi")]).0.unwrap();
        let body = server.requests()[0].body.to_string();
        assert!(body.contains(&format!("\"{name}\":1000")), "{format:?}: {body}");
    }
    let server = ModelServer::start(ModelReply::text("hi"));
    let mut thinks = choice();
    thinks.model = "gpt-5".into();
    thinks.effort = Some(tenter_providers::Effort::Low);
    let endpoint = endpoint(Format::Responses, server.base_url(Format::Responses));
    let model = tenter_providers::connect(endpoint, thinks).unwrap();
    ask(model.as_ref(), &[Message::user("hi")]).0.unwrap();
    assert_eq!(server.requests()[0].body["reasoning"]["effort"], "low");
}

#[test]
fn consecutive_messages_of_one_role_are_merged_and_tools_are_optional() {
    for format in Format::ALL {
        let server = ModelServer::start(ModelReply::text("hi"));
        let messages = [
            Message::user("one"),
            Message::user("two"),
            Message::assistant("three"),
            Message::user("four"),
        ];
        let request = Request { messages: &messages, ..Request::default() };
        let model = model(&server, format);
        let answer = model.respond(&request, &mut |_| {}, &tenter_proc::Cancel::new());
        assert!(answer.is_ok(), "{format:?} {answer:?}");
    }
}

#[test]
fn only_the_cost_that_the_server_reports_is_used() {
    let chunk = |usage: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-5.2\",\
             \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"hi\"}},\"finish_reason\":\"stop\"}}],\
             \"usage\":{usage}}}\n\ndata: [DONE]\n\n"
        )
    };
    let tokens = "\"prompt_tokens\":1000,\"completion_tokens\":10,\"total_tokens\":1010";
    for (usage, expected) in
        [(format!("{{{tokens},\"cost\":0.25}}"), Some(0.25)), (format!("{{{tokens}}}"), None)]
    {
        let server = ModelServer::start(ModelReply::raw(Format::Chat, &chunk(&usage)));
        let mut choice = choice();
        choice.model = "gpt-5.2".into();
        choice.facts.prices = None;
        let endpoint = endpoint(Format::Chat, server.base_url(Format::Chat));
        let model = connect(endpoint, choice).unwrap();
        let (answer, _) = ask(model.as_ref(), &[Message::user("hello")]);
        assert_eq!(answer.unwrap().cost_usd, expected, "{usage}");
    }
}
