//! Resolves paths as the operating system does: symlinks first, then `..` (R78). Files that do not exist yet have a real path
//! too, so that a guard and a tool agree on what a call is about to create.

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
    let mut links = 0;
    let mut path = path.to_owned();
    loop {
        match followed(&path)? {
            Followed::To(next) if links < MAX_LINKS => path = next,
            Followed::To(_) => return Err(too_many_links(&path)),
            Followed::Destination(real) => return Ok(real),
        }
        links += 1;
    }
}

/// Maximum number of symlinks that lead to one file, as on Linux.
const MAX_LINKS: usize = 40;

/// A step on the way to a destination.
enum Followed {
    /// The path with its first symlink replaced by its target.
    To(PathBuf),
    /// The path contains no symlink.
    Destination(PathBuf),
}

fn followed(path: &Path) -> io::Result<Followed> {
    let mut real = PathBuf::new();
    let mut components = path.components();
    while let Some(component) = components.next() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            other => real.push(other),
        }
        match fs::symlink_metadata(&real) {
            Ok(metadata) if metadata.is_symlink() => {
                let target = fs::read_link(&real)?;
                real.pop();
                return Ok(Followed::To(real.join(target).join(components.as_path())));
            }
            Err(error) if !is_absent(&error) => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(Followed::Destination(real))
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
            let found = destination(&base.join(path)).ok();
            assert_eq!(found, expected.map(|path| base.join(path)), "{path}");
        }
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
