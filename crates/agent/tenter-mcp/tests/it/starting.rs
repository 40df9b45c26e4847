//! When servers start and end, and what happens if they do not.

use std::time::{Duration, Instant};

use serde_json::json;
use tenter_agent::tools::ToolSource as _;
use tenter_proc::Cancel;
use tenter_testkit::{McpServer, wait_until};

use crate::stage::{Stage, messages, names, tools};

#[test]
fn nothing_starts_before_it_is_needed() {
    let stage = Stage::new().server("a", &McpServer::default().at_start(": >started"));
    let servers = stage.servers();
    assert!(servers.may_provide("mcp__a__*"));
    assert!(!stage.path("started").exists());
    servers.start(&|_| true);
    wait_until("it starts", || stage.path("started").exists());
}

#[test]
fn a_server_whose_tools_are_not_used_is_not_started() {
    let server = McpServer::default();
    let stage = Stage::new().server("a", &server).server("b", &server);
    let servers = stage.servers();
    let sourced = servers.tools(&|prefix| prefix == "mcp__b__", &Cancel::new());
    assert_eq!(sourced.tools.len(), 1);
    assert_eq!(sourced.tools[0].name(), "mcp__b__echo");
    assert_eq!(stage.received("a"), "");
}

#[test]
fn servers_start_in_parallel() {
    // Each waits for the other.
    let waiting = |mine: &str, other: &str| {
        McpServer::default()
            .at_start(&format!(": >{mine}; until [ -e {other} ]; do sleep 0.01; done"))
    };
    let stage =
        Stage::new().server("a", &waiting("of-a", "of-b")).server("b", &waiting("of-b", "of-a"));
    assert_eq!(names(&stage.servers()), ["mcp__a__echo", "mcp__b__echo"]);
}

#[test]
fn a_server_that_fails_is_reported_and_does_not_affect_others() {
    let failing =
        McpServer::default().at_start("echo 'no database: \u{1b}[31mhunter2hunter2' >&2; exit 3");
    let stage = Stage::new()
        .changed_server("bad", &failing, |definition| {
            definition.secrets = vec!["hunter2hunter2".to_owned()];
        })
        .server("good", &McpServer::default());
    let servers = stage.servers();
    let sourced = tools(&servers);
    assert_eq!(sourced.tools.len(), 1);
    let [problem] = sourced.diagnostics.as_slice() else { panic!("{:?}", sourced.diagnostics) };
    assert_eq!(
        problem.message,
        "the MCP server bad is not available: it ended before it answered the first request; exit code 3; \
         stderr: no database: [secret]"
    );
    // It is not started again at once.
    assert_eq!(messages(&servers), std::slice::from_ref(&problem.message));
}

#[test]
fn a_program_that_does_not_exist_is_reported() {
    let stage = Stage::new().server("gone", &McpServer::default());
    std::fs::remove_file(stage.path("gone")).unwrap();
    let messages = messages(&stage.servers());
    assert!(messages[0].contains("gone cannot be started"), "{messages:?}");
    assert!(messages[0].contains("does not exist"), "{messages:?}");
}

#[test]
fn a_slow_server_is_awaited_once_and_its_tools_appear_later() {
    let slow = McpServer::default().at_start("until [ -e go ]; do sleep 0.01; done");
    let stage = Stage::new().changed_server("slow", &slow, |definition| {
        definition.startup_timeout = Duration::from_millis(200);
    });
    let servers = stage.servers();
    let sourced = tools(&servers);
    assert!(sourced.tools.is_empty());
    assert!(sourced.diagnostics[0].message.contains("it has not started within"));
    stage.create("go");
    wait_until("it has started", || names(&servers) == ["mcp__slow__echo"]);
    let later = tools(&servers);
    assert!(later.diagnostics.is_empty());
    assert_ne!(later.revision, sourced.revision);
}

#[test]
fn waiting_for_a_server_can_be_cancelled() {
    let stage = Stage::new().server("hangs", &McpServer::default().at_start("sleep 600"));
    let servers = stage.servers();
    let cancel = Cancel::new();
    cancel.cancel();
    let start = Instant::now();
    assert!(servers.tools(&|_| true, &cancel).tools.is_empty());
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_server_may_ask_for_its_roots() {
    let asks = r#"say '{"jsonrpc":"2.0","id":"roots","method":"roots/list"}'"#;
    let stage = Stage::new().server("a", &McpServer::default().at_list(asks));
    let servers = stage.servers();
    assert_eq!(names(&servers).len(), 1);
    wait_until("it has its roots", || stage.received("a").contains(r#""id":"roots""#));
    let messages = stage.received("a");
    assert!(messages.contains(r#""capabilities":{"roots":{}}"#), "{messages}");
    let uri =
        format!(r#""uri":"file://{}""#, stage.path("").display().to_string().trim_end_matches('/'));
    assert!(messages.contains(&uri), "{uri} {messages}");
}

#[test]
fn servers_end_with_their_source() {
    let server = McpServer::default().at_start("echo $$ >pid; trap 'true' TERM HUP INT");
    let stage = Stage::new().server("a", &server);
    let servers = stage.servers();
    assert_eq!(names(&servers).len(), 1);
    let pid = std::fs::read_to_string(stage.path("pid")).unwrap();
    let status = format!("/proc/{}/status", pid.trim());
    assert!(std::path::Path::new(&status).exists());
    drop(servers);
    wait_until("it has ended", || !std::path::Path::new(&status).exists());
}

#[test]
fn a_server_that_does_not_speak_the_protocol_is_reported() {
    for (what, at_start, expected) in [
        ("log", "echo hello; exit 0", "it wrote to stdout: hello"),
        (
            "long",
            "head -c 20000000 /dev/zero | tr '\\0' x; cat >/dev/null",
            "a line of more than 16 MiB",
        ),
        ("closed", "exec >&-; cat >/dev/null", "ended before it answered"),
    ] {
        let stage = Stage::new().server(what, &McpServer::default().at_start(at_start));
        let messages = messages(&stage.servers());
        assert!(messages[0].contains(expected), "{messages:?}");
    }
}

#[test]
fn a_server_that_logs_to_stdout_still_works() {
    let server = McpServer::default().at_start("echo starting; echo '{\"level\": \"info\"}'; echo");
    let stage = Stage::new().server("chatty", &server);
    assert_eq!(names(&stage.servers()), ["mcp__chatty__echo"]);
}

#[test]
fn a_flood_of_messages_ends_the_server() {
    let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}});
    let flood = McpServer::default().at_start(&format!("yes '{note}'"));
    let stage = Stage::new().changed_server("flood", &flood, |definition| {
        definition.startup_timeout = Duration::from_secs(5);
    });
    // Messages are read as fast as they come, or the server is ended: in both cases it has no tools.
    assert!(tools(&stage.servers()).tools.is_empty());
}
