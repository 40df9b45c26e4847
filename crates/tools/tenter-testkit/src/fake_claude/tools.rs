//! The tools of a client, but for subagents.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::shell_text::quote;

/// The end of a tool.
#[derive(Debug)]
pub(super) struct FakeToolEnd {
    /// The text for the model.
    pub(super) text: String,
    /// The native result of a tool that succeeded; `None` if it failed.
    pub(super) response: Option<Value>,
}

impl FakeToolEnd {
    pub(super) fn failure(text: String) -> Self {
        Self { text, response: None }
    }

    /// Returns the end with another native result, if the client takes it: all fields have to be there.
    pub(super) fn replaced(self, response: &Value) -> Self {
        let is_whole = ["stdout", "stderr", "interrupted", "isImage"]
            .iter()
            .all(|field| response.get(*field).is_some());
        if !is_whole {
            return self;
        }
        Self { text: shown(response), response: Some(response.clone()) }
    }
}

/// The surroundings of a command.
pub(super) struct CommandSurroundings<'s> {
    pub(super) project: &'s Path,
    pub(super) session: &'s str,
    pub(super) variables: Vec<(String, String)>,
    /// The start of a command that puts the rest into the sandbox; empty without one.
    pub(super) sandbox: &'static str,
}

/// The sandbox of this client: a shell function that makes files in the working directory only.
pub(super) const SANDBOX: &str =
    r#"touch() { case "$1" in */*) return 1 ;; esac; command touch "$@"; }; "#;
/// The same on a system whose program for sandboxes is too old.
pub(super) const SANDBOX_FAILS: &str = "echo bwrap: unknown cap: CAP_SETFCAP >&2; exit 1; ";

/// Runs a tool in the project.
pub(super) fn run(
    tool: &str,
    input: &Value,
    surroundings: &CommandSurroundings<'_>,
) -> FakeToolEnd {
    let text = |field: &str| input[field].as_str().unwrap_or_default();
    match tool {
        "Bash" => shell(text("command"), surroundings),
        "Write" => write(text("file_path"), text("content")),
        other => FakeToolEnd::failure(format!("No such tool available: {other}")),
    }
}

/// Runs a command. Its last step notes the working directory, and the prefix that the settings name starts the whole.
#[expect(clippy::disallowed_methods, reason = "a client starts its commands itself")]
fn shell(command: &str, surroundings: &CommandSurroundings<'_>) -> FakeToolEnd {
    let CommandSurroundings { project, session, variables, sandbox } = surroundings;
    let note = std::env::temp_dir().join(format!("claude-{session}-cwd"));
    let text = format!("{sandbox}eval {} && pwd -P >| {}", quote(command), note.display());
    let prefix = variables.iter().find(|(name, _)| name == "CLAUDE_CODE_SHELL_PREFIX");
    let text =
        prefix.map_or_else(|| text.clone(), |(_, prefix)| format!("{prefix} {}", quote(&text)));
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &text]).current_dir(project).envs(variables.iter().cloned());
    let output = shell.env("CLAUDE_CODE_SESSION_ID", session).output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return FakeToolEnd::failure(error.to_string()),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() {
        let response =
            json!({"stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false});
        return FakeToolEnd { text: shown(&response), response: Some(response) };
    }
    let code = output.status.code().unwrap_or(137);
    FakeToolEnd::failure(format!("Exit code {code}\n{stdout}\n{stderr}"))
}

fn shown(response: &Value) -> String {
    let text = |field: &str| response[field].as_str().unwrap_or_default();
    format!("{}\n{}", text("stdout"), text("stderr")).trim().to_owned()
}

fn write(path: &str, content: &str) -> FakeToolEnd {
    match fs::write(path, content) {
        Ok(()) => FakeToolEnd {
            text: format!("File created successfully at: {path}"),
            response: Some(json!({
                "type": "create",
                "filePath": path,
                "content": content,
                "structuredPatch": [],
                "originalFile": null,
                "userModified": false,
            })),
        },
        Err(error) => FakeToolEnd::failure(format!("{path}: {error}")),
    }
}
