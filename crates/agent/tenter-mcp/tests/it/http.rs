//! Servers behind HTTP: answers as JSON and as events, sessions, headers, and errors.

use serde_json::{Value, json};
use tenter_testkit::http_server::{HttpRequest, HttpServer, response};
use tenter_testkit::wait_until;

use crate::stage::{Stage, messages, names, tools};

/// The answer of a server to a request.
#[derive(Clone, Copy, PartialEq)]
enum AnswerForm {
    Json,
    Events,
}

fn reply(answer: AnswerForm, message: &Value) -> String {
    match answer {
        AnswerForm::Json => response(
            "200 OK",
            &["content-type: application/json", "mcp-session-id: s-1"],
            &message.to_string(),
        ),
        AnswerForm::Events => response(
            "200 OK",
            &["content-type: text/event-stream", "mcp-session-id: s-1"],
            &format!(": hello\n\nid: 1\nevent: message\ndata: {message}\n\n"),
        ),
    }
}

/// Returns a server with one tool that returns the name of the tool.
fn respond(answer: AnswerForm, request: &HttpRequest) -> String {
    if !request.line.starts_with("POST") {
        return response("405 Method Not Allowed", &[], "");
    }
    let message: Value = serde_json::from_str(&request.body).unwrap();
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}),
        "tools/call" => {
            json!({"content": [{"type": "text", "text": message["params"]["name"]}]})
        }
        _ => return response("202 Accepted", &[], ""),
    };
    reply(answer, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

fn methods(server: &HttpServer) -> String {
    let requests = server.requests().into_iter().map(|request| request.body);
    requests.collect::<Vec<_>>().join("\n")
}

#[test]
fn tools_are_called_with_answers_as_json_and_as_events() {
    for answer in [AnswerForm::Json, AnswerForm::Events] {
        let server = HttpServer::deciding(move |request| Some(respond(answer, request)));
        let headers = [("authorization", "Bearer hunter2hunter2")];
        let stage = Stage::new().http_server("web", &server.url("/mcp"), &headers);
        let servers = stage.servers();
        assert_eq!(names(&servers), ["mcp__web__where"]);
        assert_eq!(stage.call(&servers, "mcp__web__where", json!({})).text(), "where");
        let requests = server.requests();
        assert!(requests.iter().all(|one| one.header("authorization") == Some(headers[0].1)));
        let call = requests.iter().find(|one| one.body.contains("tools/call")).unwrap();
        assert_eq!(call.header("mcp-session-id"), Some("s-1"));
        assert_eq!(call.header("mcp-protocol-version"), Some("2025-06-18"));
        drop(servers);
        wait_until("the session is deleted", || {
            server.requests().iter().any(|one| one.line.starts_with("DELETE"))
        });
    }
}

#[test]
fn an_expired_session_is_renewed() {
    let mut has_expired = false;
    let server = HttpServer::deciding(move |request| {
        if request.body.contains("tools/call") && !std::mem::replace(&mut has_expired, true) {
            return Some(response("404 Not Found", &[], ""));
        }
        Some(respond(AnswerForm::Json, request))
    });
    let stage = Stage::new().http_server("web", &server.url("/mcp"), &[]);
    let servers = stage.servers();
    assert_eq!(stage.call(&servers, "mcp__web__where", json!({})).text(), "where");
    assert_eq!(methods(&server).matches("\"initialize\"").count(), 2);
}

#[test]
fn a_server_that_cannot_be_used_is_reported_without_secrets() {
    for (status, headers, body, expected) in [
        ("401 Unauthorized", &["www-authenticate: Bearer"][..], "", "it requires a login"),
        ("500 Internal Server Error", &[], "out of order", "HTTP 500: out of order"),
        ("302 Found", &["location: http://127.0.0.1:1/"], "", "redirects to another address"),
        ("200 OK", &["content-type: text/html"], "<html>", "text/html"),
        ("200 OK", &["content-type: application/json"], "{}", "JSON-RPC"),
    ] {
        let server = HttpServer::answering(status, headers, body);
        let stage = Stage::new().http_server("web", &server.url("/mcp?key=hunter2hunter2"), &[]);
        let sourced = tools(&stage.servers());
        assert!(sourced.tools.is_empty());
        let message = &sourced.diagnostics[0].message;
        assert!(message.contains(expected), "{status}: {message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[test]
fn a_server_that_is_not_there_is_reported() {
    let server = HttpServer::json("{}");
    let url = server.url("/mcp");
    drop(server);
    let stage = Stage::new().http_server("web", &url, &[]);
    let messages = messages(&stage.servers());
    assert!(messages[0].contains("cannot talk to it"), "{messages:?}");
}
