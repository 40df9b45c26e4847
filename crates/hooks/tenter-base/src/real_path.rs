//! Resolves paths as the operating system does: symlinks first, then `..` (R78). Files that do not exist yet have a real
//! path too, so that a guard and a tool agree on the path that a call creates.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Returns the absolute path, without symlinks, `.` and `..`, that the absolute path `path` leads to. The end of the path need not
/// exist.
///
/// # Errors
/// `path` cannot be resolved: a symlink that is dangling or loops, or `..` after something that is not a directory. The system
/// cannot create a file there either.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if is_absent(&error) => with_missing_end(path),
        resolved => resolved,
    }
}

/// Returns where a program that creates missing directories ends up with the absolute path `path`: [`real_path`] where there is
/// one, the target of a dangling symlink, which a write creates, and for `..` after what does not exist, its parent.
///
/// # Errors
/// Symlinks loop, or cannot be read.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    DestinationFinder::new(usize::MAX).destination(path)
}

/// Maximum number of symlinks that lead to one file, as on Linux.
const MAX_LINKS: usize = 40;

/// Finds the [`destination`] of many paths, and asks the operating system about each directory and file only once.
#[derive(Debug)]
pub struct DestinationFinder {
    files: HashMap<OsString, FoundFile>,
    lookups_left: usize,
    is_exhausted: bool,
}

/// A file that was looked up.
#[derive(Debug, Clone)]
enum FoundFile {
    Absent,
    Directory,
    Other,
    Link(PathBuf),
    Unreadable(ErrorKind),
}

/// A step on the way to a destination.
enum Followed {
    /// The path with its first symlink replaced by its target.
    To(PathBuf),
    /// The path contains no symlink.
    Destination(PathBuf),
}

impl DestinationFinder {
    /// Creates a finder that looks up at most `max_lookups` files.
    pub fn new(max_lookups: usize) -> Self {
        Self { files: HashMap::new(), lookups_left: max_lookups, is_exhausted: false }
    }

    /// Returns whether a path was not resolved because of the maximum.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Returns the [`destination`] of a path.
    ///
    /// # Errors
    /// Symlinks loop or cannot be read, or the maximum number of look-ups is reached.
    pub fn destination(&mut self, path: &Path) -> io::Result<PathBuf> {
        let mut path = path.to_owned();
        for _ in 0..=MAX_LINKS {
            match self.followed(&path)? {
                Followed::To(next) => path = next,
                Followed::Destination(real) => return Ok(real),
            }
        }
        Err(too_many_links(&path))
    }

    /// Returns the [`destination`] of a file that is written as `path`, or under `name` in it if that is a directory.
    ///
    /// # Errors
    /// As [`Self::destination`].
    pub fn destination_in(&mut self, path: &Path, name: &str) -> io::Result<PathBuf> {
        let real = self.destination(path)?;
        match self.file(&real)? {
            FoundFile::Directory => self.destination(&real.join(name)),
            _ => Ok(real),
        }
    }

    fn followed(&mut self, path: &Path) -> io::Result<Followed> {
        let mut real = PathBuf::new();
        let mut is_missing = false;
        let mut components = path.components();
        while let Some(component) = components.next() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => {
                    real.pop();
                    is_missing = false;
                }
                other => real.push(other),
            }
            // Nothing is below a directory that is missing.
            if is_missing {
                continue;
            }
            match self.file(&real)? {
                FoundFile::Link(target) => {
                    real.pop();
                    return Ok(Followed::To(real.join(target).join(components.as_path())));
                }
                FoundFile::Absent => is_missing = true,
                FoundFile::Directory | FoundFile::Other | FoundFile::Unreadable(_) => {}
            }
        }
        Ok(Followed::Destination(real))
    }

    fn file(&mut self, path: &Path) -> io::Result<FoundFile> {
        let file = match self.files.get(path.as_os_str()) {
            Some(file) => file.clone(),
            None => self.look_up(path)?,
        };
        match file {
            FoundFile::Unreadable(kind) => Err(kind.into()),
            file => Ok(file),
        }
    }

    fn look_up(&mut self, path: &Path) -> io::Result<FoundFile> {
        let Some(rest) = self.lookups_left.checked_sub(1) else {
            self.is_exhausted = true;
            return Err(io::Error::other("too many files to look up"));
        };
        self.lookups_left = rest;
        let kind = |metadata: fs::Metadata| match metadata.file_type() {
            kind if kind.is_symlink() => fs::read_link(path).map(FoundFile::Link),
            kind if kind.is_dir() => Ok(FoundFile::Directory),
            _ => Ok(FoundFile::Other),
        };
        let file = match fs::symlink_metadata(path).and_then(kind) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => FoundFile::Absent,
            Err(error) => FoundFile::Unreadable(error.kind()),
        };
        self.files.insert(path.as_os_str().to_owned(), file.clone());
        Ok(file)
    }
}

fn too_many_links(path: &Path) -> io::Error {
    let message = format!("{} leads through too many symlinks", path.display());
    io::Error::other(message)
}

fn with_missing_end(path: &Path) -> io::Result<PathBuf> {
    let mut real = PathBuf::new();
    let mut exists = true;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if real.is_dir() => {
                real.pop();
            }
            Component::ParentDir => return Err(no_directory(&real)),
            Component::Normal(name) if exists => {
                real.push(name);
                match fs::symlink_metadata(&real) {
                    Ok(metadata) if metadata.is_symlink() => real = target(&real)?,
                    Ok(_) => {}
                    Err(error) if is_absent(&error) => exists = false,
                    Err(error) => return Err(error),
                }
            }
            other => real.push(other),
        }
    }
    Ok(real)
}

fn target(link: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(link).map_err(|error| {
        let message = format!("{} is a symlink that leads nowhere: {error}", link.display());
        io::Error::new(error.kind(), message)
    })
}

fn no_directory(path: &Path) -> io::Error {
    io::Error::new(ErrorKind::NotADirectory, format!("{} is not a directory", path.display()))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn symlinks_are_followed_before_dot_dot() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("project/src")).unwrap();
        fs::create_dir_all(base.join("other/deep")).unwrap();
        fs::write(base.join("file"), "").unwrap();
        symlink(base.join("other/deep"), base.join("project/link")).unwrap();
        let real = |path: &str| {
            let real = real_path(&base.join(path)).ok()?;
            Some(real.strip_prefix(&base).unwrap().to_str().unwrap().to_owned())
        };
        for (path, expected) in [
            ("project/link/../new", Some("other/new")),
            ("project/link/../deep", Some("other/deep")),
            ("project/src/../new/file", Some("project/new/file")),
            ("project/./src//x", Some("project/src/x")),
            ("project/link/new/deeper", Some("other/deep/new/deeper")),
            ("missing/../project", None),
            ("file/../project", None),
            ("file/../new", None),
        ] {
            assert_eq!(real(path).as_deref(), expected, "{path}");
            if let Ok(real) = real_path(&base.join(path)) {
                assert_eq!(destination(&base.join(path)).unwrap(), real, "{path}");
            }
        }
    }

    #[test]
    fn the_destination_is_the_target_of_a_dangling_symlink() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("project/src")).unwrap();
        symlink("../outside/new", base.join("project/dangling")).unwrap();
        symlink(base.join("project/dangling"), base.join("second")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        for (path, expected) in [
            ("project/dangling", Some("outside/new")),
            ("project/dangling/x", Some("outside/new/x")),
            ("second", Some("outside/new")),
            ("project/missing/../../x", Some("x")),
            ("project/src/new", Some("project/src/new")),
            ("loop", None),
            ("loop/x", None),
        ] {
            let destination_path = destination(&base.join(path)).ok();
            assert_eq!(destination_path, expected.map(|path| base.join(path)), "{path}");
        }
    }

    #[test]
    fn each_directory_is_looked_up_once_and_look_ups_are_limited() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        let depth = base.components().count();
        fs::create_dir_all(base.join("project/src")).unwrap();
        let mut finder = DestinationFinder::new(depth + 2 + 3);
        for path in ["project/src/a", "project/src/b", "project/src/a", "project/src/../src/b"] {
            let expected = base.join(path.replace("src/../", ""));
            assert_eq!(finder.destination(&base.join(path)).unwrap(), expected, "{path}");
        }
        // One look-up is left, for the missing directory.
        for path in ["missing/deep/a", "missing/other/b"] {
            assert_eq!(finder.destination(&base.join(path)).unwrap(), base.join(path));
        }
        assert!(!finder.is_exhausted());
        assert!(finder.destination(&base.join("project/c")).is_err());
        assert!(finder.is_exhausted());
    }

    #[test]
    fn dangling_and_looping_symlinks_are_errors() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        symlink("missing", base.join("dangling")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        for path in ["dangling", "dangling/x", "loop", "loop/x"] {
            assert!(real_path(&base.join(path)).is_err(), "{path}");
        }
    }
}
