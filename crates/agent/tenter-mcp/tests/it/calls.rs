//! Calls of tools: results, failures, timeouts and cancellation.

use std::thread;
use std::time::Duration;

use serde_json::json;
use tenter_proc::Cancel;
use tenter_protocol::Image;
use tenter_testkit::{McpServer, wait_until};

use crate::stage::{Stage, names};

#[test]
fn a_call_passes_its_input_and_returns_the_text() {
    let stage = Stage::new().server("a", &McpServer::default());
    let servers = stage.servers();
    let result = stage.call(&servers, "mcp__a__echo", json!({"text": "hello"}));
    assert_eq!(result.success, Some(true));
    assert_eq!(result.tool_name, "mcp__a__echo");
    assert_eq!(result.metadata_type.as_deref(), Some("mcp"));
    let text = result.text();
    assert!(text.contains("name:echo") && text.contains("arguments:{text:hello}"), "{text}");
}

#[test]
fn an_error_of_a_tool_is_a_failure() {
    let reports = McpServer::default()
        .at_call(r#"reply '{"isError":true,"content":[{"type":"text","text":"no such file"}]}'"#);
    let refusal = McpServer::default().at_call(
        r#"say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32602,\"message\":\"bad \u001b[31m input\"}}""#,
    );
    let stage = Stage::new().server("a", &reports).server("b", &refusal);
    let servers = stage.servers();
    let result = stage.call(&servers, "mcp__a__echo", json!({}));
    assert!(result.is_failure());
    assert_eq!(result.text(), "<error>the tool reports an error</error>\nno such file");
    let result = stage.call(&servers, "mcp__b__echo", json!({}));
    assert_eq!(result.text(), "<error>the MCP server b: bad input</error>");
}

#[test]
fn images_are_kept_and_described() {
    let server = McpServer::default().at_call(
        r#"reply '{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"text","text":"a dot"}]}'"#,
    );
    let stage = Stage::new().server("a", &server);
    let result = stage.call(&stage.servers(), "mcp__a__echo", json!({}));
    assert_eq!(result.text(), "a dot\n[image: image/png, 3 bytes]");
    assert_eq!(Image::all_of(&result).len(), 1);
}

#[test]
fn a_huge_result_is_cut() {
    let server =
        McpServer::default().at_call(r#"text "begin$(head -c 1000000 /dev/zero | tr '\0' x)end""#);
    let stage = Stage::new().server("a", &server);
    let text = stage.call(&stage.servers(), "mcp__a__echo", json!({})).text();
    assert!(text.len() < 110_000, "{}", text.len());
    assert!(text.starts_with("begin") && text.ends_with("end") && text.contains("bytes omitted"));
}

#[test]
fn a_server_that_dies_in_a_call_is_started_again_at_the_next() {
    let server = McpServer::default().at_call("[ -e died ] || { : >died; exit 7; }\ntext alive");
    let stage = Stage::new().server("a", &server);
    let servers = stage.servers();
    let result = stage.call(&servers, "mcp__a__echo", json!({}));
    assert!(result.is_failure());
    assert!(result.text().contains("it ended before it answered"), "{}", result.text());
    // The tools stay, so that the model can try again.
    assert_eq!(names(&servers), ["mcp__a__echo"]);
    wait_until("it is started again", || {
        stage.call(&servers, "mcp__a__echo", json!({})).text() == "alive"
    });
}

#[test]
fn a_server_that_dies_again_and_again_is_not_started_forever() {
    let stage = Stage::new()
        .server("a", &McpServer::default().at_start("echo x >>starts").at_call("exit 7"));
    let servers = stage.servers();
    wait_until("it is given up", || {
        let text = stage.call(&servers, "mcp__a__echo", json!({})).text();
        text.contains("it ended, and was started 3 times within a minute")
    });
    assert_eq!(std::fs::read_to_string(stage.path("starts")).unwrap().lines().count(), 3);
}

#[test]
fn an_answer_that_is_not_valid_is_a_failure() {
    for (what, answer) in
        [("not-a-result", r#"reply '{"content":7}'"#), ("another-kind", r#"reply '{"tools":[]}'"#)]
    {
        let stage =
            Stage::new().changed_server("a", &McpServer::default().at_call(answer), |definition| {
                definition.call_timeout = Duration::from_secs(5);
            });
        let result = stage.call(&stage.servers(), "mcp__a__echo", json!({}));
        assert!(result.is_failure(), "{what}: {result:?}");
    }
}

#[test]
fn a_call_times_out_and_the_server_is_notified() {
    let stage = Stage::new().changed_server(
        "a",
        &McpServer::default().at_call(": no answer"),
        |definition| definition.call_timeout = Duration::from_secs(1),
    );
    let servers = stage.servers();
    let result = stage.call(&servers, "mcp__a__echo", json!({}));
    assert_eq!(result.text(), "<error>the MCP server a: it did not answer within 1 s</error>");
    wait_until("it is notified", || stage.received("a").contains("notifications/cancelled"));
    // It still works.
    assert!(stage.call(&servers, "mcp__a__echo", json!({})).is_failure());
}

#[test]
fn a_cancelled_call_returns_at_once_and_the_server_is_notified() {
    let stage = Stage::new().server("a", &McpServer::default().at_call(": no answer"));
    let servers = stage.servers();
    let cancel = Cancel::new();
    thread::scope(|scope| {
        let call =
            scope.spawn(|| stage.call_with(&servers, "mcp__a__echo", json!({}), &cancel).text());
        wait_until("it is called", || stage.received("a").contains("tools/call"));
        cancel.cancel();
        assert_eq!(call.join().unwrap(), "<error>interrupted</error>");
    });
    wait_until("it is notified", || stage.received("a").contains("notifications/cancelled"));
}

#[test]
fn calls_run_at_the_same_time() {
    // The first call is answered after the second.
    let server = McpServer::default().at_call(
        "if [ -z \"$first\" ]; then first=$id; else text second; id=$first; text first; fi",
    );
    let stage = Stage::new().server("a", &server);
    let servers = stage.servers();
    assert_eq!(names(&servers).len(), 1);
    let texts = thread::scope(|scope| {
        let call = || scope.spawn(|| stage.call(&servers, "mcp__a__echo", json!({})).text());
        let calls = [call(), call()];
        let mut texts = calls.map(|call| call.join().unwrap());
        texts.sort();
        texts
    });
    assert_eq!(texts, ["first", "second"]);
}
