//! The example scripts of the specifications that Tenter implements, copied to `examples/`: each works as a hook. Examples that
//! need more than a shell have a variant in `examples/plain` that does not, so that they are tested everywhere.

use serde_json::Value;
use tenter_testkit::{Output, Sandbox, needs};

use crate::{filter_kind, sandbox};

/// Returns a sandbox with this script of `examples/` as a hook; `None` if a program that it needs is missing.
fn installed(example: &str) -> Option<Sandbox> {
    let sandbox = sandbox();
    let file = format!("{}/tests/it/examples/{example}", env!("CARGO_MANIFEST_DIR"));
    let script = std::fs::read_to_string(file).unwrap();
    let mut needs = ["jq", "bc", "python3"].into_iter().filter(|program| script.contains(*program));
    if !needs.all(needs::has) {
        return None;
    }
    let name = example.rsplit('/').next().unwrap();
    sandbox.user_hook(name, &script);
    Some(sandbox)
}

/// Plays these turns with the hook, with a context window of 16000 tokens and without automatic compaction.
fn played(sandbox: &Sandbox, turns: &str) -> (Vec<Value>, Output) {
    let script =
        format!("turns: [{turns}]\nrecipes: {{compact: [THE SUMMARY]}}\ncontext_window: 16000\n");
    let model = sandbox.script(&script);
    let args = ["run", "--headless", "--disable-auto-compact", "--model", &model, "find it"];
    let output = sandbox.run(args).expect_code(0);
    let lines = output.json_lines();
    let failure = filter_kind(&lines, "hook").into_iter().find(|run| run["decision"] == "failed");
    assert!(failure.is_none(), "{output}");
    (lines, output)
}

/// Returns two turns: a tool call with a context of `tokens` tokens, and a final turn that expects `expect`.
fn two_turns(tokens: u64, expect: &str) -> String {
    format!(
        "{{text: Looking., tool_calls: [{{name: todo}}], usage: {{input_tokens: {tokens}, output_tokens: 0}}}}, {{text: Done., expect: {{{expect}}}, usage: {{input_tokens: 100, output_tokens: 0}}}}"
    )
}

#[test]
fn the_audit_loggers_record_every_call() {
    for example in ["quick_audit_logger", "audit_logger"] {
        let sandbox = installed(example).unwrap();
        let _ = played(
            &sandbox,
            "{tool_calls: [{name: bash, input: {command: echo one}}, {name: todo}]}, {text: Done.}",
        );
        let log = std::fs::read_to_string(sandbox.home().join(".kodelet/audit.log")).unwrap();
        assert_eq!(log.lines().count(), 2, "{log}");
        for line in log.lines() {
            let payload = line.rsplit(" | ").next().unwrap();
            let payload: Value = serde_json::from_str(payload).unwrap();
            assert_eq!(payload["event"], "after_tool_call");
            assert_eq!(payload["tool_output"]["success"], true, "{payload}");
        }
        assert!(log.contains(r#""command": "echo one""#), "{log}");
    }
}

#[test]
fn the_guard_rail_blocks_exactly_what_is_on_its_list() {
    for example in ["security_guardrail", "plain/security_guardrail"] {
        let Some(sandbox) = installed(example) else { continue };
        for (command, reason) in [
            ("rm -rf build", "Security policy: 'rm -rf' is not allowed"),
            ("sudo ls", "Security policy: 'sudo' is not allowed"),
            ("cat x | bash", "Security policy: piping to shell is not allowed"),
            ("echo fine", ""),
        ] {
            let turns = format!(
                "{{tool_calls: [{{name: bash, input: {{command: {command:?}}}}}]}}, {{text: ok}}"
            );
            let (lines, output) = played(&sandbox, &turns);
            let result = &filter_kind(&lines, "tool-result")[0]["result"];
            let error = result["error"].as_str().unwrap_or_default();
            assert!(error.ends_with(reason), "{command}: {output}");
            assert_eq!(result["success"], reason.is_empty(), "{command}: {output}");
        }
    }
}

#[test]
fn the_follow_up_requests_a_cleanup_while_needed() {
    for example in ["follow_up", "plain/follow_up"] {
        let Some(sandbox) = installed(example) else { continue };
        let (lines, _) = played(&sandbox, "{text: Done.}, {text: never}");
        assert_eq!(filter_kind(&lines, "text").len(), 1);
        sandbox.write("foo.txt", "");
        let remove = "{tool_calls: [{name: bash, input: {command: rm foo.txt}}], expect: {contains: [I noticed foo.txt exists. Please remove it.]}}";
        let (lines, output) = played(
            &sandbox,
            &format!("{{text: Done.}}, {remove}, {{text: Removed.}}, {{text: never}}"),
        );
        assert_eq!(filter_kind(&lines, "text").last().unwrap()["content"], "Removed.", "{output}");
    }
}

#[test]
fn the_turn_logger_reports_context_usage() {
    for example in ["turn_logger", "plain/turn_logger"] {
        let Some(sandbox) = installed(example) else { continue };
        let _ = played(&sandbox, &two_turns(6000, ""));
        let records = sandbox.run("log --json").expect_code(0).json_lines();
        let text: Vec<&str> =
            records.iter().filter_map(|record| record["stderr"].as_str()).collect();
        let text = text.concat();
        assert!(text.contains("Turn 1: context 37.50% (tools_used: true)"), "{records:#?}");
        assert!(text.contains("(tools_used: false)"), "{records:#?}");
    }
}

#[test]
fn the_thresholds_compact_beyond_70_percent() {
    for example in ["custom_trigger", "custom_threshold", "smart_compact", "plain/threshold"] {
        let Some(sandbox) = installed(example) else { continue };
        let compacted = two_turns(11_600, "contains: [THE SUMMARY, find it], lacks: [Looking.]");
        let (lines, output) = played(&sandbox, &compacted);
        let histories = filter_kind(&lines, "history");
        assert_eq!((histories.len(), &histories[0]["action"]), (1, &"compact".into()), "{output}");
        let (lines, _) = played(&sandbox, &two_turns(11_000, "contains: [Looking.]"));
        assert!(filter_kind(&lines, "history").is_empty());
    }
}

#[test]
fn the_direct_mutation_keeps_the_first_request() {
    for example in ["simple_compact", "plain/simple_compact"] {
        let Some(sandbox) = installed(example) else { continue };
        let mutated = "contains: ['Previous context summary: find it'], lacks: [Looking.]";
        let (lines, output) = played(&sandbox, &two_turns(11_600, mutated));
        assert_eq!(filter_kind(&lines, "history")[0]["action"], "mutate", "{output}");
        let (lines, _) = played(&sandbox, &two_turns(11_000, "contains: [Looking.]"));
        assert!(filter_kind(&lines, "history").is_empty());
    }
}

#[test]
fn the_lint_reminder_reminds_after_changes_and_stops() {
    for example in ["lint_reminder", "plain/lint_reminder"] {
        let Some(sandbox) = installed(example) else { continue };
        let (lines, _) = played(
            &sandbox,
            "{tool_calls: [{name: todo}]}, {text: Nothing to change.}, {text: never}",
        );
        assert_eq!(filter_kind(&lines, "text").len(), 1);
        let write = "{tool_calls: [{name: file_write, input: {file_path: a.txt, text: a}}]}";
        let reminded = "expect: {contains: [Please run the linter to check for any issues.]}";
        let (lines, output) = played(
            &sandbox,
            &format!("{write}, {{text: Written.}}, {{text: Linted., {reminded}}}"),
        );
        assert!(
            filter_kind(&lines, "text").iter().any(|text| text["content"] == "Linted."),
            "{output}"
        );
        // It ignores `stop_hook_active`, so the limit on continuations ends the loop.
        assert_eq!(filter_kind(&lines, "diagnostic")[0]["id"], "stop-loop", "{output}");
    }
}
