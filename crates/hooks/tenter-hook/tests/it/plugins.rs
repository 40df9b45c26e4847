//! The JavaScript of the plugins, and a program that dies while they wait for it (B25, B50).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use tenter_bridge::host::{FileContext, RegistrationFormat, RegistrationScope};
use tenter_bridge::hosts;
use tenter_testkit::{Sandbox, needs, skip_unless};

use crate::host_session::HostSession;

/// Lets Pi's extension see a call, and writes what it answers and reports.
const PI: &str = r#"
import extension from "./tenter.js"
const handlers = {}
const reports = []
extension({ on: (event, handler) => (handlers[event] = handler) })
const ctx = { hasUI: true, ui: { notify: (text) => reports.push(text) }, cwd: "CWD", sessionManager: { getSessionId: () => "s" } }
const answer = await handlers.tool_call({ toolName: "bash", toolCallId: "1", input: { command: "true" } }, ctx)
console.log(JSON.stringify({ denied: answer?.reason ?? null, reports }))
process.exit(0)
"#;

/// The same for OpenCode's plugin.
const OPENCODE: &str = r#"
import plugin from "./tenter.js"
const reports = []
const tui = { showToast: async ({ body }) => reports.push(body.message) }
const session = { get: async () => ({ data: {} }) }
const hooks = await plugin.server({ client: { tui, session }, directory: "CWD" })
let denial = null
const input = { tool: "bash", sessionID: "s", callID: "1" }
await hooks["tool.execute.before"](input, { args: { command: "true" } }).catch((error) => (denial = error.message))
console.log(JSON.stringify({ denied: denial, reports }))
process.exit(0)
"#;

/// Sends a message to OpenCode's plugin.
const OPENCODE_MESSAGE: &str = r#"
import plugin from "./tenter.js"
const reports = []
const tui = { showToast: async ({ body }) => reports.push(body.message) }
const session = { get: async () => ({ data: {} }) }
const hooks = await plugin.server({ client: { tui, session }, directory: "CWD" })
let denial = null
const output = { message: { id: "m" }, parts: [{ type: "text", text: "hello" }] }
await hooks["chat.message"]({ sessionID: "s" }, output).catch((error) => (denial = error.message))
console.log(JSON.stringify({ denied: denial, reports }))
process.exit(0)
"#;

/// Dies in the middle of the first `$DEATHS` requests; then it is the real program.
const DIES: &str = r#"#!/bin/sh
count=$(cat "$0.count" 2>/dev/null || echo 0)
echo $((count + 1)) > "$0.count"
if [ "$count" -lt DEATHS ]; then
    read -r line
    printf '{"id": 1, "answ'
    kill -9 $$
fi
exec PROGRAM "$@"
"#;

/// Returns the reaction of a host's plugin to a call while the program fails this often.
fn call(host: &'static str, fail_closed: bool, deaths: u32) -> Value {
    let client = if host == "pi" { PI } else { OPENCODE };
    run_plugin(host, client, fail_closed, deaths)
}

/// Runs the plugin of a host under a client, with a guard that denies messages and calls.
fn run_plugin(host: &'static str, client: &str, fail_closed: bool, deaths: u32) -> Value {
    let session = HostSession::new(host);
    session.hook("guard", "before_tool", "", "echo not now >&2; exit 2");
    session.hook("prompts", "before_agent", "", "echo not this >&2; exit 2");
    let host = hosts::find(host).unwrap();
    let RegistrationFormat::Files(format) = &host.registration.format else { panic!("files") };
    let node = Sandbox::new("node");
    let program = node.root().join("tenter-hook");
    let script = DIES
        .replace("DEATHS", &deaths.to_string())
        .replace("PROGRAM", env!("CARGO_BIN_EXE_tenter-hook"));
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let [program, home] = [program, session.sandbox.home()].map(|path| path.display().to_string());
    let (program, home) = (program.as_str(), home.as_str());
    let context =
        FileContext { host, scope: RegistrationScope::User, program, home, id: "1", fail_closed };
    for file in (format.files)(&context) {
        fs::write(node.project().join(file.path), file.text).unwrap();
    }
    let project = session.sandbox.project().display().to_string();
    node.write("package.json", r#"{"type": "module"}"#);
    node.write("client.js", client.replace("CWD", &project));
    node.run(["client.js"]).expect_code(0).json()
}

#[test]
fn a_program_that_dies_in_the_middle_of_a_request_is_started_again_once() {
    skip_unless!(needs::has("node"));
    for host in ["pi", "opencode"] {
        for fail_closed in [false, true] {
            let alive = call(host, fail_closed, 0);
            assert_eq!(alive, json!({"denied": "hook guard: not now", "reports": []}), "{host}");
            assert_eq!(call(host, fail_closed, 1), alive, "{host}");
        }
    }
}

#[test]
fn the_user_reads_why_a_message_was_rejected_because_the_host_shows_no_reason() {
    skip_unless!(needs::has("node"));
    for host in ["opencode", "kilo"] {
        let answer = run_plugin(host, OPENCODE_MESSAGE, false, 0);
        let reason = "hook prompts: not this";
        assert_eq!(answer, json!({"denied": reason, "reports": [reason]}), "{host}");
    }
}

const NO_ANSWER: &str = "tenter-hook gave no answer";

#[test]
fn without_an_answer_a_call_passes_with_a_notice_unless_the_registration_fails_closed() {
    skip_unless!(needs::has("node"));
    for host in ["pi", "opencode"] {
        let open = call(host, false, 99);
        assert!(open["denied"].is_null(), "{host}: {open}");
        assert!(open["reports"][0].as_str().unwrap().contains(NO_ANSWER), "{host}: {open}");
        let answer = call(host, true, 99);
        assert!(answer["denied"].as_str().unwrap().contains(NO_ANSWER), "{host}: {answer}");
    }
}
