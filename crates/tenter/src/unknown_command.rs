//! Commands that do not exist, and the ones that are probably meant.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue};
use tenter_base::or_list;
use tenter_terminal::Failure;

/// The agent's commands, which a build without it does not have.
const AGENT_COMMANDS: [&str; 10] =
    ["run", "chat", "demo", "conversation", "recipe", "commit", "pr", "skill", "mcp", "models"];
/// Names that other programs use, and the names here.
const SYNONYMS: [(&str, &str); 8] = [
    ("add", "install"),
    ("create", "new"),
    ("delete", "remove"),
    ("install", "add"),
    ("register", "install"),
    ("rm", "remove"),
    ("status", "list"),
    ("uninstall", "remove"),
];
/// Maximum number of commands that are named.
const MAX_COMMANDS: usize = 5;

/// Returns the failure for a command that only a build with the agent has, or that has another name or place; `None` for any other error.
pub(crate) fn failure(
    error: &clap::Error,
    arguments: &[OsString],
    mut program: Command,
) -> Option<Failure> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    if !cfg!(feature = "agent") && AGENT_COMMANDS.contains(&name.as_str()) {
        let message = format!("this build of tenter has no agent, so there is no `tenter {name}`");
        return Some(Failure::usage(message).help("install tenter with its default features"));
    }
    program.build(); // otherwise groups have no commands yet
    let group = arguments.iter().take_while(|argument| *argument != name.as_str());
    let group = group.filter_map(|argument| program.find_subcommand(argument)).last();
    let group = group.map(Command::get_name);
    let commands = similar(name, group, &program);
    let commands: Vec<&str> = commands.iter().map(String::as_str).take(MAX_COMMANDS).collect();
    let path = group.map(|group| format!("{group} ")).unwrap_or_default();
    let failure = Failure::usage(format!("there is no command `tenter {path}{name}`"));
    (!commands.is_empty()).then(|| failure.help(format!("did you mean {}?", or_list(&commands))))
}

/// Returns the commands with this name or a synonym of it: commands of the group, or else of other groups.
fn similar(name: &str, group: Option<&str>, program: &Command) -> Vec<String> {
    let synonyms = SYNONYMS.iter().filter(|(other, _)| *other == name).map(|(_, own)| *own);
    let names: Vec<&str> = [name].into_iter().chain(synonyms).collect();
    let mut commands = Vec::new();
    for command in visible(program) {
        let in_group = visible(command).filter(|inner| names.contains(&inner.get_name()));
        let in_group: Vec<String> = in_group
            .map(|inner| format!("tenter {} {}", command.get_name(), inner.get_name()))
            .collect();
        if group == Some(command.get_name()) && !in_group.is_empty() {
            return in_group;
        }
        if names.contains(&command.get_name()) {
            commands.push(format!("tenter {}", command.get_name()));
        }
        commands.extend(in_group);
    }
    commands
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app;

    fn help_of(line: &str) -> Option<String> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = app::command().try_get_matches_from(&arguments).unwrap_err();
        failure(&error, &arguments, app::command())?.help
    }

    #[cfg(feature = "agent")]
    #[test]
    fn every_command_of_the_agent_is_listed_as_such() {
        let app = app::command();
        for name in AGENT_COMMANDS {
            assert!(app.find_subcommand(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_command_that_is_meant_is_named() {
        for (line, help) in [
            ("tenter bridge uninstall claude-code", "did you mean `tenter bridge remove`?"),
            ("tenter doctor", "did you mean `tenter hooks doctor`?"),
            ("tenter hooks create x", "did you mean `tenter hooks new`?"),
            ("tenter --project . guard install git-safety", "did you mean `tenter guard add`?"),
            ("tenter guard doctor", "did you mean `tenter hooks doctor`?"),
        ] {
            assert_eq!(help_of(line).as_deref(), Some(help), "{line}");
        }
        assert_eq!(help_of("tenter nonsense"), None);
        assert_eq!(help_of("tenter hooks lsit"), None, "the parser knows it");
    }
}
