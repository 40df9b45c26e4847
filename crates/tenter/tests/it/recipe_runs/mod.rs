//! `tenter run --recipe`: what the model is sent, what it may do, which hooks run, and which programs start.

mod compaction;
mod trust;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Output, Sandbox};

use crate::manifests::hook;
use crate::{filter_kind, sandbox};

/// Runs headless with a script.
fn run(sandbox: &Sandbox, script: &str, args: &[&str]) -> Output {
    let model = sandbox.script(script);
    let all: Vec<&str> =
        ["run", "--headless", "--model", &model].into_iter().chain(args.iter().copied()).collect();
    sandbox.run(&all)
}

/// Returns the result of the first tool call.
fn first_result(output: &Output) -> Value {
    filter_kind(&output.json_lines(), "tool-result")[0]["result"].clone()
}

#[test]
fn a_query_is_appended_to_the_recipe() {
    let sandbox = sandbox();
    sandbox.write(
        "recipes/review.md",
        "---\narguments: {directory: {default: src}, focus: {}}\n---\nReview {{.directory}}.{{if .focus}} Mind {{.focus}}.{{end}}\n",
    );
    let script =
        |prompt: &str| format!("turns: [{{text: ok, expect: {{contains: [{}]}}}}]", json!(prompt));
    let alone = sandbox.play(&script("\nReview src."), &["-r", "review", "--result-only"]);
    assert_eq!(alone.expect_code(0).stdout, "ok\n");
    let model = sandbox.script(&script("Review lib. Mind the gap.\n\nbe quick\nand kind"));
    let args = ["run", "--recipe", "review", "--arg", "directory=lib", "--arg", "focus=the gap"];
    let query = ["--result-only", "--model", &model, "be", "quick"];
    let with_query = sandbox.run_with_stdin([&args[..], &query].concat(), "and kind\n");
    assert_eq!(with_query.expect_code(0).stdout, "ok\n");
}

#[test]
fn hooks_of_both_kinds_and_the_store_receive_the_recipe() {
    let sandbox = sandbox();
    sandbox.write("../home/.kodelet/recipes/tidy.md", "Tidy up.");
    let executables = ["user_message_send", "before_tool_call", "after_turn", "agent_stop"];
    let manifests = ["session_start", "before_tool", "session_end"];
    let writes = |event: &str| format!("printf '%s\n' \"$payload\" >> {event}");
    for event in executables {
        sandbox.sh_hook(event, event, &writes(event));
    }
    for event in manifests {
        hook(&sandbox, &event.replace('_', "-"), event, "", &writes(event));
    }
    let script = "turns: [{tool_calls: [{name: todo}]}, {text: ok}]";
    let _ = run(&sandbox, script, &["-r", "tidy"]).expect_code(0);
    let payloads = |file: &str| -> Vec<Value> { sandbox.read_lines(file) };
    for file in executables.into_iter().chain(manifests) {
        let payload = &payloads(file)[0];
        let scope = payload.get("context").unwrap_or(payload);
        assert_eq!(scope["recipe_name"], "tidy", "{file} {payload}");
    }
    for file in ["after_turn", "agent_stop"] {
        assert_eq!(payloads(file)[0]["invoked_recipe"], "tidy", "{file}");
    }
    let begun_for = || {
        let export = sandbox.run("conversation export last --format json");
        export.expect_code(0).json()["recipe"].clone()
    };
    assert_eq!(begun_for(), "tidy");

    // Work that continues without the recipe is not the recipe's, although the conversation started with it.
    let _ = run(&sandbox, "turns: [{text: more}]", &["--follow", "more"]).expect_code(0);
    let last = payloads("agent_stop").pop().unwrap();
    assert_eq!((&last["invoked_recipe"], last.get("recipe_name")), (&json!(""), None));
    assert_eq!(begun_for(), "tidy");
}

#[test]
fn missing_arguments_are_named_with_their_description() {
    let sandbox = sandbox();
    sandbox.write(
        "recipes/greet.md",
        "---\narguments: {name: {description: whom to greet}, wish: {}, note: {description: not needed}}\n---\nGreet {{.name}}: {{.wish}}{{if .note}}!{{end}}\n",
    );
    let model = sandbox.script("turns: [{text: never}]");
    let missing = sandbox.run(["run", "-r", "greet", "--model", &model]).expect_code(2);
    let end = "error: the recipe \"greet\" needs more arguments\n  help: --arg name=… (whom to greet); --arg wish=…\n";
    assert!(missing.stderr.ends_with(end), "{missing}");
    sandbox.fails(2, ["run", "-r", "great", "--model", &model], "did you mean \"greet\"?");
    let useless = sandbox
        .run([
            "run", "-r", "greet", "--arg", "name=Ada", "--arg", "wish=hi", "--arg", "nmae=x",
            "--model", &model,
        ])
        .expect_code(0);
    assert!(useless.stderr.contains("has no argument `nmae`: it changes nothing"), "{useless}");
    sandbox.fails(2, "run --arg a=b hi", "--recipe <NAME>");
}

#[test]
fn a_recipe_that_cannot_be_rendered_is_shown_with_lines_and_calls_no_model() {
    let sandbox = sandbox();
    sandbox.write("recipes/wrong.md", "{{range \"x\"}}{{end}}");
    let model = sandbox.script("turns: [{text: never}]");
    let wrong = sandbox.run(["run", "-r", "wrong", "--model", &model]).expect_code(1);
    let end = "error: cannot fill in the recipe \"wrong\"\n  help: fix its file\n";
    assert!(wrong.stderr.contains("wrong.md:1:9: ") && wrong.stderr.ends_with(end), "{wrong}");
    sandbox.write("recipes/wrong.md", "---\nallowed_tools: [bsah]\n---\nGo.");
    assert_snapshot!(sandbox.run(["run", "-r", "wrong", "--model", &model]), @r#"
    exit: 1
    --- stderr
    error: cannot use the recipe "wrong": there is no tool "bsah" (did you mean "bash"?); the tools are bash, file_read, file_write, file_edit, grep, glob, todo, subagent
      help: fix its `allowed_tools`
    "#);
    assert_eq!(sandbox.run("conversation list").stdout, "");
}

#[test]
fn only_the_tools_that_a_recipe_allows_can_be_called() {
    let sandbox = sandbox();
    sandbox.write("recipes/none.md", "---\nallowed_tools: []\n---\nSay hello.");
    sandbox.write("recipes/read.md", "---\nallowed_tools: [file_read, Shell]\n---\nRead.");
    let script =
        "turns: [{tool_calls: [{name: bash, input: {command: \"touch ran\"}}]}, {text: ok}]";
    let output = run(&sandbox, script, &["-r", "none"]).expect_code(0);
    let error = first_result(&output)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("there is no tool \"bash\"; there are no tools"), "{error}");
    // Both restrict: what is left is what both allow.
    let output =
        run(&sandbox, script, &["-r", "read", "--allowed-tools", "file_read,grep"]).expect_code(0);
    let error = first_result(&output)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("there is no tool \"bash\"; the tools are file_read"), "{error}");
    assert!(!error.contains("grep"), "{error}");
    assert!(!sandbox.project().join("ran").exists());
    let _ = run(&sandbox, script, &["-r", "read"]).expect_code(0);
    assert!(sandbox.project().join("ran").exists(), "what it allows it can use");
}

#[test]
fn only_the_commands_that_a_recipe_allows_run() {
    let sandbox = sandbox();
    sandbox.write("recipes/look.md", "---\nallowed_commands: [\"echo *\"]\n---\nLook.");
    let script = "turns: [{tool_calls: [{id: a, name: bash, input: {command: \"echo hello\"}}]},
        {tool_calls: [{id: b, name: bash, input: {command: \"echo hello; touch ran\"}}]}, {text: ok}]";
    let output = run(&sandbox, script, &["-r", "look"]).expect_code(0);
    let lines = output.json_lines();
    let results: Vec<&Value> =
        filter_kind(&lines, "tool-result").into_iter().map(|line| &line["result"]).collect();
    assert_eq!(
        (&results[0]["success"], &results[1]["success"]),
        (&json!(true), &json!(false)),
        "{output}"
    );
    assert!(!sandbox.project().join("ran").exists());
}

#[test]
fn a_subagent_of_a_recipe_has_the_same_restrictions() {
    let sandbox = sandbox();
    sandbox.write("recipes/ask.md", "---\nallowed_tools: [subagent]\n---\nAsk.");
    let script = "turns:
  - tool_calls: [{name: subagent, input: {question: do it}}]
  - tool_calls: [{name: bash, input: {command: \"touch ran\"}}]
  - {text: tried}
  - {text: ok}";
    run(&sandbox, script, &["-r", "ask"]).prints("there is no tool \\\"bash\\\"");
    assert!(!sandbox.project().join("ran").exists());
}
