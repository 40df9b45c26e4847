//! `tenter skill list`.

use std::path::Path;

use anstyle::Style;
use serde::Serialize;
use tenter_agent::skill::{ListedSkill, Skills};
use tenter_protocol::front_matter::Strictness;
use tenter_terminal::text::{Cell, align};
use tenter_terminal::{Exit, ui};

use crate::listing;

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Print a JSON array: name, description, layer, path, shadowed_by, usable.
    #[arg(long)]
    json: bool,
}

/// A skill in the JSON output.
#[derive(Serialize)]
struct SkillJson<'s> {
    name: &'s str,
    description: &'s str,
    layer: &'static str,
    path: &'s Path,
    /// The file that is used instead; null if this one is used.
    shadowed_by: Option<&'s Path>,
    usable: bool,
}

pub(super) fn run(skills: &Skills, args: &Args) -> Exit {
    let (skill_list, findings) = skills.list(Strictness::Tolerant);
    if args.json {
        let objects: Vec<SkillJson> = skill_list.iter().map(json).collect();
        ui::out(serde_json::to_string_pretty(&objects).unwrap_or_default());
    } else {
        let rows: Vec<Vec<Cell>> = skill_list.iter().map(row).collect();
        align(&rows, 2).iter().for_each(ui::out);
    }
    if skill_list.is_empty() && !args.json {
        ui::note(
            "There are no skills. A skill is a directory with a SKILL.md in .agents/skills or ~/.agents/skills.",
        );
    }
    ui::diagnostics(&findings);
    Exit::Done
}

fn json(skill: &ListedSkill) -> SkillJson<'_> {
    SkillJson {
        name: &skill.origin.name,
        description: &skill.description,
        layer: skill.origin.layer.as_str(),
        path: &skill.origin.path,
        shadowed_by: skill.shadowed_by.as_deref(),
        usable: !skill.is_broken,
    }
}

fn row(skill: &ListedSkill) -> Vec<Cell> {
    let ListedSkill { origin, description, shadowed_by, is_broken } = skill;
    let [name, what] =
        listing::name_and_use(&origin.name, description, shadowed_by.as_deref(), *is_broken);
    let layer = (Style::new(), origin.layer.as_str().to_owned());
    vec![name, layer, what, listing::path(&origin.path)]
}
