//! The command that a host runs, in the form in which it is registered, and its recognition (B40, B43).
//!
//! | form | command |
//! | --- | --- |
//! | shell | `PROGRAM HOST EVENT --home DIR --id ID`, quoted for a shell |
//! | exec | the program in `command`, the arguments in `args`: the host starts it without a shell |
//! | portable | for files that are shared: finds the program in each user's own home |
//!
//! A host may merge equal commands of the user and of a project, with the project's timeout and its choice to ignore failures (Claude Code
//! does). The id is random, so that a project cannot name the user's command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The name of the program.
pub const PROGRAM: &str = "tenter-hook";

/// The end of a shell command that exits with code 2 if the program fails.
const EXIT_2: &str = "|| { echo 'tenter-hook failed' >&2; exit 2; }";

/// The reaction of a shell to a failure of the program, at an event at which the host must block then (B25).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnFailure {
    /// Nothing: the host decides.
    Nothing,
    /// It exits with code 2.
    ExitCode,
    /// It writes this answer.
    Answer(&'static str),
}

impl OnFailure {
    /// Returns the end of the shell command.
    fn end(self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::ExitCode => format!(" {EXIT_2}"),
            Self::Answer(answer) => format!(" || echo {}", quote(answer)),
        }
    }
}

/// The form of a registered command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandForm<'c> {
    /// A shell command for this program and home directory.
    Shell {
        /// The program.
        program: &'c str,
        /// The home directory.
        home: &'c str,
        /// The id of the registration.
        id: &'c str,
        /// True if the command fails when the program is missing.
        needs_program: bool,
    },
    /// The same without a shell.
    Exec {
        /// The key of the program.
        key: &'c str,
        /// The program.
        program: &'c str,
        /// The home directory.
        home: &'c str,
        /// The id of the registration.
        id: &'c str,
    },
    /// A shell command for a program of the machine, which finds the home directory of the user who runs it.
    Managed {
        /// The program.
        program: &'c str,
    },
    /// A shell command for any user.
    Portable {
        /// True if the command fails when the program is missing.
        needs_program: bool,
    },
}

impl CommandForm<'_> {
    /// Returns the members of a handler that name the command.
    pub(super) fn members(
        &self,
        host: &str,
        event: &str,
        on_failure: OnFailure,
    ) -> Vec<(String, Value)> {
        let command = match self {
            Self::Shell { program, home, id, needs_program } => {
                let words = [program, host, event, "--home", home, "--id", id];
                let command = words.map(quote).join(" ");
                let program = quote(program);
                let check = format!("[ -x {program} ] || exit 0; exec ");
                if *needs_program { command } else { check + &command }
            }
            Self::Exec { key, program, home, id } => {
                let args = [host, event, "--home", home, "--id", id];
                return vec![((*key).to_owned(), json!(program)), ("args".to_owned(), json!(args))];
            }
            Self::Managed { program } => [program, host, event].map(quote).join(" "),
            Self::Portable { needs_program } => {
                let check = if *needs_program { "" } else { "[ -x \"$t\" ] || exit 0; " };
                let exec = if on_failure == OnFailure::Nothing { "exec " } else { "" };
                format!(
                    "t=\"$HOME/.local/share/tenter/bin/{PROGRAM}\"; {check}{exec}\"$t\" {host} {event}"
                )
            }
        };
        vec![("command".to_owned(), Value::from(command + &on_failure.end()))]
    }
}

/// Returns whether a handler's shell exits with code 2 if the program fails.
pub(super) fn exits_2(handler: &Value) -> bool {
    let command = handler.get("command").and_then(Value::as_str);
    command.is_some_and(|command| command.ends_with(EXIT_2))
}

/// Quotes a word of a shell command. Words have no NUL bytes, which no path or argument can have.
fn quote(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

/// A registered command of ours in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredCommand {
    /// The program; `None` if each user's own program is run.
    pub program: Option<PathBuf>,
    /// The native event in its arguments.
    pub event: String,
    /// The id of the registration; `None` if the command has none.
    pub id: Option<String>,
}

impl RegisteredCommand {
    /// Reads our command for `host` in a handler; `None` if it is another command (B40).
    pub(crate) fn read(host: &str, handler: &Value) -> Option<Self> {
        let command = handler.get("command").or_else(|| handler.get("exec"))?.as_str()?;
        let words = match handler.get("args").and_then(Value::as_array) {
            Some(args) => {
                let args = args.iter().map(|word| word.as_str().unwrap_or_default().to_owned());
                [command.to_owned()].into_iter().chain(args).collect()
            }
            None => shlex::split(command)?,
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let forms = ["||", "exit", "0;", "exec"];
        let is_checked = words.first() == Some(&"[") && words.get(4..8) == Some(&forms);
        match words[if is_checked { 8 } else { 0 }..] {
            [program, for_host, event, ref options @ ..]
                if for_host == host && is_ours(program) =>
            {
                let is_id = |pair: &&[&str]| pair[0] == "--id";
                let id = options.windows(2).find(is_id).map(|pair| pair[1].to_owned());
                Some(Self { program: Some(PathBuf::from(program)), event: event.to_owned(), id })
            }
            [assignment, ref rest @ ..] => {
                let program = assignment.strip_prefix("t=")?.strip_suffix(';')?;
                let mut calls = rest.windows(3).filter(|words| words[..2] == ["$t", host]);
                let event = calls.next().filter(|_| is_ours(program))?[2].to_owned();
                Some(Self { program: None, event, id: None })
            }
            _ => None,
        }
    }
}

fn is_ours(program: &str) -> bool {
    Path::new(program).file_name() == Some(OsStr::new(PROGRAM))
}

#[cfg(test)]
mod tests {
    use super::OnFailure::{ExitCode, Nothing};
    use super::*;

    fn read(handler: &Value) -> Option<RegisteredCommand> {
        RegisteredCommand::read("claude-code", handler)
    }

    const ANSWER: OnFailure = OnFailure::Answer(r#"{"reason":"it's broken"}"#);

    fn handler(form: CommandForm, event: &str, on_failure: OnFailure) -> Value {
        form.members("claude-code", event, on_failure).into_iter().collect()
    }

    #[test]
    fn every_form_is_recognised_whatever_its_paths_contain() {
        for directory in ["/home/ada", "/home/a b", "/o'neil/$x", "/a\"b/`c`", "/ü/\\n", "/a;b&c"]
        {
            let program = format!("{directory}/tenter-hook");
            let (program, home, id) = (program.as_str(), directory, "5f0c");
            let command = RegisteredCommand {
                program: Some(PathBuf::from(program)),
                event: "PreToolUse".to_owned(),
                id: Some("5f0c".to_owned()),
            };
            let shell = |needs_program| CommandForm::Shell { program, home, id, needs_program };
            let exec = |key| CommandForm::Exec { key, program, home, id };
            for (form, on_failure) in [
                (shell(true), Nothing),
                (shell(true), ExitCode),
                (shell(true), ANSWER),
                (shell(false), Nothing),
                (exec("command"), Nothing),
                (exec("exec"), Nothing),
            ] {
                let handler = handler(form, "PreToolUse", on_failure);
                assert_eq!(read(&handler), Some(command.clone()), "{handler}");
                assert_eq!(RegisteredCommand::read("codex", &handler), None);
            }
        }
        for (needs_program, on_failure) in
            [(false, Nothing), (true, Nothing), (true, ExitCode), (true, ANSWER)]
        {
            let form = CommandForm::Portable { needs_program };
            let command = read(&handler(form, "Stop", on_failure));
            let event = "Stop".to_owned();
            assert_eq!(command, Some(RegisteredCommand { program: None, event, id: None }));
        }
    }

    #[test]
    fn the_portable_command_has_no_path_of_this_machine() {
        let command = |needs_program, on_failure| {
            let form = CommandForm::Portable { needs_program };
            handler(form, "Stop", on_failure)["command"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            command(false, Nothing),
            r#"t="$HOME/.local/share/tenter/bin/tenter-hook"; [ -x "$t" ] || exit 0; exec "$t" claude-code Stop"#
        );
        assert_eq!(
            command(true, ExitCode),
            r#"t="$HOME/.local/share/tenter/bin/tenter-hook"; "$t" claude-code Stop || { echo 'tenter-hook failed' >&2; exit 2; }"#
        );
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test of what a shell does")]
    fn a_shell_denies_if_the_program_is_missing() {
        let shell = |needs_program| {
            let (program, home, id) = ("/missing/tenter-hook", "/a", "1");
            CommandForm::Shell { program, home, id, needs_program }
        };
        let answer = "{\"reason\":\"it's broken\"}\n";
        for (form, on_failure, code, stdout) in [
            (CommandForm::Portable { needs_program: true }, ExitCode, 2, ""),
            (CommandForm::Portable { needs_program: true }, ANSWER, 0, answer),
            (CommandForm::Portable { needs_program: false }, Nothing, 0, ""),
            (shell(true), ExitCode, 2, ""),
            (shell(true), ANSWER, 0, answer),
            (shell(false), Nothing, 0, ""),
        ] {
            let command = handler(form, "PreToolUse", on_failure);
            let mut shell = std::process::Command::new("sh");
            let shell = shell.arg("-c").arg(command["command"].as_str().unwrap());
            let output = shell.env("HOME", "/missing").output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{command}");
            assert_eq!(output.stdout, stdout.as_bytes());
        }
    }

    #[test]
    fn other_commands_are_not_ours() {
        for command in [
            "",
            "tenter-hook",
            "tenter-hook claude-code",
            "tenter-hooks claude-code PreToolUse",
            "my-tenter-hook claude-code PreToolUse",
            "echo tenter-hook claude-code PreToolUse",
            "tenter-hook codex PreToolUse",
            "/usr/bin/tenter hook claude-code PreToolUse",
            "'unclosed tenter-hook claude-code PreToolUse",
            "t=x; exec \"$t\" claude-code PreToolUse",
        ] {
            assert_eq!(read(&json!({"type": "command", "command": command})), None, "{command}");
        }
        assert_eq!(
            read(&json!({"type": "prompt", "prompt": "tenter-hook claude-code Stop"})),
            None
        );
        assert_eq!(read(&json!({"command": 1})), None);
    }
}
