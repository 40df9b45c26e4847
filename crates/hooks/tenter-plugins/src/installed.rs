//! Lists what installed plugins contain, from names and modes: nothing is opened or run.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tenter_engine::Layer;
use tenter_engine::layout::{
    DIRECTORIES, HOOKS, RECIPES, ResourceKind, Resources, Root, SKILLS, plugin_name,
};
use tenter_engine::source::{CandidateKind, scan};

/// An installed plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// `org/repo`; for a directory without `@`, its name.
    pub name: String,
    /// The directory.
    pub path: PathBuf,
    /// The skills: the directories in `skills` with a `SKILL.md`.
    pub skills: Vec<String>,
    /// The recipes: the `.md` files below `recipes`, without the extension.
    pub recipes: Vec<String>,
    /// The hooks: the executables and the directories with a `HOOK.md` in `hooks`, except for disabled ones.
    pub hooks: Vec<String>,
}

impl Installed {
    /// Lists the plugins in `dir` by name. A directory without hooks, skills and recipes is not a plugin.
    pub(crate) fn all(dir: &Path) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(dir) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(Vec::new());
            }
            entries => entries?,
        };
        let mut plugins = Vec::new();
        for entry in entries {
            let entry = entry?;
            let Ok(directory) = entry.file_name().into_string() else { continue };
            if !directory.starts_with('.') {
                plugins.extend(Self::read(&entry.path(), plugin_name(&directory)));
            }
        }
        plugins.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(plugins)
    }

    /// Returns the plugin in `directory`; `None` if it has none of the directories of a plugin.
    pub(crate) fn read(directory: &Path, name: String) -> Option<Self> {
        if !DIRECTORIES.iter().any(|part| directory.join(part).is_dir()) {
            return None;
        }
        let names = |kind: &'static ResourceKind| names(kind, &directory.join(kind.directory));
        let hooks = hooks(directory.join(HOOKS.directory));
        let path = directory.to_owned();
        Some(Self { name, path, skills: names(&SKILLS), recipes: names(&RECIPES), hooks })
    }

    /// Returns true if the plugin has no skill, recipe or hook.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty() && self.recipes.is_empty() && self.hooks.is_empty()
    }
}

/// Returns the names of the skills or recipes in a directory.
fn names(kind: &'static ResourceKind, directory: &Path) -> Vec<String> {
    let resources = Resources::from_dir(kind, directory);
    let files = resources.files(&mut Vec::new());
    files.into_iter().filter(|file| file.path.is_file()).map(|file| file.name).collect()
}

fn hooks(directory: PathBuf) -> Vec<String> {
    let (candidates, _) = scan(&Root::new(Layer::ProjectPlugin, directory), 0);
    let is_hook = |kind: &CandidateKind| {
        matches!(kind, CandidateKind::Executable(_) | CandidateKind::Manifest(_))
    };
    candidates.into_iter().filter(|hook| is_hook(&hook.kind)).map(|hook| hook.name).collect()
}
