//! Stdout is one answer or empty, whatever hooks want and tell the user at once: a line beside the answer voids it in every host.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use tenter_bridge::{Moment, hosts};

use crate::host_session::{HostSession, fixtures};

/// The events of the hooks that decide, and all that they want there at once.
const HOOKS: &[(&str, &str)] = &[
    ("session_start", r#"{"additional_context": "Mind the gap."}"#),
    ("before_agent", r#"{"decision": "deny", "reason": "not now"}"#),
    ("before_tool", r#"{"decision": "deny", "reason": "not now"}"#),
    ("after_tool", r#"{"decision": "deny", "reason": "not now", "additional_context": "a"}"#),
    ("after_tool_failure", r#"{"additional_context": "a"}"#),
    ("before_stop", r#"{"follow_up_messages": ["Run the tests."]}"#),
    ("pre_compact", r#"{"decision": "deny", "reason": "not now"}"#),
];

/// The moments at which the documented answer of a host is plain text.
const TEXTS: &[(&str, Moment)] = &[
    ("claude-code", Moment::PreCompact),
    ("droid", Moment::PreCompact),
    ("goose", Moment::PreCompact),
    ("kimi-code", Moment::Prompt),
];

/// Creates a host with hooks that decide, and with a hook that has a message for the user at every event.
fn host(id: &'static str, decides: bool) -> HostSession {
    let session = HostSession::new(id);
    for (event, reply) in HOOKS {
        let name = event.replace('_', "-");
        let front_matter = "metadata: {dialect: claude-code}";
        let message = r#"echo '{"systemMessage": "look out"}'"#;
        session.hook(&format!("warn-{name}"), event, front_matter, message);
        if decides {
            session.hook(&format!("decide-{name}"), event, "", &format!("echo '{reply}'"));
        }
    }
    session
}

/// Returns the names of the payloads of a host.
fn payloads(id: &str) -> BTreeSet<String> {
    let files = fs::read_dir(fixtures(id)).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect()
}

#[test]
fn a_message_beside_a_decision_never_leaves_more_than_one_answer_on_stdout() {
    for id in hosts::ALL.iter().map(|host| host.id).chain(["copilot-in-claude"]) {
        for decides in [false, true] {
            let session = host(id, decides);
            for payload in payloads(id) {
                let output = session.fire(&payload).expect_code(0);
                let event = session.event(&payload);
                let moment = hosts::ALL.iter().filter(|host| host.id == id);
                let moment =
                    moment.filter_map(|host| host.event(event)).map(|event| event.moment).next();
                if moment.is_some_and(|moment| TEXTS.contains(&(id, moment))) {
                    continue;
                }
                let answer = output.stdout.trim_end();
                let answer: Value = match answer {
                    "" => json!({}),
                    answer => serde_json::from_str(answer)
                        .unwrap_or_else(|error| panic!("{id} {payload}: {error}\n{output}")),
                };
                assert!(answer.is_object(), "{id} {payload}: {output}");
            }
        }
    }
}

#[test]
fn the_message_of_an_imported_hook_reaches_the_user() {
    for (id, payload, field) in [
        ("claude-code", "PreToolUse.Bash", "systemMessage"),
        ("codex", "PreToolUse.Bash", "systemMessage"),
        ("gemini", "BeforeTool.run_shell_command", "systemMessage"),
        ("vibe", "pre_tool.bash", "system_message"),
        ("opencode", "tool.execute.before.bash", "notices"),
    ] {
        let answer = HostSession::read_answer(host(id, false).fire(payload));
        assert!(
            answer[field].to_string().contains("hook warn-before-tool: look out"),
            "{id}: {answer}"
        );
    }
    // Without a form for it, it is on stderr.
    let output = host("copilot", false).fire("preToolUse.bash").expect_code(0);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("hook warn-before-tool: look out"), "{output}");
}
