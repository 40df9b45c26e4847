//! The content that a hook's trust covers (R72), and its fingerprint: SHA-256 over all of it, symlinks followed. And the fingerprint
//! of a recipe.
//!
//! A hook without helper files or project settings has the fingerprint of its own file or directory, as in earlier
//! versions, so that existing records stay valid without a second kind of hash.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use sha2::{Digest, Sha256};
use tenter_base::tree::{Tree, TreeRules};
use tenter_base::{FileStamp, hex};

use super::hasher::{Fingerprint, Hasher, changed, check_size};
use crate::hook_policy::HookMode;
use crate::hook_stamp::{HookStamp, MAX_FILES};
use crate::layer::Layer;
use crate::source::beside::{HELPERS, MAX_HELPER_BYTES, as_enabled};
use crate::source::{Candidate, CandidateKind, Override, ProjectSetting};

/// Longer than a step of the clock of any file system of this machine.
const STEP: Duration = Duration::from_millis(20);
/// Maximum number of looks at files that keep changing.
const MAX_LOOKS: usize = 10;

/// The content that a hook's trust covers: after a change of any of it, the user is asked again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// The executable's file, or the manifest hook's directory.
    pub path: PathBuf,
    /// The other files that it may run.
    pub beside: CoveredSiblings,
    /// The settings of the project's `hooks.toml` for it.
    pub setting: ProjectSetting,
}

/// The other files that a hook's trust covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CoveredSiblings {
    /// None: a standalone manifest hook, or a user hook.
    Nothing,
    /// The helper files of this hooks directory: an executable's.
    Helpers(PathBuf),
    /// Everything in this hooks directory: a plugin's.
    Everything(PathBuf),
}

/// The location of a hook.
#[derive(Debug, Clone, Copy)]
pub struct HookLocation<'a> {
    /// The executable's file, or the manifest hook's directory.
    pub path: &'a Path,
    /// The layer of its hooks directory.
    pub layer: Layer,
    /// True if it is a directory.
    pub is_directory: bool,
}

impl<'a> From<&'a Candidate> for HookLocation<'a> {
    fn from(candidate: &'a Candidate) -> Self {
        let is_directory = match candidate.kind {
            CandidateKind::Manifest(_) => true,
            CandidateKind::Executable(_) | CandidateKind::NotExecutable => false,
            CandidateKind::Disabled | CandidateKind::Invalid(_) => candidate.path.is_dir(),
        };
        Self { path: &candidate.path, layer: candidate.layer, is_directory }
    }
}

impl CoveredSiblings {
    /// Creates the other files that a hook's trust covers.
    pub fn new(location: HookLocation<'_>) -> Self {
        let Some(directory) = location.path.parent() else { return Self::Nothing };
        match location.layer {
            Layer::ProjectPlugin => Self::Everything(directory.to_owned()),
            Layer::Project if !location.is_directory => Self::Helpers(directory.to_owned()),
            Layer::Project | Layer::User | Layer::UserPlugin | Layer::Managed | Layer::BuiltIn => {
                Self::Nothing
            }
        }
    }

    /// Lists the files, without their content.
    ///
    /// # Errors
    /// There are more than the limit, or the directory cannot be read.
    pub(crate) fn tree(&self) -> io::Result<Tree> {
        const EVERYTHING: TreeRules = TreeRules { skip_broken: true, ..TreeRules::all(MAX_FILES) };
        match self {
            Self::Nothing => Ok(Tree::default()),
            Self::Helpers(directory) => {
                let tree = Tree::read(directory, &HELPERS)?;
                if size(&tree.files) > MAX_HELPER_BYTES {
                    let limit = MAX_HELPER_BYTES >> 20;
                    return Err(io::Error::other(format!("it has more than {limit} MiB")));
                }
                Ok(tree)
            }
            Self::Everything(directory) => {
                let tree = Tree::read(directory, &EVERYTHING)?;
                check_size(size(&tree.files))?;
                // A plugin of one hook has no other files.
                let first = |file: &(PathBuf, FileStamp)| {
                    as_enabled(&file.0).iter().next().map(ToOwned::to_owned)
                };
                let mut tops: Vec<_> = tree.files.iter().filter_map(first).collect();
                tops.dedup();
                Ok(if tops.len() > 1 { tree } else { Tree::default() })
            }
        }
    }

    pub(super) fn directory(&self) -> Option<&Path> {
        match self {
            Self::Nothing => None,
            Self::Helpers(directory) | Self::Everything(directory) => Some(directory),
        }
    }

    /// Returns the fingerprint of `files`, which [`tree`](Self::tree) found; `None` if there are none.
    pub(crate) fn hash(
        &self,
        files: &[(PathBuf, FileStamp)],
        hasher: &Hasher,
    ) -> io::Result<Option<Fingerprint>> {
        let Some(directory) = self.directory().filter(|_| !files.is_empty()) else {
            return Ok(None);
        };
        let hashed = hash_all(directory, files, hasher)?;
        if self.tree()?.files != files {
            return Err(changed());
        }
        Ok(Some(self.digest(hashed)))
    }

    pub(super) fn digest(&self, mut files: Vec<Hashed>) -> Fingerprint {
        if matches!(self, Self::Everything(_)) {
            // Disabling one hook of a plugin does not change the others.
            for file in &mut files {
                file.name = as_enabled(&file.name);
            }
            files.sort_by(|one, other| one.name.cmp(&other.name));
        }
        digest(&files)
    }
}

/// The file system's stamps of everything that a hook's trust covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredStamp {
    /// The stamp of the hook itself.
    pub own: HookStamp,
    /// The stamps of the other files.
    pub beside: Arc<[(PathBuf, FileStamp)]>,
}

impl CoveredStamp {
    /// Returns the current stamp of everything that is covered.
    ///
    /// # Errors
    /// It cannot be read, or exceeds the limits of a hook.
    pub fn read(covered: &Covered) -> io::Result<Self> {
        let own = HookStamp::read(&covered.path)?;
        Ok(Self { own, beside: covered.beside.tree()?.files.into() })
    }

    /// Returns the current stamp, once it is so old that any later change gives another one: file systems count time in steps,
    /// and a file may change twice within one.
    ///
    /// # Errors
    /// As [`read`](Self::read), or the files keep changing.
    pub(crate) fn settled(covered: &Covered) -> io::Result<Self> {
        let mut stamp = Self::read(covered)?;
        for _ in 0..MAX_LOOKS {
            let age = stamp.newest().map_or(i128::MAX, FileStamp::age_ns);
            if age >= STEP.as_nanos().cast_signed() {
                return Ok(stamp);
            }
            thread::sleep(STEP);
            let now = Self::read(covered)?;
            // The clock of another machine may be ahead.
            if now == stamp && age < 0 {
                return Ok(stamp);
            }
            stamp = now;
        }
        Err(io::Error::other("its files keep changing"))
    }

    /// Returns the stamp of the file that changed last.
    pub fn newest(&self) -> Option<FileStamp> {
        let own: &[(PathBuf, FileStamp)] = match &self.own {
            HookStamp::File(stamp) => &[(PathBuf::new(), *stamp)],
            HookStamp::Directory(files) => files,
        };
        let stamps = own.iter().chain(&*self.beside).map(|(_, stamp)| *stamp);
        stamps.max_by_key(|stamp| stamp.changed_ns())
    }

    /// Returns the SHA-256 of the stamp.
    pub(crate) fn digest(&self) -> String {
        let beside = HookStamp::Directory(self.beside.to_vec()).digest();
        format!("{}{beside}", self.own.digest())
    }
}

/// Returns the current fingerprint of everything that a hook's trust covers.
///
/// # Errors
/// Something cannot be read, was changed while it was read, or exceeds the limits of a hook.
pub fn fingerprint(covered: &Covered, hasher: &Hasher) -> io::Result<Fingerprint> {
    let (own, _) = fingerprint_of_own(&covered.path, hasher)?;
    let files = covered.beside.tree()?.files;
    let beside = covered.beside.hash(&files, hasher)?;
    Ok(combine(own, beside.as_ref(), covered.setting))
}

/// Returns the fingerprint of all parts together; without other parts, it is the hook's own.
pub(crate) fn combine(
    own: Fingerprint,
    beside: Option<&Fingerprint>,
    setting: ProjectSetting,
) -> Fingerprint {
    if beside.is_none() && setting == ProjectSetting::default() {
        return own;
    }
    // No hook file starts like this: one part cannot be mistaken for a combination of parts.
    let mut hasher = Sha256::new_with_prefix(b"\0hook\0");
    hasher.update(own.0.as_bytes());
    match beside {
        None => hasher.update([0]),
        Some(beside) => {
            hasher.update([1]);
            hasher.update(beside.0.as_bytes());
        }
    }
    let ProjectSetting { is_off, set } = setting;
    let Override { priority, timeout, asynchronous, mode } = set;
    hasher.update([u8::from(is_off)]);
    for value in [priority.map(u64::from), timeout, asynchronous.map(u64::from)] {
        hasher.update([u8::from(value.is_some())]);
        hasher.update(value.unwrap_or_default().to_le_bytes());
    }
    if let Some(mode) = mode {
        hasher.update([u8::from(mode == HookMode::Monitor)]);
    }
    Fingerprint(hex(&hasher.finalize()))
}

/// Returns the fingerprint of the executable's file or manifest hook's directory at `path`, and its stamp.
///
/// # Errors
/// It cannot be read, was changed while it was read, or exceeds the limits of a hook.
pub(crate) fn fingerprint_of_own(
    path: &Path,
    hasher: &Hasher,
) -> io::Result<(Fingerprint, HookStamp)> {
    match HookStamp::read(path)? {
        HookStamp::File(_) => hasher.file(path).map(|(hash, stamp)| (hash, HookStamp::File(stamp))),
        HookStamp::Directory(files) => {
            check_size(size(&files))?;
            let fingerprint = digest(&hash_all(path, &files, hasher)?);
            let stamp = HookStamp::Directory(files);
            if HookStamp::read(path)? == stamp { Ok((fingerprint, stamp)) } else { Err(changed()) }
        }
    }
}

/// Returns the fingerprint of a recipe's bytes. It differs from a hook's: trust in a text is not trust in a program.
pub fn fingerprint_of_recipe(bytes: &[u8]) -> Fingerprint {
    Fingerprint(hex(&Sha256::new().chain_update(b"recipe\0").chain_update(bytes).finalize()))
}

/// Returns the fingerprint of files of a directory, given by their paths in it and their stamps.
///
/// # Errors
/// A file cannot be read, or was changed while it was read.
pub fn fingerprint_of_files(
    directory: &Path,
    files: &[(PathBuf, FileStamp)],
    hasher: &Hasher,
) -> io::Result<Fingerprint> {
    Ok(digest(&hash_all(directory, files, hasher)?))
}

/// A file as a fingerprint covers it.
pub(super) struct Hashed {
    pub(super) name: PathBuf,
    pub(super) is_executable: bool,
    pub(super) content: Fingerprint,
}

fn hash_all(
    directory: &Path,
    files: &[(PathBuf, FileStamp)],
    hasher: &Hasher,
) -> io::Result<Vec<Hashed>> {
    let hash = |(name, stamp): &(PathBuf, FileStamp)| {
        let (content, _) = hasher.file(&directory.join(name))?;
        Ok(Hashed { name: name.clone(), is_executable: stamp.is_executable(), content })
    };
    files.iter().map(hash).collect()
}

/// Hashes each file's path, its owner's execute bit, and its content: everything that decides what would run (R45).
pub(super) fn digest(files: &[Hashed]) -> Fingerprint {
    let mut hasher = Sha256::new();
    for Hashed { name, is_executable, content } in files {
        let name = name.as_os_str().as_encoded_bytes();
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name);
        hasher.update([u8::from(*is_executable)]);
        hasher.update(content.0.as_bytes());
    }
    Fingerprint(hex(&hasher.finalize()))
}

pub(super) fn size(files: &[(PathBuf, FileStamp)]) -> u64 {
    files.iter().map(|(_, stamp)| stamp.size()).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use tenter_proc::Cancel;

    use super::super::Snapshot;
    use super::*;

    fn alone(path: &Path) -> Covered {
        let setting = ProjectSetting::default();
        Covered { path: path.to_owned(), beside: CoveredSiblings::Nothing, setting }
    }

    fn taken(covered: &Covered) -> Fingerprint {
        let cancel = Cancel::new();
        let hasher = Hasher::new(u64::MAX, &cancel);
        let hash = fingerprint(covered, &hasher).unwrap();
        assert_eq!(Snapshot::read(covered, &hasher).unwrap().fingerprint, hash);
        hash
    }

    fn hook(directory: &Path, name: &str, content: &str) -> PathBuf {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn a_hook_with_nothing_else_has_the_sha_256_of_its_file_as_in_earlier_versions() {
        let scratch = tempfile::tempdir().unwrap();
        let path = hook(scratch.path(), "hook", "abc");
        symlink("hook", scratch.path().join("link")).unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for name in ["hook", "link"] {
            assert_eq!(taken(&alone(&scratch.path().join(name))).0, expected);
        }
        let beside = CoveredSiblings::new(HookLocation {
            path: &path,
            layer: Layer::Project,
            is_directory: false,
        });
        assert_eq!(taken(&Covered { beside, ..alone(&path) }).0, expected);
        let plugin = scratch.path().join("plugin/hooks");
        let path = hook(&plugin, "hook", "abc");
        let beside = CoveredSiblings::Everything(plugin.clone());
        assert_eq!(taken(&Covered { beside, ..alone(&path) }).0, expected);
    }

    #[test]
    fn a_directory_has_the_fingerprint_of_earlier_versions() {
        let scratch = tempfile::tempdir().unwrap();
        hook(scratch.path(), "hook/scripts/run.sh", "#!/bin/sh\n");
        fs::write(scratch.path().join("hook/HOOK.md"), "---\n").unwrap();
        let expected = "56b6f7e705771ed262c467584b669e920c4704d49764aaf0487f324ef245c8e1";
        assert_eq!(taken(&alone(&scratch.path().join("hook"))).0, expected);
    }

    #[test]
    fn helpers_and_project_settings_are_part_of_it() {
        let scratch = tempfile::tempdir().unwrap();
        let path = hook(scratch.path(), "hook", "abc");
        let beside = CoveredSiblings::Helpers(scratch.path().to_owned());
        let covered = Covered { beside, ..alone(&path) };
        let mut fingerprints = vec![taken(&covered)];
        let mut assert_changed = |covered: &Covered, what: &str| {
            let now = taken(covered);
            assert!(!fingerprints.contains(&now), "{what} goes unnoticed");
            fingerprints.push(now);
        };
        fs::write(scratch.path().join("lib.sh"), "a").unwrap();
        assert_changed(&covered, "a helper");
        fs::write(scratch.path().join("lib.sh"), "b").unwrap();
        assert_changed(&covered, "another content of a helper");
        let setting =
            |set| Covered { setting: ProjectSetting { is_off: false, set }, ..covered.clone() };
        let set = Override { priority: Some(0), ..Override::default() };
        assert_changed(&setting(set), "a priority");
        assert_changed(&setting(Override { priority: Some(1), ..set }), "another priority");
        assert_changed(&setting(Override { timeout: Some(0), ..Override::default() }), "a timeout");
        let monitor = Override { mode: Some(HookMode::Monitor), ..Override::default() };
        assert_changed(&setting(monitor), "monitor mode");
        let asynchronous = Override { asynchronous: Some(false), ..Override::default() };
        assert_changed(&setting(asynchronous), "async");
        let setting = ProjectSetting { is_off: true, ..ProjectSetting::default() };
        assert_changed(&Covered { setting, ..covered.clone() }, "enabled");
        let before = taken(&covered);
        hook(scratch.path(), "another-hook", "x");
        fs::write(scratch.path().join("run.log"), "x").unwrap();
        assert_eq!(taken(&covered), before);
    }

    #[test]
    fn a_plugins_fingerprint_covers_everything_and_disabling_a_hook_does_not_change_it() {
        let scratch = tempfile::tempdir().unwrap();
        let path = hook(scratch.path(), "hook", "abc");
        let other = hook(scratch.path(), "other", "x");
        let beside = CoveredSiblings::Everything(scratch.path().to_owned());
        let covered = Covered { beside, ..alone(&path) };
        let before = taken(&covered);
        assert_ne!(before, taken(&alone(&path)));
        fs::rename(&other, scratch.path().join("other.disable")).unwrap();
        assert_eq!(taken(&covered), before);
        fs::write(scratch.path().join("run.log"), "x").unwrap();
        assert_ne!(taken(&covered), before);
    }

    #[test]
    fn helpers_of_more_than_ten_mebibytes_are_not_read() {
        let scratch = tempfile::tempdir().unwrap();
        let path = hook(scratch.path(), "hook", "abc");
        let helper = fs::File::create(scratch.path().join("data")).unwrap();
        helper.set_len(MAX_HELPER_BYTES + 1).unwrap();
        let beside = CoveredSiblings::Helpers(scratch.path().to_owned());
        let cancel = Cancel::new();
        let hash = fingerprint(&Covered { beside, ..alone(&path) }, &Hasher::new(0, &cancel));
        assert!(hash.is_err());
    }

    #[test]
    fn a_recipe_that_is_trusted_is_not_trusted_as_a_hook() {
        let scratch = tempfile::tempdir().unwrap();
        let text = "#!/bin/sh\n# {{bash \"git\" \"diff\"}}\n";
        let path = hook(scratch.path(), "both", text);
        let recipe = fingerprint_of_recipe(text.as_bytes());
        assert_ne!(recipe, taken(&alone(&path)));
        assert_ne!(recipe, fingerprint_of_recipe(b"another"));
    }

    #[test]
    fn special_files_are_rejected_without_blocking() {
        let scratch = tempfile::tempdir().unwrap();
        let pipe = scratch.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o755.into(), 0)
            .unwrap();
        let cancel = Cancel::new();
        let hasher = Hasher::new(u64::MAX, &cancel);
        assert!(fingerprint(&alone(&pipe), &hasher).is_err());
        assert!(fingerprint(&alone(scratch.path()), &hasher).is_err(), "it contains a FIFO");
    }

    #[test]
    fn name_mode_and_content_of_every_file_are_covered() {
        let scratch = tempfile::tempdir().unwrap();
        let hook = scratch.path();
        let mut fingerprints = vec![taken(&alone(hook))];
        let mut assert_changed = |what: &str| {
            let now = taken(&alone(hook));
            assert!(!fingerprints.contains(&now), "{what} goes unnoticed");
            fingerprints.push(now);
        };
        let mode = |mode| {
            fs::set_permissions(hook.join("hook.md"), fs::Permissions::from_mode(mode)).unwrap();
        };
        fs::write(hook.join("HOOK.md"), "a").unwrap();
        assert_changed("a new file");
        fs::write(hook.join("HOOK.md"), "b").unwrap();
        assert_changed("another content");
        fs::rename(hook.join("HOOK.md"), hook.join("hook.md")).unwrap();
        assert_changed("another name");
        mode(0o755);
        assert_changed("another mode");
        fs::create_dir(hook.join("lib")).unwrap();
        fs::write(hook.join("lib/helper.py"), "").unwrap();
        assert_changed("a helper in a directory");
        let before = taken(&alone(hook));
        mode(0o700);
        assert_eq!(taken(&alone(hook)), before, "only the owner's execute bit is covered");
    }
}
