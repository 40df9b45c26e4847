//! The command line: `tenter-hook HOST EVENT [--home DIR] [--id ID] [--timeout SECONDS] [--after FILE]`, or `tenter-hook HOST --serve …`.
//!
//! The id makes the registered command one that a project cannot repeat with other settings. A registration without one is shared.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use tenter_base::{nearest, or_list};
use tenter_bridge::{Host, NativeEvent, hosts};

/// The usage line.
pub(crate) const USAGE: &str = "usage: tenter-hook HOST EVENT|--serve [--home DIR]";

/// The help, without the names of agents or events.
const HELP: &str = "\
Answers the events of coding agents with the decisions of your hooks.

Agents run this program; you need not run it yourself. `tenter bridge install AGENT`
registers it with an agent, and `tenter bridge prove AGENT` tests it there.

Usage:
  tenter-hook AGENT EVENT [OPTIONS]    Answer one event: a JSON payload on stdin
  tenter-hook AGENT --serve [OPTIONS]  Answer many events, one on each line of stdin
  tenter-hook confine -- COMMAND…      Run a command with fewer rights, as `tenter confine`

Options:
  --home DIR         Home directory with your hooks and settings [default: that of your account]
  --timeout SECONDS  Time for the answer, if it is shorter than the agent's
  --id ID            Id of the registration
  -h, --help         Print help; after AGENT, also its events
  -V, --version      Print the version";

/// The arguments.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// The host.
    pub(crate) host: &'static Host,
    /// The task.
    pub(crate) task: Task,
    /// The home directory below which the user's directories are (B43).
    pub(crate) home: Option<PathBuf>,
    /// True if the command has the id of a registration of the user's own.
    pub(crate) has_id: bool,
}

/// The task of a process.
#[derive(Debug)]
pub(crate) enum Task {
    /// Answer one event, whose payload is on stdin.
    Answer(&'static NativeEvent),
    /// Run the remaining hooks of an answered event, from this file, which is removed.
    Finish(&'static NativeEvent, PathBuf),
    /// Answer many events, one on each line of stdin (B50).
    Serve,
}

impl Arguments {
    /// Parses the arguments without the program's name.
    ///
    /// # Errors
    /// They are not of this program, as a sentence for the user.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, String> {
        let mut names = Vec::new();
        let (mut home, mut after, mut timeout) = (None, None, None);
        let (mut serves, mut has_id) = (false, false);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let option = match argument.to_str() {
                Some("--id") => {
                    has_id = arguments.next().is_some();
                    continue;
                }
                Some("--timeout") => {
                    timeout = Some(seconds(arguments.next().map(OsString::as_os_str))?);
                    continue;
                }
                Some("--serve") => {
                    serves = true;
                    continue;
                }
                Some("--home") => &mut home,
                Some("--after") => &mut after,
                _ => {
                    names.push(argument.to_string_lossy().into_owned());
                    continue;
                }
            };
            let value = arguments.next().map(PathBuf::from).filter(|path| path.is_absolute());
            let missing = || format!("{} needs an absolute path", argument.to_string_lossy());
            *option = Some(value.ok_or_else(missing)?);
        }
        let (host, event) = match names.as_slice() {
            [host] if serves => (host, None),
            [host, event] if !serves => (host, Some(event)),
            _ => return Err(USAGE.to_owned()),
        };
        let host = hosts::find(host).ok_or_else(|| unknown_host(host))?;
        let event = event.map(|name| host.event(name).ok_or_else(|| unknown_event(host, name)));
        let task = match (event.transpose()?, after) {
            (None, _) => Task::Serve,
            (Some(event), None) => Task::Answer(timeout.map_or(event, |time| within(event, time))),
            (Some(event), Some(file)) => Task::Finish(event, file),
        };
        Ok(Self { host, task, home, has_id })
    }
}

/// Returns the help if a user asks for it, or starts the program at a terminal without arguments: no registration does.
pub(crate) fn help(arguments: &[OsString], at_terminal: bool) -> Option<String> {
    let asks = |argument: &OsString| ["--help", "-h", "help"].iter().any(|word| argument == word);
    let is_bare = arguments.is_empty() && at_terminal;
    if !is_bare && !arguments.iter().any(asks) {
        return None;
    }
    let first = arguments.first().and_then(|first| first.to_str());
    let names = match first.and_then(hosts::find) {
        Some(host) => format!("Events of {}:{}", host.name, lines(host.events, |event| event.name)),
        None => format!("Agents:{}", lines(hosts::ALL, |host| host.id)),
    };
    Some(format!("{HELP}\n\n{names}"))
}

/// Returns a line for each name.
fn lines<T>(all: &[T], name: impl Fn(&T) -> &'static str) -> String {
    all.iter().flat_map(|one| ["\n  ", name(one)]).collect()
}

fn seconds(value: Option<&OsStr>) -> Result<Duration, String> {
    let number = value.and_then(OsStr::to_str).and_then(|text| text.parse().ok());
    number.map(Duration::from_secs).ok_or_else(|| "--timeout needs a number of seconds".to_owned())
}

/// Returns the event with the timeout of a proof. It is leaked: this process answers only one event.
fn within(event: &NativeEvent, timeout: Duration) -> &'static NativeEvent {
    Box::leak(Box::new(event.within(timeout)))
}

fn unknown_host(name: &str) -> String {
    let ids: Vec<&str> = hosts::ALL.iter().map(|host| host.id).collect();
    unknown("agent", name, &ids)
}

/// Returns the error that a host has no event of this name.
pub(crate) fn unknown_event(host: &Host, name: &str) -> String {
    let names: Vec<&str> = host.events.iter().map(|event| event.name).collect();
    unknown(&format!("event of {}", host.name), name, &names)
}

fn unknown(what: &str, name: &str, names: &[&str]) -> String {
    match nearest(name, names) {
        Some(near) => format!("unknown {what} {name:?}; did you mean {near:?}?"),
        None => format!("unknown {what} {name:?}; known are {}", or_list(names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_registration_names_a_host_and_an_event() {
        let arguments = parse("claude-code PreToolUse --home /home/ada --id 5f0c").unwrap();
        let Task::Answer(event) = arguments.task else { panic!("{:?}", arguments.task) };
        assert_eq!((arguments.host.id, event.name), ("claude-code", "PreToolUse"));
        assert_eq!(arguments.home, Some("/home/ada".into()));
    }

    #[test]
    fn a_timeout_can_only_become_shorter() {
        for (seconds, expected) in [(5, 5), (100_000, 600)] {
            let line = format!("claude-code PreToolUse --timeout {seconds}");
            let Task::Answer(event) = parse(&line).unwrap().task else { panic!("{line}") };
            assert_eq!(event.timeout, Duration::from_secs(expected));
        }
        assert!(parse("claude-code PreToolUse --timeout soon").is_err());
    }

    #[test]
    fn many_events_are_served_for_a_host() {
        let arguments = parse("claude-code --serve --home /home/ada --id 5f0c").unwrap();
        assert!(matches!(arguments.task, Task::Serve), "{:?}", arguments.task);
    }

    #[test]
    fn help_lists_agents_or_the_events_of_one() {
        let help = |line: &str, at_terminal| {
            let arguments: Vec<_> = line.split_whitespace().map(OsString::from).collect();
            super::help(&arguments, at_terminal)
        };
        for (line, at_terminal, names) in [
            ("--help", false, "Agents:\n  claude-code\n  codex\n"),
            ("-h", false, "Agents:\n  claude-code\n"),
            ("", true, "Agents:\n  claude-code\n"),
            ("codex --help", false, "Events of Codex:\n  SessionStart\n"),
            ("claude-code PreToolUse -h", false, "Events of Claude Code:\n  SessionStart\n"),
        ] {
            let text = help(line, at_terminal).unwrap();
            assert!(
                text.contains("tenter bridge install") && text.contains(names),
                "{line}: {text}"
            );
        }
        assert_eq!(help("", false), None, "an agent without a terminal made a mistake");
        assert_eq!(help("claude-code PreToolUs", true), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, error) in [
            ("", USAGE),
            ("claude-code", USAGE),
            ("claude-code Stop --serve", USAGE),
            (
                "claude-cod PreToolUse",
                "unknown agent \"claude-cod\"; did you mean \"claude-code\"?",
            ),
            (
                "claude-code PreTooluse",
                "unknown event of Claude Code \"PreTooluse\"; did you mean \"PreToolUse\"?",
            ),
            ("claude-code Stop --home", "--home needs an absolute path"),
            ("claude-code Stop --home x", "--home needs an absolute path"),
        ] {
            assert_eq!(parse(line).unwrap_err(), error, "{line}");
        }
    }
}
