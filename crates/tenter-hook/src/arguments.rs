//! The command line: `tenter-hook HOST EVENT [--home DIR] [--id ID] [--after FILE]`.
//!
//! The id has no meaning here: it makes the registered command one that a project cannot repeat with other settings.

use std::ffi::OsString;
use std::path::PathBuf;

use tenter_base::{nearest, or_list};
use tenter_bridge::hosts;
use tenter_bridge::{Host, NativeEvent};

/// How the program is called.
pub(crate) const USAGE: &str = "usage: tenter-hook HOST EVENT [--home DIR]";

/// The arguments.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// The host.
    pub(crate) host: &'static Host,
    /// The native event.
    pub(crate) event: &'static NativeEvent,
    /// The home directory below which the user's directories are (B43).
    pub(crate) home: Option<PathBuf>,
    /// The file with a payload that was answered already: what is left to do for it is done. The file is removed.
    pub(crate) after: Option<PathBuf>,
}

impl Arguments {
    /// Parses the arguments without the program's name.
    ///
    /// # Errors
    /// They are not of this program, as a sentence for the user.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut names = Vec::new();
        let (mut home, mut after) = (None, None);
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let option = match argument.to_str() {
                Some("--id") => {
                    arguments.next();
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
        let [host, event] = names.as_slice() else { return Err(USAGE.to_owned()) };
        let host = hosts::find(host).ok_or_else(|| unknown_host(host))?;
        let event = host.event(event).ok_or_else(|| unknown_event(host, event))?;
        Ok(Self { host, event, home, after })
    }
}

fn unknown_host(name: &str) -> String {
    let known: Vec<&str> = hosts::ALL.iter().map(|host| host.id).collect();
    unknown("agent", name, &known)
}

fn unknown_event(host: &Host, name: &str) -> String {
    let known: Vec<&str> = host.events.iter().map(|event| event.name).collect();
    unknown(&format!("event of {}", host.name), name, &known)
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("unknown {what} {name:?}; did you mean {near:?}?"),
        None => format!("unknown {what} {name:?}; known are {}", or_list(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_registration_names_a_host_and_an_event() {
        let arguments = parse("claude-code PreToolUse --home /home/ada --id 5f0c").unwrap();
        assert_eq!((arguments.host.id, arguments.event.name), ("claude-code", "PreToolUse"));
        assert_eq!(arguments.home, Some("/home/ada".into()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, error) in [
            ("", USAGE),
            ("claude-code", USAGE),
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
