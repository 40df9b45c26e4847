//! Runs the programs of recipes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tenter_proc::{Cancel, Completion, Invocation, Limits, ProcessEnd};
use tenter_protocol::confinement::Confinement;
use tenter_template::{CommandOutput, Shell};

use crate::tools::Launch;

/// Maximum duration of a program.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of bytes kept of the output: its beginning and its end.
const KEPT: usize = 1 << 20;

/// Runs programs in the directory of a project, with a timeout of 30 s and an empty stdin.
#[derive(Debug, Clone)]
pub struct ProjectShell {
    /// The directory, an absolute path.
    pub project: PathBuf,
    /// The environment of the programs.
    pub env: Vec<(OsString, OsString)>,
    /// The confinements of the programs; none if they are not confined.
    pub confinements: Vec<Confinement>,
    /// The program that starts confined programs; without it they do not run.
    pub launcher: Option<PathBuf>,
    /// Cancels the running program, and all later ones.
    pub cancel: Cancel,
}

impl Shell for ProjectShell {
    fn run(&self, program: &str, args: &[String]) -> CommandOutput {
        let plain = Invocation {
            program: program.into(),
            args: args.iter().map(OsString::from).collect(),
            cwd: self.project.clone(),
            env: self.env.clone(),
            limits: Limits { timeout: TIMEOUT, keep: KEPT, ..Limits::default() },
            ..Invocation::default()
        };
        let invocation = match self.confine(plain) {
            Ok(invocation) => invocation,
            Err(why) => {
                let failure = Some(format!("was not started: it must be confined, but {why}"));
                return CommandOutput { text: String::new(), failure };
            }
        };
        let completion = tenter_proc::run(&invocation, &self.cancel);
        let text = completion.stdout.text().trim_end_matches(['\r', '\n']).to_owned();
        CommandOutput { text, failure: failure(&completion) }
    }
}

impl ProjectShell {
    /// Returns the invocation of the launcher if the programs are confined, else the same invocation.
    fn confine(&self, invocation: Invocation) -> Result<Invocation, String> {
        if self.confinements.is_empty() {
            return Ok(invocation);
        }
        let Self { project, confinements, launcher, .. } = self;
        Launch { launcher: launcher.as_deref(), project, confinements }.invocation(invocation, None)
    }
}

/// Describes how a program failed, with its last line on stderr.
fn failure(completion: &Completion) -> Option<String> {
    let how = match &completion.end {
        ProcessEnd::Exited(0) => return None,
        ProcessEnd::Exited(code) => format!("failed with exit code {code}"),
        ProcessEnd::Signalled(signal) => format!("was ended by signal {signal}"),
        ProcessEnd::TimedOut => format!("took longer than {} s", TIMEOUT.as_secs()),
        ProcessEnd::Cancelled => "was interrupted".to_owned(),
        ProcessEnd::NotStarted(error) => return Some(format!("could not be started: {error}")),
    };
    let last = completion.stderr.tail_lines(1);
    Some(if last.trim().is_empty() { how } else { format!("{how}: {}", last.trim()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::search_path;

    fn shell() -> (tempfile::TempDir, ProjectShell) {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path().canonicalize().unwrap();
        let env = vec![("PATH".into(), search_path())];
        let (confinements, cancel) = (Vec::new(), Cancel::new());
        (directory, ProjectShell { project, env, confinements, launcher: None, cancel })
    }

    fn sh(shell: &ProjectShell, line: &str) -> CommandOutput {
        shell.run("sh", &["-c".to_owned(), line.to_owned()])
    }

    #[test]
    fn a_program_runs_in_the_project_and_its_output_is_trimmed() {
        let (_directory, shell) = shell();
        let output = sh(&shell, "pwd; cat; echo; echo warning >&2");
        let text = shell.project.display().to_string();
        assert_eq!(output, CommandOutput { text, failure: None });
    }

    #[test]
    fn arguments_are_not_read_by_a_shell() {
        let (_directory, shell) = shell();
        let args = ["%s|%s".to_owned(), "a; touch b".to_owned(), "$HOME".to_owned()];
        assert_eq!(shell.run("printf", &args).text, "a; touch b|$HOME");
        assert!(!shell.project.join("b").exists());
    }

    #[test]
    fn a_failure_includes_the_last_line_of_stderr() {
        let (_directory, shell) = shell();
        let output = sh(&shell, "echo so far; echo one >&2; echo 'fatal: two' >&2; exit 128");
        assert_eq!(output.text, "so far");
        assert_eq!(output.failure.unwrap(), "failed with exit code 128: fatal: two");
        assert_eq!(sh(&shell, "exit 1").failure.unwrap(), "failed with exit code 1");
        assert_eq!(sh(&shell, "kill -KILL $$").failure.unwrap(), "was ended by signal 9");
        let missing = shell.run("no-such-program", &[]).failure.unwrap();
        assert!(missing.starts_with("could not be started: there is no program"), "{missing}");
    }

    #[test]
    fn a_confined_program_does_not_start_without_a_launcher() {
        let (_directory, shell) = shell();
        let confinements = vec![Confinement::built_in("pure").unwrap()];
        let output = sh(&ProjectShell { confinements, ..shell.clone() }, "touch ran");
        assert!(output.failure.unwrap().contains("no launcher"));
        assert!(!shell.project.join("ran").exists());
    }

    #[test]
    fn starts_nothing_after_a_cancel() {
        let (_directory, shell) = shell();
        shell.cancel.cancel();
        assert_eq!(sh(&shell, "sleep 1234").failure.unwrap(), "was interrupted");
    }

    #[test]
    fn keeps_the_beginning_and_the_end_of_long_output() {
        let (_directory, shell) = shell();
        let text =
            sh(&shell, "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last").text;
        assert!(text.starts_with("first\n") && text.ends_with("\nlast") && text.len() < KEPT + 100);
    }
}
