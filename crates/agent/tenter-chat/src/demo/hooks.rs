//! The demo's hooks: five programs, in Python if it is installed, else in shell.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_engine::inspect::Environment;
use tenter_proc::{Cancel, Invocation, Limits, Streams};

/// A hook that can be installed.
struct DemoHook {
    name: &'static str,
    event: &'static str,
    does: &'static str,
    python: Option<&'static str>,
    shell: &'static str,
}

/// The hooks, in the order in which they run: by name (R22).
const HOOKS: [DemoHook; 5] = [
    DemoHook {
        name: "10-guard",
        event: "before_tool_call",
        does: "blocks destructive commands such as rm -rf",
        python: Some(include_str!("files/hooks/10-guard.py")),
        shell: include_str!("files/hooks/10-guard.sh"),
    },
    DemoHook {
        name: "20-dry-run",
        event: "before_tool_call",
        does: "adds --dry-run to ./deploy.sh",
        python: None,
        shell: include_str!("files/hooks/20-dry-run.sh"),
    },
    DemoHook {
        name: "30-redact",
        event: "after_tool_call",
        does: "removes AWS keys from tool results",
        python: Some(include_str!("files/hooks/30-redact.py")),
        shell: include_str!("files/hooks/30-redact.sh"),
    },
    DemoHook {
        name: "40-audit",
        event: "after_tool_call",
        does: "logs every call to audit.jsonl, blocked ones too",
        python: None,
        shell: include_str!("files/hooks/40-audit.sh"),
    },
    DemoHook {
        name: "50-gate",
        event: "agent_stop",
        does: "makes the agent continue while ./check.sh fails",
        python: None,
        shell: include_str!("files/hooks/50-gate.sh"),
    },
];

/// An installed hook.
#[derive(Debug)]
pub(super) struct InstalledHook {
    /// The name.
    pub(super) name: &'static str,
    /// The event that it subscribes to, as the hook spells it.
    pub(super) event: &'static str,
    /// Its effect.
    pub(super) does: &'static str,
    /// The language: `python`, `bash` or `sh`.
    pub(super) language: &'static str,
    /// The file.
    pub(super) path: PathBuf,
}

/// Writes the hooks into `directory`, each in a language that runs in this environment.
pub(super) fn install(
    directory: &Path,
    environment: &Environment,
) -> io::Result<Vec<InstalledHook>> {
    fs::create_dir_all(directory)?;
    let runs = |program: &str, line: &str| runs(directory, environment, program, line);
    let python = runs("python3", "import json, re, sys");
    let shell = if runs("bash", ":") { "bash" } else { "sh" };
    HOOKS
        .iter()
        .map(|hook| {
            let (language, text) = match hook.python {
                Some(text) if python => ("python", text.to_owned()),
                _ if shell == "bash" => (shell, hook.shell.to_owned()),
                _ => (shell, hook.shell.replacen("#!/usr/bin/env bash", "#!/bin/sh", 1)),
            };
            let path = directory.join(hook.name);
            write_executable(&path, &text)?;
            Ok(InstalledHook {
                name: hook.name,
                event: hook.event,
                does: hook.does,
                language,
                path,
            })
        })
        .collect()
}

/// Checks whether an interpreter is installed and works. Some systems have a stub that only says how to install the real one.
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

/// Writes an executable file.
pub(super) fn write_executable(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
