//! `tenter hooks new --format executable`, and that what it writes works.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Output, Sandbox, has_python};

use super::run_with_env;
use crate::sandbox;

const EVENTS: [&str; 6] = [
    "before_tool_call",
    "after_tool_call",
    "user_message_send",
    "after_turn",
    "turn_end",
    "agent_stop",
];

/// A sample of `hook`'s payload, changed so that the template's example has something to do.
fn triggering(sandbox: &Sandbox, hook: &str, event: &str) -> Value {
    let mut payload =
        sandbox.run(&["hooks", "test", hook, "--json"]).expect_code(0).json()["payload"].take();
    match event {
        "before_tool_call" => {
            payload["tool_input"]["command"] = json!("echo \"hi\" && sudo rm -rf /");
        }
        "after_tool_call" => {
            payload["tool_output"]["metadata"]["output"] =
                json!("id: \"AKIAIOSFODNN7EXAMPLE\" AKIA\n");
        }
        "user_message_send" => {
            payload["message"] = json!("use this:\n-----BEGIN \"RSA\" PRIVATE KEY-----\nMIIE");
        }
        "after_turn" | "turn_end" => payload["usage"]["current_context_window"] = json!(190_000),
        "agent_stop" => {
            payload["last_assistant_content"] = json!(concat!("Done, \"but\" for one TO", "DO."));
        }
        other => panic!("{other}"),
    }
    payload
}

fn tried(sandbox: &Sandbox, hook: &str, payload: &Value) -> Value {
    sandbox
        .run_with_stdin(&["hooks", "test", hook, "--json", "--payload", "-"], payload.to_string())
        .expect_code(0)
        .json()
}

/// What the example of a template does with the payload that triggers it.
fn check_example(event: &str, result: &Value) {
    match event {
        "before_tool_call" | "user_message_send" => {
            assert_eq!(result["decision"], "deny", "{result}");
            assert!(!result["reason"].as_str().unwrap().is_empty());
        }
        "after_tool_call" => {
            assert_eq!(result["decision"], "rewrite", "{result}");
            assert_eq!(
                result["rewrite"]["after"]["metadata"]["output"],
                "id: \"[redacted]\" AKIA\n"
            );
            assert_eq!(result["rewrite"]["after"]["metadata"]["command"], "ls -la");
        }
        "after_turn" | "turn_end" => {
            assert!(result["context"].as_str().unwrap().contains("nearly full"), "{result}");
        }
        "agent_stop" => assert_eq!(result["follow_ups"].as_array().unwrap().len(), 1, "{result}"),
        other => panic!("{other}"),
    }
}

/// Writes a hook for every event, tries each on the sample, and on a payload that triggers its example.
fn check_language(sandbox: &Sandbox, language: &str, events: &[&str]) {
    for event in events {
        let _ = sandbox
            .run(&[
                "hooks",
                "new",
                event,
                "--event",
                event,
                "--lang",
                language,
                "--format",
                "executable",
            ])
            .expect_code(0);
        let list = sandbox.run(&["hooks", "list", "--json"]).expect_code(0).json();
        let entry = list.as_array().unwrap().iter().find(|entry| entry["name"] == *event).unwrap();
        assert_eq!(
            [&entry["status"], &entry["trust"], &entry["event"]],
            ["active", "trusted", event]
        );
        let silent = sandbox.run(&["hooks", "test", event, "--json"]).expect_code(0).json();
        assert_eq!(
            [&silent["decision"], &silent["stdout"], &silent["stderr"]],
            ["none", "", ""],
            "{silent}"
        );
        let mut payload = triggering(sandbox, event, event);
        check_example(event, &tried(sandbox, event, &payload));
        if *event == "agent_stop" {
            payload["stop_hook_active"] = json!(true);
            assert_eq!(tried(sandbox, event, &payload)["decision"], "none", "it asks once");
        }
    }
}

#[test]
fn every_bash_template_works() {
    check_language(&sandbox(), "bash", &EVENTS);
}

#[test]
fn every_python_template_works() {
    if has_python() {
        check_language(&sandbox(), "python", &EVENTS);
    }
}

/// The folder of the compiler that cargo uses: the one in `PATH` may be a stand-in that looks for it from the home folder.
fn compiler_path() -> String {
    let folder = Path::new(env!("CARGO")).parent().unwrap().display();
    format!("{folder}:/usr/local/bin:/usr/bin:/bin")
}

#[test]
fn rust_templates_compile_themselves_once_and_work() {
    let sandbox = sandbox();
    let path = compiler_path();
    for event in ["before_tool_call", "after_tool_call"] {
        let args =
            ["hooks", "new", event, "--event", event, "--lang", "rust", "--format", "executable"];
        let _ = run_with_env(&sandbox, &args, &[("PATH", &path)]).expect_code(0);
        // From here on there is no compiler: what is run is what was compiled.
        let payload = triggering(&sandbox, event, event);
        check_example(event, &tried(&sandbox, event, &payload));
    }
    let compiled = fs::read_dir(sandbox.home().join(".cache/tenter/rust-hooks")).unwrap();
    assert_eq!(compiled.count(), 2, "one program each, and nothing left over");
}

#[test]
fn the_other_rust_templates_compile_without_a_warning() {
    let sandbox = sandbox();
    let path = compiler_path();
    let script: String = ["user_message_send", "after_turn", "agent_stop"]
        .map(|event| {
            let args = ["hooks", "new", event, "--event", event, "--lang", "rust", "--format", "executable"];
            let _ = run_with_env(&sandbox, &args, &[("PATH", "/nowhere")]).expect_code(0);
            let file = sandbox.project().join(".kodelet/hooks").join(event);
            format!("rustc --crate-name hook --edition 2021 -D warnings --emit metadata -o {event} {} || exit 1\n", file.display())
        })
        .concat();
    sandbox.sh_hook("compiler", "agent_stop", &script);
    let output = run_with_env(&sandbox, &["hooks", "test", "compiler"], &[("PATH", &path)]);
    assert_eq!(output.code, Some(0), "{output}");
}

#[test]
fn without_a_compiler_a_rust_hook_is_written_and_says_what_it_lacks() {
    let sandbox = sandbox();
    let tools = sandbox.root().join("tools");
    fs::create_dir(&tools).unwrap();
    for tool in ["sha256sum", "cksum"] {
        let found =
            ["/usr/local/bin", "/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
        if let Some(found) = found.iter().find(|path| path.exists()) {
            symlink(found, tools.join(tool)).unwrap();
        }
    }
    let path = tools.to_string_lossy().into_owned();
    assert_snapshot!(run_with_env(&sandbox, &["hooks", "new", "guard", "--lang", "rust", "--format", "executable"], &[("PATH", &path)]), @"
    exit: 0
    --- stdout
    [ROOT]/project/.kodelet/hooks/guard
    --- stderr
    Compiling it …
    warning: the hook was written, but could not be compiled: this hook has to be compiled, and there is no rustc in PATH; get it from https://rustup.rs
      help: mend that, then run `tenter hooks test guard`: it compiles it again
    ");
}

#[test]
fn a_new_hook_is_executable_trusted_and_says_what_to_do_next() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run(&["hooks", "new", "guard", "--format", "executable"]), @"
    exit: 0
    --- stdout
    [ROOT]/project/.kodelet/hooks/guard
    --- stderr
    Try it:    tenter hooks test guard
    Change it, then trust what you made of it:    tenter trust
    ");
    let path = sandbox.project().join(".kodelet/hooks/guard");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    let trusted = sandbox.run(&["trust", "--list", "--json"]).expect_code(0).json();
    assert_eq!(trusted[0]["events"], json!(["before_tool_call"]));
    fs::write(&path, "#!/bin/sh\necho agent_stop\n").unwrap();
    assert_eq!(
        sandbox.run(&["hooks", "test", "guard"]).code,
        Some(4),
        "what it was changed to is not trusted"
    );
}

#[test]
fn a_users_hook_is_for_every_project_and_needs_no_trust() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run(&["hooks", "new", "guard", "--user", "--event", "pre-agent-turn", "--format", "executable"]), @"
    exit: 0
    --- stdout
    [ROOT]/home/.kodelet/hooks/guard
    --- stderr
    Try it:    tenter hooks test guard
    ");
    let list = sandbox.run(&["hooks", "list", "--json"]).expect_code(0).json();
    assert_eq!(
        [&list[0]["layer"], &list[0]["trust"], &list[0]["event"]],
        ["user", "not needed", "user_message_send"]
    );
    let _ = sandbox.run(&["hooks", "new", "guard", "--format", "executable"]).expect_code(0);
    assert_snapshot!(sandbox.run(&["hooks", "new", "guard", "--user", "--force", "--format", "executable"]), @"
    exit: 0
    --- stdout
    [ROOT]/home/.kodelet/hooks/guard
    --- stderr
    It does not run in this project: .kodelet/hooks/guard has the same name.
    ");
}

#[test]
fn what_is_there_is_replaced_only_when_asked_for() {
    let sandbox = sandbox();
    sandbox.hook("guard", "mine");
    assert_snapshot!(sandbox.run(&["hooks", "new", "guard", "--format", "executable"]), @"
    exit: 1
    --- stderr
    error: [ROOT]/project/.kodelet/hooks/guard exists already
      help: choose another name, or replace it with --force
    ");
    assert_eq!(sandbox.read(".kodelet/hooks/guard"), "mine");
    let _ =
        sandbox.run(&["hooks", "new", "guard", "--force", "--format", "executable"]).expect_code(0);
    assert!(sandbox.read(".kodelet/hooks/guard").starts_with("#!/usr/bin/env bash\n"));
    let left: Vec<_> = fs::read_dir(sandbox.project().join(".kodelet/hooks")).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn names_and_events_that_cannot_work_are_refused_before_anything_is_written() {
    let sandbox = sandbox();
    let long = "x".repeat(65);
    for name in [
        "",
        "a/b",
        "../up",
        ".hidden",
        "old.disable",
        "guard~",
        "guard.bak",
        "hooks.toml",
        "a\nb",
        &long,
    ] {
        let output = sandbox.run(&["hooks", "new", name, "--format", "executable"]).expect_code(2);
        assert!(output.stderr.contains("a hook cannot have the name"), "{output}");
    }
    assert_snapshot!(sandbox.run(&["hooks", "new", "old.disable", "--format", "executable"]), @r#"
    exit: 2
    --- stderr
    error: a hook cannot have the name "old.disable": it ends in .disable: a hook of this name is disabled
    "#);
    assert_snapshot!(sandbox.run(&["hooks", "new", "guard", "--event", "session_start", "--format", "executable"]), @"
    exit: 2
    --- stderr
    error: the event session_start is for hooks with a HOOK.md alone
      help: leave `--format executable` out; an executable can be told of user_message_send, before_tool_call, after_tool_call, after_turn, turn_end, agent_stop
    ");
    assert_eq!(
        sandbox.run(&["hooks", "new", "guard", "--event", "xyz", "--format", "executable"]).code,
        Some(2)
    );
    assert!(!sandbox.project().join(".kodelet").exists());
}

#[test]
fn a_new_guard_guards_an_agent_at_once() {
    let sandbox = sandbox();
    let _ = sandbox.run(&["hooks", "new", "guard", "--format", "executable"]).expect_code(0);
    let model = sandbox.script("turns: [{tool_calls: [{name: bash, input: {command: \"rm -rf / --no-preserve-root\"}}]}, {text: ok}]");
    let output: Output = sandbox.run(&["run", "--model", &model, "clean up"]).expect_code(0);
    assert!(output.stderr.contains("blocked by hook guard"), "{output}");
}
