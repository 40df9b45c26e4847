//! `tenter hooks doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_contains};

use super::{SILENT, manifest, project_hooks, user_hooks};
use crate::sandbox;

fn findings(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.run("hooks doctor --json").json().as_array().unwrap().clone()
}

fn ids(sandbox: &Sandbox) -> Vec<String> {
    findings(sandbox).iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_healthy_setup_is_reported() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("hooks doctor"), @"
    exit: 0
    --- stdout
    All is well: 0 hooks are ready.
    ");
    sandbox.user_hook("program", SILENT);
    manifest(&user_hooks(&sandbox), "guard", "trigger: before_tool\nmatcher: {tool: Shell}", "");
    assert_snapshot!(sandbox.run("hooks doctor"), @"
    exit: 0
    --- stdout
    All is well: 2 hooks are ready.
    ");
    assert_eq!(sandbox.run("hooks doctor --json").expect_code(0).json(), json!([]));
}

#[test]
fn confined_servers_are_a_reason_to_say_what_this_machine_keeps() {
    let sandbox = sandbox();
    let server = "[mcp.servers.echo]\ncommand = \"cat\"\n";
    sandbox.configure(server);
    assert_eq!(ids(&sandbox), [] as [String; 0]);
    sandbox.configure(format!("{server}confine = \"standard\"\n"));
    let ids = ids(&sandbox);
    assert!(ids == ["confine-kept"] || ids == ["confine-not-kept"], "{ids:?}");
}

#[test]
fn all_problems_are_listed_with_the_worst_first() {
    let sandbox = sandbox();
    let hooks = user_hooks(&sandbox);
    let interpreted = |name: &str, line: &str| {
        let directory = manifest(&hooks, name, "trigger: before_tool", "");
        fs::write(directory.join("scripts/run.sh"), format!("{line}\n")).unwrap();
    };
    interpreted("no-such", "#!/nowhere/perl -w");
    interpreted("no-env", "#!/usr/bin/env no-such-thing");
    let bare = manifest(&hooks, "bare", "trigger: before_tool", "");
    fs::remove_dir_all(bare.join("scripts")).unwrap();
    let mode = manifest(&hooks, "mode", "trigger: before_tool", "");
    fs::set_permissions(mode.join("scripts/run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    let run = manifest(&hooks, "locked", "trigger: before_tool", "").join("scripts");
    fs::rename(run.join("run.sh"), run.join("run")).unwrap();
    fs::set_permissions(run.join("run"), fs::Permissions::from_mode(0o644)).unwrap();
    manifest(&hooks, "never", "trigger: before_tool\nmatcher: {tool: ^PowerShell$}", "");
    manifest(&hooks, "look", "trigger: before_tool\nmatcher: {pattern: \"(?=x)y\"}", "");
    manifest(&hooks, "exposed", "trigger: before_tool", "");
    fs::set_permissions(hooks.join("exposed"), fs::Permissions::from_mode(0o777)).unwrap();
    manifest(&hooks, "twice", "trigger: after_tool", "");
    manifest(&sandbox.home().join(".kodelet/hooks"), "twice", "trigger: after_tool", "");
    fs::write(hooks.join("hooks.toml"), "[[hooks.disable]]\nname = \"missing\"\n").unwrap();
    manifest(&project_hooks(&sandbox), "foreign", "trigger: before_tool", "");
    sandbox.user_hook("typo", "#!/bin/sh\necho before\n");
    sandbox.user_hook("old.disable", SILENT);
    assert_snapshot!(sandbox.run("hooks doctor"), @r#"
    exit: 1
    --- stdout
    4 errors, 6 warnings; 4 hooks are ready.
    --- stderr
    error: [ROOT]/home/.kodelet/hooks/typo: the hook typo does not run: it printed "before" instead of an event when it was asked `hook`; did you mean "before_tool_call"?
      help: fix it, or disable it by adding `.disable` to its name
    error: [ROOT]/home/.config/agents/hooks/no-env/scripts/run.sh: its interpreter no-such-thing is not installed, so it cannot run
      help: install no-such-thing, or change the script's first line
    error: [ROOT]/home/.config/agents/hooks/no-such/scripts/run.sh: its interpreter /nowhere/perl is not installed, so it cannot run
      help: install /nowhere/perl, or change the script's first line
    error: [ROOT]/home/.config/agents/hooks/locked/scripts/run: the script is not executable, and its name does not imply an interpreter
      help: chmod +x [ROOT]/home/.config/agents/hooks/locked/scripts/run
    warning: [ROOT]/home/.config/agents/hooks/exposed: this hooks directory can be changed by others: it is writable for its group or for everyone
      help: run `chmod go-w [ROOT]/home/.config/agents/hooks/exposed`
    warning: [ROOT]/home/.config/agents/hooks/bare: the hook bare does nothing: it has neither scripts/run nor scripts/run.sh nor scripts/run.py
    warning: [ROOT]/home/.config/agents/hooks/look/HOOK.md:5:20: it needs look-around, and so a slower engine, which gives up on texts over 64 KiB and on searches of more than a million steps; the hook runs then as if the text matched
      5 | matcher: {pattern: "(?=x)y"}
                             ^^^^^^^^
      help: write it without look-around if you can
    warning: [ROOT]/home/.config/agents/hooks/mode/scripts/run.sh: the script is not executable; bash runs it
      help: begin it with a #! line, and chmod +x [ROOT]/home/.config/agents/hooks/mode/scripts/run.sh
    warning: [ROOT]/project/.agents/hooks/foreign: the hook foreign is not trusted: look at it and run `tenter trust`
    warning: [ROOT]/home/.config/agents/hooks/never: the hook never does not run on any known tool: its matcher.tool matches none
      help: the tools are bash, file_read, file_write, file_edit, grep, glob, todo, subagent; their names in other agents, such as Shell and WriteFile, match too
    info: [ROOT]/home/.config/agents/hooks/twice: the hook twice does not run: [ROOT]/home/.kodelet/hooks/twice of the same name runs in its place
    info: [ROOT]/home/.config/agents/hooks/hooks.toml: no hook is named "missing"
    info: [ROOT]/home/.kodelet/hooks/old.disable: the hook old is disabled: its file's name ends in .disable
    "#);
}

#[test]
fn matchers_for_tools_of_servers_and_other_agents_are_no_warning() {
    let sandbox = sandbox();
    let hooks = user_hooks(&sandbox);
    let matchers = [
        "^(?i:web_?fetch|fetch_?(?:url|web)?)$",
        "^WebSearch$",
        "^mcp__github__",
        "mcp__.*__write",
        "^github__push$",
        "^ExitPlanMode$",
        "^run_shell_command$",
        "^Skill$",
    ];
    for (number, tool) in matchers.into_iter().enumerate() {
        let front = format!("trigger: before_tool\nmatcher: {{tool: '{tool}'}}");
        manifest(&hooks, &format!("hook-{number}"), &front, "");
    }
    assert!(ids(&sandbox).is_empty(), "{:?}", findings(&sandbox));
    manifest(&hooks, "typo", "trigger: before_tool\nmatcher: {tool: ^Shel$}", "");
    assert_eq!(ids(&sandbox), ["hook-never-matches"]);
}

/// Journals a run of `hook` as it is now.
pub(super) fn ran(sandbox: &Sandbox, hook: &str, durations: &[u64], exit: &str) {
    let list = sandbox.run("hooks list --json").json();
    let entry = list.as_array().unwrap().iter().find(|entry| entry["name"] == hook).unwrap();
    let directory = sandbox.state().join("journal");
    fs::create_dir_all(&directory).unwrap();
    let line = |duration: &u64| {
        let record = json!({"v": 1, "time": "2024-01-15T10:30:00Z", "conversation_id": "c", "event": "before_tool", "kind": "run",
            "hook": hook, "layer": "user", "hash": entry["hash"], "spelling": "before_tool", "duration_ms": duration,
            "exit": exit, "decision": "none"});
        format!("{record}\n")
    };
    fs::write(
        directory.join(format!("{hook}.jsonl")),
        durations.iter().map(line).collect::<String>(),
    )
    .unwrap();
}

#[test]
fn slow_and_timed_out_hooks_are_reported_from_the_journal() {
    let sandbox = sandbox();
    let hooks = user_hooks(&sandbox);
    for name in ["quick", "slow", "cut", "edited"] {
        manifest(&hooks, name, "trigger: before_tool", "");
    }
    manifest(&hooks, "tight", "trigger: before_tool\ntimeout: 500", "");
    manifest(&hooks, "async-check", "trigger: after_tool\nasync: true", "");
    ran(&sandbox, "quick", &[5, 9000, 7], "exit 0");
    ran(&sandbox, "slow", &[5, 2000, 3000], "exit 0");
    ran(&sandbox, "async-check", &[9000], "exit 0");
    ran(&sandbox, "cut", &[100], "timed out");
    ran(&sandbox, "tight", &[600, 700, 1], "exit 0");
    ran(&sandbox, "edited", &[9000], "exit 0");
    manifest(&hooks, "edited", "trigger: before_tool", "# now it is another one");
    let output = sandbox.run("hooks doctor").expect_code(0);
    assert_eq!(ids(&sandbox), ["hook-timed-out", "hook-slow", "hook-timeout-short"], "{output}");
    assert_contains(
        &output.stderr,
        &[
            "the hook cut timed out in 1 of 1 runs",
            "the hook slow is slow",
            "the timeout of the hook tight is 500 ms",
        ],
    );
}

#[test]
fn an_exceeded_budget_is_reported_until_the_hook_is_faster() {
    let sandbox = sandbox();
    let hooks = user_hooks(&sandbox);
    manifest(&hooks, "slow", "trigger: before_tool\nmetadata: {budget_ms: 50}", "");
    manifest(&hooks, "slower", "trigger: before_tool", "");
    manifest(&hooks, "granted", "trigger: before_tool\nmetadata: {budget_ms: 50}", "");
    let config =
        "[hooks]\nbudget_ms = 200\n[[hooks.override]]\nname = \"granted\"\nbudget_ms = 9000\n";
    sandbox.configure(config);
    ran(&sandbox, "slow", &[10, 60], "exit 0");
    ran(&sandbox, "slower", &[4000, 60], "exit 0");
    ran(&sandbox, "granted", &[800], "exit 0");
    let output = sandbox.run("hooks doctor").expect_code(0);
    assert_eq!(ids(&sandbox), ["hook-over-budget", "hook-over-budget"], "{output}");
    let slow = "the hook slow exceeds its budget of 50 ms: the p95 of its 2 runs is 60 ms";
    assert_contains(&output.stderr, &[slow, "the hook slower exceeds its budget of 200 ms"]);
    manifest(&hooks, "slow", "trigger: before_tool\nmetadata: {budget_ms: 50}", "true");
    assert_eq!(ids(&sandbox), ["hook-over-budget"]);
}
#[test]
fn settings_for_missing_hooks_and_changed_numbers_are_reported() {
    let sandbox = sandbox();
    sandbox.user_hook("guard", SILENT);
    let entry = |name: &str| format!("[[hooks.override]]\nname = {name:?}\nfail = \"closed\"\n");
    sandbox.configure(format!("[hooks]\ntimeout_ms = 5\n{}", entry("gaurd")));
    sandbox.write("tenter.toml", entry("gard"));
    let settings = "[[hooks.override]]\nname = \"guard\"\npriority = 70000\n[[hooks.disable]]\nname = \"guardd\"\n";
    fs::write(sandbox.home().join(".kodelet/hooks/hooks.toml"), settings).unwrap();
    fs::write(sandbox.home().join(".kodelet/config.yaml"), "model: x\nno_hooks: true # quiet\n")
        .unwrap();
    assert_snapshot!(sandbox.run("hooks doctor"), @r#"
    exit: 0
    --- stdout
    0 errors, 6 warnings; 1 hook is ready.
    --- stderr
    warning: [ROOT]/home/.config/tenter/config.toml: hooks.timeout_ms is 5; 100 is used
      help: write a number of milliseconds from 100 to 600000
    warning: [ROOT]/home/.kodelet/hooks/hooks.toml: priority in hooks.override of guard is 70000; 1000 is used
      help: write a number from 0 to 1000
    warning: [ROOT]/home/.kodelet/hooks/hooks.toml: no hook is named "guardd"
      help: did you mean guard?
    warning: [ROOT]/project/tenter.toml: no hook is named "gard"
      help: did you mean guard?
    warning: [ROOT]/home/.config/tenter/config.toml: no hook is named "gaurd"
      help: did you mean guard?
    warning: [ROOT]/home/.kodelet/config.yaml: `no_hooks: true` has no effect: Tenter does not read this file
      help: write `hooks.enabled = false` in [ROOT]/home/.config/tenter/config.toml, or pass --no-hooks
    "#);
}

#[test]
fn hooks_where_none_are_looked_for_are_reported() {
    let sandbox = sandbox();
    let deep = sandbox.home().join(".agents/hooks/outer");
    manifest(&deep, "inner", "trigger: before_tool", "");
    manifest(&user_hooks(&sandbox).join("submodule"), "guard", "trigger: before_tool", "");
    assert_eq!(ids(&sandbox), ["hooks-too-deep", "hooks-not-read"]);
    let output = sandbox.run("hooks doctor");
    assert_contains(
        &output.stderr,
        &[
            "hooks are one level too deep, so they do not run: guard",
            "help: link each hook into",
            "Tenter does not read this directory, so its hooks do not run: inner",
            "help: move each hook into",
        ],
    );
    assert!(!output.stdout.contains("All is well"), "{output}");
}
