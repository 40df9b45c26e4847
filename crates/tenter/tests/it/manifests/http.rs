//! Hooks behind HTTP: a `HOOK.md` with a URL, in real sessions and in the commands that show hooks.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tenter_testkit::http_server::HttpServer;
use tenter_testkit::tls::{Certificate, TlsFront, authority};
use tenter_testkit::{Sandbox, assert_contains};

use super::{DIRECTORY, bash, decisions, runs};
use crate::sandbox;

/// Writes a hook at `before_tool` with this URL and these lines below `metadata`.
fn write(directory: &Path, name: &str, url: &str, more: &str) {
    let directory = directory.join(name);
    fs::create_dir_all(&directory).unwrap();
    let manifest = format!(
        "---\nname: {name}\ndescription: A test.\ntrigger: before_tool\ntimeout: 20000\nmetadata:\n  url: {url}\n  {more}\n---\n"
    );
    fs::write(directory.join("HOOK.md"), manifest).unwrap();
}

fn user_hook(sandbox: &Sandbox, url: &str, more: &str) {
    write(&sandbox.home().join(DIRECTORY), "remote", url, more);
}

/// Runs one command under the hooks, with these variables.
fn run(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Vec<Value> {
    let model = sandbox.script(&bash("touch made", ""));
    let args = ["run", "--headless", "--model", &model, "do it"];
    sandbox.run_with_env(variables, args).json_lines()
}

fn error(lines: &[Value]) -> String {
    runs(lines, "remote")[0]["reason"].as_str().unwrap_or_else(|| panic!("{lines:#?}")).to_owned()
}

#[test]
fn the_reply_of_the_server_decides_and_it_gets_a_light_payload() {
    let sandbox = sandbox();
    let server = HttpServer::json("{\"decision\": \"deny\", \"reason\": \"not today\"}");
    let headers = "headers: {Authorization: \"env:TEAM_HOOK_TOKEN\"}";
    user_hook(&sandbox, &server.url("/hook"), headers);
    let lines = run(&sandbox, &[("TEAM_HOOK_TOKEN", "Bearer 123")]);
    assert_eq!(decisions(&lines, "remote"), ["deny"], "{lines:#?}");
    assert!(!sandbox.project().join("made").exists());
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("authorization"), Some("Bearer 123"));
    let payload: Value = serde_json::from_str(&requests[0].body).unwrap();
    assert_eq!(payload["tool_input"], json!({"command": "touch made"}));
    assert_eq!(payload.get("messages"), None, "{payload:#}");
}

#[test]
fn one_process_posts_all_payloads_of_a_session() {
    let sandbox = sandbox();
    let server = HttpServer::json("{}");
    user_hook(&sandbox, &server.url("/"), "fail: closed");
    let calls = (1..=3).map(|id| {
        format!("{{tool_calls: [{{id: t{id}, name: bash, input: {{command: 'echo {id}'}}}}]}}, ")
    });
    let _ = sandbox
        .play(&format!("turns: [{}{{text: ok}}]", calls.collect::<String>()), &["do it"])
        .expect_code(0);
    let commands = server.requests().into_iter().map(|request| {
        let payload: Value = serde_json::from_str(&request.body).unwrap();
        payload["tool_input"]["command"].as_str().unwrap().to_owned()
    });
    assert_eq!(commands.collect::<Vec<_>>(), ["echo 1", "echo 2", "echo 3"]);
    let records = super::records(&sandbox);
    let hook_runs = records.iter().filter(|record| record["hook"] == "remote");
    let transports: Vec<&Value> = hook_runs.map(|run| &run["transport"]).collect();
    assert_eq!(transports, ["runtime"; 3], "{records:#?}");
}

#[test]
fn a_failed_request_is_a_failed_run_that_says_why() {
    let server = HttpServer::answering("500 X", &[], "");
    for (more, is_made) in [("fail: open", true), ("fail: closed", false)] {
        let sandbox = sandbox();
        user_hook(&sandbox, &server.url("/hook"), more);
        let reason = error(&run(&sandbox, &[]));
        let expected =
            format!("{} responded with HTTP 500 Internal Server Error", server.url("/hook"));
        assert_eq!(reason, expected);
        assert_eq!(sandbox.project().join("made").exists(), is_made, "{more}");
    }
}

#[test]
fn an_untrusted_certificate_fails_until_the_user_trusts_its_authority() {
    let sandbox = sandbox();
    let server = HttpServer::json("{\"decision\": \"deny\"}");
    let front = TlsFront::start(Certificate::Signed, &server.url(""));
    let url = front.url("/hook").replace("127.0.0.1", "localhost");
    user_hook(&sandbox, &url, "fail: open");
    let error = error(&run(&sandbox, &[]));
    let expected = format!("{url}: its certificate is not signed by a trusted authority");
    assert!(error.starts_with(&expected) && error.contains("SSL_CERT_FILE"), "{error}");
    let lines = run(&sandbox, &[("SSL_CERT_FILE", authority().to_str().unwrap())]);
    assert_eq!(decisions(&lines, "remote"), ["deny"], "{lines:#?}");
}

#[test]
fn a_variable_that_is_not_set_or_withheld_is_not_sent() {
    let server = HttpServer::json("{}");
    let user = sandbox();
    user_hook(&user, &server.url("/"), "headers: {X-Team: \"env:TEAM\"}");
    let unset = "the variable TEAM for the header X-Team is not set";
    assert_eq!(error(&run(&user, &[])), unset);
    // A key whose name does not look like one, even if the user passes it to the hook.
    let config = "[providers.mine]\napi = \"chat\"\nbase_url = \"http://localhost:1/v1\"\napi_key_env = \"TEAM\"\n\
        [[hooks.override]]\nname = \"remote\"\nenv = [\"TEAM\"]\n";
    user.configure(config);
    assert_eq!(error(&run(&user, &[("TEAM", "secret")])), unset);
    assert_eq!(server.requests(), []);
}

#[test]
fn the_helper_sends_no_model_key() {
    let sandbox = sandbox();
    let server = HttpServer::json("{}");
    let post = |args: &[&str]| sandbox.run([&["hooks", "post"], args].concat());
    let url = server.url("/");
    post(&["--header", "X=env:OPENAI_API_KEY", &url]).fails(1, "model key");
    for header in ["X", "X=TEAM", "=env:TEAM", "Host=env:TEAM"] {
        let _ = post(&["--header", header, &url]).expect_code(1);
    }
    let _ = post(&["http://hooks.example.com"]).expect_code(1);
    assert_eq!(server.requests(), []);
}

#[test]
fn a_project_does_not_choose_the_proxy() {
    let sandbox = sandbox();
    let proxy = HttpServer::start(Some(String::new()));
    sandbox.write("tenter.toml", format!("[providers.openai]\nproxy = \"{}\"\n", proxy.url("")));
    sandbox.write(".env", format!("HTTPS_PROXY={}\n", proxy.url("")));
    user_hook(&sandbox, "https://hooks.invalid/", "fail: closed");
    let _ = run(&sandbox, &[]);
    assert_eq!(proxy.requests(), []);
    let _ = run(&sandbox, &[("HTTPS_PROXY", &proxy.url(""))]);
    assert!(proxy.requests()[0].line.starts_with("CONNECT hooks.invalid:443"));
}

#[test]
fn where_payloads_go_is_shown_before_the_hook_is_trusted() {
    let sandbox = sandbox();
    let more = "headers: {Authorization: \"env:TEAM_HOOK_TOKEN\"}";
    let directory = sandbox.project().join(".agents/hooks");
    write(&directory, "remote", "https://hooks.example.com/tenter", more);
    let mut session = sandbox.at_terminal("trust");
    let screen = session.wait_for("Let them run?");
    let expected = "remote sends its payloads to https://hooks.example.com/tenter, with the values of TEAM_HOOK_TOKEN";
    assert!(screen.replace(['\r', '\n'], "").contains(expected), "{screen}");
    session.enter("t");
    let _ = session.wait_for("Trusted: ");
    drop(session);
    let screen = sandbox.run("hooks show remote").expect_code(0).stdout;
    assert_contains(
        &screen,
        &[
            "url       https://hooks.example.com/tenter",
            "headers   Authorization: env:TEAM_HOOK_TOKEN",
            "script    none: payloads are posted to the URL",
            "trust     trusted",
        ],
    );
    let list = sandbox.run("hooks list --json").expect_code(0).json();
    assert_eq!(list[0]["protocol"], "http");
    assert_eq!(list[0]["url"], "https://hooks.example.com/tenter");
    write(&directory, "remote", "https://elsewhere.example.com/", more);
    let screen = sandbox.run("hooks show remote").expect_code(0).stdout;
    assert!(screen.contains("trust     changed"), "{screen}");
}

#[test]
fn a_url_and_a_script_are_an_error() {
    let sandbox = sandbox();
    user_hook(&sandbox, "https://hooks.example.com", "fail: open");
    let directory = sandbox.home().join(DIRECTORY).join("remote");
    let output = sandbox.run(["hooks", "validate", directory.to_str().unwrap()]).expect_code(0);
    assert!(!output.stderr.contains("script"), "{output}");
    fs::create_dir(directory.join("scripts")).unwrap();
    fs::write(directory.join("scripts/run.sh"), "#!/bin/sh\n").unwrap();
    let output = sandbox.run(["hooks", "validate", directory.to_str().unwrap()]);
    assert!(output.stderr.contains("the hook has both a `url` and a script"), "{output}");
    let list = sandbox.run("hooks list --json").expect_code(0).json();
    assert_eq!(list[0]["status"], "invalid", "{list:#}");
}
