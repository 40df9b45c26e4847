//! Tests of the lines that a hook writes, and of those that it does not read.

use super::stage::{Script, Stage, exists, failed, is_served, is_timed_out, until_gone};
use tenter_engine::{DecisionKind, RunEnd};
use tenter_testkit::with_growing_limits;

#[test]
fn an_answer_may_come_in_any_form_of_json_rpc() {
    for event in [
        r#"printf '{"result":{"decision":"deny","reason":"served"},"id":%s,"jsonrpc":"2.0"}\r\n' "$id""#,
        r#"printf '\n\r\n{"jsonrpc":"2.0","method":"progress","params":{"percent":50}}\n'; respond '{"decision": "deny", "reason": "served"}'"#,
        r#"printf '{"jsonrpc":"2.0","id":"a","method":"fly"}\n'; read -r answer; case $answer in *-32601*) respond '{"decision": "deny", "reason": "served"}';; esac"#,
    ] {
        let stage = Stage::new(&Script::event(event));
        assert_eq!(stage.reason(), "served", "{event}: {:?}", stage.last());
    }
}

#[test]
fn a_result_that_is_null_decides_nothing_and_others_fail() {
    for (result, why) in [
        ("null", None),
        ("{}", None),
        ("7", Some("its result is neither an object nor null: 7")),
        ("[]", Some("neither an object nor null")),
        (r#""deny""#, Some("neither an object nor null")),
        (r#"{"decision": "allow", "decision": "allow"}"#, Some("more than once")),
    ] {
        let event: &'static str = format!("respond '{result}'").leak();
        let stage = Stage::new(&Script::event(event));
        stage.fire();
        let run = stage.last();
        let (is_failed, end, reason) = failed(&run);
        assert_eq!(end, RunEnd::Answered);
        match why {
            None => assert_eq!(run.decision, DecisionKind::None, "{result}"),
            Some(why) => assert!(is_failed && reason.contains(why), "{result}: {reason}"),
        }
        assert!(exists(stage.pids()[0]), "the process answers further events");
    }
}

#[test]
fn an_error_is_a_failed_run_with_its_message_and_stderr() {
    let event = r#"seq 1 30 >&2; printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no database"}}\n' "$id""#;
    let stage = Stage::new(&Script::event(event));
    stage.fire();
    let run = stage.last();
    let (is_failed, end, reason) = failed(&run);
    assert!(is_failed && end == RunEnd::Answered);
    assert_eq!(reason, "it answered with an error: no database (-32000)");
    assert_eq!(run.stderr_tail.lines().count(), 20);
    assert!(run.stderr_tail.ends_with("29\n30"));
}

#[test]
fn stderr_is_reported_with_the_event_at_which_it_was_written() {
    let stage = Stage::new(&Script {
        start: "echo started >&2",
        event: "echo at $id >&2; respond null",
        ..Script::default()
    });
    stage.fire();
    stage.fire();
    let tails: Vec<String> = stage.runs().into_iter().map(|run| run.record.stderr_tail).collect();
    assert_eq!(tails[1], "at 3");
}

#[test]
fn lines_that_break_the_protocol_end_the_process_and_fail_the_request() {
    for (event, why) in [
        ("echo checking", "a line is not JSON: \"checking\"; print to stderr instead"),
        ("echo '[]'", "batches are not supported"),
        (r#"printf '{"jsonrpc":"1.0","id":%s,"result":null}\n' "$id""#, "`jsonrpc` must be"),
        (
            r#"printf '{"jsonrpc":"2.0","id":99,"result":null}\n'"#,
            "answered the id 99, which was never sent",
        ),
        (r#"printf '{"jsonrpc":"2.0","id":"%s","result":null}\n' "$id""#, "which was never sent"),
        ("head -c 2000000 /dev/zero | tr '\\0' x; echo", "a line of more than 1 MiB"),
        ("exec tr '\\0' x </dev/zero", "a line of more than 1 MiB"),
        (
            r#"while :; do printf '{"jsonrpc":"2.0","method":"progress"}\n'; done"#,
            "more than 1 MiB without an answer",
        ),
        ("exec >&-; sleep 1000", "closed its stdout"),
        (r#"printf '{"jsonrpc":"2.0","id":%s,"resu' "$id"; exit 0"#, "exited with code 0"),
        (r"printf '\377\n'", "a line is not JSON"),
    ] {
        let stage = Stage::new(&Script::event(event));
        stage.fire();
        let (is_failed, _, reason) = failed(&stage.last());
        assert!(is_failed && is_served(&stage.last()) && reason.contains(why), "{event}: {reason}");
        until_gone(stage.pids()[0]);
        assert_eq!(stage.one_shot_runs(), 0);
    }
}

#[test]
fn an_answer_that_comes_after_the_timeout_is_dropped() {
    with_growing_limits(answers_late);
}

fn answers_late(factor: u32) {
    let script = Script {
        manifest: format!("timeout: {}\n", 200 * factor).leak(),
        event: r#"if [ -z "$slow" ]; then slow=$id; else now=$id; id=$slow; respond '{"decision": "deny", "reason": "late"}'; id=$now; respond '{"decision": "deny", "reason": "served"}'; fi"#,
        cancel: r#"now=$id; id=$slow; printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32800,"message":"cancelled"}}\n' "$id""#,
        ..Script::default()
    };
    let stage = Stage::new(&script);
    stage.fire();
    assert!(is_timed_out(&stage), "{:?}", stage.last());
    assert_eq!(stage.reason(), "served");
    assert_eq!(stage.pids().len(), 1);
    assert_eq!(stage.last().notes, ["1 of its answers came too late and were dropped"]);
}

#[test]
fn a_hook_that_does_not_read_does_not_block_the_caller() {
    let script = Script {
        manifest: "timeout: 200\n",
        initialize: "respond '{}'; exec sleep 1000",
        ..Script::default()
    };
    let stage = Stage::new(&script);
    stage.fire();
    assert_eq!(failed(&stage.last()).2, "timed out after 200 ms");
    until_gone(stage.pids()[0]);
}
