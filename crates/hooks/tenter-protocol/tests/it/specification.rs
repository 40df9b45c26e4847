//! The specification's own examples, verbatim, and the front matter cases of the reference validator.

use std::path::Path;

use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format::{properties, read};
use tenter_protocol::manifest::{Manifest, MatcherText};
use tenter_protocol::runtime::{Runtime, Service};
use tenter_protocol::{Diagnostic, json};

use crate::manifests::CHECKS;

/// Every front matter of the specification, with its heading.
const EXAMPLES: [(&str, &str); 10] = [
    (
        "3.1 Sync Mode (Default)",
        r"---
name: security-check
trigger: before_tool
async: false # default, optional
---
",
    ),
    (
        "3.2 Async Mode",
        r"---
name: auto-format
trigger: after_tool
async: true
---
",
    ),
    (
        "4.1 Matcher Configuration",
        r#"---
name: block-dangerous-commands
trigger: before_tool
matcher:
  tool: "Shell" # Tool name regex
  pattern: "rm -rf /|mkfs|>:/dev/sda" # Parameter content regex
---
"#,
    ),
    (
        "5.5 Stop Event (Quality Gate)",
        r"---
name: enforce-tests
description: Ensure all tests pass before completing
trigger: before_stop
timeout: 60000
async: false
priority: 999
---
",
    ),
    (
        "Pattern 1: Dangerous Operation Interception (Sync + Block)",
        r#"---
name: block-dangerous-commands
description: Blocks dangerous system commands
trigger: before_tool
matcher:
  tool: Shell
  pattern: "rm -rf /|mkfs|dd if=/dev/zero"
timeout: 5000
async: false
priority: 999
---
"#,
    ),
    (
        "Pattern 2: Auto-formatting (Async)",
        r#"---
name: auto-format-python
description: Auto-format Python files after write
trigger: after_tool
matcher:
  tool: WriteFile
  pattern: "\.py$"
timeout: 30000
async: true
---
"#,
    ),
    (
        "Pattern 3: Sensitive Operation Block (Sync)",
        r#"---
name: block-prod-deploy
description: Block production deployment operations
trigger: before_tool
matcher:
  tool: Shell
  pattern: "deploy.*prod|kubectl.*production"
timeout: 60000
async: false
---
"#,
    ),
    (
        "Pattern 4: Session Audit Log (Async)",
        r"---
name: audit-log
description: Log all session activities
trigger: session_end
async: true
---
",
    ),
    (
        "Pattern 5: Quality Gate (Sync + before_stop)",
        r"---
name: enforce-test-coverage
description: Ensure tests pass before allowing completion
trigger: before_stop
timeout: 120000
async: false
priority: 999
---
",
    ),
    (
        "10.2 HOOK.md Example",
        r#"---
name: block-dangerous-commands
description: Blocks dangerous shell commands that could destroy data
trigger: before_tool
matcher:
  tool: Shell
  pattern: "rm -rf /|mkfs|dd if=/dev/zero|>:/dev/sda"
timeout: 5000
async: false
priority: 999
---
"#,
    ),
];

/// The matchers under 4.4.
const MATCHERS: [&str; 4] = [
    r#"matcher:
  tool: "Shell"
"#,
    r#"matcher:
  tool: "WriteFile"
  pattern: "\.(py|js|ts)$"
"#,
    r#"matcher:
  tool: "Shell"
  pattern: "(rm -rf|mkfs|dd if=/dev/zero)"
"#,
    r#"matcher:
  pattern: "/etc/passwd|/var/www"
"#,
];

fn read_as(
    directory: &str,
    text: &str,
    strictness: Strictness,
) -> (Option<Manifest>, Vec<Diagnostic>) {
    read(&Path::new("/hooks").join(directory).join("HOOK.md"), text.as_bytes(), strictness, CHECKS)
}

fn ids(findings: &[Diagnostic]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.id).collect()
}

/// Returns the directory name that an example needs.
fn directory(text: &str) -> &str {
    text.lines().find_map(|line| line.strip_prefix("name: ")).unwrap()
}

#[test]
fn every_example_works_at_run_time() {
    for (heading, text) in EXAMPLES {
        let (manifest, findings) = read_as(directory(text), text, Strictness::Tolerant);
        assert!(manifest.is_some(), "{heading}: {findings:?}");
    }
}

#[test]
fn complete_examples_are_valid_and_shortened_ones_lack_a_description() {
    for (heading, text) in EXAMPLES {
        let mut codes = ids(&read_as(directory(text), text, Strictness::Strict).1);
        // Backslashes in the examples are kept, with a warning.
        codes.retain(|id| *id != "manifest-escape");
        let is_short = !text.contains("\ndescription:");
        let expected: &[&str] = if is_short { &["manifest-description"] } else { &[] };
        assert_eq!(codes, expected, "{heading}");
    }
}

#[test]
fn matchers_are_read_as_written() {
    let expected = [
        (Some("Shell"), None),
        (Some("WriteFile"), Some(r"\.(py|js|ts)$")),
        (Some("Shell"), Some("(rm -rf|mkfs|dd if=/dev/zero)")),
        (None, Some("/etc/passwd|/var/www")),
    ];
    for (text, (tool, pattern)) in MATCHERS.into_iter().zip(expected) {
        let text = format!("---\nname: a\ndescription: b\ntrigger: before_tool\n{text}---\n");
        let manifest = read_as("a", &text, Strictness::Strict).0.unwrap();
        let to_string = |text: Option<&str>| text.map(str::to_owned);
        assert_eq!(
            manifest.matcher,
            MatcherText { tool: to_string(tool), pattern: to_string(pattern) }
        );
    }
}

#[test]
fn properties_have_the_order_and_defaults_of_the_reference() {
    let text = "---\ntrigger: session_end\ndescription: b\nname: a\n---\n";
    let manifest = read_as("a", text, Strictness::Strict).0.unwrap();
    assert_eq!(
        json::to_string(&properties(&manifest)),
        r#"{"name": "a", "description": "b", "trigger": "session_end", "timeout": 30000, "async": false, "priority": 100}"#
    );
    let (_, text) = EXAMPLES.into_iter().next_back().unwrap();
    let manifest = read_as(directory(text), text, Strictness::Strict).0.unwrap();
    assert_eq!(
        json::to_string(&properties(&manifest)),
        concat!(
            r#"{"name": "block-dangerous-commands", "#,
            r#""description": "Blocks dangerous shell commands that could destroy data", "#,
            r#""trigger": "before_tool", "timeout": 5000, "async": false, "priority": 999, "#,
            r#""matcher": {"tool": "Shell", "pattern": "rm -rf /|mkfs|dd if=/dev/zero|>:/dev/sda"}}"#
        )
    );
}

#[test]
fn agrees_with_the_reference_validator() {
    for (directory, name, more, expected) in [
        ("my-hook", "my-hook", "", &[][..]),
        (
            "my-hook",
            "my-hook",
            "matcher:\n  tool: Shell\n  pattern: rm\ntimeout: 5000\nasync: true\npriority: 1\nmetadata:\n  author: x\n",
            &["manifest-async-cannot-block"],
        ),
        ("MyHook", "MyHook", "", &["manifest-name"]),
        (&"a".repeat(70), &"a".repeat(70), "", &["manifest-name"]),
        ("-my-hook", "-my-hook", "", &["manifest-name"]),
        ("my--hook", "my--hook", "", &["manifest-name"]),
        ("my_hook", "my_hook", "", &["manifest-name"]),
        ("wrong", "right", "", &["manifest-folder-name"]),
        ("my-hook", "my-hook", "unknown: x\n", &["manifest-unknown-key"]),
        ("my-hook", "my-hook", "timeout: 999999\n", &["manifest-timeout"]),
        ("my-hook", "my-hook", "priority: 2000\n", &["manifest-priority"]),
        ("my-hook", "my-hook", "matcher:\n  tool: \"[invalid(\"\n", &["manifest-pattern"]),
        ("技能", "技能", "", &[]),
        ("café", "cafe\u{301}", "", &[]),
        ("cafe\u{301}", "café", "", &[]),
        // Edge cases without a test in the reference.
        ("my-hook", "my-hook", "timeout: 5.5\n", &["manifest-timeout"]),
        ("my-hook", "my-hook", "timeout: 100\npriority: 1000\n", &[]),
        ("my-hook", "my-hook", "timeout: 600000\npriority: 0\n", &[]),
        ("my-hook", "my-hook", "matcher:\n", &["manifest-matcher"]),
        (
            "my-hook",
            "my-hook",
            "async: true\nasync: true\n",
            &["manifest-duplicate-key", "manifest-async-cannot-block"],
        ),
    ] {
        let text =
            format!("---\nname: {name}\ndescription: A hook\ntrigger: before_tool\n{more}---\n");
        let mut codes = ids(&read_as(directory, &text, Strictness::Strict).1);
        codes.sort_by_key(|id| expected.iter().position(|one| one == id));
        assert_eq!(codes, expected, "{text}");
    }
}

#[test]
fn a_path_without_a_directory_is_not_compared() {
    let text = "---\nname: a\ndescription: b\ntrigger: session_end\n---\n";
    let (manifest, findings) =
        read(Path::new("HOOK.md"), text.as_bytes(), Strictness::Strict, CHECKS);
    assert!(manifest.is_some(), "{findings:?}");
}

#[test]
fn extensions_are_read_from_metadata() {
    let read = |lines: &str| {
        let text =
            format!("---\nname: a\ndescription: b\ntrigger: before_stop\nmetadata:\n{lines}---\n");
        read_as("a", &text, Strictness::Strict).0.unwrap().extensions
    };
    let all = read(
        "  fail: closed\n  protected: true\n  workdir: hook\n  confine: pure\n  env: [A, B_C]\n  payload: light\n",
    );
    assert_eq!(all.fail_closed, Some(true));
    assert!(all.is_pure && all.protected && all.starts_in_own_directory && all.light_payload);
    assert_eq!(all.env, ["A", "B_C"]);
    let help_names =
        read("  fail: open\n  protected: false\n  workdir: project\n  env: []\n  payload: full\n");
    assert_eq!(help_names.fail_closed, Some(false));
    let defaults = read("  author: ada\n");
    assert_eq!(help_names.env, defaults.env);
    let runtime = read("  runtime: serve-only\n  services: [ask, state, ask]\n");
    assert_eq!(runtime.runtime, Some(Runtime::ServeOnly));
    assert_eq!(runtime.services, [Service::Ask, Service::State]);
    assert_eq!(defaults, tenter_protocol::manifest::Extensions::default());
}

#[test]
fn a_runtime_that_cannot_be_and_unknown_services_are_errors() {
    let read = |lines: &str| {
        let text =
            format!("---\nname: a\ndescription: b\ntrigger: before_tool\nmetadata:\n{lines}---\n");
        let (manifest, diagnostics) = read_as("a", &text, Strictness::Tolerant);
        let texts = diagnostics.iter().map(|one| format!("{} {:?}", one.message, one.help));
        (manifest.is_some(), texts.collect::<Vec<_>>().join("; "))
    };
    for (lines, is_read, expected) in [
        ("  runtime: server\n", false, "server"),
        ("  runtime: serve\n  dialect: claude-code\n", false, "cannot be combined with `dialect`"),
        (
            "  runtime: serve\n  action: deny\n  reason: no\n",
            false,
            "cannot be combined with `action`",
        ),
        ("  runtime: serve\n  services: [histroy]\n", false, "did you mean `history`?"),
        (
            "  runtime: serve\n  services: [fly]\n",
            false,
            "`history`, `model`, `ask`, `state` or `notify`",
        ),
        ("  runtime: serve\n  services: history\n", false, "a list of"),
        ("  services: [state]\n", true, "has no effect without `runtime`"),
        ("  runtime: serve\n  services: []\n", true, ""),
        ("  runtme: serve\n", true, "did you mean `runtime`?"),
    ] {
        let (was_read, texts) = read(lines);
        assert!(was_read == is_read && texts.contains(expected), "{lines}: {was_read} {texts}");
    }
}

#[test]
fn further_triggers_are_read_in_any_spelling_each_event_once() {
    let text = "---\nname: a\ndescription: b\ntrigger: after_tool\nmetadata:\n  triggers: [post-tool-call-failure, after_tool, after_tool_failure]\n---\n";
    let manifest = read_as("a", text, Strictness::Strict).0.unwrap();
    let spellings: Vec<&str> =
        manifest.subscriptions().iter().map(|subscription| subscription.spelling).collect();
    assert_eq!(spellings, ["after_tool", "post-tool-call-failure"]);
}
