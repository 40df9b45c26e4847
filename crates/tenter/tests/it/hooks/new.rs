//! `tenter hooks new`: which hook it creates for a name and options, and where.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_protocol::lifecycle::{Lifecycle, TABLE, executable_spellings};
use tenter_testkit::{Sandbox, assert_contains, needs};

use crate::sandbox;

fn hooks(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".agents/hooks")
}

fn interpreter(language: &str) -> &str {
    if language == "python" { "python3" } else { language }
}

/// Runs the tests of all hooks.
fn every_test_passes(sandbox: &Sandbox, count: usize) {
    let output = sandbox.run("hooks test").expect_code(0);
    assert_eq!(sandbox.run("hooks test --all").expect_code(0).stdout, output.stdout);
    assert!(output.stdout.ends_with(&format!("{count} passed, 0 failed\n")), "{output}");
}

/// Trust is recorded as JSON, which is UTF-8.
#[test]
fn nothing_is_left_of_a_hook_that_cannot_be_trusted() {
    let sandbox = sandbox();
    for command in [
        "hooks new mine",
        "hooks new mine --format executable",
        "guard add secrets privilege --project",
    ] {
        let output = sandbox.shell(&format!(
            "mkdir -p $'shop\\xff/.git' && cd $'shop\\xff' && tenter {command}; echo code $?; ls -A"
        ));
        assert_contains(&output.stdout, &["is not UTF-8", "rename the directory"]);
        assert!(output.stdout.ends_with("code 1\n.git\n"), "{output}");
    }
}

#[test]
fn an_empty_hook_with_the_name_of_a_ready_made_one_says_how_to_add_that() {
    let sandbox = sandbox();
    let note = |name: &str| sandbox.run(["hooks", "new", name]).expect_code(0).stderr;
    assert!(note("privilege").contains("`tenter hooks add privilege` adds the ready-made hook"));
    assert!(!note("mine").contains("ready-made"));
}

/// Hooks in the home directory would run in no project.
#[test]
fn the_home_directory_is_no_project_unless_it_is_a_repository() {
    let sandbox = sandbox();
    for command in ["hooks new mine", "guard add secrets --project"] {
        let output = sandbox.shell(&format!("cd ~ && tenter {command}")).expect_code(1);
        assert!(output.stdout.contains("is your home directory, no project"), "{output}");
        assert!(!sandbox.home().join(".agents").exists());
    }
    let _ = sandbox.shell("cd ~ && tenter hooks new mine --user").expect_code(0);
    let _ = sandbox.shell("mkdir ~/.git && cd ~ && tenter hooks new mine").expect_code(0);
}

#[test]
fn an_empty_hook_is_valid_and_does_nothing_in_every_language() {
    for language in ["bash", "python", "node"] {
        if language != "bash" && !needs::has(interpreter(language)) {
            continue;
        }
        let sandbox = sandbox();
        // The scripts are the same for every event; the manifests and the comments are not.
        let run_in = if language == "bash" { &TABLE[..] } else { &TABLE[2..3] };
        for Lifecycle { name: event, .. } in run_in {
            let name = event.replace('_', "-");
            let args = ["hooks", "new", &name, "--event", event, "--lang", language];
            let _ = sandbox.run(args).expect_code(0);
        }
        every_test_passes(&sandbox, run_in.len());
        let run_once = if language == "bash" { executable_spellings() } else { vec!["turn_end"] };
        for event in &run_once {
            let args = ["hooks", "new", event, "--event", event, "--format", "executable"];
            let _ = sandbox.run([&args[..], &["--lang", language]].concat()).expect_code(0);
        }
        let silent = sandbox.run("hooks test turn_end --json").expect_code(0).json();
        assert_eq!(
            [&silent["event"], &silent["decision"], &silent["stdout"], &silent["stderr"]],
            ["turn_end", "none", "", ""],
            "{silent}"
        );
        let valid = sandbox.run("hooks validate --strict .agents/hooks").expect_code(0);
        let count = run_in.len() + run_once.len();
        assert_eq!(valid.stdout.lines().count(), count, "{valid}");
    }
}

#[test]
fn a_runtime_hook_comes_with_its_sdk() {
    let sandbox = sandbox();
    let languages = [("python", "python3"), ("javascript", "node")];
    let languages_here = languages.into_iter().filter(|(_, program)| needs::has(program));
    let names: Vec<&str> = languages_here.map(|(language, _)| language).collect();
    for language in &names {
        let event = ["--event", "after_tool_failure", "--lang", language, "--runtime"];
        let _ = sandbox.run([&["hooks", "new", language], &event[..]].concat()).expect_code(0);
    }
    every_test_passes(&sandbox, names.len());
    let _ = sandbox.run("hooks validate --strict .agents/hooks").expect_code(0);
    // There is none for bash, and a template has its own script.
    sandbox.fails(2, "hooks new guard --runtime", "there is no SDK for bash");
    let args = ["hooks", "new", "guard", "--runtime", "--template", "audit-log"];
    let _ = sandbox.run(args).expect_code(2);
    assert!(!hooks(&sandbox).join("guard").exists());
}

#[test]
fn a_name_without_a_template_creates_an_empty_hook() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("hooks new no-cows"), @"
    exit: 0
    --- stdout
    [ROOT]/project/.agents/hooks/no-cows
    --- stderr
    It does nothing yet. `tenter hooks new --help` lists templates.
    Test it: tenter hooks test no-cows
    After a change, test it again: you are asked whether to trust the change.
    ");
    let output = sandbox
        .play(
            "turns: [{tool_calls: [{name: bash, input: {command: rm -rf /nothing}}]}, {text: ok}]",
            &["go"],
        )
        .expect_code(0);
    assert!(!output.stderr.contains("blocked"), "{output}");
}

#[test]
fn a_name_that_matches_a_template_selects_it() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("hooks new no-force-push"), @"
    exit: 0
    --- stdout
    [ROOT]/project/.agents/hooks/no-force-push
    --- stderr
    Blocks force pushes.
    The name selected the template no-force-push; --template empty creates an empty hook.
    Test it: tenter hooks test no-force-push
    After a change, test it again: you are asked whether to trust the change.
    ");
    assert!(!hooks(&sandbox).join("no-force-push/scripts").exists(), "it has rules");
    let remainder = fs::read_dir(hooks(&sandbox)).unwrap().count();
    assert_eq!(remainder, 1, "nothing is left over");
    let output = sandbox
        .play(
            "turns: [{tool_calls: [{name: bash, input: {command: git  push  -f}}]}, {text: ok}]",
            &["go"],
        )
        .expect_code(0);
    assert!(output.stderr.contains("blocked by hook no-force-push"), "{output}");
    // Options take precedence over the template that the name selects.
    for (name, more) in [
        ("audit", ["--template", "empty"]),
        ("redact", ["--event", "after_tool"]),
        ("audit-log", ["--format", "manifest"]),
    ] {
        let _ = sandbox.run([&["hooks", "new", name], &more[..]].concat()).expect_code(0);
        let manifest = sandbox.read(&format!(".agents/hooks/{name}/HOOK.md"));
        assert!(manifest.contains("description: Does nothing yet."), "{manifest}");
    }
}

#[test]
fn a_template_creates_a_manifest_hook_for_its_event() {
    let sandbox = sandbox();
    for (more, expected) in [
        (
            ["--event", "before_stop"],
            "the template audit-log is for after_tool, not for before_stop",
        ),
        (["--format", "executable"], "templates are manifest hooks"),
        (["--action", "deny"], "cannot be used with"),
    ] {
        let args = [&["hooks", "new", "x", "--template", "audit-log"], &more[..]].concat();
        sandbox.fails(2, &args, expected);
    }
    let args = ["hooks", "new", "no-force-push", "--lang", "python"];
    sandbox.fails(2, args, "the template no-force-push has rules and no script");
    sandbox.fails(2, "hooks new x --template no-cows", "possible values: no-force-push, ");
    assert!(!hooks(&sandbox).exists());
    sandbox.prints("hooks new --help", "redact-secrets");
}

#[test]
fn a_project_hook_is_trusted_as_written_and_a_change_is_not() {
    let sandbox = sandbox();
    for (name, format, script) in
        [("one", "executable", "one"), ("two", "manifest", "two/scripts/run.sh")]
    {
        let _ = sandbox.run(["hooks", "new", name, "--format", format]).expect_code(0);
        assert_eq!(sandbox.run(["hooks", "test", name]).code, Some(0));
        fs::write(
            hooks(&sandbox).join(script),
            "#!/bin/sh\n[ \"$1\" = hook ] && echo agent_stop\nexit 0\n",
        )
        .unwrap();
        assert_eq!(sandbox.run(["hooks", "test", name]).code, Some(4), "{name}");
    }
    let list = sandbox.run("trust --list --json").expect_code(0).json();
    assert_eq!(list[0]["events"], json!(["before_tool_call"]));
}

#[test]
fn a_user_hook_applies_to_every_project_and_needs_no_trust() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("hooks new guard --user --event pre-agent-turn --format executable"), @"
    exit: 0
    --- stdout
    [ROOT]/home/.config/agents/hooks/guard
    --- stderr
    It does nothing yet. `tenter hooks new --help` lists templates.
    Test it: tenter hooks test guard
    ");
    let list = sandbox.run("hooks list --json").expect_code(0).json();
    assert_eq!(
        [&list[0]["layer"], &list[0]["trust"], &list[0]["event"]],
        ["user", "not needed", "before_agent"]
    );
    let shadowing = sandbox.run("hooks new guard --format executable").expect_code(0);
    assert!(
        shadowing.stderr.contains("It does not run yet: it would shadow your own"),
        "{shadowing}"
    );
    assert_snapshot!(sandbox.run("hooks new guard --user --force --format executable"), @"
    exit: 0
    --- stdout
    [ROOT]/home/.config/agents/hooks/guard
    --- stderr
    It does nothing yet. `tenter hooks new --help` lists templates.
    Test it: tenter hooks test guard
    ");
}

#[test]
fn user_hooks_are_in_the_configured_directory() {
    let sandbox = sandbox();
    let config = sandbox.root().join("config");
    let vars = [("XDG_CONFIG_HOME", config.to_str().unwrap())];
    let _ = sandbox.run_with_env(&vars, "hooks new guard --user").expect_code(0);
    assert!(config.join("agents/hooks/guard/HOOK.md").exists());
}

#[test]
fn an_executable_only_event_name_creates_an_executable() {
    let sandbox = sandbox();
    let is_file = |name: &str, args: &[&str]| {
        let _ = sandbox.run([&["hooks", "new", name], args].concat()).expect_code(0);
        hooks(&sandbox).join(name).is_file()
    };
    assert!(is_file("a", &["--event", "before_tool_call"]));
    assert!(!is_file("b", &["--event", "before_tool"]));
    assert!(!is_file("c", &["--event", "after_turn"]), "both have this word");
    assert!(!is_file("d", &["--event", "agent_stop", "--format", "manifest"]));
    assert!(is_file("e", &["--event", "before_stop", "--format", "executable"]));
}

#[test]
fn an_existing_hook_is_replaced_only_with_force() {
    for format in ["executable", "manifest"] {
        let sandbox = sandbox();
        let mine = if format == "manifest" { "guard/HOOK.md" } else { "guard" };
        sandbox.write(&format!(".agents/hooks/{mine}"), "mine");
        let output = sandbox.run(["hooks", "new", "guard", "--format", format]).expect_code(1);
        assert!(
            output.stderr.contains(
                "already exists\n  help: choose another name, or replace it with --force"
            ),
            "{output}"
        );
        assert_eq!(sandbox.read(&format!(".agents/hooks/{mine}")), "mine");
        let _ =
            sandbox.run(["hooks", "new", "guard", "--force", "--format", format]).expect_code(0);
        assert_eq!(sandbox.run("hooks test guard").code, Some(0));
        assert_eq!(fs::read_dir(hooks(&sandbox)).unwrap().count(), 1);
    }
}

/// The unit tests of names and events have the others.
#[test]
fn invalid_names_and_events_are_rejected_before_anything_is_written() {
    let sandbox = sandbox();
    for name in ["../up", "a\nb"] {
        let output = sandbox.run(["hooks", "new", name, "--format", "executable"]).expect_code(2);
        assert!(output.stderr.contains("a hook cannot have the name"), "{output}");
    }
    assert_snapshot!(sandbox.run("hooks new old.disable --format executable"), @r#"
    exit: 2
    --- stderr
    error: a hook cannot have the name "old.disable": it ends in .disable: a hook of this name is disabled
    "#);
    assert_snapshot!(sandbox.run("hooks new guard --event session_start --format executable"), @"
    exit: 2
    --- stderr
    error: executable hooks do not have the event session_start
      help: omit `--format executable`, or choose one of user_message_send, before_tool_call, after_tool_call, after_turn, turn_end, agent_stop
    ");
    assert_snapshot!(sandbox.run("hooks new No_Sudo"), @r#"
    exit: 2
    --- stderr
    error: a manifest hook cannot have the name "No_Sudo": the name contains upper-case letters
      help: for example `no-sudo`
    "#);
    assert_eq!(sandbox.run("hooks new -- -x").code, Some(2));
    assert!(!sandbox.project().join(".agents").exists());
}

#[test]
fn a_symlink_cannot_place_a_new_hook_outside_the_project() {
    for link in [".agents", ".agents/hooks"] {
        for format in ["manifest", "executable"] {
            let sandbox = sandbox();
            let outside = sandbox.root().join("outside");
            fs::create_dir_all(&outside).unwrap();
            let path = sandbox.project().join(link);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(&outside, &path).unwrap();
            let output = sandbox.run(["hooks", "new", "x", "--format", format]).expect_code(1);
            assert!(output.stderr.contains("leads out of the project"), "{output}");
            assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{link} {format}");
            // A dangling symlink is not followed either.
            fs::remove_dir(&outside).unwrap();
            let _ = sandbox.run(["hooks", "new", "x", "--format", format]).expect_code(1);
            assert!(!outside.exists(), "{link} {format}");
        }
    }
    let sandbox = sandbox();
    fs::create_dir(sandbox.project().join("shared")).unwrap();
    symlink("shared", sandbox.project().join(".agents")).unwrap();
    let _ = sandbox.run("hooks new x").expect_code(0);
    assert!(sandbox.project().join("shared/hooks/x/HOOK.md").exists());
}

#[test]
fn a_changed_hook_is_tested_in_one_step_with_trust_that_covers_no_other_hook() {
    let sandbox = sandbox();
    for name in ["guard", "other"] {
        let _ = sandbox.run(["hooks", "new", name]).expect_code(0);
        let script = format!(".agents/hooks/{name}/scripts/run.sh");
        sandbox.write(&script, "#!/bin/sh\nexit 0\n# changed\n");
    }
    let _ = sandbox.run("hooks test guard").expect_code(4);
    assert_snapshot!(sandbox.run("hooks test guard --trust"), @"
    exit: 0
    --- stdout
    pass tests/passes.json  The hook does nothing yet.
    1 passed, 0 failed
    --- stderr
    Trusted: guard.
    ");
    assert_eq!(sandbox.run("hooks test guard").code, Some(0), "it stays trusted");
    assert_eq!(sandbox.run("hooks test other").code, Some(4));
}

#[test]
fn at_a_terminal_a_test_asks_whether_to_trust_the_change() {
    let sandbox = sandbox();
    let _ = sandbox.run("hooks new guard").expect_code(0);
    let change = |text: &str| {
        sandbox
            .write(".agents/hooks/guard/scripts/run.sh", format!("#!/bin/sh\nexit 0\n# {text}\n"))
    };
    change("one");
    let test = || sandbox.at_terminal("hooks test guard");
    let mut terminal = test();
    terminal.answer("[q] quit: ", "t");
    sandbox.finish_pty(terminal).prints("1 passed, 0 failed");
    change("two");
    let mut terminal = test();
    terminal.answer("[q] quit: ", "q");
    assert_eq!(sandbox.finish_pty(terminal).code, Some(4));
}

#[test]
fn a_test_with_json_reports_trust_on_stderr_only() {
    let sandbox = sandbox();
    let _ = sandbox.run("hooks new guard --format executable").expect_code(0);
    sandbox
        .write(".agents/hooks/guard", "#!/bin/sh\n[ \"$1\" = hook ] && echo agent_stop\nexit 0\n");
    let output = sandbox.run("hooks test guard --trust --json").expect_code(0);
    let report: Value = output.json();
    assert_eq!(report["event"], "agent_stop");
    assert_eq!(output.stderr, "Trusted: guard.\n");
}
