//! Resolves the words, paths and globs of confinements to paths of this machine.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use tenter_base::account;
use tenter_engine::layout::project_root;
use tenter_protocol::confinement::Confinement;

use crate::globs::Expansion;
use crate::listings::Listings;
use crate::secrets;

/// Directories for temporary files, besides those in variables.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Caches of package managers and compilers, from the home directory.
const CACHES: [&str; 16] = *tenter_base::words!(
    ".cache .npm .bun/install/cache .yarn .local/share/pnpm .cargo/registry .cargo/git
     .cargo/.package-cache .cargo/.global-cache go/pkg .gradle .m2/repository .nuget/packages
     .pub-cache .gem .composer/cache"
);
/// Hooks and settings of agents and tools, from a project's root: they decide what runs later, outside of the confinement.
const PROTECTED: [&str; 30] = *tenter_base::words!(
    ".git/hooks .git/config .agents .kodelet tenter.toml .claude .mcp.json .codex .gemini
     .opencode opencode.json opencode.jsonc .kilo .kilocode .cursor .qwen .factory .clinerules
     .cline .pi .goose .goosehints .crush.json crush.json .vibe .kimi .github/hooks
     .github/copilot .vscode .envrc"
);
/// Further ones from the home directory, where it may be written.
const PROTECTED_AT_HOME: [&str; 23] = *tenter_base::words!(
    ".config/agents .bashrc .bash_profile .profile .zshrc .zshenv .zprofile .config/fish
     .gitconfig .config/git .config/autostart .config/systemd .config/tenter .local/share/tenter
     .local/state/tenter .cache/tenter .ssh .local/bin .cargo/bin .cargo/config.toml
     .config/opencode .copilot .claude.json"
);
/// Sockets of services that would run a command without the confinement.
const SERVICES: [&str; 7] = *tenter_base::words!(
    "/run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock
     /run/dbus/system_bus_socket /run/systemd/private /run/crio/crio.sock
     /run/libvirt/libvirt-sock"
);
/// The same in the user's runtime directory.
const SERVICES_OF_USER: [&str; 4] = ["bus", "systemd/private", "docker.sock", "podman/podman.sock"];

/// The machine and the call, as the launcher knows them.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The project root, once it is needed.
    project: OnceCell<PathBuf>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The user's home directory.
    pub home: PathBuf,
    /// The environment.
    pub env: Vec<(OsString, OsString)>,
}

impl Surroundings {
    /// Creates the surroundings of a process with this working directory and environment.
    pub fn new(cwd: PathBuf, home: PathBuf, env: Vec<(OsString, OsString)>) -> Self {
        Self { project: OnceCell::new(), cwd, home, env }
    }

    /// Returns the surroundings of this process.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment comes from")]
    pub fn read_process() -> Self {
        let root = || PathBuf::from("/");
        let cwd = std::env::current_dir().unwrap_or_else(|_| root());
        Self::new(cwd, account::home().unwrap_or_else(root), std::env::vars_os().collect())
    }

    /// Returns the same in the project with this root.
    #[must_use]
    pub(crate) fn in_project(self, root: PathBuf) -> Self {
        Self { project: root.into(), ..self }
    }

    /// Returns the project root.
    pub fn project(&self) -> &Path {
        self.project.get_or_init(|| project_root(&self.cwd, &self.home))
    }

    /// Returns the places in these surroundings, as they are now.
    pub(crate) fn places(&self) -> Places<'_> {
        Places { surroundings: self, listings: OnceCell::new() }
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        let value = self.env.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        value.map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Returns the account's home directory, and the directory in the variable `HOME` if it is another one: programs use either.
    fn homes(&self) -> Vec<PathBuf> {
        let variable = self.variable("HOME").filter(|home| *home != self.home);
        [self.home.clone()].into_iter().chain(variable).collect()
    }

    /// Returns these paths in each home directory.
    fn at_home(&self, names: &[&str]) -> Vec<PathBuf> {
        let homes = self.homes().into_iter();
        homes.flat_map(|home| names.iter().map(move |name| home.join(name))).collect()
    }
}

/// Finds the paths that confinements name.
pub(crate) struct Places<'a> {
    surroundings: &'a Surroundings,
    listings: OnceCell<Listings>,
}

impl Places<'_> {
    /// Returns the listings of the directories in which most of the paths are.
    fn listings(&self) -> &Listings {
        self.listings.get_or_init(|| {
            let homes = self.surroundings.homes().into_iter();
            let homes = homes.flat_map(|home| [home.join(".config"), home]);
            let project = self.surroundings.project().to_owned();
            Listings::new([project].into_iter().chain(homes))
        })
    }

    /// Adds what a written path matches: `~` is a home directory, and a relative path is in the project.
    fn expand(&self, text: &str, expansion: &mut Expansion<'_>) {
        let paths = match text.strip_prefix("~/").or((text == "~").then_some("")) {
            Some(rest) => self.surroundings.at_home(&[rest]),
            None => vec![self.surroundings.project().join(text)],
        };
        for path in &paths {
            expansion.add(path);
        }
    }

    /// Returns the existing paths that may be written, as real paths.
    pub(crate) fn writable(&self, places: &[String]) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for place in places {
            match place.as_str() {
                "project" => paths.extend(self.repository()),
                "temp" => {
                    paths.extend(TEMPORARY.iter().map(PathBuf::from));
                    paths.extend(
                        ["TMPDIR", "TEMP", "TMP"]
                            .iter()
                            .filter_map(|name| self.surroundings.variable(name)),
                    );
                }
                "home" => paths.extend(self.surroundings.homes()),
                "caches" => paths.extend(self.surroundings.at_home(&CACHES)),
                written => {
                    let mut expansion = Expansion::new(self.listings());
                    self.expand(written, &mut expansion);
                    paths.extend(expansion.paths);
                }
            }
        }
        self.real_paths(paths)
    }

    /// Returns the project root and, if it is a worktree of git, the repository's directory.
    fn repository(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.surroundings.project().to_owned()];
        paths.extend(self.git_directories());
        paths
    }

    /// Returns the git directories of a worktree, which are outside of the project: its own and the common one.
    fn git_directories(&self) -> Vec<PathBuf> {
        let Ok(text) = fs::read_to_string(self.surroundings.project().join(".git")) else {
            return Vec::new();
        };
        let Some(own) = text.strip_prefix("gitdir:") else { return Vec::new() };
        let own = self.surroundings.project().join(own.trim());
        let common = fs::read_to_string(own.join("commondir"));
        let common = common.map(|text| own.join(text.trim()));
        let mut directories = vec![own];
        directories.extend(common);
        directories
    }

    /// Returns the existing hooks and settings that may not be written although the places around them may, and true if some do
    /// not exist.
    pub(crate) fn protected(&self, writable: &[PathBuf], also: &[String]) -> Protected {
        let in_project = PROTECTED.iter().map(|name| self.surroundings.project().join(name));
        let in_git = self
            .git_directories()
            .into_iter()
            .flat_map(|directory| ["hooks", "config"].map(|name| directory.join(name)));
        let at_home = self.surroundings.at_home(&[&PROTECTED[..], &PROTECTED_AT_HOME].concat());
        let mut expansion = Expansion::new(self.listings());
        for pattern in also {
            self.expand(pattern, &mut expansion);
        }
        let all = in_project.chain(in_git).chain(at_home).chain(expansion.paths);
        let is_writable = |path: &PathBuf| writable.iter().any(|place| path.starts_with(place));
        let (existing, missing): (Vec<_>, Vec<_>) = all.partition(|path| self.listings().has(path));
        let mut paths = self.real_paths(existing);
        paths.retain(is_writable);
        let missing = missing.into_iter().filter(is_writable).collect();
        Protected { paths, missing }
    }

    /// Returns the existing paths that may not be read, as real paths, and true if the search for them was not complete.
    pub(crate) fn hidden(&self, patterns: &[String]) -> (Vec<PathBuf>, bool) {
        let mut expansion = Expansion::new(self.listings());
        let mut anywhere = Vec::new();
        for pattern in patterns {
            if pattern == "secrets" {
                for glob in secrets::globs() {
                    match glob.strip_prefix("**/") {
                        Some(name) => anywhere.push(name),
                        None => self.expand(glob, &mut expansion),
                    }
                }
            } else {
                self.expand(pattern, &mut expansion);
            }
        }
        if !anywhere.is_empty() {
            expansion.add_anywhere(self.surroundings.project(), &anywhere);
            expansion.paths.retain(|path| !path.file_name().is_some_and(secrets::is_exception));
        }
        let is_truncated = expansion.is_truncated();
        (self.real_paths(expansion.paths), is_truncated)
    }

    /// Returns the existing sockets of services that run commands outside of a confinement.
    pub(crate) fn services(&self) -> Vec<PathBuf> {
        let runtime = self.surroundings.variable("XDG_RUNTIME_DIR");
        let user_services = runtime
            .iter()
            .flat_map(|directory| SERVICES_OF_USER.iter().map(move |name| directory.join(name)));
        let uid = rustix::process::getuid().as_raw();
        let screens =
            [format!("/tmp/tmux-{uid}"), format!("/run/screen/S-{uid}")].map(PathBuf::from);
        let agent = self.surroundings.variable("SSH_AUTH_SOCK");
        let all =
            SERVICES.iter().map(PathBuf::from).chain(user_services).chain(screens).chain(agent);
        self.real_paths(all)
    }

    /// Returns the real paths, each once, without those that do not exist or cannot be resolved.
    fn real_paths(&self, paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
        let existing = paths.into_iter().filter(|path| self.listings().has(path));
        let mut paths: Vec<PathBuf> =
            existing.filter_map(|path| fs::canonicalize(path).ok()).collect();
        paths.sort();
        paths.dedup();
        paths
    }
}

/// The mounts of a confinement.
#[derive(Debug, Default)]
pub(crate) struct MountPlan {
    /// The hidden paths.
    pub(crate) hidden_paths: Vec<PathBuf>,
    /// The read-only paths.
    pub(crate) read_only: Vec<PathBuf>,
    /// Directories that must not be renamed, because something read-only is in them.
    pub(crate) pinned_directories: Vec<PathBuf>,
}

/// The protected paths below writable places.
#[derive(Debug)]
pub(crate) struct Protected {
    /// Those that exist, as real paths.
    pub(crate) paths: Vec<PathBuf>,
    /// Those that do not exist.
    pub(crate) missing: Vec<PathBuf>,
}

/// Returns the union of what confinements hide.
pub(crate) fn read_not(confinements: &[Confinement]) -> Vec<String> {
    let mut patterns: Vec<String> =
        confinements.iter().flat_map(|confinement| confinement.read_not.clone()).collect();
    patterns.sort();
    patterns.dedup();
    patterns
}

/// Returns the directories above `path` up to and without the outermost of `writable`, the outermost first.
pub(crate) fn between(path: &Path, writable: &[PathBuf]) -> Vec<PathBuf> {
    let Some(outermost) = writable
        .iter()
        .filter(|place| path.starts_with(place))
        .min_by_key(|place| place.as_os_str().len())
    else {
        return Vec::new();
    };
    let mut above: Vec<PathBuf> = path
        .ancestors()
        .skip(1)
        .take_while(|above| *above != outermost)
        .map(Path::to_owned)
        .collect();
    above.reverse();
    above
}

/// Returns true if a hidden path reads as empty instead of being refused.
pub(crate) fn reads_as_empty(path: &Path) -> bool {
    secrets::reads_as_empty(path.file_name().unwrap_or(OsStr::new("")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(root: &Path) -> Surroundings {
        Surroundings {
            project: root.join("project").into(),
            cwd: root.join("project"),
            home: root.join("home"),
            env: vec![("TMPDIR".into(), root.join("tmp").into())],
        }
    }

    #[test]
    fn words_and_paths_become_real_paths() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        for name in ["project/src", "project/out-1", "home/.npm", "tmp"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let surroundings = surroundings(&root);
        let writable = |place: &str| surroundings.places().writable(&[place.to_owned()]);
        assert_eq!(writable("project"), [root.join("project")]);
        assert!(writable("temp").contains(&root.join("tmp")));
        assert_eq!(writable("caches"), [root.join("home/.npm")]);
        assert_eq!(writable("src"), [root.join("project/src")]);
        assert_eq!(writable("out-*"), [root.join("project/out-1")]);
        assert_eq!(writable("~/missing"), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_home_of_the_account_and_of_the_variable_count() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let keys = ["home/.ssh/id_rsa", "other/.ssh/id_rsa"].map(|key| root.join(key));
        for key in &keys {
            fs::create_dir_all(key.parent().unwrap()).unwrap();
            fs::write(key, "").unwrap();
        }
        let mut surroundings = surroundings(&root);
        surroundings.env.push(("HOME".into(), root.join("other").into()));
        let (paths, _) = surroundings.places().hidden(&["~/.ssh/id_rsa".to_owned()]);
        assert_eq!(paths, keys);
        assert_eq!(surroundings.places().writable(&["home".to_owned()]).len(), 2);
    }

    #[test]
    fn a_worktree_may_write_its_repository_but_not_its_hooks() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        for name in ["project", "main/.git/hooks", "main/.git/worktrees/w"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let own = root.join("main/.git/worktrees/w");
        fs::write(root.join("project/.git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        let surroundings = surroundings(&root);
        let writable = surroundings.places().writable(&["project".to_owned()]);
        assert!(writable.contains(&root.join("main/.git")), "{writable:?}");
        let protected = surroundings.places().protected(&writable, &[]);
        assert_eq!(protected.paths, [root.join("main/.git/hooks")]);
    }

    #[test]
    fn hooks_and_settings_of_agents_in_the_home_directory_are_protected() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let names = ["home/.agents/hooks", "home/.claude", "home/.config/agents/hooks"];
        for name in ["project"].iter().chain(&names) {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let surroundings = surroundings(&root);
        let writable = surroundings.places().writable(&["home".to_owned()]);
        let protected = surroundings.places().protected(&writable, &[]).paths;
        assert_eq!(
            protected,
            ["home/.agents", "home/.claude", "home/.config/agents"].map(|name| root.join(name))
        );
    }

    #[test]
    fn directories_between_a_protected_path_and_its_place_are_listed() {
        let writable = [PathBuf::from("/tmp"), PathBuf::from("/tmp/project")];
        let between = between(Path::new("/tmp/project/.git/hooks"), &writable);
        assert_eq!(between, [PathBuf::from("/tmp/project"), "/tmp/project/.git".into()]);
    }
}
