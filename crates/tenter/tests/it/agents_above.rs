//! Commands that loosen guards refuse to run below a coding agent (R76, B42).
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};

use tenter_testkit::{Output, PtySession, Sandbox};

use crate::sandbox;

const GUARD: &str = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call\nexit 0\n";

/// Returns a project with the trusted hook `guard` and the untrusted hook `new`.
fn project() -> Sandbox {
    let sandbox = sandbox();
    sandbox.hook("guard", GUARD);
    let _ = sandbox.run("trust --yes").expect_code(0);
    sandbox.hook("new", GUARD);
    sandbox
}

/// Returns a shell whose program has the name of an agent.
fn agent(sandbox: &Sandbox, name: &str) -> PathBuf {
    let agent = sandbox.root().join(name);
    fs::copy("/bin/sh", &agent).unwrap();
    agent
}

/// Runs a shell command below `agent`, with this working directory and home.
fn below(sandbox: &Sandbox, agent: &Path, (cwd, home): (&Path, &Path), line: &str) -> Output {
    let directory = Path::new(env!("CARGO_BIN_EXE_tenter")).parent().unwrap().display();
    let (project, own) = (sandbox.project(), sandbox.home());
    let inner = format!(
        "PATH='{directory}':$PATH; (cd '{}' && HOME='{}' && export HOME && {line}); exit \\$?",
        project.display(),
        own.display()
    );
    sandbox.shell(&format!(
        "cd '{}' && HOME='{}' '{}' -c \"{inner}\"",
        cwd.display(),
        home.display(),
        agent.display()
    ))
}

#[test]
fn an_agent_cannot_loosen_its_own_guards() {
    let sandbox = project();
    let claude = agent(&sandbox, "claude");
    let here = (sandbox.project(), sandbox.home());
    let file = fs::read(sandbox.state().join("trust.json")).unwrap();
    let model = sandbox.script("turns: [{text: Hello.}]");
    for line in [
        "tenter trust --yes",
        "tenter trust",
        "tenter trust --revoke guard",
        "tenter hooks disable guard",
        "tenter plugin add ./x",
        "tenter plugin update",
        "tenter plugin remove a/b",
        "tenter bridge install claude-code --yes",
        "tenter bridge remove claude-code",
        "tenter config set trust all",
        "tenter config set --project max_turns 3",
        "tenter config unset trust",
        "tenter config edit",
        &format!("tenter run --trust-project --model {model} hi"),
    ] {
        let output = below(&sandbox, &claude, (&here.0, &here.1), line);
        assert_ne!(output.code, Some(0), "{line}\n{output}");
        assert!(output.stdout.contains("Claude Code (process "), "{line}\n{output}");
        assert!(output.stdout.contains("help: run `tenter "), "{line}\n{output}");
    }
    assert_eq!(fs::read(sandbox.state().join("trust.json")).unwrap(), file);
    assert!(sandbox.project().join(".kodelet/hooks/guard").exists());
}

#[test]
fn an_agent_may_list_and_add_hooks() {
    let sandbox = project();
    let codex = agent(&sandbox, "codex");
    let here = (sandbox.project(), sandbox.home());
    for line in *tenter_base::phrases!(
        "tenter trust --list, tenter hooks list, tenter hooks new more --format executable,
         tenter plugin list, tenter hooks doctor, tenter config list, tenter config get trust,
         tenter config path"
    ) {
        let output = below(&sandbox, &codex, (&here.0, &here.1), line);
        assert_eq!(output.code, Some(0), "{line}\n{output}");
    }
}

#[test]
fn another_home_or_project_is_not_restricted() {
    let sandbox = project();
    let claude = agent(&sandbox, "claude");
    let elsewhere = sandbox.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let output = below(&sandbox, &claude, (&elsewhere, &elsewhere), "tenter trust --yes");
    assert_eq!(output.code, Some(0), "{output}");
    // Its own project is restricted with any home.
    let output = below(&sandbox, &claude, (&sandbox.project(), &elsewhere), "tenter trust --yes");
    assert!(output.stdout.contains("Claude Code"), "{output}");
}

#[test]
fn tenter_counts_as_an_agent() {
    let sandbox = project();
    let binary = env!("CARGO_BIN_EXE_tenter");
    let output = sandbox.play(&format!(
        "turns: [{{tool_calls: [{{name: bash, input: {{command: \"'{binary}' trust --yes\"}}}}]}}, {{text: Done.}}]"
    ), &["--no-hooks", "hi"]).expect_code(0);
    assert!(
        output.stdout.contains("Tenter (process ") || output.stderr.contains("Tenter (process "),
        "{output}"
    );
    let list = sandbox.run("trust --list").expect_code(0);
    assert!(!list.stdout.contains("new"), "{list}");
}

#[test]
fn a_marker_without_an_agent_asks_for_a_typed_confirmation() {
    let sandbox = project();
    let mut command = sandbox.command();
    let output = command.env("CLAUDECODE", "1").args(["trust", "--yes"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("unset CLAUDECODE"), "{message}");
    for (answer, code) in [("yes", 1), ("I am the user", 0)] {
        let mut command = sandbox.command();
        command.env("CLAUDECODE", "1").args(["trust", "--yes"]);
        let mut session = PtySession::start(command);
        session.answer("to continue: ", answer);
        assert_eq!(session.end().0, Some(code), "{answer}");
    }
}
