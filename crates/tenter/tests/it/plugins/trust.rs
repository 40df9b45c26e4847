//! The hooks of a project's plugins run when they were trusted as they are, and never before.

use std::fs;

use serde_json::Value;
use tenter_testkit::Sandbox;

use super::{GUARD, Repository, ran};
use crate::sandbox;

const GUARD_NAME: &str = "ada/guards/guard";

fn status(sandbox: &Sandbox, name: &str) -> String {
    let list = sandbox.run("hooks list --json").json();
    let hook = list.as_array().unwrap().iter().find(|hook| hook["name"] == name).cloned();
    hook.unwrap_or(Value::Null)["status"].as_str().unwrap_or("missing").to_owned()
}

#[test]
fn without_a_terminal_hooks_stay_untrusted_and_a_run_refuses_to_start() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    repository.write(
        "hooks/tidy/HOOK.md",
        "---\nname: tidy\ndescription: Tidies.\ntrigger: after_tool\n---\n",
    );
    repository.write("hooks/tidy/scripts/run.sh", "echo tidy >> \"$HOME/ran\"\n");
    repository.commit();
    let output = sandbox.run(["plugin", "add", &repository.url()]).expect_code(0);
    let tidy = "  ada/guards/tidy  after_tool  .kodelet/plugins/ada@guards/hooks/tidy\n";
    assert!(output.stderr.contains(tidy), "{output}");
    assert_eq!(ran(&sandbox), "");
    let _ = sandbox.play("turns: [{text: Hello.}]", &["Hello?"]).expect_code(4);
    assert_eq!(ran(&sandbox), "");
    assert_eq!(status(&sandbox, GUARD_NAME), "untrusted");
}

#[test]
fn with_the_flag_hooks_are_trusted_and_then_queried() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let output = sandbox.run(["plugin", "add", "--trust", &repository.url()]).expect_code(0);
    let text = "Trusted:\n  ada/guards/guard  before_tool_call\n";
    assert!(output.stderr.ends_with(text), "{output}");
    assert_eq!(ran(&sandbox), "hook\n");
    assert_eq!(status(&sandbox, GUARD_NAME), "active");
}

#[test]
fn at_a_terminal_the_user_is_asked_only_once() {
    let sandbox = sandbox();
    let (one, two) = (Repository::new(&sandbox, "guards"), Repository::new(&sandbox, "more"));
    let mut terminal = sandbox.at_terminal(["plugin", "add", &one.url(), &two.url()]);
    let question = terminal.wait_for("[s] skip: ");
    assert!(question.contains(GUARD_NAME) && question.contains("ada/more/guard"), "{question}");
    assert!(question.contains("executable; its events are asked after you trust it"), "{question}");
    assert_eq!(ran(&sandbox), "");
    terminal.enter("v");
    let screen = terminal.wait_for("[s] skip: ");
    assert!(screen.contains("echo before_tool_call"), "{screen}");
    terminal.enter("t");
    let output = sandbox.finish_pty(terminal).expect_code(0);
    assert!(!output.stdout.contains("Let them run?"), "{output}");
    assert_eq!(
        (status(&sandbox, GUARD_NAME), status(&sandbox, "ada/more/guard")),
        ("active".into(), "active".into())
    );
}

#[test]
fn skipping_installs_the_plugin_without_trusting_its_hooks() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let mut terminal = sandbox.at_terminal(["plugin", "add", &repository.url()]);
    terminal.answer("[s] skip: ", "s");
    let _ = sandbox.finish_pty(terminal).expect_code(0);
    assert_eq!((status(&sandbox, GUARD_NAME), ran(&sandbox)), ("untrusted".into(), String::new()));
    let names = sandbox.run("recipe list").stdout;
    assert!(names.contains("ada/guards/review"), "{names}");
}

#[test]
fn a_user_plugin_needs_no_trust() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let output = sandbox.run(["plugin", "add", "-g", &repository.url()]).expect_code(0);
    assert_eq!(output.stderr.lines().count(), 1, "nothing about trust: {output}");
    assert_eq!(ran(&sandbox), "", "adding asks no hook");
    assert_eq!(status(&sandbox, GUARD_NAME), "active");
}

#[test]
fn a_changed_plugin_asks_again() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(["plugin", "add", "--trust", &repository.url()]).expect_code(0);
    repository.hook("guard", &format!("{GUARD}# second\n"));
    repository.commit();
    let _ = sandbox.run("plugin update").expect_code(0);
    assert_eq!(status(&sandbox, GUARD_NAME), "untrusted");
    let _ = sandbox.run(["plugin", "add", "--force", "--trust", &repository.url()]).expect_code(0);
    assert_eq!(status(&sandbox, GUARD_NAME), "active");
}

/// User plugins run without trust, so a project must not be able to redirect their directory.
#[test]
fn a_symlink_of_the_project_does_not_make_its_plugins_the_users() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let own = sandbox.home().join(".kodelet/plugins");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(sandbox.project().join(".kodelet")).unwrap();
    std::os::unix::fs::symlink(&own, sandbox.project().join(".kodelet/plugins")).unwrap();
    for line in [&["add", repository.url().as_str()][..], &["update"], &["remove", "ada/guards"]] {
        sandbox.fails(1, [&["plugin"], line].concat(), "outside of the project");
    }
    assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
    let _ = sandbox.run(["plugin", "add", "-g", &repository.url()]).expect_code(0);
}

/// The installed plugin stays, and so does the trust in it.
#[test]
fn a_failed_replacement_keeps_the_trust() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(["plugin", "add", "--trust", &repository.url()]).expect_code(0);
    repository.git("rm --quiet -r hooks skills recipes");
    repository.commit();
    let _ = sandbox.run(["plugin", "add", "--force", &repository.url()]).expect_code(1);
    let _ = sandbox.run("plugin update").expect_code(1);
    assert_eq!(status(&sandbox, GUARD_NAME), "active");
    let _ = sandbox.run("plugin verify").expect_code(0);
}

#[test]
fn changes_outside_the_hooks_keep_their_trust() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(["plugin", "add", "--trust", &repository.url()]).expect_code(0);
    repository.write("recipes/review.md", "Review it again.\n");
    repository.commit();
    let _ = sandbox.run("plugin update").expect_code(0);
    assert_eq!(status(&sandbox, GUARD_NAME), "active");
    let directory =
        fs::read_to_string(sandbox.project().join(".kodelet/plugins/ada@guards/recipes/review.md"));
    assert_eq!(directory.unwrap(), "Review it again.\n");
}

/// If a removal is interrupted, the plugin's trust must be gone: nothing would revoke it later.
#[test]
fn a_removal_revokes_trust_first() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(["plugin", "add", "--trust", &repository.url()]).expect_code(0);
    assert_eq!(status(&sandbox, GUARD_NAME), "active");
    sandbox.write(".kodelet/plugins/plugin.lock", "<<<<<<< HEAD\n");
    let _ = sandbox.run("plugin remove ada/guards").expect_code(1);
    assert_eq!(status(&sandbox, GUARD_NAME), "untrusted");
}
