//! Finds recipes by their names, and lists them all (R53).
//!
//! The first folder that has a file of the name is the one. Nothing outside of a recipes folder is ever read: names that lead
//! elsewhere are refused, and so are links that do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use tenter_base::nearest;
use tenter_base::untrusted_file;
use tenter_engine::hook::Layer;
use tenter_engine::source::{Places, roots};
use tenter_protocol::{Diagnostic, Severity};

use super::builtin::BUILT_IN;
use super::format::{MAX_FILE_SIZE, Origin, Recipe, RecipeLayer};

/// Folders in folders at most.
const DEEPEST: usize = 16;
/// Entries of one place that are looked at: links between folders may multiply them without end.
const MOST_ENTRIES: usize = 10_000;

/// The folders that everything else is found from. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipePlaces {
    /// The project's root.
    pub project: PathBuf,
    /// The person's home folder.
    pub home: PathBuf,
    /// Further folders with recipes (`--fragment-dirs`).
    pub fragment_dirs: Vec<PathBuf>,
}

/// Everything that can be found.
#[derive(Debug, Clone)]
pub struct Recipes {
    roots: Vec<Root>,
    findings: Vec<Diagnostic>,
}

/// A recipe as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What it is called by.
    pub name: String,
    /// What its front matter calls it; its name where it does not, or cannot be read.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The file that is taken instead of it.
    pub shadowed_by: Option<PathBuf>,
    /// Whether it cannot be used; the findings say why.
    pub is_broken: bool,
}

/// Why there is no such recipe.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// No recipe can have this name.
    #[error("{name:?} {why}, so no recipe has this name")]
    Name {
        /// The name.
        name: String,
        /// Why not, as the end of a sentence that begins with it.
        why: &'static str,
    },
    /// There is none of this name.
    #[error("there is no recipe {name:?}{}", meant(near.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The nearest name that there is, if one is near.
        near: Option<String>,
    },
    /// There is one, and it cannot be used.
    #[error("the recipe {name:?} cannot be used")]
    Unusable {
        /// The name.
        name: String,
        /// What is wrong with it, at least one error.
        findings: Vec<Diagnostic>,
    },
}

fn meant(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}

/// A folder that holds recipes.
#[derive(Debug, Clone)]
struct Root {
    layer: RecipeLayer,
    /// What stands before the names of what it holds: nothing, or `org/repo/`.
    prefix: String,
    dir: PathBuf,
    /// Its real path.
    real: PathBuf,
}

impl Recipes {
    /// Looks where recipes may be, not yet which there are.
    pub fn new(places: &RecipePlaces) -> Self {
        let mut found = Finder { roots: Vec::new(), findings: Vec::new() };
        let RecipePlaces { project, home, fragment_dirs } = places;
        // The configuration folder has hooks only, and no plugins.
        let hooks =
            Places { project: project.clone(), home: home.clone(), config_home: home.clone() };
        let (plugins, findings) = roots(&hooks);
        found.findings.extend(findings);
        for folder in ["recipes", ".kodelet/recipes", ".agents/recipes"] {
            found.add(RecipeLayer::Project, "", project.join(folder), Some(project));
        }
        for folder in fragment_dirs {
            found.add_named(folder, project);
        }
        let plugins_of = |layer: Layer, as_layer: RecipeLayer, found: &mut Finder| {
            for plugin in
                plugins.iter().filter(|plugin| plugin.layer == layer && !plugin.prefix.is_empty())
            {
                if let Some(folder) = plugin.dir.parent() {
                    found.add(as_layer, &plugin.prefix, folder.join("recipes"), Some(folder));
                }
            }
        };
        plugins_of(Layer::ProjectPlugin, RecipeLayer::ProjectPlugin, &mut found);
        found.add(RecipeLayer::User, "", home.join(".kodelet/recipes"), None);
        plugins_of(Layer::UserPlugin, RecipeLayer::UserPlugin, &mut found);
        Self { roots: found.once_each(), findings: found.findings }
    }

    /// Only the recipes in the folder `dir`, as those of a project's plugin that is not installed, beside the built-in ones.
    pub fn of_folder(dir: &Path) -> Self {
        let mut found = Finder { roots: Vec::new(), findings: Vec::new() };
        found.add(RecipeLayer::ProjectPlugin, "", dir.to_owned(), dir.parent());
        Self { roots: found.once_each(), findings: found.findings }
    }

    /// The recipe of this name. `org@repo/name` is `org/repo/name`.
    ///
    /// # Errors
    /// When there is none, or the first one that there is cannot be used: then no other takes its place.
    pub fn find(&self, name: &str) -> Result<Recipe, RecipeError> {
        check_name(name).map_err(|why| RecipeError::Name { name: name.to_owned(), why })?;
        let slashed = slashed(name);
        let spellings = [name, slashed.as_str()];
        let found = spellings.iter().find_map(|name| self.open(name));
        let (recipe, findings) = found.ok_or_else(|| self.unknown(name))?;
        recipe.ok_or_else(|| RecipeError::Unusable { name: name.to_owned(), findings })
    }

    /// Every recipe in the order in which they are looked for, those that are shadowed too, and all that is wrong with any.
    pub fn list(&self) -> (Vec<Listed>, Vec<Diagnostic>) {
        let mut findings = self.findings.clone();
        let mut recipes: Vec<Listed> = Vec::new();
        let mut taken: BTreeMap<String, PathBuf> = BTreeMap::new();
        let files = self.files(&mut findings);
        let of_files =
            files.iter().map(|(root, name, path)| (name.as_str(), root.read(name, path)));
        let built_in = BUILT_IN.iter().map(|(name, _)| *name);
        for (name, (origin, read)) in
            of_files.chain(built_in.filter_map(|name| Some((name, read_built_in(name)?))))
        {
            let (recipe, found) = read;
            let shadowed_by = taken.get(name).cloned();
            taken.entry(name.to_owned()).or_insert_with(|| origin.path.clone());
            recipes.push(listed(name, origin, recipe.as_ref(), shadowed_by));
            findings.extend(found);
        }
        (recipes, findings)
    }

    /// What the first file of exactly this name holds.
    fn open(&self, name: &str) -> Option<Read> {
        let of_file = self.roots.iter().find_map(|root| {
            let rest = name.strip_prefix(root.prefix.as_str())?;
            let path = root.dir.join(format!("{rest}.md"));
            is_there(&path).then(|| root.read(name, &path).1)
        });
        of_file.or_else(|| Some(read_built_in(name)?.1))
    }

    fn unknown(&self, name: &str) -> RecipeError {
        let files = self.files(&mut Vec::new());
        let names = files.iter().map(|(_, name, _)| name.as_str());
        let names: BTreeSet<&str> = names.chain(BUILT_IN.iter().map(|(name, _)| *name)).collect();
        let last = name.rsplit('/').next().unwrap_or(name);
        let same_end = names.iter().find(|known| known.rsplit('/').next() == Some(last)).copied();
        let near = same_end.or_else(|| nearest(name, names.iter().copied()));
        RecipeError::Unknown { name: name.to_owned(), near: near.map(str::to_owned) }
    }

    /// Every file, with the name of its recipe.
    fn files(&self, findings: &mut Vec<Diagnostic>) -> Vec<(&Root, String, PathBuf)> {
        let mut files = Vec::new();
        for root in &self.roots {
            let mut walk =
                Walk { root, files: Vec::new(), findings, above: Vec::new(), left: MOST_ENTRIES };
            walk.folder(&root.dir, &root.prefix);
            if walk.left == 0 {
                walk.findings.push(too_many(&root.dir));
            }
            files.extend(walk.files.into_iter().map(|(name, path)| (root, name, path)));
        }
        files
    }
}

/// A recipe, if it can be used, and what was found about it.
type Read = (Option<Recipe>, Vec<Diagnostic>);

fn listed(
    name: &str,
    origin: Origin,
    recipe: Option<&Recipe>,
    shadowed_by: Option<PathBuf>,
) -> Listed {
    Listed {
        name: name.to_owned(),
        title: recipe.map_or_else(|| name.to_owned(), |recipe| recipe.title.clone()),
        description: recipe.map(|recipe| recipe.description.clone()).unwrap_or_default(),
        origin,
        shadowed_by,
        is_broken: recipe.is_none(),
    }
}

fn read_built_in(name: &str) -> Option<(Origin, Read)> {
    let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
    let path = PathBuf::from(format!("builtin:{name}.md"));
    let origin = Origin { layer: RecipeLayer::BuiltIn, path };
    Some((origin.clone(), Recipe::read(name, origin, text.as_bytes())))
}

/// Why no recipe can have this name, as the end of a sentence that begins with it.
fn check_name(name: &str) -> Result<(), &'static str> {
    Err(if name.is_empty() {
        "is empty"
    } else if name.starts_with('/') {
        "is an absolute path"
    } else if name.chars().any(char::is_control) {
        "holds a control character"
    } else if name.split('/').any(|part| part == "..") {
        "leads out of its folder"
    } else if name.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        "has a part that is empty or begins with a dot"
    } else {
        return Ok(());
    })
}

/// The name of what a plugin has as folders have it: `org@repo/name` is `org/repo/name`.
pub fn slashed(name: &str) -> String {
    match name.split_once('/') {
        Some((plugin, rest)) => format!("{}/{rest}", plugin.replacen('@', "/", 1)),
        None => name.to_owned(),
    }
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Collects the folders that hold recipes.
struct Finder {
    roots: Vec<Root>,
    findings: Vec<Diagnostic>,
}

impl Finder {
    /// Adds a folder, if there is one. With `within`, it must really lie in that folder.
    fn add(&mut self, layer: RecipeLayer, prefix: &str, dir: PathBuf, within: Option<&Path>) {
        let Ok(real) = fs::canonicalize(&dir) else { return };
        let around = within.map(fs::canonicalize).transpose().ok().flatten();
        if around.is_some_and(|around| !real.starts_with(around)) {
            return self.findings.push(leaves(&dir, &real));
        }
        self.roots.push(Root { layer, prefix: prefix.to_owned(), dir, real });
    }

    fn add_named(&mut self, dir: &Path, project: &Path) {
        if fs::metadata(dir).is_ok_and(|metadata| metadata.is_dir()) {
            let layer =
                if touch(dir, project) { RecipeLayer::NamedInProject } else { RecipeLayer::Named };
            return self.add(layer, "", dir.to_owned(), None);
        }
        let message = "there is no such folder, so no recipe comes from it";
        let finding = Diagnostic::new("recipe-folder-missing", Severity::Warning, message).at(dir);
        self.findings.push(finding.help("--fragment-dirs takes folders that hold recipes"));
    }

    /// Leaves out folders that are there twice. What is both the project's and the person's own is the person's: the project
    /// may be the home folder.
    fn once_each(&mut self) -> Vec<Root> {
        let roots = std::mem::take(&mut self.roots);
        let mut kept: Vec<Root> = Vec::new();
        for root in roots {
            match kept.iter_mut().find(|earlier| earlier.real == root.real) {
                None => kept.push(root),
                Some(earlier) if earlier.layer.is_of_project() && !root.layer.is_of_project() => {
                    earlier.layer = root.layer;
                }
                Some(_) => {}
            }
        }
        kept
    }
}

/// Whether one of two folders lies in the other, or nobody can tell.
fn touch(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one.starts_with(&other) || other.starts_with(&one),
        _ => true,
    }
}

impl Root {
    /// Reads the file at `path`, which is one of this folder's.
    fn read(&self, name: &str, path: &Path) -> (Origin, Read) {
        let origin = Origin { layer: self.layer, path: path.to_owned() };
        let read = match self.bytes(path) {
            Ok(bytes) => Recipe::read(name, origin.clone(), &bytes),
            Err(finding) => (None, vec![finding]),
        };
        (origin, read)
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, Diagnostic> {
        let real = fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
        if !real.starts_with(&self.real) {
            return Err(leaves(path, &real));
        }
        untrusted_file::read_prefix(&real, MAX_FILE_SIZE as u64 + 1)
            .map_err(|error| unreadable(path, &error))
    }
}

fn leaves(path: &Path, real: &Path) -> Diagnostic {
    let message =
        format!("this leads to {}, which is outside of its folder: it is not read", real.display());
    Diagnostic::new("recipe-link-outside", Severity::Error, message)
        .at(path)
        .help("put the file itself there, or name its folder with --fragment-dirs")
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new("recipe-unreadable", Severity::Error, format!("this cannot be read: {error}"))
        .at(path)
        .help("a recipe is a file that you may read")
}

fn too_many(dir: &Path) -> Diagnostic {
    let message = format!("only {MOST_ENTRIES} entries below this folder are looked at");
    Diagnostic::new("recipes-too-many", Severity::Warning, message)
        .at(dir)
        .help("take out recipes that are not needed, and links between its folders")
}

/// Goes through one root.
struct Walk<'r, 'f> {
    root: &'r Root,
    files: Vec<(String, PathBuf)>,
    findings: &'f mut Vec<Diagnostic>,
    /// The real paths of the folders that it is in: a link to one of them would never end.
    above: Vec<PathBuf>,
    /// How many entries may still be looked at.
    left: usize,
}

impl Walk<'_, '_> {
    fn folder(&mut self, dir: &Path, prefix: &str) {
        let entered = fs::canonicalize(dir).and_then(|real| Ok((real, sorted(dir)?)));
        let (real, entries) = match entered {
            Ok(entered) => entered,
            Err(error) => return self.findings.push(unreadable(dir, &error)),
        };
        if !real.starts_with(&self.root.real) {
            return self.findings.push(leaves(dir, &real));
        }
        if self.above.contains(&real) || self.above.len() >= DEEPEST {
            return;
        }
        self.above.push(real);
        for entry in entries {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            self.entry(&entry, prefix);
        }
        self.above.pop();
    }

    fn entry(&mut self, entry: &DirEntry, prefix: &str) {
        let (path, file_name) = (entry.path(), entry.file_name());
        // No name that can be asked for has such a part.
        let Some(name) = file_name.to_str().filter(|name| check_name(name).is_ok()) else { return };
        if fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
            self.folder(&path, &format!("{prefix}{name}/"));
        } else if let Some(name) = name.strip_suffix(".md").filter(|name| !name.is_empty()) {
            self.files.push((format!("{prefix}{name}"), path));
        }
    }
}

fn sorted(dir: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}
