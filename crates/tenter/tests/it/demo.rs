//! `tenter demo`: it shows what it claims, as text and as JSON, with standard commands only, and leaves nothing behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Output, Sandbox};

use crate::{filter_kind, sandbox};

/// Returns the directory in which the demo creates its own.
fn tmp(sandbox: &Sandbox) -> PathBuf {
    let tmp = sandbox.root().join("tmp");
    fs::create_dir_all(&tmp).unwrap();
    tmp
}

fn demo(sandbox: &Sandbox, args: &[&str], change: impl FnOnce(&mut Command)) -> Output {
    let mut command = sandbox.command();
    command.arg("demo").args(args).env("TMPDIR", tmp(sandbox));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    change(&mut command);
    sandbox.finish(command.spawn().unwrap())
}

/// Returns a directory for `PATH` with only these programs.
fn path_with(sandbox: &Sandbox, programs: &[&str]) -> PathBuf {
    let bin = sandbox.root().join("bin");
    fs::create_dir_all(&bin).unwrap();
    for program in programs {
        let line = format!("ln -s \"$(command -v {program})\" '{}/{program}'", bin.display());
        let _ = sandbox.shell(&line).expect_code(0);
    }
    bin
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns the text without what differs between machines: the names of the scratch directory and of the binary.
fn normalised(output: &Output) -> String {
    let directory = output.stdout.split_once("Files: ").unwrap().1.split(" (").next().unwrap();
    let text = output
        .stdout
        .replace(directory, "[DIRECTORY]")
        .replace(env!("CARGO_BIN_EXE_tenter"), "tenter");
    let lines = output.normal(&text);
    let lines = lines.lines().map(|line| {
        // The alignment of the commands depends on the length of the binary's path.
        if line.starts_with("  tenter ") {
            let words: Vec<&str> = line.split("  ").filter(|words| !words.is_empty()).collect();
            return format!("  {}", words.join("  ").replace("   ", "  "));
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_demo_prints_its_story() {
    let sandbox = sandbox();
    // On a terminal, stdout and stderr are one.
    let line = format!("TMPDIR='{}' tenter demo 2>&1", tmp(&sandbox).display());
    let output = sandbox.shell(&line).expect_code(0);
    let text = normalised(&output);
    let too_long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 110).collect();
    assert!(too_long.is_empty(), "{too_long:#?}");
    assert_snapshot!(text, @r#"
    A coding agent under five hooks

    Hooks are programs that watch an agent. Tenter runs them at every step and passes them what happens:
    they can block it, change it, or make the agent continue. This scratch project has these hooks:

      10-guard    before_tool  blocks destructive commands such as rm -rf
      20-dry-run  before_tool  adds --dry-run to ./deploy.sh
      30-redact   after_tool   removes AWS keys from tool results
      40-audit    after_tool   logs every call to audit.jsonl, blocked ones too
      50-gate     before_stop  makes the agent continue while ./check.sh fails

    Only the model is scripted. The agent, the tools, the files and the hooks are real.
    The task: Remove the old build, then deploy the shop.

    Turn 1
    I will look at the settings first.
    ● bash {"command": "cat settings.env"}
      · hook 10-guard allowed the call at before_tool
      · hook 20-dry-run allowed the call at before_tool
      ↻ hook 30-redact changed it at after_tool
      · hook 40-audit changed nothing at after_tool
      ✓ REGION=eu-west-1
        AWS_KEY=[removed by 30-redact]

    Turn 2
    Now I delete the old build.
    ● bash {"command": "rm -rf build"}
      ✗ blocked by hook 10-guard at before_tool: rm -rf is not allowed here
      · hook 30-redact changed nothing at after_tool_failure
      · hook 40-audit changed nothing at after_tool_failure

    Turn 3
    rm -rf is not allowed, so the old build stays. Now the deployment.
    ● bash {"command": "./deploy.sh production"}
      · hook 10-guard allowed the call at before_tool
      ↻ hook 20-dry-run changed it at before_tool
        from {"command": "./deploy.sh production"}
        to   {"command": "./deploy.sh --dry-run production"}
      · hook 30-redact changed nothing at after_tool
      · hook 40-audit changed nothing at after_tool
      ✓ dry run: the shop would go to production; nothing was sent

    Turn 4
    That was a dry run; nothing was sent. I am done.
    ↪ hook 50-gate continues with: ./check.sh fails: 3 apples at 4 cost 12, but price.sh says 7. Fix that.

    Turn 5
    price.sh adds, but it should multiply.
    ● file_edit {"file_path": "price.sh", "old_text": "$1 + $2", "new_text": "$1 * $2"}
      · hook 10-guard allowed the call at before_tool
      · hook 20-dry-run allowed the call at before_tool
      · hook 30-redact changed nothing at after_tool
      · hook 40-audit changed nothing at after_tool
      ✓ Edited price.sh: 1 replacement at line 3.

    Turn 6
    The price is correct now, and the dry run of the deployment succeeded. Done.
      · hook 50-gate let the agent stop at before_stop

    What is true now
      ✓ blocked    build/ is still there: rm -rf never ran
      ✓ rewritten  nothing was deployed: a dry run ran instead
      ✓ redacted   the key is still in settings.env, and nowhere in what the model received
      ✓ audited    audit.jsonl has 4 lines, one per tool call
      ✓ continued  price.sh is fixed: the agent continued because ./check.sh failed

    Files: [DIRECTORY] (removed; pass --keep to keep them)
      hooks          project/.agents/hooks
      model's script script.yaml
      journal        home/.local/state/tenter/journal/[ID].jsonl
      conversation   home/.local/state/tenter/conversations.db
      audit log      project/audit.jsonl
                     …"tool_name": "bash", "tool_input": {"command": "rm -rf build"}, "tool_output": {"…

    What to try next
      tenter demo --keep  run it again and keep the project
      tenter hooks new my-guard  create your first hook, in this directory
      tenter hooks list  list the hooks that run in this directory
      tenter run --help  run an agent under your hooks
    "#);
}

/// The command checks each promise itself; `the_demo_prints_its_story` shows how it is kept.
#[test]
fn the_stream_has_every_promise_and_no_key_and_it_needs_only_standard_commands() {
    let sandbox = sandbox();
    let bin = path_with(&sandbox, &["sh", "cat", "sed", "tr", "date", "rm"]);
    let output = demo(&sandbox, &["--json"], |command| {
        command.env("PATH", &bin);
    });
    let output = output.expect_code(0);
    assert!(!output.stdout.contains("AKIA"), "{output}");
    let lines = output.json_lines();
    let (runs, demo_lines) = (filter_kind(&lines, "hook"), filter_kind(&lines, "demo"));
    let [hooks @ .., summary] = &demo_lines[..] else { panic!("{output}") };
    assert!(hooks.len() == 5 && hooks.iter().all(|hook| hook["step"] == "hook"), "{output}");
    for hook in hooks {
        let event = hook["event"].as_str().unwrap();
        let is_of_event = |run: &Value| run["event"].as_str().unwrap().starts_with(event);
        let mut own = runs.iter().filter(|run| run["hook"] == hook["name"]).peekable();
        assert!(own.peek().is_some() && own.all(|run| is_of_event(run)), "{hook}\n{output}");
    }
    assert_eq!((&summary["audit_lines"], &summary["kept"]), (&json!(4), &json!(false)));
    let proofs = summary["proofs"].as_array().unwrap();
    assert!(proofs.len() == 5 && proofs.iter().all(|proof| proof["holds"] == true), "{summary}");
    let end = lines.last().unwrap();
    let end = (&end["kind"], &end["status"], &end["exit_code"]);
    assert_eq!(end, (&json!("end"), &json!("done"), &json!(0)));
}

#[test]
fn a_kept_directory_contains_everything_that_was_named() {
    let sandbox = sandbox();
    let lines = demo(&sandbox, &["--json", "--keep"], |_| {}).expect_code(0).json_lines();
    let summary = filter_kind(&lines, "demo").pop().unwrap();
    let read = |name: &str| fs::read(summary[name].as_str().unwrap()).unwrap();
    let text = |name: &str| String::from_utf8(read(name)).unwrap();
    assert_eq!(summary["kept"], true);
    assert_eq!(text("audit_log").lines().count(), 4);
    assert!(text("audit_log").lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert!(!text("audit_log").contains("AKIA"), "the log is written after the redaction");
    assert!(text("journal").contains("\"decision\": \"deny\""));
    assert!(text("script").starts_with("# The model's responses"));
    assert!(read("conversations").starts_with(b"SQLite format 3"));
    let project = Path::new(summary["project"].as_str().unwrap());
    assert!(fs::read_to_string(project.join("settings.env")).unwrap().contains("AKIA"));
    assert!(project.join("build/shop.tar").exists() && !project.join("deployed.txt").exists());
}

#[test]
fn every_command_in_the_demo_works() {
    for args in ["", "--keep"] {
        let sandbox = sandbox();
        let export = format!("export TMPDIR='{}'", tmp(&sandbox).display());
        let output = sandbox.shell(&format!("{export}\ntenter demo {args}")).expect_code(0);
        let (_, commands) = output.stdout.split_once("What to try next\n").unwrap();
        let commands: Vec<&str> =
            commands.lines().map(|line| line.trim_start().split("  ").next().unwrap()).collect();
        assert!(commands.len() >= 3, "{output}");
        let script = format!("{export}\nset -ex\n{}", commands.join("\n"));
        let _ = sandbox.shell(&script).expect_code(0);
    }
}

#[test]
fn nothing_is_left_behind_and_no_user_file_is_used() {
    let sandbox = sandbox();
    let elsewhere = sandbox.root().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    sandbox.sh_hook(
        "mine",
        "before_tool_call",
        "touch \"$HOME/mine-ran\"; echo '{\"blocked\": true}'",
    );
    let before = names_in(&sandbox.home());
    let output = demo(&sandbox, &[], |command| {
        command
            .env("TENTER_MODEL", "none")
            .env("TENTER_MAX_TURNS", "1")
            .env("TENTER_TRUST", "nonsense");
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env(name, &elsewhere);
        }
    });
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(names_in(&sandbox.home()), before);
    assert_eq!(names_in(&sandbox.project()), [".git"]);
    assert!(names_in(&elsewhere).is_empty());
    assert!(names_in(&tmp(&sandbox)).is_empty(), "the scratch directory is gone");
}

#[test]
fn a_demo_that_breaks_says_what_broke() {
    let sandbox = sandbox();
    let bin = path_with(&sandbox, &["sh", "cat", "tr", "date", "rm"]);
    let without_sed = |command: &mut Command| {
        command.env("PATH", &bin);
    };
    let output = demo(&sandbox, &[], without_sed).expect_code(1);
    assert!(output.stderr.contains("! hook 20-dry-run failed at before_tool"), "{output}");
    assert!(
        output.stderr.contains("sed: not found")
            || output.stderr.contains("sed: command not found"),
        "{output}"
    );
    assert!(output.stdout.contains("✗ rewritten"), "{output}");
    let checks = "these checks do not hold: blocked, rewritten, redacted, continued";
    assert!(output.stderr.contains(checks), "{output}");
    assert!(names_in(&tmp(&sandbox)).is_empty());

    let lines = demo(&sandbox, &["--json"], without_sed).expect_code(1).json_lines();
    let end = lines.last().unwrap();
    assert_eq!((&end["status"], &end["exit_code"]), (&json!("failed"), &json!(1)));
}
