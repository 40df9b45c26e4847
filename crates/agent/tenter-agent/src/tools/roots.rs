//! The directories that tools may use: the project and the directories added to it; for reading, also the directories of skills.
//! Paths are resolved as the operating system resolves them (R78), so neither `..` nor a symlink leads outside.
//!
//! This protects against a model's mistakes, not against commands: what `bash` runs can access whatever the user can.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tenter_base::real_path;

use super::ToolError;

/// A directory that tools are to work in does not exist or cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct DirectoryError {
    /// The directory.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

/// The directories that tools may access, all of them real paths.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    /// The working directory, within the project.
    cwd: PathBuf,
    project: PathBuf,
    directories: Vec<PathBuf>,
    /// Readable, but not writable.
    readable: Vec<PathBuf>,
}

impl Roots {
    /// Creates the project and the directories added to it; those are relative to the project unless absolute. Relative paths
    /// start from the project.
    pub(crate) fn new(project: &Path, directories: &[PathBuf]) -> Result<Self, DirectoryError> {
        let real = |path: PathBuf| {
            fs::canonicalize(&path).map_err(|source| DirectoryError { path, source })
        };
        let project = real(project.to_owned())?;
        let added_directories = directories
            .iter()
            .map(|directory| real(project.join(directory)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            cwd: project.clone(),
            project,
            directories: added_directories,
            readable: Vec::new(),
        })
    }

    /// Returns the same with relative paths starting from `cwd`, if that is a directory within the project.
    pub(crate) fn working_in(mut self, cwd: &Path) -> Self {
        if let Ok(cwd) = fs::canonicalize(cwd)
            && cwd.starts_with(&self.project)
        {
            self.cwd = cwd;
        }
        self
    }

    /// Returns the same, with these directories readable. Those that do not exist are skipped.
    pub(crate) fn reading(mut self, directories: &[PathBuf]) -> Self {
        self.readable
            .extend(directories.iter().filter_map(|directory| fs::canonicalize(directory).ok()));
        self
    }

    /// Returns the project root.
    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the project root and the directories added to it.
    pub(crate) fn writable(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.project).chain(&self.directories).map(PathBuf::as_path)
    }

    /// Returns the working directory.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns the real path of a path from the model that is to be changed. It need not exist.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, ToolError> {
        let real = self.real_path(path)?;
        if self.is_inside(&real) {
            Ok(real)
        } else if self.is_readable(&real) {
            Err(ToolError::new(format!("{path} belongs to a skill, which is read-only")))
        } else {
            Err(self.outside(path, &real))
        }
    }

    /// Returns the real path of a path from the model that is to be read. It need not exist.
    pub(crate) fn resolve_to_read(&self, path: &str) -> Result<PathBuf, ToolError> {
        let real = self.real_path(path)?;
        let is_allowed = self.is_inside(&real) || self.is_readable(&real);
        if is_allowed { Ok(real) } else { Err(self.outside(path, &real)) }
    }

    fn real_path(&self, path: &str) -> Result<PathBuf, ToolError> {
        let real = real_path(&self.cwd.join(path))
            .map_err(|error| ToolError::new(format!("{path}: {error}")))?;
        if names_a_directory(path) && !real.is_dir() {
            return Err(ToolError::new(format!(
                "{path} is not a directory; remove the trailing slash"
            )));
        }
        Ok(real)
    }

    pub(crate) fn is_inside(&self, real: &Path) -> bool {
        real.starts_with(&self.project)
            || self.directories.iter().any(|root| real.starts_with(root))
    }

    /// Returns the topmost directory whose ignore files apply to a search of `real`: the project or the added directory that
    /// `real` is in.
    pub(crate) fn top_of<'p>(&'p self, real: &'p Path) -> &'p Path {
        let all = std::iter::once(&self.project).chain(&self.directories).chain(&self.readable);
        all.map(PathBuf::as_path).find(|top| real.starts_with(top)).unwrap_or(real)
    }

    fn is_readable(&self, real: &Path) -> bool {
        self.readable.iter().any(|root| real.starts_with(root))
    }

    fn outside(&self, path: &str, real: &Path) -> ToolError {
        let directory = if real.is_dir() { real } else { real.parent().unwrap_or(real) };
        ToolError::new(format!(
            "{path} is outside the project {}; allow it with --add-dir {}",
            self.project.display(),
            directory.display()
        ))
    }

    /// Returns a path as results show it: relative to the working directory where it is inside.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => inside.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }
}

/// Returns whether a path can only name a directory, because it ends in `/`, `.` or `..`. The system opens no file by it either,
/// and a guard that checks file name endings would miss it.
fn names_a_directory(path: &str) -> bool {
    ["/", "/.", "/.."].iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    struct Fixture {
        _directory: TempDir,
        base: PathBuf,
        roots: Roots,
    }

    fn place() -> Fixture {
        let directory = TempDir::new().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["project/src", "added", "outside"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        fs::write(base.join("outside/secret"), "x").unwrap();
        let roots = Roots::new(&base.join("project"), &[base.join("added")]).unwrap();
        Fixture { _directory: directory, base, roots }
    }

    #[test]
    fn paths_inside_are_resolved_whether_or_not_they_exist() {
        let place = place();
        let project = place.base.join("project");
        assert_eq!(place.roots.resolve("src/../src/a/b.rs").unwrap(), project.join("src/a/b.rs"));
        assert_eq!(place.roots.resolve("").unwrap(), project);
        assert_eq!(
            place.roots.resolve(project.join("x").to_str().unwrap()).unwrap(),
            project.join("x")
        );
        assert_eq!(place.roots.resolve("../added/y").unwrap(), place.base.join("added/y"));
    }

    #[test]
    fn paths_outside_are_refused_with_a_hint_how_to_allow_them() {
        let place = place();
        for path in
            ["..", "../outside/secret", "/etc/passwd", "src/../../outside/new", "../project2", "/"]
        {
            let error = place.roots.resolve(path).unwrap_err().to_string();
            assert!(error.contains("outside the project"), "{path}: {error}");
        }
        let error = place.roots.resolve("../outside/secret").unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("--add-dir {}", place.base.join("outside").display())),
            "{error}"
        );
    }

    #[test]
    fn symlinks_do_not_lead_outside() {
        let place = place();
        let project = place.base.join("project");
        symlink("../outside", project.join("door")).unwrap();
        symlink("../outside/secret", project.join("window")).unwrap();
        symlink("../outside/new", project.join("dangling")).unwrap();
        symlink("loop", project.join("loop")).unwrap();
        symlink("src", project.join("fine")).unwrap();
        for path in ["door", "door/secret", "door/new/file", "window"] {
            let error = place.roots.resolve(path).unwrap_err().to_string();
            assert!(error.contains("outside the project"), "{path}: {error}");
        }
        for (path, why) in [
            ("dangling", "leads nowhere"),
            ("dangling/x", "leads nowhere"),
            ("loop", "Too many levels of symbolic links"),
        ] {
            let error = place.roots.resolve(path).unwrap_err().to_string();
            assert!(error.contains(why), "{path}: {error}");
        }
        assert_eq!(place.roots.resolve("fine/a").unwrap(), project.join("src/a"));
    }

    #[test]
    fn a_read_only_directory_can_be_read_but_not_changed() {
        let place = place();
        let secret = place.base.join("outside/secret");
        symlink(place.base.join("added"), place.base.join("outside/door")).unwrap();
        symlink("/etc", place.base.join("outside/window")).unwrap();
        let missing = place.base.join("gone");
        let roots = place.roots.reading(&[place.base.join("outside"), missing]);
        assert_eq!(roots.resolve_to_read(secret.to_str().unwrap()).unwrap(), secret);
        assert!(roots.resolve_to_read("../added/x").is_ok());
        assert!(roots.resolve_to_read("../outside/door/x").is_ok());
        for path in ["../outside/window/passwd", "../gone", "../outside/../x"] {
            assert!(roots.resolve_to_read(path).is_err(), "{path}");
        }
        let error = roots.resolve("../outside/new").unwrap_err().to_string();
        assert_eq!(error, "../outside/new belongs to a skill, which is read-only");
    }

    #[test]
    fn a_project_reached_through_a_symlink_is_its_real_path() {
        let place = place();
        symlink("project", place.base.join("alias")).unwrap();
        let roots = Roots::new(&place.base.join("alias"), &[]).unwrap();
        let through = place.base.join("alias/src");
        assert_eq!(roots.display_path(&roots.resolve(through.to_str().unwrap()).unwrap()), "src");
    }

    #[test]
    fn odd_paths_are_errors() {
        let place = place();
        fs::write(place.base.join("project/file"), "").unwrap();
        assert!(
            place.roots.resolve("file/below").is_ok(),
            "the tool that opens it reports the error"
        );
        assert!(place.roots.resolve("nul\0byte").is_err());
        assert!(place.roots.resolve(&"x".repeat(5000)).is_err());
    }

    #[test]
    fn a_missing_directory_is_named() {
        let place = place();
        let error = Roots::new(&place.base.join("gone"), &[]).unwrap_err();
        assert!(error.to_string().contains("gone"), "{error}");
    }
}
