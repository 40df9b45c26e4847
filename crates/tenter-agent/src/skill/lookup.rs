//! Finds skills by their names, and lists them all.
//!
//! Of several with one name the first that can be used counts: a broken one takes nobody's place. Nothing outside of a
//! skills folder is ever read: names that lead elsewhere are refused, and so are links that do.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tenter_base::nearest;
use tenter_base::untrusted_file;
use tenter_engine::hook::Layer;
use tenter_engine::source::{Places, roots};
use tenter_protocol::front_matter::Rules;
use tenter_protocol::{Diagnostic, Severity};

use super::format::{MAX_FILE_SIZE, SKILL_FILE, Skill, SkillOrigin};
use crate::recipe::slashed;

/// Entries of one skills folder that are looked at.
const MOST_ENTRIES: usize = 1000;

/// Everything that can be found.
#[derive(Debug, Clone)]
pub struct Skills {
    roots: Vec<Root>,
    findings: Vec<Diagnostic>,
}

/// A skill as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Where it comes from.
    pub origin: SkillOrigin,
    /// What it is for; empty where it cannot be read.
    pub description: String,
    /// The file that is taken instead of it.
    pub shadowed_by: Option<PathBuf>,
    /// Whether it cannot be used; the findings say why.
    pub is_broken: bool,
}

impl Listed {
    /// Whether it is the one that its name stands for.
    pub fn is_taken(&self) -> bool {
        !self.is_broken && self.shadowed_by.is_none()
    }
}

/// Why there is no such skill.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// There is none of this name.
    #[error("there is no skill {name:?}{}", meant(near.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The nearest name that there is, if one is near.
        near: Option<String>,
    },
    /// There is one, and it cannot be used.
    #[error("the skill {name:?} cannot be used")]
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

/// A folder that holds skills.
#[derive(Debug, Clone)]
struct Root {
    layer: Layer,
    /// What stands before the names of what it holds: nothing, or `org/repo/`.
    prefix: String,
    dir: PathBuf,
    /// Its real path.
    real: PathBuf,
}

/// A skill, if it can be used, and what was found about it.
type Read = (Option<Skill>, Vec<Diagnostic>);

impl Skills {
    /// Looks where skills may be, not yet which there are.
    pub fn new(places: &Places) -> Self {
        let Places { project, home, config_home } = places;
        let mut found = Self { roots: Vec::new(), findings: Vec::new() };
        let (plugins, findings) = roots(places);
        found.findings.extend(findings);
        let plugins_of = |layer: Layer, found: &mut Self| {
            let of_layer = plugins.iter().filter(|plugin| plugin.layer == layer);
            for plugin in of_layer.filter(|plugin| !plugin.prefix.is_empty()) {
                let Some(folder) = plugin.dir.parent() else { continue };
                found.add(layer, &plugin.prefix, folder.join("skills"), Some(folder));
            }
        };
        for folder in [".kodelet/skills", ".agents/skills"] {
            found.add(Layer::Project, "", project.join(folder), Some(project));
        }
        plugins_of(Layer::ProjectPlugin, &mut found);
        found.add(Layer::User, "", home.join(".kodelet/skills"), None);
        found.add(Layer::User, "", config_home.join("agents/skills"), None);
        found.add(Layer::User, "", home.join(".agents/skills"), None);
        plugins_of(Layer::UserPlugin, &mut found);
        found
    }

    /// Only the skills in the folder `dir`, as those of a project's plugin that is not installed.
    pub fn of_folder(dir: &Path) -> Self {
        let mut found = Self { roots: Vec::new(), findings: Vec::new() };
        found.add(Layer::ProjectPlugin, "", dir.to_owned(), dir.parent());
        found
    }

    /// The skill of this name. `org@repo/name` is `org/repo/name`.
    ///
    /// # Errors
    /// When there is none, or none that can be used.
    pub fn find(&self, name: &str) -> Result<Skill, SkillError> {
        let slashed = slashed(name);
        let mut broken: Option<Vec<Diagnostic>> = None;
        for root in &self.roots {
            let spellings = [name, slashed.as_str()];
            let rest = spellings.iter().find_map(|name| name.strip_prefix(root.prefix.as_str()));
            let Some(path) = rest.and_then(|rest| root.file(rest)) else { continue };
            match root.read(&slashed, &path, Rules::Tolerant) {
                (Some(skill), _) => return Ok(skill),
                (None, findings) => broken = broken.or(Some(findings)),
            }
        }
        let name = name.to_owned();
        match broken {
            Some(findings) => Err(SkillError::Unusable { name, findings }),
            None => Err(SkillError::Unknown { near: self.near(&name), name }),
        }
    }

    /// Every skill in the order in which they are looked for, those that are shadowed too, and all that is wrong with any.
    pub fn list(&self, rules: Rules) -> (Vec<Listed>, Vec<Diagnostic>) {
        let mut findings = self.findings.clone();
        let mut skills: Vec<Listed> = Vec::new();
        let mut taken: BTreeMap<String, PathBuf> = BTreeMap::new();
        for root in &self.roots {
            for (name, path) in root.files(&mut findings) {
                let (skill, found) = root.read(&name, &path, rules);
                findings.extend(found);
                let shadowed_by = taken.get(&name).cloned();
                if skill.is_some() {
                    taken.entry(name.clone()).or_insert_with(|| path.clone());
                }
                let is_broken = skill.is_none();
                let description = skill.map(|skill| skill.description).unwrap_or_default();
                let origin = SkillOrigin { name, layer: root.layer, path };
                skills.push(Listed { origin, description, shadowed_by, is_broken });
            }
        }
        (skills, findings)
    }

    /// The name that was probably meant: one that is written nearly so, or whose end is.
    fn near(&self, name: &str) -> Option<String> {
        let files = self.roots.iter().flat_map(|root| root.files(&mut Vec::new()));
        let names: Vec<String> = files.map(|(name, _)| name).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let ends: Vec<&str> = known.iter().map(|name| end(name)).collect();
        let near = nearest(name, known.iter().copied()).or_else(|| {
            let near = nearest(end(name), ends)?;
            known.into_iter().find(|known| end(known) == near)
        });
        near.map(str::to_owned)
    }

    /// Adds a folder, if there is one. With `within`, it must really lie in that folder. What is both the project's and the
    /// person's own is the person's: the project may be the home folder.
    fn add(&mut self, layer: Layer, prefix: &str, dir: PathBuf, within: Option<&Path>) {
        let Ok(real) = fs::canonicalize(&dir) else { return };
        let around = within.map(fs::canonicalize).transpose().ok().flatten();
        if around.is_some_and(|around| !real.starts_with(around)) {
            return self.findings.push(leaves(&dir, &real));
        }
        match self.roots.iter_mut().find(|earlier| earlier.real == real) {
            None => self.roots.push(Root { layer, prefix: prefix.to_owned(), dir, real }),
            Some(earlier) if earlier.layer.needs_trust() && !layer.needs_trust() => {
                earlier.layer = layer;
            }
            Some(_) => {}
        }
    }
}

impl Root {
    /// The file of the skill in the folder `name`, if there is one.
    fn file(&self, name: &str) -> Option<PathBuf> {
        if !is_plain(name) {
            return None;
        }
        // Some write it in small letters.
        let files = [SKILL_FILE, "skill.md"].map(|file| self.dir.join(name).join(file));
        files.into_iter().find(|path| fs::symlink_metadata(path).is_ok())
    }

    /// Every skill's full name and file, in the order of the names.
    fn files(&self, findings: &mut Vec<Diagnostic>) -> Vec<(String, PathBuf)> {
        let mut entries = match fs::read_dir(&self.dir) {
            Ok(entries) => {
                entries.filter_map(Result::ok).take(MOST_ENTRIES + 1).collect::<Vec<_>>()
            }
            Err(error) => {
                findings.push(unreadable(&self.dir, &error));
                return Vec::new();
            }
        };
        if entries.len() > MOST_ENTRIES {
            entries.pop();
            let message = format!("only {MOST_ENTRIES} entries of this folder are looked at");
            let finding = Diagnostic::new("skills-too-many", Severity::Warning, message);
            findings.push(finding.at(&self.dir).help("take out skills that are not needed"));
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        let names = entries.iter().filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter_map(|name| Some((format!("{}{name}", self.prefix), self.file(&name)?)))
            .collect()
    }

    /// Reads the file at `path`, which is one of this folder's.
    fn read(&self, name: &str, path: &Path, rules: Rules) -> Read {
        let origin =
            SkillOrigin { name: name.to_owned(), layer: self.layer, path: path.to_owned() };
        match self.bytes(path) {
            Ok(bytes) => Skill::read(origin, &bytes, rules),
            Err(finding) => (None, vec![finding]),
        }
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, Diagnostic> {
        let failed = |error| unreadable(path, &error);
        let real = fs::canonicalize(path).map_err(failed)?;
        if !real.starts_with(&self.real) {
            return Err(leaves(path, &real));
        }
        untrusted_file::read_prefix(&real, MAX_FILE_SIZE as u64 + 1).map_err(failed)
    }
}

/// A plugin's skill's own name.
fn end(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a folder of this name may be a skill: it is one name, in sight, and fit to be shown.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(|c: char| c == '/' || c.is_control())
}

fn leaves(path: &Path, real: &Path) -> Diagnostic {
    let message =
        format!("this leads to {}, which is outside of its folder: it is not read", real.display());
    Diagnostic::new("skill-link-outside", Severity::Error, message)
        .at(path)
        .help("put the skill itself there")
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new("skill-unreadable", Severity::Error, format!("this cannot be read: {error}"))
        .at(path)
        .help("a skill is a folder with a file SKILL.md that you may read")
}

#[cfg(test)]
mod tests;
