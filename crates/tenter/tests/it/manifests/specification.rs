//! The specification's examples, as they stand: every front matter loads, every script does what the prose says.

use serde_json::json;

use super::{bash, decisions, install, runs};
use crate::{filter_kind, headless, sandbox};

const FORMATTING: &str = r#"
name: auto-format-python
description: Auto-format Python files after write
trigger: after_tool
matcher:
  tool: WriteFile
  pattern: "\.py$"
timeout: 30000
async: true"#;

const COMPLETE: &str = r#"
name: block-dangerous-commands
description: Blocks dangerous shell commands that could destroy data
trigger: before_tool
matcher:
  tool: Shell
  pattern: "rm -rf /|mkfs|dd if=/dev/zero|>:/dev/sda"
timeout: 5000
async: false
priority: 999"#;

/// Section 10.3, `scripts/run.sh`.
const COMPLETE_SCRIPT: &str = r#"#!/bin/bash
# Block dangerous commands hook

# Read event data from stdin
event_data=$(cat)

# Extract command from event
tool_input=$(echo "$event_data" | grep -o '"command": "[^"]*"' | head -1 | cut -d'"' -f4)

# Dangerous patterns
dangerous_patterns=("rm -rf /" "mkfs" "dd if=/dev/zero")

for pattern in "${dangerous_patterns[@]}"; do
    if echo "$tool_input" | grep -qE "\b${pattern}\b"; then
        echo "Dangerous command blocked: ${pattern} would destroy the system" >&2
        exit 2
    fi
done

# Command is safe
exit 0
"#;

/// Commands that only print what would be dangerous: should a guard fail, the machine survives the test.
#[test]
fn the_complete_example_blocks() {
    let sandbox = sandbox();
    install(&sandbox, COMPLETE, COMPLETE_SCRIPT);
    for (command, pattern) in [
        ("touch ran; echo rm -rf /etc", "rm -rf /"),
        ("touch ran; echo mkfs.ext4 disk", "mkfs"),
        ("touch ran; echo dd if=/dev/zero of=disk", "dd if=/dev/zero"),
    ] {
        let reason = format!("Dangerous command blocked: {pattern} would destroy the system");
        let (lines, code) = headless(
            &sandbox,
            &bash(command, &format!("contains: [\"blocked by hook: {reason}\"]")),
        );
        assert_eq!(
            (code, decisions(&lines, "block-dangerous-commands")),
            (0, vec!["deny".to_owned()])
        );
        assert_eq!(runs(&lines, "block-dangerous-commands")[0]["reason"], reason.as_str());
        let result = &filter_kind(&lines, "tool-result")[0]["result"];
        assert_eq!(result["metadataType"], "blocked");
        assert_eq!(result["metadata"], json!({"tool_name": "bash", "reason": reason}));
        assert!(!sandbox.project().join("ran").exists());
    }
}

/// The missed commands pass because of the example's own `grep`, not by the matcher and not by the payload's form.
#[test]
fn the_complete_example_misses_only_what_it_is_known_to_miss() {
    let sandbox = sandbox();
    install(&sandbox, COMPLETE, COMPLETE_SCRIPT);
    for command in ["echo rm -rf /", "echo \"a\" && echo rm -rf /etc"] {
        let (lines, _) = headless(&sandbox, &bash(command, ""));
        assert_eq!(decisions(&lines, "block-dangerous-commands"), ["none"], "{command}");
    }
    let (lines, _) = headless(&sandbox, &bash("ls", ""));
    assert!(
        runs(&lines, "block-dangerous-commands").is_empty(),
        "the matcher matches other commands"
    );
}

/// Pattern 2: the formatter is not waited for while the agent works, and is waited for before the process ends.
#[test]
fn an_asynchronous_formatter_delays_nothing_and_is_drained() {
    let sandbox = sandbox();
    // It ends only after the model's next tool call, which would never come if the agent waited for the hook.
    let script = "#!/bin/sh\ncat > /dev/null\nuntil [ -e agent-continued ]; do sleep 0.01; done\necho formatted >> a.py\n\
                  echo '{\"decision\": \"deny\", \"reason\": \"too late\"}'\n";
    install(&sandbox, FORMATTING, script);
    let (lines, code) = headless(
        &sandbox,
        "turns: [{tool_calls: [{name: file_write, input: {file_path: a.py, text: \"x = 1\\n\"}}]}, \
                 {tool_calls: [{name: file_write, input: {file_path: agent-continued, text: \"\"}}], expect: {lacks: [too late]}}, \
                 {text: ok, expect: {lacks: [too late]}}]",
    );
    assert_eq!(code, 0, "{lines:#?}");
    assert_eq!(sandbox.read("a.py"), "x = 1\nformatted\n");
    let [run] = runs(&lines, "auto-format-python")[..] else { panic!("{lines:#?}") };
    assert_eq!((&run["async"], &run["decision"]), (&json!(true), &json!("none")));
    assert!(run["notes"][0].as_str().unwrap().contains("deny"), "{run}");
    let place = |kind: &str| lines.iter().rposition(|line| line["kind"] == kind).unwrap();
    assert!(place("hook") > lines.iter().position(|line| line["kind"] == "tool-result").unwrap());
    assert_eq!(place("end"), lines.len() - 1, "the end is reported after the last hook's run");
}
