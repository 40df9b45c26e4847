//! `tenter run`: the query, what is shown, the flags, the exit codes.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;
use tenter_testkit::{Sandbox, assert_contains, assert_fields, wait_until};

use crate::manifests::hook as manifest_hook;
use crate::{filter_kind, headless, sandbox, send_signal};

#[test]
fn a_task_without_a_command_is_run() {
    let sandbox = sandbox();
    let model = sandbox.script("turns: [{text: Done., expect: {contains: [do this]}}]");
    let output = sandbox.run(["do this", "--model", &model]).expect_code(0);
    assert_eq!(output.stdout, "Done.\n", "{output}");
    sandbox.fails(2, "chta", "chat");
}

#[test]
fn the_answer_is_on_stdout_and_the_rest_on_stderr() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.play("turns: [{text: Hello there., usage: {input_tokens: 9, output_tokens: 3}}]", &["hi"]), @"
    exit: 0
    --- stdout
    Hello there.
    --- stderr
    done · 9 tokens in, 3 out · conversation [ID]
    ");
}

#[test]
fn the_query_consists_of_arguments_and_stdin() {
    let sandbox = sandbox();
    let model = sandbox
        .script("turns: [{text: ok, expect: {contains: [\"sum this up\\nline one\\nline two\"]}}]");
    let output = sandbox.run_with_stdin(
        ["run", "--result-only", "--model", &model, "sum", "this", "up"],
        "line one\nline two\n",
    );
    assert_snapshot!(output, @"
    exit: 0
    --- stdout
    ok
    ");
    let piped_alone = sandbox.run_with_stdin(
        ["run", "--result-only", "--model", &model],
        "sum this up\nline one\nline two",
    );
    assert_eq!(piped_alone.expect_code(0).stdout, "ok\n");
}

#[test]
fn without_a_query_or_a_model_it_fails_with_help() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("run"), @r#"
    exit: 2
    --- stderr
    error: there is no query
      help: pass it as an argument or on stdin: tenter run "what does this project do?"
    "#);
    assert_snapshot!(sandbox.run("run hi"), @"
    exit: 2
    --- stderr
    error: no model was chosen, and no key is set
      help: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`; or choose a model with --model, TENTER_MODEL, or `model = …` in config.toml: PROVIDER/NAME, or scripted:FILE
    ");
    assert_snapshot!(sandbox.run("run --model scripted:nowhere.yaml hi"), @"
    exit: 1
    --- stderr
    error: cannot read the script [ROOT]/project/nowhere.yaml: No such file or directory (os error 2)
    ");
}

#[test]
fn an_unmet_expectation_fails_the_run_with_both_texts() {
    let sandbox = sandbox();
    let output = sandbox
        .play("turns: [{text: ok, expect: {contains: [elephant]}}]", &["mouse"])
        .expect_code(1);
    assert!(
        output.stderr.contains("\"elephant\"") && output.stderr.contains("\n  mouse\n"),
        "{output}"
    );
}

#[test]
fn the_turn_limit_ends_the_run_with_exit_code_5() {
    let sandbox = sandbox();
    let turn = "{tool_calls: [{name: todo, input: {}}]}";
    let (lines, code) = headless(&sandbox, &format!("turns: [{turn}, {turn}, {turn}]"));
    assert_eq!(code, 0, "the script's end is a stop");
    assert_eq!(filter_kind(&lines, "usage").len(), 4);
    let output = sandbox
        .play(&format!("turns: [{turn}, {turn}, {turn}]"), &["--headless", "--max-turns", "2", "x"])
        .expect_code(5);
    let end = output.json_lines().pop().unwrap();
    assert_eq!((end["kind"].as_str(), end["status"].as_str()), (Some("end"), Some("max_turns")));
}

#[test]
fn a_blocked_call_and_a_failed_one_are_reported_once() {
    let sandbox = sandbox();
    let guard = r#"case $payload in *sudo*) echo '{"blocked": true, "reason": "no sudo"}';; esac"#;
    sandbox.sh_hook("guard", "before_tool_call", guard);
    manifest_hook(&sandbox, "alone", "subagent_start", "", "echo no subagents >&2; exit 2");
    let usage = "usage: {input_tokens: 10, output_tokens: 1}";
    let call = |tool: &str, input: &str| {
        format!("{{tool_calls: [{{name: {tool}, input: {input}}}], {usage}}}")
    };
    assert_snapshot!(sandbox.play(&format!(
        "turns: [{}, {}, {}, {{text: Done., {usage}}}]",
        call("bash", "{command: sudo ls}"),
        call("bash", "{command: echo out; exit 3}"),
        call("subagent", "{question: who?}"),
    ), &["go"]), @r#"
    exit: 0
    --- stdout
    Done.
    --- stderr
    ● bash {"command": "sudo ls"}
      ✗ blocked by hook guard at before_tool: no sudo
    ● bash {"command": "echo out; exit 3"}
      ✗ exit code 3
        out
    ● subagent {"question": "who?"}
      ✗ blocked by hook alone at subagent_start: no subagents
    done · 40 tokens in, 4 out · conversation [ID]
    "#);
}

#[test]
fn headless_output_has_its_objects_in_order() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "guard",
        "before_tool_call",
        r#"echo '{"blocked": true, "reason": "not today"}'"#,
    );
    let (lines, code) = headless(
        &sandbox,
        "turns: [{text: Trying., reasoning: Hm., tool_calls: [{id: c1, name: bash, input: {command: ls}}]}, {text: Well.}]",
    );
    assert_eq!(code, 0);
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    let expected = "session reasoning text tool-use hook tool-result usage text usage end";
    assert_eq!(kinds.join(" "), expected);
    for line in &lines {
        let keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys[..3], ["kind", "conversation_id", "time"], "{line}");
    }
    let hook = filter_kind(&lines, "hook")[0];
    assert_fields(hook, &json!({"event": "before_tool", "tool_call_id": "c1"}));
    assert_eq!((&hook["decision"], &hook["reason"]), (&"deny".into(), &"not today".into()));
    let result = &filter_kind(&lines, "tool-result")[0]["result"];
    assert_eq!(result["metadataType"], "blocked");
    assert_eq!(result["error"], "blocked by hook: not today");
    assert_eq!(filter_kind(&lines, "session")[0]["hooks"], 1);
}

#[test]
fn a_blocked_message_is_not_stored_and_exits_with_3() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "filter",
        "user_message_send",
        r#"echo '{"blocked": true, "reason": "no swearing"}'"#,
    );
    let model = sandbox.script("turns: [{text: never}]");
    assert_snapshot!(sandbox.run(["run", "--model", &model, "damn"]), @"
    exit: 3
    --- stderr
      ✗ blocked by hook filter at before_agent: no swearing
    blocked · 0 tokens in, 0 out · conversation [ID]
    ");
    let follow =
        sandbox.run(["run", "--no-hooks", "--follow", "--model", &model, "hi"]).expect_code(0);
    assert!(follow.stderr.contains("this project has no conversation yet"), "{follow}");
}

#[test]
fn untrusted_hooks_are_never_run_and_always_reported() {
    let sandbox = sandbox();
    let witness = sandbox.root().join("ran");
    sandbox
        .hook("spy", &format!("#!/bin/sh\ntouch {}\necho before_tool_call\n", witness.display()));
    let model = sandbox.script("turns: [{text: ok}]");
    assert_snapshot!(sandbox.run(["run", "--model", &model, "hi"]), @"
    exit: 4
    --- stderr
    error: this project has hooks that you have not trusted: spy
      help: review them, then run `tenter trust`; or pass --trust-project to trust them as they are, or --no-hooks to run without hooks
    ");
    assert_eq!(sandbox.run(["run", "--no-hooks", "--model", &model, "hi"]).code, Some(0));
    assert!(!witness.exists(), "an untrusted hook was run");

    let output = sandbox
        .run(["run", "--trust-project", "--headless", "--model", &model, "hi"])
        .expect_code(0);
    assert_eq!(filter_kind(&output.json_lines(), "session")[0]["hooks"], 1);
    assert!(witness.exists());
    assert_eq!(sandbox.run(["run", "--model", &model, "hi"]).code, Some(0), "trust lasts");

    sandbox.hook("spy", "#!/bin/sh\necho agent_stop\n");
    assert_eq!(
        sandbox.run(["run", "--model", &model, "hi"]).code,
        Some(4),
        "a changed hook asks again"
    );
}

#[test]
fn ctrl_c_stops_tool_and_run_saves_and_exits_with_130() {
    let sandbox = sandbox();
    let model = sandbox.script(
        "turns: [{text: Waiting., tool_calls: [{name: bash, input: {command: \"echo $$ > pid; sleep 1000\"}}]}, {text: never}]",
    );
    let child = sandbox.start(["run", "--headless", "--model", &model, "wait"]);
    let pid_file = sandbox.project().join("pid");
    wait_until("the tool runs", || {
        std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n'))
    });
    assert!(send_signal("INT", child.id()));
    let output = sandbox.finish(child).expect_code(130);
    let lines = output.json_lines();
    assert_eq!(filter_kind(&lines, "tool-result")[0]["result"]["success"], false);
    assert_eq!(lines.last().unwrap()["status"], "interrupted");
    let pid = sandbox.read("pid").trim().to_owned();
    wait_until("the tool is gone", || !std::path::Path::new("/proc").join(&pid).exists());

    let resumed = sandbox.play(
        "turns: [{text: Back., expect: {contains: [wait, Waiting., continue]}}]",
        &["--follow", "--result-only", "continue"],
    );
    assert_eq!(resumed.expect_code(0).stdout, "Back.\n");
}

/// Waits until a process whose number a file of the project holds has ended. Its zombie is another's to reap.
pub(crate) fn wait_for_death(sandbox: &Sandbox, file: &str) {
    let stat = Path::new("/proc").join(sandbox.read(file).trim()).join("stat");
    let is_dead = || !std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    wait_until("the process is dead", is_dead);
}

#[test]
fn a_second_ctrl_c_kills_a_hook_that_ignores_signals_and_its_daemons() {
    let sandbox = sandbox();
    let deaf = |file: &str| {
        format!(
            "trap \"\" TERM HUP; echo $$ > {file}.new; mv {file}.new {file}; while :; do sleep 0.1; done"
        )
    };
    let daemon = format!("(setsid sh -c '{}' </dev/null >/dev/null 2>&1 &)", deaf("daemon"));
    let hook = format!("{daemon}\nuntil [ -e daemon ]; do sleep 0.1; done\n{}", deaf("hook"));
    manifest_hook(&sandbox, "deaf", "session_end", "timeout: 1h", &hook);
    let model = sandbox.script(
        "turns: [{tool_calls: [{name: bash, input: {command: \"touch started; sleep 1000\"}}]}]",
    );
    let child = sandbox.start(["run", "--model", &model, "wait"]);
    for file in ["started", "hook"] {
        wait_until(file, || sandbox.project().join(file).exists());
        assert!(send_signal("INT", child.id()));
    }
    let _ = sandbox.finish(child).expect_code(130);
    wait_for_death(&sandbox, "hook");
    if cfg!(target_os = "linux") {
        wait_for_death(&sandbox, "daemon");
    }
}

#[test]
fn configuration_is_layered_and_a_project_cannot_weaken_it() {
    let sandbox = sandbox();
    let model = sandbox.script("turns: [{text: ok}]");
    sandbox.configure(format!("model = \"{model}\"\n"));
    sandbox.write("tenter.toml", "trust = \"all\"\n[hooks]\nenabled = false\n");
    sandbox.hook("guard", "#!/bin/sh\necho before_tool_call\n");
    let output = sandbox.run("run hi");
    assert_eq!(output.code, Some(4), "{output}");
    let output = sandbox.run("run --trust-project hi").expect_code(0);
    assert!(output.stderr.contains("a project may not set trust"), "{output}");
    assert!(output.stderr.contains("a project may not set hooks.enabled"), "{output}");
}

#[test]
fn only_allowed_tools_exist() {
    let sandbox = sandbox();
    let model = sandbox.script(
        "turns: [{tool_calls: [{name: bash, input: {command: \"touch ran\"}}]}, {text: ok}]",
    );
    let args = ["run", "--allowed-tools", "file_read,grep", "--headless", "--model", &model, "x"];
    let output = sandbox.run(args);
    let lines = output.json_lines();
    let error =
        filter_kind(&lines, "tool-result")[0]["result"]["error"].as_str().unwrap().to_owned();
    assert!(error.contains("there is no tool \"bash\"; the tools are file_read, grep"), "{error}");
    assert!(!sandbox.project().join("ran").exists());
    sandbox.fails(2, ["run", "--allowed-tools", "bsah", "--model", &model, "x"], "bash");
}

#[test]
fn a_limit_that_is_not_a_number_is_named_in_the_error() {
    let sandbox = sandbox();
    for (flag, value, problem) in [
        ("--max-turns", "x", "must be a whole number"),
        ("--max-turns", "-1", "must be a whole number"),
        ("--max-tokens", "0", "must be a whole number above 0"),
        ("--compact-ratio", "2", "must be a number above 0 and at most 1"),
    ] {
        let output = sandbox.run(["run", &format!("{flag}={value}"), "x"]).expect_code(2);
        assert_contains(
            &output.stderr,
            &[&format!("invalid value '{value}' for '{flag}"), problem],
        );
    }
}
