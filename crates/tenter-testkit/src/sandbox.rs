//! A folder with a project and a home, and commands that see nothing else.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{Output, PtySession, needs};

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_mins(1);

/// A project, a home and nothing else.
pub struct Sandbox {
    root: TempDir,
    binary: PathBuf,
}

#[expect(clippy::unwrap_used, reason = "a sandbox that cannot be made is a failed test")]
impl Sandbox {
    /// A sandbox for the binary at `binary`: an empty project (a git top level) and an empty home.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let root = TempDir::with_prefix("tenter-test-").unwrap();
        let sandbox = Self { root, binary: binary.into() };
        fs::create_dir_all(sandbox.project().join(".git")).unwrap();
        fs::create_dir_all(sandbox.home()).unwrap();
        sandbox
    }

    /// The folder that holds everything.
    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// The project.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// Tenter's state folder.
    pub fn state(&self) -> PathBuf {
        self.home().join(".local/state/tenter")
    }

    /// Writes a file; `path` is relative to the project.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Writes an executable hook into the project's `.kodelet/hooks`.
    pub fn hook(&self, name: &str, script: &str) -> PathBuf {
        executable(&self.project().join(".kodelet/hooks").join(name), script)
    }

    /// Writes an executable hook into the person's `~/.kodelet/hooks`, which needs no trust.
    pub fn user_hook(&self, name: &str, script: &str) -> PathBuf {
        executable(&self.home().join(".kodelet/hooks").join(name), script)
    }

    /// Writes a hook in sh that subscribes to `event` and, when run, does `body` with the payload in `$payload`.
    pub fn sh_hook(&self, name: &str, event: &str, body: &str) -> PathBuf {
        self.user_hook(name, &sh_script(event, body))
    }

    /// Writes a scripted model and returns the name that `--model` takes.
    pub fn script(&self, yaml: &str) -> String {
        let path = self.root().join("script.yaml");
        fs::write(&path, yaml).unwrap();
        format!("scripted:{}", path.display())
    }

    /// The command in the project, with an environment of its own.
    pub fn command(&self) -> Command {
        self.in_project(&self.binary)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "tests start programs as a person would, with the machine's PATH"
    )]
    fn in_project(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", needs::search_path())
            .env("HOME", self.home())
            .env("LANG", "C.UTF-8")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        let output = self.command().args(args).output().unwrap();
        Output::new(&output, &self.root())
    }

    /// Runs the command to its end with something piped in.
    pub fn run_with_stdin(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        let mut child = self
            .command()
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that does not read what it is given is not the test's trouble.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_ref());
        Output::new(&child.wait_with_output().unwrap(), &self.root())
    }

    /// Runs a line of bash in the project, as a person would who has the command in his `PATH`. What it prints is taken as
    /// a terminal shows it: both streams together, as stdout.
    pub fn shell(&self, line: &str) -> Output {
        let folder = self.binary.parent().unwrap().display();
        let line = format!("exec 2>&1\nPATH='{folder}':$PATH\n{line}");
        let output = self.in_project(Path::new("bash")).args(["-c", &line]).output().unwrap();
        Output::new(&output, &self.root())
    }

    /// Starts the command; its output is taken with [`Sandbox::finish`].
    pub fn start(&self, args: &[&str]) -> Child {
        self.command().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits for the end of a program in a terminal. What it showed since it was last waited for is taken as stdout.
    pub fn finish_pty(&self, session: PtySession) -> Output {
        let (code, shown) = session.end();
        Output::of_terminal(code, shown, &self.root())
    }

    /// Waits for a started command's end.
    pub fn finish(&self, child: Child) -> Output {
        Output::new(&child.wait_with_output().unwrap(), &self.root())
    }
}

/// A hook in sh that subscribes to `event` and, when run, does `body` with the payload in `$payload`.
fn sh_script(event: &str, body: &str) -> String {
    format!(
        "#!/bin/sh\nif [ \"$1\" = hook ]; then echo '{event}'; exit 0; fi\npayload=$(cat)\n{body}\n"
    )
}

#[expect(clippy::unwrap_used, reason = "a sandbox that cannot be made is a failed test")]
fn executable(path: &Path, script: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

/// Waits until something is so; a test that waits for ever fails instead.
///
/// # Panics
/// When it is not so after a minute.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
