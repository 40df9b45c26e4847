//! Files that file tools change only with the user's consent (R76): version stores, hooks and settings, which decide what
//! runs and what guards the agent. Reading them is always allowed. This does not apply to shell commands.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use tenter_base::real_path;
use tenter_engine::layout::DirectoryNames;

/// Files and directories that are protected anywhere, besides those of hooks and plugins.
const EVERYWHERE: [&str; 2] = [".git", "tenter.toml"];

/// Asks whether a file tool may change something protected.
pub trait WriteConsent: Sync {
    /// Whether the user agrees to a change of `file`, which is `place` or inside it.
    fn agrees(&self, place: &Path, file: &Path) -> bool;
}

/// The protected paths.
#[derive(Debug, Clone)]
pub struct ProtectedPaths {
    /// The project root, as a real path.
    project: PathBuf,
    /// Names that are protected in every directory.
    everywhere: Vec<Vec<OsString>>,
    /// Directories whose existence makes their parent directory the root of a project of its own, with its own hooks.
    project_markers: Vec<String>,
    /// Single protected files and directories; they may be symlinks.
    places: Vec<PathBuf>,
    /// What the user has allowed to be changed, as real paths.
    allowed: Vec<PathBuf>,
}

impl ProtectedPaths {
    /// The paths that are always protected in the project at `project`, whose hooks are in directories of these `names`.
    pub fn new(project: &Path, names: &DirectoryNames) -> Self {
        let none = Self {
            project: real_path(project).unwrap_or_else(|_| project.to_owned()),
            everywhere: Vec::new(),
            project_markers: names.resources.clone(),
            places: Vec::new(),
            allowed: Vec::new(),
        };
        let everywhere = EVERYWHERE.iter().map(PathBuf::from).chain(names.hooks_and_plugins());
        everywhere.fold(none, |paths, path| paths.and(&path, project))
    }

    /// Adds `path`: a relative path is protected in every directory, and where it leads to from `project`.
    #[must_use]
    pub fn and(mut self, path: &Path, project: &Path) -> Self {
        let names: Option<Vec<OsString>> = path
            .components()
            .filter(|component| *component != Component::CurDir)
            .map(|component| match component {
                Component::Normal(name) => Some(name.to_owned()),
                _ => None,
            })
            .collect();
        self.everywhere.extend(names.filter(|names| !names.is_empty()));
        self.places.push(project.join(path));
        self
    }

    /// Removes `path`, an absolute path: the user has agreed to changes of it.
    #[must_use]
    pub fn allowing(mut self, path: &Path) -> Self {
        self.allowed.extend(real_path(path));
        self
    }

    /// The protected file or directory that the real path `file` is or is in; `None` if it may be changed.
    pub(crate) fn around(&self, file: &Path) -> Option<PathBuf> {
        if self.allowed.iter().any(|allowed| file.starts_with(allowed)) {
            return None;
        }
        let by_name = self.everywhere.iter().find_map(|names| named(names, file));
        by_name
            .or_else(|| self.places.iter().find_map(|place| within(place, file)))
            .or_else(|| self.new_marker(file))
    }

    /// A directory that does not exist yet and would make a directory within the project a project root: an agent started
    /// there would run without the hooks of this project.
    fn new_marker(&self, file: &Path) -> Option<PathBuf> {
        let is_marker = |path: &&Path| {
            let name = path.file_name().unwrap_or_default();
            self.project_markers.iter().any(|marker| name.eq_ignore_ascii_case(marker))
                && path.parent() != Some(&self.project)
                && fs::symlink_metadata(path).is_err()
        };
        file.ancestors().find(is_marker).map(Path::to_owned)
    }
}

/// The nearest directory above `file`, or `file` itself, whose path ends in `names`.
fn named(names: &[OsString], file: &Path) -> Option<PathBuf> {
    let is_named = |path: &&Path| {
        let mut above = path.ancestors();
        let spelled = names.iter().rev().all(|name| {
            let found = above.next().and_then(Path::file_name);
            // Some file systems are case-insensitive.
            found.is_some_and(|found| found.eq_ignore_ascii_case(name))
        });
        // Others accept several spellings of one name: there it is the same file.
        let beside = path.ancestors().nth(names.len());
        spelled || beside.is_some_and(|base| is_same(path, &base.join(PathBuf::from_iter(names))))
    };
    file.ancestors().find(is_named).map(Path::to_owned)
}

/// The target of `place`, if `file` is in it.
fn within(place: &Path, file: &Path) -> Option<PathBuf> {
    let real = real_path(place).ok().or_else(|| dangling_target(place))?;
    (file.starts_with(&real) || file.ancestors().any(|above| is_same(above, &real))).then_some(real)
}

/// The target of a dangling symlink at `place`: creating it would change `place`.
fn dangling_target(place: &Path) -> Option<PathBuf> {
    let target = fs::read_link(place).ok()?;
    real_path(&place.parent()?.join(target)).ok()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Bench;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// The outcome of an attempt to write `path`.
    fn write(bench: &Bench, path: &str) -> Result<(), String> {
        let result = bench.run("file_write", json!({"file_path": path, "text": "x"}));
        result.error.map_or(Ok(()), Err)
    }

    #[test]
    fn no_spelling_circumvents_the_protection() {
        let bench = Bench::new();
        for path in [".git/config", ".kodelet/hooks/guard", "shared/inner/x", "sub/x"] {
            bench.write(path, "old");
        }
        symlink(".git", bench.path("store")).unwrap();
        symlink(".kodelet", bench.path("k")).unwrap();
        fs::create_dir(bench.path(".agents")).unwrap();
        symlink("../shared", bench.path(".agents/hooks")).unwrap();
        symlink("../planned", bench.path(".kodelet/plugins")).unwrap();
        for path in [
            ".git/config",
            ".git/hooks/pre-commit",
            "./.git//config",
            "sub/../.git/config",
            "sub/.git/config",
            "sub/.git",
            "store/config",
            "store/../.git/config",
            ".GIT/config",
            ".kodelet/hooks/guard",
            ".kodelet/hooks/new/HOOK.md",
            ".kodelet/hooks",
            "k/hooks/guard",
            "k/./hooks/../hooks/guard",
            ".Kodelet/Hooks/guard",
            "planned/a@b/hooks/x",
            ".agents/hooks/x",
            "shared/x",
            "shared/inner/x",
            "sub/.kodelet/plugins/a@b/hooks/x",
            "sub/.kodelet/notes.md",
            "sub/.agents/skills/x/SKILL.md",
            "tenter.toml",
            "sub/tenter.toml",
            "Tenter.toml",
        ] {
            let error = write(&bench, path).unwrap_err();
            assert!(error.contains("consent"), "{path}: {error}");
        }
        assert_eq!(bench.read(".git/config"), "old");
        let edit = json!({"file_path": "store/config", "old_text": "old", "new_text": "new"});
        assert!(bench.fail("file_edit", edit).contains("consent"));
        assert_eq!(bench.read(".git/config"), "old");
        assert!(
            bench.succeed("file_read", json!({"file_path": ".git/config"})).text().contains("old")
        );
    }

    #[test]
    fn similar_names_are_not_protected() {
        let bench = Bench::new();
        for path in [
            ".gitignore",
            ".github/workflows/x.yml",
            "x.git/config",
            ".kodelet/recipes/x.md",
            ".kodelet/hooks.md",
            ".agents/skills/x/SKILL.md",
            "hooks/x",
            "agents/hooks/x",
            "my-tenter.toml",
        ] {
            assert_eq!(write(&bench, path), Ok(()), "{path}");
        }
    }

    #[test]
    fn the_marker_directory_of_an_existing_nested_project_may_be_written() {
        let bench = Bench::new();
        fs::create_dir_all(bench.path("sub/.agents/skills")).unwrap();
        assert_eq!(write(&bench, "sub/.agents/skills/x/SKILL.md"), Ok(()));
    }

    #[test]
    fn with_consent_a_protected_file_is_written() {
        let mut bench = Bench::new();
        bench.consent = true;
        assert_eq!(write(&bench, ".agents/hooks/guard"), Ok(()));
        assert_eq!(bench.read(".agents/hooks/guard"), "x");
    }
}
