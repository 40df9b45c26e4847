//! Replies of manifest hooks by exit code, stdout and stderr, and their effects: in the session, for the model, for the
//! user. And the effects of failures.

use serde_json::{Value, json};

use super::{bash, decisions, hook, records, runs};
use crate::{filter_kind, headless, sandbox, send_signal};
use tenter_testkit::{assert_contains, assert_fields};

const CLOSED: &str = "metadata: {fail: closed}";

#[test]
fn a_hook_that_fails_closed_denies_and_the_record_says_why() {
    let sandbox = sandbox();
    hook(&sandbox, "guard", "before_tool", CLOSED, "exit 1");
    let expect = "contains: [\"blocked by hook: the hook guard failed\", it is set to fail closed]";
    let (lines, code) = headless(&sandbox, &bash("touch ran", expect));
    assert_eq!((code, decisions(&lines, "guard")), (0, vec!["failed".to_owned()]));
    assert!(!sandbox.project().join("ran").exists());
    let decision = &records(&sandbox)[1];
    assert_eq!((&decision["decision"], &decision["by_failure"]), (&json!("deny"), &json!(true)));
}

#[test]
fn text_is_logged_and_invalid_json_is_warned_about() {
    let table: [(&str, Option<&str>, &str); 4] = [
        ("echo 'All fine'", None, "printed: All fine"),
        ("echo '[1]'", None, "printed: [1]"),
        (
            "echo checking; echo '{\"decision\": \"deny\"}'",
            Some("not one JSON object"),
            "printed: checking",
        ),
        (
            "echo '{\"decision\": \"denied\", \"log\": \"kept\"}'",
            Some("unknown value \"denied\""),
            "kept",
        ),
    ];
    for (body, warning, note) in table {
        let sandbox = sandbox();
        hook(&sandbox, "guard", "before_tool", "", body);
        let script = bash("touch ran", "lacks: [blocked by hook, printed]");
        let (lines, _) = headless(&sandbox, &script);
        let run = runs(&lines, "guard")[0];
        assert_eq!(run["decision"], "none", "{body}");
        assert!(run["notes"][0].as_str().unwrap().starts_with(note), "{run}");
        assert_eq!(run["warnings"].is_null(), warning.is_none(), "{run}");
        assert!(sandbox.project().join("ran").exists());
        let model = sandbox.script(&script);
        for args in [&["run"][..], &["run", "--result-only"]] {
            let output = sandbox.run([args, &["--model", &model, "x"]].concat()).expect_code(0);
            let text = warning.is_none_or(|warning| {
                output.stderr.contains("hook guard at before_tool: ")
                    && output.stderr.contains(warning)
            });
            assert!(text, "{output}");
        }
        assert!(warning.is_none_or(|warning| sandbox.run("log").stdout.contains(warning)));
    }
}

#[test]
fn a_prompt_an_input_and_an_output_can_be_changed() {
    let sandbox = sandbox();
    for (name, trigger, answer) in [
        (
            "prompt",
            "before_agent",
            r#"{"modified_prompt": "do that", "additional_context": "be brief"}"#,
        ),
        (
            "input",
            "pre-tool-call",
            r#"{"updatedInput": {"command": "echo SECRET > out; cat out"}}"#,
        ),
        (
            "output",
            "after_tool",
            r#"{"modified_output": {"metadata": {"output": "[redacted]"}}, "additionalContext": "it held a key"}"#,
        ),
    ] {
        hook(&sandbox, name, trigger, "", &format!("echo '{answer}'"));
    }
    let script = "turns: [{tool_calls: [{id: t1, name: bash, input: {command: echo}}], expect: {contains: [do that, be brief, \" name=\\\"prompt\\\">\"], lacks: [do it]}}, \
                   {text: ok, expect: {contains: [redacted, it held a key], lacks: [SECRET]}}]";
    let (lines, code) = headless(&sandbox, script);
    assert_eq!(code, 0, "{lines:#?}");
    for name in ["prompt", "input", "output"] {
        assert_eq!(decisions(&lines, name), ["rewrite"], "{name}: {lines:#?}");
    }
    assert_eq!(sandbox.read("out"), "SECRET\n");
}

#[test]
fn an_input_that_the_tool_rejects_runs_nothing() {
    let sandbox = sandbox();
    hook(&sandbox, "typo", "before_tool", "", "echo '{\"modified_input\": {\"comand\": \"ls\"}}'");
    let (lines, _) =
        headless(&sandbox, &bash("touch ran", "contains: [the hook typo changed the input]"));
    assert_eq!(filter_kind(&lines, "diagnostic")[0]["id"], "rewrite-refused");
    assert!(!sandbox.project().join("ran").exists());
}

#[test]
fn ask_means_no_without_a_user_unless_configured_otherwise() {
    for (config, ran) in [("", false), ("[hooks]\nask = \"allow\"\n", true)] {
        let sandbox = sandbox();
        sandbox.configure(config);
        hook(
            &sandbox,
            "careful",
            "before_tool",
            "",
            "echo '{\"decision\": \"ask\", \"reason\": \"sure?\"}'",
        );
        let expect = if ran {
            "lacks: [blocked by hook]"
        } else {
            "contains: [\"sure? (the hook careful asked for the user's permission, but there is no user to ask)\"]"
        };
        let (lines, code) = headless(&sandbox, &bash("touch ran", expect));
        assert_eq!((code, decisions(&lines, "careful")), (0, vec!["ask".to_owned()]));
        assert_eq!(sandbox.project().join("ran").exists(), ran);
        assert_eq!(filter_kind(&lines, "tool-result")[0]["result"]["success"], ran);
        let stream = filter_kind(&lines, "answer")[0];
        let records = records(&sandbox);
        let answer_record = filter_kind(&records, "answer")[0];
        for answer in [stream, answer_record] {
            assert_eq!((&answer["hook"], &answer["allowed"]), (&json!("careful"), &json!(ran)));
            assert_fields(answer, &json!({"answer": "nobody to ask", "reason": "sure?"}));
        }
        assert_eq!(answer_record["tool_input"], json!({"command": "touch ran"}));
    }
}

/// The weightiest part of an answer names it; the others are recorded beside it (R65).
#[test]
fn an_allow_beside_other_things_is_recorded() {
    let sandbox = sandbox();
    let answer = r#"{"decision": "allow", "modified_input": {"command": "touch other"}, "additional_context": "mind this"}"#;
    hook(&sandbox, "three", "before_tool", "", &format!("echo '{answer}'"));
    let (lines, _) = headless(&sandbox, &bash("touch ran", "contains: [mind this]"));
    let records = records(&sandbox);
    let parts = [
        runs(&lines, "three")[0],
        filter_kind(&records, "run")[0],
        filter_kind(&records, "decision")[0],
    ];
    for part in parts {
        assert_eq!(
            (&part["decision"], &part["also"]),
            (&json!("rewrite"), &json!(["context", "allow"])),
            "{part}"
        );
    }
    assert!(sandbox.run("log").stdout.contains("rewrite  bash: touch ran · +context · +allow · "));
}

/// Returns the record of a hook's only run.
fn filter_hook<'r>(records: &'r [Value], hook: &str) -> &'r Value {
    filter_kind(records, "run").into_iter().find(|run| run["hook"] == hook).unwrap()
}

/// A failed run is recorded with its output, and reported in the stream and to the user.
#[test]
fn the_output_of_a_failed_hook_is_recorded_and_reported() {
    let sandbox = sandbox();
    let script = "echo 'Traceback: $AKIAABCDEFGHIJKLMNOP'; echo 'cannot connect' >&2; exit 3";
    hook(&sandbox, "broken", "before_tool", "", script);
    hook(&sandbox, "fine", "before_tool", "", "echo '{}'; echo 'quiet' >&2");
    let (lines, _) = headless(&sandbox, &bash("true", "lacks: [nothing]"));
    let records = records(&sandbox);
    for run in [runs(&lines, "broken")[0], filter_hook(&records, "broken")] {
        assert_eq!(run["stdout"], "Traceback: $AKIA[16 redacted]\n", "{run}");
        assert_eq!(run["stderr"], "cannot connect", "{run}");
    }
    let fine = runs(&lines, "fine")[0];
    assert!(fine.get("stdout").is_none() && fine.get("stderr").is_none(), "{fine}");
    sandbox.prints("log", r#"its stdout: "Traceback: $AKIA[16 redacted]""#);
    let output = sandbox.play(&bash("true", "lacks: [nothing]"), &["x"]).expect_code(0);
    assert_contains(&output.stderr, &[r#"its stdout: "Traceback: $AKIA"#, "cannot connect"]);
}

/// The effect is not undone; the model reads the hook's objection, and later hooks do not run (R29).
#[test]
fn a_block_after_the_fact_is_fed_back() {
    for (trigger, command) in [
        ("after_tool", "touch ran"),
        ("after_tool_failure", "touch ran; false"),
        ("after_turn", "touch ran"),
    ] {
        let sandbox = sandbox();
        hook(
            &sandbox,
            "critic",
            trigger,
            "priority: 200",
            "[ -e told ] && exit 0; touch told; echo 'badly named' >&2; exit 2",
        );
        hook(&sandbox, "later", trigger, "priority: 100", "touch asked-$(wc -l < /dev/null)");
        let script = bash(command, "contains: [\" name=\\\"critic\\\">\\nbadly named\"]");
        let output = sandbox.play(&script, &["x"]).expect_code(0);
        assert!(sandbox.project().join("ran").exists(), "{trigger}");
        let message = format!("blocked by hook critic at {trigger}: badly named");
        assert!(output.stderr.contains(&message), "{trigger}\n{output}");
        let first = &records(&sandbox)[1];
        assert_eq!(
            (&first["kind"], &first["hooks_run"]),
            (&json!("decision"), &json!(1)),
            "{first}"
        );
    }
}

/// The end of a session cannot be blocked, but a hook's objection is shown to the user.
#[test]
fn a_session_ends_even_if_a_hook_denies_it() {
    let sandbox = sandbox();
    hook(&sandbox, "untidy", "session_end", "", "echo 'there is a mess left' >&2; exit 2");
    let output = sandbox.play("turns: [{text: ok}]", &["x"]).expect_code(0);
    assert!(
        output.stderr.contains("blocked by hook untidy at session_end: there is a mess left"),
        "{output}"
    );
}

/// A deny at the stop is worth a continuation each time, up to the limit.
#[test]
fn a_gate_that_never_passes_stops_eventually() {
    let sandbox = sandbox();
    sandbox.configure("[hooks]\nmax_continuations = 2\n");
    hook(
        &sandbox,
        "gate",
        "before_stop",
        "",
        "printf '%s\\n' \"$payload\" >> payloads; echo never >&2; exit 2",
    );
    let (lines, code) = headless(&sandbox, "turns: [{text: a}, {text: b}, {text: c}]");
    assert_eq!((code, decisions(&lines, "gate").len()), (0, 3));
    assert_eq!(filter_kind(&lines, "diagnostic")[0]["id"], "stop-loop");
    let payloads = sandbox.read_lines("payloads");
    let counts: Vec<&Value> = payloads.iter().map(|one| &one["continuation_count"]).collect();
    assert_eq!(counts, [0, 1, 2]);
}

#[test]
fn an_interrupted_guard_lets_nothing_pass() {
    let sandbox = sandbox();
    hook(&sandbox, "guard", "before_tool", "", "touch asked; sleep 600");
    let model = sandbox
        .script("turns: [{tool_calls: [{name: file_write, input: {file_path: ran, text: x}}]}]");
    let child = sandbox.start(["run", "--headless", "--model", &model, "x"]);
    tenter_testkit::wait_until("the guard runs", || sandbox.project().join("asked").exists());
    assert!(send_signal("INT", child.id()));
    let output = sandbox.finish(child).expect_code(130);
    assert!(!sandbox.project().join("ran").exists(), "{output}");
}

#[test]
fn a_message_that_hooks_could_not_check_is_not_kept() {
    for more in ["", CLOSED] {
        let sandbox = sandbox();
        hook(&sandbox, "filter", "before_agent", more, "touch asked; sleep 600");
        let model = sandbox.script("turns: [{text: ok}]");
        let child = sandbox.start(["run", "--headless", "--model", &model, "my password"]);
        tenter_testkit::wait_until("the filter runs", || sandbox.project().join("asked").exists());
        assert!(send_signal("INT", child.id()));
        let _ = sandbox.finish(child).expect_code(130);
        let list = sandbox.run("conversation list --json").expect_code(0).json();
        assert_eq!(list, json!([]), "{more}");
    }
}
