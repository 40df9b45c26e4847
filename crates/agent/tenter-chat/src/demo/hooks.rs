//! The demo's hooks: five shell scripts.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A hook of the demo.
#[derive(Debug)]
pub(super) struct DemoHook {
    /// The name.
    pub(super) name: &'static str,
    /// The event that it subscribes to.
    pub(super) event: &'static str,
    /// Its effect.
    pub(super) does: &'static str,
    text: &'static str,
}

/// The hooks, in the order in which they run: by name (R22).
const HOOKS: &[DemoHook] = &[
    DemoHook {
        name: "10-guard",
        event: "before_tool",
        does: "blocks destructive commands such as rm -rf",
        text: include_str!("files/hooks/10-guard.sh"),
    },
    DemoHook {
        name: "20-dry-run",
        event: "before_tool",
        does: "adds --dry-run to ./deploy.sh",
        text: include_str!("files/hooks/20-dry-run.sh"),
    },
    DemoHook {
        name: "30-redact",
        event: "after_tool",
        does: "removes AWS keys from tool results",
        text: include_str!("files/hooks/30-redact.sh"),
    },
    DemoHook {
        name: "40-audit",
        event: "after_tool",
        does: "logs every call to audit.jsonl, blocked ones too",
        text: include_str!("files/hooks/40-audit.sh"),
    },
    DemoHook {
        name: "50-gate",
        event: "before_stop",
        does: "makes the agent continue while ./check.sh fails",
        text: include_str!("files/hooks/50-gate.sh"),
    },
];

/// Writes the hooks into `directory`. Returns them with their files.
pub(super) fn install(directory: &Path) -> io::Result<Vec<(&'static DemoHook, PathBuf)>> {
    fs::create_dir_all(directory)?;
    let install = |hook: &'static DemoHook| {
        let path = directory.join(hook.name);
        write_executable(&path, hook.text)?;
        Ok((hook, path))
    };
    HOOKS.iter().map(install).collect()
}

/// Writes an executable file.
pub(super) fn write_executable(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
