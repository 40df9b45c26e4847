//! The environment of the process: variables, directories, clock, terminal. Only this module reads them; everything else
//! takes them as values. `tenter_settings::table` lists the variables.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;

use tenter_base::{account, search_path};
use tenter_engine::Directories;
use tenter_engine::inspect::Environment;
use tenter_engine::journal::JournalDirectories;
use tenter_engine::layout::ResourceLayout;

use crate::failure::Failure;

/// The environment of a process.
#[derive(Debug, Clone)]
pub struct Env {
    /// Every environment variable.
    pub vars: Environment,
    /// The working directory.
    pub cwd: PathBuf,
    /// The home directory.
    pub home: PathBuf,
}

/// Returns the time of the system's clock.
#[expect(clippy::disallowed_methods, reason = "this is where the clock comes from")]
pub fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

impl Env {
    /// Returns the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment comes from")]
    pub fn read_process() -> Self {
        let vars: Environment = std::env::vars_os().collect();
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        Self::from_variables(vars, cwd)
    }

    /// Returns the environment of a process with these variables and this working directory.
    pub fn from_variables(vars: Environment, cwd: PathBuf) -> Self {
        let home = Directories::from_vars(&vars).home;
        Self { vars, cwd, home }
    }

    /// Refuses to run as root, by `sudo`, with the home directory of the user: settings, trust and state there would become root's.
    ///
    /// # Errors
    /// It does.
    pub fn check_home(&self) -> Result<(), Failure> {
        let caller = self.text("SUDO_UID").and_then(|id| id.parse().ok());
        if !caller.is_some_and(|caller| account::is_root_at_home_of(caller, &self.home)) {
            return Ok(());
        }
        let home = self.home.display();
        let failure = Failure::new(format!(
            "sudo runs this as root, but with your home directory {home}: what it writes there would be root's"
        ));
        Err(failure.help("run it without sudo, or with `sudo -H` if it is for root"))
    }

    /// Returns the same environment without these variables.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let is_left = |(name, _): &&(OsString, OsString)| names.iter().all(|one| name != one);
        let vars = self.vars.iter().filter(is_left).cloned().collect();
        Self { vars, cwd: self.cwd.clone(), home: self.home.clone() }
    }

    /// Returns the path of this program, for scripts that start it.
    pub fn program() -> PathBuf {
        std::env::current_exe().unwrap_or_else(|_| PathBuf::from("tenter"))
    }

    /// Returns the program that runs a command with fewer rights.
    pub fn launcher() -> PathBuf {
        search_path::launcher_of(Self::program())
    }

    /// Returns the arguments of this process, without the program.
    pub fn arguments() -> impl Iterator<Item = OsString> {
        std::env::args_os().skip(1)
    }

    /// Returns a variable's value; `None` if it is empty.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        find(&self.vars, name)
    }

    /// Returns a variable's value as text; `None` if it is empty or not UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.var(name)?.to_str()
    }

    /// Returns the user's `config.toml`.
    pub fn config_file(&self) -> PathBuf {
        self.directories().config_home.join("tenter/config.toml")
    }

    /// Returns the directory of conversations, journal and trust store.
    pub fn state_dir(&self) -> PathBuf {
        self.directories().state
    }

    /// Returns the database of conversations.
    pub fn store_file(&self) -> PathBuf {
        self.state_dir().join("conversations.db")
    }

    /// Returns the directory of the snapshots of files.
    pub fn snapshot_dir(&self) -> PathBuf {
        self.state_dir().join("snapshots")
    }

    /// Returns the directory of the journal.
    pub fn journal_dir(&self) -> PathBuf {
        self.state_dir().join("journal")
    }

    /// Returns the directories of all journals: hooks in other agents write to the home directory, whatever the environment says
    /// (B43).
    pub fn journals(&self) -> JournalDirectories {
        JournalDirectories::new(self.journal_dir())
            .and(Directories::in_home(&self.home).state.join("journal"))
    }

    /// Returns the user's editor, as a shell command.
    pub fn editor(&self) -> &str {
        self.text("VISUAL").or_else(|| self.text("EDITOR")).unwrap_or("vi")
    }

    /// Returns the user's directories, as the engine needs them.
    pub fn directories(&self) -> Directories {
        Directories::from_vars(&self.vars)
    }

    /// Returns the directories that hooks are loaded from, given the project's root.
    pub fn layout(&self, project: PathBuf) -> ResourceLayout {
        let Directories { config_home, managed, .. } = self.directories();
        ResourceLayout::new(project, &self.home, config_home).with_managed(managed)
    }

    /// Checks whether the user can be asked: stdin and stderr are a terminal.
    pub fn can_ask() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Checks whether stdin and stdout are a terminal.
    pub fn has_terminal() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Checks whether the terminal cannot move its cursor, or is unknown.
    pub fn is_dumb(&self) -> bool {
        self.var("TERM").is_none_or(|term| term == "dumb")
    }

    /// Checks whether the output is a terminal that can move its cursor: stdout and stderr are, and `TERM` does not deny it.
    pub fn can_redraw(&self) -> bool {
        !self.is_dumb() && io::stdout().is_terminal() && io::stderr().is_terminal()
    }

    /// Checks whether stderr is a terminal.
    pub fn has_stderr_terminal() -> bool {
        io::stderr().is_terminal()
    }

    /// Returns all of stdin; empty if stdin is a terminal.
    pub fn piped_stdin() -> io::Result<String> {
        let mut bytes = Vec::new();
        if !io::stdin().is_terminal() {
            io::stdin().lock().read_to_end(&mut bytes)?;
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn find<'v>(vars: &'v [(OsString, OsString)], name: &str) -> Option<&'v OsStr> {
    let (_, value) = vars.iter().find(|(key, _)| key == name)?;
    Some(value.as_os_str()).filter(|value| !value.is_empty())
}
