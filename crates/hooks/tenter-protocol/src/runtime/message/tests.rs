//! Messages keep their content on the way over the wire, and no line panics.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::runtime::codes;

fn read(line: &str) -> Result<Option<RuntimeMessage>, LineError> {
    read_line(line.as_bytes())
}

fn id() -> impl Strategy<Value = Id> {
    prop_oneof![any::<i64>().prop_map(Id::Number), ".{0,8}".prop_map(Id::Text)]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = RawJson> {
    prop::collection::btree_map(".{0,4}", value(), 0..4).prop_map(|fields| RawJson::new(&fields))
}

fn any_message() -> impl Strategy<Value = RuntimeMessage> {
    let params = || prop::option::of(object());
    let result = prop_oneof![
        value().prop_map(|value| Ok(RawJson::new(&value))),
        (any::<i64>(), ".{0,20}", prop::option::of(object()))
            .prop_map(|(code, message, data)| Err(ErrorObject { code, message, data })),
    ];
    prop_oneof![
        (id(), ".{0,12}", params()).prop_map(|(id, method, params)| RuntimeMessage::Request(
            Request { id, method, params }
        )),
        (".{0,12}", params()).prop_map(|(method, params)| RuntimeMessage::Notification(
            Notification { method, params }
        )),
        (id(), result).prop_map(|(id, result)| RuntimeMessage::Response(Response { id, result })),
    ]
}

proptest! {
    #[test]
    fn every_message_is_one_line_that_is_read_as_the_same_message(message in any_message()) {
        let line = message.to_line();
        prop_assert_eq!(line.matches(['\n', '\r']).count(), 1);
        prop_assert_eq!(read(&line), Ok(Some(message)));
    }

    #[test]
    fn no_line_panics(line in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_line(&line);
    }

    #[test]
    fn no_json_panics(value in value(), extra in ".{0,3}") {
        let _ = read(&format!("{value}{extra}"));
    }

    #[test]
    fn a_message_that_is_cut_or_changed_does_not_panic(message in any_message(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut line = message.to_line().into_bytes();
        let at = at.index(line.len());
        line[at] = byte;
        let _ = read_line(&line);
        let _ = read_line(&line[..at]);
    }

    #[test]
    fn the_payload_of_an_event_is_sent_as_it_is(id in any::<u32>(), method in "[a-z_.]{1,20}", payload in object()) {
        let line = event_request(u64::from(id), &method, payload.text());
        let expected = Request { id: Id::Number(i64::from(id)), method, params: Some(payload) };
        prop_assert_eq!(read(&line), Ok(Some(RuntimeMessage::Request(expected))));
    }
}

#[test]
fn empty_lines_are_skipped_and_carriage_returns_ignored() {
    for line in ["", "\n", "\r\n", "  \t\r\n"] {
        assert_eq!(read(line), Ok(None), "{line:?}");
    }
    let line = "{\"jsonrpc\": \"2.0\", \"method\": \"x\"}\r\n";
    assert!(matches!(read(line), Ok(Some(RuntimeMessage::Notification(_)))));
}

#[test]
fn ids_are_strings_or_integers() {
    for (id, read_as) in
        [("7", Id::Number(7)), ("-1", Id::Number(-1)), ("\"a\"", Id::Text("a".into()))]
    {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":null}}");
        let expected = Response { id: read_as, result: Ok(RawJson::null()) };
        assert_eq!(read(&line), Ok(Some(RuntimeMessage::Response(expected))));
    }
    for id in ["1.5", "true", "[]", "{}", "99999999999999999999"] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":null}}");
        assert!(matches!(read(&line), Err(LineError::NotAMessage(_))), "{id}");
    }
}

#[test]
fn a_result_keeps_its_text_so_that_a_field_given_twice_is_found_later() {
    let line = r#"{"jsonrpc": "2.0", "id": 1, "result": {"blocked": true, "blocked": false}}"#;
    let Ok(Some(RuntimeMessage::Response(response))) = read(line) else { panic!() };
    assert_eq!(response.result.unwrap().text(), r#"{"blocked": true, "blocked": false}"#);
}

#[test]
fn a_line_is_read_as_real_programs_write_it() {
    for line in [
        &b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {\"reason\": \"\xff\", \"n\": NaN}}\r"[..],
        b"\0{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {\"reason\": \"\x1b\", \"n\": -Infinity}}\0",
        b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {\"reason\": \"\\udcff\"}}",
    ] {
        let Ok(Some(RuntimeMessage::Response(response))) = read_line(line) else {
            panic!("{}", String::from_utf8_lossy(line))
        };
        assert!(response.result.unwrap().text().contains("reason"));
    }
    let id = br#"{"jsonrpc": "2.0", "id": "\udcff", "method": "log", "params": {"a": "\udcff"}}"#;
    let Ok(Some(RuntimeMessage::Request(request))) = read_line(id) else { panic!() };
    assert_eq!(request.id, Id::Text("\u{fffd}".to_owned()));
    let params: Value = request.params.unwrap().read().unwrap();
    assert_eq!(params, json!({"a": "\u{fffd}"}));
}

#[test]
fn lines_that_are_no_messages_say_why() {
    assert_eq!(read("[]"), Err(LineError::Batch));
    assert_eq!(read(" [{\"jsonrpc\": \"2.0\"}]"), Err(LineError::Batch));
    assert_eq!(read("checking the command"), Err(LineError::Json("checking the command".into())));
    assert_eq!(read_line(&vec![b'x'; MAX_LINE + 1]), Err(LineError::TooLong));
    for (line, why) in [
        ("{}", "missing field `jsonrpc`"),
        ("7", "invalid type"),
        (r#"{"jsonrpc": "1.0", "id": 1, "result": {}}"#, "\"2.0\""),
        (r#"{"jsonrpc": "2.0", "result": {}}"#, "needs an `id`"),
        (
            r#"{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "bad json"}}"#,
            "bad json",
        ),
        (r#"{"jsonrpc": "2.0", "id": 1}"#, "needs a `method`"),
        (r#"{"jsonrpc": "2.0", "id": 1, "id": 2, "result": {}}"#, "duplicate field"),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "x", "params": 7}"#, "`params`"),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "x", "result": {}}"#, "has no `result`"),
    ] {
        let Err(LineError::NotAMessage(said)) = read(line) else { panic!("{line}") };
        assert!(said.contains(why), "{line}: {said}");
    }
}

#[test]
fn messages_have_the_documented_form() {
    assert_eq!(
        event_request(3, "before_tool_call", "{\"a\": 1}\n"),
        "{\"jsonrpc\": \"2.0\", \"id\": 3, \"method\": \"before_tool_call\", \"params\": {\"a\": 1}}\n"
    );
    assert_eq!(
        notification::<()>("shutdown", None),
        "{\"jsonrpc\": \"2.0\", \"method\": \"shutdown\"}\n"
    );
    assert_eq!(
        notification("cancel", Some(&json!({"id": 3}))),
        "{\"jsonrpc\": \"2.0\", \"method\": \"cancel\", \"params\": {\"id\": 3}}\n"
    );
    let error = ErrorObject::method_not_found("fly");
    let response = Response { id: Id::Text("h1".into()), result: Err(error) };
    assert_eq!(
        response.to_line(),
        format!(
            "{{\"jsonrpc\": \"2.0\", \"id\": \"h1\", \"error\": {{\"code\": {}, \"message\": \"there is no method \\\"fly\\\"\"}}}}\n",
            codes::METHOD_NOT_FOUND
        )
    );
}
