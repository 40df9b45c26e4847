//! Installation and removal for the user.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};
use std::{fs, thread};

use tenter_testkit::{PtySession, Sandbox, assert_contains};

use super::{Installed, SETTINGS};

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let sandbox = Installed::with_settings(SETTINGS);
    let output = sandbox.run("bridge install claude-code --dry-run").expect_code(0);
    let program = sandbox.home().join(".local/share/tenter/bin/tenter-hook");
    let text = format!(
        "+      {{ \"hooks\": [{{ \"type\": \"command\", \"command\": \"{} claude-code Stop --home {} --id ",
        program.display(),
        sandbox.home().display()
    );
    assert!(output.stdout.contains(&text), "{output}");
    assert_eq!(
        output.stdout.lines().filter(|line| line.starts_with("    -")).count(),
        0,
        "{output}"
    );
    assert!(output.stderr.contains("To undo it: `tenter bridge remove claude-code`"), "{output}");
    assert_eq!(sandbox.text(), SETTINGS);
    assert!(!sandbox.state().join("bridge/registrations.json").exists());
    assert!(!program.exists());
}

#[test]
fn what_is_installed_can_be_removed() {
    let sandbox = Installed::with_settings(SETTINGS);
    let output = sandbox.run("bridge install claude-code --yes").expect_code(0);
    assert!(output.stderr.contains("Registered with Claude Code."), "{output}");
    assert!(output.stderr.contains("Claude Code ignores"), "{output}");
    assert!(output.stderr.contains("no trailing commas (line 2, column 3)"), "{output}");
    assert!(sandbox.text().starts_with("{\n  // Opus for planning\n  \"model\": \"opus\",\n"));
    let copy = sandbox.home().join(".local/share/tenter/bin/tenter-hook");
    assert!(fs::symlink_metadata(copy).unwrap().is_file());

    sandbox.warns("bridge install claude-code --yes", "registered already");

    sandbox.prints("bridge remove claude-code --dry-run", "    -");
    sandbox.warns("bridge remove claude-code --yes", "Removed from");
    assert_eq!(sandbox.text(), SETTINGS);
    sandbox.warns("bridge remove claude-code --yes", "nothing is registered");
}

/// A plugin registers its events itself.
#[test]
fn an_unknown_version_matters_only_where_events_depend_on_it() {
    let sandbox = Installed::new();
    for (agent, matters) in [("opencode", false), ("claude-code", true)] {
        let output = sandbox.run(["bridge", "install", agent, "--yes"]).expect_code(0);
        assert_eq!(output.stderr.contains("only events that version"), matters, "{output}");
    }
}

#[test]
fn codex_trusts_what_is_registered() {
    let sandbox = Installed::new();
    let directory = sandbox.home().join(".codex");
    fs::create_dir(&directory).unwrap();
    let config = directory.join("config.toml");
    fs::write(&config, "model = \"o9\" # mine\n").unwrap();
    sandbox.warns("bridge install codex --yes", "Codex runs only entries that you trust");
    let trusting = fs::read_to_string(&config).unwrap();
    assert!(trusting.contains("trusted_hash = \"sha256:"), "{trusting}");
    assert!(!trusting.contains("[projects"));
    let is_untrusted = || {
        let findings = sandbox.run("hooks doctor --json").json().to_string();
        findings.contains("bridge-untrusted")
    };
    assert!(!is_untrusted());
    fs::write(
        &config,
        trusting.replacen("trusted_hash = \"sha256:", "trusted_hash = \"sha256:0", 1),
    )
    .unwrap();
    assert!(is_untrusted());
    let _ = sandbox.run("bridge install codex --yes").expect_code(0);
    assert!(!is_untrusted());
    let _ = sandbox.run("bridge remove codex --yes").expect_code(0);
    assert_eq!(fs::read_to_string(&config).unwrap(), "model = \"o9\" # mine\n");
    assert!(!directory.join("hooks.json").exists());
}

#[test]
fn without_a_terminal_nothing_is_changed_unless_the_user_said_yes() {
    let sandbox = Installed::with_settings(SETTINGS);
    let output = sandbox.run("bridge install claude-code").expect_code(1);
    assert_contains(&output.stderr, &["there is no terminal", "--yes"]);
    assert_eq!(sandbox.text(), SETTINGS);
    let _ = sandbox.run("bridge install claude-code --yes").expect_code(0);
    let text = sandbox.text();
    let _ = sandbox.run("bridge remove claude-code").expect_code(1);
    assert_eq!(sandbox.text(), text);
}

#[test]
fn the_user_chooses_agents_and_is_asked_before_each_change() {
    let sandbox = Installed::with_settings(SETTINGS);
    let mut terminal = terminal(&sandbox, &["bridge", "install"]);
    let screen = terminal.wait_for("or nothing): ");
    assert!(screen.contains("claude-code  settings only"), "{screen}");
    terminal.enter("claude-code");
    let screen = terminal.wait_for("Register? [y] yes  [n] no  [d] diff: ");
    assert_contains(&screen, &["Claude Code will run `tenter-hook` at 8 events", " lines more)."]);
    terminal.enter("d");
    let screen = terminal.wait_for("Register? [y] yes  [n] no  [d] diff: ");
    assert!(screen.contains("PreToolUse"), "{screen}");
    terminal.enter("n");
    let output = sandbox.finish_pty(terminal);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("Nothing was changed."), "{output}");
    assert_eq!(sandbox.text(), SETTINGS);

    let mut terminal = self::terminal(&sandbox, &["bridge", "install", "claude-code"]);
    terminal.answer("Register? [y] yes  [n] no  [d] diff: ", "y");
    assert_eq!(sandbox.finish_pty(terminal).code, Some(0));
    assert_ne!(sandbox.text(), SETTINGS);
}

fn terminal(sandbox: &Sandbox, args: &[&str]) -> PtySession {
    sandbox.at_terminal(args)
}

#[test]
fn wrong_usage_says_what_is_possible() {
    let sandbox = Installed::new();
    sandbox.fails(2, "bridge install claude", "did you mean `claude-code`?");
    sandbox.fails(2, "bridge install emacs", "Tenter knows `claude-code`");
    sandbox.fails(1, "bridge install --all --yes", "no agent that Tenter knows was found");
    let _ = sandbox.run("bridge remove").expect_code(2);
    let _ = sandbox.run("bridge install claude-code --shared").expect_code(2);
    fs::create_dir(sandbox.home().join(".claude")).unwrap();
    sandbox.fails(2, "bridge install --yes", "no agent is named");
    let _ = sandbox.run("bridge install --all --yes").expect_code(0);
}

#[test]
fn a_program_that_others_can_replace_is_not_registered() {
    let sandbox = Installed::new();
    fs::set_permissions(sandbox.bin.path(), fs::Permissions::from_mode(0o777)).unwrap();
    sandbox.fails(1, "bridge install claude-code --yes", "other users may change it");
    sandbox.warns("bridge install claude-code --yes --force", "note: ");
    fs::remove_file(sandbox.bin.path().join("tenter-hook")).unwrap();
    sandbox.fails(1, "bridge install claude-code --yes", "there is no program");
}

#[test]
fn an_outdated_or_missing_program_is_noted_by_every_command_and_renewed() {
    let sandbox = Installed::with_settings("{}");
    let _ = sandbox.run("bridge install claude-code --yes").expect_code(0);
    let copy = sandbox.home().join(".local/share/tenter/bin/tenter-hook");
    let current = sandbox.run("hooks list");
    assert!(!current.stderr.contains("tenter-hook"), "{current}");
    fs::write(copy.with_file_name("tenter-hook.version"), "0.0.1\n").unwrap();
    let outdated = sandbox.run("hooks list");
    assert!(outdated.stderr.contains("is 0.0.1, and this is tenter"), "{outdated}");
    fs::remove_file(&copy).unwrap();
    let missing = sandbox.run("hooks list");
    assert!(missing.stderr.contains("is missing, so none of your hooks runs"), "{missing}");
    let list = sandbox.run("bridge list");
    assert!(format!("{list}").contains("tenter bridge renew"), "{list}");
    let _ = sandbox.run("bridge renew").expect_code(0);
    assert!(copy.is_file());
    let current = sandbox.run("hooks list");
    assert!(!current.stderr.contains("tenter-hook"), "{current}");
}

#[test]
fn one_command_removes_every_registration() {
    let sandbox = Installed::with_settings("{}");
    let _ = sandbox.run("bridge install claude-code gemini --yes").expect_code(0);
    let _ = sandbox.run("bridge remove --all --yes").expect_code(0);
    assert_eq!(sandbox.text(), "{}");
    assert!(!sandbox.home().join(".local/share/tenter").exists());
}

#[test]
fn settings_that_silence_hooks_are_pointed_out() {
    let sandbox = Installed::with_settings("{}");
    let _ = sandbox.write(".claude/settings.json", "{\n  \"disableAllHooks\": true\n}\n");
    sandbox.warns("bridge install claude-code --yes", "disableAllHooks is true in");
}

#[test]
fn a_killed_installation_leaves_the_old_file_or_the_new_one() {
    let sandbox = Installed::with_settings(SETTINGS);
    let is_installed = |text: &str| {
        text.starts_with("{\n  // Opus for planning\n")
            && text.ends_with("\n  },\n}\n")
            && text.matches("tenter-hook claude-code ").count() == 8
    };
    for delay in 0..24 {
        let command = if sandbox.text() == SETTINGS { "install" } else { "remove" };
        let mut child = sandbox.start(["bridge", command, "claude-code", "--yes"]);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(delay * 2) {
            thread::yield_now();
        }
        child.kill().unwrap();
        let _ = sandbox.finish(child);
        let text = sandbox.text();
        assert!(text == SETTINGS || is_installed(&text), "{text}");
    }
    let _ = sandbox.run("bridge install claude-code --yes").expect_code(0);
    let _ = sandbox.run("bridge remove claude-code --yes").expect_code(0);
    assert_eq!(sandbox.text(), SETTINGS);
}
