//! The program without its own agent: `cargo test -p tenter --no-default-features --test without_agent`.

#![cfg(not(feature = "agent"))]
#![expect(clippy::unwrap_used, reason = "tests")]

use tenter_testkit::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_tenter"));
    sandbox.write("plugin/hooks/.keep", "");
    sandbox
}

/// The command lines that are run, in this order, in one sandbox, and their exit codes.
const LINES: &[(&str, i32)] = &[
    ("hooks new guards/mine --template no-force-push", 0),
    ("hooks list", 0),
    ("hooks doctor", 0),
    ("trust --yes", 0),
    ("hooks show guards/mine", 0),
    ("hooks test guards/mine", 0),
    ("hooks disable guards/mine", 0),
    ("hooks enable guards/mine", 0),
    ("hooks explain before_tool", 0),
    ("hooks stats", 0),
    ("hooks validate .tenter/hooks/guards/mine", 0),
    ("hooks read-properties .tenter/hooks/guards/mine", 0),
    ("hooks discover", 0),
    ("hooks schema before_tool", 0),
    ("hooks to-prompt .tenter/hooks/guards/mine", 0),
    ("guard list", 0),
    ("guard add git-safety", 0),
    ("guard update", 0),
    ("guard remove git-safety", 0),
    ("plugin new acme/mine", 0),
    ("plugin check mine", 0),
    ("plugin add ./mine", 0),
    ("plugin list", 0),
    ("plugin show acme/mine", 0),
    ("plugin update acme/mine", 0),
    ("plugin verify", 0),
    ("plugin remove acme/mine", 0),
    ("bridge list", 0),
    ("bridge install claude-code", 0),
    ("bridge show claude-code", 0),
    ("bridge prove claude-code", 1),
    ("bridge import --dry-run", 0),
    ("bridge remove claude-code", 0),
    ("log", 0),
    ("inspect --help", 0),
    ("config list", 0),
    ("config set max_turns 7", 0),
    ("config get max_turns", 0),
    ("config unset max_turns", 0),
    ("config edit --help", 0),
    ("completions bash", 0),
    ("man", 0),
    ("help hooks", 0),
];

#[test]
fn every_command_of_hooks_runs() {
    let sandbox = sandbox();
    for (line, code) in LINES {
        let words: Vec<&str> = line.split(' ').collect();
        let output = sandbox.run(&words);
        assert_eq!(output.code, Some(*code), "{line}\n{output}");
    }
}

/// The commands below `path`, from their help.
fn commands(sandbox: &Sandbox, path: &[&str]) -> Vec<String> {
    let help = sandbox.run(&[path, &["--help"]].concat()).expect_code(0).stdout;
    let Some((_, listing)) = help.split_once("\nCommands:\n") else {
        return vec![path.join(" ")];
    };
    let lines = listing.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && *name != "help").collect();
    names.into_iter().flat_map(|name| commands(sandbox, &[path, &[name]].concat())).collect()
}

#[test]
fn no_command_is_left_out_above() {
    let commands = commands(&sandbox(), &[]);
    assert!(commands.len() > 30, "{commands:?}");
    for command in commands {
        assert!(LINES.iter().any(|(line, _)| line.starts_with(&command)), "{command}");
    }
}

#[test]
fn a_command_of_the_agent_says_that_there_is_none() {
    let sandbox = sandbox();
    assert!(!sandbox.run(&["--help"]).stdout.contains("\n  chat "));
    for name in ["run", "chat", "demo", "models"] {
        let output = sandbox.run(&[name, "x"]).expect_code(2);
        let message = format!("this build of tenter has no agent, so there is no `tenter {name}`");
        assert!(output.stderr.contains(&message), "{output}");
    }
    let output = sandbox.run(&["chatt"]).expect_code(2);
    assert!(output.stderr.contains("unrecognized subcommand"), "{output}");
}
