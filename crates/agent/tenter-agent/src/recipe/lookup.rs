//! Finds recipes by name and lists them (R53).
//!
//! The first file of a name counts, even if it is broken. Nothing outside of a recipe directory is read.

use std::path::{Path, PathBuf};

use tenter_engine::configuration::ConfineProfiles;
use tenter_engine::layout::{
    NameError, RECIPES, ResourceFile, ResourceLayout, ResourceName, Resources, Root, Shadows,
};
use tenter_protocol::confinement::Confinement;
use tenter_protocol::{Diagnostic, Severity};

use super::builtin::BUILT_IN;
use super::format::{MAX_FILE_SIZE, Recipe, RecipeLayer, RecipeOrigin};

/// The recipes of a project, its plugins and the user, and the built-in ones.
#[derive(Debug, Clone)]
pub struct Recipes {
    files: Resources,
    profiles: ConfineProfiles,
    diagnostics: Vec<Diagnostic>,
}

/// A recipe in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRecipe {
    /// The name.
    pub name: String,
    /// The name in the front matter; the recipe's name if it has none or cannot be read.
    pub title: String,
    /// The description.
    pub description: String,
    /// The confinements of its programs.
    pub confinements: Vec<Confinement>,
    /// Its layer and file.
    pub origin: RecipeOrigin,
    /// The file of the same name that is used instead.
    pub shadowed_by: Option<PathBuf>,
    /// The recipe cannot be used; the diagnostics say why.
    pub is_broken: bool,
}

/// The reason why a recipe cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// No recipe can have this name.
    #[error("{name:?} {why}, so no recipe has this name")]
    Name {
        /// The name.
        name: String,
        /// The rule that it violates.
        why: NameError,
    },
    /// No recipe has this name.
    #[error("there is no recipe {name:?}{}", meant(near.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The name that was probably meant.
        near: Option<String>,
    },
    /// The recipe cannot be used.
    #[error("the recipe {name:?} cannot be used")]
    Unusable {
        /// The name.
        name: String,
        /// The problems with it; at least one error.
        findings: Vec<Diagnostic>,
    },
}

fn meant(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}

impl Recipes {
    /// Finds the recipe directories. `fragment_dirs` (`--fragment-dirs`) follow the directories of the project.
    pub fn new(layout: &ResourceLayout, fragment_dirs: &[PathBuf]) -> Self {
        let (existing, missing): (Vec<_>, Vec<_>) =
            fragment_dirs.iter().partition(|directory| directory.is_dir());
        let roots = existing.into_iter().map(|dir| Root::named(dir, &layout.project)).collect();
        let files = layout.resources(&RECIPES, roots);
        let mut diagnostics = files.diagnostics().to_vec();
        diagnostics.extend(missing.into_iter().map(|directory| {
            Diagnostic::new(
                "recipe-folder-missing",
                Severity::Warning,
                "this directory does not exist",
            )
            .at(directory)
            .help("pass a directory with recipes to --fragment-dirs")
        }));
        Self { files, profiles: ConfineProfiles::default(), diagnostics }
    }

    /// Sets the user's profiles, with which recipes may confine their programs.
    #[must_use]
    pub fn with_profiles(self, profiles: ConfineProfiles) -> Self {
        Self { profiles, ..self }
    }

    /// Returns the recipes of the directory `dir`, read like the recipes of a project's plugin, and the built-in ones.
    pub fn from_directory(dir: &Path) -> Self {
        let files = Resources::from_dir(&RECIPES, dir);
        let profiles = ConfineProfiles::default();
        Self { diagnostics: files.diagnostics().to_vec(), profiles, files }
    }

    /// Returns the recipe of this name. `org@repo/name` means `org/repo/name`.
    ///
    /// # Errors
    /// There is none, or the first file of this name cannot be used: then none of lower precedence is used instead.
    pub fn find(&self, name: &str) -> Result<Recipe, RecipeError> {
        ResourceName::check(name)
            .map_err(|why| RecipeError::Name { name: name.to_owned(), why })?;
        let from_file = self.files.named(name).first().map(|file| read(file, &self.profiles).1);
        let result = from_file.or_else(|| Some(read_built_in(name)?.1));
        let (recipe, findings) = result.ok_or_else(|| self.unknown(name))?;
        recipe.ok_or_else(|| RecipeError::Unusable { name: name.to_owned(), findings })
    }

    /// Lists all recipes in order of precedence, shadowed and broken ones too, with all problems.
    pub fn list(&self) -> (Vec<ListedRecipe>, Vec<Diagnostic>) {
        let mut diagnostics = self.diagnostics.clone();
        let mut shadows = Shadows::default();
        let mut recipes = Vec::new();
        let files = self.files.files(&mut diagnostics);
        let from_files = files.iter().map(|file| (file.name.as_str(), read(file, &self.profiles)));
        let built_in = BUILT_IN.iter().filter_map(|(name, _)| Some((*name, read_built_in(name)?)));
        for (name, (origin, (recipe, findings))) in from_files.chain(built_in) {
            let shadowed_by = shadows.shadowed_by(name, &origin.path, true);
            recipes.push(listed(name, origin, recipe.as_ref(), shadowed_by));
            diagnostics.extend(findings);
        }
        (recipes, diagnostics)
    }

    fn unknown(&self, name: &str) -> RecipeError {
        let files = self.files.files(&mut Vec::new());
        let names = files.iter().map(|file| file.name.as_str());
        let mut names: Vec<&str> = names.chain(BUILT_IN.iter().map(|(name, _)| *name)).collect();
        names.sort_unstable();
        let near = ResourceName::new(name).nearest(&names).map(str::to_owned);
        RecipeError::Unknown { name: name.to_owned(), near }
    }
}

/// A recipe, if it can be used, and the problems with it.
type RecipeRead = (Option<Recipe>, Vec<Diagnostic>);

fn read(file: &ResourceFile<'_>, profiles: &ConfineProfiles) -> (RecipeOrigin, RecipeRead) {
    let origin =
        RecipeOrigin { layer: RecipeLayer::from_root(file.root()), path: file.path.clone() };
    let text = match file.read(MAX_FILE_SIZE) {
        Ok(bytes) => Recipe::read(&file.name, origin.clone(), &bytes, profiles),
        Err(diagnostic) => (None, vec![diagnostic]),
    };
    (origin, text)
}

fn read_built_in(name: &str) -> Option<(RecipeOrigin, RecipeRead)> {
    let (name, text) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
    let path = PathBuf::from(format!("builtin:{name}.md"));
    let origin = RecipeOrigin { layer: RecipeLayer::BuiltIn, path };
    let profiles = ConfineProfiles::default();
    Some((origin.clone(), Recipe::read(name, origin, text.as_bytes(), &profiles)))
}

fn listed(
    name: &str,
    origin: RecipeOrigin,
    recipe: Option<&Recipe>,
    shadowed_by: Option<PathBuf>,
) -> ListedRecipe {
    ListedRecipe {
        name: name.to_owned(),
        title: recipe.map_or_else(|| name.to_owned(), |recipe| recipe.title.clone()),
        description: recipe.map(|recipe| recipe.description.clone()).unwrap_or_default(),
        confinements: recipe.map(|recipe| recipe.confinements.clone()).unwrap_or_default(),
        origin,
        shadowed_by,
        is_broken: recipe.is_none(),
    }
}
