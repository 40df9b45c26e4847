//! The specification's own examples, verbatim, and the front matter cases of the reference validator.

use std::path::Path;

use tenter_protocol::Diagnostic;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::Manifest;
use tenter_protocol::manifest::format::read;
use tenter_protocol::runtime::{Runtime, Service};

use crate::manifests::CHECKS;

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
fn further_triggers_are_read_in_any_spelling_each_event_once() {
    let text = "---\nname: a\ndescription: b\ntrigger: after_tool\nmetadata:\n  triggers: [post-tool-call-failure, after_tool, after_tool_failure]\n---\n";
    let manifest = read_as("a", text, Strictness::Strict).0.unwrap();
    let spellings: Vec<&str> =
        manifest.subscriptions().iter().map(|subscription| subscription.spelling).collect();
    assert_eq!(spellings, ["after_tool", "post-tool-call-failure"]);
}
