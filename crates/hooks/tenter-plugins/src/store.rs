//! A directory of plugins, of a project or a user: its content, and the operations that change it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use tenter_base::FileLock;
use tenter_protocol::Diagnostic;

use crate::content::{Content, hash};
use crate::installed::Installed;
use crate::lock::{Lock, LockedPlugin, PreparedLock};
use crate::name::PluginName;
use crate::rules::refused;
use crate::staging::{self, Staging};

/// The lock file: held while the directory is changed.
const LOCK: &str = ".lock";
/// The name of a plugin's directory before it is installed.
const UNPACKED: &str = "plugin";

/// A directory of plugins. It need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugins {
    dir: PathBuf,
}

/// The failure of an installation. Nothing was changed.
#[derive(Debug)]
pub enum InstallError {
    /// The plugin is already installed and must not be replaced.
    Installed,
    /// The plugin contains no hook, no skill and no recipe.
    Empty(Diagnostic),
    /// Something failed.
    Failed(Diagnostic),
}

impl From<Diagnostic> for InstallError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Failed(diagnostic)
    }
}

/// A request to install a plugin.
#[derive(Debug)]
pub struct InstallRequest<'a> {
    /// The name.
    pub name: &'a PluginName,
    /// The content.
    pub content: &'a Content,
    /// The source; name, hash and files are filled in.
    pub record: LockedPlugin,
    /// Replaces an installed plugin.
    pub replace: bool,
}

impl Plugins {
    /// Creates the plugins in the directory `dir`, an absolute path.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the directory of a plugin, installed or not.
    pub fn place(&self, name: &PluginName) -> PathBuf {
        self.dir.join(name.directory())
    }

    /// Reads the lock file. Waits for a process that is changing it, and completes or undoes the change of one that died.
    ///
    /// # Errors
    /// The lock file cannot be used.
    pub fn lock(&self) -> Result<Lock, Diagnostic> {
        if PreparedLock::is_left(&self.dir) {
            // A directory that is not writable is read as it is.
            let _ = self.exclusive();
        }
        Lock::read(&self.dir)
    }

    /// Lists the plugins by name, recorded or not.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn installed(&self) -> Result<Vec<Installed>, Diagnostic> {
        Installed::all(&self.dir).map_err(|error| failed("read", &self.dir, &error))
    }

    /// Creates a temporary directory, and removes the directories of dead processes.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn stage(&self) -> Result<Staging, Diagnostic> {
        let staged = self.exclusive().and_then(|_lock| {
            staging::clean(&self.dir)?;
            Staging::make(&self.dir)
        });
        staged.map_err(|error| failed("changed", &self.dir, &error))
    }

    /// Writes a plugin into the temporary directory, for [`Plugins::install`]. Most failures happen here, before installed plugins or
    /// their trust are changed.
    ///
    /// # Errors
    /// The plugin is empty, the lock file cannot be used, or writing fails.
    pub fn unpack(
        &self,
        staging: &Staging,
        name: &PluginName,
        content: &Content,
    ) -> Result<(), InstallError> {
        self.lock()?;
        let new = staging.dir().join(UNPACKED);
        content.write(&new).map_err(|error| failed("changed", &self.dir, &error))?;
        if Installed::read(&new, name.to_string()).is_none_or(|plugin| plugin.is_empty()) {
            return Err(InstallError::Empty(nothing()));
        }
        Ok(())
    }

    /// Installs an unpacked plugin and records it.
    ///
    /// # Errors
    /// A plugin is installed that must not be replaced, or writing fails.
    pub fn install(
        &self,
        staging: &Staging,
        order: InstallRequest,
    ) -> Result<Installed, InstallError> {
        let InstallRequest { name, content, record, replace } = order;
        let new = staging.dir().join(UNPACKED);
        let trouble = |error: io::Error| failed("changed", &self.dir, &error);
        let _lock = self.exclusive().map_err(trouble)?;
        let mut lock = Lock::read(&self.dir)?;
        let place = self.place(name);
        if !replace && place.symlink_metadata().is_ok() {
            return Err(InstallError::Installed);
        }
        let files = content.digests();
        lock.put(LockedPlugin { name: name.to_string(), hash: hash(&files), files, ..record });
        let new_lock = lock.prepare(&self.dir).map_err(trouble)?;
        staging.put(&new, &place).and_then(|()| new_lock.put()).map_err(trouble)?;
        Installed::read(&place, name.to_string()).ok_or_else(|| nothing().into())
    }

    /// Removes the plugin `name`, `org/repo`, and its record. Returns whether there was either.
    ///
    /// # Errors
    /// The lock file cannot be used, or writing fails.
    pub fn remove(&self, name: &str) -> Result<bool, Diagnostic> {
        if self.found(name)?.is_none() && self.lock()?.get(name).is_none() {
            return Ok(false);
        }
        let staging = self.stage()?;
        let trouble = |error: io::Error| failed("changed", &self.dir, &error);
        let _lock = self.exclusive().map_err(trouble)?;
        let mut lock = Lock::read(&self.dir)?;
        let is_recorded = lock.forget(name);
        let new_lock = is_recorded.then(|| lock.prepare(&self.dir)).transpose().map_err(trouble)?;
        if let Some(place) = self.found(name)? {
            staging.take_away(&place).map_err(trouble)?;
        }
        new_lock.map_or(Ok(()), PreparedLock::put).map_err(trouble)?;
        Ok(true)
    }

    /// Returns the directory of this name, even if it is incomplete.
    pub fn remains(&self, name: &str) -> Option<PathBuf> {
        let place = self.place(&PluginName::parse(name).ok()?);
        place.symlink_metadata().is_ok().then_some(place)
    }

    /// Returns the directory of the plugin `name`, `org/repo`, even if it is incomplete.
    fn found(&self, name: &str) -> Result<Option<PathBuf>, Diagnostic> {
        let mut plugins = self.installed()?.into_iter();
        let place = plugins.find(|plugin| plugin.name == name).map(|plugin| plugin.path);
        Ok(place.or_else(|| self.remains(name)))
    }

    /// Waits for the lock of the directory, and completes or undoes the change of a process that died.
    fn exclusive(&self) -> io::Result<FileLock> {
        DirBuilder::new().recursive(true).mode(0o755).create(&self.dir)?;
        let lock = FileLock::acquire(&self.dir.join(LOCK))?;
        PreparedLock::settle(&self.dir, |name, record| self.is_so(name, record))?;
        Ok(lock)
    }

    /// Returns true if the plugin `name` is installed as `record` says; without a record, if it is not installed.
    fn is_so(&self, name: &str, record: Option<&LockedPlugin>) -> bool {
        let Ok(name) = PluginName::parse(name) else { return false };
        let place = self.place(&name);
        match record {
            Some(record) => {
                place.is_dir() && hash(&Content::read_installed(&place).0.digests()) == record.hash
            }
            None => place.symlink_metadata().is_err(),
        }
    }
}

fn nothing() -> Diagnostic {
    refused("plugin-empty", "the plugin has no executable or HOOK.md in hooks/, no SKILL.md in skills/*/, and no .md in recipes/")
        .help("the author may have forgotten `chmod +x`, or to commit the files")
}

fn failed(what: &str, dir: &Path, error: &io::Error) -> Diagnostic {
    refused("plugins-folder-failed", format!("this directory of plugins cannot be {what}: {error}"))
        .at(dir)
}
