//! `bash`: runs a shell command to its end, or in the background.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tenter_base::{private_dir, search_path};
use tenter_confine::CheckIn;
use tenter_proc::{Completion, Invocation, Limits, ProcessEnd, Streams};
use tenter_protocol::ToolResult;
use tenter_protocol::tool_metadata::{Bash, BashBackground};
use uuid::Uuid;

use super::error::ToolError;
use super::input::{Bounded, NonEmpty};
use super::tool::{ToolContext, ToolEffect, ToolReport, TypedTool};
use super::{Workspace, confined};

/// Maximum size of the output of a result, in bytes: one half from its beginning, one from its end.
const MAX_OUTPUT: usize = 100 << 10;

/// Default timeout of a command, in seconds.
const TIMEOUT: u64 = 120;

pub(crate) struct BashTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BashInput {
    /// The command line.
    command: NonEmpty,
    /// The purpose of the command in a few words, for the user who watches.
    #[serde(default, rename = "description")]
    _description: Option<String>,
    /// Timeout in seconds. Default 120.
    #[serde(default)]
    timeout: Option<Bounded<1, 600>>,
    /// Leave the command running and return at once, with the path of the file that receives its output. Default false.
    #[serde(default)]
    background: bool,
}

impl TypedTool for BashTool {
    const NAME: &'static str = "bash";
    const DESCRIPTION: &'static str = "Run a shell command in the working directory and return its output. Every call is a new shell \
        with an empty stdin. Long output keeps its beginning and its end. Start servers and watchers with \
        `background`.";
    const EFFECT: ToolEffect = ToolEffect::Runs;
    type Input = BashInput;
    type Output = CommandReport;

    fn perform(
        &self,
        input: BashInput,
        context: &ToolContext<'_>,
    ) -> Result<CommandReport, ToolError> {
        let seconds = input.timeout.map_or(TIMEOUT, Bounded::get);
        let note = confined::note(context)?;
        let plain = invocation(&input.command.0, seconds, context.workspace);
        let invocation = confined::confine(plain, note.as_deref(), context)?;
        if input.background {
            return start(input.command.0, &invocation, context.workspace)
                .map(CommandReport::Started);
        }
        let on_output = |bytes: &[u8]| context.output.push(bytes);
        let completion = tenter_proc::run_watched(&invocation, context.cancel, &on_output);
        let error = error(&completion.end, seconds)?;
        Ok(CommandReport::Finished(
            Bash {
                confined: note.as_deref().and_then(CheckIn::take),
                ..metadata(input.command.0, &completion, context.workspace)
            },
            error,
        ))
    }
}

/// The report of a command.
pub(crate) enum CommandReport {
    /// It has ended, and failed if there is an error.
    Finished(Bash, Option<String>),
    /// It runs in the background.
    Started(BashBackground),
}

impl ToolReport for CommandReport {
    fn into_result(self, name: &str, timestamp: String) -> ToolResult {
        match self {
            Self::Finished(metadata, None) => ToolResult::success(name, &metadata, timestamp),
            Self::Finished(metadata, Some(error)) => {
                ToolResult::success(name, &metadata, timestamp).failed(error)
            }
            Self::Started(metadata) => ToolResult::success(name, &metadata, timestamp),
        }
    }
}

fn invocation(command: &str, seconds: u64, workspace: &Workspace) -> Invocation {
    Invocation {
        program: shell(workspace),
        args: vec!["-c".into(), command.into()],
        cwd: workspace.cwd().to_owned(),
        env: workspace.env().to_vec(),
        stdin: Vec::new(),
        streams: Streams::Merged,
        limits: Limits {
            timeout: Duration::from_secs(seconds),
            keep: MAX_OUTPUT,
            ..Limits::default()
        },
    }
}

/// Returns `bash` if it is in `PATH`, otherwise `sh`.
fn shell(workspace: &Workspace) -> PathBuf {
    search_path::program("bash", workspace.env()).unwrap_or_else(|| "sh".into())
}

/// Returns the error for the model if a command did not succeed. A command that never started is a tool error.
fn error(end: &ProcessEnd, seconds: u64) -> Result<Option<String>, ToolError> {
    match end {
        ProcessEnd::Exited(0) => Ok(None),
        ProcessEnd::Exited(code) => Ok(Some(format!("exit code {code}"))),
        ProcessEnd::Signalled(signal) => {
            Ok(Some(format!("exit code {}: ended by signal {signal}", 128 + signal)))
        }
        ProcessEnd::TimedOut => {
            Ok(Some(format!("timed out after {seconds} s; the output so far follows")))
        }
        ProcessEnd::Cancelled => Ok(Some("interrupted".to_owned())),
        ProcessEnd::NotStarted(error) => Err(ToolError::new(error.to_string())),
    }
}

fn metadata(command: String, completion: &Completion, workspace: &Workspace) -> Bash {
    Bash {
        command,
        exit_code: Some(exit_code(&completion.end)),
        output: completion.stdout.text(),
        execution_time: Some(u64::try_from(completion.duration.as_nanos()).unwrap_or(u64::MAX)),
        working_dir: workspace.cwd().display().to_string(),
        dropped_bytes: completion.stdout.dropped(),
        confined: None,
        changed: None,
    }
}

/// Returns the exit code as a shell reports it: 124 for a timeout as `timeout(1)` does, 130 for Ctrl-C.
fn exit_code(end: &ProcessEnd) -> i32 {
    match end {
        ProcessEnd::Exited(code) => *code,
        ProcessEnd::Signalled(signal) => 128 + signal,
        ProcessEnd::TimedOut => 124,
        ProcessEnd::Cancelled => 130,
        ProcessEnd::NotStarted(_) => 127,
    }
}

fn start(
    command: String,
    invocation: &Invocation,
    workspace: &Workspace,
) -> Result<BashBackground, ToolError> {
    let directory = workspace.log_directory();
    private_dir::create(&directory).map_err(|error| ToolError::at(&directory, &error))?;
    let log = directory.join(format!("{}.log", Uuid::now_v7()));
    let start_time = workspace.timestamp();
    let background = tenter_proc::start_background(invocation, &log)
        .map_err(|error| ToolError::new(error.to_string()))?;
    let pid = background.pid;
    workspace.keep_running(background);
    Ok(BashBackground { command, pid, log_path: log.display().to_string(), start_time })
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::{Bench, names_in, wait_for};
    use serde_json::{Value, json};
    use std::fs;
    use std::path::Path;
    use std::thread;

    fn command(bench: &Bench, command: &str) -> tenter_protocol::ToolResult {
        bench.run("bash", json!({"command": command}))
    }

    #[test]
    fn a_command_runs_in_the_project_with_the_given_environment_and_an_empty_stdin() {
        let bench = Bench::new();
        let result = bench.succeed(
            "bash",
            json!({"command": "pwd; echo $GREETING; cat; echo oops >&2", "description": "look"}),
        );
        let project = bench.workspace.project().display().to_string();
        assert_eq!(result.text(), format!("{project}\nhello\noops\n"));
        let metadata = result.metadata.unwrap();
        assert_eq!((&metadata["exitCode"], &metadata["workingDir"]), (&json!(0), &json!(project)));
        assert!(metadata["executionTime"].as_u64().unwrap() > 0);
    }

    #[test]
    fn a_command_that_fails_keeps_its_output() {
        let bench = Bench::new();
        let result = command(&bench, "echo so far; exit 3");
        assert_eq!(
            (!result.is_failure(), result.text().as_str()),
            (false, "<error>exit code 3</error>\nso far\n")
        );
        assert_eq!(result.metadata.unwrap()["exitCode"], json!(3));
    }

    #[test]
    fn a_signal_has_the_code_that_a_shell_gives_it() {
        let bench = Bench::new();
        let result = command(&bench, "kill -KILL $$");
        assert_eq!(result.error.as_deref(), Some("exit code 137: ended by signal 9"));
        assert_eq!(result.metadata.unwrap()["exitCode"], json!(137));
    }

    #[test]
    fn a_command_that_times_out_keeps_its_output() {
        let bench = Bench::new();
        let result = bench.run("bash", json!({"command": "echo begun; sleep 1234", "timeout": 1}));
        assert_eq!(result.error.as_deref(), Some("timed out after 1 s; the output so far follows"));
        assert_eq!(result.metadata.unwrap()["output"], json!("begun\n"));
    }

    #[test]
    fn a_command_can_be_interrupted() {
        let bench = Bench::new();
        let result = thread::scope(|scope| {
            let running = scope.spawn(|| command(&bench, "echo begun; touch running; sleep 1234"));
            wait_for(&bench.path("running"));
            bench.cancel.cancel();
            running.join().unwrap()
        });
        assert_eq!(result.error.as_deref(), Some("interrupted"));
        assert_eq!(result.metadata.unwrap()["output"], json!("begun\n"));
    }

    #[test]
    fn long_output_keeps_its_beginning_and_its_end() {
        let bench = Bench::new();
        let flood = "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last";
        let metadata = bench.succeed("bash", json!({"command": flood})).metadata.unwrap();
        let output = metadata["output"].as_str().unwrap();
        assert!(output.starts_with("first\nxxx") && output.ends_with("xxx\nlast\n"));
        assert!(output.contains("bytes dropped") && output.len() < super::MAX_OUTPUT + 100);
        assert_eq!(
            metadata["droppedBytes"].as_u64(),
            Some(6 + 1_000_000 + 1 + 5 - super::MAX_OUTPUT as u64)
        );
    }

    #[test]
    fn without_bash_the_command_runs_in_sh() {
        let bench = Bench::with_path(|directory| {
            for (name, code) in [("sh", 0o755), ("bash", 0o644)] {
                let program = directory.join(name);
                fs::write(&program, "#!/bin/sh\necho fake \"$0\" \"$@\"\n").unwrap();
                fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(code))
                    .unwrap();
            }
        });
        let text = bench.succeed("bash", json!({"command": "true it is"})).text();
        assert!(text.starts_with("fake ") && text.ends_with("/sh -c true it is\n"), "{text}");
    }

    #[test]
    fn a_command_that_cannot_start_reports_the_reason() {
        let bench = Bench::with_path(|_| {});
        assert!(bench.fail("bash", json!({"command": "true"})).contains("sh"));
        let bench = Bench::new();
        fs::remove_dir(bench.workspace.project()).unwrap();
        assert!(bench.fail("bash", json!({"command": "true"})).contains("the working "));
        assert!(bench.run("bash", json!({"command": "nul\0byte"})).is_failure());
    }

    #[test]
    fn a_background_command_writes_to_its_log_until_it_is_terminated() {
        let bench = Bench::new();
        let line = "trap 'touch ended' EXIT; trap 'exit 1' TERM; echo begun; touch running; while :; do sleep 0.01; done";
        let result = bench.succeed("bash", json!({"command": line, "background": true}));
        wait_for(&bench.path("running"));
        let metadata: Value = result.metadata.clone().unwrap().into();
        assert_eq!(result.metadata_type.as_deref(), Some("bash_background"));
        assert_eq!(metadata["startTime"], json!("1970-01-01T00:00:00.000Z"));
        assert_eq!(fs::read_to_string(metadata["logPath"].as_str().unwrap()).unwrap(), "begun\n");
        assert!(
            Path::new(metadata["logPath"].as_str().unwrap())
                .starts_with(bench.directory.path().join("state/background"))
        );
        assert!(!bench.path("ended").exists());
        bench.workspace.end_background();
        wait_for(&bench.path("ended"));
    }

    #[test]
    fn every_background_command_has_a_log_of_its_own() {
        let bench = Bench::new();
        for _ in 0..2 {
            bench.succeed("bash", json!({"command": "true", "background": true}));
        }
        assert_eq!(names_in(&bench.directory.path().join("state/background")).len(), 2);
        bench.workspace.end_background();
    }

    #[test]
    fn an_input_that_does_not_fit_names_the_field() {
        let bench = Bench::new();
        for (input, complaint) in [
            (json!({}), "missing field `command`"),
            (json!({"command": ""}), "command: must not be empty"),
            (
                json!({"command": "true", "timeout": 601}),
                "timeout: invalid value: integer `601`, expected a whole number between 1 and 600",
            ),
            (
                json!({"command": "true", "cwd": "/"}),
                "unknown field `cwd`, expected one of `command`, `description`",
            ),
        ] {
            let error = bench.fail("bash", input);
            assert_eq!(
                error
                    .strip_prefix("the input does not fit: ")
                    .map(|rest| rest.starts_with(complaint)),
                Some(true),
                "{error}"
            );
        }
    }
}
