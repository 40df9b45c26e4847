//! `tenter export`: every record reaches the collector, whatever happens on the way (M4).

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tenter_testkit::http_server::{HttpServer, response};
use tenter_testkit::{Output, Sandbox, assert_fields, wait_until};

use crate::sandbox;

/// The attributes of a log record.
type Attributes = BTreeMap<String, String>;

/// Returns the log records in the requests that a server received, as the protocol describes them.
fn log_records(server: &HttpServer) -> Vec<(Value, Attributes)> {
    let mut records = Vec::new();
    for request in server.requests() {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        for resource in body["resourceLogs"].as_array().unwrap() {
            for scope in resource["scopeLogs"].as_array().unwrap() {
                for record in scope["logRecords"].as_array().unwrap() {
                    records.push((record.clone(), attributes(&record["attributes"])));
                }
            }
        }
    }
    records
}

fn attributes(list: &Value) -> Attributes {
    let pair = |one: &Value| {
        let value = &one["value"];
        let text = value["stringValue"].as_str().or_else(|| value["intValue"].as_str());
        (one["key"].as_str().unwrap().to_owned(), text.unwrap().to_owned())
    };
    list.as_array().unwrap().iter().map(pair).collect()
}

fn accepted() -> String {
    response("200 OK", &["content-type: application/json"], "{}")
}

fn export(sandbox: &Sandbox, server: &HttpServer, flags: &[&str]) -> Output {
    let url = server.url("");
    let args = [&["export", "otlp", "--endpoint", &url], flags].concat();
    sandbox.run(&args)
}

/// Runs a session in which a hook denies a call.
fn denied(sandbox: &Sandbox) {
    sandbox.sh_hook(
        "guard",
        "before_tool_call",
        "echo '{\"blocked\": true, \"reason\": \"no ls\"}'",
    );
    let script = "turns:\n  - tool_calls: [{name: bash, input: {command: ls secret-dir}}]\n  - text: Done.\n";
    let _ = sandbox.play(script, &["do it"]).expect_code(0);
}

/// Writes a journal with this number of records.
fn journal(sandbox: &Sandbox, name: &str, count: usize) {
    let directory = sandbox.state().join("journal");
    fs::create_dir_all(&directory).unwrap();
    let line = |number: usize| {
        let record = json!({"v": 1, "time": "2026-03-01T09:00:00Z", "conversation_id": name, "event": "before_tool",
            "tool_call_id": format!("call-{number}"), "tool_name": "bash", "kind": "decision", "decision": "deny", "hooks_run": 1, "by": "guard"});
        record.to_string() + "\n"
    };
    let text: String = (0..count).map(line).collect();
    fs::write(directory.join(format!("{name}.jsonl")), text).unwrap();
}

#[test]
fn a_denied_call_arrives_with_its_hook_rule_and_call_and_is_sent_once() {
    let sandbox = sandbox();
    denied(&sandbox);
    let server = HttpServer::start(Some(accepted()));
    let _ = export(&sandbox, &server, &[]).expect_code(0);
    assert!(server.requests().iter().all(|request| request.line == "POST /v1/logs HTTP/1.1"));
    let records = log_records(&server);
    let lines = sandbox.run("export jsonl").json_lines();
    let records_of_hooks =
        records.iter().filter(|(_, attributes)| attributes["tenter.kind"] != "seal");
    assert_eq!(records_of_hooks.count(), lines.len(), "every line of the journal");
    let run = records.iter().find(|(_, attributes)| attributes["tenter.kind"] == "run");
    let (record, run) = run.unwrap();
    for (key, expected) in [
        ("gen_ai.tool.name", "bash"),
        ("tenter.hook", "guard"),
        ("tenter.layer", "user"),
        ("tenter.decision", "deny"),
        ("tenter.reason", "no ls"),
        ("tenter.host", "tenter"),
        ("tenter.tool.input", "{\"command\":\"ls secret-dir\"}"),
    ] {
        assert_eq!(run.get(key).map(String::as_str), Some(expected), "{key}");
    }
    assert_eq!(run["gen_ai.conversation.id"], lines[0]["conversation_id"].as_str().unwrap());
    assert_eq!(run["gen_ai.tool.call.id"], lines[0]["tool_call_id"].as_str().unwrap());
    assert_fields(record, &json!({"severityText": "WARN", "eventName": "tenter.run"}));
    assert!(records.iter().any(|(_, attributes)| attributes["tenter.kind"] == "seal"));
    let requests = server.requests().len();
    let _ = export(&sandbox, &server, &[]).expect_code(0);
    assert_eq!(server.requests().len(), requests, "nothing is new");
}

#[test]
fn inputs_can_be_left_out_and_headers_come_from_variables_and_a_command() {
    let sandbox = sandbox();
    denied(&sandbox);
    let server = HttpServer::start(Some(accepted()));
    let mut command = sandbox.command();
    let url = server.url("");
    command.args(["export", "otlp", "--no-inputs", "--header", "x-own=env:OWN"]);
    command.args(["--headers-command", "echo 'x-command: from a command'"]);
    command.envs([
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20token"),
        ("OWN", "own value"),
    ]);
    assert!(command.output().unwrap().status.success());
    let request = server.requests().remove(0);
    assert!(!request.body.contains("secret-dir"), "{}", request.body);
    for (name, value) in
        [("authorization", "Bearer token"), ("x-own", "own value"), ("x-command", "from a command")]
    {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
}

/// The exporter is killed at each batch: before its acknowledgement is known to it. All records arrive, and by their ids none twice.
#[test]
fn an_exporter_that_is_killed_at_any_batch_loses_nothing() {
    const RECORDS: usize = 1200;
    for killed_at in 0..3 {
        let sandbox = sandbox();
        journal(&sandbox, "long", RECORDS);
        let exporter: Arc<Mutex<Option<Child>>> = Arc::default();
        let (victim, mut batch) = (Arc::clone(&exporter), 0);
        let server = HttpServer::deciding(move |_| {
            batch += 1;
            if batch == killed_at + 1 {
                wait_until("the exporter is started", || victim.lock().unwrap().is_some());
                let mut victim = victim.lock().unwrap();
                let child = victim.as_mut().unwrap();
                child.kill().unwrap();
                child.wait().unwrap();
            }
            Some(accepted())
        });
        let url = server.url("");
        *exporter.lock().unwrap() = Some(sandbox.start(["export", "otlp", "--endpoint", &url]));
        wait_until("the exporter is killed", || {
            let mut exporter = exporter.lock().unwrap();
            exporter.as_mut().unwrap().try_wait().unwrap().is_some()
        });
        let _ = export(&sandbox, &server, &[]).expect_code(0);
        let records = log_records(&server);
        let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
        let mut calls: BTreeMap<&str, &str> = BTreeMap::new();
        for (_, attributes) in &records {
            let id = attributes["log.record.uid"].as_str();
            *ids.entry(id).or_default() += 1;
            if let Some(call) = attributes.get("gen_ai.tool.call.id") {
                assert_eq!(*calls.entry(call).or_insert(id), id, "one id for each record");
            }
        }
        assert_eq!(calls.len(), RECORDS, "killed at batch {killed_at}");
        assert!(ids.values().all(|times| *times <= 2), "one batch twice");
        assert!(records.len() > ids.len(), "the exporter was killed before it moved its cursor");
    }
}

#[test]
fn a_busy_collector_is_asked_again_and_one_that_refuses_is_an_error() {
    let sandbox = sandbox();
    journal(&sandbox, "short", 3);
    let mut attempts = 0;
    let server = HttpServer::deciding(move |_| {
        attempts += 1;
        Some(if attempts == 1 { response("503 Service Unavailable", &[], "") } else { accepted() })
    });
    let _ = export(&sandbox, &server, &[]).expect_code(0);
    let bodies: Vec<String> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies[0], bodies[1], "the same batch");
    journal(&sandbox, "more", 3);
    let refusing = HttpServer::start(Some(response("401 Unauthorized", &[], "")));
    export(&sandbox, &refusing, &[]).fails(1, "HTTP 401");
    assert_eq!(refusing.requests().len(), 1, "it is not asked again");
}

#[test]
fn what_the_collector_rejects_is_reported_and_not_sent_again() {
    let sandbox = sandbox();
    journal(&sandbox, "short", 3);
    let body = r#"{"partialSuccess": {"rejectedLogRecords": "2", "errorMessage": "too old"}}"#;
    let server = HttpServer::json(body);
    export(&sandbox, &server, &[]).warns("rejected 2 records: too old");
    let requests = server.requests().len();
    let _ = export(&sandbox, &server, &[]).expect_code(0);
    assert_eq!(server.requests().len(), requests);
}

#[test]
fn half_a_line_waits_for_its_end_and_following_sends_it() {
    let sandbox = sandbox();
    journal(&sandbox, "live", 2);
    let path = sandbox.state().join("journal/live.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let (first, second) = text.split_at(text.len() - 20);
    fs::write(&path, first).unwrap();
    let server = HttpServer::start(Some(accepted()));
    let calls = || {
        let records = log_records(&server);
        records.iter().filter(|(_, attributes)| attributes["tenter.kind"] == "decision").count()
    };
    let mut exporter = sandbox.start(["export", "otlp", "--follow", "--endpoint", &server.url("")]);
    wait_until("the first record is sent", || calls() == 1);
    fs::write(&path, format!("{first}{second}")).unwrap();
    wait_until("the second record is sent", || calls() == 2);
    exporter.kill().unwrap();
    exporter.wait().unwrap();
}
