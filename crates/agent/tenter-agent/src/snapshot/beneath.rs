//! Files below a root directory, reached without following a symlink: what happens to directories meanwhile leads nowhere else.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode, OFlags, fchmod, mkdirat, openat, readlinkat, renameat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use tenter_base::{FileStamp, replace_file};

use super::state::{FileState, StoredPath, UnknownReason};

/// Maximum size of a file whose content is kept, in bytes.
pub(super) const MAX_FILE: u64 = 8 << 20;

const PERMISSION_BITS: u32 = 0o7777;

/// A path below a root, by its open parent directory.
#[derive(Debug)]
pub(super) struct FileHandle {
    parent: OwnedFd,
    name: OsString,
}

/// The file at a path.
pub(super) enum ReadFile {
    /// A regular file, with its content.
    File { bytes: Vec<u8>, mode: u32, stamp: FileStamp },
    /// Anything else.
    Other(FileState),
}

impl FileHandle {
    /// Opens the parent directory of `path`, which must be below one of `roots`.
    ///
    /// # Errors
    /// It is outside, or a directory on the way is missing, not a directory, or a symlink.
    pub(super) fn open(roots: &[PathBuf], path: &Path) -> io::Result<Self> {
        Self::walk(roots, path, false)
    }

    /// Opens as [`Self::open`], with missing directories created.
    pub(super) fn create(roots: &[PathBuf], path: &Path) -> io::Result<Self> {
        Self::walk(roots, path, true)
    }

    fn walk(roots: &[PathBuf], path: &Path, create: bool) -> io::Result<Self> {
        let outside = || io::Error::other("it is outside the project");
        let root = roots
            .iter()
            .filter(|root| path.starts_with(root))
            .max_by_key(|root| root.as_os_str().len());
        let root = root.ok_or_else(outside)?;
        let mut names = Vec::new();
        for component in path.strip_prefix(root).map_err(|_| outside())?.components() {
            let Component::Normal(name) = component else { return Err(outside()) };
            names.push(name);
        }
        let name = names.pop().ok_or_else(outside)?.to_owned();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut parent = openat(rustix::fs::CWD, root, flags, Mode::empty())?;
        for directory in names {
            let handle = openat(&parent, directory, flags | OFlags::NOFOLLOW, Mode::empty());
            parent = match handle {
                Err(Errno::NOENT) if create => {
                    mkdirat(&parent, directory, Mode::from_bits_truncate(0o777))?;
                    openat(&parent, directory, flags | OFlags::NOFOLLOW, Mode::empty())?
                }
                Err(Errno::LOOP | Errno::NOTDIR) => {
                    let name = directory.to_string_lossy();
                    return Err(io::Error::other(format!("{name} is not a directory now")));
                }
                entered => entered?,
            };
        }
        Ok(Self { parent, name })
    }

    /// Reads the file.
    pub(super) fn read(&self) -> io::Result<ReadFile> {
        read_at(&self.parent, &self.name)
    }

    /// Replaces the file by a regular file.
    pub(super) fn write(&self, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.replace(|temporary| {
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat(&self.parent, temporary, flags, Mode::from_bits_truncate(0o600))?;
            let mut file = File::from(file);
            file.write_all(bytes)?;
            Ok(fchmod(&file, Mode::from_bits_truncate(mode & PERMISSION_BITS))?)
        })
    }

    /// Replaces the file by a symlink.
    pub(super) fn link(&self, target: &Path) -> io::Result<()> {
        self.replace(|temporary| Ok(symlinkat(target, &self.parent, temporary)?))
    }

    /// Creates a directory, or gives an existing one the permission bits.
    pub(super) fn make_directory(&self, mode: u32) -> io::Result<()> {
        match mkdirat(&self.parent, &self.name, Mode::from_bits_truncate(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(&self.parent, &self.name, flags, Mode::empty())?;
        Ok(fchmod(directory, Mode::from_bits_truncate(mode & PERMISSION_BITS))?)
    }

    /// Removes a file or a symlink.
    pub(super) fn remove(&self) -> io::Result<()> {
        Ok(unlinkat(&self.parent, &self.name, AtFlags::empty())?)
    }

    /// Removes a directory if it is empty.
    pub(super) fn remove_directory(&self) -> io::Result<()> {
        Ok(unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR)?)
    }

    /// Lets `write` make a temporary file and renames it.
    fn replace(&self, write: impl FnOnce(&str) -> io::Result<()>) -> io::Result<()> {
        let temporary = replace_file::temporary_name()?;
        let result = write(&temporary).and_then(|()| {
            Ok(renameat(&self.parent, temporary.as_str(), &self.parent, &self.name)?)
        });
        if result.is_err() {
            // The first error is the one to report.
            let _ = unlinkat(&self.parent, temporary.as_str(), AtFlags::empty());
        }
        result
    }
}

/// Reads the file at an absolute path.
pub(super) fn read(path: &Path) -> io::Result<ReadFile> {
    read_at(rustix::fs::CWD, path.as_os_str())
}

fn read_at(parent: impl std::os::fd::AsFd, name: &OsStr) -> io::Result<ReadFile> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = match openat(&parent, name, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(ReadFile::Other(FileState::Absent)),
        handle => File::from(handle?),
    };
    let metadata = handle.metadata()?;
    let kind = metadata.file_type();
    let stamp = FileStamp::new(&metadata);
    let unknown = |reason| ReadFile::Other(FileState::Unknown { reason, stamp: Some(stamp) });
    if kind.is_dir() {
        return Ok(ReadFile::Other(FileState::Directory {
            mode: metadata.mode() & PERMISSION_BITS,
        }));
    }
    if kind.is_symlink() {
        let target = readlinkat(handle.as_fd(), "", Vec::new())?.into_bytes();
        let target = StoredPath(PathBuf::from(OsString::from_vec(target)));
        return Ok(ReadFile::Other(FileState::Link { target }));
    }
    if kind.is_fifo() || kind.is_socket() || !kind.is_file() {
        return Ok(unknown(UnknownReason::Special));
    }
    if metadata.len() > MAX_FILE {
        return Ok(unknown(UnknownReason::TooLarge));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(&parent, name, flags, Mode::empty()) else {
        return Ok(unknown(UnknownReason::Unreadable));
    };
    let file = File::from(file);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it changed while it was read"));
    }
    let (mode, stamp) = (metadata.mode() & PERMISSION_BITS, FileStamp::new(&metadata));
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    if file.take(MAX_FILE + 1).read_to_end(&mut bytes).is_err() {
        return Ok(unknown(UnknownReason::Unreadable));
    }
    if bytes.len() as u64 > MAX_FILE {
        return Ok(unknown(UnknownReason::TooLarge));
    }
    Ok(ReadFile::File { bytes, mode, stamp })
}
