//! `tenter backtest`: what hooks would have done with the calls in transcripts.

use serde_json::Value;
use tenter_testkit::{Output, Sandbox};

use crate::{sandbox, transcripts};

/// A time before every recorded call.
const SINCE: &str = "--since=2026-01-01";

/// Returns a sandbox with a project in which Claude Code and Codex did a day's work.
fn worked() -> Sandbox {
    let sandbox = sandbox();
    for host in ["claude-code", "codex"] {
        transcripts::add(&sandbox, host, "day");
    }
    sandbox
}

fn backtest(sandbox: &Sandbox, args: &[&str]) -> Output {
    sandbox.run([&["backtest", SINCE], args].concat())
}

/// Returns the hook, the rule, and the number of calls of each rule in a report.
fn rules(report: &Value) -> Vec<(String, String, u64)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rules = report["rules"].as_array().unwrap().iter();
    let mut rules: Vec<_> = rules
        .map(|rule| (text(&rule["hook"]), text(&rule["rule"]), rule["calls"].as_u64().unwrap()))
        .collect();
    rules.sort();
    rules
}

/// Writes a rule hook into a directory of the project.
fn rule(sandbox: &Sandbox, directory: &str, program: &str, decision: &str) {
    let text = format!(
        "---\nname: no-{program}\ndescription: A test.\ntrigger: before_tool\nmetadata:\n  match:\n    - {{name: {program}, program: {program}, decision: {decision}, reason: not here}}\n---\n"
    );
    sandbox.write(&format!("{directory}/no-{program}/HOOK.md"), text);
}

#[test]
fn a_guard_that_is_not_installed_shows_what_it_would_have_stopped() {
    let sandbox = worked();
    let output = backtest(&sandbox, &["--guard", "git-safety", "--json"]).expect_code(0);
    let report = output.json();
    assert_eq!((report["calls"].as_u64(), report["stopped"].as_u64()), (Some(13), Some(4)));
    let expected = [("force-push", 3), ("hard-reset", 1)];
    let expected = expected.map(|(rule, calls)| ("git-safety".to_owned(), rule.to_owned(), calls));
    assert_eq!(rules(&report), expected, "{output}");
    let text = backtest(&sandbox, &["--guard", "git-safety"]).expect_code(0);
    assert!(text.stdout.contains("4 would be stopped, 9 pass"), "{text}");
    assert!(text.stdout.contains("git push --force origin main (3 times)"), "{text}");
}

#[test]
fn only_calls_of_the_project_count_unless_all_are_asked_for() {
    let sandbox = worked();
    let other = sandbox.root().join("other").display().to_string();
    std::fs::create_dir(&other).unwrap();
    let args = ["--project", &other, "backtest", SINCE, "--guard", "git-safety", "--json"];
    assert_eq!(sandbox.run(args).expect_code(0).json()["calls"], 0);
    let args = [&args[..], &["--all"]].concat();
    assert_eq!(sandbox.run(&args).expect_code(0).json()["calls"], 13);
}

#[test]
fn nothing_is_executed() {
    let sandbox = worked();
    let touch = "touch \"$HOME/executed\"; echo before_tool";
    sandbox.user_hook("script", &format!("#!/bin/sh\n{touch}\n"));
    let _ = sandbox.run("guard add git-safety").expect_code(0);
    let report = backtest(&sandbox, &["--json"]).expect_code(0).json();
    assert_eq!((report["stopped"].as_u64(), rules(&report).len()), (Some(4), 2));
    assert_eq!(report["undecided"][0], "script");
    assert!(!sandbox.home().join("executed").exists());
    let output = backtest(&sandbox, &["--hook", "git-safty"]).expect_code(2);
    assert!(output.stderr.contains("did you mean git-safety?"), "{output}");
    assert_eq!(output.stdout, "", "{output}");
}

#[test]
fn secrets_in_commands_are_masked() {
    let sandbox = worked();
    let key = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
    let command = format!("git push --force https://{key}@example.com/a.git");
    let project = sandbox.project();
    let call = serde_json::json!({"type": "assistant", "sessionId": "s", "cwd": project, "timestamp": "2026-11-24T10:00:00Z", "message": {"content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": command}}]}});
    sandbox.write("../home/.claude/projects/more/1.jsonl", format!("{call}\n"));
    for args in [&["--guard", "git-safety"][..], &["--guard", "git-safety", "--json"]] {
        let output = backtest(&sandbox, args).expect_code(0);
        assert!(output.stdout.contains("git push --force https://ghp_"), "{output}");
        assert!(!output.stdout.contains(&key) && !output.stderr.contains(&key), "{output}");
    }
}

#[test]
fn the_same_hooks_differ_in_nothing() {
    let sandbox = worked();
    let _ = sandbox.run("guard add --all").expect_code(0);
    let directory = sandbox.home().join(".config/agents/hooks").display().to_string();
    let args = ["--diff", "installed", &directory, "--fail-on-change", "--json"];
    let diff = backtest(&sandbox, &args).expect_code(0).json();
    assert_eq!((diff["calls"].as_u64(), diff["changed"].as_u64()), (Some(13), Some(0)));
}

#[test]
fn a_changed_rule_shows_the_calls_whose_verdict_changes() {
    let sandbox = worked();
    rule(&sandbox, "old", "ls", "ask");
    rule(&sandbox, "new", "ls", "deny");
    rule(&sandbox, "new", "cat", "ask");
    let args = ["--diff", "old", "new"];
    let text = backtest(&sandbox, &args).expect_code(0);
    assert!(text.stdout.starts_with("13 calls: 3 change their verdicts."), "{text}");
    assert!(text.stdout.contains("passed → asked  2 calls by no-cat: cat"), "{text}");
    assert!(text.stdout.contains("asked → denied  1 call by no-ls: ls"), "{text}");
    let output = backtest(&sandbox, &[&args[..], &["--fail-on-change"]].concat());
    assert_eq!(output.code, Some(1), "{output}");
}

#[test]
fn a_git_revision_is_compared_with_the_files() {
    let sandbox = worked();
    rule(&sandbox, ".agents/hooks", "ls", "ask");
    let commit =
        "git init -q . && git add .agents && git -c user.name=a -c user.email=a@b commit -qm one";
    let _ = sandbox.shell(commit).expect_code(0);
    rule(&sandbox, ".agents/hooks", "cat", "deny");
    let args = ["--diff", "HEAD", ".agents/hooks", "--json"];
    let diff = backtest(&sandbox, &args).expect_code(0).json();
    assert_eq!(diff["changed"], 2);
    assert_eq!(diff["changes"][0]["hook"], "no-cat");
    backtest(&sandbox, &["--diff", "HEAD:nothing", "HEAD"]).fails(2, "a revision with hooks");
    let output = backtest(&sandbox, &["--diff", "no-such", "HEAD"]).expect_code(2);
    assert!(output.stderr.contains("neither a directory nor a revision"), "{output}");
}

#[test]
fn a_call_in_a_symlink_to_the_project_counts() {
    let sandbox = worked();
    let (project, link) = (sandbox.project(), sandbox.root().join("link"));
    std::os::unix::fs::symlink(&project, &link).unwrap();
    let call = serde_json::json!({"type": "assistant", "sessionId": "s", "cwd": link, "timestamp": "2026-11-24T10:00:00Z", "message": {"content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "git push -f"}}]}});
    sandbox.write("../home/.claude/projects/more/1.jsonl", format!("{call}\n"));
    let report = backtest(&sandbox, &["--guard", "git-safety", "--json"]).expect_code(0).json();
    assert_eq!((report["calls"].as_u64(), report["stopped"].as_u64()), (Some(14), Some(5)));
}

#[test]
fn a_call_without_a_directory_is_reported_so() {
    let sandbox = sandbox();
    let call = serde_json::json!({"type": "assistant", "sessionId": "s", "timestamp": "2026-11-24T10:00:00Z", "message": {"content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "git push -f"}}]}});
    sandbox.write("../home/.claude/projects/more/1.jsonl", format!("{call}\n"));
    let output = backtest(&sandbox, &["--all", "--guard", "git-safety"]).expect_code(0);
    assert!(output.stdout.contains("claude-code, in an unknown directory; see"), "{output}");
}

#[test]
fn a_report_without_hooks_says_that_there_are_none() {
    let sandbox = worked();
    backtest(&sandbox, &[]).warns("You have no hooks.");
    std::fs::create_dir(sandbox.project().join("rules")).unwrap();
    backtest(&sandbox, &["--with", "rules"]).fails(2, "rules has no hooks");
}

#[test]
fn only_agents_with_calls_are_named() {
    let sandbox = worked();
    sandbox.write("../home/.claude/projects/more/1.jsonl", "{\"no\": \"type\"}\n");
    sandbox.write("../home/.copilot/session-state/a/events.jsonl", "");
    let output = backtest(&sandbox, &[]).expect_code(0);
    assert!(output.stdout.contains("sessions of claude-code, codex: "), "{output}");
    assert!(output.stderr.contains("does not know: without a type (1)."), "{output}");
}

#[test]
fn a_new_guard_says_what_it_would_have_stopped_and_offers_to_show_it() {
    let sandbox = sandbox();
    for host in ["claude-code", "codex"] {
        transcripts::add_recent(&sandbox, host, "day");
    }
    let output = sandbox.run("guard add git-safety").expect_code(0);
    let sentence = "This guard would have stopped 4 of your last 13 calls";
    let command = "`tenter backtest --all --guard git-safety` shows them";
    assert!(output.stderr.contains(&format!("{sentence}: {command}")), "{output}");
    let mut terminal = sandbox.at_terminal("guard add secrets");
    terminal.answer("would have stopped 2 of your last 13 calls: show them?", "y");
    terminal.wait_for("cat .env (2 times)");
    let output = sandbox.finish_pty(terminal);
    assert_eq!(output.code, Some(0), "{output}");
}

#[test]
fn the_log_shows_the_calls_of_transcripts() {
    let sandbox = worked();
    let output = sandbox.run("log --from claude-code").expect_code(0);
    assert_eq!(output.stdout.lines().count(), 8, "{output}");
    assert!(output.stdout.contains("claude-code  -  git push --force origin main"), "{output}");
    let args = ["log", "--from", "claude-code,codex", "-n", "3", "--json"];
    let calls = sandbox.run(args).expect_code(0).json_lines();
    assert_eq!(calls.len(), 3);
    assert_eq!((&calls[2]["agent"], &calls[2]["decision"]), (&"codex".into(), &Value::Null));
}

#[test]
fn conversations_of_tenters_own_agent_are_replayed() {
    let sandbox = sandbox();
    let script = "turns: [{tool_calls: [{name: bash, input: {command: git push -f}}]}, {text: ok}]";
    let _ = sandbox.play(script, &["push it"]);
    for args in [&[][..], &["--from", "tenter"]] {
        let args = [&["--guard", "git-safety", "--json"], args].concat();
        let report = backtest(&sandbox, &args).expect_code(0).json();
        assert_eq!((report["calls"].as_u64(), report["stopped"].as_u64()), (Some(1), Some(1)));
        assert_eq!(report["rules"][0]["commands"][0]["host"], "tenter");
    }
    sandbox.warns("guard add git-safety", "would have stopped 1 of your last 1 call");
}

/// Writes a transcript of Claude Code in which the user allowed each of these commands, as often as it is there.
fn allowed(sandbox: &Sandbox, commands: &[&str]) {
    let project = sandbox.project();
    let lines = commands.iter().enumerate().flat_map(|(number, command)| {
        let id = format!("toolu_0123456789abcdef{number:04}");
        let time = format!("2026-11-20T10:{number:02}:00Z");
        let call = serde_json::json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        let result = serde_json::json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        [
            serde_json::json!({"type": "assistant", "sessionId": "s", "cwd": project, "timestamp": time, "message": {"content": [call]}}),
            serde_json::json!({"type": "user", "sessionId": "s", "permissionDecision": {"decision": "accept", "source": "user"}, "message": {"content": [result]}}),
        ]
    });
    let text = lines.map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
    sandbox.write("../home/.claude/projects/app/s.jsonl", text);
}

/// Rules in the manner of the guard `git-safety`, whose many examples would be tried again for each suggestion.
const OWN_GIT: &str = "    - name: delete-branch
      program: git
      subcommand: branch
      flags: {any: [-D]}
      decision: ask
      reason: It deletes.
      examples: {stopped: [git branch -D feature]}
    - name: force-push
      program: git
      subcommand: push
      flags: {any: [--force]}
      decision: deny
      reason: It overwrites.
      examples: {stopped: [git push --force]}
";

/// A rule that no call of the test meets.
const OWN_DATABASES: &str =
    "    - {name: drop, program: dropdb, decision: ask, reason: It deletes.}\n";

#[test]
fn what_the_user_allowed_again_and_again_is_suggested_and_nothing_that_a_guard_stops() {
    let sandbox = sandbox();
    let hooks = sandbox.home().join(".config/agents/hooks");
    for (hook, rules) in [("own-git", OWN_GIT), ("databases", OWN_DATABASES)] {
        let text = format!(
            "---\nname: {hook}\ndescription: A test.\ntrigger: before_tool\nmetadata:\n  match:\n{rules}---\n"
        );
        sandbox.write(&format!("../home/.config/agents/hooks/{hook}/HOOK.md"), text);
    }
    let commands = ["cargo test -p app", "git branch -D old", "git push --force", "npm test; ls"];
    allowed(&sandbox, &commands.repeat(3));
    let output = backtest(&sandbox, &["--suggest"]).expect_code(0);
    let text = &output.stdout;
    assert!(text.contains("stops `git branch -D old`, which ran 3 times"), "{output}");
    assert!(text.contains("you allowed it 3 times in claude-code"), "{output}");
    assert!(text.contains("builds(cargo test)") && text.contains("\"Bash(cargo test:*)\""));
    assert!(text.contains("decided nothing about these calls: databases"), "{output}");
    assert!(!text.contains("git push"), "an example of the rule: {output}");
    assert!(!text.contains("npm"), "several commands are not one: {output}");
    let hook = hooks.join("own-git/HOOK.md");
    let config = sandbox.home().join(".config/tenter/config.toml");
    let before = std::fs::read_to_string(&hook).unwrap();
    assert!(!before.contains("\"old\"") && !config.exists(), "nothing is applied");
    let _ = backtest(&sandbox, &["--suggest", "--apply"]).expect_code(0);
    assert!(std::fs::read_to_string(&config).unwrap().contains("builds(cargo test)"));
    for (command, code) in
        [("git branch -D old", 0), ("git branch -D other", 1), ("git push --force", 1)]
    {
        let _ = sandbox.run(["check", command]).expect_code(code);
    }
    let report = backtest(&sandbox, &["--suggest", "--json"]).expect_code(0).json();
    assert_eq!(report["exceptions"], serde_json::json!([]), "{report}");
    let _ = sandbox.run("hooks test own-git").expect_code(0);
}

#[test]
fn a_call_that_would_run_with_fewer_rights_counts_as_stopped() {
    let sandbox = worked();
    rule(&sandbox, "old", "ls", "ask");
    let rule = "---\nname: no-ls\ndescription: A test.\ntrigger: before_tool\nmetadata:\n  match:\n    - {name: ls, program: ls, decision: confine, confine: {network: none}, reason: not here}\n---\n";
    sandbox.write("new/no-ls/HOOK.md", rule);
    let text = backtest(&sandbox, &["--with", "new"]).expect_code(0).stdout;
    assert!(text.contains("no-ls: ls  would confine 1 of 13 calls"), "{text}");
    let text = backtest(&sandbox, &["--diff", "old", "new"]).expect_code(0).stdout;
    assert!(text.contains("asked → confined  1 call by no-ls: ls"), "{text}");
}
