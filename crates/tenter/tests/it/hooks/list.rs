//! `tenter hooks list` and `tenter hooks show`.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_fields};

use super::SILENT;
use crate::sandbox;

/// The hook that is always listed last.
const BUILT_IN: &str = "builtin:compact-trigger";

/// Returns a project with a hook of every status.
fn every_status() -> Sandbox {
    let sandbox = sandbox();
    sandbox.hook("guard", SILENT);
    sandbox.hook("edited", SILENT);
    sandbox.hook("typo", "#!/bin/sh\necho before_tool\n");
    sandbox.write(".kodelet/hooks/notes", "no script");
    sandbox.user_hook("guard", SILENT);
    let _ = sandbox.run("trust --yes").expect_code(0);
    sandbox.hook("edited", "#!/bin/sh\ntouch ran\n");
    sandbox.hook("new", "#!/bin/sh\ntouch ran\n");
    sandbox.hook("old.disable", SILENT);
    sandbox.sh_hook("many", "after_tool_call\nagent_stop", "");
    sandbox
}

fn named<'v>(list: &'v Value, name: &str) -> Vec<&'v Value> {
    list.as_array().unwrap().iter().filter(|entry| entry["name"] == name).collect()
}

#[test]
fn paths_in_the_home_directory_begin_with_a_tilde_in_every_project_around_it() {
    let sandbox = sandbox();
    sandbox.user_hook("guard", SILENT);
    for directory in [sandbox.home(), "/".into(), sandbox.project()] {
        let list = format!("cd '{}' && tenter hooks list", directory.display());
        sandbox.shell(&list).prints(" ~/.kodelet/hooks/guard");
    }
}

#[test]
fn every_hook_is_listed_with_the_reason_if_it_does_not_run() {
    let sandbox = every_status();
    assert_snapshot!(sandbox.run("hooks list"), @r#"
    exit: 0
    --- stdout
    NAME                     EVENT                                        LAYER    STATUS          PATH
    guard                    before_tool                                  project  active          .kodelet/hooks/guard
    many                     after_tool, after_tool_failure, before_stop  user     active          ~/.kodelet/hooks/many
    edited                   -                                            project  untrusted       .kodelet/hooks/edited
      it was changed since it was trusted: look at it and run `tenter trust`
    new                      -                                            project  untrusted       .kodelet/hooks/new
      it is not trusted: look at it and run `tenter trust`
    notes                    -                                            project  not-executable  .kodelet/hooks/notes
      it is not executable: run `chmod +x` on it
    old                      -                                            project  disabled        .kodelet/hooks/old.disable
      it is disabled: its file's name ends in .disable
    typo                     -                                            project  invalid         .kodelet/hooks/typo
      it printed "before_tool" instead of an event when it was asked `hook`; did you mean "before_tool_call"?
    guard                    before_tool                                  user     shadowed        ~/.kodelet/hooks/guard
      it is shadowed by .kodelet/hooks/guard
    builtin:compact-trigger  after_turn                                   builtin  active          -
      it asks for the recipe compact when 80 % of the context window is used
    "#);
    assert!(!sandbox.project().join("ran").exists(), "listing ran a hook that is not trusted");
}

#[test]
fn the_json_list_has_every_field() {
    let sandbox = every_status();
    let list = sandbox.run("hooks list --json").expect_code(0).json();
    let guards = named(&list, "guard");
    let path = |name: &str| {
        sandbox.project().join(".kodelet/hooks").join(name).to_string_lossy().into_owned()
    };
    assert_eq!(
        *guards[0],
        json!({"name": "guard", "event": "before_tool", "events": ["before_tool"], "layer": "project",
               "path": path("guard"), "trust": "trusted", "status": "active", "active": true,
               "hash": guards[0]["hash"], "priority": 100, "timeout_ms": 30000, "fail": "open", "async": false,
               "protocol": "executable"})
    );
    assert_eq!(guards[0]["hash"].as_str().unwrap().len(), 64);
    assert_fields(guards[1], &json!({"status": "shadowed", "shadowed_by": path("guard")}));
    let many = named(&list, "many");
    assert_eq!(many[0]["event"], "after_tool, after_tool_failure, before_stop");
    assert_eq!(many[0]["events"], json!(["after_tool", "after_tool_failure", "before_stop"]));
    assert_eq!(many[0]["trust"], "not needed");
    let words: Vec<[&str; 4]> = ["edited", "new", "notes", "old", "typo"]
        .map(|name| {
            let entry = named(&list, name)[0];
            assert_eq!(entry["active"], false);
            assert!(entry["reason"].is_string() && entry["hash"].is_string(), "{entry}");
            [
                name,
                entry["status"].as_str().unwrap(),
                entry["trust"].as_str().unwrap(),
                entry["event"].as_str().unwrap(),
            ]
        })
        .to_vec();
    assert_eq!(
        words,
        [
            ["edited", "untrusted", "changed", ""],
            ["new", "untrusted", "untrusted", ""],
            ["notes", "not-executable", "untrusted", ""],
            ["old", "disabled", "untrusted", ""],
            ["typo", "invalid", "trusted", ""],
        ]
    );
}

#[test]
fn the_configuration_of_a_hook_is_listed_with_it() {
    let sandbox = sandbox();
    sandbox.user_hook("guard", SILENT);
    let strict =
        "[hooks]\ntimeout_ms = 2000\n[[hooks.override]]\nname = \"guard\"\nfail = \"closed\"\n";
    sandbox.configure(strict);
    let list = sandbox.run("hooks list --json").expect_code(0).json();
    assert_eq!((&list[0]["timeout_ms"], &list[0]["fail"]), (&json!(2000), &json!("closed")));
    sandbox.configure("[hooks]\nenabled = false\n");
    assert_snapshot!(sandbox.run("hooks list"), @"
    exit: 0
    --- stdout
    NAME                     EVENT        LAYER    STATUS  PATH
    guard                    before_tool  user     active  ~/.kodelet/hooks/guard
    builtin:compact-trigger  after_turn   builtin  active  -
      it asks for the recipe compact when 80 % of the context window is used
    --- stderr
    Hooks are disabled in [ROOT]/home/.config/tenter/config.toml (hooks.enabled = false): only built-in and managed hooks run.
    ");
}

#[test]
fn a_list_for_one_event_accepts_any_spelling_and_marks_unknowns() {
    let sandbox = every_status();
    for spelling in ["after_tool_failure", "post-tool-call", "after_tool_call"] {
        let list =
            sandbox.run(["hooks", "list", "--json", "--event", spelling]).expect_code(0).json();
        let names: Vec<&Value> =
            list.as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
        assert_eq!(names, ["many"], "{spelling}");
    }
    let list = sandbox.run("hooks list --json --event turn_end").json();
    assert_eq!((list.as_array().unwrap().len(), &list[0]["name"]), (1, &json!(BUILT_IN)));
    assert_snapshot!(sandbox.run("hooks list --event session_end"), @"
    exit: 0
    --- stderr
    No hook subscribes to session_end.
    Not listed, because their events are unknown: edited, new, notes, old, typo.
    ");
    assert_snapshot!(sandbox.run("hooks list --event befor_tool_call"), @r#"
    exit: 2
    --- stderr
    error: there is no event "befor_tool_call"
      help: did you mean before_tool_call? the events are session_start, before_agent, before_tool, after_tool, after_tool_failure, after_turn, before_stop, after_agent, subagent_start, subagent_stop, pre_compact, post_compact, session_end; executables call them user_message_send, before_tool_call, after_tool_call, after_turn, turn_end, agent_stop
    "#);
}

#[test]
fn without_hooks_the_directories_and_the_next_step_are_shown() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("hooks list"), @"
    exit: 0
    --- stdout
    NAME                     EVENT       LAYER    STATUS  PATH
    builtin:compact-trigger  after_turn  builtin  active  -
      it asks for the recipe compact when 80 % of the context window is used
    --- stderr
    There are only built-in hooks. Hooks are searched for in
      [ROOT]/project/.kodelet/hooks
      [ROOT]/project/.agents/hooks
      [ROOT]/home/.kodelet/hooks
      [ROOT]/home/.config/agents/hooks
    To create one, run `tenter hooks new NAME`.
    ");
    let list = sandbox.run("hooks list --json").expect_code(0).json();
    let built_in = json!([{
        "name": BUILT_IN, "event": "after_turn", "events": ["after_turn"], "layer": "builtin", "path": null,
        "trust": "not needed", "status": "active", "active": true, "hash": null, "priority": null, "timeout_ms": null,
        "fail": "open", "async": false, "protocol": "builtin", "threshold": 0.8,
        "description": "asks for the recipe compact when 80 % of the context window is used",
    }]);
    assert_eq!(list, built_in);
}

#[test]
fn built_in_hooks_are_listed_and_cannot_be_tested_disabled_or_replaced() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run(["hooks", "show", BUILT_IN]), @"
    exit: 0
    --- stdout
    builtin:compact-trigger
      status    active
      event     after_turn
      layer     builtin
      path      -
      about     asks for the recipe compact when 80 % of the context window is used
      order     last; a hook that acts on the history takes precedence
    ");
    let json = sandbox.run(["hooks", "show", BUILT_IN, "--json"]).expect_code(0).json();
    assert_eq!([&json[0]["script"], &json[0]["trusted"]], [&Value::Null, &Value::Null]);
    assert_snapshot!(sandbox.run(["hooks", "disable", BUILT_IN]), @"
    exit: 1
    --- stderr
    error: builtin:compact-trigger is built in and has no file
      help: turn it off with `--disable-auto-compact`, or with compact.auto = false in the configuration
    ");
    for command in ["enable", "test"] {
        sandbox.fails(1, ["hooks", command, BUILT_IN], "is built in and has no file");
    }
    let new = sandbox.run("hooks new builtin:mine --format executable");
    assert!(new.code == Some(2) && new.stderr.contains("it begins with builtin:"), "{new}");
    sandbox.user_hook(BUILT_IN, SILENT);
    assert_snapshot!(sandbox.run("hooks list"), @"
    exit: 0
    --- stdout
    NAME                     EVENT        LAYER    STATUS   PATH
    builtin:compact-trigger  before_tool  user     invalid  ~/.kodelet/hooks/builtin:compact-trigger
      it has a name that begins with builtin:, as only what is part of Tenter does
    builtin:compact-trigger  after_turn   builtin  active   -
      it asks for the recipe compact when 80 % of the context window is used
    ");
}

#[test]
fn with_compaction_off_the_built_in_hook_is_listed_as_off() {
    let sandbox = sandbox();
    sandbox.configure("[compact]\nratio = 0.625\n");
    let list = sandbox.run("hooks list --json").expect_code(0).json();
    assert_eq!((&list[0]["threshold"], &list[0]["status"]), (&json!(0.625), &json!("active")));
    sandbox.configure("[compact]\nauto = false\n");
    let event = ["--event", "after_turn"];
    let listing = sandbox.run([&["hooks", "list"][..], &event].concat()).expect_code(0);
    assert_snapshot!(listing.stdout, @"
    NAME                     EVENT       LAYER    STATUS  PATH
    builtin:compact-trigger  after_turn  builtin  off     -
      it is off: conversations are not compacted automatically
    ");
    assert_snapshot!(sandbox.run([&["hooks", "explain"][..], &event].concat()), @"
    exit: 0
    --- stdout
    after_turn
    -  builtin:compact-trigger (builtin)
       does not run: it is off: conversations are not compacted automatically
    ");
    assert_snapshot!(sandbox.run("hooks doctor"), @"
    exit: 0
    --- stdout
    All is well: 0 hooks are ready.
    --- stderr
    info: the hook builtin:compact-trigger is off: conversations are not compacted automatically
    ");
}

#[test]
fn diagnostics_without_a_row_follow_the_list() {
    let sandbox = sandbox();
    sandbox.user_hook("guard", SILENT);
    std::os::unix::fs::symlink("nowhere", sandbox.home().join(".kodelet/hooks/gone")).unwrap();
    assert_snapshot!(sandbox.run("hooks list"), @"
    exit: 0
    --- stdout
    NAME                     EVENT        LAYER    STATUS  PATH
    guard                    before_tool  user     active  ~/.kodelet/hooks/guard
    builtin:compact-trigger  after_turn   builtin  active  -
      it asks for the recipe compact when 80 % of the context window is used
    --- stderr
    error: [ROOT]/home/.kodelet/hooks/gone: this link to nowhere cannot be followed: No such file or directory (os error 2)
      help: fix the symlink or remove it; if it is a hook, that hook does not run
    ");
}

#[test]
fn show_prints_every_detail_of_a_name_in_every_layer() {
    let sandbox = every_status();
    assert_snapshot!(sandbox.run("hooks show guard"), @r#"
    exit: 0
    --- stdout
    guard
      status    active
      event     before_tool
      layer     project
      path      .kodelet/hooks/guard
      trust     trusted since [TIME]
      hash      [HASH]
      limit     [N] ms
      fail      open: after a failure the agent continues, with a warning
      priority  100
      script    first 20 lines:
        #!/bin/sh
        [ "$1" = hook ] && echo before_tool_call
        cat >/dev/null
    guard
      status    shadowed: it is shadowed by .kodelet/hooks/guard
      event     before_tool
      layer     user
      path      ~/.kodelet/hooks/guard
      trust     not needed
      hash      [HASH]
      limit     [N] ms
      fail      open: after a failure the agent continues, with a warning
      priority  100
      script    first 20 lines:
        #!/bin/sh
        [ "$1" = hook ] && echo before_tool_call
        cat >/dev/null
    "#);
    assert_snapshot!(sandbox.run("hooks show edited"), @"
    exit: 0
    --- stdout
    edited
      status    untrusted: it was changed since it was trusted: look at it and run `tenter trust`
      event     unknown
      layer     project
      path      .kodelet/hooks/edited
      trust     changed; the last trusted version has the hash [HASH] ([TIME])
      hash      [HASH]
      limit     [N] ms
      fail      open: after a failure the agent continues, with a warning
      priority  100
      script    first 20 lines:
        #!/bin/sh
        touch ran
    ");
    let value = sandbox.run("hooks show guard --json").expect_code(0).json();
    assert_eq!(value[0]["trusted"]["hash"], value[0]["hash"]);
    assert_eq!(value[0]["trusted"]["events"], json!(["before_tool_call"]));
    assert_eq!(value[0]["script"][0], "#!/bin/sh");
    assert_eq!((&value[1]["layer"], &value[1]["trusted"]), (&json!("user"), &Value::Null));
}

#[test]
fn an_unknown_name_gets_a_suggestion() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("hooks show guard"), @r#"
    exit: 1
    --- stderr
    error: there is no hook "guard"
      help: there are no hooks yet: `tenter hooks new NAME` creates one
    "#);
    sandbox.user_hook("guard", SILENT);
    assert_snapshot!(sandbox.run("hooks show gaurd"), @r#"
    exit: 1
    --- stderr
    error: there is no hook "gaurd"
      help: did you mean guard?
    "#);
    assert_snapshot!(sandbox.run("hooks test zebra"), @r#"
    exit: 1
    --- stderr
    error: there is no hook "zebra"
      help: `tenter hooks list` lists all hooks
    "#);
}

#[test]
fn untrusted_names_and_scripts_cannot_control_the_terminal() {
    let sandbox = sandbox();
    sandbox.user_hook("a\x1b[2Jb", &format!("{SILENT}# \x1b]0;title\x07\n"));
    for args in [&["hooks", "list"][..], &["hooks", "show", "a\x1b[2Jb"]] {
        let output = sandbox.run(args).expect_code(0);
        let screen = output.stdout.contains(r"a\u{1b}[2Jb");
        assert!(!output.stdout.contains('\x1b') && screen, "{output}");
    }
}

#[test]
fn a_claude_code_event_gets_our_name_as_a_suggestion() {
    let sandbox = sandbox();
    sandbox.user_hook("guard", "#!/bin/sh\necho Stop\n");
    sandbox.prints("hooks list", "did you mean \"agent_stop\"?");
    for args in [
        &["hooks", "explain", "--event", "UserPromptSubmit"][..],
        &["hooks", "new", "x", "--event", "UserPromptSubmit"],
    ] {
        sandbox.fails(2, args, "did you mean before_agent?");
    }
}

#[test]
fn a_broken_hook_is_diagnosed_once_and_then_on_one_line() {
    let sandbox = sandbox();
    sandbox.user_hook("broken", "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\ncat >/dev/null; echo 'Traceback: no such module' >&2; exit 1\n");
    let call = "tool_calls: [{name: bash, input: {command: 'true'}}]";
    let model =
        sandbox.script(&format!("turns:\n  - {call}\n  - {call}\n  - {call}\n  - text: Done.\n"));
    for more in [&[][..], &["--result-only"]] {
        let output = sandbox.run([&["run", "--model", &model, "go"][..], more].concat());
        let stderr = output.expect_code(0).stderr;
        assert_eq!(stderr.matches("Traceback").count(), 1, "{stderr}");
        assert_eq!(stderr.matches("hook broken failed at before_tool").count(), 1, "{stderr}");
        assert_eq!(
            stderr.matches("hook broken failed again at before_tool").count(),
            2,
            "{stderr}"
        );
    }
}
