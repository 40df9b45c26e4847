//! Shell completions: names of the project, in real shells, without running anything of it.

use std::fs;
use std::path::Path;

use tenter_testkit::{PtySession, Sandbox, needs, skip_unless};

use crate::sandbox;

/// A hook that leaves a file when it is run.
const LEAVES_A_TRACE: &str =
    "#!/bin/sh\ntouch was-run\n[ \"$1\" = hook ] && echo before_tool_call\n";

/// Returns the completions that bash offers for the last of these words.
fn in_bash(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let arguments: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "eval \"$(tenter completions bash)\"; COMP_WORDS=({}); COMP_CWORD={}; COMP_TYPE=9; _clap_complete_tenter tenter '{}' x; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        arguments.join(" "),
        words.len() - 1,
        words.last().unwrap()
    );
    sandbox.write("../complete.sh", script);
    let file = sandbox.root().join("complete.sh");
    let output = sandbox.shell(&format!("bash '{}'", file.display())).expect_code(0);
    output.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_names_and_runs_nothing_of_the_project() {
    skip_unless!(needs::has("bash"));
    let sandbox = sandbox();
    sandbox.hook("guard-one", LEAVES_A_TRACE);
    sandbox.hook("other", LEAVES_A_TRACE);
    sandbox.user_hook("guard-two", LEAVES_A_TRACE);
    assert_eq!(
        in_bash(&sandbox, &["tenter", "hooks", "show", "guard"]),
        ["guard-one", "guard-two"]
    );
    assert_eq!(in_bash(&sandbox, &["tenter", "log", "--hook", "o"]), ["other"]);
    assert!(!sandbox.project().join("was-run").exists());
    assert_eq!(
        in_bash(&sandbox, &["tenter", "config", "get", "max_"]),
        ["max_tokens", "max_turns"]
    );
    assert_eq!(in_bash(&sandbox, &["tenter", "config", "list", "r"]), ["retry"]);
    assert_eq!(in_bash(&sandbox, &["tenter", "bridge", "show", "claude"]), ["claude-code"]);
    assert_eq!(in_bash(&sandbox, &["tenter", "help", "manifest"]), ["manifest-hooks"]);
    assert_eq!(in_bash(&sandbox, &["tenter", "run", "--reasoning-effort", "mini"]), ["minimal"]);
    let models = in_bash(&sandbox, &["tenter", "chat", "--model", "anthropic/"]);
    assert!(
        models.len() > 1 && models.iter().all(|model| model.starts_with("anthropic/")),
        "{models:?}"
    );
    let recipes = in_bash(&sandbox, &["tenter", "run", "-r", "com"]);
    assert!(recipes.contains(&"compact".to_owned()), "{recipes:?}");
    let guards = in_bash(&sandbox, &["tenter", "guard", "add", ""]);
    assert!(guards.len() > 3, "{guards:?}");
}

#[test]
fn conversations_are_completed_with_their_first_words() {
    let sandbox = sandbox();
    let _ = sandbox.play("turns: [{text: Hello.}]", &["Tell me a story"]).expect_code(0);
    let list = sandbox.run("conversation list --json").json();
    let id = list[0]["id"].as_str().unwrap();
    let args = ["--", "tenter", "run", "--resume", ""];
    let entry = sandbox.run_with_env(&[("TENTER_COMPLETE", "fish")], args).stdout;
    assert!(entry.starts_with(&format!("{id}\tTell me a story\n")), "{entry}");
    if needs::has("bash") {
        assert_eq!(in_bash(&sandbox, &["tenter", "conversation", "show", &id[..4]]), [id]);
    }
}

#[test]
fn the_project_of_the_line_counts_and_a_broken_one_offers_nothing() {
    let sandbox = sandbox();
    fs::create_dir_all(sandbox.root().join("elsewhere")).unwrap();
    sandbox.write("../elsewhere/tenter.toml", "zzz = 1\n");
    sandbox.write_program("../elsewhere/.kodelet/hooks/there", LEAVES_A_TRACE);
    sandbox.write("../elsewhere/.kodelet/hooks/bad\u{1b}[2J", LEAVES_A_TRACE);
    let complete = |words: &[&str]| {
        let mut command = sandbox.command();
        command
            .env("TENTER_COMPLETE", "zsh")
            .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
        let output = command.arg("--").args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let hooks = complete(&["tenter", "hooks", "--project", "../elsewhere", "show", ""]);
    assert!(hooks.contains("there") && !hooks.contains('\u{1b}'), "{hooks:?}");
    let models = complete(&["tenter", "run", "--project", "../elsewhere", "--model", ""]);
    assert_eq!(models, "");
    let hooks = complete(&["tenter", "hooks", "show", ""]);
    assert!(!hooks.contains("there"), "{hooks}");
}

#[test]
fn the_scripts_are_valid_in_their_shells() {
    let sandbox = sandbox();
    for (shell, check) in [("bash", "bash -n"), ("zsh", "zsh -n"), ("fish", "fish -n")] {
        if needs::has(shell) {
            let _ = sandbox
                .shell(&format!("tenter completions {shell} > script && {check} script"))
                .expect_code(0);
        }
    }
    for shell in ["elvish", "powershell"] {
        let script = sandbox.run(["completions", shell]).expect_code(0).stdout;
        assert!(script.contains("TENTER_COMPLETE"), "{script}");
    }
    if needs::has("fish") {
        sandbox.hook("guard-one", LEAVES_A_TRACE);
        let screen = sandbox.shell(
            "fish -c 'tenter completions fish | source; complete -C \"tenter hooks show guard\"'",
        );
        assert!(screen.stdout.starts_with("guard-one\t"), "{screen}");
    }
    // An unknown shell and an empty variable do nothing unexpected.
    let output = sandbox.run_with_env(&[("TENTER_COMPLETE", "dos")], ["--", "tenter", ""]);
    assert_eq!((output.code, output.stdout.len()), (Some(1), 0));
    let _ = sandbox.run_with_env(&[("TENTER_COMPLETE", "")], "--version").expect_code(0);
}

/// Returns a sandbox with MCP servers of the user and of the project.
fn with_servers() -> Sandbox {
    let sandbox = sandbox();
    let servers = "[mcp.servers.issues]\ncommand = \"touch\"\nargs = [\"was-run\"]\n";
    sandbox.configure(servers);
    sandbox
        .write(".mcp.json", r#"{"mcpServers": {"lint": {"command": "node", "args": ["x.js"]}}}"#);
    sandbox
}

#[test]
fn names_of_mcp_servers_are_completed() {
    let sandbox = with_servers();
    let args = ["--", "tenter", "mcp", "show", ""];
    let entry = sandbox.run_with_env(&[("TENTER_COMPLETE", "fish")], args).stdout;
    assert!(entry.starts_with("issues\ttouch was-run\nlint\tnode x.js\n"), "{entry}");
    if needs::has("bash") {
        assert_eq!(in_bash(&sandbox, &["tenter", "mcp", "test", "l"]), ["lint"]);
        assert_eq!(in_bash(&sandbox, &["tenter", "trust", "--revoke", "mcp:"]), ["mcp:lint"]);
    }
    assert!(!sandbox.project().join("was-run").exists());
}

#[test]
fn zsh_completes_at_its_prompt() {
    skip_unless!(needs::has("zsh"));
    let sandbox = with_servers();
    let tenter = sandbox.command();
    let directory = Path::new(tenter.get_program()).parent().unwrap();
    let path = std::iter::once(directory.to_owned());
    let path = path.chain(std::env::split_paths(&needs::search_path()).collect::<Vec<_>>());
    let mut command = sandbox.program("zsh");
    command.env("PATH", std::env::join_paths(path).unwrap()).args(["-f", "-i"]);
    let mut session = PtySession::start(command);
    session.enter("autoload -U compinit; compinit -u -D; eval \"$(tenter completions zsh)\"; PS1='> '; echo is set' 'up");
    session.wait_for("is set up");
    session.type_in("tenter mcp show iss\t");
    session.wait_for_row("tenter mcp show issues");
    // Ctrl-U deletes the line.
    session.type_in("\u{15}");
    session.enter("exit");
    let _ = sandbox.finish_pty(session).expect_code(0);
}

#[test]
fn fish_completes_what_it_is_asked_for() {
    skip_unless!(needs::has("fish"));
    let sandbox = with_servers();
    let complete = "tenter completions fish | source; complete -C 'tenter mcp test l'";
    let output = sandbox.shell(&format!("fish --no-config -c \"{complete}\""));
    assert_eq!(output.stdout, "lint\tnode x.js\n", "{output}");
}
