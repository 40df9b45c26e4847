//! What a plugin offers, as its folder shows it. Names and modes are looked at; nothing is opened and nothing is run.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tenter_engine::hook::Layer;
use tenter_engine::source::{Kind, Root, scan};

/// Folders in folders at most.
const DEEPEST: usize = 16;
/// Entries of a plugin's recipes that are looked at: its links may multiply them.
const MOST_ENTRIES: usize = 10_000;

/// The file that makes a folder a skill; some write it in small letters.
const SKILL_FILES: [&str; 2] = ["SKILL.md", "skill.md"];

/// A plugin that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// `org/repo`; of a folder without `@`, its name.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// Its skills: the folders in `skills` that hold a `SKILL.md`.
    pub skills: Vec<String>,
    /// Its recipes: the `.md` files below `recipes`, without their ending.
    pub recipes: Vec<String>,
    /// Its hooks: the executables and the folders with a `HOOK.md` in `hooks`, but for those that are disabled.
    pub hooks: Vec<String>,
}

impl Installed {
    /// The plugins in `dir`, by name. Folders that hold no part of a plugin are none.
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
            let Ok(folder) = entry.file_name().into_string() else { continue };
            if !folder.starts_with('.') {
                plugins.extend(Self::read(&entry.path(), folder.replacen('@', "/", 1)));
            }
        }
        plugins.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(plugins)
    }

    /// The plugin in `folder`, unless it holds no part of one.
    pub(crate) fn read(folder: &Path, name: String) -> Option<Self> {
        let parts = ["skills", "recipes", "hooks"].map(|part| folder.join(part));
        if !parts.iter().any(|part| part.is_dir()) {
            return None;
        }
        let [skills, recipes, hooks] = parts;
        let (skills, hooks) = (self::skills(&skills), self::hooks(hooks));
        let mut walk = Recipes { found: Vec::new(), left: MOST_ENTRIES, above: Vec::new() };
        walk.folder(&recipes, "");
        Some(Self { name, path: folder.to_owned(), skills, recipes: walk.found, hooks })
    }

    /// Whether it offers nothing.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty() && self.recipes.is_empty() && self.hooks.is_empty()
    }
}

/// The names in a folder in their order; none where there is no such folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

fn skills(folder: &Path) -> Vec<String> {
    let mut skills = names(folder);
    let is_skill =
        |name: &String| SKILL_FILES.iter().any(|file| folder.join(name).join(file).is_file());
    skills.retain(is_skill);
    skills
}

/// Goes through the folder of recipes.
struct Recipes {
    found: Vec<String>,
    /// How many entries may still be looked at.
    left: usize,
    /// The real paths of the folders that it is in: a link to one of them would never end.
    above: Vec<PathBuf>,
}

impl Recipes {
    fn folder(&mut self, folder: &Path, prefix: &str) {
        let Ok(real) = fs::canonicalize(folder) else { return };
        if self.above.contains(&real) || self.above.len() >= DEEPEST {
            return;
        }
        self.above.push(real);
        for name in names(folder) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            self.entry(&folder.join(&name), &name, prefix);
        }
        self.above.pop();
    }

    fn entry(&mut self, path: &Path, name: &str, prefix: &str) {
        if path.is_dir() {
            self.folder(path, &format!("{prefix}{name}/"));
        } else if let Some(stem) = name.strip_suffix(".md").filter(|_| path.is_file()) {
            self.found.push(format!("{prefix}{stem}"));
        }
    }
}

fn hooks(folder: PathBuf) -> Vec<String> {
    let root = Root { layer: Layer::ProjectPlugin, dir: folder, prefix: String::new() };
    let (candidates, _) = scan(&root, 0);
    let is_hook = |kind: &Kind| matches!(kind, Kind::Executable(_) | Kind::Manifest(_));
    candidates.into_iter().filter(|hook| is_hook(&hook.kind)).map(|hook| hook.name).collect()
}
