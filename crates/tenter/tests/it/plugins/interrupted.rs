//! What an installation leaves when it is interrupted, and two at once.

use std::process::Child;

use tenter_testkit::{Sandbox, wait_until};

use super::{Repository, left};
use crate::sandbox;

/// Starts an installation that waits for a server until the file `wait` is gone.
fn slow(sandbox: &Sandbox, args: &[&str]) -> Child {
    sandbox.write("wait", "");
    let project = sandbox.project();
    let ssh = format!(
        "cd {} && touch begun && while [ -e wait ]; do sleep 0.02; done; false",
        project.display()
    );
    let mut command = sandbox.command();
    command.args(["plugin", "add"]).args(args).arg("ssh://host.invalid/ada/guards");
    command.env("GIT_SSH_COMMAND", format!("sh -c '{ssh}'"));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("the server is asked", || project.join("begun").exists());
    child
}

fn let_go(sandbox: &Sandbox) {
    std::fs::remove_file(sandbox.project().join("wait")).unwrap();
}

#[test]
fn leftovers_of_a_killed_installation_are_hidden_and_removed_by_the_next() {
    let sandbox = sandbox();
    let mut child = slow(&sandbox, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    let rest = left(&sandbox);
    assert!(rest.len() == 1 && rest[0].starts_with(".staging-"), "{rest:?}");
    assert_eq!(sandbox.run(&["plugin", "list", "--json"]).json(), serde_json::json!([]));
    let_go(&sandbox);
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(&["plugin", "add", &repository.url()]).expect_code(0);
    wait_until("nothing is left", || left(&sandbox) == ["ada@guards", "plugin.lock"]);
}

#[test]
fn a_running_installation_is_not_disturbed() {
    let sandbox = sandbox();
    let child = slow(&sandbox, &[]);
    let repository = Repository::new(&sandbox, "more");
    let _ = sandbox.run(&["plugin", "add", &repository.url()]).expect_code(0);
    let rest = left(&sandbox);
    assert!(rest.len() == 3 && rest[0].starts_with(".staging-"), "{rest:?}");
    let_go(&sandbox);
    let _ = sandbox.finish(child).expect_code(1);
    assert_eq!(left(&sandbox), ["ada@more", "plugin.lock"]);
}

#[test]
fn ctrl_c_stops_it_and_changes_nothing() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(&["plugin", "add", &repository.url()]).expect_code(0);
    let child = slow(&sandbox, &["--force", "--continue-on-error"]);
    assert_eq!(sandbox.shell(&format!("kill -INT {}", child.id())).code, Some(0));
    let output = sandbox.finish(child).expect_code(130);
    assert!(output.stderr.contains("ada/guards is unchanged"), "{output}");
    let_go(&sandbox);
    assert_eq!(left(&sandbox), ["ada@guards", "plugin.lock"]);
    let _ = sandbox.run(&["plugin", "verify"]).expect_code(0);
}

#[test]
fn two_at_once_both_install_and_are_both_recorded() {
    let sandbox = sandbox();
    let (one, two) = (Repository::new(&sandbox, "one"), Repository::new(&sandbox, "two"));
    let children =
        [&one, &two].map(|repository| sandbox.start(&["plugin", "add", &repository.url()]));
    for child in children {
        let _ = sandbox.finish(child).expect_code(0);
    }
    let _ = sandbox.run(&["plugin", "verify", "ada/one", "ada/two"]).expect_code(0);
    assert_eq!(left(&sandbox), ["ada@one", "ada@two", "plugin.lock"]);
}
