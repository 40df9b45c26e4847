//! A directory with a project and a home, and commands that run in it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Output, PtySession, needs};

/// Maximum time that a test waits for an expected event.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The words after the name of a command: a list, or a line that is split at its spaces.
pub trait Words {
    /// Returns the words.
    fn words(&self) -> Vec<&str>;
}

impl Words for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Words for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl Words for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Words for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Words for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

impl<W: Words + ?Sized> Words for &W {
    fn words(&self) -> Vec<&str> {
        (**self).words()
    }
}

/// A temporary directory with a project and a home.
pub struct Sandbox {
    root: TempDir,
    binary: PathBuf,
    is_managed: bool,
}

#[expect(clippy::unwrap_used, reason = "a test fails if its sandbox cannot be created")]
impl Sandbox {
    /// Creates a sandbox for the program `binary`, with an empty project, which has a `.git` directory, and an empty home.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let root = TempDir::with_prefix("tenter-test-").unwrap();
        let sandbox = Self { root, binary: binary.into(), is_managed: false };
        fs::create_dir_all(sandbox.project().join(".git")).unwrap();
        fs::create_dir_all(sandbox.home()).unwrap();
        sandbox
    }

    /// Returns the same sandbox, with [`machine`](Self::machine) as the root of the file system below which administrators have
    /// their files.
    #[must_use]
    pub fn managed(self) -> Self {
        fs::create_dir_all(self.machine().join("etc/tenter")).unwrap();
        Self { is_managed: true, ..self }
    }

    /// Returns the root of the managed files, of a [managed](Self::managed) sandbox.
    pub fn machine(&self) -> PathBuf {
        self.root().join("machine")
    }

    /// Writes a managed file; `path` is relative to `/etc/tenter`.
    pub fn write_managed(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.machine().join("etc/tenter").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Returns the root of the sandbox.
    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// Returns the project directory.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// Returns the home directory.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// Returns Tenter's state directory.
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

    /// Writes a program; `path` is relative to the project.
    pub fn write_program(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.write(path, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Reads a file of the project that has a JSON value on each line.
    pub fn read_lines(&self, path: &str) -> Vec<Value> {
        self.read(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Writes the user's configuration.
    pub fn configure(&self, text: impl AsRef<[u8]>) -> PathBuf {
        self.write("../home/.config/tenter/config.toml", text)
    }

    /// Writes an executable hook to the project's `.kodelet/hooks`.
    pub fn hook(&self, name: &str, script: &str) -> PathBuf {
        self.write_program(&format!(".kodelet/hooks/{name}"), script)
    }

    /// Writes an executable hook to the user's `~/.kodelet/hooks`, which needs no trust.
    pub fn user_hook(&self, name: &str, script: &str) -> PathBuf {
        self.write_program(&format!("../home/.kodelet/hooks/{name}"), script)
    }

    /// Writes a shell hook for `event` that runs `body` with the payload in `$payload`.
    pub fn sh_hook(&self, name: &str, event: &str, body: &str) -> PathBuf {
        self.user_hook(name, &sh_script(event, body))
    }

    /// Writes a scripted model and returns its name for `--model`.
    pub fn script(&self, yaml: &str) -> String {
        let path = self.root().join("script.yaml");
        fs::write(&path, yaml).unwrap();
        format!("scripted:{}", path.display())
    }

    /// Returns the command, to be run in the project with the environment of the sandbox.
    pub fn command(&self) -> Command {
        self.in_project(&self.binary)
    }

    /// Returns another program, to be run as the command.
    pub fn program(&self, name: &str) -> Command {
        self.in_project(Path::new(name))
    }

    #[expect(clippy::disallowed_methods, reason = "tests start programs as a user does")]
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
        if self.is_managed {
            command.env("TENTER_TEST_MANAGED_ROOT", self.machine());
        }
        command
    }

    /// Runs the command until it ends.
    pub fn run(&self, args: impl Words) -> Output {
        self.run_with_env(&[], args)
    }

    /// Runs the command with further variables until it ends.
    pub fn run_with_env(&self, vars: &[(&str, &str)], args: impl Words) -> Output {
        let vars = vars.iter().copied();
        let output = self.command().envs(vars).args(args.words()).output().unwrap();
        Output::new(&output, &self.root())
    }

    /// Runs the command, and checks that it succeeds and writes `text` to stdout.
    #[track_caller]
    pub fn prints(&self, args: impl Words, text: &str) {
        self.run(args).prints(text);
    }

    /// Runs the command, and checks that it succeeds and writes `text` to stderr.
    #[track_caller]
    pub fn warns(&self, args: impl Words, text: &str) {
        self.run(args).warns(text);
    }

    /// Runs the command, and checks that it ends with `code` and writes `text` to stderr.
    #[track_caller]
    pub fn fails(&self, code: i32, args: impl Words, text: &str) {
        self.run(args).fails(code, text);
    }

    /// Runs an agent whose model plays `script`; `args` are more options and the query.
    pub fn play(&self, script: &str, args: &[&str]) -> Output {
        let model = self.script(script);
        self.run([&["run", "--model", &model], args].concat())
    }

    /// Runs the command with `stdin`.
    pub fn run_with_stdin(&self, args: impl Words, stdin: impl AsRef<[u8]>) -> Output {
        let mut child = self
            .command()
            .args(args.words())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The command need not read its stdin.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_ref());
        Output::new(&child.wait_with_output().unwrap(), &self.root())
    }

    /// Runs a bash command line in the project, with the command in `PATH`. Both output streams are captured as stdout.
    pub fn shell(&self, line: &str) -> Output {
        let directory = self.binary.parent().unwrap().display();
        let line = format!("exec 2>&1\nPATH='{directory}':$PATH\n{line}");
        let output = self.in_project(Path::new("bash")).args(["-c", &line]).output().unwrap();
        Output::new(&output, &self.root())
    }

    /// Starts the command; [`Sandbox::finish`] returns its output.
    pub fn start(&self, args: impl Words) -> Child {
        let args = args.words();
        self.command().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Starts the command in a terminal.
    pub fn at_terminal(&self, args: impl Words) -> PtySession {
        self.at_terminal_with_env(&[], args)
    }

    /// Starts the command in a terminal, with further variables.
    pub fn at_terminal_with_env(&self, vars: &[(&str, &str)], args: impl Words) -> PtySession {
        let mut command = self.command();
        command.envs(vars.iter().copied()).args(args.words());
        PtySession::start(command)
    }

    /// Waits for the end of a program in a terminal. Its output since the last wait is the stdout of the result.
    pub fn finish_pty(&self, session: PtySession) -> Output {
        let (code, screen) = session.end();
        Output::from_terminal(code, screen, &self.root())
    }

    /// Waits for the end of a started command.
    pub fn finish(&self, child: Child) -> Output {
        Output::new(&child.wait_with_output().unwrap(), &self.root())
    }
}

/// Returns a shell hook for `event` that runs `body` with the payload in `$payload`.
fn sh_script(event: &str, body: &str) -> String {
    format!(
        "#!/bin/sh\nif [ \"$1\" = hook ]; then echo '{event}'; exit 0; fi\npayload=$(cat)\n{body}\n"
    )
}

/// Waits until `is_so` returns true.
///
/// # Panics
/// After a minute.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < TIMEOUT, "gave up waiting until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
