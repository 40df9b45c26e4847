//! `tenter log`: what hooks did, for users and for programs.

mod live;
mod selection;

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;
use tenter_testkit::Sandbox;

use crate::conversation::busy_conversation;
use crate::manifests::hook as manifest_hook;
use crate::sandbox;

fn records(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    sandbox.run([&["log", "--json"], args].concat()).expect_code(0).json_lines()
}

fn hooks(records: &[Value]) -> Vec<&str> {
    records.iter().filter_map(|record| record["hook"].as_str()).collect()
}

/// Runs one query under the hooks of the sandbox; returns the conversation's id.
fn ask(sandbox: &Sandbox, args: &[&str]) -> String {
    let model = sandbox.script("turns: [{text: ok}]");
    let args = [&["run", "--headless", "--model", &model, "hi"], args].concat();
    sandbox.run(&args).expect_code(0).json_lines()[0]["id"].as_str().unwrap().to_owned()
}

fn journal_files(sandbox: &Sandbox) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(sandbox.state().join("journal")).unwrap();
    files.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn what_other_agents_record_is_read_wherever_the_users_state_is() {
    let sandbox = sandbox();
    let line = |hook: &str| {
        let project = sandbox.project().display().to_string();
        format!(
            r#"{{"v":1,"time":"2026-03-01T09:30:00.000Z","conversation_id":"{hook}","project":"{project}","event":"before_tool","kind":"run","hook":"{hook}","layer":"user","hash":"h","spelling":"before_tool","duration_ms":1,"exit":"exit 0","decision":"deny"}}"#
        ) + "\n"
    };
    let own = sandbox.root().join("own/tenter/journal");
    for (directory, hook) in [(&sandbox.state().join("journal"), "bridged"), (&own, "own")] {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join(format!("{hook}.jsonl")), line(hook)).unwrap();
    }
    std::os::unix::fs::symlink(sandbox.home().join(".local"), sandbox.root().join("link")).unwrap();
    let root = sandbox.root().display().to_string();
    for (state, expected) in [
        ("own", vec!["bridged", "own"]),
        ("link/state", vec!["bridged"]),
        ("home/.local/state", vec!["bridged"]),
    ] {
        let run = |command: &str| {
            sandbox.shell(&format!("XDG_STATE_HOME={root}/{state} {command}")).expect_code(0)
        };
        let log = run("tenter log --json").json_lines();
        assert_eq!(hooks(&log), expected, "{state}");
        let one = run("tenter log --session bridged --json").json_lines();
        assert_eq!(hooks(&one), ["bridged"], "{state}");
        let stats = run("tenter hooks stats --json").json();
        let all = stats["hooks"].as_array().unwrap().iter();
        let mut names: Vec<&str> = all.filter_map(|hook| hook["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{state}: {stats}");
        let doctor = run("tenter hooks doctor");
        let is_said = doctor.stdout.contains("XDG_STATE_HOME is set");
        assert_eq!(is_said, state == "own", "{state}: {doctor}");
    }
}

#[test]
fn an_empty_log_is_reported_and_nothing_is_created() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run("log"), @"
    exit: 0
    --- stderr
    No hook has run in [ROOT]/project yet. `tenter hooks list` lists the hooks; --all shows other projects.
    ");
    assert_snapshot!(sandbox.run("log --session last --json"), @"
    exit: 0
    --- stderr
    No session of this project is recorded yet: `tenter run` starts one.
    ");
    assert_snapshot!(sandbox.run("log --conversation 0199"), @r#"
    exit: 1
    --- stderr
    error: no conversation begins with "0199"
      help: `tenter log --all` shows all that is recorded, `tenter conversation list` what is stored
    "#);
    assert!(!sandbox.state().exists(), "a look left something behind");
    let id = ask(&sandbox, &[]);
    let output = sandbox.run("log --session last").expect_code(0);
    assert!(
        output.stdout.is_empty()
            && output.stderr.contains(&format!("No hook ran in the session {id}")),
        "{output}"
    );
    let by_id = sandbox.run(["log", "--conversation", &id[..20]]).expect_code(0);
    assert_eq!(by_id.stderr, output.stderr);
}

#[test]
fn every_run_is_a_line_with_its_decision_and_change() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    assert_snapshot!(sandbox.run("log"), @r#"
    exit: 0
    --- stdout
    clean this up  Tenter · [ID]
      [TIME]  before_tool         a-rewrite  none      bash: rm -rf x · [N] ms
      [TIME]  before_tool         b-guard    deny      bash: rm -rf x · no rm here · [N] ms
        → before_tool is denied by b-guard
      [TIME]  after_tool_failure  c-broken   failed    bash: rm -rf x · it exited with code 3 · [N] ms
        | connecting
        | no route to host
      [TIME]  after_turn          d-tidy     none      [N] ms
      [TIME]  before_tool         a-rewrite  rewrite   bash: ls · [N] ms
        from {"command": "ls"}
        to   {"command": "echo one; echo two"}
      [TIME]  before_tool         b-guard    none      bash: echo one; echo two · [N] ms
      [TIME]  after_tool          c-broken   failed    bash: echo one; echo two · it exited with code 3 · [N] ms
        | connecting
        | no route to host
      [TIME]  after_turn          d-tidy     none      [N] ms
      [TIME]  after_turn          d-tidy     mutate    [N] ms
      [TIME]  before_stop         e-gate     continue  [N] ms
      [TIME]  after_turn          d-tidy     none      [N] ms
      [TIME]  before_stop         e-gate     none      [N] ms
    "#);
}

#[test]
fn a_session_of_another_agent_has_the_first_words_of_its_transcript_as_title() {
    let sandbox = sandbox();
    let session = "7153f120-e48c-4f08-84d5-35c57ad778e8";
    let project = sandbox.project().display().to_string();
    let record = format!(
        r#"{{"v":1,"time":"2026-03-01T09:30:00.000Z","conversation_id":"{session}","host":"claude-code","project":"{project}","event":"before_tool","tool_name":"bash","tool_input":{{"command":"ls"}},"kind":"run","hook":"h","layer":"user","hash":"h","spelling":"before_tool","duration_ms":1,"exit":"exit 0","decision":"deny"}}"#
    );
    let journal = format!("../home/.local/state/tenter/journal/{session}.jsonl");
    sandbox.write(&journal, record + "\n");
    let heading = || {
        let output = sandbox.run("log --all").expect_code(0);
        output.stdout.lines().next().unwrap().to_owned()
    };
    assert!(heading().starts_with(&format!("conversation {session}  ")), "{}", heading());
    let projects = sandbox.home().join(".claude/projects/-home-ada-app");
    fs::create_dir_all(&projects).unwrap();
    let key = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let prompt = format!(
        r#"{{"type":"user","message":{{"role":"user","content":"Push with {key}\nnow"}}}}"#
    );
    fs::write(projects.join(format!("{session}.jsonl")), prompt).unwrap();
    let heading = heading();
    assert!(heading.starts_with("Push with "), "{heading}");
    assert!(heading.contains(" now  Claude Code · ") && heading.contains(session), "{heading}");
    assert!(!heading.contains(key), "{heading}");
    let output = sandbox.run("log --all").expect_code(0);
    assert!(output.stdout.contains("Bash: ls"), "the tool has the agent's name: {output}");
}

#[test]
fn json_is_the_unchanged_journal() {
    let sandbox = sandbox();
    busy_conversation(&sandbox);
    let output = sandbox.run("log --json").expect_code(0);
    let files = journal_files(&sandbox);
    assert_eq!(files.len(), 1);
    let text = fs::read_to_string(&files[0]).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let time = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["time"].as_str().unwrap().to_owned()
    };
    lines.sort_by_key(|line| time(line));
    assert_eq!(output.stdout.lines().collect::<Vec<_>>(), lines);
    let kinds: Vec<&str> = output
        .stdout
        .lines()
        .map(|line| if line.contains("\"kind\": \"run\"") { "run" } else { "decision" })
        .collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "run").count(), 12);
}

#[test]
fn a_subagents_records_are_listed_with_its_parents_and_can_be_selected() {
    let sandbox = sandbox();
    sandbox.sh_hook("audit", "before_tool_call", "");
    let _ = sandbox.play("turns: [{tool_calls: [{name: subagent, input: {question: find it}}]}, {tool_calls: [{name: todo, input: {}}]}, {text: there}, {text: ok}]", &["--no-save", "main"]).expect_code(0);
    assert_snapshot!(sandbox.run("log"), @"
    exit: 0
    --- stdout
    conversation [ID]  Tenter
      [TIME]  before_tool  audit  none  subagent: find it · [N] ms
      [TIME]  before_tool  audit  none  subagent · todo: {} · [N] ms
    ");
    let all = records(&sandbox, &[]);
    let subagent_records: Vec<&Value> =
        all.iter().filter(|record| record.get("parent_conversation_id").is_some()).collect();
    let id = subagent_records[0]["conversation_id"].as_str().unwrap();
    let lines = records(&sandbox, &["--conversation", id]);
    assert_eq!(lines.iter().collect::<Vec<_>>(), subagent_records);
    assert!(all.len() > lines.len());
}

#[test]
fn a_denying_failure_differs_from_a_deny() {
    let sandbox = sandbox();
    sandbox.configure("[hooks]\nfail = \"closed\"\n");
    sandbox.sh_hook("guard", "before_tool_call", "exit 7");
    let model =
        sandbox.script("turns: [{tool_calls: [{name: bash, input: {command: ls}}]}, {text: ok}]");
    let _ = sandbox.run(["run", "--model", &model, "hi"]).expect_code(0);
    assert_snapshot!(sandbox.run("log"), @"
    exit: 0
    --- stdout
    hi  Tenter · [ID]
      [TIME]  before_tool  guard  failed  bash: ls · it exited with code 7 · [N] ms
        → before_tool is denied: the hook guard failed (it exited with code 7), and it is set to fail closed
    ");
    let decision =
        records(&sandbox, &[]).into_iter().find(|record| record["kind"] == "decision").unwrap();
    assert_eq!((&decision["decision"], &decision["by_failure"]), (&"deny".into(), &true.into()));
}

#[test]
fn a_deny_of_a_hook_that_fails_open_and_changed_is_not_blamed_on_its_fail_mode() {
    let sandbox = sandbox();
    let guard =
        sandbox.hook("guard", "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call\nexit 0\n");
    let _ = sandbox.play(&format!(
        "turns: [{{tool_calls: [{{name: bash, input: {{command: \"echo exit >> {}\"}}}}]}}, {{tool_calls: [{{name: bash, input: {{command: ls}}}}]}}, {{text: ok}}]",
        guard.display()
    ), &["--trust-project", "hi"]);
    let log = sandbox.run("log").expect_code(0).stdout;
    let line = log.lines().find(|line| line.contains("before_tool is denied")).unwrap();
    assert!(line.contains("it was changed after it was loaded"), "{log}");
    assert!(line.contains("run `tenter trust`") && !log.contains("fail closed"), "{log}");
}

#[test]
fn hooks_with_a_late_history_action_are_reported() {
    let sandbox = sandbox();
    let mutate = r#"echo '{"result": "mutate", "messages": [{"role": "user", "content": "x"}]}'"#;
    sandbox.sh_hook("first", "turn_end", mutate);
    sandbox.sh_hook("second", "turn_end", mutate);
    let run = sandbox.play("turns: [{tool_calls: [{name: todo, input: {}}]}, {tool_calls: [{name: todo, input: {}}]}, {text: ok}]", &["x"]).expect_code(0);
    let message = "the hooks first and second both change the history";
    assert_eq!(run.stderr.matches(message).count(), 1, "it is reported once\n{run}");
    sandbox.prints("log", "→ second also wants to change the history; an earlier hook does");
}

#[test]
fn unreadable_lines_are_counted_once_and_newer_records_are_shown() {
    let sandbox = sandbox();
    sandbox.sh_hook("stop", "agent_stop", "");
    let id = ask(&sandbox, &[]);
    let file = journal_files(&sandbox).pop().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let newer = format!(
        r#"{{"v": 2, "time": "2099-01-01T00:00:00.000Z", "conversation_id": "{id}", "event": "before_tool", "kind": "budget", "hook": "quota", "reason": "3 \u001b[2Jcalls left"}}"#
    );
    fs::write(&file, format!("{text}not json\n{newer}\n{{\"v\": 1, \"time\": \"20")).unwrap();
    assert_snapshot!(sandbox.run("log"), @"
    exit: 0
    --- stdout
    hi  Tenter · [ID]
      [TIME]  before_stop  stop   none  [N] ms
      [TIME]  before_tool  quota        budget · 3 calls left · (another version wrote it; --json shows all of it)
    --- stderr
    warning: [ROOT]/home/.local/state/tenter/journal: cannot read 2 lines of the journal
      help: a process that is killed while it writes leaves half a line; the other lines are complete
    ");
    assert!(sandbox.run("log --json").stdout.ends_with(&format!("{newer}\n")));
    assert_eq!(hooks(&records(&sandbox, &["--hook", "quota"])), ["quota"]);
}

#[test]
fn secrets_do_not_reach_the_log() {
    let sandbox = sandbox();
    let notes = r#"case "$TENTER_EVENT" in *tool) echo 'printed top-secret-value AKIAABCDEFGHIJKLMNOP' ;; *) echo '{"log": "logged top-secret-value", "top-secret-value": 1}' ;; esac"#;
    manifest_hook(&sandbox, "plain", "before_tool", "", notes);
    manifest_hook(&sandbox, "logging", "after_turn", "", notes);
    sandbox.sh_hook("leaky", "before_tool_call", r#"echo 'with AKIAABCDEFGHIJKLMNOP and top-secret-value' >&2; echo '{"input": {"command": "echo top-secret-value"}}'"#);
    let model =
        sandbox.script("turns: [{tool_calls: [{name: bash, input: {command: ls}}]}, {text: ok}]");
    let vars = [("MY_API_KEY", "top-secret-value")];
    let _ = sandbox.run_with_env(&vars, ["run", "--model", &model, "hi"]).expect_code(0);
    let log = sandbox.run("log").expect_code(0);
    assert!(!log.stdout.contains("top-secret-value") && !log.stdout.contains("AKIAABCD"), "{log}");
    assert!(log.stdout.contains("| with AKIA[16 redacted] and top-[12 redacted]"), "{log}");
    assert!(log.stdout.contains("printed top-[12 redacted] AKIA[16 redacted]"), "{log}");
    assert!(log.stdout.contains("logged top-[12 redacted]"), "{log}");
    for file in journal_files(&sandbox) {
        let text = fs::read_to_string(file).unwrap();
        assert!(!text.contains("top-secret-value") && !text.contains("AKIAABCD"), "{text}");
    }
}

#[test]
fn a_call_that_did_not_run_because_of_its_rewrite_is_shown_as_denied() {
    let sandbox = sandbox();
    sandbox.sh_hook("helper", "before_tool_call", r#"echo '{"input": {"command": 7}}'"#);
    let _ = sandbox
        .play(
            "turns: [{tool_calls: [{name: bash, input: {command: touch ran}}]}, {text: Done.}]",
            &["--trust-project", "go"],
        )
        .expect_code(0);
    let log = sandbox.run("log").expect_code(0);
    let why = "before_tool is denied: the hook helper rewrote the input of bash to an invalid one";
    assert!(log.stdout.contains(why), "{log}");
    assert!(!sandbox.project().join("ran").exists());
}
