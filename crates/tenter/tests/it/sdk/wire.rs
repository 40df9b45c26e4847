//! A hook in every language and in every form of running, with a peer that speaks the runtime protocol.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tenter_testkit::needs;

use super::sdk;

/// A hook of this directory, and its copy of the SDK.
#[derive(Clone, Copy)]
struct Language {
    interpreter: &'static str,
    hook: &'static str,
    sdk: &'static str,
}

const LANGUAGES: [Language; 2] = [
    Language { interpreter: "python3", hook: "hook.py", sdk: "python/tenter_hook.py" },
    Language { interpreter: "node", hook: "hook.mjs", sdk: "javascript/tenter-hook.mjs" },
];

/// Returns the languages whose interpreter is installed.
fn languages() -> impl Iterator<Item = Language> {
    LANGUAGES.into_iter().filter(|language| needs::has(language.interpreter))
}

/// A hook in a directory of its own.
struct Written {
    _directory: tempfile::TempDir,
    hook: PathBuf,
}

impl Language {
    #[expect(clippy::disallowed_methods, reason = "tests start hooks as Tenter does")]
    fn write(self) -> Written {
        let directory = tempfile::tempdir().unwrap();
        let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/sdk/hooks");
        let hook = directory.path().join(self.hook);
        // This process never has it open for writing: what another thread starts meanwhile would keep it busy.
        let mut install = Command::new("install");
        install.args(["-m", "755"]).args([&sources.join(self.hook), &hook]);
        assert!(install.status().unwrap().success());
        let copy = sdk().join(self.sdk);
        fs::copy(&copy, directory.path().join(copy.file_name().unwrap())).unwrap();
        Written { _directory: directory, hook }
    }
}

impl Written {
    #[expect(clippy::disallowed_methods, reason = "tests start hooks as Tenter does")]
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.hook);
        command.args(args).env("PATH", needs::search_path()).env("PYTHONDONTWRITEBYTECODE", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the one-shot form. Returns the reply, the exit code, and stderr.
    fn once(&self, args: &[&str], payload: &Value) -> (Value, Option<i32>, String) {
        let mut child = self.command(args).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let reply = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (reply, output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn serve(&self, concurrency: usize) -> Peer {
        let mut command = self.command(&["serve"]);
        let mut child = command.env("CONCURRENCY", concurrency.to_string()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut peer = Peer { child, stdin, stdout };
        let services = ["history", "model", "ask", "state", "notify"];
        let params = json!({"protocol": 1, "hook": "h", "project": "/p", "host": "tenter",
            "events": ["before_tool"], "services": services});
        peer.send(&json!({"id": 1, "method": "initialize", "params": params}));
        let answer = json!({"protocol": 1, "concurrency": concurrency});
        assert_eq!(peer.read(), json!({"jsonrpc": "2.0", "id": 1, "result": answer}));
        peer
    }
}

/// The agent's side.
struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Peer {
    fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = "2.0".into();
        self.line(&message.to_string());
    }

    fn line(&mut self, line: &str) {
        self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    fn fire(&mut self, id: u64, command: &str) {
        self.send(&json!({"id": id, "method": "before_tool", "params": payload(command)}));
    }

    /// Returns the result of a request.
    fn result(&mut self, id: u64, command: &str) -> Value {
        self.fire(id, command);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    /// Reads a request for a service and answers it.
    fn provide(&mut self, method: &str, params: &Value, result: &Value) {
        let request = self.read();
        assert_eq!((&request["method"], &request["params"]), (&json!(method), params));
        self.send(&json!({"id": request["id"], "result": result}));
    }
}

fn payload(command: &str) -> Value {
    json!({"event_type": "before_tool", "session_id": "s1", "tool_name": "bash",
        "tool_input": {"command": command}})
}

const CASES: [(&str, &str); 4] = [
    ("deny", r#"{"decision": "deny", "reason": "no", "log": "s1"}"#),
    ("ask", r#"{"decision": "ask", "reason": "sure?"}"#),
    ("rewrite", r#"{"modified_input": {"command": "ls"}, "additional_context": "rewritten"}"#),
    ("other", "null"),
];

#[test]
fn both_forms_give_the_same_replies() {
    for language in languages() {
        let hook = language.write();
        let mut peer = hook.serve(1);
        for (number, (command, expected)) in CASES.iter().enumerate() {
            let expected: Value = serde_json::from_str(expected).unwrap();
            let (reply, code, stderr) = hook.once(&[], &payload(command));
            assert_eq!((&reply, code), (&expected, Some(0)), "{command}: {stderr}");
            assert_eq!(peer.result(number as u64 + 2, command), expected, "{command}");
        }
    }
}

#[test]
fn what_is_printed_goes_to_stderr() {
    for language in languages() {
        let hook = language.write();
        let (reply, code, stderr) = hook.once(&[], &payload("print"));
        assert_eq!((reply, code), (Value::Null, Some(0)));
        let lines: Vec<&str> = stderr.lines().collect();
        assert_eq!(lines.len(), 2, "{stderr}");
        assert_eq!(hook.serve(1).result(2, "print"), Value::Null);
    }
}

#[test]
fn a_handler_that_fails_is_a_failed_run_and_the_process_lives_on() {
    for language in languages() {
        let hook = language.write();
        let mut peer = hook.serve(1);
        for (id, command, expected) in [
            (2, "raise", "Error: broken"),
            (3, "list", "instead of"),
            (4, "big", "longer than 1 MiB"),
        ] {
            peer.fire(id, command);
            let answer = peer.read();
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(expected), "{answer}");
            assert_eq!(answer["id"], id);
        }
        assert_eq!(peer.result(5, "deny")["decision"], "deny");
        for command in ["raise", "list"] {
            let (reply, code, stderr) = hook.once(&[], &payload(command));
            assert_eq!((reply, code), (Value::Null, Some(1)), "{stderr}");
        }
    }
}

#[test]
fn services_are_requested_within_the_event() {
    for language in languages() {
        let hook = language.write();
        let mut peer = hook.serve(1);
        peer.fire(2, "model");
        let params = json!({"request": 2, "prompt": "hello", "max_tokens": 5, "model": "weak"});
        peer.provide("model.complete", &params, &json!({"text": "hi", "usage": {}}));
        assert_eq!(peer.read()["result"], json!({"additional_context": "hi"}));
        peer.fire(3, "ask the user");
        let params = json!({"request": 3, "question": "go?", "choices": ["yes", "no"]});
        peer.provide("ask", &params, &json!({"answer": "yes"}));
        assert_eq!(peer.read()["result"], json!({"additional_context": "yes"}));
        peer.fire(4, "history");
        let messages = json!({"messages": [{"role": "user"}]});
        peer.provide("history.get", &json!({"request": 4, "last": 1}), &messages);
        assert_eq!(peer.read()["result"], json!({"additional_context": "history user"}));
        peer.fire(5, "state");
        let params =
            json!({"request": 5, "key": "k", "scope": "project", "value": [1], "if_version": 0});
        peer.provide("state.set", &params, &json!({"value": [1], "version": 1}));
        let params = json!({"request": 5, "key": "k", "scope": "session"});
        peer.provide("state.delete", &params, &json!({"value": null, "version": 0}));
        let params = json!({"request": 5, "key": "n", "scope": "session", "by": 2});
        peer.provide("state.add", &params, &json!({"value": 7, "version": 3}));
        assert_eq!(peer.read()["result"], json!({"additional_context": "state 7"}));
        peer.fire(6, "notify");
        peer.provide("notify", &json!({"request": 6, "text": "look"}), &json!({}));
        assert_eq!(peer.read()["result"], Value::Null);
    }
}

#[test]
fn a_refused_service_is_an_error_unless_the_hook_handles_it() {
    for language in languages() {
        let hook = language.write();
        let mut peer = hook.serve(1);
        let error = json!({"code": -32005, "message": "not listed", "data": {"name": "refused"}});
        peer.fire(2, "model");
        let id = peer.read()["id"].clone();
        peer.send(&json!({"id": id, "error": error}));
        let answer = peer.read();
        assert_eq!(answer["error"]["message"], "the service failed: not listed", "{answer}");
        assert_eq!(answer["error"]["data"]["name"], "refused");
        peer.fire(3, "notify");
        let id = peer.read()["id"].clone();
        peer.send(&json!({"id": id, "error": error}));
        assert_eq!(peer.read()["result"], Value::Null, "a line for the user is not essential");
        let (_, code, stderr) = hook.once(&[], &payload("model"));
        assert_eq!(code, Some(1));
        assert!(stderr.contains("services need a runtime hook"), "{stderr}");
    }
}

#[test]
fn requests_are_handled_at_once_if_the_hook_says_so() {
    for language in languages() {
        let mut peer = language.write().serve(2);
        peer.fire(2, "model");
        peer.fire(3, "model");
        let (first, second) = (peer.read(), peer.read());
        for request in [second, first] {
            let text = request["params"]["request"].to_string();
            peer.send(&json!({"id": request["id"], "result": {"text": text, "usage": {}}}));
            let answer = peer.read();
            assert_eq!(answer["id"], request["params"]["request"]);
            assert_eq!(answer["result"]["additional_context"], text.as_str());
        }
    }
}

#[test]
fn a_handler_sees_that_it_is_cancelled() {
    for language in languages() {
        let mut peer = language.write().serve(1);
        peer.fire(2, "wait");
        peer.send(&json!({"method": "cancel", "params": {"id": 2}}));
        assert_eq!(peer.read()["result"]["reason"], "cancelled");
    }
}

#[test]
fn memory_is_that_of_a_conversation() {
    for language in languages() {
        let mut peer = language.write().serve(1);
        for (id, session, expected) in
            [(2, "s1", "count 1"), (3, "s1", "count 2"), (4, "s2", "count 1")]
        {
            let mut params = payload("count");
            params["session_id"] = session.into();
            peer.send(&json!({"id": id, "method": "before_tool", "params": params}));
            assert_eq!(peer.read()["result"]["additional_context"], expected);
        }
    }
}

#[test]
fn messages_that_are_no_requests_are_answered_or_ignored_and_the_end_of_stdin_is_the_end() {
    for language in languages() {
        let mut peer = language.write().serve(1);
        peer.line("");
        peer.line("\r");
        peer.send(&json!({"method": "news"}));
        peer.send(&json!({"id": 99, "result": {}}));
        for (line, code) in [("{", -32700), ("[]", -32600)] {
            peer.line(line);
            assert_eq!(peer.read()["error"]["code"], code);
        }
        peer.send(&json!({"id": "x", "method": "unknown"}));
        let answer = peer.read();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("x"), &json!(-32601)));
        peer.fire(2, "model");
        let _ = peer.read();
        peer.send(&json!({"method": "shutdown"}));
        drop(peer.stdin.take());
        assert_eq!(peer.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn the_same_file_is_an_executable_hook() {
    for language in languages() {
        let hook = language.write();
        let ask = |serve: &str| {
            let output = hook.command(&["hook"]).env("TENTER_SERVE", serve).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(ask("0"), "before_tool_call\nagent_stop\n");
        assert_eq!(ask("1"), "before_tool_call\nagent_stop\nserve\n");
        let payload = |command: &str| {
            json!({"event": "before_tool_call", "conv_id": "s1", "tool_name": "bash",
                "tool_input": {"command": command}})
        };
        let (reply, _, stderr) = hook.once(&["run"], &payload("deny"));
        assert_eq!(reply, json!({"blocked": true, "reason": "no"}));
        assert_eq!(stderr, "s1\n");
        let (reply, ..) = hook.once(&["run"], &payload("rewrite"));
        assert_eq!(reply, json!({"input": {"command": "ls"}, "additional_context": "rewritten"}));
        let (_, code, stderr) = hook.once(&["run"], &payload("ask"));
        assert_eq!(code, Some(1));
        assert!(stderr.contains("cannot reply `ask`"), "{stderr}");
        let stop = json!({"event": "agent_stop", "conv_id": "s1"});
        assert_eq!(hook.once(&["run"], &stop).0, json!({"follow_up_messages": ["continue"]}));
        let mut peer = hook.serve(1);
        peer.send(&json!({"id": 2, "method": "before_tool_call", "params": payload("deny")}));
        assert_eq!(peer.read()["result"], json!({"blocked": true, "reason": "no"}));
    }
}
