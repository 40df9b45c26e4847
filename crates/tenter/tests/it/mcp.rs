//! MCP servers in sessions: their tools, hooks about them, and what happens without them.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tenter_testkit::{McpServer, Sandbox, assert_fields, needs, skip_unless};

use crate::{filter_kind, headless, sandbox};

/// The user's configuration.
const USER_FILE: &str = "../home/.config/tenter/config.toml";

/// Installs a server beside the project and names it in the user's configuration, with more settings.
fn user_server(sandbox: &Sandbox, name: &str, server: &McpServer, more: &str) {
    let program = server.install(&sandbox.root().join(name));
    let table = format!("[mcp.servers.{name}]\ncommand = {:?}\n{more}\n", program.display());
    let file = sandbox.project().join(USER_FILE);
    let before = fs::read_to_string(file).unwrap_or_default();
    sandbox.write(USER_FILE, before + &table);
}

fn received(sandbox: &Sandbox, name: &str) -> String {
    McpServer::received(&sandbox.root().join(name))
}

fn results(lines: &[Value]) -> Vec<&Value> {
    filter_kind(lines, "tool-result").into_iter().map(|line| &line["result"]).collect()
}

#[test]
fn a_tool_of_a_server_is_called_and_hooks_see_the_call() {
    let sandbox = sandbox();
    let server = McpServer::default().instructions("Echo is for tests.");
    user_server(&sandbox, "test", &server, "");
    sandbox.sh_hook("before", "before_tool_call", r#"echo "$payload" >> seen"#);
    sandbox.sh_hook("after", "after_tool_call", r#"echo "$payload" >> seen-after"#);
    let (lines, code) = headless(
        &sandbox,
        "turns:
- tool_calls: [{name: mcp__test__echo, input: {text: hello}}]
- {text: ok, expect: {contains: ['arguments:{text:hello}']}}",
    );
    assert_eq!(code, 0);
    let result = results(&lines)[0];
    assert_eq!(result["toolName"], "mcp__test__echo");
    let fields = json!({"metadataType": "mcp", "metadata": {"server": "test", "tool": "echo"}});
    assert_fields(result, &fields);
    let content: Value = serde_json::from_str(&sandbox.read("seen")).unwrap();
    assert_eq!(content["tool_name"], "mcp__test__echo");
    assert_eq!(content["tool_input"], json!({"text": "hello"}));
    assert!(sandbox.read("seen-after").contains(r#""metadataType": "mcp""#));
}

#[test]
fn a_confined_server_answers_and_writes_nothing() {
    let sandbox = sandbox();
    if sandbox.run("confine -- true").code != Some(0) {
        return;
    }
    for (confine, is_written) in [("confine = \"pure\"", false), ("", true)] {
        sandbox.write(USER_FILE, "");
        user_server(&sandbox, "test", &McpServer::default(), confine);
        let (_, code) = headless(
            &sandbox,
            "turns: [{tool_calls: [{name: mcp__test__echo, input: {text: hello}}]}, {text: ok, expect: {contains: ['arguments:{text:hello}']}}]",
        );
        assert_eq!((code, !received(&sandbox, "test").is_empty()), (0, is_written), "{confine}");
    }
}

#[test]
fn a_confinement_of_a_server_that_is_unknown_or_has_no_program_does_not_start_it() {
    let sandbox = sandbox();
    user_server(&sandbox, "test", &McpServer::default(), "confine = \"bild\"");
    let output = sandbox.run("mcp test test");
    assert!(output.code != Some(0), "{output}");
    assert!(output.stderr.contains("there is no profile \"bild\""), "{output}");
    assert_eq!(received(&sandbox, "test"), "");
    let url = "[mcp.servers.test]\nurl = \"https://mcp.example.com/mcp\"\nconfine = \"pure\"\n";
    sandbox.write(USER_FILE, url);
    let output = sandbox.run("mcp test test");
    assert!(output.stderr.contains("both `url` and `confine`"), "{output}");
    let missing = "[mcp.servers.test]\ncommand = \"no-such-server\"\nconfine = \"pure\"\n";
    sandbox.write(USER_FILE, missing);
    let list = sandbox.run("mcp list --json").expect_code(0).json();
    assert_eq!(list[0]["state"], "program not found", "{list}");
}

#[test]
fn a_guard_and_the_protection_of_files_see_what_a_tool_of_a_server_does() {
    let sandbox = sandbox();
    let schema = json!({"type": "object", "properties": {}});
    let tool = |name: &str| json!({"name": name, "inputSchema": schema});
    let tools = json!([tool("start_process"), tool("write_file"), tool("move_file")]);
    user_server(&sandbox, "test", &McpServer::with_tools(tools), "");
    let _ = sandbox.run("guard add git-safety").expect_code(0);
    let (lines, code) = headless(
        &sandbox,
        "turns:
- tool_calls: [{name: mcp__test__start_process, input: {command: git push -f}}]
- tool_calls: [{name: mcp__test__write_file, input: {path: .git/config, content: x}}]
- tool_calls: [{name: mcp__test__move_file, input: {source: '.', destination: /tmp/elsewhere}}]
- {text: ok}",
    );
    assert_eq!(code, 0);
    let results = results(&lines);
    assert_eq!(results[0]["metadataType"], "blocked", "{}", results[0]);
    for result in &results[1..] {
        assert!(result.to_string().contains("is protected"), "{result}");
    }
    assert!(!received(&sandbox, "test").contains("tools/call"));
}

#[test]
fn a_server_that_fails_is_reported_and_the_session_continues() {
    let sandbox = sandbox();
    user_server(&sandbox, "bad", &McpServer::default().at_start("echo no license >&2; exit 1"), "");
    user_server(&sandbox, "good", &McpServer::default(), "");
    user_server(&sandbox, "odd", &McpServer::default(), "args = [\"${UNSET_FOR_TEST}\"]");
    let output = sandbox.play("turns: [{tool_calls: [{name: mcp__good__echo}, {name: mcp__bad__echo}]}, {text: ok, expect: {contains: ['called with', 'there is no tool']}}]", &["do it"]).expect_code(0);
    for expected in [
        "the MCP server bad is not available",
        "no license",
        "the variable UNSET_FOR_TEST is not set",
    ] {
        assert_eq!(output.stderr.matches(expected).count(), 1, "{expected}\n{output}");
    }
}

#[test]
fn servers_do_not_start_where_their_tools_are_not_offered() {
    let sandbox = sandbox();
    for name in ["one", "two"] {
        user_server(&sandbox, name, &McpServer::default(), "");
    }
    user_server(&sandbox, "off", &McpServer::default(), "enabled = false");
    let run = |flags: &[&str], script: &str| {
        let model = sandbox.script(script);
        sandbox.run([&["run", "--model", &model], flags, &["do it"]].concat())
    };
    let none = "turns: [{text: ok}]";
    let goes_well = |flags: &[&str], script: &str| {
        let output = run(flags, script);
        assert_eq!(output.code, Some(0), "{flags:?} {output}");
    };
    goes_well(&["--no-mcp"], none);
    goes_well(&["--allowed-tools", "none"], none);
    goes_well(&["--allowed-tools", "grep,bash"], none);
    assert_eq!(received(&sandbox, "one") + &received(&sandbox, "two"), "");
    let script = "turns: [{tool_calls: [{name: mcp__one__echo}, {name: grep, input: {pattern: x}}]}, {text: ok, expect: {contains: ['called with', 'there is no tool \"grep\"']}}]";
    goes_well(&["--allowed-tools", "mcp__one__*"], script);
    assert!(received(&sandbox, "one").contains("tools/call"));
    assert_eq!(received(&sandbox, "two") + &received(&sandbox, "off"), "");
    run(&["--allowed-tools", "mcp__three__*"], none).fails(2, "there is no tool \"mcp__three__*\"");
}

#[test]
fn a_server_gets_its_variables_and_no_model_key() {
    let sandbox = sandbox();
    let server = McpServer::default().at_start("env > env-of-server");
    user_server(
        &sandbox,
        "test",
        &server,
        "env = {TOKEN_OF_TEST = \"${SOURCE:-none}-x\"}\npass_env = [\"GEMINI_API_KEY\"]",
    );
    let model = sandbox.script("turns: [{text: ok}]");
    let vars = [("OPENAI_API_KEY", "sk-one"), ("GEMINI_API_KEY", "key-two"), ("SOURCE", "three")];
    let _ = sandbox.run_with_env(&vars, ["run", "--model", &model, "do it"]).expect_code(0);
    let env = sandbox.read("../home/env-of-server");
    assert!(env.contains("TOKEN_OF_TEST=three-x\n"), "{env}");
    assert!(env.contains("GEMINI_API_KEY=key-two\n") && !env.contains("sk-one"), "{env}");
}

#[test]
fn a_subagent_uses_the_same_servers() {
    let sandbox = sandbox();
    user_server(&sandbox, "test", &McpServer::default().at_start("echo x >> starts"), "");
    let (lines, code) = headless(
        &sandbox,
        "turns:
- tool_calls: [{name: subagent, input: {question: ask}}]
- tool_calls: [{name: mcp__test__echo, input: {text: from-subagent}}]
- {text: answer}
- {text: ok}",
    );
    assert_eq!(code, 0, "{lines:?}");
    assert!(received(&sandbox, "test").contains("from-subagent"));
    assert_eq!(sandbox.read("../home/starts"), "x\n");
}

#[test]
fn a_tool_of_a_server_needs_permission_in_the_modes_ask_and_edits() {
    let sandbox = sandbox();
    user_server(&sandbox, "test", &McpServer::default(), "");
    let model = sandbox.script("turns: [{tool_calls: [{name: mcp__test__echo}]}, {text: ok}]");
    for (mode, is_called) in [("ask", false), ("edits", false), ("all", true)] {
        let output = sandbox.run(["run", "--model", &model, "--permissions", mode, "do it"]);
        let messages = received(&sandbox, "test");
        assert_eq!(messages.contains("tools/call"), is_called, "{mode} {output}");
    }
}

/// Installs a server in the project and names it in a file of the project.
fn project_server(sandbox: &Sandbox, file: &str) {
    McpServer::default().install(&sandbox.project().join("tools/server"));
    sandbox.write(
        file,
        match file {
            ".mcp.json" => r#"{"mcpServers": {"ours": {"type": "stdio", "command": "./tools/server", "args": []}}}"#,
            _ => "[mcp.servers.ours]\ncommand = \"./tools/server\"\nenv = {A = \"\\u001b[31mred\"}\n",
        },
    );
}

fn runs(sandbox: &Sandbox, flags: &[&str]) -> tenter_testkit::Output {
    let model = sandbox.script("turns: [{tool_calls: [{name: mcp__ours__echo}]}, {text: ok}]");
    sandbox.run([&["run", "--model", &model], flags, &["do it"]].concat())
}

fn was_called(sandbox: &Sandbox) -> bool {
    McpServer::received(&sandbox.project().join("tools/server")).contains("tools/call")
}

fn was_started(sandbox: &Sandbox) -> bool {
    !McpServer::received(&sandbox.project().join("tools/server")).is_empty()
}

#[test]
fn servers_of_a_project_need_trust() {
    for file in ["tenter.toml", ".mcp.json"] {
        let sandbox = sandbox();
        project_server(&sandbox, file);
        runs(&sandbox, &[]).fails(4, "not trusted: mcp:ours (./tools/server)");
        sandbox.fails(4, "mcp test ours", "is not trusted");
        let list = sandbox.run("mcp list --json").expect_code(0).json();
        assert_eq!(list[0]["state"], "untrusted");
        let output = runs(&sandbox, &["--no-mcp"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(!was_started(&sandbox));
        sandbox.warns("trust --yes", "Trusted: mcp:ours.");
        let output = runs(&sandbox, &[]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(was_called(&sandbox));
    }
}

#[test]
fn a_changed_file_of_a_server_asks_again() {
    let sandbox = sandbox();
    project_server(&sandbox, "tenter.toml");
    let output = runs(&sandbox, &["--trust-project"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(was_called(&sandbox));
    let program = sandbox.read("tools/server");
    sandbox.write("tools/server", format!("{program}# changed\n"));
    runs(&sandbox, &[]).fails(4, "mcp:ours");
    sandbox.write("tools/server", &program);
    assert_eq!(runs(&sandbox, &[]).code, Some(0));
    sandbox
        .write("tenter.toml", "[mcp.servers.ours]\ncommand = \"./tools/server\"\nargs = [\"x\"]\n");
    assert_eq!(runs(&sandbox, &[]).code, Some(4));
    let removal = sandbox.run("trust --revoke mcp:ours");
    assert_eq!(removal.code, Some(0), "{removal}");
}

#[test]
fn a_server_of_the_user_starts_outside_the_project() {
    let sandbox = sandbox();
    let server = McpServer::default()
        .at_start("pwd >where; env >>where")
        .at_list(r#"say '{"jsonrpc":"2.0","id":"roots","method":"roots/list"}'"#);
    user_server(&sandbox, "test", &server, "args = [\"${TENTER_PROJECT_DIR}\"]");
    let model = sandbox.script("turns: [{tool_calls: [{name: mcp__test__echo}]}, {text: ok}]");
    let project = sandbox.project().display().to_string();
    let mut command = sandbox.command();
    command.args(["run", "--model", &model, "do it"]);
    command.env("PYTHONPATH", &project).env("INIT_CWD", &project).env("VIRTUAL_ENV", &project);
    command.env("npm_config_local_prefix", &project);
    command.env("NODE_OPTIONS", format!("--require {project}/x.js"));
    assert!(command.status().unwrap().success());
    let places = sandbox.read("../home/where");
    let home = sandbox.home().display().to_string();
    assert!(places.starts_with(&format!("{home}\n")), "{places}");
    let names: Vec<&str> = places.lines().filter(|line| line.contains(&project)).collect();
    assert_eq!(names, [format!("TENTER_PROJECT_DIR={project}")]);
    assert!(received(&sandbox, "test").contains(&format!(r#""uri":"file://{project}""#)));
}

#[test]
fn a_server_of_the_user_starts_where_its_settings_say() {
    let sandbox = sandbox();
    fs::create_dir_all(sandbox.home().join("tools")).unwrap();
    let server = McpServer::default().at_start("pwd >where");
    user_server(&sandbox, "one", &server, "cwd = \"tools\"");
    user_server(&sandbox, "two", &server, "cwd = \"${TENTER_PROJECT_DIR}\"");
    let _ = sandbox.play("turns: [{text: ok}]", &["do it"]).expect_code(0);
    let home = sandbox.home().display().to_string();
    assert_eq!(sandbox.read("../home/tools/where"), format!("{home}/tools\n"));
    assert_eq!(sandbox.read("where"), format!("{}\n", sandbox.project().display()));
}

/// Writes a server into the project that leaves a file there when it runs.
fn trap(sandbox: &Sandbox, name: &str, line: &str) {
    sandbox.write_program(name, line);
}

#[test]
fn npx_finds_the_users_programs_and_none_of_the_project() {
    skip_unless!(needs::has("npx") && needs::has("node"));
    let sandbox = sandbox();
    let bin = sandbox.home().join("node_modules/.bin/issues-server");
    McpServer::default().install(&bin);
    let leaves = format!("#!/bin/sh\ntouch '{}/was-run'\n", sandbox.project().display());
    trap(&sandbox, "node_modules/.bin/issues-server", &leaves);
    trap(&sandbox, "x.js", "require('fs').writeFileSync(__dirname + '/was-run', '')");
    sandbox.write("package.json", r#"{"name": "shop", "bin": {"issues-server": "x.js"}}"#);
    sandbox.write(
        ".npmrc",
        "script-shell=./node_modules/.bin/issues-server\nnode-options=--require ./x.js\n",
    );
    let table = "[mcp.servers.issues]\ncommand = \"npx\"\nargs = [\"-y\", \"issues-server\"]\n";
    sandbox.write(USER_FILE, table);
    let model = sandbox.script("turns: [{tool_calls: [{name: mcp__issues__echo}]}, {text: ok}]");
    let mut command = sandbox.command();
    command.args(["run", "--model", &model, "do it"]).env("npm_config_offline", "true");
    let project = sandbox.project();
    command.env("PATH", search_path_with(&project.join("node_modules/.bin")));
    command.env("NODE_PATH", project.join("node_modules")).env("npm_config_prefix", project);
    let output = command.output().unwrap();
    assert!(McpServer::received(&bin).contains("tools/call"), "{output:?}");
    assert!(!sandbox.project().join("was-run").exists(), "{output:?}");
}

/// Returns the `PATH` of tests behind a directory.
fn search_path_with(directory: &Path) -> OsString {
    let path = needs::search_path();
    let all = std::iter::once(directory.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(all).unwrap()
}

#[test]
fn python_finds_no_module_of_the_project() {
    skip_unless!(needs::has("python3"));
    let sandbox = sandbox();
    for name in ["issues_server.py", "json.py", "sitecustomize.py"] {
        let leaves = format!("open('{}/was-run', 'w')\n", sandbox.project().display());
        sandbox.write(name, leaves);
    }
    let table = "[mcp.servers.issues]\ncommand = \"python3\"\nargs = [\"-m\", \"issues_server\"]\n";
    sandbox.write(USER_FILE, table);
    let model = sandbox.script("turns: [{text: ok}]");
    for path in [".", "", sandbox.project().to_str().unwrap()] {
        let args = ["run", "--model", &model, "do it"];
        let output = sandbox.run_with_env(&[("PYTHONPATH", path)], args);
        assert!(output.stderr.contains("No module named"), "{path} {output}");
        assert!(!sandbox.project().join("was-run").exists(), "{path} {output}");
    }
}

#[test]
fn a_project_replaces_no_server_of_the_user() {
    let sandbox = sandbox();
    user_server(&sandbox, "ours", &McpServer::default(), "");
    project_server(&sandbox, "tenter.toml");
    runs(&sandbox, &[]).warns("has one of the same name");
    assert!(received(&sandbox, "ours").contains("tools/call"));
    assert!(!was_started(&sandbox));
}

#[test]
fn the_question_shows_everything_and_controls_no_terminal() {
    let sandbox = sandbox();
    project_server(&sandbox, "tenter.toml");
    let model = sandbox.script("turns: [{tool_calls: [{name: mcp__ours__echo}]}, {text: ok}]");
    let mut session = sandbox.at_terminal(["run", "--model", &model, "do it"]);
    let screen = session.answer("[q] quit:", "t");
    let output = sandbox.finish_pty(session);
    for expected in
        ["mcp:ours", "starts ./tools/server", "env: A=\\u{1b}[31mred", "Trusted: mcp:ours."]
    {
        assert!(
            (screen.clone() + &output.stdout).contains(expected),
            "{expected}\n{screen}{output}"
        );
    }
    assert!(was_called(&sandbox));
}

#[test]
fn servers_are_added_and_removed() {
    let sandbox = sandbox();
    let add = |args: &[&str]| sandbox.run([&["mcp", "add"], args].concat());
    let _ = add(&["time", "--env", "ZONE=UTC", "--", "no-such-server", "--now"]).expect_code(0);
    let _ = add(&["docs", "https://mcp.example.com/mcp", "--header", "X-Team=a"]).expect_code(0);
    let list = sandbox.run("mcp list --json").expect_code(0).json();
    let server = |index: usize| (list[index]["state"].clone(), list[index]["target"].clone());
    assert_eq!(server(0), ("ready".into(), "https://mcp.example.com/mcp".into()));
    assert_eq!(server(1), ("program not found".into(), "no-such-server --now".into()));
    let settings = sandbox.run("mcp show time").expect_code(0).stdout;
    assert!(settings.contains("ZONE=UTC"), "{settings}");
    add(&["docs", "https://example.com"]).fails(2, "there is an MCP server \"docs\" already");
    add(&["x", "--header", "A=b", "program"]).fails(2, "--header is for a URL");
    for name in ["time", "docs"] {
        let _ = sandbox.run(["mcp", "remove", name]).expect_code(0);
    }
    assert_eq!(sandbox.run("mcp list --json").expect_code(0).json(), serde_json::json!([]));
    let _ = sandbox.run("mcp remove time").expect_code(2);
}
