//! The specification's examples, as they stand: every front matter loads, every script does what the prose says.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use tenter_testkit::Sandbox;

use super::{DIRECTORY, bash, decisions, install, runs};
use crate::{headless, of_kind, sandbox};

const SYNC: &str = "\
name: security-check
trigger: before_tool
async: false # default, optional";

const INTERCEPTION: &str = r#"
name: block-dangerous-commands
description: Blocks dangerous system commands
trigger: before_tool
matcher:
  tool: Shell
  pattern: "rm -rf /|mkfs|dd if=/dev/zero"
timeout: 5000
async: false
priority: 999"#;

const FORMATTING: &str = r#"
name: auto-format-python
description: Auto-format Python files after write
trigger: after_tool
matcher:
  tool: WriteFile
  pattern: "\.py$"
timeout: 30000
async: true"#;

const DEPLOYMENT: &str = r#"
name: block-prod-deploy
description: Block production deployment operations
trigger: before_tool
matcher:
  tool: Shell
  pattern: "deploy.*prod|kubectl.*production"
timeout: 60000
async: false"#;

const AUDIT: &str = "\
name: audit-log
description: Log all session activities
trigger: session_end
async: true";

const QUALITY: &str = "\
name: enforce-test-coverage
description: Ensure tests pass before allowing completion
trigger: before_stop
timeout: 120000
async: false
priority: 999";

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

/// Section 6.2, pattern 5.
const QUALITY_SCRIPT: &str = r#"#!/bin/bash
# enforce-quality.sh

# Read event data from stdin
event_data=$(cat)

# Check if tests pass
if ! npm test 2>&1; then
    echo "Tests must pass before completing" >&2
    exit 2
fi

# Check code formatting
if ! black --check . 2>&1; then
    echo "Code is not formatted. Run 'black .' first" >&2
    exit 2
fi

# All checks passed
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
        let result = &of_kind(&lines, "tool-result")[0]["result"];
        assert_eq!(result["metadataType"], "blocked");
        assert_eq!(result["metadata"], json!({"tool_name": "bash", "reason": reason}));
        assert!(!sandbox.project().join("ran").exists());
    }
}

#[test]
fn the_user_sees_which_hook_blocked_what_and_why() {
    let sandbox = sandbox();
    install(&sandbox, COMPLETE, COMPLETE_SCRIPT);
    let model = sandbox.script(&bash("touch ran; echo rm -rf /etc", ""));
    let output = sandbox.run(&["run", "--model", &model, "Tidy up."]).expect_code(0);
    let line = "✗ blocked by hook block-dangerous-commands at before_tool: Dangerous command blocked: rm -rf / would destroy the system";
    assert!(output.stderr.contains(line), "{output}");
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

/// Patterns 1 and 3: their scripts look at nothing, so the matcher alone decides.
#[test]
fn blocking_scripts_block_what_their_matchers_match() {
    for (front, message, blocked, passes) in [
        (
            INTERCEPTION,
            "Dangerous command blocked: rm -rf / would destroy the system",
            "echo rm -rf /",
            "echo rm -r",
        ),
        (
            DEPLOYMENT,
            "This operation affects production environment and is not allowed",
            "echo kubectl apply -n production",
            "echo deploy to staging",
        ),
    ] {
        let sandbox = sandbox();
        install(&sandbox, front, &format!("echo \"{message}\" >&2\nexit 2\n"));
        let (lines, _) = headless(&sandbox, &bash(blocked, &format!("contains: [\"{message}\"]")));
        assert_eq!(of_kind(&lines, "tool-result")[0]["result"]["metadataType"], "blocked");
        let (lines, code) = headless(&sandbox, &bash(passes, &format!("lacks: [\"{message}\"]")));
        assert_eq!((code, of_kind(&lines, "hook").len()), (0, 0));
    }
}

/// Pattern 2: the formatter is not waited for while the agent works, and is waited for before the process ends.
#[test]
fn an_asynchronous_formatter_delays_nothing_and_is_drained() {
    let sandbox = sandbox();
    // It ends only after the model's next tool call, which would never come if anybody waited for it.
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

/// Pattern 4.
#[test]
fn an_asynchronous_hook_at_the_sessions_end_is_drained_too() {
    let sandbox = sandbox();
    install(&sandbox, AUDIT, "#!/bin/sh\ncat > audit\n");
    headless(&sandbox, "turns: [{text: ok}]");
    let payload: Value = serde_json::from_str(&sandbox.read("audit")).unwrap();
    assert_eq!(
        (&payload["event_type"], &payload["exit_reason"]),
        (&json!("session_end"), &json!("done"))
    );
}

/// Pattern 5: `npm test` fails until the agent has done something about it.
#[test]
fn a_quality_gate_continues_the_agent_until_it_passes() {
    let sandbox = sandbox();
    install(&sandbox, QUALITY, QUALITY_SCRIPT);
    program(&sandbox, "npm", "#!/bin/sh\necho '1 test'\ntest -e tests-pass\n");
    program(&sandbox, "black", "#!/bin/sh\ntest -e formatted\n");
    let model = sandbox.script(
        "turns: [{text: Done.}, \
                 {tool_calls: [{name: bash, input: {command: touch tests-pass}}], expect: {contains: [Tests must pass before completing]}}, \
                 {text: Done again.}, \
                 {tool_calls: [{name: bash, input: {command: touch formatted}}], expect: {contains: [\"Code is not formatted. Run 'black .' first\"]}}, \
                 {text: Finished.}]",
    );
    let bin = sandbox.root().join("bin");
    let line = format!("PATH='{}':$PATH tenter run --model '{model}' 'Write it.'", bin.display());
    let output = sandbox.shell(&line).expect_code(0);
    assert!(output.stdout.contains("\nFinished.\n"), "{output}");
    let runs = super::records(&sandbox);
    let runs: Vec<&Value> = runs.iter().filter(|record| record["kind"] == "run").collect();
    let decided: Vec<&Value> = runs.iter().map(|run| &run["decision"]).collect();
    assert_eq!(decided, ["deny", "deny", "none"]);
    assert_eq!(
        runs[2]["notes"],
        json!(["printed: 1 test"]),
        "text on stdout is kept and decides nothing"
    );
}

fn program(sandbox: &Sandbox, name: &str, script: &str) {
    let path = sandbox.root().join("bin").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, script).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

/// Section 2.3.
#[test]
fn a_decision_on_stdout_is_recorded_with_its_log() {
    let sandbox = sandbox();
    let script = "# Return decision via stdout JSON\necho '{\"decision\": \"allow\", \"log\": \"Command validated\"}'\nexit 0\n";
    install(&sandbox, SYNC, script);
    let (lines, _) = headless(&sandbox, &bash("touch ran", "lacks: [Command validated]"));
    let run = runs(&lines, "security-check")[0];
    assert_eq!((&run["decision"], &run["notes"]), (&json!("allow"), &json!(["Command validated"])));
    assert!(sandbox.project().join("ran").exists());
}

/// Section 10.1: a directory without a script is a hook that fires nothing, and every listing says so.
#[test]
fn the_directories_of_the_specification_are_found() {
    let sandbox = sandbox();
    install(&sandbox, COMPLETE, COMPLETE_SCRIPT);
    for (path, name) in [
        (sandbox.home().join(DIRECTORY), "notify-slack"),
        (sandbox.project().join(".agents/hooks"), "project-specific"),
    ] {
        let directory = path.join(name);
        fs::create_dir_all(&directory).unwrap();
        let front = format!("---\nname: {name}\ndescription: d\ntrigger: session_end\n---\n");
        fs::write(directory.join("HOOK.md"), front).unwrap();
    }
    let listed = sandbox.run(&["hooks", "list", "--json"]).expect_code(0).json();
    let pairs: Vec<(&Value, &Value)> =
        listed.as_array().unwrap().iter().map(|hook| (&hook["name"], &hook["layer"])).collect();
    let expected = [
        (&json!("project-specific"), &json!("project")),
        (&json!("block-dangerous-commands"), &json!("user")),
        (&json!("notify-slack"), &json!("user")),
        (&json!("builtin:compact-trigger"), &json!("builtin")),
    ];
    assert_eq!(pairs.len(), expected.len());
    for pair in expected {
        assert!(pairs.contains(&pair), "{pair:?} is not in {pairs:?}");
    }
}
