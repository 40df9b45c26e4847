//! `tenter bridge`: registration with other agents.

mod import;
mod import_decisions;
mod install;
mod list;
mod projects;
mod proofs;
mod prove;
mod scratch;

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tenter_testkit::Sandbox;

/// Settings as a user has them.
const SETTINGS: &str = r#"{
  // Opus for planning
  "model": "opus",
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "say done" }] },
    ],
  },
}
"#;

/// A sandbox in which Tenter is installed: not in the directory in which it is built.
pub(crate) struct Installed {
    sandbox: Sandbox,
    bin: TempDir,
}

impl Deref for Installed {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

/// Copies a program in another process: a process that another test starts meanwhile cannot keep the copy open for writing, so it can
/// be run at once.
#[expect(clippy::disallowed_methods, reason = "it needs no limits")]
fn copy(program: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg(program).arg(to).status().unwrap();
    assert!(status.success());
}

impl Installed {
    /// Creates a sandbox with `tenter` and `tenter-hook` in one directory.
    pub(crate) fn new() -> Self {
        // On the file system of the build a program needs no copy.
        let bin = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let own = Path::new(env!("CARGO_BIN_EXE_tenter"));
        let tenter = bin.path().join("tenter");
        if fs::hard_link(own, &tenter).is_err() {
            copy(own, &tenter);
        }
        let host = Self { sandbox: Sandbox::new(tenter), bin };
        let version = env!("CARGO_PKG_VERSION");
        host.program("tenter-hook", &format!("#!/bin/sh\necho tenter-hook {version}\n"));
        host
    }

    /// Returns one with settings of Claude Code.
    fn with_settings(text: &str) -> Self {
        let host = Self::new();
        fs::create_dir(host.home().join(".claude")).unwrap();
        fs::write(host.settings(), text).unwrap();
        host
    }

    /// Returns the directory of `tenter`.
    pub(crate) fn bin(&self) -> &Path {
        self.bin.path()
    }

    /// Writes a program into the directory of `tenter`.
    fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.bin.path().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn settings(&self) -> PathBuf {
        self.home().join(".claude/settings.json")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.settings()).unwrap()
    }

    /// Turns the project into a real repository.
    fn git(&self, line: &str) {
        let identity = "-c user.name=Ada -c user.email=ada@example.org";
        let _ = self.shell(&format!("git {identity} {line}")).expect_code(0);
    }
}
