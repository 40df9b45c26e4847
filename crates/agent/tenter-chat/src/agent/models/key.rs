//! Reads a provider's key: from a variable, or from a command that prints it. The command runs once per process, and only
//! when the key is needed. Its output is never shown, neither in errors nor in records.

use std::path::PathBuf;

use tenter_commands::project::KeyRing;
use tenter_engine::journal::Redactor;
use tenter_http::Key;
use tenter_proc::{Cancel, CapturedOutput, Completion, Invocation, Limits, ProcessEnd};
use tenter_settings::model_tables::KeyCommand;
use tenter_terminal::{Env, Exit, Failure};

use super::provider::Provider;

/// Maximum number of stderr lines shown if the command fails.
const SHOWN_LINES: usize = 10;

/// Returns the provider's key; `None` if it needs none.
pub(super) fn key(
    ring: &KeyRing,
    provider: &Provider,
    env: &Env,
    cancel: &Cancel,
) -> Result<Option<Key>, Failure> {
    if let Some(name) = variable_that_is_set(provider, env) {
        return Ok(env.text(name).map(Key::new));
    }
    let Some(command) = provider.key_command else {
        return if provider.needs_key() { Err(missing(provider, env)) } else { Ok(None) };
    };
    let print = || {
        read_from_command(command, env, Limits::default(), cancel)
            .map_err(|problem| problem.failure(provider))
    };
    ring.get_or_print(provider.name, print).map(Some)
}

/// Returns the first of the provider's variables that is set.
pub(crate) fn variable_that_is_set<'p>(provider: &Provider<'p>, env: &Env) -> Option<&'p str> {
    let holds = |name: &&str| env.text(name).is_some_and(|text| !text.trim().is_empty());
    provider.key_variables.iter().copied().find(holds)
}

/// Returns the help for a missing key.
pub(super) fn help(provider: &Provider, env: &Env) -> String {
    let (name, file) = (provider.name, env.config_file());
    let set = match provider.key_variables.join(" or ") {
        none if none.is_empty() => "write `api_key_env`".to_owned(),
        variables => format!("set {variables}, or write"),
    };
    let or = if provider.key_variables.is_empty() { " or" } else { "" };
    format!(
        "{set}{or} `api_key_command` under [providers.{name}] in {}; see `tenter help models`",
        file.display()
    )
}

fn missing(provider: &Provider, env: &Env) -> Failure {
    let (names, verb) = match provider.key_variables.as_slice() {
        [only] => ((*only).to_owned(), "is"),
        several => (several.join(" and "), "are"),
    };
    Failure::new(format!("{} needs a key, but {names} {verb} not set", provider.name))
        .help(help(provider, env))
}

/// The reason why a command printed no key.
enum NoKey {
    Cancelled,
    /// The error message, and the command's stderr.
    Failed(String, CapturedOutput),
}

impl NoKey {
    fn failure(self, provider: &Provider) -> Failure {
        let name = provider.name;
        match self {
            Self::Cancelled => Failure {
                exit: Exit::Interrupted,
                ..Failure::new(format!("interrupted while waiting for the key of {name}"))
            },
            Self::Failed(problem, stderr) => {
                let words = last_lines(&stderr);
                Failure::new(format!("the api_key_command of {name} {problem}{words}")).help(
                    format!("run it by hand in your home directory: it must print the key on its first line; it is configured under [providers.{name}]"),
                )
            }
        }
    }
}

/// Runs the command and returns the first line that it prints.
fn read_from_command(
    command: &KeyCommand,
    env: &Env,
    limits: Limits,
    cancel: &Cancel,
) -> Result<Key, NoKey> {
    let Completion { end, stdout, stderr, .. } = match invocation(command, env, limits) {
        Some(invocation) => tenter_proc::run(&invocation, cancel),
        None => return Err(NoKey::Failed("is empty".to_owned(), CapturedOutput::default())),
    };
    let failure = |problem: String| Err(NoKey::Failed(problem, stderr));
    match end {
        ProcessEnd::Exited(0) => match first_line(&stdout) {
            Some(key) => Ok(Key::new(key)),
            None => failure("printed no key on its first line".to_owned()),
        },
        ProcessEnd::Exited(code) => failure(format!("failed with exit code {code}")),
        ProcessEnd::Signalled(signal) => failure(format!("was terminated by signal {signal}")),
        ProcessEnd::TimedOut => failure(format!("timed out after {:?}", limits.timeout)),
        ProcessEnd::NotStarted(error) => failure(format!("could not be started: {error}")),
        ProcessEnd::Cancelled => Err(NoKey::Cancelled),
    }
}

/// Returns the invocation in the home directory, where no project controls relative paths or configuration files.
fn invocation(command: &KeyCommand, env: &Env, limits: Limits) -> Option<Invocation> {
    let words = match command {
        KeyCommand::Line(line) if line.trim().is_empty() => return None,
        KeyCommand::Line(line) => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
        KeyCommand::Words(words) => words.clone(),
    };
    let (program, args) = words.split_first()?;
    Some(Invocation {
        program: PathBuf::from(program),
        args: args.iter().map(Into::into).collect(),
        cwd: env.home.clone(),
        env: env.vars.clone(),
        limits,
        ..Invocation::default()
    })
}

fn first_line(stdout: &CapturedOutput) -> Option<&str> {
    let line = stdout.head.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok().map(str::trim).filter(|line| !line.is_empty())
}

/// Returns the command's stderr, with anything that looks like a key masked.
fn last_lines(stderr: &CapturedOutput) -> String {
    let words = Redactor::default().text(&stderr.tail_lines(SHOWN_LINES));
    if words.trim().is_empty() { String::new() } else { format!(":\n{}", words.trim_end()) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn env(home: PathBuf) -> Env {
        let vars = vec![("PATH".into(), "/usr/bin:/bin".into())];
        Env { vars, cwd: PathBuf::from("/"), home }
    }

    fn line(line: &str) -> KeyCommand {
        KeyCommand::Line(line.to_owned())
    }

    fn printed_key(
        command: &KeyCommand,
        limits: Limits,
        cancel: &Cancel,
    ) -> Result<String, String> {
        let key = read_from_command(command, &env(PathBuf::from("/")), limits, cancel);
        key.map(|key| key.reveal().to_owned()).map_err(|problem| match problem {
            NoKey::Cancelled => "cancelled".to_owned(),
            NoKey::Failed(problem, stderr) => format!("{problem}{}", last_lines(&stderr)),
        })
    }

    fn run(command: &KeyCommand) -> Result<String, String> {
        printed_key(command, Limits::default(), &Cancel::new())
    }

    #[test]
    fn the_key_is_the_first_line_without_whitespace() {
        assert_eq!(run(&line("echo ' k-1 '; echo user: me")).as_deref(), Ok("k-1"));
        let words = ["printf", "%s", "k 2"].map(str::to_owned).to_vec();
        assert_eq!(run(&KeyCommand::Words(words)).as_deref(), Ok("k 2"));
    }

    #[test]
    fn a_failing_command_is_reported_without_its_output() {
        let error = run(&line("echo k-1; echo no such entry >&2; exit 3")).unwrap_err();
        assert_eq!(error, "failed with exit code 3:\nno such entry");
        assert_eq!(run(&line("kill -TERM $$")).unwrap_err(), "was terminated by signal 15");
        assert_eq!(run(&line("echo; echo k-1")).unwrap_err(), "printed no key on its first line");
        assert_eq!(run(&line("  ")).unwrap_err(), "is empty");
        assert_eq!(run(&KeyCommand::Words(Vec::new())).unwrap_err(), "is empty");
        let error = run(&KeyCommand::Words(vec!["no-such-program".to_owned()])).unwrap_err();
        assert!(error.starts_with("could not be started: there is no program"), "{error}");
        let error = run(&line("echo got sk-abcdefghijklmnopqrstuvwxyz >&2; exit 1")).unwrap_err();
        assert!(!error.contains("defghij"), "{error}");
    }

    #[test]
    fn a_hanging_command_is_terminated_by_timeout_or_cancellation() {
        let limits = Limits { timeout: Duration::from_millis(50), ..Limits::default() };
        let error = printed_key(&line("exec sleep 1000"), limits, &Cancel::new()).unwrap_err();
        assert_eq!(error, "timed out after 50ms");
        let cancel = Cancel::new();
        cancel.cancel();
        assert_eq!(
            printed_key(&line("exec sleep 1000"), limits, &cancel).unwrap_err(),
            "cancelled"
        );
    }
}
