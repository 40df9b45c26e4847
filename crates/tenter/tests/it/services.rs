//! Requests of runtime hooks to a real session: the conversation, the model, the user, values and notices (S7).

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use tenter_testkit::model_server::{Format, ModelReply, ModelServer, Script};
use tenter_testkit::{Output, PtySession, Sandbox, assert_fields};

use crate::{filter_kind, sandbox};

const EVERY_SERVICE: &str = "  services: [history, model, ask, state, notify]\n";

/// Installs a runtime hook that makes these requests at an event, and writes the responses to `~/answers`.
fn hook(sandbox: &Sandbox, event: &str, services: &str, requests: &[(&str, &str)]) {
    let requests: Vec<String> = requests
        .iter()
        .enumerate()
        .map(|(index, (method, params))| {
            format!(
                r#"request '{{"jsonrpc": "2.0", "id": {index}, "method": "{method}", "params": {params}}}'"#
            )
        })
        .collect();
    let script = format!(
        r#"#!/bin/sh
[ "$1" = serve ] || exit 0
request() {{
    printf '%s\n' "$1"
    IFS= read -r response
    printf '%s\n' "$response" >> "$HOME/answers"
}}
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed 's/^[^,]*, *"id": *\([0-9]*\).*/\1/')
    case $line in
    *'"method": "initialize"'*) echo '{{"jsonrpc": "2.0", "id": '"$id"', "result": {{}}}}' ;;
    *'"method": "{event}"'*)
        {}
        echo '{{"jsonrpc": "2.0", "id": '"$id"', "result": null}}'
        ;;
    esac
done
"#,
        requests.join("\n        ")
    );
    let directory = "../home/.config/agents/hooks/judge";
    let manifest = format!(
        "---\nname: judge\ndescription: A test.\ntrigger: {event}\ntimeout: 20000\nmetadata:\n  runtime: serve\n{services}---\n"
    );
    sandbox.write(&format!("{directory}/HOOK.md"), manifest);
    sandbox.write_program(&format!("{directory}/scripts/run.sh"), script);
}

/// Returns the responses that the hook received.
fn answers(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.home().join("answers")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn error(answer: &Value) -> &str {
    answer["error"]["data"]["name"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn run(sandbox: &Sandbox, script: &str) -> Output {
    sandbox.play(script, &["--headless", "hello there"])
}

const DONE: &str = "turns: [{text: Done., usage: {input_tokens: 100, output_tokens: 5}}]\n";

#[test]
fn a_hook_reads_the_conversation_and_asks_the_model_and_only_the_usage_grows() {
    let sandbox = sandbox();
    let requests = [
        ("history.get", r#"{"last": 2}"#),
        ("model.complete", r#"{"prompt": "Right?", "model": "weak"}"#),
        ("notify", r#"{"text": "it fits"}"#),
    ];
    hook(&sandbox, "before_stop", EVERY_SERVICE, &requests);
    let completions = "completions: [{text: YES, usage: {input_tokens: 40, output_tokens: 2}, cost_usd: 0.01, expect: {contains: [Right?], lacks: [hello there]}}]\n";
    let output = run(&sandbox, &format!("{DONE}{completions}")).expect_code(0);
    let answers = answers(&sandbox);
    let [history, completion, notice] = answers.as_slice() else { panic!("{answers:?}\n{output}") };
    let messages = history["result"]["messages"].as_array().unwrap();
    let contents: Vec<&str> =
        messages.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["hello there", "Done."]);
    assert_fields(completion, &json!({"result": {"text": "YES", "usage": {"cost_usd": 0.01}}}));
    assert!(notice["result"].is_null() && notice["error"].is_null(), "{notice}");
    let lines = output.json_lines();
    let notices = filter_kind(&lines, "notice");
    assert_eq!((&notices[0]["hook"], &notices[0]["text"]), (&"judge".into(), &"it fits".into()));
    let usage = &filter_kind(&lines, "end")[0]["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"]),
        (&140.into(), &7.into()),
        "{usage}"
    );
    assert_eq!(usage["current_context_window"], 105, "{usage}");
    assert_eq!(usage["cost_usd"], 0.01);
    let list = sandbox.run("conversation list --json").expect_code(0).json();
    assert_eq!(list[0]["message_count"], 2, "a completion is no turn: {list}");
}

#[test]
fn a_completion_is_asked_of_the_models_server() {
    let sandbox = sandbox();
    let replies = [ModelReply::text("FROM-THE-SERVER"), ModelReply::text("Done.")];
    let server = ModelServer::start(Script::new(replies).like_llama_cpp());
    let address = server.base_url(Format::Chat);
    let provider = format!("[providers.lab]\napi = \"chat\"\nbase_url = \"{address}\"\n");
    sandbox.configure(provider);
    let complete = r#"{"prompt": "Say it.", "system": "Be brief.", "max_tokens": 17}"#;
    hook(&sandbox, "before_agent", EVERY_SERVICE, &[("model.complete", complete)]);
    let output = sandbox.run("run --headless --model lab/any hello").expect_code(0);
    let answers = answers(&sandbox);
    assert_eq!(answers[0]["result"]["text"], "FROM-THE-SERVER", "{output}");
    let requests = server.requests();
    let body = &requests[0].body;
    assert_eq!(body["max_tokens"], 17, "{body}");
    assert!(body["tools"].as_array().is_none_or(Vec::is_empty), "{body}");
    assert!(
        body.to_string().contains("Be brief.") && !body.to_string().contains("hello"),
        "{body}"
    );
}

#[test]
fn model_calls_beyond_the_users_limit_are_refused_and_reported_once() {
    let sandbox = sandbox();
    let limit = "[[hooks.override]]\nname = \"judge\"\nmodel_calls = 1\n";
    sandbox.configure(limit);
    let complete = ("model.complete", r#"{"prompt": "?"}"#);
    hook(&sandbox, "before_stop", EVERY_SERVICE, &[complete, complete, complete]);
    let output = run(&sandbox, &format!("{DONE}completions: [ok]\n")).expect_code(0);
    let answers = answers(&sandbox);
    assert_eq!(answers[0]["result"]["text"], "ok", "{output}");
    assert_eq!((error(&answers[1]), error(&answers[2])), ("limit", "limit"));
    let lines = output.json_lines();
    assert_eq!(filter_kind(&lines, "notice").len(), 1, "{output}");
}

#[test]
fn state_outlives_the_process_and_session_state_goes_with_the_conversation() {
    let sandbox = sandbox();
    let add = |scope: &str| format!(r#"{{"key": "n", "by": 1, "scope": "{scope}"}}"#);
    let (session, project) = (add("session"), add("project"));
    let requests = [("state.add", session.as_str()), ("state.add", project.as_str())];
    hook(&sandbox, "before_stop", EVERY_SERVICE, &requests);
    for _ in 0..2 {
        let _ = run(&sandbox, DONE).expect_code(0);
    }
    let values: Vec<Value> =
        answers(&sandbox).iter().map(|answer| answer["result"]["value"].clone()).collect();
    assert_eq!(values, [1, 1, 1, 2], "each run is a session of its own");
    let sessions = || fs::read_dir(sandbox.state().join("hook-values/session")).unwrap().count();
    assert_eq!(sessions(), 2);
    let _ = sandbox.run("conversation delete last --yes").expect_code(0);
    assert_eq!(sessions(), 1);
}

fn ask_at_the_terminal(sandbox: &Sandbox) -> PtySession {
    let ask = r#"{"question": "Which database?", "choices": ["test", "production"]}"#;
    hook(sandbox, "before_stop", EVERY_SERVICE, &[("ask", ask)]);
    let manifest = sandbox.home().join(".config/agents/hooks/judge/HOOK.md");
    let short = fs::read_to_string(&manifest).unwrap().replace("timeout: 20000", "timeout: 500");
    fs::write(&manifest, short).unwrap();
    let model = sandbox.script(DONE);
    let mut terminal = sandbox.at_terminal(["run", "--model", &model, "hi"]);
    let question = terminal.wait_for("Answer [1-2]: ");
    assert!(question.contains("the hook judge asks: Which database?"), "{question}");
    terminal
}

#[test]
fn an_unclear_answer_to_a_hooks_question_is_asked_again() {
    let sandbox = sandbox();
    let mut terminal = ask_at_the_terminal(&sandbox);
    terminal.enter("3");
    terminal.answer("Please type the number", "2");
    let output = sandbox.finish_pty(terminal);
    assert_eq!(answers(&sandbox)[0]["result"]["answer"], "production", "{output}");
    let _ = output.expect_code(0);
}

#[test]
fn ctrl_c_ends_a_question() {
    let sandbox = sandbox();
    let terminal = ask_at_the_terminal(&sandbox);
    terminal.signal(rustix::process::Signal::INT);
    let output = sandbox.finish_pty(terminal);
    assert!(!output.stdout.contains("production database"), "{output}");
    assert!(answers(&sandbox).iter().all(|answer| answer["result"].is_null()), "{output}");
}

/// The command is the one that `tenter-hook` starts for a hook in another agent.
#[test]
fn a_completion_for_a_hook_in_another_agent_is_printed_as_json() {
    let sandbox = sandbox();
    let model = sandbox.script("turns: []\ncompletions: [FROM-THE-SCRIPT]\n");
    let complete = |request: &str, model: &str| {
        let mut command = sandbox.command();
        command.args(["hooks", "complete"]).env("TENTER_MODEL", model).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
        sandbox.finish(child)
    };
    let request = r#"{"prompt": "Right?", "model": "weak"}"#;
    let completion = complete(request, &model).expect_code(0).json();
    assert_eq!(completion["completion"]["text"], "FROM-THE-SCRIPT");
    let none = complete(request, "").expect_code(0).json();
    assert!(none["unsupported"].as_str().unwrap().contains("no model"), "{none}");
    let failure = complete(request, &sandbox.script("turns: []\n")).expect_code(0).json();
    assert!(failure["failed"].as_str().unwrap().contains("no response"), "{failure}");
    let _ = complete("{}", &model).expect_code(2);
}
