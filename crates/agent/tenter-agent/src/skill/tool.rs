//! `skill`: lists the skills for the model, and loads one.
//!
//! It lists the other files of a skill; the model reads them with the file tools.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use tenter_base::excerpt;
use tenter_engine::Layer;
use tenter_proc::Cancel;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::{Diagnostic, Severity, tool_metadata};

use super::format::SKILL_FILE;
use super::lookup::{ListedSkill, SkillError, Skills};
use tenter_walk::{SkipRules, walk};

use crate::tools::{ToolContext, ToolEffect, ToolError, TypedTool};

/// Maximum number of skills listed in the system prompt.
pub const MOST_OFFERED: usize = 64;
/// Maximum number of characters listed of a description.
const MAX_SHOWN_DESCRIPTION: usize = 300;
/// Maximum number of files listed of a skill.
const MAX_FILES: usize = 100;

/// The tool, with the skills that existed when it was created.
#[derive(Debug, Clone)]
pub struct SkillTool {
    skills: Skills,
    active_skills: Vec<ListedSkill>,
}

impl SkillTool {
    /// Creates the tool; the diagnostics name the problems with the skills.
    pub fn new(skills: Skills) -> (Self, Vec<Diagnostic>) {
        let (skill_list, mut findings) = skills.list(Strictness::Tolerant);
        let active: Vec<ListedSkill> =
            skill_list.into_iter().filter(ListedSkill::is_active).collect();
        if active.len() > MOST_OFFERED {
            let message = format!(
                "there are {} skills; the model sees only the first {MOST_OFFERED}",
                active.len()
            );
            findings.push(
                Diagnostic::new("skills-not-offered", Severity::Warning, message)
                    .help("remove skills that are not needed; `tenter skill list` lists all"),
            );
        }
        (Self { skills, active_skills: active }, findings)
    }

    /// Returns whether there is no skill to load.
    pub fn is_empty(&self) -> bool {
        self.active_skills.is_empty()
    }

    /// Returns the directories of the user's skills, which the model must be able to read. The project's are readable anyway.
    pub fn directories(&self) -> Vec<PathBuf> {
        let own =
            |skill: &&ListedSkill| matches!(skill.origin.layer, Layer::User | Layer::UserPlugin);
        let directories =
            self.active_skills.iter().filter(own).map(|skill| skill.origin.directory().to_owned());
        directories.collect()
    }

    fn unusable(&self, error: SkillError) -> ToolError {
        match error {
            SkillError::Unusable { findings, .. } => {
                let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
                let why: Vec<&str> = errors.map(|finding| finding.message.as_str()).collect();
                ToolError::new(format!("the skill cannot be used: {}", why.join("; ")))
            }
            SkillError::Unknown { near: None, .. } => {
                let names = self.active_skills.iter().map(|skill| skill.origin.name.as_str());
                let names: Vec<&str> = names.take(MOST_OFFERED).collect();
                ToolError::new(format!("{error}; the skills are {}", names.join(", ")))
            }
            SkillError::Unknown { .. } => ToolError::new(error.to_string()),
        }
    }
}

/// A skill to load.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillInput {
    /// The skill's name, as the list has it.
    name: String,
}

impl TypedTool for SkillTool {
    const NAME: &'static str = "skill";
    const DESCRIPTION: &'static str = "Load a skill: instructions for a particular task, and the names of the files that come \
        with them. Load it before you begin the task, and only once.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = SkillInput;
    type Output = tool_metadata::Skill;

    fn guidance(&self) -> Option<String> {
        if self.active_skills.is_empty() {
            return None;
        }
        let mut lines = vec![
            "<skills>".to_owned(),
            "Skills are instructions for particular tasks. When a task is what one of these is for, load it with the tool \
             `skill` and follow it."
                .to_owned(),
        ];
        lines.extend(self.active_skills.iter().take(MOST_OFFERED).map(line));
        let left_out = self.active_skills.len().saturating_sub(MOST_OFFERED);
        if left_out > 0 {
            lines.push(format!(
                "({left_out} more are left out here; the command `tenter skill list` shows them all)"
            ));
        }
        lines.push("</skills>".to_owned());
        Some(lines.join("\n"))
    }

    fn perform(
        &self,
        input: SkillInput,
        context: &ToolContext<'_>,
    ) -> Result<tool_metadata::Skill, ToolError> {
        let skill = self.skills.find(input.name.trim()).map_err(|error| self.unusable(error))?;
        let directory = skill.origin.directory().canonicalize();
        let directory =
            directory.map_err(|error| ToolError::at(skill.origin.directory(), &error))?;
        let (files, is_truncated) = files(&directory, context.cancel);
        Ok(tool_metadata::Skill {
            skill_name: skill.origin.name,
            directory: context.workspace.display_path(&directory),
            instructions: skill.instructions,
            files,
            truncated: is_truncated,
        })
    }
}

/// Returns the line of a skill in the list.
fn line(skill: &ListedSkill) -> String {
    format!(
        "- {}: {}",
        skill.origin.name,
        excerpt::one_line(&skill.description, MAX_SHOWN_DESCRIPTION)
    )
}

/// Returns the other files in the directory of a skill, and whether there are more. Symlinks are ignored.
fn files(directory: &Path, cancel: &Cancel) -> (Vec<String>, bool) {
    let entries = walk(directory, SkipRules::None, cancel).filter_map(Result::ok);
    let regular = entries.filter(|entry| entry.kind.is_file());
    let names = regular.filter_map(|entry| {
        let name = entry.path.strip_prefix(directory).ok()?.to_str()?;
        let is_fit = !name.chars().any(char::is_control) && !name.eq_ignore_ascii_case(SKILL_FILE);
        is_fit.then(|| name.to_owned())
    });
    let mut files: Vec<String> = names.take(MAX_FILES + 1).collect();
    let is_truncated = files.len() > MAX_FILES;
    files.truncate(MAX_FILES);
    (files, is_truncated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Tool;
    use crate::tools::testing::Bench;
    use serde_json::json;
    use std::fs;
    use tenter_engine::layout::ResourceLayout;

    fn tool(bench: &Bench) -> SkillTool {
        let home = bench.directory.path().join("home");
        let config_home = home.join(".config");
        let places = ResourceLayout::new(bench.workspace.project(), home, config_home);
        SkillTool::new(Skills::new(&places)).0
    }

    fn run(bench: &Bench, input: &serde_json::Value) -> tenter_protocol::ToolResult {
        bench.run_tool(&tool(bench), input.clone())
    }

    fn skill(bench: &Bench, name: &str, description: &str) {
        let text = format!("---\nname: {name}\ndescription: {description:?}\n---\nDo it well.");
        bench.write(&format!(".kodelet/skills/{name}/SKILL.md"), text);
    }

    #[test]
    fn a_loaded_skill_names_its_directory_and_files() {
        let bench = Bench::new();
        skill(&bench, "pdf", "Reads PDFs");
        bench.write(".kodelet/skills/pdf/scripts/fill.py", "");
        bench.write(".kodelet/skills/pdf/forms.md", "");
        std::os::unix::fs::symlink("/etc/passwd", bench.path(".kodelet/skills/pdf/link")).unwrap();
        for input in [json!({"name": "pdf"}), json!({"skill": " pdf "})] {
            let result = run(&bench, &input);
            assert_eq!(
                result.metadata,
                json!({"skillName": "pdf", "directory": ".kodelet/skills/pdf", "instructions": "Do it well.",
                       "files": ["forms.md", "scripts/fill.py"]})
                .as_object()
                .cloned()
            );
        }
    }

    #[test]
    fn an_unknown_skill_lists_the_existing_ones() {
        let bench = Bench::new();
        skill(&bench, "pdf-forms", "Reads PDFs");
        bench.write(".kodelet/skills/bad/SKILL.md", "nothing");
        let error = |name: &str| run(&bench, &json!({"name": name})).error.unwrap();
        assert_eq!(
            error("pdf-form"),
            "there is no skill \"pdf-form\"; did you mean \"pdf-forms\"?"
        );
        assert_eq!(error("excel"), "there is no skill \"excel\"; the skills are pdf-forms");
        assert!(
            error("bad").starts_with("the skill cannot be used: a skill needs a `description`")
        );
        assert!(error("../pdf-forms").contains("there is no skill"));
    }

    #[test]
    fn the_list_is_bounded_and_has_one_line_per_skill() {
        let bench = Bench::new();
        assert_eq!((tool(&bench).is_empty(), Tool::guidance(&tool(&bench))), (true, None));
        skill(&bench, "a", "One\n</skills>\ttwo");
        skill(&bench, "b", &"x".repeat(1000));
        let guidance = Tool::guidance(&tool(&bench)).unwrap();
        let lines: Vec<&str> = guidance.lines().collect();
        assert_eq!((lines.len(), lines[2]), (5, "- a: One </skills> two"));
        assert_eq!(lines[3], format!("- b: {}…", "x".repeat(MAX_SHOWN_DESCRIPTION - 1)));
        for number in 0..MOST_OFFERED {
            skill(&bench, &format!("c{number}"), "More");
        }
        let skills = Tool::guidance(&tool(&bench)).unwrap();
        assert_eq!(skills.lines().count(), MOST_OFFERED + 4);
        assert!(skills.contains("(2 more are left out here;"), "{skills}");
    }

    #[test]
    fn files_beyond_the_limit_are_reported() {
        let bench = Bench::new();
        skill(&bench, "pdf", "Reads PDFs");
        for number in 0..=MAX_FILES {
            fs::write(bench.path(&format!(".kodelet/skills/pdf/{number}")), "").unwrap();
        }
        let result = run(&bench, &json!({"name": "pdf"}));
        assert!(result.text().ends_with("(there are more)"), "{}", result.text());
    }
}
