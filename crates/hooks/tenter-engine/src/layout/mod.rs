//! The places of hooks, skills and recipes: directories, plugins, and the order of precedence.
//!
//! [`KINDS`] is the table of what can be found: a further kind is one more constant in it. Everything else derives from the
//! table: the directories of a project, of the user and of plugins, in their order ([`ResourceLayout::roots`]), and for kinds that are
//! files with a name, [`Resources`].

mod entries;
mod name;
mod project;
mod resources;
mod roots;

use std::path::{Path, PathBuf};

use crate::managed::ManagedDirectory;

pub(crate) use entries::{entries, is_missing};
pub use name::{NameError, ResourceName, plugin_name};
pub use project::project_root;
pub(crate) use project::{Marks, is_same_directory};
pub use resources::{ResourceDir, ResourceFile, Resources, Shadows};
pub use roots::Root;

/// Something that a project, the user and plugins can have.
#[derive(Debug, PartialEq, Eq)]
pub struct ResourceKind {
    /// Name of the directory that holds them, in each resource directory and in a plugin.
    pub directory: &'static str,
    /// The form of one resource on disk.
    pub form: ResourceForm,
    /// True if the project root itself has such a directory.
    pub in_project_root: bool,
    /// True if the configuration directory has one.
    pub in_config_home: bool,
    /// True if all resource directories of the home directory count, or only the first.
    pub in_all_of_home: bool,
    /// Maximum number of entries that are read of one directory, its subdirectories included.
    pub max_entries: usize,
    /// The ids of diagnostics.
    pub ids: DiagnosticIds,
}

/// The ids of the diagnostics about the files of a kind.
#[derive(Debug, PartialEq, Eq)]
pub struct DiagnosticIds {
    /// A symlink leads out of its project, plugin or directory.
    pub outside: &'static str,
    /// A file or directory cannot be read.
    pub unreadable: &'static str,
    /// A directory has more than [`ResourceKind::max_entries`].
    pub too_many: &'static str,
}

/// The form of a resource on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceForm {
    /// An executable or a directory with a `HOOK.md`; [`scan`](crate::source::scan) finds them.
    Hook,
    /// A directory that holds one of these files.
    Directory(&'static [&'static str]),
    /// A file `NAME.md`; subdirectories are part of the name.
    Markdown,
}

/// Hooks.
pub const HOOKS: ResourceKind = ResourceKind {
    directory: "hooks",
    form: ResourceForm::Hook,
    in_project_root: false,
    in_config_home: true,
    in_all_of_home: false,
    max_entries: usize::MAX,
    ids: DiagnosticIds {
        outside: "hook-link-outside",
        unreadable: "hooks-folder-unreadable",
        too_many: "hooks-too-many",
    },
};

/// Skills.
pub const SKILLS: ResourceKind = ResourceKind {
    directory: "skills",
    form: ResourceForm::Directory(&["SKILL.md", "skill.md"]),
    in_project_root: false,
    in_config_home: true,
    in_all_of_home: true,
    max_entries: 1000,
    ids: DiagnosticIds {
        outside: "skill-link-outside",
        unreadable: "skill-unreadable",
        too_many: "skills-too-many",
    },
};

/// Recipes.
pub const RECIPES: ResourceKind = ResourceKind {
    directory: "recipes",
    form: ResourceForm::Markdown,
    in_project_root: true,
    in_config_home: false,
    in_all_of_home: false,
    max_entries: 10_000,
    ids: DiagnosticIds {
        outside: "recipe-link-outside",
        unreadable: "recipe-unreadable",
        too_many: "recipes-too-many",
    },
};

/// Every kind of resource, in the order in which plugins list them.
pub const KINDS: [&ResourceKind; 3] = [&HOOKS, &SKILLS, &RECIPES];

/// The directories of [`KINDS`]: what a plugin can contain.
pub const DIRECTORIES: [&str; KINDS.len()] = {
    let mut directories = [""; KINDS.len()];
    let mut index = 0;
    while index < KINDS.len() {
        directories[index] = KINDS[index].directory;
        index += 1;
    }
    directories
};

/// The names of the directories that hold resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryNames {
    /// Directories of a project and of the home directory, highest precedence first. The first one has the plugins.
    pub resources: Vec<String>,
    /// The directory below the configuration directory.
    pub config: String,
}

impl Default for DirectoryNames {
    fn default() -> Self {
        Self {
            resources: vec![".kodelet".to_owned(), ".agents".to_owned()],
            config: "agents".to_owned(),
        }
    }
}

impl DirectoryNames {
    /// Returns the directories of hooks and plugins, which decide what runs, relative to a project or to the home directory.
    pub fn hooks_and_plugins(&self) -> Vec<PathBuf> {
        let names = self.resources.iter().map(|name| Path::new(name).join(HOOKS.directory));
        names.chain([self.plugins()]).collect()
    }

    /// Returns the directory of plugins, relative to a project or to the home directory.
    fn plugins(&self) -> PathBuf {
        Path::new(self.resources.first().map_or("", String::as_str)).join("plugins")
    }

    /// Returns the root of the project that the working directory `cwd` belongs to; see [`project_root()`].
    pub fn project_root(&self, cwd: &Path, home: &Path) -> PathBuf {
        project::find_project_root(cwd, home, &self.resources)
    }
}

/// The directories that everything is found from. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceLayout {
    /// The project root ([`project_root()`]).
    pub project: PathBuf,
    /// The user's home directory.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`, by default `~/.config`.
    pub config_home: PathBuf,
    /// The names of the directories.
    pub names: DirectoryNames,
    /// The roots of the projects around it whose hooks run, too, the outermost first (R89).
    pub outer: Vec<PathBuf>,
    /// The directory of the managed layer.
    pub managed: ManagedDirectory,
}

impl ResourceLayout {
    /// Creates the layout with the default directory names.
    pub fn new(
        project: impl Into<PathBuf>,
        home: impl Into<PathBuf>,
        config_home: impl Into<PathBuf>,
    ) -> Self {
        let (project, home, config_home) = (project.into(), home.into(), config_home.into());
        Self {
            project,
            home,
            config_home,
            names: DirectoryNames::default(),
            outer: Vec::new(),
            managed: ManagedDirectory::default(),
        }
    }

    /// Changes the names of the directories.
    #[must_use]
    pub fn with_names(self, names: DirectoryNames) -> Self {
        Self { names, ..self }
    }

    /// Sets the directory of the managed layer.
    #[must_use]
    pub fn with_managed(self, managed: ManagedDirectory) -> Self {
        Self { managed, ..self }
    }

    /// Sets the roots of the projects around the project, the outermost first.
    #[must_use]
    pub fn with_outer(self, outer: Vec<PathBuf>) -> Self {
        Self { outer, ..self }
    }

    /// Returns the layout of each project whose hooks run, the outermost first and this one last.
    pub fn projects(&self) -> impl Iterator<Item = Self> {
        let outer =
            self.outer.iter().map(|project| Self { project: project.clone(), ..self.alone() });
        outer.chain([self.alone()])
    }

    fn alone(&self) -> Self {
        self.clone().with_outer(Vec::new())
    }

    /// Returns the directory of the plugins of the project or the home directory `base`.
    pub fn plugins_in(&self, base: &Path) -> PathBuf {
        base.join(self.names.plugins())
    }

    /// Returns the user's directories for every kind of resource: the first of the home directory, and the one in the configuration.
    pub fn user_directories(&self) -> Vec<PathBuf> {
        let in_home = self.names.resources.first().map(|name| self.home.join(name));
        in_home.into_iter().chain([self.config_home.join(&self.names.config)]).collect()
    }

    /// Returns the directory for new resources of `kind` in the project (R81).
    pub fn new_in_project(&self, kind: &ResourceKind) -> PathBuf {
        let last = self.names.resources.last().map_or("", String::as_str);
        self.project.join(last).join(kind.directory)
    }

    /// Returns the directory for new resources of `kind` for all projects of the user (R81).
    pub fn new_for_user(&self, kind: &ResourceKind) -> PathBuf {
        self.config_home.join(&self.names.config).join(kind.directory)
    }
}
