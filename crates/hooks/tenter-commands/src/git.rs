//! git and gh, started as the user would start them: in the project's directory and without a deadline, but without model
//! keys (R80). What they print is shown.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_base::sanitize;
use tenter_engine::inspect::{Environment, with_git_setting};
use tenter_proc::{Cancel, Completion, Invocation, Limits, ProcessEnd, Streams};
use tenter_terminal::{Exit, Failure, ui};

/// The user's git, in one directory.
pub struct Git<'g> {
    /// The directory.
    pub directory: &'g Path,
    /// The environment of programs, without model keys.
    pub vars: &'g Environment,
    /// Stops a running program.
    pub cancel: &'g Cancel,
}

impl Git<'_> {
    /// Runs a program to its end.
    pub fn run(&self, program: &str, args: &[&str], stdin: &str) -> Completion {
        let invocation = Invocation {
            program: program.into(),
            args: args.iter().map(Into::into).collect(),
            cwd: self.directory.to_owned(),
            env: with_git_setting(self.vars.clone(), "safe.bareRepository", "explicit"),
            stdin: stdin.into(),
            streams: Streams::Separate,
            limits: Limits { timeout: Duration::MAX, ..Limits::default() },
        };
        tenter_proc::run(&invocation, self.cancel)
    }

    /// Returns the output of git, without the final line ending.
    ///
    /// # Errors
    /// git failed; the message is its own.
    pub fn ask(&self, args: &[&str]) -> Result<String, Failure> {
        let completion = self.query(args);
        if completion.end.is_success() {
            return Ok(completion.stdout.text().trim_end().to_owned());
        }
        let words = completion.stderr.text();
        let why = how(&completion.end);
        let why = if words.trim().is_empty() { why } else { words.trim().to_owned() };
        Err(Failure {
            exit: exit(&completion.end),
            ..Failure::new(format!("git {}: {why}", args[0]))
        })
    }

    /// Checks whether git exits with 0.
    pub fn holds(&self, args: &[&str]) -> bool {
        self.query(args).end.is_success()
    }

    /// Asks git without the programs that the repository names.
    pub fn query(&self, args: &[&str]) -> Completion {
        const SETTINGS: [&str; 6] = *tenter_base::words!(
            "-c core.fsmonitor=false -c core.hooksPath=/dev/null -c diff.external="
        );
        let args: Vec<&str> = SETTINGS.iter().chain(args).copied().collect();
        self.run("git", &args, "")
    }

    /// Checks that the directory is in a git repository.
    ///
    /// # Errors
    /// It is in none, or git is missing.
    pub fn check_repository(&self) -> Result<(), Failure> {
        let completion = self.query(&["rev-parse", "--is-inside-work-tree"]);
        match &completion.end {
            ProcessEnd::Exited(0) if completion.stdout.text().trim() == "true" => Ok(()),
            ProcessEnd::Exited(_) => Err(Failure::new(format!(
                "{} is not in a git repository",
                self.directory.display()
            ))
            .help("run `git init`, or pass --project DIR")),
            end => Err(Failure { exit: exit(end), ..Failure::new(format!("git {}", how(end))) }),
        }
    }

    /// Returns the path of a file in the repository's git directory.
    pub fn own_file(&self, name: &str) -> Result<PathBuf, Failure> {
        Ok(self.directory.join(self.ask(&["rev-parse", "--git-path", name])?))
    }

    /// Runs a program for its effect. Its stderr is shown; its stdout is returned.
    ///
    /// # Errors
    /// It failed; all its output has been shown.
    pub fn perform(&self, program: &str, args: &[&str], stdin: &str) -> Result<String, Failure> {
        let completion = self.run(program, args, stdin);
        show(&completion.stderr.text());
        let output = completion.stdout.text();
        if completion.end.is_success() {
            return Ok(output.trim_end().to_owned());
        }
        show(&output);
        let message = format!("{program} {} {}", args[0], how(&completion.end));
        Err(Failure { exit: exit(&completion.end), ..Failure::new(message) })
    }
}

fn show(words: &str) {
    if !words.trim().is_empty() {
        ui::note(sanitize(words.trim_end()));
    }
}

/// Describes the end of a program, as the end of a sentence that begins with its name.
pub fn how(end: &ProcessEnd) -> String {
    match end {
        ProcessEnd::Exited(code) => format!("ended with code {code}"),
        ProcessEnd::Signalled(signal) => format!("was ended by signal {signal}"),
        ProcessEnd::TimedOut | ProcessEnd::Cancelled => "was interrupted".to_owned(),
        ProcessEnd::NotStarted(error) => format!("could not be started: {error}"),
    }
}

fn exit(end: &ProcessEnd) -> Exit {
    match end {
        ProcessEnd::Cancelled => Exit::Interrupted,
        _ => Exit::Failed,
    }
}
