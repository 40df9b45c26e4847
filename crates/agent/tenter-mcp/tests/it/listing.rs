//! The model's view of the tools that a server lists.

use serde_json::json;
use tenter_mcp::ToolSelection;
use tenter_testkit::{McpServer, wait_until};

use crate::stage::{Stage, messages, names, tools, tools_named};

#[test]
fn names_descriptions_and_schemas_are_limited_and_sanitised() {
    let long = "x".repeat(10_000);
    let server = McpServer::with_tools(json!([
        {"name": "a.b", "description": "red \u{1b}[31m\u{202e}", "inputSchema": {"type": "object"}},
        {"name": long, "inputSchema": {"type": "object"}},
        {"name": "long", "description": long, "inputSchema": {"type": "object"}},
        {"name": "large", "inputSchema": {"type": "object", "description": "x".repeat(100_000)}},
    ]));
    let stage = Stage::new().server("s", &server.instructions("Use it \u{1b}[31mwell."));
    let sourced = tools(&stage.servers());
    let names: Vec<&str> = sourced.tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["mcp__s__a_b", "mcp__s__long"]);
    assert_eq!(sourced.tools[0].description(), "red \u{fffd}");
    assert_eq!(sourced.tools[1].description().chars().count(), 4000);
    assert_eq!(sourced.tools[0].input_schema(), json!({"type": "object", "properties": {}}));
    assert_eq!(sourced.instructions[0].text, "Use it well.");
    let [warning] = sourced.diagnostics.as_slice() else { panic!("{:?}", sourced.diagnostics) };
    assert!(warning.message.contains("its tool large is left out"), "{}", warning.message);
}

#[test]
fn only_chosen_tools_are_offered() {
    let server = McpServer::with_tools(tools_named(&["a", "b", "c"]));
    let stage = Stage::new()
        .changed_server("some", &server, |definition| {
            definition.selection = ToolSelection {
                only: Some(vec!["a".into(), "b".into(), "z".into()]),
                exclude: vec!["b".into()],
            };
        })
        .changed_server("rest", &server, |definition| {
            definition.selection = ToolSelection { only: None, exclude: vec!["a".into()] };
        });
    let servers = stage.servers();
    assert_eq!(names(&servers), ["mcp__rest__b", "mcp__rest__c", "mcp__some__a"]);
    assert_eq!(messages(&servers), ["the MCP server some: it has no tool named z"]);
}

#[test]
fn too_many_tools_are_left_out() {
    let names_of_tools: Vec<String> = (0..200).map(|number| format!("t{number}")).collect();
    let names_of_tools: Vec<&str> = names_of_tools.iter().map(String::as_str).collect();
    let stage = Stage::new().server("many", &McpServer::with_tools(tools_named(&names_of_tools)));
    let servers = stage.servers();
    assert_eq!(names(&servers).len(), 128);
    assert!(messages(&servers)[0].contains("more than 128 tools"));
}

#[test]
fn a_changed_list_is_read_again() {
    let server = McpServer::with_tools(tools_named(&["old"]))
        .at_list("[ -e changed ] && tools='[{\"name\":\"new\",\"inputSchema\":{}}]'")
        .at_call(": >changed; say '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}'; text ok");
    let stage = Stage::new().server("a", &server);
    let servers = stage.servers();
    let before = tools(&servers);
    stage.call(&servers, "mcp__a__old", json!({}));
    wait_until("the list is read again", || names(&servers) == ["mcp__a__new"]);
    let after = tools(&servers);
    assert_ne!(before.revision, after.revision);
    assert_eq!(after.revision, tools(&servers).revision);
}

#[test]
fn endless_pages_end() {
    let server = McpServer::default().at_list(
        "reply '{\"tools\":[{\"name\":\"t'$id'\",\"inputSchema\":{}}],\"nextCursor\":\"more\"}'; continue",
    );
    let stage = Stage::new().server("pages", &server);
    assert_eq!(names(&stage.servers()).len(), 32);
}
