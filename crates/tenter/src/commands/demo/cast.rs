//! The demo's hooks: five programs, in Python where there is one, else in shell.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_engine::environment::Environment;
use tenter_proc::{Cancel, Invocation, Limits, Streams};

/// A hook as it can be installed.
struct Part {
    name: &'static str,
    event: &'static str,
    does: &'static str,
    python: Option<&'static str>,
    shell: &'static str,
}

/// The hooks, in the order in which they run: hooks of one folder run in the order of their names (R22).
const CAST: [Part; 5] = [
    Part {
        name: "10-guard",
        event: "before_tool_call",
        does: "blocks commands that destroy, such as rm -rf",
        python: Some(include_str!("files/hooks/10-guard.py")),
        shell: include_str!("files/hooks/10-guard.sh"),
    },
    Part {
        name: "20-dry-run",
        event: "before_tool_call",
        does: "adds --dry-run to ./deploy.sh",
        python: None,
        shell: include_str!("files/hooks/20-dry-run.sh"),
    },
    Part {
        name: "30-redact",
        event: "after_tool_call",
        does: "takes AWS keys out of what tools find",
        python: Some(include_str!("files/hooks/30-redact.py")),
        shell: include_str!("files/hooks/30-redact.sh"),
    },
    Part {
        name: "40-audit",
        event: "after_tool_call",
        does: "writes every call into audit.jsonl, blocked ones too",
        python: None,
        shell: include_str!("files/hooks/40-audit.sh"),
    },
    Part {
        name: "50-gate",
        event: "agent_stop",
        does: "does not let the agent stop while ./check.sh fails",
        python: None,
        shell: include_str!("files/hooks/50-gate.sh"),
    },
];

/// A hook that was installed.
#[derive(Debug)]
pub(super) struct Installed {
    /// Its name.
    pub(super) name: &'static str,
    /// The event that it subscribes to, in its own word.
    pub(super) event: &'static str,
    /// What it does, in words.
    pub(super) does: &'static str,
    /// What it is written in: `python`, `bash` or `sh`.
    pub(super) language: &'static str,
    /// The file.
    pub(super) path: PathBuf,
}

/// Writes the hooks into `folder`, each in a language that can be run in this environment.
pub(super) fn install(folder: &Path, environment: &Environment) -> io::Result<Vec<Installed>> {
    fs::create_dir_all(folder)?;
    let runs = |program: &str, line: &str| runs(folder, environment, program, line);
    let python = runs("python3", "import json, re, sys");
    let shell = if runs("bash", ":") { "bash" } else { "sh" };
    CAST.iter()
        .map(|part| {
            let (language, text) = match part.python {
                Some(text) if python => ("python", text.to_owned()),
                _ if shell == "bash" => (shell, part.shell.to_owned()),
                _ => (shell, part.shell.replacen("#!/usr/bin/env bash", "#!/bin/sh", 1)),
            };
            let path = folder.join(part.name);
            write_executable(&path, &text)?;
            Ok(Installed { name: part.name, event: part.event, does: part.does, language, path })
        })
        .collect()
}

/// Whether an interpreter is there and works: a stand-in that only says how to install the real one does not.
fn runs(cwd: &Path, environment: &Environment, program: &str, line: &str) -> bool {
    let invocation = Invocation {
        program: program.into(),
        args: vec![OsString::from("-c"), line.into()],
        cwd: cwd.to_owned(),
        env: environment.clone(),
        stdin: Vec::new(),
        streams: Streams::Merged,
        limits: Limits { timeout: Duration::from_secs(10), ..Limits::default() },
    };
    tenter_proc::run(&invocation, &Cancel::new()).end.is_success()
}

/// Writes a file that can be run.
pub(super) fn write_executable(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
