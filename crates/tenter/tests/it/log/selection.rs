//! The records that `tenter log` shows: records of the project that its options select.

use std::{fs, slice};

use insta::assert_snapshot;
use serde_json::Value;
use tenter_testkit::Sandbox;

use super::{ask, hooks, journal_files, records};
use crate::conversation::busy_conversation;
use crate::sandbox;

/// Returns the shown lines of a journal without its headings: hook and decision of each record.
fn shown(sandbox: &Sandbox, args: &[&str]) -> Vec<String> {
    let output = sandbox.run([&["log"], args].concat()).expect_code(0);
    let rows = output.stdout.lines().filter(|line| line.starts_with("  2"));
    rows.map(|line| line.split_whitespace().skip(3).take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn records_can_be_filtered_by_hook_and_event_in_any_spelling() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    assert_snapshot!(sandbox.run("log --hook b-guard"), @"
    exit: 0
    --- stdout
    clean this up  Tenter · [ID]
      [TIME]  before_tool  b-guard  deny  bash: rm -rf x · no rm here · [N] ms
        → before_tool is denied by b-guard
      [TIME]  before_tool  b-guard  none  bash: echo one; echo two · [N] ms
    ");
    let guard_records = records(&sandbox, &["--hook", "b-guard"]);
    assert_eq!(hooks(&guard_records), ["b-guard", "b-guard"]);
    assert_eq!(guard_records.iter().filter(|record| record["by"] == "b-guard").count(), 1);
    for spelling in ["after_tool_call", "after_tool", "after_tool_failure", "post-tool-call"] {
        let count = if spelling == "after_tool_call" { 2 } else { 1 };
        assert_eq!(
            hooks(&records(&sandbox, &["--event", spelling])),
            vec!["c-broken"; count],
            "{spelling}"
        );
    }
    assert_eq!(
        hooks(&records(&sandbox, &["--event", "turn_end", "--hook", "d-tidy"])),
        ["d-tidy"; 4]
    );
    assert_snapshot!(sandbox.run("log --event nonsense"), @"
    exit: 2
    --- stderr
    error: invalid value 'nonsense' for '--event <EVENT>': the events are session_start, before_agent, before_tool, after_tool, after_tool_failure, after_turn, before_stop, after_agent, subagent_start, subagent_stop, pre_compact, post_compact, session_end

    For more information, try '--help'.
    ");
}

#[test]
fn records_can_be_filtered_by_decision_tool_time_and_failure() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    assert_eq!(shown(&sandbox, &["--decision", "deny"]), ["b-guard deny"]);
    assert_eq!(
        shown(&sandbox, &["--decision", "mutate,continue"]),
        ["d-tidy mutate", "e-gate continue"]
    );
    assert_eq!(shown(&sandbox, &["--failed"]), ["c-broken failed"; 2]);
    assert_eq!(shown(&sandbox, &["--tool", "Bash"]).len(), 6);
    assert_eq!(shown(&sandbox, &["--tool", "grep"]).len(), 0);
    assert_eq!(shown(&sandbox, &["--since", "1h"]).len(), 12);
    let none = sandbox.run("log --since 2999-01-01").expect_code(0);
    assert!(
        none.stdout.is_empty() && none.stderr.contains("No record since then matches."),
        "{none}"
    );
    assert_snapshot!(sandbox.run("log --decision denied"), @"
    exit: 2
    --- stderr
    error: invalid value 'denied' for '--decision <DECISION>': the decisions are none, allow, context, continue, rewrite, callback, mutate, confine, ask, deny, failed

    For more information, try '--help'.
    ");
    assert_snapshot!(sandbox.run("log --since lately"), @"
    exit: 2
    --- stderr
    error: invalid value 'lately' for '--since <WHEN>': give a time such as [TIME], a date, `today`, `yesterday`, or an age such as 2h, 30m or 7d

    For more information, try '--help'.
    ");
}

#[test]
fn an_unknown_hook_is_an_error_and_one_that_never_ran_is_not() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    sandbox.sh_hook("quiet", "agent_stop", "");
    assert_snapshot!(sandbox.run("log --hook b-gaurd"), @r#"
    exit: 1
    --- stderr
    error: there is no hook "b-gaurd", neither now nor in the journal
      help: did you mean "b-guard"?
    "#);
    assert_snapshot!(sandbox.run("log --hook something-else"), @r#"
    exit: 1
    --- stderr
    error: there is no hook "something-else", neither now nor in the journal
      help: `tenter hooks list` shows the hooks of this project
    "#);
    assert_snapshot!(sandbox.run("log --hook quiet"), @"
    exit: 0
    --- stderr
    None of the 22 records matches.
    ");
}

#[test]
fn a_conversation_can_be_selected_by_id_or_as_the_newest() {
    let sandbox = sandbox();
    sandbox.sh_hook("stop", "agent_stop", "");
    let first = ask(&sandbox, &[]);
    let second = ask(&sandbox, &[]);
    let unsaved = ask(&sandbox, &["--no-save"]);
    let of = |args: &[&str]| {
        let records = records(&sandbox, args);
        let mut ids: Vec<String> = records
            .iter()
            .map(|record| record["conversation_id"].as_str().unwrap().to_owned())
            .collect();
        ids.dedup();
        ids
    };
    assert_eq!(of(&[]), [first.clone(), second.clone(), unsaved.clone()]);
    assert_eq!(of(&["--session", "last"]), *slice::from_ref(&unsaved));
    assert_eq!(of(&["--session", &second]), *slice::from_ref(&second));
    assert_eq!(of(&["--conversation", &first]), *slice::from_ref(&first));
    assert_eq!(
        of(&["--conversation", &unsaved]),
        *slice::from_ref(&unsaved),
        "a conversation that is not saved has a journal"
    );
    // Ids begin with the time at which they were made, so all three begin alike.
    let is_ones_own = |length: &usize| {
        !second.starts_with(&first[..*length]) && !unsaved.starts_with(&first[..*length])
    };
    let length = (1..=first.len()).find(is_ones_own).unwrap();
    assert_eq!(of(&["--conversation", &first[..length]]), *slice::from_ref(&first));
    let ambiguous = sandbox.run(["log", "--conversation", &first[..3]]).expect_code(1);
    assert!([first, second, unsaved].iter().all(|id| ambiguous.stderr.contains(id)), "{ambiguous}");
    assert_eq!(sandbox.run("log --conversation ../../trust").code, Some(1));
    assert_eq!(sandbox.run(["log", "--conversation", ""]).code, Some(2));
    assert_eq!(sandbox.run("log --session x --all").code, Some(2));
}

#[test]
fn the_newest_session_is_last_and_the_newest_records_can_be_selected() {
    let sandbox = sandbox();
    sandbox.sh_hook("stop", "agent_stop", "");
    let first = ask(&sandbox, &[]);
    let second = ask(&sandbox, &[]);
    let _ = ask(&sandbox, &["--resume", &first]);
    let log = sandbox.run("log").expect_code(0).stdout;
    let headings: Vec<&str> =
        log.lines().filter_map(|line| line.strip_prefix("hi  Tenter · ")).collect();
    assert_eq!(headings, [second.as_str(), first.as_str()], "{log}");
    assert_eq!(shown(&sandbox, &[]).len(), 3);
    let newest = sandbox.run("log -n 2").expect_code(0).stdout;
    assert!(!newest.contains(&second) && newest.contains(&first), "{newest}");
    assert_eq!(shown(&sandbox, &["-n", "2"]).len(), 2);
    assert_eq!(records(&sandbox, &["-n", "1"]).len(), 1);
    for (count, why) in [("0", "at least 1 record must be shown"), ("x", "x is not a number")] {
        let output = sandbox.run(["log", "-n", count]).expect_code(2);
        assert!(output.stderr.contains(why) && !output.stderr.contains("digit"), "{output}");
    }
}

#[test]
fn the_log_is_limited_to_this_project_by_default() {
    let sandbox = sandbox();
    sandbox.sh_hook("stop", "agent_stop", "");
    let here = ask(&sandbox, &[]);
    let other = sandbox.root().join("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    let model = sandbox.script("turns: [{text: ok}]");
    let in_other = |args: &[&str]| {
        let output = sandbox.command().current_dir(&other).args(args).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    in_other(&["run", "--no-save", "--model", &model, "hi"]);
    let (own, all) = (in_other(&["log"]), sandbox.run("log --all").expect_code(0).stdout);
    assert!(
        own.lines().filter(|line| !line.starts_with(' ')).count() == 1 && !own.contains(&here),
        "{own}"
    );
    assert_eq!(all.lines().filter(|line| line.contains("  Tenter · ")).count(), 2, "{all}");
    assert!(all.contains(&format!("  Tenter · {} · {here}", sandbox.project().display())), "{all}");
    let mine = sandbox.run("log").expect_code(0).stdout;
    assert!(mine.matches("Tenter · ").count() == 1 && mine.contains(&here), "{mine}");
    // A version that did not write the project wrote these: the store knows whose they are.
    for file in journal_files(&sandbox) {
        let text = fs::read_to_string(&file).unwrap();
        let old = text.lines().map(|line| {
            let mut record: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
            assert!(record.remove("project").is_some(), "{line}");
            serde_json::to_string(&record).unwrap() + "\n"
        });
        fs::write(&file, old.collect::<String>()).unwrap();
    }
    let mine = sandbox.run("log").expect_code(0).stdout;
    assert!(mine.matches("Tenter · ").count() == 1 && mine.contains(&here), "{mine}");
}

#[test]
fn records_can_be_filtered_by_text_agent_and_denial_and_exported() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    assert_eq!(shown(&sandbox, &["--denied"]), ["b-guard deny"]);
    assert_eq!(shown(&sandbox, &["--grep", "NO RM HERE"]), ["b-guard deny"]);
    assert_eq!(shown(&sandbox, &["--grep", "no rm here", "--agent", "claude-code"]), [""; 0]);
    assert_eq!(shown(&sandbox, &["--denied", "--agent", "tenter"]), ["b-guard deny"]);
    assert_eq!(shown(&sandbox, &["--until", "2020-01-01"]), [""; 0]);
    sandbox.fails(2, "log --agent claude", "did you mean `claude-code`?");
    let csv = sandbox.run("log --denied --csv").expect_code(0).stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 2, "{csv}");
    assert!(lines[0].starts_with("time,agent,project,session,event,tool,call,hook"), "{csv}");
    assert!(lines[1].contains(",before_tool,bash,rm -rf x,b-guard,,deny,,no rm here,"), "{csv}");
}
