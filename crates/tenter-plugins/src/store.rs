//! One folder of plugins, a project's or a person's: what is in it, and the only ways to change it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use tenter_base::FileLock;
use tenter_protocol::Diagnostic;

use crate::content::{Content, hash};
use crate::installed::Installed;
use crate::lock::{Lock, Locked, Prepared};
use crate::name::PluginName;
use crate::rules::refused;
use crate::staging::{self, Staging};

/// The file whose lock whoever changes the folder holds.
const LOCK: &str = ".lock";
/// Where a plugin is before it is moved to its place.
const UNPACKED: &str = "plugin";

/// A folder of plugins. It need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugins {
    dir: PathBuf,
}

/// Why a plugin was not installed. Then everything is as it was.
#[derive(Debug)]
pub enum Conflict {
    /// It is installed already, and was not to be replaced.
    Installed,
    /// It holds no hook, no skill and no recipe.
    Empty(Diagnostic),
    /// Something failed.
    Failed(Diagnostic),
}

impl From<Diagnostic> for Conflict {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Failed(diagnostic)
    }
}

/// What to install.
#[derive(Debug)]
pub struct Order<'a> {
    /// Under which name.
    pub name: &'a PluginName,
    /// What it is made of.
    pub content: &'a Content,
    /// Where it came from; what it is made of is filled in.
    pub record: Locked,
    /// Whether to take the place of one that is installed.
    pub replace: bool,
}

impl Plugins {
    /// The plugins of the folder `dir`, an absolute path.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where a plugin is or would be.
    pub fn place(&self, name: &PluginName) -> PathBuf {
        self.dir.join(name.folder())
    }

    /// What is recorded. Where somebody is at work, they are waited for; where they died at it, it is settled first.
    ///
    /// # Errors
    /// The lock file cannot be used.
    pub fn lock(&self) -> Result<Lock, Diagnostic> {
        if Prepared::is_left(&self.dir) {
            // A folder that may not be written is read as it is.
            let _ = self.exclusive();
        }
        Lock::read(&self.dir)
    }

    /// The plugins that are there, by name, however they came there.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn installed(&self) -> Result<Vec<Installed>, Diagnostic> {
        Installed::all(&self.dir).map_err(|error| failed("read", &self.dir, &error))
    }

    /// A temporary folder; what dead processes have left of theirs is removed.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn stage(&self) -> Result<Staging, Diagnostic> {
        let staged = self.exclusive().and_then(|_lock| {
            staging::clean(&self.dir)?;
            Staging::make(&self.dir)
        });
        staged.map_err(|error| failed("changed", &self.dir, &error))
    }

    /// Writes a plugin into the temporary folder, from where [`Plugins::install`] takes it. What can fail has then failed
    /// before anything of what is installed, or of the trust in it, is touched.
    ///
    /// # Errors
    /// It holds nothing, the lock file cannot be used, or the disk fails.
    pub fn unpack(
        &self,
        staging: &Staging,
        name: &PluginName,
        content: &Content,
    ) -> Result<(), Conflict> {
        self.lock()?;
        let new = staging.dir().join(UNPACKED);
        content.write(&new).map_err(|error| failed("changed", &self.dir, &error))?;
        if Installed::read(&new, name.to_string()).is_none_or(|plugin| plugin.is_empty()) {
            return Err(Conflict::Empty(nothing()));
        }
        Ok(())
    }

    /// Installs a plugin that is unpacked, and records it.
    ///
    /// # Errors
    /// There is one already that is not to be replaced, or the disk fails.
    pub fn install(&self, staging: &Staging, order: Order) -> Result<Installed, Conflict> {
        let Order { name, content, record, replace } = order;
        let new = staging.dir().join(UNPACKED);
        let trouble = |error: io::Error| failed("changed", &self.dir, &error);
        let _lock = self.exclusive().map_err(trouble)?;
        let mut lock = Lock::read(&self.dir)?;
        let place = self.place(name);
        if !replace && place.symlink_metadata().is_ok() {
            return Err(Conflict::Installed);
        }
        let files = content.digests();
        lock.put(Locked { name: name.to_string(), hash: hash(&files), files, ..record });
        let prepared = lock.prepare(&self.dir).map_err(trouble)?;
        staging.put(&new, &place).and_then(|()| prepared.put()).map_err(trouble)?;
        Installed::read(&place, name.to_string()).ok_or_else(|| nothing().into())
    }

    /// Removes the plugin `name`, `org/repo`, and what is recorded of it. Returns whether there was any of both.
    ///
    /// # Errors
    /// The lock file cannot be used, or the disk fails.
    pub fn remove(&self, name: &str) -> Result<bool, Diagnostic> {
        if self.found(name)?.is_none() && self.lock()?.get(name).is_none() {
            return Ok(false);
        }
        let staging = self.stage()?;
        let trouble = |error: io::Error| failed("changed", &self.dir, &error);
        let _lock = self.exclusive().map_err(trouble)?;
        let mut lock = Lock::read(&self.dir)?;
        let is_recorded = lock.forget(name);
        let prepared = is_recorded.then(|| lock.prepare(&self.dir)).transpose().map_err(trouble)?;
        if let Some(place) = self.found(name)? {
            staging.take_away(&place).map_err(trouble)?;
        }
        prepared.map_or(Ok(()), Prepared::put).map_err(trouble)?;
        Ok(true)
    }

    /// The folder of this name, whatever is left in it.
    pub fn remains(&self, name: &str) -> Option<PathBuf> {
        let place = self.place(&PluginName::parse(name).ok()?);
        place.symlink_metadata().is_ok().then_some(place)
    }

    /// The folder of the plugin `name`, `org/repo`, or what is left of it.
    fn found(&self, name: &str) -> Result<Option<PathBuf>, Diagnostic> {
        let mut installed = self.installed()?.into_iter();
        let place = installed.find(|plugin| plugin.name == name).map(|plugin| plugin.path);
        Ok(place.or_else(|| self.remains(name)))
    }

    /// Waits until nobody else changes the folder, and settles what the dead were at; the lock ends with the file returned.
    fn exclusive(&self) -> io::Result<FileLock> {
        DirBuilder::new().recursive(true).mode(0o755).create(&self.dir)?;
        let lock = FileLock::acquire(&self.dir.join(LOCK))?;
        Prepared::settle(&self.dir, |name, locked| self.is_so(name, locked))?;
        Ok(lock)
    }

    /// Whether the plugin `name` is there as `locked` says; or is not there, where nothing is said of it.
    fn is_so(&self, name: &str, locked: Option<&Locked>) -> bool {
        let Ok(name) = PluginName::parse(name) else { return false };
        let place = self.place(&name);
        match locked {
            Some(locked) => {
                place.is_dir() && hash(&Content::of_installed(&place).0.digests()) == locked.hash
            }
            None => place.symlink_metadata().is_err(),
        }
    }
}

fn nothing() -> Diagnostic {
    refused("plugin-empty", "it holds no executable or HOOK.md in hooks/, no SKILL.md in skills/*/, and no .md in recipes/")
        .help("its author may have forgotten `chmod +x`, or to commit it")
}

fn failed(what: &str, dir: &Path, error: &io::Error) -> Diagnostic {
    refused("plugins-folder-failed", format!("this folder of plugins cannot be {what}: {error}"))
        .at(dir)
}
