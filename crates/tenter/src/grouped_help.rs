//! The help of `tenter` itself: its commands in groups, in a screen of text.

use std::fmt::Write as _;

use clap::Command;
use tenter_terminal::{HEADING, NAME, styled};

/// The commands by what they are for.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start", &["demo", "guard", "check", "bridge", "inspect"]),
    (
        "Hooks",
        tenter_base::words!(
            "hooks backtest trust plugin bundle log journal export checkpoint confine"
        ),
    ),
    (
        "The agent",
        &["run", "chat", "conversation", "recipe", "skill", "mcp", "models", "commit", "pr"],
    ),
    ("Settings", &["config", "completions", "man", "help"]),
    ("Other", &[]),
];

/// Returns the command line with grouped commands in its help. A command that no group has is listed as `Other`.
pub(crate) fn with_groups(app: Command) -> Command {
    let text = help(&app);
    app.override_help(text)
}

fn help(app: &Command) -> String {
    let about = app.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{about}\nUsage: tenter [OPTIONS] <COMMAND>\n");
    let commands: Vec<&Command> =
        app.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let width = commands.iter().map(|command| command.get_name().len()).max().unwrap_or(0);
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    for (heading, names) in GROUPS {
        let members = names.iter().filter_map(|name| app.find_subcommand(name));
        let others = commands.iter().copied().filter(|command| !is_grouped(command.get_name()));
        let members: Vec<&Command> =
            if names.is_empty() { others.collect() } else { members.collect() };
        if members.is_empty() {
            continue;
        }
        let _ = write!(text, "\n{}\n", styled(HEADING, heading));
        for command in members {
            let name = format!("{:width$}", command.get_name());
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {}  {about}", styled(NAME, name));
        }
    }
    let _ = write!(
        text,
        "Options: --project DIR  --color auto|always|never  -h, --help  -V, --version\n\
         `tenter help` lists the pages of the manual, `tenter COMMAND --help` shows a command.\n"
    );
    text
}
