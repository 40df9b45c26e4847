//! Files that file tools change only with the user's consent (R76, B49): version stores, hooks and settings, which decide what
//! runs and what guards the agent. Reading them is always allowed. This does not apply to shell commands.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use tenter_base::{real_path, untrusted_file};

use crate::directories::Directories;
use crate::layout::{DirectoryNames, HOOKS, ResourceLayout, Root};

/// Files and directories that are protected anywhere, besides the files of hooks and plugins.
const EVERYWHERE: [&str; 2] = [".git", "tenter.toml"];

/// Tenter's data, from the home directory.
const DATA: &str = ".local/share/tenter";
/// The program that other agents run, from the home directory; a symlink to the installed one, which is protected like it.
const PROGRAM: &str = ".local/share/tenter/bin/tenter-hook";

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
    /// The paths that the user has allowed to be changed, as real paths.
    allowed_paths: Vec<PathBuf>,
}

impl ProtectedPaths {
    /// Creates the paths that are always protected in the project at `project`, whose hooks are in directories of these `names`.
    pub fn new(project: &Path, names: &DirectoryNames) -> Self {
        let none = Self {
            project: real_path(project).unwrap_or_else(|_| project.to_owned()),
            everywhere: Vec::new(),
            project_markers: names.resources.clone(),
            places: Vec::new(),
            allowed_paths: Vec::new(),
        };
        let everywhere = EVERYWHERE.iter().map(PathBuf::from).chain(names.hooks_and_plugins());
        everywhere.fold(none, |paths, path| paths.and(&path, project))
    }

    /// Adds `path`: a relative path is protected in every directory, and where it leads to from `project`. A name in it may begin
    /// with `*`, which is any text.
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

    /// Adds what decides which hooks run: Tenter's own configuration, state, cache and programs, the hooks and plugins in `layout`, the git
    /// directory, and what the user has `configured`.
    #[must_use]
    pub fn with_own(
        self,
        layout: &ResourceLayout,
        directories: &Directories,
        configured_paths: &[PathBuf],
    ) -> Self {
        let roots = |roots: Vec<Root>| roots.into_iter().map(|root| root.dir);
        let Directories { home, config_home, state, cache, managed } = directories;
        let program = home.join(PROGRAM);
        // Beside the copy, `tenter` is a symlink.
        let beside = fs::canonicalize(&program).map(|program| {
            let tenter = program.with_file_name("tenter");
            fs::canonicalize(&tenter).unwrap_or(tenter)
        });
        let managed = managed.path().to_owned();
        let own = [config_home.join("tenter"), state.clone(), home.join(DATA), program, managed];
        let places: Vec<PathBuf> = own
            .into_iter()
            .chain(beside)
            .chain(cache.clone())
            .chain([layout.plugins_in(&layout.home)])
            .chain(roots(layout.user_roots(&HOOKS)))
            .collect();
        let project_roots =
            layout.projects().flat_map(|project| roots(project.project_roots(&HOOKS)));
        let project_roots: Vec<PathBuf> = project_roots.collect();
        let links = places.iter().chain(&project_roots).flat_map(|place| symlinks_in(place));
        let links: Vec<PathBuf> = links.chain(git_directory(&layout.project)).collect();
        let configured_paths = configured_paths.iter().map(|path| in_home(path, home));
        let all: Vec<PathBuf> =
            places.iter().cloned().chain(configured_paths).chain(links).collect();
        all.iter().fold(self, |paths, path| paths.and(path, &layout.project))
    }

    /// Removes `path`, an absolute path: the user has agreed to changes of it.
    #[must_use]
    pub fn allowing(mut self, path: &Path) -> Self {
        self.allowed_paths.extend(real_path(path));
        self
    }

    /// Returns the protected file or directory that the real path `file` is or is in; `None` if it may be changed.
    pub fn around(&self, file: &Path) -> Option<PathBuf> {
        if self.is_allowed(file) {
            return None;
        }
        let files = Identities::default();
        let by_name = self.everywhere.iter().find_map(|names| files.named(names, file));
        let may_contain = |place: &&PathBuf| files.may_be_in(place, file);
        let by_place =
            || self.places.iter().filter(may_contain).find_map(|place| within(place, file));
        by_name
            .or_else(by_place)
            .or_else(|| self.new_marker(file))
            .or_else(|| git_directory_around(file))
    }

    /// Returns the protected file or directory that a change of `path`, a real path, would affect: that around it, or with
    /// `recursive`, one in it. `None` if it may be changed.
    pub fn affected(&self, path: &Path, recursive: bool) -> Option<PathBuf> {
        let is_in = |place: &&PathBuf| place.starts_with(path) && !self.is_allowed(place);
        let inside = || {
            let real =
                self.places.iter().flat_map(|place| [Some(place.clone()), real_path(place).ok()]);
            real.flatten().find(|place| is_in(&place) && fs::symlink_metadata(place).is_ok())
        };
        self.around(path).or_else(|| if recursive { inside() } else { None })
    }

    fn is_allowed(&self, file: &Path) -> bool {
        self.allowed_paths.iter().any(|path| file.starts_with(path))
    }

    /// Returns the protected file or directory that a text names, in any spelling that differs in case, `.` and `..` only; `None`
    /// if it names none. For what cannot be read in another way, such as a broken patch. Relative paths are in `cwd`.
    pub fn named_in(&self, text: &str, cwd: &Path) -> Option<PathBuf> {
        let places: Vec<PathBuf> = self
            .places
            .iter()
            .flat_map(|place| [Some(place.clone()), real_path(place).ok()])
            .flatten()
            .collect();
        let is_in_text = |place: &&PathBuf| place.to_str().is_some_and(|name| text.contains(name));
        let by_path = || {
            words(text).find_map(|word| {
                let path = without_dots(&cwd.join(word));
                let is_named =
                    |path: &&Path| self.everywhere.iter().any(|names| is_spelled(names, path));
                let by_name = || path.ancestors().find(is_named).map(Path::to_owned);
                places.iter().find(|place| begins_with(&path, place)).cloned().or_else(by_name)
            })
        };
        places.iter().find(is_in_text).cloned().or_else(by_path)
    }

    /// Returns a directory that does not exist yet and would make a directory within the project a project root: an agent started
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

/// Returns whether git takes a directory for a repository's git directory, whatever its name is: it has `HEAD`, `objects` and `refs`, or
/// names another directory that has them.
pub fn is_git_directory(directory: &Path) -> bool {
    is_git_directory_with(directory, directory)
}

/// Returns the git directory without the name `.git` that `file` is in, or that it would complete: git reads programs to run from it.
fn git_directory_around(file: &Path) -> Option<PathBuf> {
    let is_git_directory = |directory: &&Path| is_git_directory_with(directory, file);
    file.ancestors().skip(1).find(is_git_directory).map(Path::to_owned)
}

/// As [`is_git_directory`], once `file` exists.
fn is_git_directory_with(directory: &Path, file: &Path) -> bool {
    let first = file.strip_prefix(directory).ok().and_then(|rest| rest.iter().next());
    let has = |name: &str| {
        first.is_some_and(|first| first.eq_ignore_ascii_case(name))
            || fs::symlink_metadata(directory.join(name)).is_ok()
    };
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/// Returns the parts of a text that may be paths: those between spaces, quotes and brackets.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "\"'`\\<>()[]{}|,;:=".contains(c);
    text.split(is_between).filter(|word| !word.is_empty())
}

/// Returns an absolute path without `.` and `..`, whatever exists.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Returns whether `path` is `place` or in it, in any case.
fn begins_with(path: &Path, place: &Path) -> bool {
    let mut path = path.components();
    place.components().all(|part| {
        path.next()
            .is_some_and(|component| component.as_os_str().eq_ignore_ascii_case(part.as_os_str()))
    })
}

/// Returns whether `path` ends in `names`, in any case. A name may begin with `*`.
fn is_spelled(names: &[OsString], path: &Path) -> bool {
    let mut above = path.ancestors();
    names.iter().rev().all(|name| {
        let above_name = above.next().and_then(Path::file_name);
        above_name.is_some_and(|above| is_name(above.as_bytes(), name.as_bytes()))
    })
}

/// Returns whether a name is this one, in any case. `*` at its beginning is any text.
fn is_name(file_name: &[u8], name: &[u8]) -> bool {
    let Some(end) = name.strip_prefix(b"*") else { return file_name.eq_ignore_ascii_case(name) };
    let start = file_name.len().checked_sub(end.len());
    start.is_some_and(|start| file_name[start..].eq_ignore_ascii_case(end))
}

/// The device and inode of files, each read once: many protected paths are in the same few directories.
#[derive(Default)]
struct Identities(RefCell<HashMap<PathBuf, Option<(u64, u64)>>>);

impl Identities {
    /// Returns the device and inode of the file at `path`; symlinks are followed.
    fn get(&self, path: &Path) -> Option<(u64, u64)> {
        let entry = self.0.borrow().get(path).copied();
        entry.unwrap_or_else(|| {
            let file = identity(path);
            self.0.borrow_mut().insert(path.to_owned(), file);
            file
        })
    }

    /// Returns whether both paths lead to the same file.
    fn are_same(&self, one: &Path, other: &Path) -> bool {
        self.get(one).is_some_and(|one| self.get(other) == Some(one))
    }

    /// Returns the nearest directory above `file`, or `file` itself, whose path ends in `names`.
    fn named(&self, names: &[OsString], file: &Path) -> Option<PathBuf> {
        let is_named = |path: &&Path| {
            // Some file systems are case-insensitive.
            let is_spelled = is_spelled(names, path);
            // Others accept several spellings of one name: there it is the same file.
            let beside = path.ancestors().nth(names.len());
            is_spelled || beside.is_some_and(|base| self.is_named(names, base, path))
        };
        file.ancestors().find(is_named).map(Path::to_owned)
    }

    /// Returns whether `path` is what has these names in `base`.
    fn is_named(&self, names: &[OsString], base: &Path, path: &Path) -> bool {
        let exists = |name: &OsString| self.get(&base.join(name)).is_some();
        // Usually there is nothing with the first name.
        self.get(path).is_some()
            && names.first().is_some_and(exists)
            && self.are_same(path, &base.join(PathBuf::from_iter(names)))
    }

    /// Returns whether `file` may be in `place`, without resolving `place`.
    fn may_be_in(&self, place: &Path, file: &Path) -> bool {
        let Some(existing) = place.ancestors().find(|above| self.get(above).is_some()) else {
            return true;
        };
        let missing = place.strip_prefix(existing).unwrap_or(place);
        let is_plain = missing.components().all(|part| matches!(part, Component::Normal(_)));
        let is_link = || {
            let first = missing.iter().next().map(|first| existing.join(first));
            first.is_some_and(|first| fs::symlink_metadata(first).is_ok())
        };
        let is_below = |above: &Path| {
            self.are_same(above, existing)
                && file.strip_prefix(above).is_ok_and(|rest| rest.starts_with(missing))
        };
        !is_plain || file.ancestors().any(is_below) || is_link()
    }
}

/// Returns the target of `place`, if `file` is in it.
fn within(place: &Path, file: &Path) -> Option<PathBuf> {
    let real = real_path(place).ok().or_else(|| dangling_target(place))?;
    (file.starts_with(&real) || file.ancestors().any(|above| is_same(above, &real))).then_some(real)
}

/// Returns the target of a dangling symlink at `place`: creating it would change `place`.
fn dangling_target(place: &Path) -> Option<PathBuf> {
    let target = fs::read_link(place).ok()?;
    real_path(&place.parent()?.join(target)).ok()
}

fn is_same(one: &Path, other: &Path) -> bool {
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Maximum number of entries of a directory that are checked for symlinks.
const MOST_ENTRIES: usize = 1000;

/// Returns the symlinks in a directory. Their targets are protected like the directory, such as a hook that is stored elsewhere.
fn symlinks_in(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let entries = entries.take(MOST_ENTRIES).flatten();
    let is_symlink = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    entries.filter(is_symlink).map(|entry| entry.path()).collect()
}

/// Returns the directory that a `.git` file names, if the repository is stored elsewhere.
fn git_directory(root: &Path) -> Option<PathBuf> {
    let bytes = untrusted_file::read_prefix(&root.join(".git"), 4096).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Returns a path from a configuration file, with `~` replaced by the home directory.
fn in_home(path: &Path, home: &Path) -> PathBuf {
    path.strip_prefix("~").map_or_else(|_| path.to_owned(), |rest| home.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_is_ruled_out_that_a_file_is_in() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("real/deep")).unwrap();
        fs::write(base.join("real/file"), "").unwrap();
        fs::hard_link(base.join("real/file"), base.join("hard")).unwrap();
        for (link, target) in [("link", "real"), ("dangling", "real/new"), ("loop", "loop")] {
            std::os::unix::fs::symlink(target, base.join(link)).unwrap();
        }
        let names =
            ["", "real", "link", "dangling", "loop", "real/file", "hard", "real/new", "link/deep"];
        let more = [
            "link/new/x",
            "link/../real/deep",
            "none",
            "none/../real/file",
            "none/x",
            "real/file/x",
        ];
        let all: Vec<PathBuf> = names.iter().chain(&more).map(|name| base.join(name)).collect();
        let mut contained = 0;
        for (place, file) in all.iter().flat_map(|place| all.iter().map(move |file| (place, file)))
        {
            let Ok(file) = real_path(file) else { continue };
            if within(place, &file).is_some() {
                contained += 1;
                let files = Identities::default();
                assert!(files.may_be_in(place, &file), "{} in {}", file.display(), place.display());
            }
        }
        assert!(contained > 40, "{contained}");
        let other = base.join("elsewhere");
        assert!(!Identities::default().may_be_in(&base.join("real"), &other));
        assert!(!Identities::default().may_be_in(&base.join("none"), &other));
    }

    #[test]
    fn the_program_that_other_agents_run_is_protected_with_what_it_leads_to() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        let (home, opt) = (base.join("home"), base.join("opt"));
        fs::create_dir_all(home.join(PROGRAM).parent().unwrap()).unwrap();
        fs::create_dir(&opt).unwrap();
        for name in ["tenter", "tenter-hook", "other"] {
            fs::write(opt.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink(opt.join("tenter-hook"), home.join(PROGRAM)).unwrap();
        let project = base.join("project");
        let directories = Directories::in_home(&home);
        let layout = ResourceLayout::new(&project, &home, &directories.config_home);
        let paths = ProtectedPaths::new(&project, &layout.names);
        let paths = paths.with_own(&layout, &directories, &[]);
        let is_protected = |path: PathBuf| paths.around(&real_path(&path).unwrap()).is_some();
        for path in [PROGRAM, ".local/share/tenter/bin/new", ".local/share/tenter"] {
            assert!(is_protected(home.join(path)), "{path}");
        }
        assert!(is_protected(opt.join("tenter")) && is_protected(opt.join("tenter-hook")));
        assert!(!is_protected(opt.join("other")) && !is_protected(home.join(".local/share/x")));
    }

    #[test]
    fn what_contains_a_protected_file_is_affected_as_a_whole() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("a/settings")).unwrap();
        fs::create_dir_all(base.join("p/sub")).unwrap();
        let project = base.join("p");
        let paths = ProtectedPaths::new(&project, &DirectoryNames::default())
            .and(&base.join("a/settings"), &project)
            .and(&base.join("p/sub/missing"), &project);
        assert_eq!(paths.affected(&base.join("a"), true), Some(base.join("a/settings")));
        assert_eq!(paths.affected(&base.join("a"), false), None);
        assert_eq!(paths.affected(&base.join("p/sub"), true), None);
        assert!(paths.affected(&base.join("a/settings/x"), false).is_some());
        assert_eq!(paths.allowing(&base.join("a")).affected(&base.join("a"), true), None);
    }

    #[test]
    fn a_text_that_names_a_protected_file_in_any_spelling_is_found() {
        let (project, names) = (Path::new("/p"), DirectoryNames::default());
        let paths = ProtectedPaths::new(project, &names)
            .and(Path::new("/home/a b/.codex/config.toml"), project)
            .and(Path::new("deploy"), project);
        let is_named = |text: &str| paths.named_in(text, Path::new("/p/sub")).is_some();
        for text in [
            "*** Update File: .git/config",
            "--- a/.git/config\n+++ b/.git/config",
            "x \".Git/hooks/pre-commit\" y",
            "[\"*** Add File: ../.agents/hooks/x\\n+y\"]",
            "(../x/.././tenter.toml)",
            "/home/a b/.codex/config.toml",
            "deploy/prod.sh",
            "/p/deploy",
        ] {
            assert!(is_named(text), "{text}");
        }
        for text in ["", "*** Update File: src/main.rs", ".gitignore", "a.git", "tenter.toml.bak"] {
            assert!(!is_named(text), "{text}");
        }
    }
}
