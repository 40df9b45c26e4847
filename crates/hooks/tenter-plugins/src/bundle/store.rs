//! The installed bundles of a machine: `bundles/NAME/VERSION`, and the pointer `current`, a symlink to the version in force.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tenter_base::{FileLock, replace_file, rfc3339};
use tenter_engine::{BUNDLE_POINTER, ManagedDirectory};
use tenter_protocol::Diagnostic;

use super::manifest::{BundleManifest, BundleVersion, Expiry};
use super::package::Bundle;
use super::signature::KeyRing;
use super::{failed, refused};
use crate::content::{Content, TreeEntry};
use crate::installed::Installed;
use crate::staging::{self, Staging};

/// The manifest in an installed bundle.
const MANIFEST: &str = "bundle.json";
/// The signature in an installed bundle.
const SIGNATURE: &str = "bundle.sig";
/// The record of the last update, beside the versions.
const RECORD: &str = "update.json";
/// The lock file.
const LOCK: &str = ".lock";
/// The directory of a bundle before it is installed, in the staging directory.
const UNPACKED: &str = "bundle";

/// The versions of one bundle on this machine.
#[derive(Debug, Clone)]
pub struct BundleStore {
    managed: ManagedDirectory,
    dir: PathBuf,
    name: String,
}

/// The result of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installation {
    /// The bundle is in force now.
    Installed,
    /// The bundle was in force before.
    Present,
}

/// The record of the last update of a bundle. It decides nothing; the status shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateRecord {
    /// The time of the update.
    pub checked_at: String,
    /// The reason for which it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The ETag of the package that was checked last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The hash of source and keys with which it was checked.
    pub configuration: String,
}

impl BundleStore {
    /// Creates the bundle `name`, installed or not.
    ///
    /// # Errors
    /// The name is not valid.
    pub fn new(managed: &ManagedDirectory, name: &str) -> Result<Self, Diagnostic> {
        super::check_name(name).map_err(|why| refused("bundle-name", format!("a bundle {why}")))?;
        let dir = managed.bundles().join(name);
        Ok(Self { managed: managed.clone(), dir, name: name.to_owned() })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the directory of the version in force; `None` if none is.
    ///
    /// # Errors
    /// The pointer cannot be used.
    pub fn current(&self) -> Result<Option<PathBuf>, Diagnostic> {
        self.managed.current_bundle(&self.dir)
    }

    /// Verifies the version in force: its signature, its files, and that only root can change them.
    ///
    /// # Errors
    /// Something of it is not as it was signed.
    pub fn verify(&self, keys: &KeyRing) -> Result<Option<Bundle>, Diagnostic> {
        let Some(dir) = self.current()? else { return Ok(None) };
        self.read(&dir, keys).map(Some)
    }

    /// Reads the manifest of the version in force without verifying it.
    pub fn manifest(&self) -> Option<BundleManifest> {
        let dir = self.current().ok()??;
        BundleManifest::parse(&fs::read(dir.join(MANIFEST)).ok()?).ok()
    }

    fn read(&self, dir: &Path, keys: &KeyRing) -> Result<Bundle, Diagnostic> {
        let (mut content, problems) = Content::read_installed(dir);
        if let Some(problem) = problems.into_iter().next() {
            return Err(problem);
        }
        let mut take = |name: &str| match content.0.remove(name) {
            Some(TreeEntry::File { bytes, .. }) => bytes,
            _ => Vec::new(),
        };
        let (text, signature) = (take(MANIFEST), take(SIGNATURE));
        let signature = String::from_utf8_lossy(&signature).into_owned();
        let located = |problem: Diagnostic| match &problem.path {
            Some(path) => {
                let path = dir.join(path);
                problem.at(path)
            }
            None => problem.at(dir),
        };
        keys.verify(&text, &signature).map_err(located)?;
        let manifest = BundleManifest::parse(&text).map_err(located)?;
        if let Some(path) = manifest.difference(&content) {
            let message = "this file is not as it was signed";
            return Err(refused("bundle-changed", message).at(dir.join(path)));
        }
        self.verify_owners(dir, &content)?;
        Ok(Bundle { manifest, content, text, signature })
    }

    /// Checks that only root can change the files in `dir`.
    fn verify_owners(&self, dir: &Path, content: &Content) -> Result<(), Diagnostic> {
        let names = content.0.keys().map(String::as_str).chain([MANIFEST, SIGNATURE]);
        names.into_iter().try_for_each(|name| self.managed.verify(&dir.join(name)).map(drop))
    }

    /// Puts a bundle in force. If it is refused, or anything fails, the version in force stays.
    ///
    /// # Errors
    /// The bundle is older than one that was installed, has expired beyond its grace, or cannot be written so that only root can
    /// change it.
    pub fn install(
        &self,
        bundle: &Bundle,
        keys: &KeyRing,
        now: Timestamp,
    ) -> Result<Installation, Diagnostic> {
        let _lock = self.lock()?;
        let version = &bundle.manifest.version;
        if bundle.manifest.expiry(now) == Expiry::Past {
            let message = format!("version {version} has expired, beyond its grace");
            return Err(refused("bundle-expired", message).help("pack and sign a new version"));
        }
        let newest = self.versions().map_err(|error| self.failure(&error))?.into_iter().max();
        if let Some(newest) = newest.filter(|newest| newest > version) {
            let message =
                format!("version {version} is older than version {newest}, which was installed");
            return Err(refused("bundle-older", message)
                .help("pack what should be in force as a newer version"));
        }
        let in_force = self.verify(keys).ok().flatten();
        if let Some(in_force) = in_force.filter(|other| other.manifest.version == *version) {
            if in_force.text == bundle.text {
                return Ok(Installation::Present);
            }
            let message = format!("another bundle was signed as version {version} before");
            return Err(refused("bundle-same-version", message).help("pack it as a newer version"));
        }
        self.put(bundle)?;
        Ok(Installation::Installed)
    }

    fn put(&self, bundle: &Bundle) -> Result<(), Diagnostic> {
        let version = bundle.manifest.version.to_string();
        let write = || -> io::Result<(Staging, PathBuf)> {
            staging::clean(&self.dir)?;
            let staging = Staging::make(&self.dir)?;
            let new = staging.dir().join(UNPACKED);
            write(bundle, &new)?;
            Ok((staging, new))
        };
        let (staging, new) = write().map_err(|error| self.failure(&error))?;
        if Installed::read(&new, self.name.clone()).is_none_or(|one| one.hooks.is_empty()) {
            return Err(refused("bundle-empty", "it has no hooks"));
        }
        self.verify_owners(&new, &bundle.content)?;
        let switch = || -> io::Result<()> {
            staging.put(&new, &self.dir.join(&version))?;
            replace_file::replace_symlink(&self.dir.join(BUNDLE_POINTER), Path::new(&version))?;
            File::open(&self.dir)?.sync_all()
        };
        switch().map_err(|error| self.failure(&error))?;
        self.remove_old(&bundle.manifest.version);
        Ok(())
    }

    /// Removes the versions before the one before `version`: processes may still run hooks of that one.
    fn remove_old(&self, version: &BundleVersion) {
        let mut versions = self.versions().unwrap_or_default();
        versions.retain(|one| one < version);
        versions.sort();
        versions.pop();
        for version in versions {
            // What cannot be removed is removed with the next version.
            let _ = fs::remove_dir_all(self.dir.join(version.to_string()));
        }
    }

    /// Returns the versions that were installed and not removed yet.
    fn versions(&self) -> io::Result<Vec<BundleVersion>> {
        let entries = fs::read_dir(&self.dir)?.collect::<io::Result<Vec<_>>>()?;
        let version = |entry: fs::DirEntry| BundleVersion::parse(entry.file_name().to_str()?).ok();
        Ok(entries.into_iter().filter_map(version).collect())
    }

    fn lock(&self) -> Result<FileLock, Diagnostic> {
        let lock = || {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o755).create(&self.dir)?;
            for dir in [&self.managed.bundles(), &self.dir] {
                make_readable(dir)?;
            }
            FileLock::acquire(&self.dir.join(LOCK))
        };
        let lock = lock().map_err(|error| self.failure(&error))?;
        self.managed.verify(&self.dir)?;
        Ok(lock)
    }

    fn failure(&self, error: &io::Error) -> Diagnostic {
        let finding = failed(format!("cannot write the bundles of this machine: {error}"));
        let finding = finding.at(&self.dir);
        match error.kind() {
            io::ErrorKind::PermissionDenied => finding.help("run this as root"),
            _ => finding,
        }
    }

    /// Reads the record of the last update; `None` if there was none.
    pub fn record(&self) -> Option<UpdateRecord> {
        serde_json::from_slice(&fs::read(self.dir.join(RECORD)).ok()?).ok()
    }

    /// Records an update.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn write_record(&self, record: &UpdateRecord, now: Timestamp) -> Result<(), Diagnostic> {
        let _lock = self.lock()?;
        let record = UpdateRecord { checked_at: rfc3339(now), ..record.clone() };
        let text = serde_json::to_string_pretty(&record).unwrap_or_default() + "\n";
        replace_file::replace_with_mode(&self.dir.join(RECORD), text.as_bytes(), Some(0o644))
            .map(drop)
            .map_err(|error| self.failure(&error))
    }
}

/// Writes a bundle into the new directory `dir`, and all of it to the disk.
fn write(bundle: &Bundle, dir: &Path) -> io::Result<()> {
    bundle.content.write(dir)?;
    for (name, bytes) in [(MANIFEST, &bundle.text[..]), (SIGNATURE, bundle.signature.as_bytes())] {
        replace_file::replace_with_mode(&dir.join(name), bytes, Some(0o644))?;
    }
    for (path, entry) in &bundle.content.0 {
        let path = dir.join(path);
        if matches!(entry, TreeEntry::File { .. }) {
            File::open(&path)?.sync_all()?;
        }
        let above = path.ancestors().skip(1).take_while(|above| above.starts_with(dir));
        above.into_iter().try_for_each(make_readable)?;
    }
    Ok(())
}

/// Lets every user read a directory, whatever the umask is. A directory that others can write is left alone, and refused later.
fn make_readable(dir: &Path) -> io::Result<()> {
    let mode = fs::metadata(dir)?.permissions().mode();
    if mode & 0o777 | 0o055 == mode & 0o777 {
        return Ok(());
    }
    fs::set_permissions(dir, Permissions::from_mode(mode & 0o7777 | 0o055))
}
