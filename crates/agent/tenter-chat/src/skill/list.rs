//! `tenter skill list`.

use anstyle::Style;
use serde_json::{Value, json};
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

pub(super) fn run(skills: &Skills, args: &Args) -> Exit {
    let (skill_list, findings) = skills.list(Strictness::Tolerant);
    if args.json {
        let objects: Vec<Value> = skill_list.iter().map(json).collect();
        ui::json(&objects);
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

/// Returns a skill as JSON. `shadowed_by` is the file that is used instead.
fn json(skill: &ListedSkill) -> Value {
    json!({
        "name": skill.origin.name,
        "description": skill.description,
        "layer": skill.origin.layer.as_str(),
        "path": skill.origin.path.to_string_lossy(),
        "shadowed_by": skill.shadowed_by.as_ref().map(|path| path.to_string_lossy()),
        "usable": !skill.is_broken,
    })
}

fn row(skill: &ListedSkill) -> Vec<Cell> {
    let ListedSkill { origin, description, shadowed_by, is_broken } = skill;
    let [name, what] =
        listing::name_and_use(&origin.name, description, shadowed_by.as_deref(), *is_broken);
    let layer = (Style::new(), origin.layer.as_str().to_owned());
    vec![name, layer, what, listing::path(&origin.path)]
}
