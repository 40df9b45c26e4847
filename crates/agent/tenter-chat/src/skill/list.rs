//! `tenter skill list`.

use std::path::Path;

use serde::Serialize;
use tenter_agent::skill::{ListedSkill, Skills};
use tenter_base::one_line;
use tenter_protocol::front_matter::Strictness;
use tenter_terminal::{BAD, Exit, FAINT, NAME, styled, ui};

/// Maximum number of characters shown of a description or a path.
const LENGTH: usize = 100;

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
        let width = |text: fn(&ListedSkill) -> &str| {
            let widths =
                skill_list.iter().map(|skill| one_line(text(skill), LENGTH).chars().count());
            widths.max().unwrap_or(0)
        };
        let widths =
            (width(|skill| &skill.origin.name), width(|skill| skill.origin.layer.as_str()));
        for skill in &skill_list {
            ui::out(line(skill, widths));
        }
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

fn line(skill: &ListedSkill, (name, layer): (usize, usize)) -> String {
    let path_text = |path: &Path| one_line(&path.to_string_lossy(), LENGTH);
    let heading = format!("{:name$}", one_line(&skill.origin.name, LENGTH));
    let of = format!("{:layer$}", skill.origin.layer.as_str());
    let (heading, what) = match &skill.shadowed_by {
        _ if skill.is_broken => (styled(BAD, heading), styled(BAD, "cannot be used")),
        Some(other) => {
            (styled(FAINT, heading), styled(FAINT, format!("shadowed by {}", path_text(other))))
        }
        None => (styled(NAME, heading), one_line(&skill.description, LENGTH)),
    };
    [heading, of, what, styled(FAINT, path_text(&skill.origin.path))].join("  ")
}
