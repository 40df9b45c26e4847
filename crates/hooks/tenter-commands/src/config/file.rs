//! A configuration file that is changed: read, checked, replaced.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tenter_base::{FileLock, destination, private_dir, replace_file, untrusted_file};
use tenter_protocol::Diagnostic;
use tenter_settings::SettingsOwner;
use tenter_terminal::{Env, Failure};

/// The file that a command reads or changes.
#[derive(Debug, clap::Args)]
pub struct FileChoice {
    /// Use the project's tenter.toml instead of your config.toml.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    project: Option<PathBuf>,
}

impl FileChoice {
    /// Returns the project that is named; `None` for the present one.
    pub(super) fn named(&self) -> Option<&Path> {
        self.project.as_deref().filter(|directory| *directory != Path::new("."))
    }

    pub(super) fn owner(&self) -> SettingsOwner {
        if self.project.is_some() { SettingsOwner::Project } else { SettingsOwner::User }
    }
}

/// A configuration file.
pub(super) struct ConfigFile {
    pub(super) owner: SettingsOwner,
    pub(super) path: PathBuf,
}

impl ConfigFile {
    pub(super) fn new(env: &Env, root: &Path, owner: SettingsOwner) -> Self {
        let path = match owner {
            SettingsOwner::User => env.config_file(),
            SettingsOwner::Project => tenter_settings::project_file(root),
        };
        Self { owner, path }
    }

    /// Returns its text; empty if the file is missing.
    pub(super) fn read(&self) -> Result<String, Failure> {
        let text = match self.owner {
            SettingsOwner::User => fs::read_to_string(&self.path),
            SettingsOwner::Project => untrusted_file::read_to_string(&self.path),
        };
        match text {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
            text => text.map_err(|error| self.failed("read", &error)),
        }
    }

    /// Checks `text` as its content. Returns the settings that have no effect or another one.
    pub(super) fn check(&self, text: &str) -> Result<Vec<Diagnostic>, Failure> {
        tenter_settings::check(self.owner, &self.path, text.to_owned())
    }

    /// Keeps other commands from changing a configuration file until the lock is dropped.
    pub(super) fn lock(env: &Env) -> Result<FileLock, Failure> {
        let file = env.state_dir().join("config.lock");
        private_dir::create_parent(&file)
            .and_then(|()| FileLock::acquire(&file))
            .map_err(|error| Failure::new(format!("cannot lock {}: {error}", file.display())))
    }

    /// Replaces its content. A user's file may be a symlink, which stays.
    pub(super) fn replace(&self, text: &str) -> Result<(), Failure> {
        self.try_replace(text).map_err(|error| self.failed("write", &error))
    }

    fn try_replace(&self, text: &str) -> io::Result<()> {
        let path = match self.owner {
            SettingsOwner::User => destination(&self.path)?,
            SettingsOwner::Project if self.path.is_symlink() => {
                return Err(io::Error::other("it is a symlink: change the file that it names"));
            }
            SettingsOwner::Project => self.path.clone(),
        };
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                replace_file::replace_keeping(&path, text.as_bytes(), &metadata)
            }
            Ok(_) => Err(io::Error::other("it is not a file")),
            Err(_) if self.owner == SettingsOwner::User => {
                replace_file::replace(&path, text.as_bytes())
            }
            Err(_) => replace_file::replace_with_mode(&path, text.as_bytes(), None).map(drop),
        }
    }

    fn failed(&self, verb: &str, error: &io::Error) -> Failure {
        Failure::new(format!("cannot {verb} {}: {error}", self.path.display()))
    }
}
