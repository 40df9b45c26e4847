//! Finds skills by name and lists them.
//!
//! The first skill of a name that can be used counts: a broken one shadows nothing. Nothing outside of a skill directory is
//! read.

use std::path::{Path, PathBuf};

use tenter_engine::layout::{
    ResourceFile, ResourceLayout, ResourceName, Resources, SKILLS, Shadows,
};
use tenter_protocol::Diagnostic;
use tenter_protocol::front_matter::Strictness;

use super::format::{MAX_FILE_SIZE, Skill, SkillOrigin};

/// The skills of a project, its plugins and the user.
#[derive(Debug, Clone)]
pub struct Skills {
    files: Resources,
}

/// A skill in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSkill {
    /// Its name, layer and file.
    pub origin: SkillOrigin,
    /// The description; empty if the skill cannot be read.
    pub description: String,
    /// The file of the same name that is used instead.
    pub shadowed_by: Option<PathBuf>,
    /// The skill cannot be used; the diagnostics say why.
    pub is_broken: bool,
}

impl ListedSkill {
    /// Returns whether this is the skill that its name refers to.
    pub fn is_active(&self) -> bool {
        !self.is_broken && self.shadowed_by.is_none()
    }
}

/// The reason why a skill cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// No skill has this name.
    #[error("there is no skill {name:?}{}", meant(near.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The name that was probably meant.
        near: Option<String>,
    },
    /// The skill cannot be used.
    #[error("the skill {name:?} cannot be used")]
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

impl Skills {
    /// Finds the skill directories.
    pub fn new(layout: &ResourceLayout) -> Self {
        Self { files: layout.resources(&SKILLS, Vec::new()) }
    }

    /// Returns the skills of the directory `dir`, read like the skills of a project's plugin.
    pub fn from_directory(dir: &Path) -> Self {
        Self { files: Resources::from_dir(&SKILLS, dir) }
    }

    /// Returns the skill of this name. `org@repo/name` means `org/repo/name`.
    ///
    /// # Errors
    /// There is none, or none that can be used.
    pub fn find(&self, name: &str) -> Result<Skill, SkillError> {
        let mut diagnostics: Option<Vec<Diagnostic>> = None;
        for file in self.files.named(name) {
            match read(&file, Strictness::Tolerant) {
                (_, (Some(skill), _)) => return Ok(skill),
                (_, (None, findings)) => diagnostics = diagnostics.or(Some(findings)),
            }
        }
        let name = name.to_owned();
        match diagnostics {
            Some(findings) => Err(SkillError::Unusable { name, findings }),
            None => Err(SkillError::Unknown { near: self.nearest(&name), name }),
        }
    }

    /// Lists all skills in order of precedence, shadowed and broken ones too, with all problems.
    pub fn list(&self, strictness: Strictness) -> (Vec<ListedSkill>, Vec<Diagnostic>) {
        let mut diagnostics = self.files.diagnostics().to_vec();
        let mut shadows = Shadows::default();
        let mut skills = Vec::new();
        for file in self.files.files(&mut diagnostics) {
            let (origin, (skill, findings)) = read(&file, strictness);
            diagnostics.extend(findings);
            let is_broken = skill.is_none();
            let shadowed_by = shadows.shadowed_by(&origin.name, &origin.path, !is_broken);
            let description = skill.map(|skill| skill.description).unwrap_or_default();
            skills.push(ListedSkill { origin, description, shadowed_by, is_broken });
        }
        (skills, diagnostics)
    }

    fn nearest(&self, name: &str) -> Option<String> {
        let files = self.files.files(&mut Vec::new());
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        ResourceName::new(name).nearest(&names).map(str::to_owned)
    }
}

/// A skill, if it can be used, and the problems with it.
type SkillRead = (Option<Skill>, Vec<Diagnostic>);

fn read(file: &ResourceFile<'_>, strictness: Strictness) -> (SkillOrigin, SkillRead) {
    let (name, path) = (file.name.clone(), file.path.clone());
    let origin = SkillOrigin { name, layer: file.root().layer, path };
    let text = match file.read(MAX_FILE_SIZE) {
        Ok(bytes) => Skill::read(origin.clone(), &bytes, strictness),
        Err(diagnostic) => (None, vec![diagnostic]),
    };
    (origin, text)
}

#[cfg(test)]
mod tests;
