//! The program without its own agent: `cargo test -p tenter --no-default-features --test without_agent`.

#![cfg(not(feature = "agent"))]

use tenter_testkit::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_tenter"))
}

/// The command lines that are run, in this order, in one sandbox. All of them succeed.
const LINES: &[&str] = tenter_base::phrases!(
    "hooks new mine --template no-force-push, hooks list, hooks doctor, trust --yes,
     hooks show mine, hooks test mine, hooks disable mine, hooks enable mine,
     hooks explain --event session_end, hooks stats, hooks validate .agents/hooks,
     hooks read-properties .agents/hooks/mine, hooks discover, hooks schema before_tool,
     hooks to-prompt .agents/hooks/mine, guard list, guard add git-safety, guard show git-safety,
     hooks catalog, check ls, plugin new mine --author Ada, plugin check mine, plugin list,
     plugin verify, bundle pack mine --name acme --version 1, bundle status, bundle unit,
     bridge list, bridge show claude-code, log, config path, config list, config set max_turns 7,
     config get max_turns, config unset max_turns, completions bash, man, help hooks"
);

/// Commands that need an installed agent, a plugin, a browser or an editor: their help shows that they exist.
const NEED_MORE: &[&str] = tenter_base::phrases!(
    "confine, export csv, export jsonl, export otlp, export unit, guard enforce, guard set,
     hooks enforce, journal prune, journal seal, journal verify, backtest, checkpoint list,
     checkpoint show, checkpoint restore, hooks add, hooks set, hooks remove, hooks update,
     hooks lint, guard update, guard remove, plugin add, plugin show, plugin update,
     plugin remove, bundle sign, bundle verify, bundle install, bundle update, bridge install,
     bridge import, bridge prove, bridge remove, bridge renew, inspect, config edit"
);

fn run(sandbox: &Sandbox, line: &str) {
    let output = sandbox.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(output.code, Some(0), "{line}\n{output}");
}

#[test]
fn every_command_of_hooks_runs() {
    let sandbox = sandbox();
    LINES.iter().for_each(|line| run(&sandbox, line));
    NEED_MORE.iter().for_each(|line| run(&sandbox, &format!("{line} --help")));
}

/// Returns the commands below `path`, from their help.
fn commands(sandbox: &Sandbox, path: &[&str]) -> Vec<String> {
    let help = sandbox.run(&[path, &["--help"]].concat()).expect_code(0).stdout;
    let listing = match help.split_once("\nCommands:\n") {
        Some((_, rest)) => rest.split("\n\n").next().unwrap(),
        // The commands of the program itself are in groups.
        None if path.is_empty() => help.as_str(),
        None => return vec![path.join(" ")],
    };
    let lines = listing.lines();
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && *name != "help").collect();
    names.into_iter().flat_map(|name| commands(sandbox, &[path, &[name]].concat())).collect()
}

#[test]
fn no_command_is_left_out_above() {
    let commands = commands(&sandbox(), &[]);
    assert!(commands.len() > 30, "{commands:?}");
    for command in commands {
        let is_run = LINES.iter().chain(NEED_MORE).any(|line| line.starts_with(&command));
        assert!(is_run, "{command}");
    }
}

#[test]
fn a_command_of_the_agent_says_that_there_is_none() {
    let sandbox = sandbox();
    assert!(!commands(&sandbox, &[]).contains(&"chat".to_owned()));
    for name in ["run", "chat", "demo", "models"] {
        let output = sandbox.run(&[name, "x"]).expect_code(2);
        let message = format!("this build of tenter has no agent, so there is no `tenter {name}`");
        assert!(output.stderr.contains(&message), "{output}");
    }
    sandbox.fails(2, "chatt", "unrecognized subcommand");
}
