//! Real servers from package registries, where they are in `PATH`: `pip install mcp-server-time`, `npm install -g
//! @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-everything`.

use std::path::PathBuf;

use serde_json::json;
use tenter_base::search_path;
use tenter_protocol::Image;
use tenter_testkit::needs;

use crate::stage::{Stage, messages, names};

/// Returns the server in `PATH`. If there is none, the test is reported as skipped.
fn program(name: &str) -> Option<PathBuf> {
    let program = search_path::program(name, &[("PATH".into(), needs::search_path())]);
    if program.is_none() {
        needs::skipped(name, &format!("{name} is not installed"));
    }
    program
}

#[test]
fn the_time_server_of_pypi() {
    let Some(program) = program("mcp-server-time") else { return };
    let stage = Stage::new().program("time", program, &[]);
    let servers = stage.servers();
    let names = names(&servers);
    assert!(names.contains(&"mcp__time__get_current_time".to_owned()), "{names:?}");
    assert_eq!(messages(&servers), [] as [&str; 0]);
    let time = stage.call(&servers, "mcp__time__get_current_time", json!({"timezone": "UTC"}));
    assert!(time.text().contains("\"timezone\": \"UTC\""), "{}", time.text());
    let nowhere = json!({"timezone": "Nowhere/Atlantis"});
    let failure = stage.call(&servers, "mcp__time__get_current_time", nowhere);
    assert!(failure.is_failure(), "{}", failure.text());
}

#[test]
fn the_filesystem_server_of_npm() {
    let Some(program) = program("mcp-server-filesystem") else { return };
    let stage = Stage::new();
    stage.create("hello.txt");
    let directory = stage.path("").display().to_string();
    let stage = stage.program("files", program, &[&directory]);
    let servers = stage.servers();
    let files = stage.call(&servers, "mcp__files__list_directory", json!({"path": directory}));
    assert!(files.text().contains("[FILE] hello.txt"), "{}", files.text());
    let outside = stage.call(&servers, "mcp__files__list_directory", json!({"path": "/"}));
    assert!(outside.is_failure(), "{}", outside.text());
}

#[test]
fn the_server_of_npm_with_everything() {
    let Some(program) = program("mcp-server-everything") else { return };
    let stage = Stage::new().program("all", program, &["stdio"]);
    let servers = stage.servers();
    let echo = stage.call(&servers, "mcp__all__echo", json!({"message": "hello"}));
    assert_eq!(echo.text(), "Echo: hello");
    let image = stage.call(&servers, "mcp__all__get-tiny-image", json!({}));
    assert_eq!(Image::all_of(&image).len(), 1, "{}", image.text());
}
