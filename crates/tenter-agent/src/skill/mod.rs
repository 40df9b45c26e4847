//! Skills: instructions for particular tasks, which the model reads when a task needs them.
//!
//! A skill is a folder with a `SKILL.md`, as agents of every make know them. `format` reads one, `lookup` finds them,
//! `tool` tells the model which there are and hands them over.
//!
//! A skill is text. Nothing here starts a program, and what a skill says about tools grants nothing: hooks decide about
//! every call, whatever a text says.

mod format;
mod lookup;
mod tool;

pub use format::{
    MAX_COMPATIBILITY_LENGTH, MAX_DESCRIPTION_LENGTH, MAX_FILE_SIZE, SKILL_FILE, Skill, SkillOrigin,
};
pub use lookup::{ListedSkill, SkillError, Skills};
pub use tool::{MOST_OFFERED, SkillTool};
