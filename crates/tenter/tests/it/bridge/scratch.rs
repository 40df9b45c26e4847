//! The environment that `tenter bridge prove` gives an agent, and its clean-up: with agents that do nothing but look around.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tenter_testkit::wait_until;

use super::Installed;

/// Looks around, leaves a process behind, and crashes.
const CURIOUS: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo 9.9.9; exit 0; fi
env > "$HOME/environment.txt"
cat /proc/self/net/dev > "$HOME/network.txt"
(setsid sh -c 'sleep 600; :' "$HOME" > /dev/null 2>&1 &)
echo "no such option" >&2
exit 7
"#;

/// Does not end.
const ENDLESS: &str = "#!/bin/sh
if [ \"$1\" = --version ]; then echo 9.9.9; exit 0; fi
sh -c 'sleep 600; :' \"$HOME\"
";

fn with_agent(script: &str) -> Installed {
    let sandbox = Installed::new();
    sandbox.program("claude", script);
    sandbox
}

/// Returns true if a process has this path among its arguments.
fn is_running(path: &Path) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|one| fs::read(one.path().join("cmdline")).ok());
    let path = path.to_string_lossy().into_owned();
    lines.any(|line| String::from_utf8_lossy(&line).contains(&path))
}

/// Returns true if the user may create a network namespace.
fn has_namespaces(sandbox: &Installed) -> bool {
    sandbox
        .shell("unshare --net true || unshare --user --map-root-user --net true; echo $?")
        .stdout
        .ends_with("0\n")
}

#[test]
fn an_agent_gets_no_secrets_and_no_network_and_leaves_no_process_behind() {
    let sandbox = with_agent(CURIOUS);
    let directory = sandbox.root().join("kept");
    let line = "MY_TOKEN=secret ANTHROPIC_API_KEY=secret tenter bridge prove claude-code --json";
    let proved = sandbox.shell(&format!("{line} --keep {} 2> errors.txt", directory.display()));
    let proved = proved.expect_code(1).json();
    assert_eq!(proved[0]["version"], "9.9.9");
    let checks = proved[0]["checks"].as_array().unwrap();
    let is_failure = |check: &&Value| check["verdict"] == "BROKEN";
    let evidence = checks.iter().find(is_failure).unwrap()["evidence"].to_string();
    assert!(evidence.contains("exited with code 7; its output: no such option"), "{evidence}");
    let errors = sandbox.read("errors.txt");
    let counts = errors.lines().filter_map(|line| line.rsplit(": ").next()?.split_once(" of "));
    assert!(counts.into_iter().any(|(count, all)| all == format!("{count} runs done")), "{errors}");

    let home = directory.join("claude-code/tools/home");
    let environment = fs::read_to_string(home.join("environment.txt")).unwrap();
    assert!(!environment.contains("secret"), "{environment}");
    assert!(environment.contains(&format!("HOME={}", home.display())), "{environment}");
    let network = fs::read_to_string(home.join("network.txt")).unwrap();
    let interfaces = network.lines().filter(|line| line.contains(':')).count();
    assert_eq!(proved[0]["isolated"], interfaces == 1);
    assert!(!has_namespaces(&sandbox) || interfaces == 1, "{network}");
    assert!(!is_running(&directory), "a process is left");
}

#[test]
fn an_interrupted_proof_ends_the_agent_and_removes_its_files() {
    let sandbox = with_agent(ENDLESS);
    let temporary = sandbox.root().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let path = format!("{}:{}", sandbox.bin.path().display(), "/usr/bin:/bin:/usr/sbin");
    let mut command = sandbox.command();
    command.args(["bridge", "prove", "claude-code"]).env("PATH", path).env("TMPDIR", &temporary);
    command.stderr(Stdio::null());
    let mut child: Child = command.spawn().unwrap();
    wait_until("the agent runs", || is_running(&temporary));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    wait_until("the command ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    wait_until("no process is left", || !is_running(&temporary));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "files are left");
    assert!(!sandbox.state().join("bridge/proofs").exists());
}
