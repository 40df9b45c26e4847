//! Listing, looking at, and reading manifest hooks.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use super::{SILENT, manifest, project_hooks, user_hooks};
use crate::sandbox;

const FULL: &str = "trigger: before_tool\nmatcher: {tool: Shell, pattern: 'a<b & \"c\"'}\ntimeout: 5000\npriority: 999\nasync: true\nmetadata: {workdir: hook, team: \"ops\"}";

#[test]
fn properties_are_in_reference_order_with_defaults() {
    let sandbox = sandbox();
    manifest(
        &project_hooks(&sandbox),
        "guard",
        "trigger: pre-tool-call\nmatcher: {tool: Shell}",
        "",
    );
    assert_snapshot!(sandbox.run("hooks read-properties .agents/hooks/guard"), @r#"
    exit: 0
    --- stdout
    {
      "name": "guard",
      "description": "Test.",
      "trigger": "pre-tool-call",
      "timeout": 30000,
      "async": false,
      "priority": 100,
      "matcher": {
        "tool": "Shell"
      }
    }
    "#);
    manifest(&project_hooks(&sandbox), "full", FULL, "");
    let full = sandbox.run("hooks read-properties .agents/hooks/full/HOOK.md").json();
    assert_eq!(full["metadata"], json!({"workdir": "hook", "team": "ops"}));
    assert_eq!((&full["timeout"], &full["async"]), (&json!(5000), &json!(true)));
}

#[test]
fn an_unreadable_manifest_has_no_properties() {
    let sandbox = sandbox();
    manifest(&project_hooks(&sandbox), "bad", "trigger: nonsense", "");
    let bad = sandbox.run("hooks read-properties .agents/hooks/bad").expect_code(1);
    assert!(bad.stdout.is_empty() && bad.stderr.contains("nonsense"), "{bad}");
    sandbox.fails(1, "hooks read-properties .agents", "has no HOOK.md");
    assert_eq!(sandbox.run("hooks read-properties missing").code, Some(2));
}

#[test]
fn discovery_finds_every_directory_without_opening_a_manifest() {
    let sandbox = sandbox();
    manifest(&project_hooks(&sandbox), "guard", "trigger: nonsense", "");
    manifest(&user_hooks(&sandbox), "audit", "trigger: session_end", "");
    manifest(
        &sandbox.home().join(".kodelet/plugins/acme@tools/hooks"),
        "lint",
        "trigger: after_tool",
        "",
    );
    manifest(&project_hooks(&sandbox), "old.disable", "trigger: after_tool", "");
    sandbox.hook("program", SILENT);
    assert_snapshot!(sandbox.run("hooks discover"), @"
    exit: 0
    --- stdout
    User-level hooks ([ROOT]/home/.kodelet/hooks):
      (none)
    User-level hooks ([ROOT]/home/.config/agents/hooks):
      - audit
    User-level hooks ([ROOT]/home/.kodelet/plugins/acme@tools/hooks):
      - lint
    Project-level hooks ([ROOT]/project/.kodelet/hooks):
      (none)
    Project-level hooks ([ROOT]/project/.agents/hooks):
      - guard
    ");
    let directories = sandbox.run("hooks discover --json").expect_code(0).json();
    let user = [
        user_hooks(&sandbox).join("audit"),
        sandbox.home().join(".kodelet/plugins/acme@tools/hooks/lint"),
    ];
    assert_eq!(
        directories,
        json!({"user": user, "project": [project_hooks(&sandbox).join("guard")]})
    );
}

#[test]
fn a_prompt_has_one_line_per_tag_and_escapes_text() {
    let sandbox = sandbox();
    let hooks = sandbox.project().join("a&b");
    manifest(&hooks, "full", FULL, "");
    manifest(&hooks, "plain", "trigger: session_end", "");
    assert_snapshot!(sandbox.run("hooks to-prompt a&b/full a&b/plain/HOOK.md"), @"
    exit: 0
    --- stdout
    <available_hooks>
    <hook>
    <name>
    full
    </name>
    <description>
    Test.
    </description>
    <trigger>
    before_tool
    </trigger>
    <location>
    [ROOT]/project/a&amp;b/full/HOOK.md
    </location>
    <matcher>
    <tool>
    Shell
    </tool>
    <pattern>
    a&lt;b &amp; &quot;c&quot;
    </pattern>
    </matcher>
    </hook>
    <hook>
    <name>
    plain
    </name>
    <description>
    Test.
    </description>
    <trigger>
    session_end
    </trigger>
    <location>
    [ROOT]/project/a&amp;b/plain/HOOK.md
    </location>
    </hook>
    </available_hooks>
    --- stderr
    warning: a&b/full/HOOK.md:8:8: an asynchronous hook cannot block at `before_tool`
      8 | async: true
                 ^^^^
      help: write `async: false` if it is meant to block
    ");
    manifest(&hooks, "bad", "trigger: nonsense", "");
    let bad = sandbox.run("hooks to-prompt a&b/plain a&b/bad").expect_code(1);
    assert!(bad.stdout.is_empty(), "half a block would pass for the whole: {bad}");
    assert_eq!(sandbox.run("hooks to-prompt").code, Some(2));
}

#[test]
fn both_kinds_are_in_one_list_and_directories_end_in_a_slash() {
    let sandbox = sandbox();
    let hooks = user_hooks(&sandbox);
    sandbox.user_hook("program", SILENT);
    manifest(&hooks, "early", "trigger: before_tool\npriority: 900", "");
    manifest(&hooks, "late", "trigger: before_tool\npriority: 10", "");
    let bare = manifest(&hooks, "no-script", "trigger: before_tool", "");
    fs::remove_dir_all(bare.join("scripts")).unwrap();
    manifest(&hooks, "off", "trigger: before_tool", "");
    fs::write(hooks.join("hooks.toml"), "[[hooks.disable]]\nname = \"off\"\n").unwrap();
    manifest(&project_hooks(&sandbox), "foreign", "trigger: before_tool", "touch ran");
    manifest(&hooks, "elsewhere", "trigger: session_end", "");
    assert_snapshot!(sandbox.run("hooks list --event before_tool"), @"
    exit: 0
    --- stdout
    NAME       EVENT        LAYER    STATUS        PATH
    early      before_tool  user     active        ~/.config/agents/hooks/early/
    program    before_tool  user     active        ~/.kodelet/hooks/program
    late       before_tool  user     active        ~/.config/agents/hooks/late/
    foreign    before_tool  project  untrusted     .agents/hooks/foreign/
      it is not trusted: look at it and run `tenter trust`
    no-script  before_tool  user     no-script     ~/.config/agents/hooks/no-script/
      it has nothing to run: neither scripts/run nor scripts/run.sh nor scripts/run.py
    off        before_tool  user     switched-off  ~/.config/agents/hooks/off/
      it is switched off by ~/.config/agents/hooks/hooks.toml
    --- stderr
    warning: [ROOT]/home/.config/agents/hooks/no-script: the hook no-script does nothing: it has neither scripts/run nor scripts/run.sh nor scripts/run.py
    ");
    let list = sandbox.run("hooks list --json").expect_code(0).json();
    let early = &list[0];
    assert_eq!(
        [&early["name"], &early["protocol"], &early["description"]],
        ["early", "manifest", "Test."]
    );
    assert!(!sandbox.project().join("ran").exists());
}

#[test]
fn show_prints_the_manifest_the_script_and_the_text() {
    let sandbox = sandbox();
    manifest(&user_hooks(&sandbox), "guard", FULL, "exit 0");
    assert_snapshot!(sandbox.run("hooks show guard"), @r#"
    exit: 0
    --- stdout
    guard
      status    active
      event     before_tool
      layer     user
      path      ~/.config/agents/hooks/guard/
      trust     not needed
      hash      [HASH]
      limit     [N] ms
      fail      open: after a failure the agent continues, with a warning
      priority  999
      about     Test.
      tool      Shell
      pattern   a<b & "c"
      workdir   hook
      async     yes: the agent does not wait
      script    ~/.config/agents/hooks/guard/scripts/run.sh, first 20 lines:
        #!/bin/sh
        exit 0
      text      of the HOOK.md:
        # About guard
    --- stderr
    warning: [ROOT]/home/.config/agents/hooks/guard/HOOK.md:8:8: an asynchronous hook cannot block at `before_tool`
      8 | async: true
                 ^^^^
      help: write `async: false` if it is meant to block
    "#);
    let json = sandbox.run("hooks show guard --json").expect_code(0).json();
    assert_eq!(json[0]["manifest"]["matcher"]["tool"], "Shell");
    assert_eq!(json[0]["body"], "\n# About guard\n");
}

#[test]
fn a_hook_can_be_disabled_and_enabled_and_stays_trusted() {
    let sandbox = sandbox();
    let directory = manifest(&project_hooks(&sandbox), "guard", "trigger: before_tool", "");
    let _ = sandbox.run("trust --yes").expect_code(0);
    let status = || {
        let list = sandbox.run("hooks list --json").expect_code(0).json();
        list[0]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status(), "active");
    let off = sandbox.run("hooks disable guard").expect_code(0);
    assert_eq!(
        (off.stdout.trim().to_owned(), status()),
        (format!("{}.disable", directory.display()), "disabled".to_owned())
    );
    assert_snapshot!(sandbox.run("hooks disable guard"), @"
    exit: 1
    --- stderr
    error: the hook guard is disabled already
    ");
    let _ = sandbox.run("hooks enable guard").expect_code(0);
    assert_eq!(status(), "active");
    assert_snapshot!(sandbox.run("hooks enable guard"), @"
    exit: 1
    --- stderr
    error: no hook guard is disabled
    ");
    fs::create_dir(directory.with_extension("disable")).unwrap();
    assert_snapshot!(sandbox.run("hooks disable guard"), @"
    exit: 1
    --- stderr
    error: [ROOT]/project/.agents/hooks/guard cannot be renamed: entity already exists
      help: [ROOT]/project/.agents/hooks/guard.disable already exists: remove one of the two
    ");
    assert_eq!(sandbox.run("hooks enable zebra").code, Some(1));
}
