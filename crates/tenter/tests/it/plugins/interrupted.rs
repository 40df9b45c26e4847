//! Interrupted installations, and one that another process must not disturb.

use std::process::Child;

use tenter_testkit::{Sandbox, wait_until};

use super::{Repository, left};
use crate::{sandbox, send_signal};

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
fn a_running_installation_is_not_disturbed() {
    let sandbox = sandbox();
    let child = slow(&sandbox, &[]);
    let repository = Repository::new(&sandbox, "more");
    let _ = sandbox.run(["plugin", "add", &repository.url()]).expect_code(0);
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
    let _ = sandbox.run(["plugin", "add", &repository.url()]).expect_code(0);
    let child = slow(&sandbox, &["--force", "--continue-on-error"]);
    assert!(send_signal("INT", child.id()));
    sandbox.finish(child).fails(130, "ada/guards is unchanged");
    let_go(&sandbox);
    assert_eq!(left(&sandbox), ["ada@guards", "plugin.lock"]);
    let _ = sandbox.run("plugin verify").expect_code(0);
}
