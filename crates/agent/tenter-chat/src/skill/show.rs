//! `tenter skill show`.

use serde_json::{Map, Value, json};
use tenter_agent::skill::{Skill, SkillError, Skills};
use tenter_base::{one_line, sanitize};
use tenter_terminal::{CommandResult, Exit, Failure, NAME, styled, ui};

/// Maximum number of characters of a line.
const LENGTH: usize = 1024;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name, as `tenter skill list` shows it.
    name: String,
    /// Print a JSON object: name, description, layer, path, license, compatibility, metadata, allowed_tools, instructions.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(skills: &Skills, args: &Args) -> CommandResult {
    let skill = skills.find(&args.name).map_err(|error| no_skill(&error))?;
    if args.json {
        ui::json(&json(&skill));
    } else {
        for (what, text) in facts(&skill) {
            ui::out(format!("{}  {}", styled(NAME, format!("{what:13}")), one_line(&text, LENGTH)));
        }
        ui::out(format!("\n{}", sanitize(&skill.instructions)));
    }
    Ok(Exit::Done)
}

/// Returns the metadata of a skill.
fn facts(skill: &Skill) -> Vec<(&str, String)> {
    let mut facts = vec![
        ("name", skill.origin.name.clone()),
        ("description", skill.description.clone()),
        ("layer", skill.origin.layer.as_str().to_owned()),
        ("path", skill.origin.path.display().to_string()),
    ];
    facts.extend(skill.license.clone().map(|text| ("license", text)));
    facts.extend(skill.compatibility.clone().map(|text| ("compatibility", text)));
    if !skill.allowed_tools.is_empty() {
        facts.push(("allowed-tools", skill.allowed_tools.join(" ")));
    }
    let metadata = skill.metadata.iter();
    facts.extend(metadata.map(|(key, value)| ("metadata", format!("{key}: {value}"))));
    facts
}

fn json(skill: &Skill) -> Value {
    let metadata = skill.metadata.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
    json!({
        "name": skill.origin.name,
        "description": skill.description,
        "layer": skill.origin.layer.as_str(),
        "path": skill.origin.path.to_string_lossy(),
        "license": skill.license,
        "compatibility": skill.compatibility,
        "metadata": metadata.collect::<Map<String, Value>>(),
        "allowed_tools": skill.allowed_tools,
        "instructions": skill.instructions,
    })
}

/// Returns the failure for a skill that is missing or broken; prints what is wrong with its file.
fn no_skill(error: &SkillError) -> Failure {
    match error {
        SkillError::Unusable { findings, .. } => {
            ui::diagnostics(findings);
            Failure::new(error.to_string())
                .help("fix the file; `tenter skill list` shows where it is")
        }
        SkillError::Unknown { .. } => {
            Failure::usage(error.to_string()).help("`tenter skill list` lists them")
        }
    }
}
