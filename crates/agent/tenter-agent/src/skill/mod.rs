//! Skills: instructions for particular tasks, which the model reads when a task needs them.
//!
//! A skill is a directory with a `SKILL.md`, a format that many agents share. `format` reads a skill, `lookup` finds them, and `tool`
//! lists and loads them for the model.
//!
//! A skill is only text: nothing here starts a program, and a skill grants no tools. Hooks decide about every tool call.

mod format;
mod lookup;
mod tool;

pub use format::{
    MAX_COMPATIBILITY_LENGTH, MAX_DESCRIPTION_LENGTH, MAX_FILE_SIZE, SKILL_FILE, Skill, SkillOrigin,
};
pub use lookup::{ListedSkill, SkillError, Skills};
pub use tool::{MOST_OFFERED, SkillTool};
